//! Paths to names in the B-tree of a symbol table.

use std::sync::Arc;

use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::{node_context, tree_context};
use crate::error::{Error, Result};
use crate::index::btree_v1::check_level;
use crate::index::local_heap::LocalHeap;

/// A node of a group's B-tree on the path from the root to a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathNode {
    pub(super) address: Address,
    /// Index of the child on the path.
    pub(super) position: usize,
    /// The key after the child: the offset of the greatest name below the child.
    pub(super) right_key: u64,
}

/// The place of a name in a group's symbol table: a path in the B-tree, and the index in a symbol
/// table node.
#[derive(Debug)]
pub(super) struct TablePath {
    /// The nodes from the root down. Empty in a group without links.
    pub(super) steps: Vec<PathNode>,
    /// Address of the symbol table node.
    pub(super) node: Address,
    /// Index of the entry in the symbol table node.
    pub(super) index: usize,
    pub(super) found: bool,
    /// True if the name comes after all names of the group.
    pub(super) at_end: bool,
}

/// Returns the keys of a version 1 B-tree node that indexes a group.
pub(super) fn group_keys(node: &BTreeV1Node) -> Option<&[u64]> {
    node.keys.as_group()
}

/// Returns the keys of a version 1 B-tree node that indexes a group, for changes.
pub(super) fn change_keys(node: &mut BTreeV1Node) -> Option<&mut Vec<u64>> {
    match &mut node.keys {
        BTreeV1Keys::Group(keys) => Some(keys),
        BTreeV1Keys::Chunks(_) => None,
    }
}

/// Returns the number of names that precede `name` among `count` names of a symbol table in
/// ascending order.
fn before(
    heap: &LocalHeap,
    count: usize,
    name: &[u8],
    offset: impl Fn(usize) -> Option<u64>,
) -> Result<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        let offset =
            offset(middle).ok_or_else(|| Error::internal(BTreeV1Node::NAME, "each child has a name"))?;
        if heap.name(offset)? < name {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

impl TablePath {
    pub(super) fn to(
        container: &Container,
        table: &SymbolTable,
        heap: &LocalHeap,
        name: &[u8],
    ) -> Result<Self> {
        let context = tree_context(container);
        let node = Address::UNDEFINED;
        let mut path = Self { steps: Vec::new(), node, index: 0, found: false, at_end: true };
        let (mut address, mut parent) = (table.btree, None);
        loop {
            let node: Arc<BTreeV1Node> = container.store.shared(address, &context)?;
            check_level(node.level, parent, address)?;
            let keys = group_keys(&node).ok_or_else(|| wrong_keys(address))?;
            let count = node.children.len();
            if keys.len() != count + 1 {
                return Err(wrong_keys(address));
            }
            if count == 0 {
                // Only the root can have no children.
                if parent.is_some() {
                    return Err(wrong_keys(address));
                }
                return Ok(path);
            }
            let smaller = before(heap, count, name, |number| keys.get(number.checked_add(1)?).copied())?;
            path.at_end &= smaller == count;
            let position = smaller.min(count - 1);
            let (child, right_key) = (node.children.get(position), keys.get(position + 1));
            let (Some(child), Some(right_key)) = (child, right_key) else { return Err(wrong_keys(address)) };
            path.steps.push(PathNode { address, position, right_key: *right_key });
            address = *child;
            if node.level == 0 {
                break;
            }
            parent = Some(node.level);
        }
        let entries: Arc<SymbolTableNode> = container.store.shared(address, &node_context(container))?;
        let entries = &entries.entries;
        let offset = |number: usize| entries.get(number).map(|entry| entry.name_offset);
        path.node = address;
        path.index = before(heap, entries.len(), name, offset)?;
        path.found = match offset(path.index) {
            Some(offset) => heap.name(offset)? == name,
            None => false,
        };
        Ok(path)
    }
}

/// Creates an error about a node of a group's B-tree with the wrong number of keys.
pub(super) fn wrong_keys(address: Address) -> Error {
    Error::corrupt(BTreeV1Node::NAME, "keys", "one more than children", "another number").at(address)
}
