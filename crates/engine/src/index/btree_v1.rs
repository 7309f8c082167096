//! Walks and look-ups in version 1 B-trees.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};

use super::Walk;
use crate::error::{Error, Result};
use crate::store::Store;

/// Which children of a node a walk goes into, given the node and the child's position.
pub type Enter<'a> = dyn FnMut(&BTreeV1Node, usize) -> bool + 'a;

/// What is done at each leaf; `Break` ends the walk.
pub type AtLeaf<'a> = dyn FnMut(&BTreeV1Node) -> Result<ControlFlow<()>> + 'a;

/// Walks the leaves below `root` in key order, leaving out subtrees that `enter` declines.
pub fn walk(
    store: &Store,
    root: Address,
    context: &BTreeV1Context,
    enter: &mut Enter<'_>,
    at_leaf: &mut AtLeaf<'_>,
) -> Result<()> {
    visit(store, root, context, enter, &mut |_, node| match node.level {
        0 => at_leaf(node),
        _ => Ok(ControlFlow::Continue(())),
    })
}

/// What is done at each node; `Break` ends the walk.
pub type AtNode<'a> = dyn FnMut(Address, &BTreeV1Node) -> Result<ControlFlow<()>> + 'a;

/// Visits all nodes from `root` down: each before its children, those in key order.
pub fn walk_nodes(
    store: &Store,
    root: Address,
    context: &BTreeV1Context,
    at_node: &mut AtNode<'_>,
) -> Result<()> {
    visit(store, root, context, &mut |_, _| true, at_node)
}

/// Visits nodes from `root` down, leaving out subtrees that `enter` declines.
fn visit(
    store: &Store,
    root: Address,
    context: &BTreeV1Context,
    enter: &mut Enter<'_>,
    at_node: &mut AtNode<'_>,
) -> Result<()> {
    let mut guard = Walk::new(store, BTreeV1Node::NAME);
    let mut pending = vec![(root, None)];
    while let Some((address, level)) = pending.pop() {
        let node = guard.enter(address).and_then(|()| node_at(store, address, context, level));
        let Some(node) = store.forgive(node)? else { continue };
        if at_node(address, &node)?.is_break() {
            return Ok(());
        }
        if node.level == 0 {
            continue;
        }
        for (position, child) in node.children.iter().enumerate().rev() {
            if enter(&node, position) {
                pending.push((*child, Some(node.level)));
            }
        }
    }
    Ok(())
}

/// Goes down from `root` to the one leaf that may hold a key. `compare` says how child `position` of a node
/// lies to what is looked for: `Equal` for the child whose keys enclose it.
pub fn descend(
    store: &Store,
    root: Address,
    context: &BTreeV1Context,
    compare: &mut dyn FnMut(&BTreeV1Node, usize) -> Result<Ordering>,
) -> Result<Option<(Arc<BTreeV1Node>, usize)>> {
    let mut address = root;
    let mut level = None;
    loop {
        let node = node_at(store, address, context, level)?;
        let (mut low, mut high) = (0, node.children.len());
        let mut found = None;
        while low < high {
            let middle = low.midpoint(high);
            match compare(&node, middle)? {
                Ordering::Less => low = middle.saturating_add(1),
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    found = Some(middle);
                    break;
                }
            }
        }
        let Some(position) = found else { return Ok(None) };
        if node.level == 0 {
            return Ok(Some((node, position)));
        }
        address = node.children.get(position).copied().unwrap_or(Address::UNDEFINED);
        level = Some(node.level);
    }
}

/// A node, which must stand one level below its parent; so every way down ends.
fn node_at(
    store: &Store,
    address: Address,
    context: &BTreeV1Context,
    parent_level: Option<u8>,
) -> Result<Arc<BTreeV1Node>> {
    let node: Arc<BTreeV1Node> = store.shared(address, context)?;
    check_level(node.level, parent_level, address)?;
    Ok(node)
}

/// That a node stands one level below its parent.
pub fn check_level(level: u8, parent: Option<u8>, address: Address) -> Result<()> {
    match parent {
        Some(parent) if level.checked_add(1) != Some(parent) => {
            let expected = format!("one below the parent's {parent}");
            Err(Error::corrupt(BTreeV1Node::NAME, "node level", expected, level).at(address))
        }
        _ => Ok(()),
    }
}
