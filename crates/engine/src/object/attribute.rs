//! Attributes: in the object header, or in a fractal heap of their own.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{CharacterSet, Datatype};
use hyperslab_format::btree_v2::records::{AttributeNameRecord, BTreeV2Record as _};
use hyperslab_format::codec::{Address, checksum};
use hyperslab_format::message::{
    Attribute as AttributeMessage, AttributeInfo, DataspaceMessage, DatatypeMessage, Message as _,
    MessageFlags, MessageType, SharedReference,
};

use super::container::Container;
use super::header::ObjectHeader;
use super::message::{self, Body};
use crate::error::Result;
use crate::index::btree_v2::BTreeV2;
use crate::index::fractal_heap::FractalHeap;
use crate::store::{Bytes, at};

/// What is done with each attribute; `Break` ends the walk.
pub type AtAttribute<'a> = dyn FnMut(Attribute) -> Result<ControlFlow<()>> + 'a;

/// An attribute, still closed: its name is known, its type, shape and elements are decoded when asked for.
#[derive(Debug, Clone)]
pub struct Attribute {
    body: Bytes,
    name: Range<usize>,
    /// How the name is encoded.
    pub charset: CharacterSet,
    /// When it was created among the attributes of its object. Where that is not tracked, attributes in the
    /// object header have their place in it instead, as in libhdf5, and others have none.
    pub creation_order: Option<u32>,
    /// The object header it belongs to, for errors.
    owner: Address,
}

/// What an attribute's message says of its elements.
#[derive(Debug, Clone)]
pub struct AttributeValue {
    /// The type of the elements.
    pub datatype: Datatype,
    /// The object header of the committed datatype that is used, if one is.
    pub committed: Option<Address>,
    /// How many elements there are.
    pub dataspace: Dataspace,
    /// The elements as stored, and whatever the header padded them with. Fewer bytes than the elements take
    /// if they were never written.
    pub data: Bytes,
}

impl Attribute {
    pub(crate) fn open(
        container: &Container,
        body: Bytes,
        creation_order: Option<u32>,
        owner: Address,
    ) -> Result<Self> {
        let message = at(AttributeMessage::decode(&body, container.params()), owner)?;
        let name = range_in(&body, message.name);
        Ok(Self { charset: message.charset, creation_order, owner, name, body })
    }

    /// The name, as the bytes in the file.
    pub fn name(&self) -> &[u8] {
        self.body.get(self.name.clone()).unwrap_or_default()
    }

    /// Bytes of the stored message.
    pub fn stored_length(&self) -> usize {
        self.body.len()
    }

    /// Decodes type and shape.
    pub fn value(&self, container: &Container) -> Result<AttributeValue> {
        let params = container.params();
        let message = at(AttributeMessage::decode(&self.body, params), self.owner)?;
        let part = |kind: MessageType, bytes: &[u8], shared: bool| -> Result<Body> {
            if !shared {
                let own = self.body.slice(range_in(&self.body, bytes));
                return Ok(Body::own(own.unwrap_or_else(|| Vec::new().into())));
            }
            let reference = at(SharedReference::decode(bytes, params), self.owner)?;
            message::resolve_reference(container, kind, &reference)
        };
        let datatype = part(MessageType::DATATYPE, message.datatype, message.datatype_is_shared())?;
        let dataspace = part(MessageType::DATASPACE, message.dataspace, message.dataspace_is_shared())?;
        Ok(AttributeValue {
            datatype: at(DatatypeMessage::decode(&datatype, params), self.owner)?.datatype,
            committed: datatype.committed,
            dataspace: at(DataspaceMessage::decode(&dataspace, params), self.owner)?.dataspace,
            data: self.body.slice(range_in(&self.body, message.data)).unwrap_or_else(|| Vec::new().into()),
        })
    }
}

/// Where `part`, a piece of `whole`, lies in it.
fn range_in(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start.saturating_add(part.len())
}

/// Where the object keeps its attributes and whether it tracks their order; none in version 1 headers.
pub fn info(container: &Container, header: &ObjectHeader) -> Result<Option<AttributeInfo>> {
    message::find(container, header)
}

/// Calls `visit` for each attribute of the object, in no particular order.
pub fn for_each(container: &Container, header: &ObjectHeader, visit: &mut AtAttribute<'_>) -> Result<()> {
    let info = container.store.forgive(info(container, header))?.flatten();
    let tracked = info.is_some_and(|info| info.max_creation_index.is_some());
    for (place, closed) in (0_u32..).zip(header.messages_of(MessageType::ATTRIBUTE)) {
        let body = message::resolve(container, header, closed);
        let order = closed.creation_order.map(u32::from).filter(|_| tracked).or(Some(place));
        let attribute =
            body.and_then(|body| Attribute::open(container, body.bytes().clone(), order, header.address()));
        let Some(attribute) = container.store.forgive(attribute)? else { continue };
        if visit(attribute)?.is_break() {
            return Ok(());
        }
    }
    match info {
        Some(info) if info.is_dense() => {
            let dense = Dense::open(container, header, &info);
            match container.store.forgive(dense)? {
                Some(dense) => dense.for_each(None, visit),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The attribute of that name.
pub fn find(container: &Container, header: &ObjectHeader, name: &[u8]) -> Result<Option<Attribute>> {
    let mut found = None;
    let mut visit = |attribute: Attribute| {
        if attribute.name() != name {
            return Ok(ControlFlow::Continue(()));
        }
        found = Some(attribute);
        Ok(ControlFlow::Break(()))
    };
    match info(container, header)? {
        Some(info) if info.is_dense() => {
            Dense::open(container, header, &info)?.for_each(Some(checksum(name)), &mut visit)?;
        }
        _ => for_each(container, header, &mut visit)?,
    }
    Ok(found)
}

/// Attributes in a fractal heap, with a B-tree by name.
struct Dense<'a> {
    container: &'a Container,
    owner: Address,
    heap: Arc<FractalHeap>,
    tree: Arc<BTreeV2>,
    tree_address: Address,
    tracked: bool,
}

impl<'a> Dense<'a> {
    fn open(container: &'a Container, header: &ObjectHeader, info: &AttributeInfo) -> Result<Self> {
        Ok(Self {
            container,
            owner: header.address(),
            heap: FractalHeap::open(&container.store, info.fractal_heap)?,
            tree: BTreeV2::open(&container.store, info.name_index)?,
            tree_address: info.name_index,
            tracked: info.max_creation_index.is_some(),
        })
    }

    /// Visits all attributes, or those whose name has that hash.
    fn for_each(&self, hash: Option<u32>, visit: &mut AtAttribute<'_>) -> Result<()> {
        let store = &self.container.store;
        self.tree.walk_range(
            store,
            &mut |record| match hash {
                Some(hash) => Ok(AttributeNameRecord::hash_in(record)?.cmp(&hash)),
                None => Ok(std::cmp::Ordering::Equal),
            },
            &mut |record| match store.forgive(self.of_record(record))? {
                Some(attribute) => visit(attribute),
                None => Ok(ControlFlow::Continue(())),
            },
        )
    }

    fn of_record(&self, record: &[u8]) -> Result<Attribute> {
        let store = &self.container.store;
        let record = at(AttributeNameRecord::decode(record, ()), self.tree_address)?;
        let shared = MessageFlags::from_bits_retain(record.message_flags).contains(MessageFlags::SHARED);
        let body = match &self.container.shared_messages {
            Some(messages) if shared => messages.get(store, MessageType::ATTRIBUTE, &record.heap_id)?,
            _ => self.heap.get(store, &record.heap_id)?,
        };
        let order = self.tracked.then_some(record.creation_order);
        Attribute::open(self.container, body, order, self.owner)
    }
}
