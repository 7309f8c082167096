//! Nodes that have too many records or too few: neighbours share, nodes are split and merged.

use hyperslab_format::codec::Address;
use smallvec::SmallVec;

use super::BTreeV2;
use super::node::{Edge, Node, Path, Step};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// What a change that touches several nodes will do: all of it, once nothing can fail any more.
#[derive(Debug, Default)]
pub(super) struct Changes {
    nodes: SmallVec<[(u16, Address, Node); 8]>,
    allocated: SmallVec<[Address; 4]>,
    freed: SmallVec<[Address; 4]>,
}

impl Changes {
    /// Lets `plan` say what is to be changed, and changes it. If it fails, the tree is as it was.
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

/// Two neighbours and the record between them, as one.
pub(super) struct Pair {
    joined: Node,
    /// The left one's number in the parent, and that of the record behind it.
    left: usize,
    addresses: [Address; 2],
    /// Records of both.
    pub(super) total: u64,
}

impl BTreeV2 {
    /// Finds room for the records of child `position` of `parent`, which has too many: in a neighbour, or in a new
    /// node beside it.
    pub(super) fn relieve(
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
            let keep = self.minimum(level);
            let left = match edge {
                // What comes next comes at the end: the node there gets the most room.
                Edge::Last => pair.total.saturating_sub(keep).min(capacity),
                Edge::First => pair.total.saturating_sub(pair.total.saturating_sub(keep).min(capacity)),
                Edge::Neither => pair.total / 2,
            };
            self.share(changes, parent, level, pair, left);
            return Ok(());
        }
        let (between, right) = node.cut(node.count(size) / 2, size);
        let address = changes.allocate(self, edit)?;
        parent.insert(position, &between);
        parent.set_child(position, node.entry(step.child.address, size));
        let next = position.saturating_add(1).min(parent.children.len());
        parent.children.insert(next, right.entry(address, size));
        changes.put(level, step.child.address, node);
        changes.put(level, address, right);
        Ok(())
    }

    /// Finds records for child `position` of `parent`, which has too few: from a neighbour, or by becoming one with
    /// it.
    fn feed(
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
        if pair.total >= self.minimum(level).saturating_mul(2) {
            let half = pair.total / 2;
            self.share(changes, parent, level, pair, half);
            return Ok(());
        }
        let [left, right] = pair.addresses;
        parent.remove(pair.left, size);
        parent.children.remove(pair.left);
        parent.set_child(pair.left, pair.joined.entry(left, size));
        changes.put(level, left, pair.joined);
        changes.free(right);
        Ok(())
    }

    /// The numbers of a child's neighbours and of their records.
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
        let other = parent.children.get(neighbour).copied().unwrap_or(step.child);
        let beside = self.copy(edit.store(), step.level, other)?;
        let left = position.min(neighbour);
        let total = node.count(size).saturating_add(beside.count(size)) as u64;
        let start = left.saturating_mul(size);
        let between = parent.records.get(start..start.saturating_add(size)).unwrap_or_default();
        let (joined, addresses) = if left == position {
            (node.join(between, &beside), [step.child.address, other.address])
        } else {
            (beside.join(between, &node), [other.address, step.child.address])
        };
        Ok(Pair { joined, left, addresses, total })
    }

    /// Gives the left one of two neighbours `count` records and the right one what is left.
    pub(super) fn share(&self, changes: &mut Changes, parent: &mut Node, level: u16, pair: Pair, count: u64) {
        let size = self.layout.record_size();
        let Pair { joined: mut first, left, addresses: [left_address, right_address], .. } = pair;
        let (between, second) = first.cut(usize::try_from(count).unwrap_or(usize::MAX), size);
        parent.replace(left, &between);
        parent.set_child(left, first.entry(left_address, size));
        parent.set_child(left.saturating_add(1), second.entry(right_address, size));
        changes.put(level, left_address, first);
        changes.put(level, right_address, second);
    }

    /// Takes a record out of a leaf that has no more than it must. `found` is the step of the way at which the
    /// record to be removed stands; if that is no leaf, the leaf's takes its place.
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
                    removed = leaf.remove(step.position, size);
                    leaf
                };
                let Some(up) = index.checked_sub(1).and_then(|above| path.get(above)) else {
                    return tree.shrink_root(edit, changes, *step, node);
                };
                let mut parent = tree.copy(edit.store(), up.level, up.child)?;
                if index.checked_sub(1) == Some(found) {
                    removed = parent.replace(up.position, &removed);
                }
                if (node.count(size) as u64) < tree.minimum(step.level) {
                    tree.feed(edit, changes, &mut parent, up.position, (*step, node))?;
                } else {
                    parent.set_child(up.position, node.entry(step.child.address, size));
                    changes.put(step.level, step.child.address, node);
                }
                changed = Some(parent);
            }
            Ok(())
        })?;
        Ok(removed)
    }

    /// The root after something was taken out below it or of it.
    fn shrink_root(
        &mut self,
        edit: &mut Edit<'_>,
        changes: &mut Changes,
        step: Step,
        node: Node,
    ) -> Result<()> {
        if !node.records.is_empty() {
            return self.settle_root(edit, changes, step, node);
        }
        changes.free(step.child.address);
        match node.children.first() {
            None => self.set_root(Address::UNDEFINED, 0, 0),
            Some(child) => {
                self.set_depth(step.level.saturating_sub(1))?;
                self.set_root(child.address, child.records, child.total)
            }
        }
    }
}
