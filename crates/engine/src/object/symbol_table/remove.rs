//! Removal of links from symbol tables.

use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::BTreeV1Node;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::SymbolTableCache;
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::super::link::Link;
use super::insert::{NODE_SPACE, empty_node};
use super::path::{PathNode, TablePath, change_keys, group_keys, wrong_keys};
use super::{node_context, tree_context, view};
use crate::error::Result;
use crate::index::VisitedBlocks;
use crate::index::local_heap::LocalHeap;
use crate::store::Edit;

/// Removes the link with the name `name` from a group's symbol table and returns the link. If no
/// link has this name, returns `None`.
///
/// # Errors
/// Returns read errors.
pub(in super::super) fn remove(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    name: &[u8],
) -> Result<Option<Link>> {
    let heap = LocalHeap::load(edit.store(), table.heap)?;
    let path = TablePath::to(container, table, &heap, name)?;
    if !path.found {
        return Ok(None);
    }
    let context = node_context(container);
    let node: Arc<SymbolTableNode> = edit.store().shared(path.node, &context)?;
    let Some(entry) = node.entries.get(path.index).cloned() else { return Ok(None) };
    let removed = view(&heap, &entry)?.to_link();
    drop((heap, node));
    let left: Option<u64> = edit.modify(path.node, &context, |node: &mut SymbolTableNode| {
        node.entries.remove(path.index);
        node.entries.last().map(|entry| entry.name_offset)
    })?;
    let mut removing = Removing { container, edit };
    match left {
        None => {
            removing.edit.free(NODE_SPACE, path.node, to_u64(SymbolTableNode::size(&context)))?;
            removing.child(&path.steps)?;
        }
        // The key after the node must be the offset of its greatest name.
        Some(greatest) => {
            if let Some((step, above)) = path.steps.split_last()
                && step.right_key == entry.name_offset
            {
                removing.right_key(step, above, greatest)?;
            }
        }
    }
    LocalHeap::remove(edit, table.heap, entry.name_offset)?;
    if let SymbolTableCache::SymbolicLink { value_offset } = entry.cache {
        LocalHeap::remove(edit, table.heap, value_offset.into())?;
    }
    Ok(Some(removed))
}

struct Removing<'a, 'e, 's> {
    container: &'a Container,
    edit: &'e mut Edit<'s>,
}

fn set_first_key(node: &mut BTreeV1Node, address: Address, key: u64) -> Result<()> {
    let first = change_keys(node).and_then(|keys| keys.first_mut());
    *first.ok_or_else(|| wrong_keys(address))? = key;
    Ok(())
}

impl Removing<'_, '_, '_> {
    fn node<R>(&mut self, address: Address, change: impl FnOnce(&mut BTreeV1Node) -> R) -> Result<R> {
        self.edit.modify(address, &tree_context(self.container), change)
    }

    /// Sets the right key of a child in a group's B-tree: the key after the child of `step`. If
    /// this key is the last one of its node, also sets the keys that must equal it: keys in the
    /// nodes above, and the first key of the right neighbour.
    fn right_key(&mut self, step: &PathNode, above: &[PathNode], key: u64) -> Result<()> {
        let wrong = || wrong_keys(step.address);
        let (last, right) = self.node(step.address, |node| -> Result<(bool, Address)> {
            let after = step.position.checked_add(1).ok_or_else(wrong)?;
            let keys = change_keys(node).ok_or_else(wrong)?;
            *keys.get_mut(after).ok_or_else(wrong)? = key;
            Ok((after >= node.children.len(), node.right))
        })??;
        if last { self.end_key(right, above, key) } else { Ok(()) }
    }

    /// Sets the keys of a group's B-tree that must equal the last key of a node: the first key of
    /// the node's right neighbour, and a key of the node above.
    fn end_key(&mut self, right: Address, above: &[PathNode], key: u64) -> Result<()> {
        if right.is_defined() {
            self.node(right, |node| set_first_key(node, right, key))??;
        }
        match above.split_last() {
            Some((step, above)) => self.right_key(step, above, key),
            None => Ok(()),
        }
    }

    /// Removes the child at the end of a path in a group's B-tree, and then nodes without children
    /// on the path.
    fn child(&mut self, steps: &[PathNode]) -> Result<()> {
        let Some((step, above)) = steps.split_last() else { return Ok(()) };
        let position = step.position;
        let state = self.node(step.address, |node| {
            let after = position.checked_add(1)?;
            if after > node.children.len() || group_keys(node)?.len() <= after {
                return None;
            }
            node.children.remove(position);
            let keys = change_keys(node)?;
            keys.remove(after);
            let end = keys.last().copied()?;
            let was_last = position >= node.children.len();
            Some((node.children.is_empty(), was_last, end, node.left, node.right))
        })?;
        let (empty, was_last, end, left, right) = state.ok_or_else(|| wrong_keys(step.address))?;
        if !empty {
            return if was_last { self.end_key(right, above, end) } else { Ok(()) };
        }
        if above.is_empty() {
            return self.node(step.address, |node| *node = empty_node());
        }
        if left.is_defined() {
            self.node(left, |node| node.right = right)?;
        }
        if right.is_defined() {
            self.node(right, |node| {
                node.left = left;
                set_first_key(node, right, end)
            })??;
        }
        let size = to_u64(BTreeV1Node::size(&tree_context(self.container)));
        self.edit.free(NODE_SPACE, step.address, size)?;
        self.child(above)
    }
}

/// Frees all blocks of a group's symbol table: the B-tree nodes, the symbol table nodes and the
/// local heap.
///
/// # Errors
/// Returns read errors, without a change.
pub(in super::super) fn delete(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
) -> Result<()> {
    let context = tree_context(container);
    let mut nodes = Vec::new();
    let mut guard = VisitedBlocks::new(edit.store(), BTreeV1Node::NAME);
    let mut unvisited = vec![table.btree];
    let (node_size, leaf_size) =
        (BTreeV1Node::size(&context), SymbolTableNode::size(&node_context(container)));
    while let Some(address) = unvisited.pop() {
        guard.enter(address)?;
        let node: Arc<BTreeV1Node> = edit.store().shared(address, &context)?;
        nodes.push((address, to_u64(node_size)));
        for child in &node.children {
            if node.level > 0 {
                unvisited.push(*child);
            } else {
                guard.enter(*child)?;
                nodes.push((*child, to_u64(leaf_size)));
            }
        }
    }
    LocalHeap::delete(edit, table.heap)?;
    nodes.into_iter().try_for_each(|(address, size)| edit.free(NODE_SPACE, address, size))
}
