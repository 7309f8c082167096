//! Fractal heaps: the header, objects by their IDs, and huge objects.

use std::collections::HashMap;

use hyperslab_engine::index::fractal_heap::pipeline;
use hyperslab_engine::store::Bytes;
use hyperslab_filter::Pipeline;
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, HugeObjectRecord};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{DoublingTable, FractalHeapHeader, HeapId, HeapIdLayout};
use hyperslab_format::message::{FilterPipeline, Message as _};

use crate::blocks::Blocks;
use crate::btree_v2;
use crate::extents::BlockKind;
use crate::file::Checker;

pub(crate) const NAME: &str = "fractal heap";

/// A fractal heap after the check of its blocks, with the number of uses of each object by links,
/// attributes or shared messages.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) address: Address,
    pub(crate) header: FractalHeapHeader,
    pub(crate) table: DoublingTable,
    ids: HeapIdLayout,
    pub(crate) blocks: Blocks,
    /// Offset and length of each managed object in use.
    pub(crate) managed: Vec<(u64, u64)>,
    /// Bytes of each tiny object in use.
    pub(crate) tiny: Vec<u64>,
    /// Huge objects, and whether each is in use. The map's key is the object's key in the B-tree,
    /// or the object's address if the heap ID holds the address itself.
    pub(crate) huge: HashMap<u64, (HugeObjectRecord, bool)>,
    /// True if all blocks and all users of the heap could be read.
    pub(crate) complete: bool,
}

/// Walks the fractal heap at `address` and returns the heap.
pub(crate) fn open(checker: &mut Checker, address: Address) -> Option<Heap> {
    let params = checker.params;
    let header_name = FractalHeapHeader::NAME;
    let prefix = checker.store.read(address, FractalHeapHeader::PREFIX_SIZE as u64, header_name);
    let prefix = checker.read_or_note(header_name, address, prefix)?;
    let context = FractalHeapHeader::stored_context(&prefix, params);
    let context = checker.decoded(header_name, address, context)?;
    let header: FractalHeapHeader = checker.block(address, &context, BlockKind::FractalHeap)?;
    let table = checker.decoded(header_name, address, DoublingTable::new(&header))?;
    let ids = checker.decoded(header_name, address, HeapIdLayout::new(&header, params))?;
    let pipeline = filters(checker, address, &header)?;
    let blocks = Blocks::walk(checker, address, &header, table, pipeline);
    let mut heap = Heap {
        address,
        complete: blocks.complete,
        header,
        table,
        ids,
        blocks,
        managed: Vec::new(),
        tiny: Vec::new(),
        huge: HashMap::new(),
    };
    checker.in_heap(|checker| heap.walk_huge(checker));
    Some(heap)
}

fn filters(checker: &mut Checker, address: Address, header: &FractalHeapHeader) -> Option<Pipeline> {
    let Some(filters) = &header.filters else { return Some(Pipeline::default()) };
    let message = FilterPipeline::decode(&filters.pipeline, checker.params);
    let message = checker.decoded(FractalHeapHeader::NAME, address, message)?;
    let pipeline = pipeline(&message);
    checker.read_or_note(FractalHeapHeader::NAME, address, pipeline)
}

impl Heap {
    /// Returns the bytes of the fractal heap object with the heap ID `id`, and counts one more use
    /// of the object.
    pub(crate) fn object(&mut self, checker: &mut Checker, id: &[u8]) -> Option<Bytes> {
        let object = self.look_up(checker, id);
        self.complete &= object.is_some();
        object
    }

    fn look_up(&mut self, checker: &mut Checker, id: &[u8]) -> Option<Bytes> {
        match checker.decoded(NAME, self.address, self.ids.decode(id))? {
            HeapId::Managed { offset, length } => {
                self.managed.push((offset, length));
                self.blocks.object(checker, offset, length)
            }
            HeapId::Tiny { data } => {
                self.tiny.push(data.len() as u64);
                Some(data.into())
            }
            HeapId::HugeDirect { address, length, .. } => {
                let object = self.huge_object(checker, address.raw())?;
                let stated = self.huge.get(&address.raw()).map_or(0, |(record, _)| record.length);
                checker.same(NAME, self.address, "bytes of a huge object by its ID", length, stated);
                Some(object)
            }
            HeapId::HugeIndirect { key } => self.huge_object(checker, key),
        }
    }

    fn huge_object(&mut self, checker: &mut Checker, key: u64) -> Option<Bytes> {
        let Some((record, used)) = self.huge.get_mut(&key) else {
            checker.fault(
                NAME,
                self.address,
                format!("the huge object {key:#x} is missing from the heap's B-tree"),
            );
            return None;
        };
        let record = *record;
        if std::mem::replace(used, true) {
            checker.fault(NAME, self.address, format!("two heap IDs refer to the huge object {key:#x}"));
        }
        let stored = checker.store.read(record.address, record.length, "huge object");
        let stored = checker.read_or_note("huge object", record.address, stored)?;
        match record.filtered {
            Some(filtered) => {
                let (mask, length) = (filtered.filter_mask, filtered.memory_size);
                self.blocks.unfilter(checker, record.address, &stored, mask, length)
            }
            None => Some(stored),
        }
    }

    /// Walks the B-tree of the fractal heap's huge objects.
    fn walk_huge(&mut self, checker: &mut Checker) {
        let address = self.header.huge_btree;
        if !address.is_defined() {
            return;
        }
        let context = self.ids.huge_records();
        let tree = btree_v2::open(checker, address, &[context.record_type()], BlockKind::BTreeV2);
        let Some(tree) = tree.filter(|tree| tree.has_records_of(checker, HugeObjectRecord::size(context)))
        else {
            self.complete = false;
            return;
        };
        let mut last = None;
        let huge = &mut self.huge;
        let walked = tree.walk(checker, &mut |checker, bytes| {
            let record = HugeObjectRecord::decode(bytes, context);
            let Some(record) = checker.decoded(HugeObjectRecord::NAME, address, record) else { return };
            let key = if context.indirect { record.id } else { record.address.raw() };
            if last.is_some_and(|last| last >= key) {
                let text =
                    format!("the key {key:#x} follows {:#x}, expected ascending keys", last.unwrap_or(0));
                checker.fault(HugeObjectRecord::NAME, address, text);
            }
            last = Some(key);
            checker.claim("huge object", record.address, record.length, BlockKind::HugeObject);
            huge.insert(key, (record, false));
        });
        self.complete &= walked.is_some();
        if context.indirect
            && let Some(last) = last.filter(|last| *last > self.header.next_huge_id)
        {
            let text = format!(
                "the key {last:#x} of a huge object exceeds the header's next key {:#x}",
                self.header.next_huge_id
            );
            checker.fault(NAME, self.address, text);
        }
    }
}
