//! The records of an index, in a list or a version 2 B-tree.
//!
//! In the tree they stand by their hashes; messages of the same hash by their lengths, then by their bytes, as libhdf5
//! looks for them.

use std::cmp::Ordering;

use hyperslab_format::btree_v2::records::{BTreeV2Record as _, types};
use hyperslab_format::codec::{Address, FormatError, Structure as _, checksum_from};
use hyperslab_format::message::MessageType;
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageIndexKind, SharedMessageList, SharedMessageListContext,
    SharedMessageLocation, SharedMessageRecord,
};

use super::super::btree_v2::{BTreeV2, BTreeV2Creation};
use super::super::fractal_heap::FractalHeap;
use super::MessageInHeader;
use crate::error::{Error, Result};
use crate::store::{Bytes, Edit, SpaceKind, Store, at};

/// What lists are to the file's space.
const LIST_SPACE: SpaceKind = SpaceKind::BTree;

/// Zero bytes that version 1 headers may have behind a message.
pub(super) const PADDING: usize = 7;

/// A message that is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    hash: u32,
    body: &'a [u8],
}

/// The records of an index, and where their messages are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records {
    heap: Address,
    in_header: MessageInHeader,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(kind: MessageType, body: &'a [u8]) -> Self {
        Self { hash: checksum_from(kind.0.into(), body), body }
    }

    /// The record of this message, in the heap with so many users.
    pub(super) fn record(&self, heap_id: [u8; 8], reference_count: u32) -> SharedMessageRecord {
        let location = SharedMessageLocation::Heap { reference_count, heap_id };
        SharedMessageRecord { hash: self.hash, location }
    }
}

impl Records {
    pub(super) fn of(index: &SharedMessageIndex, in_header: MessageInHeader) -> Self {
        Self { heap: index.heap, in_header }
    }

    /// The record of the message.
    pub(super) fn find(
        self,
        store: &Store,
        index: &SharedMessageIndex,
        wanted: Wanted<'_>,
    ) -> Result<Option<SharedMessageRecord>> {
        if !index.index.is_defined() {
            return Ok(None);
        }
        match index.kind {
            SharedMessageIndexKind::List => {
                let list = store.shared::<SharedMessageList>(index.index, &list_context(store, index))?;
                let place = self.place(store, &list, wanted)?;
                Ok(place.and_then(|place| list.records.get(place).copied()))
            }
            SharedMessageIndexKind::BTree => {
                let mut compare = ByMessage::new(self, store, wanted);
                let tree = BTreeV2::of_store(store, index.index)?;
                let found = tree.find(store, &mut |record| compare.compare(record));
                let found = compare.outcome(found)?;
                found
                    .map(|record| at(SharedMessageRecord::decode(&record, store.params()), index.index))
                    .transpose()
            }
        }
    }

    /// Puts a record in place of that of the message.
    pub(super) fn replace(
        self,
        edit: &mut Edit<'_>,
        index: &SharedMessageIndex,
        wanted: Wanted<'_>,
        record: SharedMessageRecord,
    ) -> Result<()> {
        let store = edit.store();
        match index.kind {
            SharedMessageIndexKind::List => {
                let context = list_context(store, index);
                let list = store.shared::<SharedMessageList>(index.index, &context)?;
                let place = self.place(store, &list, wanted)?;
                drop(list);
                edit.modify(index.index, &context, |list: &mut SharedMessageList| {
                    if let Some(slot) = place.and_then(|place| list.records.get_mut(place)) {
                        *slot = record;
                    }
                })
            }
            SharedMessageIndexKind::BTree => {
                let bytes = record.encode(edit.params())?;
                let mut compare = ByMessage::new(self, store, wanted);
                let mut tree = BTreeV2::edit(edit, index.index)?;
                let change = |slot: &mut [u8]| slot.copy_from_slice(&bytes);
                let outcome = tree.modify(edit, &mut |record| compare.compare(record), change);
                compare.outcome(outcome).map(drop)
            }
        }
    }

    /// Adds the record of a message that has none. A list that is full becomes a tree.
    pub(super) fn insert(
        self,
        edit: &mut Edit<'_>,
        index: &mut SharedMessageIndex,
        wanted: Wanted<'_>,
        record: SharedMessageRecord,
    ) -> Result<()> {
        if index.kind == SharedMessageIndexKind::List && index.messages >= index.list_cutoff {
            self.become_tree(edit, index)?;
        }
        match index.kind {
            SharedMessageIndexKind::List => {
                let before = list_context(edit.store(), index);
                let mut list: SharedMessageList = edit.take(index.index, &before)?;
                list.records.push(record);
                index.messages = index.messages.saturating_add(1);
                let after = list_context(edit.store(), index);
                edit.put(index.index, &after, list);
                Ok(())
            }
            SharedMessageIndexKind::BTree => {
                self.insert_in_tree(edit, index.index, wanted, record)?;
                index.messages = index.messages.saturating_add(1);
                Ok(())
            }
        }
    }

    fn insert_in_tree(
        self,
        edit: &mut Edit<'_>,
        tree: Address,
        wanted: Wanted<'_>,
        record: SharedMessageRecord,
    ) -> Result<()> {
        let bytes = record.encode(edit.params())?;
        let mut compare = ByMessage::new(self, edit.store(), wanted);
        let inserted = BTreeV2::edit(edit, tree)?.insert(edit, &bytes, &mut |record| compare.compare(record));
        if compare.outcome(inserted)? {
            return Ok(());
        }
        Err(Error::corrupt(SharedMessageRecord::NAME, "message", "one that no other record has", "two")
            .at(tree))
    }

    /// Takes the record of the message out. A tree that has too few becomes a list.
    pub(super) fn remove(
        self,
        edit: &mut Edit<'_>,
        index: &mut SharedMessageIndex,
        wanted: Wanted<'_>,
    ) -> Result<()> {
        match index.kind {
            SharedMessageIndexKind::List => {
                let before = list_context(edit.store(), index);
                let list = edit.store().shared::<SharedMessageList>(index.index, &before)?;
                let place = self.place(edit.store(), &list, wanted)?;
                drop(list);
                let Some(place) = place else { return Ok(()) };
                let mut list: SharedMessageList = edit.take(index.index, &before)?;
                list.records.remove(place);
                index.messages = index.messages.saturating_sub(1);
                let after = list_context(edit.store(), index);
                edit.put(index.index, &after, list);
                Ok(())
            }
            SharedMessageIndexKind::BTree => {
                let mut compare = ByMessage::new(self, edit.store(), wanted);
                let mut tree = BTreeV2::edit(edit, index.index)?;
                let removed = tree.remove(edit, &mut |record| compare.compare(record));
                if compare.outcome(removed)?.is_some() {
                    index.messages = index.messages.saturating_sub(1);
                }
                // What is left has room in a list, unless the file has odd cutoffs.
                if index.messages > 0
                    && index.messages < index.btree_cutoff
                    && index.messages <= index.list_cutoff
                {
                    become_list(edit, index)?;
                }
                Ok(())
            }
        }
    }

    /// Which record of a list is that of the message.
    fn place(self, store: &Store, list: &SharedMessageList, wanted: Wanted<'_>) -> Result<Option<usize>> {
        for (place, record) in list.records.iter().enumerate() {
            if record.hash == wanted.hash && self.compare(store, record, wanted)?.is_eq() {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// How the message of a record with the same hash lies to the one that is wanted.
    fn compare(self, store: &Store, record: &SharedMessageRecord, wanted: Wanted<'_>) -> Result<Ordering> {
        let found = self.body(store, record)?;
        if matches!(record.location, SharedMessageLocation::Header { .. })
            && found.strip_prefix(wanted.body).is_some_and(is_padding)
        {
            return Ok(Ordering::Equal);
        }
        Ok(found.len().cmp(&wanted.body.len()).then_with(|| (*found).cmp(wanted.body)))
    }

    /// The message of a record. One in an object header has whatever the header padded it with.
    fn body(self, store: &Store, record: &SharedMessageRecord) -> Result<Bytes> {
        match &record.location {
            SharedMessageLocation::Heap { heap_id, .. } => {
                FractalHeap::open(store, self.heap)?.get(store, heap_id)
            }
            SharedMessageLocation::Header { message_type, index, header } => {
                (self.in_header)(store, *header, MessageType((*message_type).into()), *index)
            }
        }
    }

    fn become_tree(self, edit: &mut Edit<'_>, index: &mut SharedMessageIndex) -> Result<()> {
        let context = list_context(edit.store(), index);
        let list = edit.store().shared::<SharedMessageList>(index.index, &context)?;
        let tree = create_tree(edit)?;
        for record in &list.records {
            let body = self.body(edit.store(), record)?;
            self.insert_in_tree(edit, tree, Wanted { hash: record.hash, body: &body }, *record)?;
        }
        drop(list);
        edit.free(LIST_SPACE, index.index, SharedMessageList::size(&context) as u64)?;
        (index.kind, index.index) = (SharedMessageIndexKind::BTree, tree);
        Ok(())
    }
}

fn is_padding(bytes: &[u8]) -> bool {
    bytes.len() <= PADDING && bytes.iter().all(|byte| *byte == 0)
}

fn list_context(store: &Store, index: &SharedMessageIndex) -> SharedMessageListContext {
    SharedMessageListContext { params: store.params(), records: index.messages, capacity: index.list_cutoff }
}

fn create_tree(edit: &mut Edit<'_>) -> Result<Address> {
    let size = SharedMessageRecord::size(edit.params());
    let size = u16::try_from(size).unwrap_or(u16::MAX);
    Ok(BTreeV2::create(edit, &BTreeV2Creation::new(types::SHARED_MESSAGE, size))?.address())
}

fn become_list(edit: &mut Edit<'_>, index: &mut SharedMessageIndex) -> Result<()> {
    let params = edit.params();
    let tree = BTreeV2::edit(edit, index.index)?;
    let mut list = SharedMessageList::default();
    let mut failure = None;
    tree.delete(edit, &mut |_, record| {
        match SharedMessageRecord::decode(record, params) {
            Ok(record) => list.records.push(record),
            Err(error) => failure = Some(error),
        }
        Ok(())
    })?;
    if let Some(failure) = failure {
        return at(Err(failure), index.index);
    }
    index.messages = u16::try_from(list.records.len()).unwrap_or(u16::MAX);
    let context = list_context(edit.store(), index);
    index.kind = SharedMessageIndexKind::List;
    index.index = edit.add(LIST_SPACE, &context, list)?;
    Ok(())
}

/// Makes an index without records, of the kind that its cutoffs ask for.
pub(super) fn create(edit: &mut Edit<'_>, index: &mut SharedMessageIndex) -> Result<()> {
    index.messages = 0;
    if index.list_cutoff == 0 {
        (index.kind, index.index) = (SharedMessageIndexKind::BTree, create_tree(edit)?);
    } else {
        let context = list_context(edit.store(), index);
        index.kind = SharedMessageIndexKind::List;
        index.index = edit.add(LIST_SPACE, &context, SharedMessageList::default())?;
    }
    Ok(())
}

/// Gives the room of an index back. Its heap stays.
pub(super) fn delete(edit: &mut Edit<'_>, index: &mut SharedMessageIndex) -> Result<()> {
    match index.kind {
        SharedMessageIndexKind::List => {
            let length = SharedMessageList::size(&list_context(edit.store(), index)) as u64;
            edit.free(LIST_SPACE, index.index, length)?;
        }
        SharedMessageIndexKind::BTree => {
            BTreeV2::edit(edit, index.index)?.delete(edit, &mut |_, _| Ok(()))?;
        }
    }
    index.index = Address::UNDEFINED;
    index.kind = match index.list_cutoff {
        0 => SharedMessageIndexKind::BTree,
        _ => SharedMessageIndexKind::List,
    };
    Ok(())
}

/// Compares the records of a tree with a message. What fails where their own messages are read is kept.
struct ByMessage<'a> {
    records: Records,
    store: &'a Store,
    wanted: Wanted<'a>,
    failure: Option<Error>,
}

impl<'a> ByMessage<'a> {
    fn new(records: Records, store: &'a Store, wanted: Wanted<'a>) -> Self {
        Self { records, store, wanted, failure: None }
    }

    fn compare(&mut self, record: &[u8]) -> Result<Ordering, FormatError> {
        let record = SharedMessageRecord::decode(record, self.store.params())?;
        match record.hash.cmp(&self.wanted.hash) {
            Ordering::Equal => self.records.compare(self.store, &record, self.wanted).map_err(|error| {
                self.failure = Some(error);
                FormatError::corrupt(SharedMessageRecord::NAME, "location", "that of a message", "none")
            }),
            other => Ok(other),
        }
    }

    /// The result, or what failed where a message was read.
    fn outcome<T>(self, result: Result<T>) -> Result<T> {
        match (result, self.failure) {
            (Err(_), Some(failure)) => Err(failure),
            (result, _) => result,
        }
    }
}
