//! Links and attributes outside of the object header: their messages in a fractal heap, found by name and, where
//! indexed, by creation order.
//!
//! Names are found by their hash; names of the same hash stand in the order of their bytes, as libhdf5 looks for them.

use std::cmp::Ordering;

use hyperslab_format::btree_v2::records::{
    AttributeCreationOrderRecord, AttributeNameRecord, BTreeV2Record, LinkCreationOrderRecord,
    LinkNameRecord, types,
};
use hyperslab_format::codec::{Address, FileParams, FormatError, checksum};
use hyperslab_format::message::{
    Attribute, AttributeInfo, Link, LinkInfo, Message as _, MessageFlags, MessageType, SharedLocation,
    SharedReference,
};

use super::container::Container;
use super::pending::{Pending, Waiting};
use crate::error::{Error, Result};
use crate::index::btree_v2::{BTreeV2, BTreeV2Creation};
use crate::index::fractal_heap::{FractalHeap, FractalHeapCreation};
use crate::store::{Bytes, Edit, at};

/// Where the parts lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dense {
    pub(super) kind: DenseKind,
    pub(super) heap: Address,
    pub(super) names: Address,
    pub(super) order: Option<Address>,
}

/// A message that is put in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content<'a> {
    /// Into the heap.
    Own(&'a [u8]),
    /// It lies among the shared messages of the file.
    Shared([u8; 8]),
}

/// What is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DenseKind {
    Links,
    Attributes,
}

/// A link or attribute as its records say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The message in the heap; links use seven bytes.
    id: [u8; 8],
    /// Flags of the message, of an attribute.
    pub(super) flags: MessageFlags,
    /// 0 where it is not tracked.
    pub(super) order: u64,
    hash: u32,
}

impl Entry {
    /// The message among the shared messages of the file, if it is an attribute that lies there.
    pub(super) fn shared_id(&self) -> Option<[u8; 8]> {
        self.flags.contains(MessageFlags::SHARED).then_some(self.id)
    }

    /// What a header would say in place of the message.
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
    /// Bytes of a heap ID.
    const fn id_length(self) -> u16 {
        match self {
            Self::Links => 7,
            Self::Attributes => 8,
        }
    }

    const fn heap(self) -> FractalHeapCreation {
        match self {
            Self::Links => FractalHeapCreation::LINKS,
            Self::Attributes => FractalHeapCreation::ATTRIBUTES,
        }
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

    /// The name in a message of the heap.
    fn name(self, container: &Container, body: &[u8]) -> Result<Vec<u8>, FormatError> {
        match self {
            Self::Links => Ok(Link::decode(body, container.params())?.name.to_vec()),
            Self::Attributes => Ok(Attribute::decode(body, container.params())?.name.to_vec()),
        }
    }

    fn name_record(self, entry: &Entry) -> Result<Vec<u8>, FormatError> {
        let Entry { id, flags, order, hash } = *entry;
        let [heap_id @ .., _] = id;
        match self {
            Self::Links => LinkNameRecord { hash, heap_id }.encode(()),
            Self::Attributes => {
                let creation_order = u32::try_from(order).unwrap_or(u32::MAX);
                let message_flags = flags.bits();
                AttributeNameRecord { heap_id: id, message_flags, creation_order, hash }.encode(())
            }
        }
    }

    fn order_record(self, entry: &Entry) -> Result<Vec<u8>, FormatError> {
        let Entry { id, flags, order, .. } = *entry;
        let [heap_id @ .., _] = id;
        match self {
            Self::Links => {
                LinkCreationOrderRecord { creation_order: order.cast_signed(), heap_id }.encode(())
            }
            Self::Attributes => {
                let creation_order = u32::try_from(order).unwrap_or(u32::MAX);
                AttributeCreationOrderRecord { heap_id: id, message_flags: flags.bits(), creation_order }
                    .encode(())
            }
        }
    }

    fn entry(self, record: &[u8]) -> Result<Entry, FormatError> {
        match self {
            Self::Links => {
                let record = LinkNameRecord::decode(record, ())?;
                Ok(Entry {
                    id: id_of(&record.heap_id),
                    flags: MessageFlags::empty(),
                    order: 0,
                    hash: record.hash,
                })
            }
            Self::Attributes => {
                let record = AttributeNameRecord::decode(record, ())?;
                Ok(Entry {
                    id: record.heap_id,
                    flags: MessageFlags::from_bits_retain(record.message_flags),
                    order: record.creation_order.into(),
                    hash: record.hash,
                })
            }
        }
    }

    /// The hash in a record of a name.
    fn hash_in(self, record: &[u8]) -> Result<u32, FormatError> {
        match self {
            Self::Links => LinkNameRecord::hash_in(record),
            Self::Attributes => AttributeNameRecord::hash_in(record),
        }
    }

    /// How the creation order of a record lies to `order`.
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
    /// Makes an empty heap and its trees.
    pub(super) fn create(edit: &mut Edit<'_>, kind: DenseKind, indexed: bool) -> Result<Self> {
        let heap = FractalHeap::create(edit, &kind.heap())?;
        let names = BTreeV2::create(edit, &kind.name_tree())?.address();
        let order = if indexed { Some(BTreeV2::create(edit, &kind.order_tree())?.address()) } else { None };
        Ok(Self { kind, heap, names, order })
    }

    /// How many entries there are.
    pub(super) fn len(&self, edit: &Edit<'_>) -> Result<u64> {
        Ok(BTreeV2::edit(edit, self.names)?.header().total_records)
    }

    /// Adds many messages whose names are free.
    pub(super) fn insert_all(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        pending: &Pending,
    ) -> Result<()> {
        let own = |number: &usize| {
            pending.get(*number).is_some_and(|entry| !entry.flags.contains(MessageFlags::SHARED))
        };
        let bodies = (0..pending.entries().len()).filter(own).map(|number| pending.body(number));
        let mut ids = FractalHeap::insert_many(edit, self.heap, bodies)?.into_iter();
        let mut as_they_came = Vec::with_capacity(pending.entries().len());
        for (number, waiting) in pending.entries().iter().enumerate() {
            let Waiting { flags, order, hash, .. } = *waiting;
            let id = if own(&number) {
                id_of(&ids.next().unwrap_or_default())
            } else {
                shared_id(pending.body(number), container.params())?
            };
            as_they_came.push(Entry { id, flags, order, hash });
        }
        let by_name = pending.by_hash_and_name();
        let found = by_name.iter().filter_map(|number| Some((*as_they_came.get(*number)?, *number)));
        let mut entries: Vec<(Entry, usize)> = found.collect();
        self.insert_names(container, edit, pending, &entries)?;
        let Some(order) = self.order else { return Ok(()) };
        entries.sort_by_key(|(entry, _)| entry.order);
        let mut records = Vec::new();
        for (entry, _) in &entries {
            records.extend(self.kind.order_record(entry)?);
        }
        BTreeV2::edit(edit, order)?.insert_sorted(edit, &records, &mut |record, number| {
            self.kind.compare_order(record, entries.get(number).map_or(0, |(entry, _)| entry.order))
        })
    }

    fn insert_names(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        pending: &Pending,
        entries: &[(Entry, usize)],
    ) -> Result<()> {
        let mut records = Vec::new();
        for (entry, _) in entries {
            records.extend(self.kind.name_record(entry)?);
        }
        let mut failure = None;
        let inserted =
            BTreeV2::edit(edit, self.names)?.insert_sorted(edit, &records, &mut |record, number| {
                let Some((entry, number)) = entries.get(number) else { return Ok(Ordering::Equal) };
                let hash = self.kind.hash_in(record)?;
                if hash != entry.hash {
                    return Ok(hash.cmp(&entry.hash));
                }
                let mut compare = ByName::new(self, container, pending.name(*number));
                let order = compare.compare(record);
                failure = failure.take().or(compare.failure);
                order
            });
        match (inserted, failure) {
            (Err(_), Some(failure)) => Err(failure),
            (inserted, _) => inserted,
        }
    }

    /// The entry of that name and its message.
    pub(super) fn find(
        &self,
        container: &Container,
        edit: &Edit<'_>,
        name: &[u8],
    ) -> Result<Option<(Entry, Bytes)>> {
        let names = BTreeV2::edit(edit, self.names)?;
        let mut compare = ByName::new(self, container, name);
        let found = names.get(edit.store(), &mut |record| compare.compare(record));
        let Some(record) = compare.outcome(found)? else { return Ok(None) };
        let entry = at(self.kind.entry(&record), self.names)?;
        Ok(Some((entry, self.body(container, &entry)?)))
    }

    /// Puts another message in place of that of an entry, under the same name and creation order. A shared message is
    /// the caller's to give up.
    pub(super) fn replace(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        name: &[u8],
        entry: &Entry,
        content: Content<'_>,
    ) -> Result<()> {
        let new = self.put_content(edit, entry, content)?;
        if new == *entry {
            return Ok(());
        }
        let record = self.kind.name_record(&new)?;
        let mut compare = ByName::new(self, container, name);
        // Its message is gone from the heap.
        compare.known = Some(entry.id);
        let mut names = BTreeV2::edit(edit, self.names)?;
        let modified =
            names.modify(edit, &mut |record| compare.compare(record), |place| place.copy_from_slice(&record));
        compare.outcome(modified)?;
        if let Some(address) = self.order {
            let record = self.kind.order_record(&new)?;
            let mut tree = BTreeV2::edit(edit, address)?;
            let mut compare = |record: &[u8]| self.kind.compare_order(record, entry.order);
            tree.modify(edit, &mut compare, |place| place.copy_from_slice(&record))?;
        }
        Ok(())
    }

    /// Stores the message that comes in place of an entry's; what the entry is then.
    fn put_content(&self, edit: &mut Edit<'_>, entry: &Entry, content: Content<'_>) -> Result<Entry> {
        let body = match content {
            Content::Own(body) => body,
            Content::Shared(id) => {
                if !self.is_elsewhere(entry) {
                    FractalHeap::remove(edit, self.heap, self.id(entry))?;
                }
                return Ok(Entry { id, flags: entry.flags | MessageFlags::SHARED, ..*entry });
            }
        };
        let stored = if self.is_elsewhere(entry) {
            FractalHeap::insert(edit, self.heap, body)?
        } else {
            FractalHeap::update(edit, self.heap, self.id(entry), body)?
        };
        Ok(Entry { id: id_of(&stored), flags: entry.flags & !MessageFlags::SHARED, ..*entry })
    }

    /// Takes a name and its message out; says what they were. A shared message is the caller's to give up.
    pub(super) fn remove(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        name: &[u8],
    ) -> Result<Option<(Entry, Bytes)>> {
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
        if !self.is_elsewhere(&entry) {
            FractalHeap::remove(edit, self.heap, self.id(&entry))?;
        }
        Ok(Some((entry, body)))
    }

    /// All entries with their messages, by the hashes of their names.
    pub(super) fn all(&self, container: &Container, edit: &Edit<'_>) -> Result<Vec<(Entry, Bytes)>> {
        let names = BTreeV2::edit(edit, self.names)?;
        let mut entries = Vec::new();
        names.walk(edit.store(), &mut |record| {
            let entry = at(self.kind.entry(record), self.names)?;
            entries.push((entry, self.body(container, &entry)?));
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(entries)
    }

    /// Gives the room of heap and trees back.
    pub(super) fn delete(&self, edit: &mut Edit<'_>) -> Result<()> {
        for tree in std::iter::once(self.names).chain(self.order) {
            BTreeV2::edit(edit, tree)?.delete(edit, &mut |_, _| Ok(()))?;
        }
        FractalHeap::delete(edit, self.heap)
    }

    fn id<'e>(&self, entry: &'e Entry) -> &'e [u8] {
        entry.id.get(..usize::from(self.kind.id_length())).unwrap_or_default()
    }

    /// Returns whether the message lies among the shared messages of the file.
    fn is_elsewhere(&self, entry: &Entry) -> bool {
        self.kind == DenseKind::Attributes && entry.flags.contains(MessageFlags::SHARED)
    }

    fn body(&self, container: &Container, entry: &Entry) -> Result<Bytes> {
        match &container.shared_messages {
            Some(shared) if self.is_elsewhere(entry) => {
                shared.get(&container.store, MessageType::ATTRIBUTE, &entry.id)
            }
            _ => {
                let heap = FractalHeap::open(&container.store, self.heap)?;
                heap.get(&container.store, self.id(entry))
            }
        }
    }

    /// The creation order, which a link has in its message.
    fn order_of(&self, container: &Container, entry: &Entry, body: &[u8]) -> Result<u64> {
        match self.kind {
            DenseKind::Attributes => Ok(entry.order),
            DenseKind::Links => {
                Ok(at(Link::decode(body, container.params()), self.heap)?.creation_order.unwrap_or(0))
            }
        }
    }
}

/// The ID in what a header says of a message among the shared ones.
fn shared_id(reference: &[u8], params: FileParams) -> Result<[u8; 8]> {
    match SharedReference::decode(reference, params)?.location {
        SharedLocation::Heap(id) => Ok(id),
        SharedLocation::Committed(_) => Err(Error::Misuse("an attribute is never committed".into())),
    }
}

/// An ID of seven or eight bytes.
fn id_of(stored: &[u8]) -> [u8; 8] {
    let mut id = [0; 8];
    for (to, from) in id.iter_mut().zip(stored) {
        *to = *from;
    }
    id
}

/// Compares records with a name. Names of the same hash are read in the heap; what fails there is kept.
struct ByName<'a> {
    dense: &'a Dense,
    container: &'a Container,
    name: &'a [u8],
    hash: u32,
    /// An entry that is known to have the name.
    known: Option<[u8; 8]>,
    failure: Option<Error>,
}

impl<'a> ByName<'a> {
    fn new(dense: &'a Dense, container: &'a Container, name: &'a [u8]) -> Self {
        Self { dense, container, name, hash: checksum(name), known: None, failure: None }
    }

    fn compare(&mut self, record: &[u8]) -> Result<Ordering, FormatError> {
        let kind = self.dense.kind;
        let hash = kind.hash_in(record)?;
        match hash.cmp(&self.hash) {
            Ordering::Equal => {}
            other => return Ok(other),
        }
        let entry = kind.entry(record)?;
        if self.known == Some(entry.id) {
            return Ok(Ordering::Equal);
        }
        let body = self.dense.body(self.container, &entry).map_err(|error| {
            self.failure = Some(error);
            FormatError::corrupt("version 2 B-tree", "heap ID", "that of a message", "none")
        })?;
        Ok(kind.name(self.container, &body)?.as_slice().cmp(self.name))
    }

    /// The result, or what failed in the heap.
    fn outcome<T>(self, result: Result<T>) -> Result<T> {
        match (result, self.failure) {
            (Err(_), Some(failure)) => Err(failure),
            (result, _) => result,
        }
    }
}
