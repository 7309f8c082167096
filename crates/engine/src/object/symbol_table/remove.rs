//! Links out of an old-style group.

use std::sync::Arc;

use hyperslab_format::btree_v1::BTreeV1Node;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::SymbolTableCache;
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::super::link::Link;
use super::insert::{NODE_SPACE, empty_node};
use super::way::{Step, Way, change_keys, group_keys, wrong_keys};
use super::{link, node_context, tree_context};
use crate::error::Result;
use crate::index::Walk;
use crate::index::local_heap::LocalHeap;
use crate::store::Edit;

/// Takes the link of that name out; `None` if there is none.
///
/// # Errors
/// [`Error::Corrupt`](crate::Error::Corrupt) and [`Error::Io`](crate::Error::Io) of what has to be read.
pub(in super::super) fn remove(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    name: &[u8],
) -> Result<Option<Link>> {
    let heap = LocalHeap::load(edit.store(), table.heap)?;
    let way = Way::to(container, table, &heap, name)?;
    if !way.found {
        return Ok(None);
    }
    let context = node_context(container);
    let node: Arc<SymbolTableNode> = edit.store().shared(way.node, &context)?;
    let Some(entry) = node.entries.get(way.index).cloned() else { return Ok(None) };
    let removed = link(&heap, &entry)?;
    drop((heap, node));
    let left: Option<u64> = edit.modify(way.node, &context, |node: &mut SymbolTableNode| {
        node.entries.remove(way.index);
        node.entries.last().map(|entry| entry.name_offset)
    })?;
    let mut removing = Removing { container, edit };
    match left {
        None => {
            removing.edit.free(NODE_SPACE, way.node, SymbolTableNode::size(&context) as u64)?;
            removing.child(&way.steps)?;
        }
        // The key behind the node names its greatest name, which must be one that is there.
        Some(greatest) => {
            if let Some((step, above)) = way.steps.split_last()
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

impl Removing<'_, '_, '_> {
    fn node<R>(&mut self, address: Address, change: impl FnOnce(&mut BTreeV1Node) -> R) -> Result<R> {
        self.edit.modify(address, &tree_context(self.container), change)
    }

    /// Sets the key behind the child taken at `step`. If that is the last one, the key stands in the nodes above, too,
    /// and as the first one in the node to the right.
    fn right_key(&mut self, step: &Step, above: &[Step], key: u64) -> Result<()> {
        let (last, right) = self.node(step.address, |node| {
            if let Some(old) =
                change_keys(node).and_then(|keys| keys.get_mut(step.position.saturating_add(1)))
            {
                *old = key;
            }
            (step.position.saturating_add(1) >= node.children.len(), node.right)
        })?;
        if last { self.end_key(right, above, key) } else { Ok(()) }
    }

    /// The last key of a node is another: so is the first of that to the right, and one in the node above.
    fn end_key(&mut self, right: Address, above: &[Step], key: u64) -> Result<()> {
        if right.is_defined() {
            self.node(right, |node| {
                if let Some(first) = change_keys(node).and_then(|keys| keys.first_mut()) {
                    *first = key;
                }
            })?;
        }
        match above.split_last() {
            Some((step, above)) => self.right_key(step, above, key),
            None => Ok(()),
        }
    }

    /// Takes the last child of the way out, and nodes that are empty then.
    fn child(&mut self, steps: &[Step]) -> Result<()> {
        let Some((step, above)) = steps.split_last() else { return Ok(()) };
        let position = step.position;
        let state = self.node(step.address, |node| {
            let behind = position.checked_add(1)?;
            if behind > node.children.len() || group_keys(node)?.len() <= behind {
                return None;
            }
            node.children.remove(position);
            let keys = change_keys(node)?;
            keys.remove(behind);
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
                if let Some(first) = change_keys(node).and_then(|keys| keys.first_mut()) {
                    *first = end;
                }
            })?;
        }
        let size = BTreeV1Node::size(&tree_context(self.container)) as u64;
        self.edit.free(NODE_SPACE, step.address, size)?;
        self.child(above)
    }
}

/// Frees the whole storage of a group's links.
///
/// # Errors
/// [`Error::Corrupt`](crate::Error::Corrupt) and [`Error::Io`](crate::Error::Io) of what has to be read, in which case
/// nothing is changed.
pub(in super::super) fn delete(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
) -> Result<()> {
    let context = tree_context(container);
    let mut nodes = Vec::new();
    let mut guard = Walk::new(edit.store(), BTreeV1Node::NAME);
    let mut pending = vec![table.btree];
    let (node_size, leaf_size) =
        (BTreeV1Node::size(&context), SymbolTableNode::size(&node_context(container)));
    while let Some(address) = pending.pop() {
        guard.enter(address)?;
        let node: Arc<BTreeV1Node> = edit.store().shared(address, &context)?;
        nodes.push((address, node_size as u64));
        for child in &node.children {
            if node.level > 0 {
                pending.push(*child);
            } else {
                guard.enter(*child)?;
                nodes.push((*child, leaf_size as u64));
            }
        }
    }
    LocalHeap::delete(edit, table.heap)?;
    nodes.into_iter().try_for_each(|(address, size)| edit.free(NODE_SPACE, address, size))
}
