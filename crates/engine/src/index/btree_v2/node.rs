//! Nodes of version 2 B-trees in a form for changes: records, and in internal nodes also children.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v2::{BTreeV2Child, BTreeV2Internal, BTreeV2Leaf};
use hyperslab_format::codec::Address;
use smallvec::SmallVec;

use super::{BTreeV2, Compare, NODE};
use crate::error::{Error, Result};
use crate::store::{Edit, Store, at};

/// The decoded contents of a version 2 B-tree node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// Concatenated bytes of the records.
    pub(super) records: Vec<u8>,
    /// Pointers to the children: one more than the number of records; none in a leaf.
    pub(super) children: Vec<BTreeV2Child>,
}

/// A version 2 B-tree node for reading, whose memory the metadata cache may share.
#[derive(Debug)]
pub(super) enum SharedNode {
    Leaf(Arc<BTreeV2Leaf>),
    Internal(Arc<BTreeV2Internal>),
}

/// A step of a path through a version 2 B-tree: a node on the path from the root to a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) level: u16,
    pub(super) child: BTreeV2Child,
    /// The index of the found record, or of the first record that is greater than the searched
    /// position. In an internal node also the index of the child on the path.
    pub(super) position: usize,
}

/// A path through a version 2 B-tree: the nodes from the root down to a leaf or to the found
/// record.
pub(super) type Path = SmallVec<[Step; 6]>;

impl SharedNode {
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

/// Creates an error about an index that lies outside its version 2 B-tree node.
pub(super) fn outside() -> Error {
    Error::internal(NODE, "a position lies inside its node")
}

/// Returns the byte range of the record with the index `position` in a version 2 B-tree node.
pub(super) fn record_range(position: usize, size: usize) -> Result<Range<usize>> {
    let start = position.checked_mul(size).ok_or_else(outside)?;
    Ok(start..start.checked_add(size).ok_or_else(outside)?)
}

impl Node {
    /// Returns the number of records of `size` bytes in the version 2 B-tree node. `size` is not 0,
    /// because [`BTreeV2Layout`] refuses records of 0 bytes.
    ///
    /// [`BTreeV2Layout`]: hyperslab_format::btree_v2::BTreeV2Layout
    pub(super) fn count(&self, size: usize) -> usize {
        self.records.len() / size
    }

    /// Returns the pointer to this version 2 B-tree node that its parent stores: the node's address
    /// and numbers of records.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the totals of the children do not fit in 64 bits.
    pub(super) fn entry(&self, address: Address, size: usize) -> Result<BTreeV2Child> {
        let records = to_u64(self.count(size));
        let total = sum_of_totals(records, &self.children).ok_or_else(|| {
            let expected = "totals of children whose sum fits in 64 bits";
            Error::corrupt(NODE, "total number of records", expected, "a larger sum").at(address)
        })?;
        Ok(BTreeV2Child { address, records, total })
    }

    /// Inserts a record into the version 2 B-tree node before the record with the index `position`,
    /// or after the last record.
    pub(super) fn insert(&mut self, position: usize, record: &[u8]) -> Result<()> {
        let start = record_range(position, record.len())?.start;
        if start > self.records.len() {
            return Err(outside());
        }
        self.records.splice(start..start, record.iter().copied());
        Ok(())
    }

    /// Removes the record with the index `position` from the version 2 B-tree node and returns its
    /// bytes.
    pub(super) fn remove(&mut self, position: usize, size: usize) -> Result<Vec<u8>> {
        let range = record_range(position, size)?;
        if range.end > self.records.len() {
            return Err(outside());
        }
        Ok(self.records.drain(range).collect())
    }

    /// Overwrites the record with the index `position` of the version 2 B-tree node and returns the
    /// previous bytes.
    pub(super) fn replace(&mut self, position: usize, record: &[u8]) -> Result<Vec<u8>> {
        let old = self.records.get_mut(record_range(position, record.len())?).ok_or_else(outside)?;
        let before = old.to_vec();
        old.copy_from_slice(record);
        Ok(before)
    }

    /// Overwrites the pointer to the child node with the index `position` in the version 2 B-tree
    /// node.
    pub(super) fn set_child(&mut self, position: usize, entry: BTreeV2Child) -> Result<()> {
        *self.children.get_mut(position).ok_or_else(outside)? = entry;
        Ok(())
    }

    /// Joins this version 2 B-tree node, the record `between` and the node `right` to one node.
    pub(super) fn join(mut self, between: &[u8], right: &Self) -> Self {
        self.records.extend_from_slice(between);
        self.records.extend_from_slice(&right.records);
        self.children.extend_from_slice(&right.children);
        self
    }

    /// Splits the version 2 B-tree node. The node keeps its first `count` records. Returns two
    /// values: the next record, and a node with all later records.
    pub(super) fn cut(&mut self, count: usize, size: usize) -> Result<(Vec<u8>, Self)> {
        let range = record_range(count, size)?;
        // The edge of an appender has one child fewer than a complete internal node.
        if range.end > self.records.len() || (!self.children.is_empty() && self.children.len() <= count) {
            return Err(outside());
        }
        let mut between = self.records.split_off(range.start);
        let records = between.split_off(size);
        let children = if self.children.is_empty() { Vec::new() } else { self.children.split_off(count + 1) };
        Ok((between, Self { records, children }))
    }
}

/// Returns the sum of `records` and the record totals of the child nodes `children` of a version 2
/// B-tree node, or `None` if the sum does not fit in 64 bits.
pub(super) fn sum_of_totals(records: u64, children: &[BTreeV2Child]) -> Option<u64> {
    children.iter().try_fold(records, |sum, child| sum.checked_add(child.total))
}

impl BTreeV2 {
    /// Returns the version 2 B-tree node to which `child` points, for reading.
    pub(super) fn node(&self, store: &Store, level: u16, child: BTreeV2Child) -> Result<SharedNode> {
        if level == 0 {
            let context = at(self.layout.leaf(child.records), self.address)?;
            return store.shared(child.address, &context).map(SharedNode::Leaf);
        }
        let context = at(self.layout.internal(level, child.records), self.address)?;
        store.shared(child.address, &context).map(SharedNode::Internal)
    }

    /// Returns a copy of the version 2 B-tree node to which `child` points.
    pub(super) fn copy(&self, store: &Store, level: u16, child: BTreeV2Child) -> Result<Node> {
        let node = self.node(store, level, child)?;
        Ok(Node { records: node.records().to_vec(), children: node.children().to_vec() })
    }

    /// Removes the version 2 B-tree node to which `child` points from the metadata cache and
    /// returns the node. The caller must later put it back with [`put`](Self::put).
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

    /// Removes all version 2 B-tree nodes of `path` from the metadata cache and returns them. If a
    /// node cannot be read, puts the nodes before it back.
    pub(super) fn take_path(&self, edit: &mut Edit<'_>, path: &Path) -> Result<PathNodes> {
        let mut nodes = PathNodes::new();
        for step in path {
            match self.take(edit, step.level, step.child) {
                Ok(node) => nodes.push(node),
                Err(error) => {
                    self.put_path(edit, path, nodes)?;
                    return Err(error);
                }
            }
        }
        Ok(nodes)
    }

    /// Puts the version 2 B-tree nodes of `path` back into the metadata cache, from which they were
    /// taken.
    pub(super) fn put_path(&self, edit: &mut Edit<'_>, path: &Path, nodes: PathNodes) -> Result<()> {
        let mut steps = path.iter().zip(nodes);
        steps.try_for_each(|(step, node)| self.put(edit, step.level, step.child.address, node))
    }

    /// Stores a version 2 B-tree node at `address` in the cache of dirty blocks.
    pub(super) fn put(&self, edit: &mut Edit<'_>, level: u16, address: Address, node: Node) -> Result<()> {
        // The nodes of all trees have version 0. Trees of structured chunks have version 1 only in
        // the header.
        let (version, records) = (0, to_u64(node.count(self.layout.record_size())));
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

    /// Searches the version 2 B-tree record for which `compare` returns `Equal`. Returns the path
    /// to the record and `true`. If no such record exists, returns the path to its place in a leaf,
    /// and `false`. In an empty B-tree, the path is empty.
    pub(super) fn search(&self, store: &Store, compare: &mut Compare<'_>) -> Result<(Path, bool)> {
        let mut path = Path::new();
        let Some(mut child) = self.root() else { return Ok((path, false)) };
        let size = self.layout.record_size();
        for level in (0..=self.header.depth).rev() {
            let node = self.node(store, level, child)?;
            let (mut low, mut high) = (0, node.records().len() / size);
            while low < high {
                let position = low.midpoint(high);
                let record = self.record(node.records(), position).ok_or_else(outside)?;
                match at(compare(record), child.address)? {
                    Ordering::Less => low = position + 1,
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

    /// Returns the version 2 B-tree record for which `compare` returns `Equal`, if the B-tree has
    /// such a record. At most one record may be `Equal`.
    ///
    /// # Errors
    /// Returns the errors of `compare`, and read errors.
    pub fn get(&self, store: &Store, compare: &mut Compare<'_>) -> Result<Option<Vec<u8>>> {
        let (path, found) = self.search(store, compare)?;
        let Some(step) = path.last().filter(|_| found) else { return Ok(None) };
        let node = self.node(store, step.level, step.child)?;
        let record = self.record(node.records(), step.position).ok_or_else(outside)?;
        Ok(Some(record.to_vec()))
    }

    /// Returns the pointer to the child with the index `position` of the version 2 B-tree node
    /// `node`.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the node has fewer children.
    pub(super) fn child_at(
        &self,
        node: &SharedNode,
        position: usize,
        address: Address,
    ) -> Result<BTreeV2Child> {
        node.children().get(position).copied().ok_or_else(|| {
            let (expected, got) = (format!("more than {position}"), node.children().len());
            Error::corrupt("version 2 B-tree internal node", "children", expected, got).at(address)
        })
    }
}

/// The contents of the version 2 B-tree nodes of a path, in the order of the path.
pub(super) type PathNodes = SmallVec<[Node; 6]>;

/// The edge of a version 2 B-tree at which a path ends: before the first record, after the last
/// record, or neither. The next insertions are then probably at the same edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    First,
    Last,
    Neither,
}

impl Edge {
    /// Returns the edge of the version 2 B-tree at which `path` ends: before the first record,
    /// after the last record, or neither.
    pub(super) fn of(path: &Path) -> Self {
        let last = path.iter().all(|step| to_u64(step.position) == step.child.records);
        let first = path.iter().all(|step| step.position == 0);
        match (first, last) {
            (_, true) => Self::Last,
            (true, _) => Self::First,
            _ => Self::Neither,
        }
    }
}
