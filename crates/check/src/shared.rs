//! Shared messages of the file: the table, its indexes, and the users of each message.

use std::collections::{HashMap, HashSet};

use hyperslab_engine::store::Bytes;
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, types};
use hyperslab_format::codec::{Address, Structure as _, checksum_from};
use hyperslab_format::message::{MessageType, SharedLocation, SharedMessageTableMessage, SharedReference};
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageIndexKind, SharedMessageList, SharedMessageListContext,
    SharedMessageLocation, SharedMessageRecord, SharedMessageTable, SharedMessageTableContext,
};

use crate::btree_v2;
use crate::extents::BlockKind;
use crate::file::Checker;
use crate::fractal_heap::{self, Heap};

const TABLE: &str = SharedMessageTable::NAME;
const RECORD: &str = SharedMessageRecord::NAME;

/// The indexes of shared messages in the file.
#[derive(Debug, Default)]
pub(crate) struct SharedIndexes {
    indexes: Vec<SharedIndex>,
}

#[derive(Debug)]
struct SharedIndex {
    index: SharedMessageIndex,
    /// True if all records could be read.
    complete: bool,
    heap: Option<Heap>,
    messages: HashMap<[u8; 8], SharedMessage>,
    by_hash: HashMap<u32, [u8; 8]>,
    /// Messages that stay in an object header and have a record in the index: header address,
    /// message type and hash.
    headers: Vec<(Address, u8, u32)>,
    /// Shareable messages found in object headers: header address, message type and hash. A message
    /// that ends with zeros has an entry for each possible length of padding.
    held: HashSet<(Address, u8, u32)>,
}

#[derive(Debug)]
struct SharedMessage {
    body: Option<Bytes>,
    stated: u32,
    uses: u32,
    seen: bool,
}

/// The body of a shared message, and a flag that is true if the message was not checked before.
#[derive(Debug, Clone)]
pub(crate) struct SharedBody {
    pub(crate) body: Bytes,
    /// True if the message was not checked before.
    pub(crate) first: bool,
}

/// The largest number of zero bytes that may follow a message in a version 1 object header.
const MAX_PADDING_BYTES: usize = 7;

impl SharedIndexes {
    /// Returns the index of shared messages for object header messages of the type `kind`.
    fn of(&mut self, kind: MessageType) -> Option<&mut SharedIndex> {
        self.indexes.iter_mut().find(|one| one.index.message_types.bits() & bit(kind) != 0)
    }
}

/// Walks the table of shared messages and its indexes.
pub(crate) fn open(checker: &mut Checker, message: SharedMessageTableMessage) {
    let address = message.table;
    let context = SharedMessageTableContext { params: checker.params, indexes: message.index_count };
    let Some(table) = checker.block::<SharedMessageTable>(address, &context, BlockKind::SharedMessages)
    else {
        return;
    };
    for index in table.indexes {
        let mut opened = SharedIndex {
            complete: true,
            heap: index.heap.is_defined().then(|| fractal_heap::open(checker, index.heap)).flatten(),
            messages: HashMap::new(),
            by_hash: HashMap::new(),
            headers: Vec::new(),
            held: HashSet::new(),
            index,
        };
        opened.records(checker, address);
        checker.shared.indexes.push(opened);
    }
}

impl SharedIndex {
    fn records(&mut self, checker: &mut Checker, table: Address) {
        let stated = u64::from(self.index.messages);
        if !self.index.index.is_defined() {
            checker.same(TABLE, table, "messages of an undefined index", stated, 0);
            return;
        }
        let records = match self.index.kind {
            SharedMessageIndexKind::List => self.list(checker),
            SharedMessageIndexKind::BTree => self.tree(checker),
        };
        let Some(records) = records else {
            self.complete = false;
            return;
        };
        checker.same(TABLE, table, "messages of an index", stated, records.len() as u64);
        for record in records {
            self.record(checker, &record);
        }
    }

    fn list(&self, checker: &mut Checker) -> Option<Vec<SharedMessageRecord>> {
        let context = SharedMessageListContext {
            params: checker.params,
            records: self.index.messages,
            capacity: self.index.list_cutoff,
        };
        let list: SharedMessageList = checker.block(self.index.index, &context, BlockKind::SharedMessages)?;
        Some(list.records)
    }

    fn tree(&self, checker: &mut Checker) -> Option<Vec<SharedMessageRecord>> {
        let (address, params) = (self.index.index, checker.params);
        let tree = btree_v2::open(checker, address, &[types::SHARED_MESSAGE], BlockKind::BTreeV2)?;
        let mut records: Vec<SharedMessageRecord> = Vec::new();
        tree.walk(checker, &mut |checker, bytes| {
            let record = SharedMessageRecord::decode(bytes, params);
            let Some(record) = checker.decoded(RECORD, address, record) else { return };
            if records.last().is_some_and(|last| last.hash > record.hash) {
                checker.fault(
                    RECORD,
                    address,
                    format!("the hash {:#010x} is less than the hash of the preceding record", record.hash),
                );
            }
            records.push(record);
        })?;
        Some(records)
    }

    fn record(&mut self, checker: &mut Checker, record: &SharedMessageRecord) {
        let index_address = self.index.index;
        match record.location {
            SharedMessageLocation::Header { message_type, header, .. } => {
                self.headers.push((header, message_type, record.hash));
            }
            SharedMessageLocation::Heap { reference_count, heap_id } => {
                let body = self.heap.as_mut().and_then(|heap| heap.object(checker, &heap_id));
                match &body {
                    None => checker.fault(
                        RECORD,
                        index_address,
                        "the shared message is missing from the fractal heap",
                    ),
                    Some(body) if !self.has_hash(body, record.hash) => {
                        let text = format!("the hash {:#010x} is not the hash of the message", record.hash);
                        checker.fault(RECORD, index_address, text);
                    }
                    Some(_) => {}
                }
                let message = SharedMessage { body, stated: reference_count, uses: 0, seen: false };
                self.by_hash.insert(record.hash, heap_id);
                if self.messages.insert(heap_id, message).is_some() {
                    checker.fault(RECORD, index_address, "two records refer to the same message");
                }
            }
        }
    }
}

impl SharedIndex {
    /// Returns true if `hash` is the hash of the message body `body`. Tries each message type that
    /// this index of shared messages contains.
    fn has_hash(&self, body: &[u8], hash: u32) -> bool {
        let types =
            (0..16_u16).map(MessageType).filter(|kind| self.index.message_types.bits() & bit(*kind) != 0);
        types.into_iter().any(|kind| checksum_from(kind.0.into(), body) == hash)
    }
}

/// Returns the bit of an object header message type in the type flags of an index of shared
/// messages.
fn bit(kind: MessageType) -> u16 {
    let kind = if kind == MessageType::FILL_VALUE_OLD { MessageType::FILL_VALUE } else { kind };
    1_u16.checked_shl(kind.0.into()).unwrap_or(0)
}

impl Checker {
    /// Returns the shared message to which the reference in `bytes` refers, and counts one more use
    /// of the message.
    pub(crate) fn shared_body(
        &mut self,
        kind: MessageType,
        bytes: &[u8],
        owner: Address,
    ) -> Option<SharedBody> {
        let reference = SharedReference::decode(bytes, self.params);
        match self.decoded("shared message", owner, reference)?.location {
            SharedLocation::Heap(id) => self.shared_message(kind, id, owner),
            SharedLocation::Committed(address) => {
                self.used(address, b"(committed datatype)");
                let body = self.committed_body(address, kind)?;
                Some(SharedBody { body, first: true })
            }
        }
    }

    /// Returns the shared message with the given heap ID in the index of its type, and counts one
    /// more use of the message.
    pub(crate) fn shared_message(
        &mut self,
        kind: MessageType,
        id: [u8; 8],
        owner: Address,
    ) -> Option<SharedBody> {
        let counted = u32::from(!self.counted_before);
        let Some(index) = self.shared.of(kind) else {
            self.fault(
                "shared message",
                owner,
                format!("the file has no shared message index for a shared {}", kind.name()),
            );
            return None;
        };
        let complete = index.complete;
        if let Some(message) = index.messages.get_mut(&id) {
            message.uses = message.uses.saturating_add(counted);
            let first = !std::mem::replace(&mut message.seen, true);
            return Some(SharedBody { body: message.body.clone()?, first });
        }
        if complete {
            self.fault(
                "shared message",
                owner,
                format!("the shared {} is missing from the shared message index", kind.name()),
            );
        }
        None
    }

    /// Records an object header message that other objects may share. The message lies in the
    /// header of its own object. If other objects share the message, its own object also counts as
    /// a user.
    pub(crate) fn shareable(&mut self, kind: MessageType, body: &[u8], owner: Address) {
        let Some(index) = self.shared.of(kind) else { return };
        let zeros = body.iter().rev().take(MAX_PADDING_BYTES).take_while(|byte| **byte == 0).count();
        for padding in 0..=zeros {
            let Some(own) = body.get(..body.len() - padding) else { return };
            let hash = checksum_from(kind.0.into(), own);
            if let Ok(kind) = u8::try_from(kind.0) {
                index.held.insert((owner, kind, hash));
            }
            let Some(id) = index.by_hash.get(&hash) else { continue };
            if let Some(message) =
                index.messages.get_mut(id).filter(|message| message.body.as_deref() == Some(own))
            {
                message.uses += 1;
                return;
            }
        }
    }

    /// Compares the reference counts of all shared messages with the found uses. All objects must
    /// be checked before.
    pub(crate) fn finish_shared(&mut self) {
        for index in std::mem::take(&mut self.shared.indexes) {
            let index_address = index.index.index;
            for message in index.messages.values() {
                self.same(
                    RECORD,
                    index_address,
                    "users of a message",
                    message.stated.into(),
                    message.uses.into(),
                );
            }
            for (header, kind, hash) in &index.headers {
                let name = MessageType((*kind).into()).name();
                if !self.objects.contains_key(header) {
                    self.fault(
                        RECORD,
                        index_address,
                        format!(
                            "the record refers to a {name} in the object header at {header}, but no \
                            object was found there"
                        ),
                    );
                } else if !index.held.contains(&(*header, *kind, *hash)) {
                    let text = format!(
                        "a {name} with the hash {hash:#010x} in the object header at {header}, which holds no such message"
                    );
                    self.fault(RECORD, index_address, text);
                }
            }
            if let Some(mut heap) = index.heap {
                heap.complete &= index.complete;
                heap.finish(self);
            }
        }
    }
}
