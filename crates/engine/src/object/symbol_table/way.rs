//! The way down to a name in the B-tree of an old-style group.

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

/// One node of the tree on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) address: Address,
    /// The child taken.
    pub(super) position: usize,
    /// The key behind it.
    pub(super) right_key: u64,
}

/// Where a name stands or should stand.
#[derive(Debug)]
pub(super) struct Way {
    /// From the root down; none in a group without links.
    pub(super) steps: Vec<Step>,
    /// The symbol table node.
    pub(super) node: Address,
    /// The entry there.
    pub(super) index: usize,
    pub(super) found: bool,
    /// True if the name comes behind all that are there.
    pub(super) beyond: bool,
}

/// The keys of a group's node.
pub(super) fn group_keys(node: &BTreeV1Node) -> Option<&[u64]> {
    node.keys.as_group()
}

/// The same, to be changed.
pub(super) fn change_keys(node: &mut BTreeV1Node) -> Option<&mut Vec<u64>> {
    match &mut node.keys {
        BTreeV1Keys::Group(keys) => Some(keys),
        BTreeV1Keys::Chunks(_) => None,
    }
}

/// How many of `count` names come before `name`.
fn before(
    heap: &LocalHeap,
    count: usize,
    name: &[u8],
    offset: impl Fn(usize) -> Option<u64>,
) -> Result<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if heap.name(offset(middle).unwrap_or(0))? < name {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    Ok(low)
}

impl Way {
    pub(super) fn to(
        container: &Container,
        table: &SymbolTable,
        heap: &LocalHeap,
        name: &[u8],
    ) -> Result<Self> {
        let context = tree_context(container);
        let node = Address::UNDEFINED;
        let mut way = Self { steps: Vec::new(), node, index: 0, found: false, beyond: true };
        let (mut address, mut parent) = (table.btree, None);
        loop {
            let node: Arc<BTreeV1Node> = container.store.shared(address, &context)?;
            check_level(node.level, parent, address)?;
            let keys = group_keys(&node).ok_or_else(|| wrong_keys(address))?;
            let count = node.children.len();
            if count == 0 {
                // Only a root is empty.
                if parent.is_some() {
                    return Err(wrong_keys(address));
                }
                return Ok(way);
            }
            let smaller = before(heap, count, name, |number| keys.get(number.checked_add(1)?).copied())?;
            way.beyond &= smaller == count;
            let position = smaller.min(count.saturating_sub(1));
            let right_key =
                keys.get(position.saturating_add(1)).copied().ok_or_else(|| wrong_keys(address))?;
            way.steps.push(Step { address, position, right_key });
            address = node.children.get(position).copied().unwrap_or(Address::UNDEFINED);
            if node.level == 0 {
                break;
            }
            parent = Some(node.level);
        }
        let entries: Arc<SymbolTableNode> = container.store.shared(address, &node_context(container))?;
        let entries = &entries.entries;
        let offset = |number: usize| entries.get(number).map(|entry| entry.name_offset);
        way.node = address;
        way.index = before(heap, entries.len(), name, offset)?;
        way.found = match offset(way.index) {
            Some(offset) => heap.name(offset)? == name,
            None => false,
        };
        Ok(way)
    }
}

/// Returns the error for a node whose number of keys is wrong.
pub(super) fn wrong_keys(address: Address) -> Error {
    Error::corrupt(BTreeV1Node::NAME, "keys", "one more than children", "others").at(address)
}
