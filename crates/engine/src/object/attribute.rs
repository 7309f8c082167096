//! Attributes in object headers and in dense storage.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{CharacterSet, Datatype};
use hyperslab_format::btree_v2::records::{AttributeNameRecord, BTreeV2Record as _};
use hyperslab_format::codec::{Address, checksum};
use hyperslab_format::message::{
    AttributeInfo, AttributeMessage, DataspaceMessage, DatatypeMessage, Message as _, MessageFlags,
    MessageType, SharedReference,
};

use super::ahead;
use super::container::Container;
use super::header::ObjectHeader;
use super::message::{self, Body};
use crate::error::{Error, Result};
use crate::index::btree_v2::BTreeV2;
use crate::index::fractal_heap::{FractalHeap, HeapObjects};
use crate::store::{Bytes, at};

/// A function that a walk over the attributes of an object calls for each attribute. The result
/// `Break` ends the walk.
pub type AtAttribute<'a> = dyn FnMut(Attribute) -> Result<ControlFlow<()>> + 'a;

/// An attribute of an object whose name is decoded. The datatype, the dataspace and the elements
/// are decoded on request.
#[derive(Debug, Clone)]
pub struct Attribute {
    body: Bytes,
    name: Bytes,
    /// Character set of the name.
    pub charset: CharacterSet,
    /// Position in the order of creation among the object's attributes. Without tracked creation
    /// order, the position in the object header, as in libhdf5, or `None` for an attribute in dense
    /// storage.
    pub creation_order: Option<u32>,
    /// Address of the object header with this attribute, for errors.
    owner: Address,
}

/// The decoded value of an attribute: datatype, dataspace and elements.
#[derive(Debug, Clone)]
pub struct DecodedAttribute {
    /// Datatype of the elements.
    pub datatype: Datatype,
    /// Address of the committed datatype, if the attribute uses one.
    pub committed: Option<Address>,
    /// Dataspace of the elements.
    pub dataspace: Dataspace,
    /// The elements as stored, followed by the padding of the object header. Shorter than the
    /// elements if they were never written.
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
        let name = slice_of(&body, message.name)?;
        Ok(Self { charset: message.charset, creation_order, owner, name, body })
    }

    /// Returns the bytes of the name of the attribute.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the size of the stored attribute message in bytes.
    pub fn stored_length(&self) -> usize {
        self.body.len()
    }

    /// Decodes the datatype and the dataspace of the attribute. Returns both with the elements.
    pub fn value(&self, container: &Container) -> Result<DecodedAttribute> {
        let params = container.params();
        let message = at(AttributeMessage::decode(&self.body, params), self.owner)?;
        let part = |kind: MessageType, bytes: &[u8], shared: bool| -> Result<Body> {
            if !shared {
                return Ok(Body::own(slice_of(&self.body, bytes)?));
            }
            let reference = at(SharedReference::decode(bytes, params), self.owner)?;
            message::resolve_reference(container, kind, &reference)
        };
        let datatype = part(MessageType::DATATYPE, message.datatype, message.datatype_is_shared())?;
        let dataspace = part(MessageType::DATASPACE, message.dataspace, message.dataspace_is_shared())?;
        Ok(DecodedAttribute {
            datatype: at(DatatypeMessage::decode(&datatype, params), self.owner)?.datatype,
            committed: datatype.committed,
            dataspace: at(DataspaceMessage::decode(&dataspace, params), self.owner)?.dataspace,
            data: slice_of(&self.body, message.data)?,
        })
    }
}

/// Returns the reference-counted bytes for `part`, a slice of `whole`, without copying the bytes.
fn slice_of(whole: &Bytes, part: &[u8]) -> Result<Bytes> {
    let start =
        if part.is_empty() { Some(0) } else { part.as_ptr().addr().checked_sub(whole.as_ptr().addr()) };
    let range = start.and_then(|start| Some(start..start.checked_add(part.len())?));
    let outside = || Error::internal("attribute message", "decoded parts are slices of the message");
    range.and_then(|range| whole.slice(range)).ok_or_else(outside)
}

/// Returns the attribute info message of an object header: the addresses of dense storage, and
/// whether the creation order is tracked. Version 1 headers have no such message.
pub fn info(container: &Container, header: &ObjectHeader) -> Result<Option<AttributeInfo>> {
    if header.version() == 1 { Ok(None) } else { message::find(container, header) }
}

/// Calls `visit` for each attribute of an object, in unspecified order.
pub fn for_each(container: &Container, header: &ObjectHeader, visit: &mut AtAttribute<'_>) -> Result<()> {
    let info = container.store.forgive(info(container, header))?.flatten();
    for_each_named(container, header, info, None, visit)
}

/// Calls `visit` for attributes of an object with the attribute info message `info`. If `wanted` is
/// `None`, visits all attributes. Otherwise, visits at least all attributes with the name `wanted`.
fn for_each_named(
    container: &Container,
    header: &ObjectHeader,
    info: Option<AttributeInfo>,
    wanted: Option<&[u8]>,
    visit: &mut AtAttribute<'_>,
) -> Result<()> {
    let tracked = info.is_some_and(|info| info.max_creation_index.is_some());
    for (position, message) in (0_u32..).zip(header.messages_of(MessageType::ATTRIBUTE)) {
        let is_own = !message.flags.contains(MessageFlags::SHARED);
        if is_own && wanted.is_some_and(|name| !AttributeMessage::may_be_named(header.body(message), name)) {
            continue;
        }
        let body = message::resolve(container, header, message);
        let order = message.creation_order.map(u32::from).filter(|_| tracked).or(Some(position));
        let attribute =
            body.and_then(|body| Attribute::open(container, body.bytes().clone(), order, header.address()));
        let Some(attribute) = container.store.forgive(attribute)? else { continue };
        if visit(attribute)?.is_break() {
            return Ok(());
        }
    }
    match info {
        Some(info) if info.is_dense() => {
            let dense = DenseAttributes::open(container, header, &info);
            match container.store.forgive(dense)? {
                Some(dense) => dense.for_each(None, visit),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Returns the attribute of an object with the name `name`.
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
            DenseAttributes::open(container, header, &info)?.for_each(Some(checksum(name)), &mut visit)?;
        }
        info => for_each_named(container, header, info, Some(name), &mut visit)?,
    }
    Ok(found)
}

/// The attributes of an object in dense storage, with the B-tree index by name.
struct DenseAttributes<'a> {
    container: &'a Container,
    owner: Address,
    heap: Arc<FractalHeap>,
    tree: Arc<BTreeV2>,
    tree_address: Address,
    tracked: bool,
}

impl<'a> DenseAttributes<'a> {
    fn open(container: &'a Container, header: &ObjectHeader, info: &AttributeInfo) -> Result<Self> {
        ahead::fetch_dense_roots(&container.store, info.fractal_heap, info.name_index);
        Ok(Self {
            container,
            owner: header.address(),
            heap: FractalHeap::open(&container.store, info.fractal_heap)?,
            tree: BTreeV2::open(&container.store, info.name_index)?,
            tree_address: info.name_index,
            tracked: info.max_creation_index.is_some(),
        })
    }

    /// Calls `visit` for all attributes in dense storage, or for the attributes whose names have
    /// the hash `hash`.
    fn for_each(&self, hash: Option<u32>, visit: &mut AtAttribute<'_>) -> Result<()> {
        let store = &self.container.store;
        // In the order of the index, neighbours are in different blocks of the heap. All attributes
        // need all blocks, each of which is read once.
        let mut objects = hash.is_none().then(|| self.heap.objects(store));
        if hash.is_none() {
            self.fetch();
        }
        self.tree.walk_range(
            store,
            &mut |record| match hash {
                Some(hash) => Ok(AttributeNameRecord::hash_in(record)?.cmp(&hash)),
                None => Ok(std::cmp::Ordering::Equal),
            },
            &mut |record| match store.forgive(self.of_record(record, objects.as_mut()))? {
                Some(attribute) => visit(attribute),
                None => Ok(ControlFlow::Continue(())),
            },
        )
    }

    /// Fetches all attributes, if reads have to wait for bytes. Shared attributes have other heaps.
    fn fetch(&self) {
        ahead::fetch_dense(&self.container.store, self.heap.address(), self.tree_address, |record| {
            let record = AttributeNameRecord::decode(record, ()).ok()?;
            let flags = MessageFlags::from_bits_retain(record.message_flags);
            Some(record.heap_id).filter(|_| !flags.contains(MessageFlags::SHARED))
        });
    }

    fn of_record(&self, record: &[u8], objects: Option<&mut HeapObjects<'_>>) -> Result<Attribute> {
        let store = &self.container.store;
        let record = at(AttributeNameRecord::decode(record, ()), self.tree_address)?;
        let shared = MessageFlags::from_bits_retain(record.message_flags).contains(MessageFlags::SHARED);
        let body = match &self.container.shared_messages {
            Some(messages) if shared => messages.get(store, MessageType::ATTRIBUTE, &record.heap_id)?,
            _ => match objects {
                Some(objects) => {
                    let found = objects.find(&record.heap_id)?;
                    objects.take(found)?
                }
                None => self.heap.get(store, &record.heap_id)?,
            },
        };
        let order = self.tracked.then_some(record.creation_order);
        Attribute::open(self.container, body, order, self.owner)
    }
}
