//! Dense storage of links and attributes: the messages are in a fractal heap, with an index by name
//! and an optional index by creation order.
//!
//! The order of the index by name is the order of libhdf5: by the hash of the name, then by the
//! bytes of the name.

mod search;

use std::cmp::Ordering;

use hyperslab_format::btree_v2::records::{
    AttributeCreationOrderRecord, AttributeNameRecord, BTreeV2Record, LinkCreationOrderRecord,
    LinkNameRecord, types,
};
use hyperslab_format::codec::{Address, FileParams, FormatError};
use hyperslab_format::message::{
    AttributeInfo, AttributeMessage, LinkInfo, LinkMessage, Message as _, MessageFlags, MessageType,
    SharedLocation, SharedReference,
};

use super::container::Container;
use super::deferred::{Deferred, DeferredMessage};
use crate::error::{Error, Result};
use crate::index::btree_v2::{BTreeV2, BTreeV2Creation};
use crate::index::fractal_heap::{FractalHeap, FractalHeapCreation};
use crate::store::{Bytes, Edit, Store, at};
use search::ByName;

/// Name of the dense storage structure in internal errors.
const NAME: &str = "dense storage";

fn no_entry() -> FormatError {
    FormatError::internal(NAME, "each record has an entry")
}

/// Returns the creation order of an attribute in the form of the B-tree records of dense storage.
fn attribute_order(order: u64) -> Result<u32, FormatError> {
    u32::try_from(order)
        .map_err(|_| FormatError::internal(NAME, "a creation order of an attribute fits in 32 bits"))
}

/// The addresses of the fractal heap and of the B-tree indexes of dense storage for links or
/// attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dense {
    pub(super) kind: DenseKind,
    pub(super) heap: Address,
    pub(super) names: Address,
    pub(super) order: Option<Address>,
}

/// The new message of an entry in dense storage: bytes, or a reference to a shared message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content<'a> {
    /// A message for the heap.
    Own(&'a [u8]),
    /// The heap ID of a shared message of the file.
    Shared([u8; 8]),
}

/// The kind of messages that a dense storage holds: links or attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DenseKind {
    Links,
    Attributes,
}

/// A link or an attribute in dense storage, decoded from its B-tree record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DenseEntry {
    /// Heap ID of the message. IDs of links have seven bytes.
    id: [u8; 8],
    /// Flags of an attribute's message.
    pub(super) flags: MessageFlags,
    /// Creation order, or 0 if it is not tracked.
    pub(super) order: u64,
    hash: u32,
}

impl DenseEntry {
    /// Returns the heap ID of an attribute in dense storage that is a shared message.
    pub(super) fn shared_id(&self) -> Option<[u8; 8]> {
        self.flags.contains(MessageFlags::SHARED).then_some(self.id)
    }

    /// Returns the reference to a shared message for an attribute in dense storage. An object
    /// header would store this reference in place of the attribute.
    pub(super) fn shared_reference(&self, params: FileParams) -> Result<Option<Vec<u8>>> {
        Ok(self.shared_id().map(|id| SharedReference::heap(id).to_bytes(params)).transpose()?)
    }
}

impl From<&LinkInfo> for Dense {
    fn from(info: &LinkInfo) -> Self {
        let (heap, names, order) = (info.fractal_heap, info.name_index, info.creation_order_index);
        Self { kind: DenseKind::Links, heap, names, order }
    }
}

impl From<&AttributeInfo> for Dense {
    fn from(info: &AttributeInfo) -> Self {
        let (heap, names, order) = (info.fractal_heap, info.name_index, info.creation_order_index);
        Self { kind: DenseKind::Attributes, heap, names, order }
    }
}

impl DenseKind {
    fn heap(self, filters: &[u8]) -> FractalHeapCreation {
        let creation = match self {
            Self::Links => FractalHeapCreation::LINKS,
            Self::Attributes => FractalHeapCreation::ATTRIBUTES,
        };
        FractalHeapCreation { filters: filters.to_vec(), ..creation }
    }

    fn name_tree(self) -> BTreeV2Creation {
        match self {
            Self::Links => BTreeV2Creation::new(types::LINK_NAME, 11),
            Self::Attributes => BTreeV2Creation::new(types::ATTRIBUTE_NAME, 17),
        }
    }

    fn order_tree(self) -> BTreeV2Creation {
        match self {
            Self::Links => BTreeV2Creation::new(types::LINK_CREATION_ORDER, 15),
            Self::Attributes => BTreeV2Creation::new(types::ATTRIBUTE_CREATION_ORDER, 13),
        }
    }

    /// Returns the name of the link or attribute in a message of dense storage.
    fn name(self, container: &Container, body: &[u8]) -> Result<Vec<u8>, FormatError> {
        match self {
            Self::Links => Ok(LinkMessage::decode(body, container.params())?.name.to_vec()),
            Self::Attributes => Ok(AttributeMessage::decode(body, container.params())?.name.to_vec()),
        }
    }

    fn name_record(self, entry: &DenseEntry) -> Result<Vec<u8>, FormatError> {
        let DenseEntry { id, flags, order, hash } = *entry;
        let [heap_id @ .., _] = id;
        match self {
            Self::Links => LinkNameRecord { hash, heap_id }.encode(()),
            Self::Attributes => {
                let creation_order = attribute_order(order)?;
                let message_flags = flags.bits();
                AttributeNameRecord { heap_id: id, message_flags, creation_order, hash }.encode(())
            }
        }
    }

    fn order_record(self, entry: &DenseEntry) -> Result<Vec<u8>, FormatError> {
        let DenseEntry { id, flags, order, .. } = *entry;
        let [heap_id @ .., _] = id;
        match self {
            Self::Links => {
                LinkCreationOrderRecord { creation_order: order.cast_signed(), heap_id }.encode(())
            }
            Self::Attributes => {
                let creation_order = attribute_order(order)?;
                AttributeCreationOrderRecord { heap_id: id, message_flags: flags.bits(), creation_order }
                    .encode(())
            }
        }
    }

    fn entry(self, record: &[u8]) -> Result<DenseEntry, FormatError> {
        match self {
            Self::Links => {
                let record = LinkNameRecord::decode(record, ())?;
                Ok(DenseEntry {
                    id: id_of(&record.heap_id),
                    flags: MessageFlags::empty(),
                    order: 0,
                    hash: record.hash,
                })
            }
            Self::Attributes => {
                let record = AttributeNameRecord::decode(record, ())?;
                Ok(DenseEntry {
                    id: record.heap_id,
                    flags: MessageFlags::from_bits_retain(record.message_flags),
                    order: record.creation_order.into(),
                    hash: record.hash,
                })
            }
        }
    }

    /// Returns the hash of a name from a record of dense storage's index by name.
    fn hash_in(self, record: &[u8]) -> Result<u32, FormatError> {
        match self {
            Self::Links => LinkNameRecord::hash_in(record),
            Self::Attributes => AttributeNameRecord::hash_in(record),
        }
    }

    /// Compares the creation order in a B-tree record of dense storage with `order`.
    fn compare_order(self, record: &[u8], order: u64) -> Result<Ordering, FormatError> {
        match self {
            Self::Links => {
                Ok(LinkCreationOrderRecord::decode(record, ())?.creation_order.cmp(&order.cast_signed()))
            }
            Self::Attributes => {
                let record = AttributeCreationOrderRecord::decode(record, ())?;
                Ok(u64::from(record.creation_order).cmp(&order))
            }
        }
    }
}

impl Dense {
    /// Creates dense storage with B-tree indexes, and a heap with a filter pipeline message.
    pub(super) fn create(edit: &mut Edit<'_>, kind: DenseKind, order: bool, filters: &[u8]) -> Result<Self> {
        let heap = FractalHeap::create(edit, &kind.heap(filters))?;
        let names = BTreeV2::create(edit, &kind.name_tree())?.address();
        let order = if order { Some(BTreeV2::create(edit, &kind.order_tree())?.address()) } else { None };
        Ok(Self { kind, heap, names, order })
    }

    /// Returns the number of links or attributes in dense storage.
    pub(super) fn len(&self, edit: &Edit<'_>) -> Result<u64> {
        Ok(BTreeV2::edit(edit, self.names)?.header().total_records)
    }

    /// Returns the hashes of the names of all links or attributes in dense storage.
    pub(super) fn hashes(&self, store: &Store) -> Result<Vec<u32>> {
        let mut hashes = Vec::new();
        BTreeV2::open(store, self.names)?.walk(store, &mut |record| {
            hashes.push(at(self.kind.hash_in(record), self.names)?);
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(hashes)
    }

    /// Inserts the deferred links or attributes, all of which have new names, into dense storage.
    pub(super) fn insert_all(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        deferred: &Deferred,
    ) -> Result<()> {
        let is_own = |message: &&DeferredMessage| !message.flags.contains(MessageFlags::SHARED);
        let bodies = deferred.messages().iter().filter(is_own).map(|message| deferred.body(message));
        let mut ids = FractalHeap::insert_many(edit, self.heap, bodies)?.into_iter();
        let mut entries = Vec::with_capacity(deferred.messages().len());
        for message in deferred.messages() {
            let DeferredMessage { flags, order, hash, .. } = *message;
            let id = if is_own(&message) {
                id_of(&ids.next().ok_or_else(|| Error::internal(NAME, "each message in the heap has an ID"))?)
            } else {
                shared_id(deferred.body(message), container.params())?
            };
            entries.push((DenseEntry { id, flags, order, hash }, deferred.name(message)));
        }
        entries.sort_unstable_by_key(|(entry, name)| (entry.hash, *name));
        self.insert_names(container, edit, &entries)?;
        let Some(order) = self.order else { return Ok(()) };
        entries.sort_by_key(|(entry, _)| entry.order);
        let mut records = Vec::new();
        for (entry, _) in &entries {
            records.extend(self.kind.order_record(entry)?);
        }
        BTreeV2::edit(edit, order)?.insert_sorted(edit, &records, &mut |record, number| {
            let (entry, _) = entries.get(number).ok_or_else(no_entry)?;
            self.kind.compare_order(record, entry.order)
        })
    }

    fn insert_names(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        entries: &[(DenseEntry, &[u8])],
    ) -> Result<()> {
        let mut records = Vec::new();
        for (entry, _) in entries {
            records.extend(self.kind.name_record(entry)?);
        }
        let mut failure = None;
        let inserted =
            BTreeV2::edit(edit, self.names)?.insert_sorted(edit, &records, &mut |record, number| {
                let (entry, name) = entries.get(number).ok_or_else(no_entry)?;
                let hash = self.kind.hash_in(record)?;
                if hash != entry.hash {
                    return Ok(hash.cmp(&entry.hash));
                }
                let mut compare = ByName::new(self, container, name);
                let order = compare.compare(record);
                failure = failure.take().or(compare.failure);
                order
            });
        match (inserted, failure) {
            (Err(_), Some(failure)) => Err(failure),
            (inserted, _) => inserted,
        }
    }

    /// Returns the entry of dense storage with the name `name`, and its message.
    pub(super) fn find(
        &self,
        container: &Container,
        edit: &Edit<'_>,
        name: &[u8],
    ) -> Result<Option<(DenseEntry, Bytes)>> {
        let names = BTreeV2::edit(edit, self.names)?;
        let mut compare = ByName::new(self, container, name);
        let found = names.get(edit.store(), &mut |record| compare.compare(record));
        let Some(record) = compare.outcome(found)? else { return Ok(None) };
        let entry = at(self.kind.entry(&record), self.names)?;
        Ok(Some((entry, self.body(container, &entry)?)))
    }

    /// Replaces the message of a link or attribute in dense storage. If the old message is shared,
    /// the caller releases it.
    pub(super) fn replace(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        name: &[u8],
        entry: &DenseEntry,
        content: Content<'_>,
    ) -> Result<()> {
        let new = self.put_content(edit, entry, content)?;
        if new == *entry {
            return Ok(());
        }
        let record = self.kind.name_record(&new)?;
        let mut compare = ByName::new(self, container, name);
        // The heap no longer has the message of this entry.
        compare.known = Some(entry.id);
        let mut names = BTreeV2::edit(edit, self.names)?;
        let modified =
            names.modify(edit, &mut |record| compare.compare(record), |old| old.copy_from_slice(&record));
        compare.outcome(modified)?.ok_or_else(no_entry)?;
        if let Some(address) = self.order {
            let record = self.kind.order_record(&new)?;
            let mut tree = BTreeV2::edit(edit, address)?;
            let mut compare = |record: &[u8]| self.kind.compare_order(record, entry.order);
            tree.modify(edit, &mut compare, |old| old.copy_from_slice(&record))?;
        }
        Ok(())
    }

    /// Stores the new message of a dense storage entry in the heap. Returns the changed entry.
    fn put_content(
        &self,
        edit: &mut Edit<'_>,
        entry: &DenseEntry,
        content: Content<'_>,
    ) -> Result<DenseEntry> {
        let body = match content {
            Content::Own(body) => body,
            Content::Shared(id) => {
                if !self.is_shared(entry) {
                    FractalHeap::remove(edit, self.heap, self.id(entry))?;
                }
                return Ok(DenseEntry { id, flags: entry.flags | MessageFlags::SHARED, ..*entry });
            }
        };
        let stored = if self.is_shared(entry) {
            FractalHeap::insert(edit, self.heap, body)?
        } else {
            FractalHeap::update(edit, self.heap, self.id(entry), body)?
        };
        Ok(DenseEntry { id: id_of(&stored), flags: entry.flags & !MessageFlags::SHARED, ..*entry })
    }

    /// Removes a link or attribute from dense storage and returns its entry and message. If the
    /// message is shared, the caller releases it.
    pub(super) fn remove(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        name: &[u8],
    ) -> Result<Option<(DenseEntry, Bytes)>> {
        let mut names = BTreeV2::edit(edit, self.names)?;
        let mut compare = ByName::new(self, container, name);
        let removed = names.remove(edit, &mut |record| compare.compare(record));
        let Some(record) = compare.outcome(removed)? else { return Ok(None) };
        let entry = at(self.kind.entry(&record), self.names)?;
        let body = Bytes::from(&*self.body(container, &entry)?);
        if let Some(address) = self.order {
            let order = self.order_of(container, &entry, &body)?;
            let mut tree = BTreeV2::edit(edit, address)?;
            tree.remove(edit, &mut |record| self.kind.compare_order(record, order))?;
        }
        if !self.is_shared(&entry) {
            FractalHeap::remove(edit, self.heap, self.id(&entry))?;
        }
        Ok(Some((entry, body)))
    }

    /// Returns all entries of dense storage and their messages, in ascending order of the hashes of
    /// the names.
    pub(super) fn all(&self, container: &Container, edit: &Edit<'_>) -> Result<Vec<(DenseEntry, Bytes)>> {
        let names = BTreeV2::edit(edit, self.names)?;
        let mut entries = Vec::new();
        names.walk(edit.store(), &mut |record| {
            let entry = at(self.kind.entry(record), self.names)?;
            entries.push((entry, self.body(container, &entry)?));
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(entries)
    }

    /// Frees the fractal heap and the B-tree indexes of dense storage.
    pub(super) fn delete(&self, edit: &mut Edit<'_>) -> Result<()> {
        for tree in std::iter::once(self.names).chain(self.order) {
            BTreeV2::edit(edit, tree)?.delete(edit, &mut |_, _| Ok(()))?;
        }
        FractalHeap::delete(edit, self.heap)
    }

    fn id<'e>(&self, entry: &'e DenseEntry) -> &'e [u8] {
        match self.kind {
            DenseKind::Links => {
                let [id @ .., _] = &entry.id;
                id
            }
            DenseKind::Attributes => &entry.id,
        }
    }

    /// Returns whether the message of a dense storage entry is a shared message.
    fn is_shared(&self, entry: &DenseEntry) -> bool {
        self.kind == DenseKind::Attributes && entry.flags.contains(MessageFlags::SHARED)
    }

    fn body(&self, container: &Container, entry: &DenseEntry) -> Result<Bytes> {
        match &container.shared_messages {
            Some(shared) if self.is_shared(entry) => {
                shared.get(&container.store, MessageType::ATTRIBUTE, &entry.id)
            }
            _ => {
                let heap = FractalHeap::open(&container.store, self.heap)?;
                heap.get(&container.store, self.id(entry))
            }
        }
    }

    /// Returns the creation order of a link or attribute in dense storage.
    fn order_of(&self, container: &Container, entry: &DenseEntry, body: &[u8]) -> Result<u64> {
        match self.kind {
            DenseKind::Attributes => Ok(entry.order),
            DenseKind::Links => {
                Ok(at(LinkMessage::decode(body, container.params()), self.heap)?.creation_order.unwrap_or(0))
            }
        }
    }
}

/// Returns the heap ID of a shared message, from the encoded reference to the message.
fn shared_id(reference: &[u8], params: FileParams) -> Result<[u8; 8]> {
    match SharedReference::decode(reference, params)?.location {
        SharedLocation::Heap(id) => Ok(id),
        SharedLocation::Committed(_) => {
            Err(Error::Misuse("a shared attribute cannot be a committed datatype".into()))
        }
    }
}

/// Returns a heap ID of dense storage, of seven or eight bytes, padded with zeros to eight bytes.
fn id_of(stored: &[u8]) -> [u8; 8] {
    let mut id = [0; 8];
    for (to, from) in id.iter_mut().zip(stored) {
        *to = *from;
    }
    id
}
