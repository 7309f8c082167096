//! Changes of a version 1 B-tree of chunks that affect several nodes: splits and removals of nodes,
//! and changes of keys that nodes above repeat.
//!
//! libhdf5 relies on more than the specification states: the last key of a node is the first key of
//! its right neighbour, and a parent repeats both. Otherwise, inserting a chunk between two nodes
//! could move the key between them past other chunks.

use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Node, ChunkKeys};
use hyperslab_format::codec::{Address, Structure as _};

use super::btree_v1::{BTreeV1Edit, Path, PathNode};
use super::btree_v1_keys::{
    ChunkKey, insert, key, keys, keys_mut, push, remove, replace, split_off, truncate,
};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

/// A plan of changes of several nodes of a version 1 B-tree of chunks. The changes are applied
/// together, after the last step that can fail.
#[derive(Debug, Default)]
struct Plan {
    nodes: Vec<(Address, BTreeV1Node)>,
    allocated: Vec<Address>,
    freed: Vec<Address>,
}

impl BTreeV1Edit {
    /// Inserts a chunk into a version 1 B-tree at the end of a path through the nodes. The B-tree
    /// does not contain the chunk yet.
    pub(super) fn insert_at(
        &self,
        edit: &mut Edit<'_>,
        path: &Path,
        key: &ChunkKey,
        address: Address,
    ) -> Result<()> {
        let mut plan = Plan::default();
        let planned = self.plan_insert(edit, &mut plan, path, key, address);
        plan.finish(edit, &self.context, planned)
    }

    fn plan_insert(
        &self,
        edit: &mut Edit<'_>,
        plan: &mut Plan,
        path: &Path,
        new: &ChunkKey,
        address: Address,
    ) -> Result<()> {
        // The new child of the node: a chunk in a leaf, or the right half of a split child in an
        // inner node.
        let mut coming = Some((new.clone(), address));
        let mut ends: Option<[ChunkKey; 2]> = None;
        for (depth, step) in path.iter().enumerate().rev() {
            let old = self.node(edit.store(), step.address, None)?;
            let count = old.children.len();
            let mut node = (*old).clone();
            let level = node.level;
            let node_keys = keys_mut(&mut node)?;
            if let Some([first, last]) = ends.take() {
                // The new chunk may extend the range of the child's keys at the start and at the
                // end.
                if node_keys.offset(step.position).is_some_and(|key| key >= first.offset.as_slice()) {
                    replace(node_keys, step.position, &first)?;
                }
                let end = step.position + 1;
                if end == count && node_keys.offset(end).is_some_and(|key| key < last.offset.as_slice()) {
                    replace(node_keys, end, &last)?;
                }
            }
            let mut at = (step.position + 1).min(count);
            if let Some((key, child)) = coming.take() {
                if level == 0 && node_keys.offset(0).is_none_or(|first| *first > *key.offset) {
                    at = 0;
                }
                if count == 0 {
                    truncate(node_keys, 0);
                    push(node_keys, &self.end_key(&key));
                }
                insert(node_keys, at, &key)?;
                let end = node_keys.len() - 1;
                if node_keys.offset(end).is_some_and(|end| *end <= *key.offset) {
                    replace(node_keys, end, &self.end_behind(edit.store(), &key, old.right)?)?;
                }
                node.children.insert(at, child);
            }
            if node.children.len() > self.context.capacity() {
                let left = (*step, depth == 0, at);
                (coming, ends) = self.split(edit, plan, left, node)?;
            } else {
                ends = ends_of(&node)?;
                let same = ends_of(&old)?.zip(ends.clone()).is_some_and(|(before, after)| before == after);
                plan.nodes.push((step.address, node));
                if same && count > 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the last key of a version 1 B-tree node, which marks the end behind its last child
    /// `last`. If the node has a right neighbour, this is the first key of the neighbour.
    fn end_behind(&self, store: &Store, last: &ChunkKey, right: Address) -> Result<ChunkKey> {
        let mut end = None;
        if right.is_defined() {
            end = key(keys(&*self.node(store, right, None)?)?, 0);
        }
        let end = end.filter(|end| end.offset > last.offset);
        Ok(end.unwrap_or_else(|| self.end_key(last)))
    }

    /// Splits a version 1 B-tree node that has one child too many into a left and a right half.
    /// Returns two values: the first key and the address of the right half, and the first and last
    /// keys of both halves together. If the node is the root, both halves become its children.
    #[expect(clippy::type_complexity, reason = "two halves of one answer")]
    fn split(
        &self,
        edit: &mut Edit<'_>,
        plan: &mut Plan,
        (step, is_root, at): (PathNode, bool, usize),
        mut left: BTreeV1Node,
    ) -> Result<(Option<(ChunkKey, Address)>, Option<[ChunkKey; 2]>)> {
        let count = left.children.len();
        // If chunks come in ascending or descending order, leave full nodes.
        let keep = if at + 1 == count && !left.right.is_defined() {
            count - 1
        } else if at == 0 && !left.left.is_defined() {
            1
        } else {
            count / 2
        };
        let right_address = plan.allocate(edit, self.node_bytes())?;
        let left_address = if is_root { plan.allocate(edit, self.node_bytes())? } else { step.address };
        let left_keys = keys_mut(&mut left)?;
        let right_keys = split_off(left_keys, keep);
        let between = key(&right_keys, 0).ok_or_else(|| too_few(step.address))?;
        push(left_keys, &between);
        let right = BTreeV1Node {
            level: left.level,
            left: left_address,
            right: left.right,
            keys: BTreeV1Keys::Chunks(right_keys),
            children: left.children.split_off(keep),
        };
        if right.right.is_defined() {
            let mut neighbour = (*self.node(edit.store(), right.right, None)?).clone();
            neighbour.left = right_address;
            plan.nodes.push((right.right, neighbour));
        }
        left.right = right_address;
        let [first, _] = ends_of(&left)?.ok_or_else(|| too_few(step.address))?;
        let [_, last] = ends_of(&right)?.ok_or_else(|| too_few(step.address))?;
        if is_root {
            let level = left.level.checked_add(1).ok_or_else(|| {
                Error::Misuse("the version 1 B-tree would have more than 255 levels".into())
            })?;
            let mut keys = ChunkKeys::new(self.chunk.len());
            [&first, &between, &last].into_iter().for_each(|key| push(&mut keys, key));
            let root = BTreeV1Node {
                level,
                keys: BTreeV1Keys::Chunks(keys),
                children: vec![left_address, right_address],
                ..self.empty_leaf()
            };
            plan.nodes.push((step.address, root));
        }
        plan.nodes.push((left_address, left));
        plan.nodes.push((right_address, right));
        Ok((Some((between, right_address)), Some([first, last])))
    }

    /// Removes the chunk at the end of a path through the nodes from a version 1 B-tree.
    pub(super) fn remove_at(&self, edit: &mut Edit<'_>, path: &Path) -> Result<()> {
        let mut plan = Plan::default();
        let planned = self.plan_remove(edit, &mut plan, path);
        plan.finish(edit, &self.context, planned)
    }

    fn plan_remove(&self, edit: &Edit<'_>, plan: &mut Plan, path: &Path) -> Result<()> {
        let store = edit.store();
        let mut gone = true;
        let mut first: Option<ChunkKey> = None;
        for (depth, step) in path.iter().enumerate().rev() {
            let mut node = (*self.node(store, step.address, None)?).clone();
            let at = step.position;
            if gone {
                if node.children.len() <= 1 && depth > 0 {
                    self.unlink(store, plan, &node)?;
                    plan.freed.push(step.address);
                    continue;
                }
                if at >= node.children.len() {
                    return Err(Error::internal("B-tree of chunks", "the path to a chunk ends at the chunk"));
                }
                node.children.remove(at);
                remove(keys_mut(&mut node)?, at)?;
                gone = false;
            } else if let Some(first) = first.take() {
                replace(keys_mut(&mut node)?, at, &first)?;
            }
            first = key(keys(&node)?, 0).filter(|_| at == 0);
            if let Some(first) = first.as_ref().filter(|_| node.left.is_defined()) {
                // libhdf5 uses the end of a node as the start of the next node.
                let mut left = (*self.node(store, node.left, None)?).clone();
                let end = left.keys.len() - 1;
                replace(keys_mut(&mut left)?, end, first)?;
                plan.nodes.push((node.left, left));
            }
            if depth == 0 {
                node = self.shrunk_root(store, plan, node)?;
            }
            plan.nodes.push((step.address, node));
            if first.is_none() && depth > 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Removes a version 1 B-tree node from the linked list of the nodes of its level.
    fn unlink(&self, store: &Store, plan: &mut Plan, node: &BTreeV1Node) -> Result<()> {
        if node.left.is_defined() {
            let mut left = (*self.node(store, node.left, None)?).clone();
            left.right = node.right;
            if let Some([_, last]) = ends_of(node)? {
                let end = left.keys.len() - 1;
                replace(keys_mut(&mut left)?, end, &last)?;
            }
            plan.nodes.push((node.left, left));
        }
        if node.right.is_defined() {
            let mut right = (*self.node(store, node.right, None)?).clone();
            right.left = node.left;
            plan.nodes.push((node.right, right));
        }
        Ok(())
    }

    /// Returns the root of a version 1 B-tree after a removal. While the root has only one child,
    /// the child becomes the root. A root without children becomes an empty leaf.
    fn shrunk_root(&self, store: &Store, plan: &mut Plan, mut root: BTreeV1Node) -> Result<BTreeV1Node> {
        while let ([child], true) = (root.children.as_slice(), root.level > 0) {
            let address = *child;
            let planned = plan.nodes.iter().position(|(planned, _)| *planned == address);
            let node = match planned {
                Some(at) => plan.nodes.remove(at).1,
                None => (*self.node(store, address, Some(root.level))?).clone(),
            };
            plan.freed.push(address);
            root = BTreeV1Node { left: Address::UNDEFINED, right: Address::UNDEFINED, ..node };
        }
        if root.children.is_empty() {
            root.level = 0;
        }
        Ok(root)
    }
}

fn too_few(address: Address) -> Error {
    Error::corrupt(BTreeV1Node::NAME, "keys", "one more than children", "fewer").at(address)
}

/// Returns the first and the last chunk key of a version 1 B-tree node.
fn ends_of(node: &BTreeV1Node) -> Result<Option<[ChunkKey; 2]>> {
    let keys = keys(node)?;
    let last = keys.len().checked_sub(1).and_then(|last| key(keys, last));
    Ok(key(keys, 0).zip(last).map(|(first, last)| [first, last]))
}

impl Plan {
    fn allocate(&mut self, edit: &mut Edit<'_>, bytes: u64) -> Result<Address> {
        let address = edit.allocate(SpaceKind::BTree, bytes)?;
        self.allocated.push(address);
        Ok(address)
    }

    fn finish(self, edit: &mut Edit<'_>, context: &BTreeV1Context, planned: Result<()>) -> Result<()> {
        let bytes = BTreeV1Node::size(context) as u64;
        let freed = if planned.is_ok() { self.freed } else { self.allocated };
        for address in freed {
            edit.free(SpaceKind::BTree, address, bytes)?;
        }
        planned?;
        for (address, node) in self.nodes {
            edit.put(address, context, node);
        }
        Ok(())
    }
}
