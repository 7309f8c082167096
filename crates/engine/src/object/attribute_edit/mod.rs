//! Attributes that are set, renamed and removed, in the object header or in a heap of their own.

#[cfg(test)]
mod tests;

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{CharacterSet, Datatype};
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{
    Attribute as AttributeMessage, AttributeFlags, AttributeInfo, Message as _, MessageFlags, MessageType,
    SharedLocation, SharedReference,
};
use hyperslab_format::object_header::{AttributePhaseChange, HeaderFlags};

use super::container::Container;
use super::dataset_edit::{dataspace_message, datatype_message};
use super::delete::{self, RawData};
use super::dense::{Content, Dense, DenseKind, Entry};
use super::header::Prefix;
use super::header_edit::{HeaderEditor, MessageId, now};
use super::path::lossy;
use super::pending::Pending;
use super::sharing::{self, Placed};
use crate::error::{Error, Result};
use crate::store::{Bytes, Edit, at};
use crate::versions::LibraryVersion;

const NONE: MessageFlags = MessageFlags::empty();

/// A message of so many bytes has no place in an object header.
const TOO_LONG: usize = 65_536;

/// Version 1 headers pad messages to a multiple of 8 bytes.
const LONGEST_IN_OLD: usize = 65_528;

/// An attribute to be set.
#[derive(Debug, Clone, Copy)]
pub struct NewAttribute<'a> {
    /// The name, as it shall stand in the file.
    pub name: &'a [u8],
    /// How the name is encoded.
    pub charset: CharacterSet,
    /// The type of the elements.
    pub datatype: &'a Datatype,
    /// The object header of the committed datatype that this type is, if it is one.
    pub committed: Option<Address>,
    /// How many elements there are.
    pub dataspace: &'a Dataspace,
    /// The elements as they are stored: `datatype.size` bytes each.
    pub data: &'a [u8],
}

/// An object whose attributes are being changed. What its header says is written by [`finish`](Self::finish), so
/// that many attributes can be set at once.
#[derive(Debug)]
pub struct AttributeEditor<'c> {
    container: &'c Container,
    open: Box<OpenAttributes>,
}

/// What an editor knows, apart from the file.
#[derive(Debug)]
pub(super) struct OpenAttributes {
    header: HeaderEditor,
    info: Option<AttributeInfo>,
    phase_change: AttributePhaseChange,
    /// Attributes in the header.
    compact: usize,
    /// Attributes that are to come into the heap.
    pending: Pending,
    /// Whether the heap, if there is one, may have others.
    stored: bool,
    changed: bool,
}

impl OpenAttributes {
    /// Where the object's header lies.
    pub(super) fn address(&self) -> Address {
        self.header.address()
    }

    pub(super) fn header(&self) -> &HeaderEditor {
        &self.header
    }

    pub(super) fn header_to_change(&mut self) -> &mut HeaderEditor {
        self.changed = true;
        &mut self.header
    }
}

/// Sets an attribute: makes it, or puts it in place of the one of that name.
///
/// # Errors
/// [`Error::Misuse`] if the name or the number of bytes is wrong, or the attribute is too long for the header of an
/// old object.
pub fn set(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    attribute: &NewAttribute<'_>,
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.set(edit, attribute)?;
    editor.finish(edit)
}

/// Makes an attribute.
///
/// # Errors
/// [`Error::Exists`] if there is one of that name; as [`set`].
pub fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    attribute: &NewAttribute<'_>,
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    if editor.contains(edit, attribute.name)? {
        return Err(Error::Exists { what: "attribute", name: lossy(attribute.name) });
    }
    editor.set(edit, attribute)?;
    editor.finish(edit)
}

/// Removes an attribute.
///
/// # Errors
/// [`Error::NotFound`] if there is none of that name.
pub fn remove(container: &Container, edit: &mut Edit<'_>, object: Address, name: &[u8]) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.remove(edit, name)?;
    editor.finish(edit)
}

/// The creation order of attributes in heaps that have none, as libhdf5 stores it.
const NO_ORDER: u64 = 0xffff;

/// Gives an attribute another name. It keeps its place in the order of creation.
///
/// # Errors
/// [`Error::NotFound`] if there is none of the old name, [`Error::Exists`] if there is one of the new name.
pub fn rename(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    from: &[u8],
    to: (&[u8], CharacterSet),
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.rename(edit, from, to)?;
    editor.finish(edit)
}

/// An attribute's message and what its object keeps beside it.
struct Stored {
    body: Bytes,
    flags: MessageFlags,
    order: u64,
    /// What the header says in its place, of a message that lies among the shared ones.
    reference: Option<Vec<u8>>,
}

impl<'c> AttributeEditor<'c> {
    /// Opens an object to change its attributes.
    ///
    /// # Errors
    /// If its header cannot be read.
    pub fn open(container: &'c Container, object: Address) -> Result<Self> {
        let mut editor = Self::of(container, HeaderEditor::load(&container.store, object)?)?;
        editor.open.changed = false;
        Ok(editor)
    }

    /// Changes the attributes of an object whose header is other than in the file.
    ///
    /// # Errors
    /// If what the header says of attributes is damaged.
    pub(super) fn of(container: &'c Container, header: HeaderEditor) -> Result<Self> {
        let info = header.decode::<AttributeInfo>()?;
        let phase_change = match header.prefix() {
            Prefix::V1(_) => None,
            Prefix::V2(prefix) => prefix.phase_change,
        };
        let compact = header.messages_of(MessageType::ATTRIBUTE).count();
        let phase_change = phase_change.unwrap_or_default();
        let pending = Pending::default();
        Ok(Self {
            container,
            open: Box::new(OpenAttributes {
                header,
                info,
                phase_change,
                compact,
                pending,
                stored: true,
                changed: true,
            }),
        })
    }

    pub(super) fn resume(container: &'c Container, open: Box<OpenAttributes>) -> Self {
        Self { container, open }
    }

    pub(super) fn suspend(self) -> Box<OpenAttributes> {
        self.open
    }

    /// The object's header, to be changed.
    pub fn header(&mut self) -> &mut HeaderEditor {
        self.open.header_to_change()
    }

    /// Whether there is an attribute of that name.
    ///
    /// # Errors
    /// If the object's structures are damaged.
    pub fn contains(&self, edit: &Edit<'_>, name: &[u8]) -> Result<bool> {
        match self.dense() {
            Some(_) if self.open.pending.find(name).is_some() => Ok(true),
            Some(_) if !self.open.stored => Ok(false),
            Some(dense) => Ok(dense.find(self.container, edit, name)?.is_some()),
            None => Ok(self.find_compact(name)?.is_some()),
        }
    }

    /// Sets an attribute: makes it, or puts it in place of the one of that name, whose place in the order of creation
    /// it takes. Gives the message of the one before.
    ///
    /// # Errors
    /// As [`set`].
    pub fn set(&mut self, edit: &mut Edit<'_>, attribute: &NewAttribute<'_>) -> Result<Option<Bytes>> {
        attribute.check()?;
        let plain = attribute.encode(edit, None)?;
        if self.version() == 1 && plain.len() > LONGEST_IN_OLD {
            return Err(too_long_for_old_header(attribute.name, plain.len()));
        }
        // Counted before the one that is replaced is uncounted: it may be of the same type.
        if let Some(committed) = attribute.committed {
            self.refer(edit, committed)?;
        }
        let placed = self.place(edit, attribute, plain)?;
        if let Some(before) = self.replace(edit, attribute.name, &placed)? {
            self.open.changed = true;
            return Ok(Some(before));
        }
        let order = self.next_order()?;
        self.insert(edit, attribute.name, order, &placed)?;
        self.note_order(order)?;
        self.open.changed = true;
        Ok(None)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none of that name.
    pub fn remove(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<()> {
        let not_found = || Error::NotFound { what: "attribute", name: lossy(name) };
        self.insert_pending(edit)?;
        let stored = self.take(edit, name)?.ok_or_else(not_found)?;
        self.open.changed = true;
        self.release(edit, &stored)?;
        match self.dense() {
            Some(dense) => {
                let left = dense.len(edit)?;
                if left == 0 {
                    dense.delete(edit)?;
                    self.forget_info();
                } else if left < u64::from(self.open.phase_change.min_dense) {
                    self.become_compact(edit, &dense)?;
                }
            }
            None if self.open.compact == 0 => self.forget_info(),
            None => {}
        }
        Ok(())
    }

    /// Gives an attribute another name.
    ///
    /// # Errors
    /// As [`rename`].
    pub fn rename(&mut self, edit: &mut Edit<'_>, from: &[u8], to: (&[u8], CharacterSet)) -> Result<()> {
        check_name(to.0)?;
        self.insert_pending(edit)?;
        if self.contains(edit, to.0)? {
            return Err(Error::Exists { what: "attribute", name: lossy(to.0) });
        }
        let not_found = || Error::NotFound { what: "attribute", name: lossy(from) };
        let stored = self.take(edit, from)?.ok_or_else(not_found)?;
        let message = at(AttributeMessage::decode(&stored.body, self.container.params()), self.address())?;
        let version = if to.1 == CharacterSet::Ascii { message.version } else { 3 };
        let renamed = AttributeMessage { version, name: to.0, charset: to.1, ..message };
        let body = renamed.to_bytes(self.container.params())?;
        self.open.changed = true;
        if self.container.shared_messages.is_none() {
            return self.insert(edit, to.0, stored.order, &Placed::own(stored.flags, body));
        }
        let placed = self.place_renamed(edit, stored.flags, body)?;
        self.insert(edit, to.0, stored.order, &placed)?;
        self.release(edit, &stored)
    }

    /// Writes what the header says of the attributes.
    ///
    /// # Errors
    /// As [`HeaderEditor::save`].
    pub fn finish(mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.open.changed {
            self.insert_pending(edit)?;
            self.open.header.touch(now())?;
            self.open.header.save(edit)?;
        }
        Ok(())
    }

    fn address(&self) -> Address {
        self.open.header.address()
    }

    fn version(&self) -> u8 {
        self.open.header.version()
    }

    fn dense(&self) -> Option<Dense> {
        self.open.info.filter(AttributeInfo::is_dense).map(|info| Dense::from(&info))
    }

    fn find_compact(&self, name: &[u8]) -> Result<Option<MessageId>> {
        for message in self.open.header.messages_of(MessageType::ATTRIBUTE) {
            let shared;
            let body = if message.flags.contains(MessageFlags::SHARED) {
                shared = self.shared_body(message.body)?;
                &*shared
            } else {
                message.body
            };
            if at(AttributeMessage::decode(body, self.container.params()), self.address())?.name == name {
                return Ok(Some(message.id));
            }
        }
        Ok(None)
    }

    /// The message that lies among the shared messages of the file.
    fn shared_body(&self, body: &[u8]) -> Result<Bytes> {
        let reference = at(SharedReference::decode(body, self.container.params()), self.address())?;
        let body = super::message::resolve_reference(self.container, MessageType::ATTRIBUTE, &reference)?;
        Ok(body.bytes().clone())
    }

    /// Puts the attributes that wait into the heap.
    fn insert_pending(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let pending = std::mem::take(&mut self.open.pending);
        match self.dense() {
            Some(dense) if !pending.is_empty() => {
                self.open.stored = true;
                dense.insert_all(self.container, edit, &pending)
            }
            _ => Ok(()),
        }
    }

    /// What waits under that number.
    fn pending(&self, number: usize) -> Result<Stored> {
        let body = self.open.pending.body(number);
        let (flags, order) =
            self.open.pending.get(number).map_or((NONE, 0), |entry| (entry.flags, entry.order));
        if flags.contains(MessageFlags::SHARED) {
            return Ok(Stored {
                body: self.shared_body(body)?,
                flags,
                order,
                reference: Some(body.to_vec()),
            });
        }
        Ok(Stored { body: Bytes::from(body), flags, order, reference: None })
    }

    /// Puts a body in place of that of the attribute of this name, if there is one; gives that.
    fn replace(&mut self, edit: &mut Edit<'_>, name: &[u8], placed: &Placed) -> Result<Option<Bytes>> {
        if let Some(number) = self.open.pending.find(name) {
            let stored = self.pending(number)?;
            self.open.pending.replace(number, placed.flags, &placed.body);
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        if let Some(dense) = self.dense() {
            if !self.open.stored {
                return Ok(None);
            }
            let Some((entry, old)) = dense.find(self.container, edit, name)? else { return Ok(None) };
            let stored = of_entry(edit, &entry, &old)?;
            drop(old);
            dense.replace(self.container, edit, name, &entry, content_of(placed))?;
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        if placed.body.len() < TOO_LONG {
            let Some(id) = self.find_compact(name)? else { return Ok(None) };
            let stored = self.stored(id)?;
            let kept = stored.flags & !(MessageFlags::SHARED | MessageFlags::SHAREABLE);
            self.open.header.replace(id, kept | placed.flags, &placed.body);
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        let Some(stored) = self.take(edit, name)? else { return Ok(None) };
        self.release(edit, &stored)?;
        self.insert(edit, name, stored.order, placed)?;
        Ok(Some(stored.body))
    }

    fn stored(&self, id: MessageId) -> Result<Stored> {
        let Some(message) =
            self.open.header.messages_of(MessageType::ATTRIBUTE).find(|message| message.id == id)
        else {
            return Ok(Stored { body: Bytes::from(&[][..]), flags: NONE, order: 0, reference: None });
        };
        let (flags, order) = (message.flags, message.creation_order.into());
        if flags.contains(MessageFlags::SHARED) {
            let reference = Some(message.body.to_vec());
            return Ok(Stored { body: self.shared_body(message.body)?, flags, order, reference });
        }
        Ok(Stored { body: Bytes::from(message.body), flags, order, reference: None })
    }

    /// Takes an attribute out.
    fn take(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<Option<Stored>> {
        if let Some(dense) = self.dense() {
            let removed = dense.remove(self.container, edit, name)?;
            return removed.map(|(entry, body)| of_entry(edit, &entry, &body)).transpose();
        }
        let Some(id) = self.find_compact(name)? else { return Ok(None) };
        let stored = self.stored(id)?;
        self.open.header.remove(id);
        self.open.compact = self.open.compact.saturating_sub(1);
        Ok(Some(stored))
    }

    /// Puts an attribute in whose name is free.
    fn insert(&mut self, edit: &mut Edit<'_>, name: &[u8], order: u64, placed: &Placed) -> Result<()> {
        let (flags, body) = (placed.flags, placed.body.as_slice());
        if self.dense().is_none() {
            let full = self.open.compact >= usize::from(self.open.phase_change.max_compact);
            if self.version() == 1 || (!full && body.len() < TOO_LONG) {
                if self.version() == 1 && body.len() > LONGEST_IN_OLD {
                    return Err(too_long_for_old_header(name, body.len()));
                }
                self.note_info()?;
                let order = u16::try_from(order).unwrap_or(u16::MAX);
                self.open.header.add_ordered(MessageType::ATTRIBUTE, flags, order, body);
                self.open.compact = self.open.compact.saturating_add(1);
                return Ok(());
            }
            self.become_dense(edit)?;
        }
        let order = self.dense_order(order);
        self.open.pending.push(name, body, flags, order, None);
        if self.open.pending.is_crowded() { self.insert_pending(edit) } else { Ok(()) }
    }

    /// What the header says of its attributes, from the first of them on. Version 1 says nothing.
    fn note_info(&mut self) -> Result<()> {
        if self.open.info.is_none() && self.version() != 1 {
            self.set_info(self.empty_info())?;
        }
        Ok(())
    }

    fn empty_info(&self) -> AttributeInfo {
        let Prefix::V2(prefix) = self.open.header.prefix() else { return AttributeInfo::EMPTY };
        let tracked = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
        let indexed = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_INDEXED);
        AttributeInfo {
            max_creation_index: tracked.then_some(0),
            creation_order_index: indexed.then_some(Address::UNDEFINED),
            ..AttributeInfo::EMPTY
        }
    }

    fn set_info(&mut self, info: AttributeInfo) -> Result<()> {
        self.open.info = Some(info);
        self.open.header.set(&info, MessageFlags::DO_NOT_SHARE)
    }

    /// Without attributes the header says nothing of them, and counts from 0 again.
    fn forget_info(&mut self) {
        self.open.info = None;
        self.open.header.remove_messages(MessageType::ATTRIBUTE_INFO, |_| true);
    }

    /// The creation order of the next attribute.
    fn next_order(&self) -> Result<u64> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        match info.max_creation_index {
            Some(u16::MAX) => Err(Error::Limit {
                what: format!(
                    "attributes ever made on the object at {}, which tracks their order,",
                    self.address()
                ),
                got: 65_536,
                limit: 65_535,
            }),
            index => Ok(index.unwrap_or(0).into()),
        }
    }

    /// The creation order that an attribute in a heap has: of an object that does not track it, the number for none.
    fn dense_order(&self, order: u64) -> u64 {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        if info.max_creation_index.is_some() { order } else { NO_ORDER }
    }

    fn note_order(&mut self, order: u64) -> Result<()> {
        match self.open.info {
            Some(info) if info.max_creation_index.is_some() => {
                let next = u16::try_from(order.saturating_add(1)).unwrap_or(u16::MAX);
                self.set_info(AttributeInfo { max_creation_index: Some(next), ..info })
            }
            _ => Ok(()),
        }
    }

    /// Moves the attributes from the header into a heap.
    fn become_dense(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        let dense = Dense::create(edit, DenseKind::Attributes, info.creation_order_index.is_some())?;
        let ids: Vec<MessageId> =
            self.open.header.messages_of(MessageType::ATTRIBUTE).map(|message| message.id).collect();
        for id in ids {
            let stored = self.stored(id)?;
            let params = self.container.params();
            let name = at(AttributeMessage::decode(&stored.body, params), self.address())?.name;
            if self.open.pending.find(name).is_some() {
                let expected = "one attribute of each name";
                return Err(Error::corrupt("attribute message", "name", expected, "two").at(self.address()));
            }
            let (flags, body) = match &stored.reference {
                Some(reference) => (stored.flags, reference.as_slice()),
                None => (stored.flags & !MessageFlags::SHARED, &*stored.body),
            };
            self.open.pending.push(name, body, flags, self.dense_order(stored.order), None);
        }
        self.open.header.remove_messages(MessageType::ATTRIBUTE, |_| true);
        (self.open.compact, self.open.stored) = (0, false);
        self.set_info(AttributeInfo {
            fractal_heap: dense.heap,
            name_index: dense.names,
            creation_order_index: dense.order,
            ..info
        })
    }

    /// Moves the attributes from the heap into the header, if all of them have room in one.
    fn become_compact(&mut self, edit: &mut Edit<'_>, dense: &Dense) -> Result<()> {
        let mut all = dense.all(self.container, edit)?;
        if all.iter().any(|(entry, body)| entry.shared_id().is_none() && body.len() >= TOO_LONG) {
            return Ok(());
        }
        all.sort_by_key(|(entry, _)| entry.order);
        for (entry, body) in &all {
            let order = u16::try_from(entry.order).unwrap_or(u16::MAX);
            let reference = entry.shared_reference(edit.params())?;
            let body = reference.as_deref().unwrap_or(body);
            self.open.header.add_ordered(MessageType::ATTRIBUTE, entry.flags, order, body);
        }
        self.open.compact = all.len();
        drop(all);
        dense.delete(edit)?;
        let order = self.open.info.and_then(|info| info.max_creation_index);
        self.set_info(AttributeInfo { max_creation_index: order, ..self.empty_info() })
    }

    /// Lets a committed datatype count one use more. It may be this object itself.
    fn refer(&mut self, edit: &mut Edit<'_>, datatype: Address) -> Result<()> {
        if datatype == self.address() {
            return delete::count_reference(edit.store(), &mut self.open.header);
        }
        delete::add_reference(edit, datatype)
    }

    /// The message of a new attribute: `plain`, or what stands for it if it is shared, or has parts that are. The use of
    /// a committed datatype is counted already.
    fn place(&mut self, edit: &mut Edit<'_>, attribute: &NewAttribute<'_>, plain: Vec<u8>) -> Result<Placed> {
        if self.container.shared_messages.is_none() {
            return Ok(Placed::own(NONE, plain));
        }
        let body = attribute.encode(edit, Some(self.container))?;
        self.place_body(edit, NONE, body)
    }

    /// The same of a message whose parts have counted it as their user.
    fn place_body(&mut self, edit: &mut Edit<'_>, flags: MessageFlags, body: Vec<u8>) -> Result<Placed> {
        let (kind, owner) = (MessageType::ATTRIBUTE, self.address());
        let parts = body.clone();
        let (placed, first) = sharing::place_counted(self.container, edit, kind, flags, body)?;
        if !first {
            // However many share it, it is one user of its parts.
            let targets = sharing::release_parts(self.container, edit, owner, kind, &parts)?;
            self.drop_targets(edit, targets)?;
        }
        Ok(placed)
    }

    /// The same of the message of an attribute that exists, whose parts become those of two for now.
    fn place_renamed(&mut self, edit: &mut Edit<'_>, flags: MessageFlags, body: Vec<u8>) -> Result<Placed> {
        for (kind, reference) in
            sharing::parts(self.container, self.address(), MessageType::ATTRIBUTE, &body)?
        {
            match (reference.location, &self.container.shared_messages) {
                (SharedLocation::Committed(datatype), _) => self.refer(edit, datatype)?,
                (SharedLocation::Heap(id), Some(shared)) => shared.acquire(edit, kind, id)?,
                (SharedLocation::Heap(_), None) => {}
            }
        }
        self.place_body(edit, flags, body)
    }

    /// Drops what an attribute that is gone referred to.
    fn release(&mut self, edit: &mut Edit<'_>, stored: &Stored) -> Result<()> {
        let (kind, owner) = (MessageType::ATTRIBUTE, self.address());
        let body = stored.reference.as_deref().unwrap_or(&stored.body);
        let targets = sharing::release(self.container, edit, owner, kind, stored.flags, body)?;
        self.drop_targets(edit, targets)
    }

    /// Lets committed datatypes count one use less each. One of them may be this object itself.
    fn drop_targets(&mut self, edit: &mut Edit<'_>, targets: Vec<Address>) -> Result<()> {
        for target in targets {
            if target == self.address() {
                delete::uncount_reference(edit.store(), &mut self.open.header)?;
                continue;
            }
            let no_raw_data: &mut RawData<'_> = &mut |_, _| Ok(());
            delete::drop_reference(self.container, edit, target, no_raw_data)?;
        }
        Ok(())
    }
}

/// An attribute among dense ones.
fn of_entry(edit: &Edit<'_>, entry: &Entry, body: &Bytes) -> Result<Stored> {
    let reference = entry.shared_reference(edit.params())?;
    Ok(Stored { body: Bytes::from(&**body), flags: entry.flags, order: entry.order, reference })
}

fn content_of(placed: &Placed) -> Content<'_> {
    placed.id.map_or(Content::Own(&placed.body), Content::Shared)
}

impl NewAttribute<'_> {
    fn check(&self) -> Result<()> {
        check_name(self.name)?;
        let count = self.dataspace.element_count();
        let wanted = count.and_then(|count| count.checked_mul(u64::from(self.datatype.size)));
        if wanted != Some(self.data.len() as u64) {
            return Err(Error::Misuse(format!(
                "attribute `{}`: {} bytes for {} elements of {} bytes each",
                lossy(self.name),
                self.data.len(),
                count.unwrap_or(u64::MAX),
                self.datatype.size
            )));
        }
        Ok(())
    }

    /// The message: the oldest version that serves in old files, version 3 in others. Its parts are placed among the
    /// shared messages of `shared`, where such are.
    fn encode(&self, edit: &mut Edit<'_>, shared: Option<&Container>) -> Result<Vec<u8>> {
        let (params, bounds) = (edit.params(), edit.bounds());
        let mut flags = AttributeFlags::empty();
        let mut place = |kind: MessageType, body: Vec<u8>| match shared {
            Some(container) => sharing::place(container, edit, kind, NONE, body),
            None => Ok(Placed::own(NONE, body)),
        };
        let datatype = if let Some(address) = self.committed {
            flags |= AttributeFlags::SHARED_DATATYPE;
            SharedReference::committed(address).to_bytes(params)?
        } else {
            let mut writer = Writer::new(MessageType::DATATYPE.name());
            datatype_message(self.datatype, bounds).encode(params, &mut writer);
            let placed = place(MessageType::DATATYPE, writer.finish()?)?;
            flags.set(AttributeFlags::SHARED_DATATYPE, placed.id.is_some());
            placed.body
        };
        let dataspace = dataspace_message(self.dataspace, bounds).to_bytes(params)?;
        let dataspace = place(MessageType::DATASPACE, dataspace)?;
        flags.set(AttributeFlags::SHARED_DATASPACE, dataspace.id.is_some());
        let dataspace = dataspace.body;
        let version = match self.charset {
            _ if bounds.prefers(LibraryVersion::V18) => 3,
            CharacterSet::Ascii if flags.is_empty() => 1,
            CharacterSet::Ascii => 2,
            CharacterSet::Utf8 => 3,
        };
        let (charset, name) = (self.charset, self.name);
        let message = AttributeMessage {
            version,
            flags,
            charset,
            name,
            datatype: &datatype,
            dataspace: &dataspace,
            data: self.data,
        };
        Ok(message.to_bytes(params)?)
    }
}

fn check_name(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "it has no bytes",
        _ if name.contains(&0) => "a zero byte ends names in the file",
        _ if name.len() >= 65_535 => "it is longer than 65534 bytes",
        _ => return Ok(()),
    };
    Err(Error::Misuse(format!("`{}` cannot be the name of an attribute: {why}", lossy(name))))
}

fn too_long_for_old_header(name: &[u8], length: usize) -> Error {
    Error::Misuse(format!(
        "attribute `{}` takes {length} bytes, but this object's header (version 1) holds at most {LONGEST_IN_OLD} for each: \
         make the object anew in a file whose lower version bound is v18 or later",
        lossy(name)
    ))
}
