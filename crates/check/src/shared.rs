//! The file's shared messages: the table, its indexes, and who uses what of them.

use std::collections::{HashMap, HashSet};

use hyperslab_engine::store::Bytes;
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, types};
use hyperslab_format::codec::{Address, Structure as _, checksum_from};
use hyperslab_format::message::{
    MessageType, SharedLocation, SharedMessageTable as TableMessage, SharedReference,
};
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageIndexKind, SharedMessageList, SharedMessageListContext,
    SharedMessageLocation, SharedMessageRecord, SharedMessageTable, SharedMessageTableContext,
};

use crate::btree_v2;
use crate::extents::Kind;
use crate::file::Checker;
use crate::fractal_heap::{self, Heap};

const TABLE: &str = SharedMessageTable::NAME;
const RECORD: &str = SharedMessageRecord::NAME;

/// All indexes of the file.
#[derive(Debug, Default)]
pub(crate) struct SharedIndexes {
    indexes: Vec<SharedIndex>,
}

#[derive(Debug)]
struct SharedIndex {
    index: SharedMessageIndex,
    /// Whether all records could be read.
    complete: bool,
    heap: Option<Heap>,
    messages: HashMap<[u8; 8], SharedMessage>,
    by_hash: HashMap<u32, [u8; 8]>,
    /// Object headers that have a message of their own in the index: its type and hash.
    headers: Vec<(Address, u8, u32)>,
    /// Messages that stand in headers and may be shared, by the same; with each padding that they may have.
    held: HashSet<(Address, u8, u32)>,
}

#[derive(Debug)]
struct SharedMessage {
    body: Option<Bytes>,
    stated: u32,
    uses: u32,
    seen: bool,
}

/// The message that a shared message stands for.
#[derive(Debug, Clone)]
pub(crate) struct SharedBody {
    pub(crate) body: Bytes,
    /// Whether it was not looked at before.
    pub(crate) first: bool,
}

/// Zero bytes that version 1 headers may have behind a message.
const PADDING: usize = 7;

impl SharedIndexes {
    /// The index for messages of that kind.
    fn of(&mut self, kind: MessageType) -> Option<&mut SharedIndex> {
        self.indexes.iter_mut().find(|one| one.index.message_types.bits() & bit(kind) != 0)
    }
}

/// Walks the table and its indexes.
pub(crate) fn open(checker: &mut Checker, message: TableMessage) {
    let address = message.table;
    let context = SharedMessageTableContext { params: checker.params, indexes: message.index_count };
    let Some(table) = checker.block::<SharedMessageTable>(address, &context, Kind::SharedMessages) else {
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
            checker.same(TABLE, table, "messages of an index that is not there", stated, 0);
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
        let list: SharedMessageList = checker.block(self.index.index, &context, Kind::SharedMessages)?;
        Some(list.records)
    }

    fn tree(&self, checker: &mut Checker) -> Option<Vec<SharedMessageRecord>> {
        let (address, params) = (self.index.index, checker.params);
        let tree = btree_v2::open(checker, address, &[types::SHARED_MESSAGE], Kind::BTreeV2)?;
        let mut records: Vec<SharedMessageRecord> = Vec::new();
        tree.walk(checker, &mut |checker, bytes| {
            let record = SharedMessageRecord::decode(bytes, params);
            let Some(record) = checker.decoded(RECORD, address, record) else { return };
            if records.last().is_some_and(|last| last.hash > record.hash) {
                checker.fault(RECORD, address, format!("the hash {:#010x} is out of order", record.hash));
            }
            records.push(record);
        })?;
        Some(records)
    }

    fn record(&mut self, checker: &mut Checker, record: &SharedMessageRecord) {
        let place = self.index.index;
        match record.location {
            SharedMessageLocation::Header { message_type, header, .. } => {
                self.headers.push((header, message_type, record.hash));
            }
            SharedMessageLocation::Heap { reference_count, heap_id } => {
                let body = self.heap.as_mut().and_then(|heap| heap.object(checker, &heap_id));
                match &body {
                    None => checker.fault(RECORD, place, "a message that is not in the heap"),
                    Some(body) if !self.has_hash(body, record.hash) => {
                        let text = format!("the hash {:#010x} is not that of its message", record.hash);
                        checker.fault(RECORD, place, text);
                    }
                    Some(_) => {}
                }
                let message = SharedMessage { body, stated: reference_count, uses: 0, seen: false };
                self.by_hash.insert(record.hash, heap_id);
                if self.messages.insert(heap_id, message).is_some() {
                    checker.fault(RECORD, place, "two records of one message");
                }
            }
        }
    }
}

impl SharedIndex {
    /// Whether that is the hash of a message of one of the types in the index.
    fn has_hash(&self, body: &[u8], hash: u32) -> bool {
        let types =
            (0..16_u16).map(MessageType).filter(|kind| self.index.message_types.bits() & bit(*kind) != 0);
        types.into_iter().any(|kind| checksum_from(kind.0.into(), body) == hash)
    }
}

/// The bit of a message type in an index.
fn bit(kind: MessageType) -> u16 {
    let kind = if kind == MessageType::FILL_VALUE_OLD { MessageType::FILL_VALUE } else { kind };
    1_u16.checked_shl(kind.0.into()).unwrap_or(0)
}

impl Checker {
    /// The message of that kind which a shared message stands for; one more user has it.
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

    /// The message of that kind and ID in the index of its type; one more user has it.
    pub(crate) fn shared_message(
        &mut self,
        kind: MessageType,
        id: [u8; 8],
        owner: Address,
    ) -> Option<SharedBody> {
        let counted = u32::from(!self.counted_before);
        let Some(index) = self.shared.of(kind) else {
            self.fault("shared message", owner, format!("no index for a shared {}", kind.name()));
            return None;
        };
        let complete = index.complete;
        if let Some(message) = index.messages.get_mut(&id) {
            message.uses = message.uses.saturating_add(counted);
            let first = !std::mem::replace(&mut message.seen, true);
            return Some(SharedBody { body: message.body.clone()?, first });
        }
        if complete {
            self.fault("shared message", owner, format!("a {} that is not in its index", kind.name()));
        }
        None
    }

    /// Notes a message that lies in its own header and may be shared. The first user of a message keeps it there
    /// when others come to share it, and counts among its users.
    pub(crate) fn shareable(&mut self, kind: MessageType, body: &[u8], owner: Address) {
        let Some(index) = self.shared.of(kind) else { return };
        let zeros = body.iter().rev().take(PADDING).take_while(|byte| **byte == 0).count();
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

    /// Once all objects were looked at: whether messages have as many users as they say.
    pub(crate) fn finish_shared(&mut self) {
        for index in std::mem::take(&mut self.shared.indexes) {
            let place = index.index.index;
            for message in index.messages.values() {
                self.same(RECORD, place, "users of a message", message.stated.into(), message.uses.into());
            }
            for (header, kind, hash) in &index.headers {
                let name = MessageType((*kind).into()).name();
                if !self.objects.contains_key(header) {
                    self.fault(RECORD, place, format!("a {name} in {header}, where there is no object"));
                } else if !index.held.contains(&(*header, *kind, *hash)) {
                    let text =
                        format!("a {name} of hash {hash:#010x} in {header}, which holds none to be shared");
                    self.fault(RECORD, place, text);
                }
            }
            if let Some(mut heap) = index.heap {
                heap.complete &= index.complete;
                heap.finish(self);
            }
        }
    }
}
