//! Insertion of many records after the last record of a version 2 B-tree. Nodes are filled one
//! after the other, and each full node is stored once.

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::btree_v2::BTreeV2Child;
use hyperslab_format::codec::Address;

use super::balance::Changes;
use super::node::{Node, Step, outside};
use super::{BTreeV2, Compare, NODE};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

/// The largest number of records of a version 2 B-tree to which records can be appended. Below this
/// number, the sums of appended records cannot overflow.
const MAX_TOTAL_RECORDS: u64 = 1 << 63;

/// A writer that appends records, in ascending order, after the last record of a version 2 B-tree.
#[derive(Debug)]
pub struct BTreeV2Appender<'t, 'e, 'a> {
    tree: &'t mut BTreeV2,
    edit: &'e mut Edit<'a>,
    /// The last node of each level, from the leaf to the root. The pointer from a node to its last
    /// child is missing, because the last child is the element before that node.
    edge: Vec<(Address, Node)>,
    size: usize,
}

impl BTreeV2 {
    /// Returns whether the version 2 B-tree ends before the searched record: `compare` returns
    /// `Less` for all its records.
    ///
    /// # Errors
    /// Returns the errors of `compare`, and read errors.
    pub fn ends_before(&self, store: &Store, compare: &mut Compare<'_>) -> Result<bool> {
        let (path, found) = self.search(store, compare)?;
        Ok(!found && path.iter().all(|step| to_u64(step.position) == step.child.records))
    }

    /// Calls `feed`, which appends about `expected` records in ascending order to a version 2
    /// B-tree. If `feed` fails, the records that it has already appended stay in the B-tree.
    ///
    /// # Errors
    /// Returns the errors of `feed`, of reading nodes and of [`Edit::allocate`].
    pub fn append<'a>(
        &mut self,
        edit: &mut Edit<'a>,
        expected: usize,
        feed: impl FnOnce(&mut BTreeV2Appender<'_, '_, 'a>) -> Result<()>,
    ) -> Result<()> {
        let mut edge = self.open_edge(edit)?;
        self.pack_edge(edit, &mut edge, expected)?;
        let size = self.layout.record_size();
        let mut appender = BTreeV2Appender { tree: self, edit, edge, size };
        let fed = feed(&mut appender);
        appender.close()?;
        fed
    }

    /// Returns copies of the nodes on the right edge of a version 2 B-tree, from the leaf to the
    /// root. The right edge is the last node of each level. The copies have no pointers to each
    /// other.
    fn open_edge(&mut self, edit: &mut Edit<'_>) -> Result<Vec<(Address, Node)>> {
        let Some(mut child) = self.root() else {
            self.set_depth(0)?;
            return Ok(Vec::new());
        };
        let mut edge = Vec::new();
        for level in (0..=self.header.depth).rev() {
            let mut node = self.copy(edit.store(), level, child)?;
            let address = child.address;
            let total = node.entry(address, self.layout.record_size())?.total;
            if total > MAX_TOTAL_RECORDS {
                let expected = format!("at most {MAX_TOTAL_RECORDS}");
                return Err(Error::corrupt(NODE, "total number of records", expected, total).at(address));
            }
            if let Some(last) = node.children.pop() {
                child = last;
            }
            edge.push((address, node));
        }
        edge.reverse();
        Ok(edge)
    }
}

impl BTreeV2 {
    /// Packs the nodes beside the right edge of a version 2 B-tree: on each level, moves records of
    /// the last node into the node before it. Skips a level if its last node would then have too
    /// few records, even after `expected` more records.
    fn pack_edge(&self, edit: &mut Edit<'_>, edge: &mut [(Address, Node)], expected: usize) -> Result<()> {
        let (mut coming, mut filled) = (to_u64(expected), Vec::new());
        for level in 0..self.header.depth {
            let Some([(_, node), (_, parent), ..]) = edge.get_mut(usize::from(level)..) else { break };
            filled.extend(self.pack(edit.store(), level, node, parent, coming)?.map(|node| (level, node)));
            // One record of `capacity + 1` goes into the level above.
            coming /= self.capacity(level) + 1;
        }
        // Store the filled nodes after all reads, so that a read error changes nothing.
        filled.into_iter().try_for_each(|(level, (address, node))| self.put(edit, level, address, node))
    }

    /// Moves records of a version 2 B-tree from `node` to the node before it. `node` is the last
    /// node of `level`. Returns the filled node, which the caller stores with
    /// [`put`](BTreeV2::put).
    fn pack(
        &self,
        store: &Store,
        level: u16,
        node: &mut Node,
        parent: &mut Node,
        coming: u64,
    ) -> Result<Option<(Address, Node)>> {
        let (size, capacity) = (self.layout.record_size(), self.capacity(level));
        let Some(before) = parent.children.last().copied().filter(|before| before.records < capacity) else {
            return Ok(None);
        };
        // Counts of records in nodes are far below 2^63. `coming` has no such bound.
        let total = before.records + to_u64(node.count(size));
        if coming.checked_add(total).is_some_and(|later| later < capacity + self.minimum(level)) {
            return Ok(None);
        }
        let mut left = self.copy(store, level, before)?;
        let last = parent.children.len() - 1;
        let between = parent.remove(last, size)?;
        // The last node has no pointer to its last child, so the second half has none either.
        left = left.join(&between, node);
        // The record after the left half goes into the parent.
        let (between, right) = left.cut(to_usize(total.min(capacity))?, size)?;
        parent.insert(last, &between)?;
        parent.set_child(last, left.entry(before.address, size)?)?;
        *node = right;
        Ok(Some((before.address, left)))
    }
}

impl BTreeV2Appender<'_, '_, '_> {
    /// Appends a record, which comes after all records, to the version 2 B-tree.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the record does not have the record size of the tree, and the
    /// errors of [`Edit::allocate`].
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        self.tree.check_size(record)?;
        let full = self.full(0);
        match self.edge.first_mut() {
            Some((_, leaf)) if to_u64(leaf.records.len()) < full => {
                leaf.records.extend_from_slice(record);
                Ok(())
            }
            Some(_) => self.push_above(record),
            None => {
                self.edge = self.new_nodes(1)?;
                self.push(record)
            }
        }
    }

    /// Returns the number of bytes of all records in a full version 2 B-tree node at `level`. Does
    /// not overflow: a node has at most 2^16 records of at most 2^16 bytes.
    fn full(&self, level: u16) -> u64 {
        self.tree.capacity(level) * to_u64(self.size)
    }

    /// Allocates `count` empty nodes of a version 2 B-tree. If an allocation fails, frees the nodes
    /// that were allocated before.
    fn new_nodes(&mut self, count: usize) -> Result<Vec<(Address, Node)>> {
        let record_bytes = to_usize(self.full(0))?;
        let mut nodes = Vec::with_capacity(count);
        while nodes.len() < count {
            match self.edit.allocate(SpaceKind::BTree, self.tree.node_bytes()) {
                Ok(address) => {
                    let records = Vec::with_capacity(record_bytes);
                    nodes.push((address, Node { records, children: Vec::new() }));
                }
                Err(error) => {
                    for (address, _) in nodes {
                        self.edit.free(SpaceKind::BTree, address, self.tree.node_bytes())?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(nodes)
    }

    /// Appends a record to a version 2 B-tree whose last leaf is full. Puts the record into the
    /// lowest node on the path above this leaf that is not full. Creates new nodes on the levels
    /// below.
    fn push_above(&mut self, record: &[u8]) -> Result<()> {
        let mut level = 1_u16;
        while let Some((_, node)) = self.edge.get(usize::from(level)) {
            if to_u64(node.records.len()) < self.full(level) {
                break;
            }
            level += 1;
        }
        let mut fresh_count = usize::from(level);
        if fresh_count == self.edge.len() {
            self.tree.set_depth(level)?;
            self.tree.check_two_records_fit(level)?;
            fresh_count += 1;
        }
        let mut fresh = self.new_nodes(fresh_count)?;
        self.edge.extend(fresh.drain(usize::from(level)..));
        for (below, fresh) in (0..level).zip(fresh) {
            let Some([last, (_, parent), ..]) = self.edge.get_mut(usize::from(below)..) else {
                return Err(outside());
            };
            let entry = last.1.entry(last.0, self.size)?;
            parent.children.push(entry);
            let (address, node) = std::mem::replace(last, fresh);
            self.tree.put(self.edit, below, address, node)?;
        }
        let (_, node) = self.edge.get_mut(usize::from(level)).ok_or_else(outside)?;
        node.records.extend_from_slice(record);
        Ok(())
    }

    /// Closes a writer that appends records to a version 2 B-tree: stores the last node of each
    /// level. If a last node has fewer records than the minimum, first moves records into this
    /// node.
    fn close(mut self) -> Result<()> {
        let mut edge = std::mem::take(&mut self.edge);
        let mut entry: Option<BTreeV2Child> = None;
        for (address, node) in &mut edge {
            node.children.extend(entry);
            entry = Some(node.entry(*address, self.size)?);
        }
        let Some(root) = entry else { return Ok(()) };
        let levels = u16::try_from(edge.len()).map_err(|_| outside())?;
        // `push_above` may have set a larger depth and then failed.
        self.tree.set_depth(levels - 1)?;
        self.tree.set_root(root.address, root.records, root.total)?;
        for (level, (address, node)) in (0..levels).zip(edge) {
            self.tree.put(self.edit, level, address, node)?;
        }
        self.tree.save(self.edit);
        self.tree.fill_edge(self.edit, root)
    }
}

impl BTreeV2 {
    /// Moves records from neighbouring nodes into the nodes on the right edge of a version 2 B-tree
    /// (the last node of each level) that have fewer records than the minimum. Begins at the root,
    /// so that each node has a neighbour under the same parent.
    fn fill_edge(&mut self, edit: &mut Edit<'_>, root: BTreeV2Child) -> Result<()> {
        let mut child = root;
        for below in (0..self.header.depth).rev() {
            let level = below + 1;
            let mut parent = self.copy(edit.store(), level, child)?;
            let minimum = self.minimum(below);
            let Some(mut node) = parent.children.last().copied() else { return Ok(()) };
            let last = parent.children.len() - 1;
            if node.records < minimum && last > 0 {
                let content = self.copy(edit.store(), below, node)?;
                let step = Step { level: below, child: node, position: 0 };
                let mut changes = Changes::default();
                let pair = self.pair(edit, &parent, last, last - 1, (step, content))?;
                let left = pair.total.checked_sub(minimum).ok_or_else(outside)?.min(self.capacity(below));
                self.share(&mut changes, &mut parent, below, pair, left)?;
                node = parent.children.last().copied().ok_or_else(outside)?;
                changes.put(level, child.address, parent);
                changes.apply(self, edit)?;
            }
            child = node;
        }
        Ok(())
    }
}
