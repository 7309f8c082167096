//! Sizes of the metadata of an object: its header, and the heaps of its message bodies.

use std::ops::ControlFlow;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::BTreeV1Node;
use hyperslab_format::codec::Structure as _;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{AttributeInfo, Layout, MessageFlags, MessageType, SymbolTable};
use hyperslab_format::object_header::{ContinuationBlock, HeaderFlags, PrefixV1};
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::container::Container;
use super::dataset::DatasetDescription;
use super::dense::Dense;
use super::group::GroupStorage;
use super::header::{ObjectHeader, Prefix};
use super::{message, symbol_table};
use crate::error::{Error, Result};
use crate::index::btree_v1;
use crate::index::btree_v2::BTreeV2;
use crate::index::fractal_heap::FractalHeap;
use crate::index::local_heap::LocalHeap;
use crate::store::Store;

/// The size in bytes of the checksum of a version 2 object header.
const CHECKSUM_BYTES: usize = 4;
/// The number of message types with a bit in [`HeaderSizes::present`].
const TYPES_WITH_BITS: u16 = 64;

/// The sizes of the parts of an object header in bytes. The parts add up to the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeaderSizes {
    /// All blocks of the header.
    pub total: u64,
    /// Prefixes, checksums, envelopes of messages, and continuation messages.
    pub metadata: u64,
    /// The bodies of messages.
    pub messages: u64,
    /// NIL messages with their envelopes, and gaps.
    pub free: u64,
    /// A bit for each type of the messages of the header.
    pub present: u64,
    /// A bit for each type of the shared messages of the header.
    pub shared: u64,
}

impl ObjectHeader {
    /// Returns the sizes of the parts of the object header.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the messages are longer than the header.
    pub fn sizes(&self) -> Result<HeaderSizes> {
        let (first, block, envelope) = match self.prefix() {
            Prefix::V1(_) => (PrefixV1::SIZE, 0, 8),
            Prefix::V2(prefix) => {
                let order = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
                (prefix.size() + CHECKSUM_BYTES, ContinuationBlock::OVERHEAD_BYTES, if order { 6 } else { 4 })
            }
        };
        let blocks = self.continuations().len();
        let capacity: usize = self.chunk_sizes().sum();
        let mut sizes =
            HeaderSizes { total: to_u64(first + blocks * block + capacity), ..HeaderSizes::default() };
        let mut used = 0;
        for message in self.messages() {
            let body = to_u64(self.body(message).len());
            if message.kind == MessageType::NIL {
                continue;
            }
            used += body + envelope;
            if message.kind != MessageType::CONTINUATION {
                sizes.messages += body;
            }
            if message.kind.0 < TYPES_WITH_BITS {
                sizes.present |= 1 << message.kind.0;
                if message.flags.contains(MessageFlags::SHARED) {
                    sizes.shared |= 1 << message.kind.0;
                }
            }
        }
        let free = to_u64(capacity).checked_sub(used);
        sizes.free = free.ok_or_else(|| {
            Error::corrupt("object header", "messages", format!("at most {capacity} bytes"), used)
        })?;
        sizes.metadata = sizes.total - sizes.free - sizes.messages;
        Ok(sizes)
    }
}

/// The sizes of the indexes and of the heaps that belong to an object, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexBytes {
    /// B-trees, arrays and symbol table nodes.
    pub index: u64,
    /// Heaps. A heap in the global heap counts with its objects of this object.
    pub heap: u64,
}

/// Returns the sizes of the indexes and the heap of a group's links.
///
/// # Errors
/// Returns read errors.
pub fn link_bytes(container: &Container, header: &ObjectHeader) -> Result<IndexBytes> {
    match GroupStorage::of(container, header)? {
        GroupStorage::SymbolTable(table) => symbol_table_bytes(container, &table),
        GroupStorage::Compact(_) => Ok(IndexBytes::default()),
        GroupStorage::Dense(info) => dense_bytes(&container.store, Dense::from(&info)),
    }
}

/// Returns the sizes of a group's symbol table: the B-tree with the symbol table nodes, and the
/// local heap.
fn symbol_table_bytes(container: &Container, table: &SymbolTable) -> Result<IndexBytes> {
    let (tree, leaf) = (symbol_table::tree_context(container), symbol_table::node_context(container));
    let (node_bytes, leaf_bytes) = (to_u64(BTreeV1Node::size(&tree)), to_u64(SymbolTableNode::size(&leaf)));
    let mut index = 0;
    btree_v1::walk_nodes(&container.store, table.btree, &tree, &mut |_, node| {
        index += node_bytes;
        if node.level == 0 {
            index += to_u64(node.children.len()) * leaf_bytes;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(IndexBytes { index, heap: LocalHeap::load(&container.store, table.heap)?.bytes(&container.store) })
}

/// Returns the sizes of the fractal heap and the B-tree indexes of dense storage.
fn dense_bytes(store: &Store, dense: Dense) -> Result<IndexBytes> {
    let mut index = BTreeV2::open(store, dense.names)?.bytes(store)?;
    if let Some(order) = dense.order {
        index += BTreeV2::open(store, order)?.bytes(store)?;
    }
    Ok(IndexBytes { index, heap: FractalHeap::open(store, dense.heap)?.bytes(store)? })
}

/// Returns the sizes of the indexes and the heap of an object's attributes.
///
/// # Errors
/// Returns read errors.
pub fn attribute_bytes(container: &Container, header: &ObjectHeader) -> Result<IndexBytes> {
    match message::find::<AttributeInfo>(container, header)? {
        Some(info) if info.is_dense() => dense_bytes(&container.store, Dense::from(&info)),
        _ => Ok(IndexBytes::default()),
    }
}

/// Returns the size in bytes of the heap that contains the mappings of a virtual dataset; 0 for
/// other objects.
///
/// # Errors
/// Returns the errors of reading the dataset's header and the heap.
pub fn mapping_bytes(container: &Container, header: &ObjectHeader) -> Result<u64> {
    if !header.contains(MessageType::DATA_LAYOUT) {
        return Ok(0);
    }
    match &DatasetDescription::read(container, header)?.layout.layout {
        Layout::Virtual(layout) if layout.heap.is_defined() => {
            let id = GlobalHeapId { collection: layout.heap, index: layout.index };
            Ok(to_u64(container.heap.get(&container.store, id)?.bytes().len()))
        }
        _ => Ok(0),
    }
}
