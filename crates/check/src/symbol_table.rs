//! Symbol tables, the groups of HDF5 before 1.8: a version 1 B-tree, symbol table nodes and a local
//! heap of names.

use std::cmp::Ordering;

use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::store::Bytes;
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Kind, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::local_heap::{
    LOCAL_HEAP_ALIGNMENT, LocalHeapFreeBlock, LocalHeapHeader, name_at, read_free_blocks,
};
use hyperslab_format::message::{Message as _, MessageType, SymbolTable};
use hyperslab_format::symbol_table_entry::{SymbolTableCache, SymbolTableEntry};
use hyperslab_format::symbol_table_node::{SymbolTableNode, SymbolTableNodeContext};

use crate::btree_v1::{self, Key, Leaves};
use crate::extents::BlockKind;
use crate::file::{Checker, shown};
use crate::totals::end_of;

const HEAP: &str = LocalHeapHeader::NAME;
const SEGMENT: &str = "local heap data segment";
const NODE: &str = SymbolTableNode::NAME;

/// A local heap with the link names of a symbol table, and the ranges of its bytes in use.
#[derive(Debug)]
pub(crate) struct LocalHeap {
    address: Address,
    segment: Bytes,
    free: Option<Vec<LocalHeapFreeBlock>>,
    used: Vec<(u64, u64)>,
}

impl LocalHeap {
    /// Walks the local heap at `address` and returns the heap.
    pub(crate) fn open(checker: &mut Checker, address: Address) -> Option<Self> {
        let params = checker.params;
        let header: LocalHeapHeader = checker.block(address, &params, BlockKind::LocalHeap)?;
        let segment =
            checker.block_bytes(SEGMENT, header.segment, header.segment_size, BlockKind::LocalHeap)?;
        let free = read_free_blocks(&segment, header.free_list, params);
        let free = checker.decoded(SEGMENT, header.segment, free);
        for block in free.iter().flatten() {
            let aligned = block.offset.is_multiple_of(LOCAL_HEAP_ALIGNMENT);
            if !aligned || block.size < 2 * params.length_width() as u64 {
                let text = format!(
                    "a misaligned or too small free block of {} bytes at {:#x}",
                    block.size, block.offset
                );
                checker.fault(SEGMENT, header.segment, text);
            }
        }
        Some(Self { address, segment, free, used: Vec::new() })
    }

    /// Returns the link name at `offset` of the local heap, and marks the bytes of the name as
    /// used.
    pub(crate) fn name(&mut self, checker: &mut Checker, offset: u64) -> Option<Vec<u8>> {
        let name = checker.decoded(SEGMENT, self.address, name_at(&self.segment, offset))?.to_vec();
        let length = name.len() as u64 + 1;
        self.used.push((offset, end_of(offset, length)));
        Some(name)
    }

    /// Checks that the used names and the free blocks of the local heap do not overlap.
    pub(crate) fn finish(mut self, checker: &mut Checker) {
        self.used.sort_unstable();
        self.used.dedup();
        let free = self.free.take().unwrap_or_default();
        let free = free.into_iter().map(|block| (block.offset, end_of(block.offset, block.size), true));
        let used = self.used.into_iter().map(|(start, end)| (start, end, false));
        let mut parts: Vec<(u64, u64, bool)> = used.chain(free).collect();
        parts.sort_unstable();
        for pair in parts.windows(2) {
            let [(_, end, free), (next, _, next_free)] = pair else { continue };
            // Overlapping names are no fault, because a name may be the end of another name.
            if end > next && (*free || *next_free) {
                let subject =
                    if *free && *next_free { "free blocks overlap" } else { "a name lies in a free block" };
                checker.fault(HEAP, self.address, format!("{subject} at {next:#x}"));
            }
        }
    }
}

/// Walks the links of a group that is a symbol table.
pub(crate) fn walk(checker: &mut Checker, table: &SymbolTable) {
    let Some(heap) = LocalHeap::open(checker, table.heap) else {
        checker.fault(
            "symbol table message",
            table.heap,
            "the link names cannot be read, so the links are not checked",
        );
        return;
    };
    let context =
        BTreeV1Context { params: checker.params, kind: BTreeV1Kind::Group, k: checker.k.group_internal };
    let mut links = Links { heap, last: None };
    btree_v1::walk(checker, table.btree, context, BlockKind::GroupBTree, &mut links);
    links.heap.finish(checker);
}

struct Links {
    heap: LocalHeap,
    last: Option<Vec<u8>>,
}

impl Links {
    /// Returns the link name to which a key of the group B-tree refers.
    fn key(&self, (node, position): Key<'_>) -> Option<&[u8]> {
        name_at(&self.heap.segment, *node.keys.as_group()?.get(position)?).ok()
    }

    fn node(&mut self, checker: &mut Checker, address: Address, [after, last]: [Option<Vec<u8>>; 2]) {
        let context = SymbolTableNodeContext { params: checker.params, leaf_k: checker.k.group_leaf };
        let Some(node) = checker.block::<SymbolTableNode>(address, &context, BlockKind::SymbolTableNode)
        else {
            return;
        };
        if node.entries.is_empty() {
            checker.remark(NODE, address, "the symbol table node has no entries");
        }
        for entry in &node.entries {
            let Some(name) = self.heap.name(checker, entry.name_offset) else { continue };
            if self.last.as_ref().is_some_and(|last| *last >= name) {
                checker.fault(
                    NODE,
                    address,
                    format!("the link name `{}` must be greater than the preceding name", shown(&name)),
                );
            }
            let beyond = after.as_ref().is_some_and(|after| *after >= name)
                || last.as_ref().is_some_and(|last| *last < name);
            if beyond {
                let text = format!("the name `{}` is outside the key range of its node", shown(&name));
                checker.fault(NODE, address, text);
            }
            self.entry(checker, address, entry, &name);
            self.last = Some(name);
        }
    }

    fn entry(&mut self, checker: &mut Checker, node: Address, entry: &SymbolTableEntry, name: &[u8]) {
        if let SymbolTableCache::SymbolicLink { value_offset } = entry.cache {
            self.heap.name(checker, value_offset.into());
        } else {
            checker.linked(entry.header, name);
            cached(checker, node, entry);
        }
    }
}

/// Checks that the cached fields of a symbol table entry match the group's own symbol table
/// message.
pub(crate) fn cached(checker: &mut Checker, node: Address, entry: &SymbolTableEntry) {
    match entry.cache {
        SymbolTableCache::Group { btree, heap } => {
            let Ok(header) = ObjectHeader::load(&checker.store, entry.header) else { return };
            let message = header.find(MessageType::SYMBOL_TABLE).map(|message| header.body(message));
            let table = message.and_then(|body| SymbolTable::decode(body, checker.params).ok());
            let Some(table) = table else {
                // The group was converted to link messages later, and the superblock's entry was
                // not updated.
                return checker.remark(
                    SymbolTableEntry::NAME,
                    node,
                    "the entry caches a symbol table, but the group no longer has a symbol table",
                );
            };
            if table != (SymbolTable { btree, heap }) {
                let text = format!(
                    "the cached B-tree {btree} and heap {heap} differ from those of the group at {}",
                    entry.header
                );
                checker.fault(SymbolTableEntry::NAME, node, text);
            }
        }
        SymbolTableCache::Other { cache_type, .. } => {
            checker.fault(SymbolTableEntry::NAME, node, format!("unknown cache type {cache_type}"));
        }
        SymbolTableCache::Nothing | SymbolTableCache::SymbolicLink { .. } => {}
    }
}

impl Leaves for Links {
    fn compare(&self, one: Key<'_>, other: Key<'_>) -> Option<Ordering> {
        Some(self.key(one)?.cmp(self.key(other)?))
    }

    fn leaf(&mut self, checker: &mut Checker, _: Address, node: &BTreeV1Node) {
        for (position, child) in node.children.iter().enumerate() {
            let bounds = [position, position + 1];
            let bounds = bounds.map(|at| self.key((node, at)).map(<[u8]>::to_vec));
            self.node(checker, *child, bounds);
        }
        for offset in node.keys.as_group().into_iter().flatten() {
            self.heap.name(checker, *offset);
        }
    }
}
