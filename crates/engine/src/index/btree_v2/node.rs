//! Nodes of either kind as changes see them: records, and the children between them if there are any.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_format::btree_v2::{BTreeV2Child, BTreeV2Internal, BTreeV2Leaf};
use hyperslab_format::codec::Address;
use smallvec::SmallVec;

use super::{BTreeV2, Compare};
use crate::error::{Error, Result};
use crate::store::{Edit, Store, at};

/// The content of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// Records, side by side.
    pub(super) records: Vec<u8>,
    /// One more than there are records; none in a leaf.
    pub(super) children: Vec<BTreeV2Child>,
}

/// A node that stays where it is.
#[derive(Debug)]
pub(super) enum Kept {
    Leaf(Arc<BTreeV2Leaf>),
    Internal(Arc<BTreeV2Internal>),
}

/// A node on the way down, and where the way leads on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) level: u16,
    pub(super) child: BTreeV2Child,
    /// The record that was found or before which the wanted one belongs, or the child of the same number.
    pub(super) position: usize,
}

/// The way from the root down.
pub(super) type Path = SmallVec<[Step; 6]>;

impl Kept {
    pub(super) fn records(&self) -> &[u8] {
        match self {
            Self::Leaf(leaf) => &leaf.records,
            Self::Internal(node) => &node.records,
        }
    }

    pub(super) fn children(&self) -> &[BTreeV2Child] {
        match self {
            Self::Leaf(_) => &[],
            Self::Internal(node) => &node.children,
        }
    }
}

impl Node {
    /// The number of records of `size` bytes.
    pub(super) fn count(&self, size: usize) -> usize {
        self.records.len().checked_div(size).unwrap_or(0)
    }

    /// What a pointer to the node says.
    pub(super) fn entry(&self, address: Address, size: usize) -> BTreeV2Child {
        let records = self.count(size) as u64;
        let below = self.children.iter().fold(records, |total, child| total.saturating_add(child.total));
        BTreeV2Child { address, records, total: below }
    }

    /// Puts a record before that at `position`.
    pub(super) fn insert(&mut self, position: usize, record: &[u8]) {
        let start = position.saturating_mul(record.len()).min(self.records.len());
        self.records.splice(start..start, record.iter().copied());
    }

    /// Takes the record at `position` out.
    pub(super) fn remove(&mut self, position: usize, size: usize) -> Vec<u8> {
        let start = position.saturating_mul(size).min(self.records.len());
        let end = start.saturating_add(size).min(self.records.len());
        self.records.drain(start..end).collect()
    }

    /// Puts a record in the place of that at `position`; gives back what was there.
    pub(super) fn replace(&mut self, position: usize, record: &[u8]) -> Vec<u8> {
        let start = position.saturating_mul(record.len());
        match self.records.get_mut(start..start.saturating_add(record.len())) {
            Some(place) => {
                let before = place.to_vec();
                place.copy_from_slice(record);
                before
            }
            None => Vec::new(),
        }
    }

    /// Changes what a pointer says.
    pub(super) fn set_child(&mut self, position: usize, entry: BTreeV2Child) {
        if let Some(child) = self.children.get_mut(position) {
            *child = entry;
        }
    }

    /// This node, the record behind it and the node behind that as one.
    pub(super) fn join(mut self, between: &[u8], right: &Self) -> Self {
        self.records.extend_from_slice(between);
        self.records.extend_from_slice(&right.records);
        self.children.extend_from_slice(&right.children);
        self
    }

    /// Keeps the first `count` records; the record behind them and a node of what is left.
    pub(super) fn cut(&mut self, count: usize, size: usize) -> (Vec<u8>, Self) {
        let end = count.saturating_mul(size).min(self.records.len());
        let mut between = self.records.split_off(end);
        let records = between.split_off(size.min(between.len()));
        let children = if self.children.is_empty() {
            Vec::new()
        } else {
            self.children.split_off(count.saturating_add(1).min(self.children.len()))
        };
        (between, Self { records, children })
    }
}

impl BTreeV2 {
    /// The node that `child` points to.
    pub(super) fn keep(&self, store: &Store, level: u16, child: BTreeV2Child) -> Result<Kept> {
        if level == 0 {
            let context = at(self.layout.leaf(child.records), self.address)?;
            return store.shared(child.address, &context).map(Kept::Leaf);
        }
        let context = at(self.layout.internal(level, child.records), self.address)?;
        store.shared(child.address, &context).map(Kept::Internal)
    }

    /// The content of the node that `child` points to. It stays what it is until it is put back.
    pub(super) fn copy(&self, store: &Store, level: u16, child: BTreeV2Child) -> Result<Node> {
        let node = self.keep(store, level, child)?;
        Ok(Node { records: node.records().to_vec(), children: node.children().to_vec() })
    }

    /// The content of the node that `child` points to, taken out.
    pub(super) fn take(&self, edit: &mut Edit<'_>, level: u16, child: BTreeV2Child) -> Result<Node> {
        if level == 0 {
            let context = at(self.layout.leaf(child.records), self.address)?;
            let leaf: BTreeV2Leaf = edit.take(child.address, &context)?;
            return Ok(Node { records: leaf.records, children: Vec::new() });
        }
        let context = at(self.layout.internal(level, child.records), self.address)?;
        let node: BTreeV2Internal = edit.take(child.address, &context)?;
        Ok(Node { records: node.records, children: node.children })
    }

    /// Puts a node in its place.
    pub(super) fn put(&self, edit: &mut Edit<'_>, level: u16, address: Address, node: Node) -> Result<()> {
        // Only the header has another version in trees of structured chunks.
        let (version, records) = (0, node.count(self.layout.record_size()) as u64);
        if level == 0 {
            let context = at(self.layout.leaf(records), self.address)?;
            edit.put(address, &context, BTreeV2Leaf { version, records: node.records });
        } else {
            let context = at(self.layout.internal(level, records), self.address)?;
            let (records, children) = (node.records, node.children);
            edit.put(address, &context, BTreeV2Internal { version, records, children });
        }
        Ok(())
    }

    /// The way to the record that `compare` finds `Equal`, and whether there is one; otherwise to the leaf where it
    /// belongs. Empty in an empty tree.
    pub(super) fn search(&self, store: &Store, compare: &mut Compare<'_>) -> Result<(Path, bool)> {
        let mut path = Path::new();
        let Some(mut child) = self.root() else { return Ok((path, false)) };
        let size = self.layout.record_size();
        for level in (0..=self.header.depth).rev() {
            let node = self.keep(store, level, child)?;
            let count = node.records().len().checked_div(size).unwrap_or(0);
            let (mut low, mut high) = (0, count);
            while low < high {
                let position = low.midpoint(high);
                let start = position.saturating_mul(size);
                let record = node.records().get(start..start.saturating_add(size)).unwrap_or_default();
                match at(compare(record), child.address)? {
                    Ordering::Less => low = position.saturating_add(1),
                    Ordering::Greater => high = position,
                    Ordering::Equal => {
                        path.push(Step { level, child, position });
                        return Ok((path, true));
                    }
                }
            }
            path.push(Step { level, child, position: low });
            if level > 0 {
                child = self.child_at(&node, low, child.address)?;
            }
        }
        Ok((path, false))
    }

    /// The record that `compare` finds `Equal`, of which there is one at most.
    ///
    /// # Errors
    /// The errors of `compare` and of reading nodes.
    pub fn get(&self, store: &Store, compare: &mut Compare<'_>) -> Result<Option<Vec<u8>>> {
        let (path, found) = self.search(store, compare)?;
        let Some(step) = path.last().filter(|_| found) else { return Ok(None) };
        let node = self.keep(store, step.level, step.child)?;
        let start = step.position.saturating_mul(self.layout.record_size());
        let end = start.saturating_add(self.layout.record_size());
        Ok(node.records().get(start..end).map(<[u8]>::to_vec))
    }

    /// A child of a node that says it has one there.
    pub(super) fn child_at(&self, node: &Kept, position: usize, address: Address) -> Result<BTreeV2Child> {
        node.children().get(position).copied().ok_or_else(|| {
            let (expected, got) = (format!("more than {position}"), node.children().len());
            Error::corrupt("version 2 B-tree internal node", "children", expected, got).at(address)
        })
    }
}

/// The end of the tree at which new records come, as far as one path shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    First,
    Last,
    Neither,
}

impl Edge {
    /// Returns the end at which the path lies.
    pub(super) fn of(path: &Path) -> Self {
        let last = path.iter().all(|step| step.position as u64 == step.child.records);
        let first = path.iter().all(|step| step.position == 0);
        match (first, last) {
            (_, true) => Self::Last,
            (true, _) => Self::First,
            _ => Self::Neither,
        }
    }
}
