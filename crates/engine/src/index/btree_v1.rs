//! Walks and look-ups in version 1 B-trees.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};

use super::VisitedBlocks;
use crate::error::{Error, Result};
use crate::store::Store;

/// A function that decides whether a walk over a version 1 B-tree enters a child of a node. The
/// arguments are the node and the index of the child.
pub type Enter<'a> = dyn FnMut(&BTreeV1Node, usize) -> bool + 'a;

/// A function that a walk over a version 1 B-tree calls for each leaf node. The result `Break` ends
/// the walk.
pub type AtLeaf<'a> = dyn FnMut(&BTreeV1Node) -> Result<ControlFlow<()>> + 'a;

/// Calls a function for each leaf of a version 1 B-tree below `root`, in key order. Skips subtrees
/// for which `enter` returns `false`.
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

/// A function that a walk over a version 1 B-tree calls for each node, with the address of the
/// node. The result `Break` ends the walk.
pub type AtNode<'a> = dyn FnMut(Address, &BTreeV1Node) -> Result<ControlFlow<()>> + 'a;

/// Calls a function for each node of a version 1 B-tree from `root` down: each node before its
/// children, and the children in key order.
pub fn walk_nodes(
    store: &Store,
    root: Address,
    context: &BTreeV1Context,
    at_node: &mut AtNode<'_>,
) -> Result<()> {
    visit(store, root, context, &mut |_, _| true, at_node)
}

/// Returns the number of nodes of a version 1 B-tree.
pub fn node_count(store: &Store, root: Address, context: &BTreeV1Context) -> Result<u64> {
    let mut count = 0;
    walk_nodes(store, root, context, &mut |_, _| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(count)
}

/// Calls `enter` and `at_node` for the nodes of a version 1 B-tree from `root` down. Skips subtrees
/// for which `enter` returns `false`.
fn visit(
    store: &Store,
    root: Address,
    context: &BTreeV1Context,
    enter: &mut Enter<'_>,
    at_node: &mut AtNode<'_>,
) -> Result<()> {
    let mut guard = VisitedBlocks::new(store, BTreeV1Node::NAME);
    let mut unvisited = vec![(root, None)];
    while let Some((address, level)) = unvisited.pop() {
        let node = guard.enter(address).and_then(|()| node_at(store, address, context, level));
        let Some(node) = store.forgive(node)? else { continue };
        if at_node(address, &node)?.is_break() {
            return Ok(());
        }
        if node.level == 0 {
            continue;
        }
        let children = node.children.iter().enumerate().rev();
        let entered: Vec<Address> =
            children.filter(|(position, _)| enter(&node, *position)).map(|(_, child)| *child).collect();
        store.expect_blocks(&entered, to_u64(BTreeV1Node::size(context)), BTreeV1Node::NAME);
        unvisited.extend(entered.into_iter().map(|child| (child, Some(node.level))));
    }
    Ok(())
}

/// Reads the root node of a version 1 B-tree.
pub fn root(store: &Store, root: Address, context: &BTreeV1Context) -> Result<Arc<BTreeV1Node>> {
    node_at(store, root, context, None)
}

/// Reads all nodes of a version 1 B-tree, and calls `visit` for each leaf that can be read, in
/// unspecified order. For work in [`Store::read_ahead`]: errors are left to the reads after it.
pub fn touch(store: &Store, root: Address, context: &BTreeV1Context, visit: &mut dyn FnMut(&BTreeV1Node)) {
    let mut guard = VisitedBlocks::new(store, BTreeV1Node::NAME);
    let mut unvisited = vec![(root, None)];
    while let Some((address, level)) = unvisited.pop() {
        if guard.enter(address).is_err() {
            return;
        }
        let Ok(node) = node_at(store, address, context, level) else { continue };
        if node.level == 0 {
            visit(&node);
        } else {
            unvisited.extend(node.children.iter().map(|child| (*child, Some(node.level))));
        }
    }
}

/// Returns the leaf of a version 1 B-tree that may contain a key, and the index of the key's child
/// in the leaf. `compare` compares a child of a node, given by its index, with the key. `Equal`
/// means that the key lies between the keys of the child.
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
                Ordering::Less => low = middle + 1,
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
        let child = node.children.get(position).copied();
        address = child.ok_or_else(|| Error::internal(BTreeV1Node::NAME, "a found child is in the node"))?;
        level = Some(node.level);
    }
}

/// Returns the version 1 B-tree node at `address`. Checks that the level of the node is one less
/// than the level of its parent, so that each path ends.
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

/// Checks that the level of a version 1 B-tree node is one less than the level of its parent.
///
/// # Errors
/// Returns [`Error::Corrupt`] for another level.
pub fn check_level(level: u8, parent: Option<u8>, address: Address) -> Result<()> {
    match parent {
        Some(parent) if level.checked_add(1) != Some(parent) => {
            let expected = format!("one less than the level {parent} of the parent");
            Err(Error::corrupt(BTreeV1Node::NAME, "node level", expected, level).at(address))
        }
        _ => Ok(()),
    }
}
