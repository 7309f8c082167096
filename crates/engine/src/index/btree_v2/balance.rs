//! Nodes with too many or too few records: neighbours share records, nodes are split and merged.

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::Address;
use smallvec::SmallVec;

use super::BTreeV2;
use super::node::{Edge, Node, Path, Step, outside, record_range};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// A planned change of several nodes of a version 2 B-tree. The change is applied as a whole, after
/// all steps that can fail.
#[derive(Debug, Default)]
pub(super) struct Changes {
    nodes: SmallVec<[(u16, Address, Node); 8]>,
    allocated: SmallVec<[Address; 4]>,
    freed: SmallVec<[Address; 4]>,
}

impl Changes {
    /// Calls `plan` to record the changes of nodes of a version 2 B-tree, and applies the changes.
    /// If `plan` fails, restores the B-tree and frees the allocated nodes.
    pub(super) fn run<'a>(
        tree: &mut BTreeV2,
        edit: &mut Edit<'a>,
        plan: impl FnOnce(&mut BTreeV2, &mut Edit<'a>, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut changes = Self::default();
        let before = tree.clone();
        match plan(tree, edit, &mut changes) {
            Ok(()) => changes.apply(tree, edit),
            Err(error) => {
                *tree = before;
                for address in changes.allocated {
                    edit.free(SpaceKind::BTree, address, tree.node_bytes())?;
                }
                Err(error)
            }
        }
    }

    pub(super) fn put(&mut self, level: u16, address: Address, node: Node) {
        self.nodes.push((level, address, node));
    }

    pub(super) fn free(&mut self, address: Address) {
        self.freed.push(address);
    }

    pub(super) fn allocate(&mut self, tree: &BTreeV2, edit: &mut Edit<'_>) -> Result<Address> {
        let address = edit.allocate(SpaceKind::BTree, tree.node_bytes())?;
        self.allocated.push(address);
        Ok(address)
    }

    pub(super) fn apply(self, tree: &BTreeV2, edit: &mut Edit<'_>) -> Result<()> {
        for address in self.freed {
            edit.free(SpaceKind::BTree, address, tree.node_bytes())?;
        }
        for (level, address, node) in self.nodes {
            tree.put(edit, level, address, node)?;
        }
        tree.save(edit);
        Ok(())
    }
}

/// Two neighbouring nodes of a version 2 B-tree and the record between them, joined to one node.
pub(super) struct Pair {
    joined: Node,
    /// The index of the left node in the parent, and of the record between the nodes.
    left: usize,
    addresses: [Address; 2],
    /// The number of records in both nodes, without the record between them.
    pub(super) total: u64,
}

impl BTreeV2 {
    /// Reduces the number of records of a version 2 B-tree node that has too many. The node is the
    /// child `position` of `parent`. Moves records to a neighbour, or to a new node after the node.
    pub(super) fn share_or_split(
        &self,
        edit: &mut Edit<'_>,
        changes: &mut Changes,
        parent: &mut Node,
        position: usize,
        (step, mut node): (Step, Node),
        edge: Edge,
    ) -> Result<()> {
        let (level, size) = (step.level, self.layout.record_size());
        let capacity = self.capacity(level);
        let neighbour = self.neighbours(parent, position).min_by_key(|(_, records)| *records);
        if let Some((neighbour, _)) = neighbour.filter(|(_, records)| *records < capacity) {
            let pair = self.pair(edit, parent, position, neighbour, (step, node))?;
            let rest = pair.total.checked_sub(self.minimum(level)).ok_or_else(outside)?;
            let maximum = rest.min(capacity);
            let left = match edge {
                // The next records are probably inserted at the same end of the tree. Leave as many
                // free records as possible there.
                Edge::Last => maximum,
                Edge::First => pair.total - maximum,
                Edge::Neither => pair.total / 2,
            };
            return self.share(changes, parent, level, pair, left);
        }
        let (between, right) = node.cut(node.count(size) / 2, size)?;
        let address = changes.allocate(self, edit)?;
        parent.insert(position, &between)?;
        parent.set_child(position, node.entry(step.child.address, size)?)?;
        parent.children.insert(position + 1, right.entry(address, size)?);
        changes.put(level, step.child.address, node);
        changes.put(level, address, right);
        Ok(())
    }

    /// Corrects a version 2 B-tree node that has too few records. The node is the child `position`
    /// of `parent`. Moves records from a neighbour to the node, or merges the node with the
    /// neighbour.
    fn share_or_merge(
        &self,
        edit: &mut Edit<'_>,
        changes: &mut Changes,
        parent: &mut Node,
        position: usize,
        (step, node): (Step, Node),
    ) -> Result<()> {
        let (level, size) = (step.level, self.layout.record_size());
        let Some((neighbour, _)) = self.neighbours(parent, position).max_by_key(|(_, records)| *records)
        else {
            return Err(
                Error::corrupt("version 2 B-tree internal node", "records", "at least 1", 0).at(self.address)
            );
        };
        let pair = self.pair(edit, parent, position, neighbour, (step, node))?;
        // A minimum is at most 32,767.
        if pair.total >= 2 * self.minimum(level) {
            let half = pair.total / 2;
            return self.share(changes, parent, level, pair, half);
        }
        let [left, right] = pair.addresses;
        parent.remove(pair.left, size)?;
        parent.children.remove(pair.left);
        parent.set_child(pair.left, pair.joined.entry(left, size)?)?;
        changes.put(level, left, pair.joined);
        changes.free(right);
        Ok(())
    }

    /// Returns the index and the number of records of each neighbour of a child node in a version 2
    /// B-tree.
    fn neighbours(&self, parent: &Node, position: usize) -> impl Iterator<Item = (usize, u64)> {
        let at = |number: Option<usize>| number.and_then(|at| Some((at, parent.children.get(at)?.records)));
        [at(position.checked_sub(1)), at(position.checked_add(1))].into_iter().flatten()
    }

    pub(super) fn pair(
        &self,
        edit: &Edit<'_>,
        parent: &Node,
        position: usize,
        neighbour: usize,
        (step, node): (Step, Node),
    ) -> Result<Pair> {
        let size = self.layout.record_size();
        let other = parent.children.get(neighbour).copied().ok_or_else(outside)?;
        let beside = self.copy(edit.store(), step.level, other)?;
        let left = position.min(neighbour);
        let total = to_u64(node.count(size)) + to_u64(beside.count(size));
        let between = parent.records.get(record_range(left, size)?).ok_or_else(outside)?;
        let (joined, addresses) = if left == position {
            (node.join(between, &beside), [step.child.address, other.address])
        } else {
            (beside.join(between, &node), [other.address, step.child.address])
        };
        Ok(Pair { joined, left, addresses, total })
    }

    /// Distributes the records of two neighbouring version 2 B-tree nodes. The left node gets
    /// `count` records, the parent gets one record, and the right node gets the other records.
    pub(super) fn share(
        &self,
        changes: &mut Changes,
        parent: &mut Node,
        level: u16,
        pair: Pair,
        count: u64,
    ) -> Result<()> {
        let size = self.layout.record_size();
        let Pair { joined: mut first, left, addresses: [left_address, right_address], .. } = pair;
        let (between, second) = first.cut(to_usize(count)?, size)?;
        parent.replace(left, &between)?;
        parent.set_child(left, first.entry(left_address, size)?)?;
        parent.set_child(left + 1, second.entry(right_address, size)?)?;
        changes.put(level, left_address, first);
        changes.put(level, right_address, second);
        Ok(())
    }

    /// Removes the record at the step `found` of a path through a version 2 B-tree. Fills or merges
    /// nodes that then have too few records. If the step is an internal node, a record of the leaf
    /// at the end of the path replaces the removed record.
    pub(super) fn remove_merging(
        &mut self,
        edit: &mut Edit<'_>,
        path: &Path,
        found: usize,
    ) -> Result<Vec<u8>> {
        let mut removed = Vec::new();
        Changes::run(self, edit, |tree, edit, changes| {
            let size = tree.layout.record_size();
            let mut changed: Option<Node> = None;
            for (index, step) in path.iter().enumerate().rev() {
                let node = if let Some(node) = changed.take() {
                    node
                } else {
                    let mut leaf = tree.copy(edit.store(), step.level, step.child)?;
                    removed = leaf.remove(step.position, size)?;
                    leaf
                };
                let Some(up) = index.checked_sub(1).and_then(|above| path.get(above)) else {
                    return tree.shrink_root(edit, changes, *step, node);
                };
                let mut parent = tree.copy(edit.store(), up.level, up.child)?;
                if index.checked_sub(1) == Some(found) {
                    removed = parent.replace(up.position, &removed)?;
                }
                if to_u64(node.count(size)) < tree.minimum(step.level) {
                    tree.share_or_merge(edit, changes, &mut parent, up.position, (*step, node))?;
                } else {
                    parent.set_child(up.position, node.entry(step.child.address, size)?)?;
                    changes.put(step.level, step.child.address, node);
                }
                changed = Some(parent);
            }
            Ok(())
        })?;
        Ok(removed)
    }

    /// Stores the root of a version 2 B-tree after the removal of a record. Replaces a root without
    /// records by its only child, and frees the empty root of an empty B-tree.
    fn shrink_root(
        &mut self,
        edit: &mut Edit<'_>,
        changes: &mut Changes,
        step: Step,
        node: Node,
    ) -> Result<()> {
        if !node.records.is_empty() {
            return self.put_root(edit, changes, step, node);
        }
        changes.free(step.child.address);
        match node.children.first() {
            None => self.set_root(Address::UNDEFINED, 0, 0),
            Some(child) => {
                self.set_depth(step.level.checked_sub(1).ok_or_else(outside)?)?;
                self.set_root(child.address, child.records, child.total)
            }
        }
    }
}
