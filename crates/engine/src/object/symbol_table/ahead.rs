//! Reads of symbol tables in advance, for files whose reads have to wait for bytes. Errors are left
//! to the reads after them.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::Structure as _;
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::{node_context, tree_context};
use crate::index::btree_v1;
use crate::index::local_heap::LocalHeap;
use crate::object::container::Container;

/// Fetches all links of a symbol table: its local heap, its B-tree, and the nodes below.
pub(super) fn fetch(container: &Container, table: &SymbolTable) {
    let store = &container.store;
    let length = to_u64(SymbolTableNode::size(&node_context(container)));
    store.read_ahead(&mut || {
        drop(LocalHeap::load(store, table.heap));
        btree_v1::touch(store, table.btree, &tree_context(container), &mut |leaf| {
            for child in &leaf.children {
                drop(store.read(*child, length, SymbolTableNode::NAME));
            }
        });
    });
}

/// Fetches the local heap of a symbol table, and the root of its B-tree.
pub(super) fn fetch_roots(container: &Container, table: &SymbolTable) {
    let store = &container.store;
    store.read_ahead(&mut || {
        drop(LocalHeap::load(store, table.heap));
        drop(btree_v1::root(store, table.btree, &tree_context(container)));
    });
}
