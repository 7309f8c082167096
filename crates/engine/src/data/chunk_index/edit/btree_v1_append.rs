//! Appends of many chunks to a version 1 B-tree: nodes are filled one after the other.

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v1::BTreeV1Node;
use hyperslab_format::codec::{Address, Structure as _};

use super::super::ChunkLocation;
use super::btree_v1::BTreeV1Edit;
use super::btree_v1_keys::{ChunkKey, key, keys, keys_mut, push, reserve, truncate};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// The state of an append of chunks to a version 1 B-tree: the last node of each level, from the
/// leaf up. Each of these nodes has as many keys as children. An inner node receives the pointer to
/// its last child when that child is full or the append ends.
#[derive(Debug)]
struct BTreeV1Appender<'t, 'e, 'a> {
    tree: &'t BTreeV1Edit,
    edit: &'e mut Edit<'a>,
    edge: Vec<(Address, BTreeV1Node)>,
    /// A written node whose memory is used for a new node.
    spare: Option<BTreeV1Node>,
}

impl BTreeV1Edit {
    /// Appends chunks to a version 1 B-tree. The chunks ascend and come after all chunks of the
    /// B-tree.
    pub(super) fn append(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        self.make_root(edit)?;
        let edge = self.open_edge(edit)?;
        let mut appender = BTreeV1Appender { tree: self, edit, edge, spare: None };
        let mut key = ChunkKey { size: 0, filter_mask: 0, offset: Dims::new() };
        let pushed = chunks.iter().try_for_each(|(scaled, location)| {
            appender.tree.set_key(&mut key, scaled, location)?;
            appender.push(&key, location.address)
        });
        appender.close()?;
        pushed
    }

    fn open_edge(&self, edit: &Edit<'_>) -> Result<Vec<(Address, BTreeV1Node)>> {
        let mut edge = Vec::new();
        let (mut address, mut above) = (self.root, None);
        loop {
            let mut node = (*self.node(edit.store(), address, above)?).clone();
            let level = node.level;
            let last = if level > 0 { node.children.pop() } else { None };
            let count = node.children.len();
            truncate(keys_mut(&mut node)?, count);
            edge.push((address, node));
            match last {
                Some(child) => (address, above) = (child, Some(level)),
                None if level > 0 => {
                    return Err(
                        Error::corrupt(BTreeV1Node::NAME, "entries used", "at least 1", 0).at(address)
                    );
                }
                None => break,
            }
        }
        edge.reverse();
        Ok(edge)
    }
}

impl BTreeV1Appender<'_, '_, '_> {
    fn push(&mut self, key: &ChunkKey, address: Address) -> Result<()> {
        let capacity = self.tree.context.capacity();
        if self.edge.first().is_some_and(|(_, leaf)| leaf.children.len() >= capacity) {
            self.turn(key)?;
        }
        if let Some((_, leaf)) = self.edge.first_mut() {
            push(keys_mut(leaf)?, key);
            leaf.children.push(address);
        }
        Ok(())
    }

    /// Turns from the last leaf of a version 1 B-tree, which is full, to a new leaf on its right.
    /// Also creates a right neighbour for each full node above the leaf. The first key of each new
    /// node is `next`.
    fn turn(&mut self, next: &ChunkKey) -> Result<()> {
        let capacity = self.tree.context.capacity();
        // An inner node is full if it has space for one more child only: the preceding node in the
        // list.
        let above = self.edge.iter().skip(1);
        let full = above.take_while(|(_, node)| node.children.len() + 1 >= capacity).count();
        let count = full + 1;
        let grows = count == self.edge.len();
        let bytes = self.tree.node_bytes();
        let mut fresh = self.edit.allocate_blocks(SpaceKind::BTree, bytes, count)?.into_iter();
        if grows {
            // The root keeps its address, so its contents move.
            let moved = self.edit.allocate(SpaceKind::BTree, bytes)?;
            let Some((root, top)) = self.edge.last_mut() else { return Ok(()) };
            let level = top.level.checked_add(1).ok_or_else(|| {
                Error::Misuse("the version 1 B-tree would have more than 255 levels".into())
            })?;
            let root = std::mem::replace(root, moved);
            self.edge.push((root, BTreeV1Node { level, ..self.tree.empty_leaf() }));
        }
        for level in 0..count {
            let Some(right) = fresh.next() else { break };
            let Some((address, node)) = self.edge.get_mut(level) else { break };
            let new = if let Some(spare) = self.spare.take() {
                spare
            } else {
                let mut new = self.tree.empty_leaf();
                reserve(keys_mut(&mut new)?, capacity + 1);
                new.children.reserve_exact(capacity);
                new
            };
            let new = BTreeV1Node { level: node.level, left: *address, ..new };
            let mut full = std::mem::replace(node, new);
            let address = std::mem::replace(address, right);
            full.right = right;
            self.put_pointer(level, address, &full)?;
            push(keys_mut(&mut full)?, next);
            // A full node changes rarely, so write it now.
            let bytes = full.encode(&self.tree.context)?;
            self.edit.write(address, &bytes, BTreeV1Node::NAME)?;
            truncate(keys_mut(&mut full)?, 0);
            full.children.clear();
            full.right = Address::UNDEFINED;
            self.spare = Some(full);
        }
        Ok(())
    }

    /// Adds two values to the parent of a version 1 B-tree node: the pointer to the node, and the
    /// first key of the node.
    fn put_pointer(&mut self, level: usize, address: Address, node: &BTreeV1Node) -> Result<()> {
        // The root has no parent.
        let Some((_, parent)) = self.edge.get_mut(level + 1) else { return Ok(()) };
        let invariant = "a node with chunks has a key";
        let first =
            key(keys(node)?, 0).ok_or(Error::Internal { structure: "B-tree of chunks", invariant })?;
        push(keys_mut(parent)?, &first);
        parent.children.push(address);
        Ok(())
    }

    fn close(mut self) -> Result<()> {
        let Some((_, leaf)) = self.edge.first() else { return Ok(()) };
        let last = leaf.children.len().checked_sub(1).map(|last| keys(leaf).map(|keys| key(keys, last)));
        let Some(last) = last.transpose()?.flatten() else {
            // The tree was empty and no chunk was appended.
            return Ok(());
        };
        let end = self.tree.end_key(&last);
        for level in 0..self.edge.len() {
            let Some((address, node)) = self.edge.get_mut(level) else { break };
            let mut node = std::mem::replace(node, self.tree.empty_leaf());
            let address = *address;
            self.put_pointer(level, address, &node)?;
            push(keys_mut(&mut node)?, &end);
            self.edit.put(address, &self.tree.context, node);
        }
        Ok(())
    }
}
