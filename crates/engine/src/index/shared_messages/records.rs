//! The records of an index of shared messages, in a list or in a version 2 B-tree.
//!
//! The order in the tree is the order of libhdf5: by hash, then by length, then by the bytes of the
//! message.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use hyperslab_exact::to_u64;
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

/// Name of the index of shared messages in error messages.
const NAME: &str = "shared message index";

/// File-space kind of the record lists of shared message indexes. A file can manage the free space
/// of each kind separately.
const LIST_SPACE: SpaceKind = SpaceKind::BTree;

/// Largest number of padding bytes, which are zero, after a message in a version 1 object header.
pub(super) const MAX_PADDING_BYTES: usize = 7;

/// The shared message to find in a shared message index: its hash and its body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    hash: u32,
    body: &'a [u8],
}

/// The records of an index of shared messages, with access to the heap and the object headers that
/// store the messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records {
    heap: Address,
    in_header: MessageInHeader,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(kind: MessageType, body: &'a [u8]) -> Self {
        Self { hash: checksum_from(kind.0.into(), body), body }
    }

    /// Creates the index record of a shared message in the heap of shared messages, with
    /// `reference_count` users.
    pub(super) fn record(&self, heap_id: [u8; 8], reference_count: u32) -> SharedMessageRecord {
        let location = SharedMessageLocation::Heap { reference_count, heap_id };
        SharedMessageRecord { hash: self.hash, location }
    }
}

impl Records {
    pub(super) fn of(index: &SharedMessageIndex, in_header: MessageInHeader) -> Self {
        Self { heap: index.heap, in_header }
    }

    /// Returns the record of the wanted shared message in a shared message index.
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
                let position = self.position(store, &list, wanted)?;
                Ok(position.and_then(|position| list.records.get(position).copied()))
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

    /// Overwrites the record of a shared message in its index. [`find`](Self::find) must have found
    /// the record.
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
                let position = self.position(store, &list, wanted)?.ok_or_else(no_record)?;
                drop(list);
                edit.modify(index.index, &context, |list: &mut SharedMessageList| {
                    *list.records.get_mut(position).ok_or_else(no_record)? = record;
                    Ok(())
                })?
            }
            SharedMessageIndexKind::BTree => {
                let bytes = record.encode(edit.params())?;
                let mut compare = ByMessage::new(self, store, wanted);
                let mut tree = BTreeV2::edit(edit, index.index)?;
                let change = |old: &mut [u8]| old.copy_from_slice(&bytes);
                let outcome = tree.modify(edit, &mut |record| compare.compare(record), change);
                compare.outcome(outcome)?.ok_or_else(no_record)
            }
        }
    }

    /// Adds the record of a shared message to a shared message index. Converts a full record list
    /// to a B-tree.
    pub(super) fn insert(
        self,
        edit: &mut Edit<'_>,
        index: &mut SharedMessageIndex,
        wanted: Wanted<'_>,
        record: SharedMessageRecord,
    ) -> Result<()> {
        let messages = index.messages.checked_add(1);
        let messages = messages.ok_or_else(|| Error::internal(NAME, "a full index gets no message"))?;
        if index.kind == SharedMessageIndexKind::List && index.messages >= index.list_cutoff {
            self.become_tree(edit, index)?;
        }
        match index.kind {
            SharedMessageIndexKind::List => {
                let before = list_context(edit.store(), index);
                let mut list: SharedMessageList = edit.take(index.index, &before)?;
                list.records.push(record);
                index.messages = messages;
                let after = list_context(edit.store(), index);
                edit.put(index.index, &after, list);
                Ok(())
            }
            SharedMessageIndexKind::BTree => {
                self.insert_in_tree(edit, index.index, wanted, record)?;
                index.messages = messages;
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
        let expected = "one record for each message";
        Err(Error::corrupt(SharedMessageRecord::NAME, "message", expected, "two").at(tree))
    }

    /// Removes the record of a shared message from a shared message index. Converts a B-tree with
    /// few records to a record list.
    pub(super) fn remove(
        self,
        edit: &mut Edit<'_>,
        index: &mut SharedMessageIndex,
        wanted: Wanted<'_>,
    ) -> Result<()> {
        let messages = index
            .messages
            .checked_sub(1)
            .ok_or_else(|| Error::corrupt(NAME, "number of messages", "at least 1", 0).at(index.index))?;
        match index.kind {
            SharedMessageIndexKind::List => {
                let before = list_context(edit.store(), index);
                let list = edit.store().shared::<SharedMessageList>(index.index, &before)?;
                let position = self.position(edit.store(), &list, wanted)?;
                drop(list);
                let Some(position) = position else { return Ok(()) };
                let mut list: SharedMessageList = edit.take(index.index, &before)?;
                list.records.remove(position);
                index.messages = messages;
                let after = list_context(edit.store(), index);
                edit.put(index.index, &after, list);
                Ok(())
            }
            SharedMessageIndexKind::BTree => {
                let mut compare = ByMessage::new(self, edit.store(), wanted);
                let mut tree = BTreeV2::edit(edit, index.index)?;
                let removed = tree.remove(edit, &mut |record| compare.compare(record));
                if compare.outcome(removed)?.is_some() {
                    index.messages = messages;
                }
                // In most files `btree_cutoff` is at most `list_cutoff + 1`, but the format does
                // not require it.
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

    /// Returns the index of the shared message's record in the record list of a shared message
    /// index.
    fn position(self, store: &Store, list: &SharedMessageList, wanted: Wanted<'_>) -> Result<Option<usize>> {
        for (position, record) in list.records.iter().enumerate() {
            if record.hash == wanted.hash && self.compare(store, record, wanted)?.is_eq() {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Compares the shared message of a record with the wanted shared message, which has the same
    /// hash.
    fn compare(self, store: &Store, record: &SharedMessageRecord, wanted: Wanted<'_>) -> Result<Ordering> {
        let found = self.body(store, record)?;
        if matches!(record.location, SharedMessageLocation::Header { .. })
            && found.strip_prefix(wanted.body).is_some_and(is_padding)
        {
            return Ok(Ordering::Equal);
        }
        Ok(found.len().cmp(&wanted.body.len()).then_with(|| (*found).cmp(wanted.body)))
    }

    /// Returns the body of a shared message, from the record of the message. A message in an object
    /// header includes its padding bytes.
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
        edit.free(LIST_SPACE, index.index, to_u64(SharedMessageList::size(&context)))?;
        (index.kind, index.index) = (SharedMessageIndexKind::BTree, tree);
        Ok(())
    }
}

/// Creates an error about an index record of a shared message. An earlier search found the record,
/// but now the record is missing.
fn no_record() -> Error {
    Error::internal(NAME, "a found record stays in the index")
}

fn is_padding(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_PADDING_BYTES && bytes.iter().all(|byte| *byte == 0)
}

/// Returns the size of the list or of the B-tree of a shared message index in the file in bytes.
pub(super) fn bytes(store: &Store, index: &SharedMessageIndex) -> Result<u64> {
    match index.kind {
        _ if !index.index.is_defined() => Ok(0),
        SharedMessageIndexKind::List => Ok(to_u64(SharedMessageList::size(&list_context(store, index)))),
        SharedMessageIndexKind::BTree => BTreeV2::open(store, index.index)?.bytes(store),
    }
}

fn list_context(store: &Store, index: &SharedMessageIndex) -> SharedMessageListContext {
    SharedMessageListContext { params: store.params(), records: index.messages, capacity: index.list_cutoff }
}

fn create_tree(edit: &mut Edit<'_>) -> Result<Address> {
    let size = SharedMessageRecord::size(edit.params());
    let size = u16::try_from(size)
        .map_err(|_| Error::internal(SharedMessageRecord::NAME, "a record has less than 65536 bytes"))?;
    Ok(BTreeV2::create(edit, &BTreeV2Creation::new(types::SHARED_MESSAGE, size))?.address())
}

fn become_list(edit: &mut Edit<'_>, index: &mut SharedMessageIndex) -> Result<()> {
    let params = edit.params();
    let tree = BTreeV2::edit(edit, index.index)?;
    let mut list = SharedMessageList::default();
    tree.walk(edit.store(), &mut |record| {
        list.records.push(at(SharedMessageRecord::decode(record, params), index.index)?);
        Ok(ControlFlow::Continue(()))
    })?;
    if list.records.len() != usize::from(index.messages) {
        let (expected, got) = (list.records.len().to_string(), index.messages);
        return Err(Error::corrupt(NAME, "number of messages", expected, got).at(index.index));
    }
    tree.delete(edit, &mut |_, _| Ok(()))?;
    let context = list_context(edit.store(), index);
    index.kind = SharedMessageIndexKind::List;
    index.index = edit.add(LIST_SPACE, &context, list)?;
    Ok(())
}

/// Creates an index of shared messages without records: a record list, or a B-tree if the list
/// cutoff is 0.
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

/// Frees the record list or the B-tree of an index of shared messages. Keeps the heap of the index.
pub(super) fn delete(edit: &mut Edit<'_>, index: &mut SharedMessageIndex) -> Result<()> {
    match index.kind {
        SharedMessageIndexKind::List => {
            let length = to_u64(SharedMessageList::size(&list_context(edit.store(), index)));
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

/// A comparison of B-tree records with a shared message. If reading a record's message fails, the
/// comparison keeps the first error.
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
                FormatError::corrupt(
                    SharedMessageRecord::NAME,
                    "location",
                    "the location of a message",
                    "none",
                )
            }),
            other => Ok(other),
        }
    }

    /// Returns the result of a search with this comparison of shared messages. If reading a message
    /// failed, returns the first error.
    fn outcome<T>(self, result: Result<T>) -> Result<T> {
        match (result, self.failure) {
            (Err(_), Some(failure)) => Err(failure),
            (result, _) => result,
        }
    }
}
