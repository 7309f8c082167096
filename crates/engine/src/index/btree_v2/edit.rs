//! Creation of version 2 B-trees, and insertion of records.

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v2::{BTreeV2Child, BTreeV2Header};
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use smallvec::SmallVec;

use super::balance::Changes;
use super::node::{Edge, Node, Path, Step, outside, record_range};
use super::{BTreeV2, BTreeV2Layout, Compare, NODE};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store, at};

/// The parameters of a new version 2 B-tree. The parameters never change later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeV2Creation {
    /// Record type, one of [`types`](hyperslab_format::btree_v2::records::types).
    pub record_type: u8,
    /// Size of a record in bytes.
    pub record_size: u16,
    /// Size of a node in bytes.
    pub node_size: u32,
    /// Largest number of records of a node before it is split, in percent of its capacity.
    pub split_percent: u8,
    /// Smallest number of records of a node before it is merged, in percent of its capacity; at
    /// most half of `split_percent`.
    pub merge_percent: u8,
}

impl BTreeV2Creation {
    /// Returns the version 2 B-tree parameters that libhdf5 uses for all B-trees except chunk
    /// indexes: nodes of 512 bytes.
    pub fn new(record_type: u8, record_size: u16) -> Self {
        Self { record_type, record_size, node_size: 512, split_percent: 100, merge_percent: 40 }
    }
}

impl BTreeV2 {
    /// Creates an empty version 2 B-tree in the file. Other structures refer to the B-tree by the
    /// [`address`](Self::address) of its header.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if nodes of this size do not hold two records, and the errors of
    /// [`Edit::allocate`].
    pub fn create(edit: &mut Edit<'_>, creation: &BTreeV2Creation) -> Result<Self> {
        let params = edit.params();
        let header = BTreeV2Header {
            version: u8::from(
                creation.record_type >= hyperslab_format::btree_v2::records::types::STRUCTURED_CHUNK,
            ),
            record_type: creation.record_type,
            node_size: creation.node_size,
            record_size: creation.record_size,
            depth: 0,
            split_percent: creation.split_percent,
            merge_percent: creation.merge_percent,
            root: Address::UNDEFINED,
            root_records: 0,
            total_records: 0,
        };
        let mut tree = Self::of(header, params, Address::UNDEFINED)?;
        tree.check_two_records_fit(0)?;
        tree.address = edit.allocate(SpaceKind::BTree, header_size(params))?;
        tree.save(edit);
        Ok(tree)
    }

    /// Opens the version 2 B-tree with the header at `address` for changes. At most one such value
    /// may exist for each B-tree at a time. The value stays valid over many changes.
    ///
    /// # Errors
    /// Returns the same errors as [`open`](Self::open).
    pub fn edit(edit: &Edit<'_>, address: Address) -> Result<Self> {
        Self::of_store(edit.store(), address)
    }

    /// Opens a version 2 B-tree for changes like [`edit`](Self::edit), with a `Store` (an open
    /// file) instead of an [`Edit`] (the right to change a file).
    ///
    /// # Errors
    /// Returns the same errors as [`open`](Self::open).
    pub fn of_store(store: &Store, address: Address) -> Result<Self> {
        let params = store.params();
        let header = store.shared::<BTreeV2Header>(address, &params)?;
        Self::of((*header).clone(), params, address)
    }

    /// Inserts a record into the version 2 B-tree at the position that `compare` finds. Returns
    /// `false` and changes nothing if `compare` returns `Equal` for a record.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the record does not have the record size of the tree,
    /// [`Error::Corrupt`] if a count of records cannot be right, and the errors of `compare`, of
    /// reading nodes and of [`Edit::allocate`]. The tree is unchanged then.
    pub fn insert(&mut self, edit: &mut Edit<'_>, record: &[u8], compare: &mut Compare<'_>) -> Result<bool> {
        self.check_size(record)?;
        let (path, found) = self.search(edit.store(), compare)?;
        if !found {
            self.insert_at(edit, &path, record)?;
        }
        Ok(!found)
    }

    /// Inserts a record into the version 2 B-tree, or overwrites the record for which `compare`
    /// returns `Equal`. Returns the bytes of the overwritten record.
    ///
    /// # Errors
    /// Returns the same errors as [`insert`](Self::insert).
    pub fn set(
        &mut self,
        edit: &mut Edit<'_>,
        record: &[u8],
        compare: &mut Compare<'_>,
    ) -> Result<Option<Vec<u8>>> {
        self.check_size(record)?;
        let (path, found) = self.search(edit.store(), compare)?;
        match path.last().filter(|_| found) {
            Some(step) => {
                let mut node = self.take(edit, step.level, step.child)?;
                let before = node.replace(step.position, record);
                self.put(edit, step.level, step.child.address, node)?;
                before.map(Some)
            }
            None => self.insert_at(edit, &path, record).map(|()| None),
        }
    }

    /// Changes the version 2 B-tree record for which `compare` returns `Equal`, with the function
    /// `change`. `change` must keep the order of the records. Returns `None` if the B-tree has no
    /// such record.
    ///
    /// # Errors
    /// Returns the errors of `compare`, and read errors. The tree is unchanged then.
    pub fn modify<R>(
        &mut self,
        edit: &mut Edit<'_>,
        compare: &mut Compare<'_>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Option<R>> {
        let (path, found) = self.search(edit.store(), compare)?;
        let Some(step) = path.last().filter(|_| found) else { return Ok(None) };
        let mut node = self.take(edit, step.level, step.child)?;
        let range = record_range(step.position, self.layout.record_size());
        let result = range.and_then(|range| node.records.get_mut(range).map(change).ok_or_else(outside));
        self.put(edit, step.level, step.child.address, node)?;
        result.map(Some)
    }

    /// Inserts a record into a version 2 B-tree at the end of the node path `path`.
    fn insert_at(&mut self, edit: &mut Edit<'_>, path: &Path, record: &[u8]) -> Result<()> {
        let Some(leaf) = path.last() else { return self.insert_first(edit, record) };
        CountChange::Insert.apply(self.header.total_records, self.address)?;
        if leaf.child.records >= self.capacity(0) {
            return self.insert_splitting(edit, path, record);
        }
        self.change_path(edit, path, CountChange::Insert, |nodes| {
            nodes.last_mut().ok_or_else(outside)?.insert(leaf.position, record)
        })
    }

    /// Calls `change` with the version 2 B-tree nodes of `path`, to change them in place. Also
    /// changes the counts of records on the path and in the header.
    ///
    /// # Errors
    /// Returns read errors, and [`Error::Corrupt`] if a count cannot be right. The tree is
    /// unchanged then.
    pub(super) fn change_path<R>(
        &mut self,
        edit: &mut Edit<'_>,
        path: &Path,
        count: CountChange,
        change: impl FnOnce(&mut [Node]) -> Result<R>,
    ) -> Result<R> {
        let total = count.apply(self.header.total_records, self.address)?;
        let mut root_records = self.header.root_records.into();
        if self.header.depth == 0 {
            root_records = count.apply(root_records, self.address)?;
        }
        // The new pointer from the node of each step to the node of the next step.
        let entries = path.iter().skip(1).map(|Step { level, child, .. }| {
            let total = count.apply(child.total, child.address)?;
            let records =
                if *level == 0 { count.apply(child.records, child.address)? } else { child.records };
            Ok(BTreeV2Child { total, records, ..*child })
        });
        let entries = entries.collect::<Result<SmallVec<[_; 6]>>>()?;
        let mut nodes = self.take_path(edit, path)?;
        let changed = change(&mut nodes).and_then(|result| {
            for ((step, node), entry) in path.iter().zip(&mut nodes).zip(entries) {
                node.set_child(step.position, entry)?;
            }
            Ok(result)
        });
        self.put_path(edit, path, nodes)?;
        let result = changed?;
        self.set_root(self.header.root, root_records, total)?;
        self.save(edit);
        Ok(result)
    }

    fn insert_first(&mut self, edit: &mut Edit<'_>, record: &[u8]) -> Result<()> {
        self.set_depth(0)?;
        let root = edit.allocate(SpaceKind::BTree, self.node_bytes())?;
        self.put(edit, 0, root, Node { records: record.to_vec(), children: Vec::new() })?;
        self.set_root(root, 1, 1)?;
        self.save(edit);
        Ok(())
    }

    /// Inserts a record into a full leaf of a version 2 B-tree. The leaf is split or shares its
    /// records with a neighbour.
    fn insert_splitting(&mut self, edit: &mut Edit<'_>, path: &Path, record: &[u8]) -> Result<()> {
        Changes::run(self, edit, |tree, edit, changes| {
            let end = Edge::of(path);
            let mut changed: Option<Node> = None;
            for (index, step) in path.iter().enumerate().rev() {
                let node = if let Some(node) = changed.take() {
                    node
                } else {
                    let mut leaf = tree.copy(edit.store(), step.level, step.child)?;
                    leaf.insert(step.position, record)?;
                    leaf
                };
                let Some(up) = index.checked_sub(1).and_then(|above| path.get(above)) else {
                    return tree.put_root(edit, changes, *step, node);
                };
                let mut parent = tree.copy(edit.store(), up.level, up.child)?;
                if to_u64(node.count(tree.layout.record_size())) > tree.capacity(step.level) {
                    tree.share_or_split(edit, changes, &mut parent, up.position, (*step, node), end)?;
                } else {
                    let entry = node.entry(step.child.address, tree.layout.record_size())?;
                    parent.set_child(up.position, entry)?;
                    changes.put(step.level, step.child.address, node);
                }
                changed = Some(parent);
            }
            Ok(())
        })
    }

    /// Stores the changed root of a version 2 B-tree. Splits a root that has too many records,
    /// under a new root.
    pub(super) fn put_root(
        &mut self,
        edit: &mut Edit<'_>,
        changes: &mut Changes,
        step: Step,
        mut node: Node,
    ) -> Result<()> {
        let size = self.layout.record_size();
        let mut root = node.entry(step.child.address, size)?;
        if root.records > self.capacity(step.level) {
            // The layout refuses depths above 64.
            let level = step.level + 1;
            self.set_depth(level)?;
            self.check_two_records_fit(level)?;
            let half = node.count(size) / 2;
            let (records, right) = node.cut(half, size)?;
            let right_address = changes.allocate(self, edit)?;
            let children = vec![node.entry(root.address, size)?, right.entry(right_address, size)?];
            changes.put(step.level, right_address, right);
            let above = Node { records, children };
            let address = changes.allocate(self, edit)?;
            changes.put(step.level, root.address, node);
            root = above.entry(address, size)?;
            changes.put(level, address, above);
        } else {
            changes.put(step.level, root.address, node);
        }
        self.set_root(root.address, root.records, root.total)
    }

    /// Returns the largest number of records in a version 2 B-tree node at `level`: at most 65,535,
    /// because the header counts the records of the root in 16 bits.
    pub(super) fn capacity(&self, level: u16) -> u64 {
        let max = self.layout.max_records(level).min(u16::MAX.into());
        (max * u64::from(self.header.split_percent) / 100).clamp(2.min(max), max)
    }

    /// Returns the smallest number of records in a version 2 B-tree node at `level` that is not the
    /// root.
    pub(super) fn minimum(&self, level: u16) -> u64 {
        let max = self.layout.max_records(level).min(u16::MAX.into());
        let merge = max * u64::from(self.header.merge_percent) / 100;
        merge.clamp(1, (self.capacity(level) / 2).max(1))
    }

    /// Checks that a version 2 B-tree node at `level` can hold two records, so that the node can be
    /// split.
    pub(super) fn check_two_records_fit(&self, level: u16) -> Result<()> {
        if self.layout.max_records(level) >= 2 {
            return Ok(());
        }
        let expected = format!("enough bytes for two records at level {level}");
        Err(Error::corrupt(BTreeV2Header::NAME, "node size", expected, self.header.node_size)
            .at(self.address))
    }

    pub(super) fn set_root(&mut self, address: Address, records: u64, total: u64) -> Result<()> {
        let root_records = u16::try_from(records).map_err(|_| {
            Error::corrupt(BTreeV2Header::NAME, "number of records in root node", "at most 65535", records)
        })?;
        self.header.root = address;
        self.header.root_records = root_records;
        self.header.total_records = total;
        Ok(())
    }

    pub(super) fn set_depth(&mut self, depth: u16) -> Result<()> {
        if depth != self.header.depth {
            let header = BTreeV2Header { depth, ..self.header.clone() };
            self.layout = at(BTreeV2Layout::new(&header, self.params), self.address)?;
            self.header = header;
        }
        Ok(())
    }

    /// Stores the changed header of the version 2 B-tree.
    pub(super) fn save(&self, edit: &mut Edit<'_>) {
        edit.put(self.address, &self.params, self.header.clone());
    }

    pub(super) fn node_bytes(&self) -> u64 {
        self.header.node_size.into()
    }

    pub(super) fn check_size(&self, record: &[u8]) -> Result<()> {
        if record.len() == self.layout.record_size() {
            return Ok(());
        }
        let (got, size) = (record.len(), self.layout.record_size());
        Err(Error::Misuse(format!(
            "a record has {got} bytes, but the records of this version 2 B-tree have {size}"
        )))
    }
}

/// Returns the size of a version 2 B-tree header in bytes.
pub(super) fn header_size(params: FileParams) -> u64 {
    to_u64(BTreeV2Header::size(&params))
}

/// A change of the number of records in a version 2 B-tree by one: an insertion or a removal.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountChange {
    Insert,
    Remove,
}

impl CountChange {
    /// Applies an insertion or a removal to `count`, the number of records of a version 2 B-tree.
    /// Returns the new number.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if no tree can have `count` records before the change.
    pub(super) fn apply(self, count: u64, address: Address) -> Result<u64> {
        let (changed, expected) = match self {
            Self::Insert => (count.checked_add(1), "less than 2^64 - 1"),
            Self::Remove => (count.checked_sub(1), "at least 1"),
        };
        changed.ok_or_else(|| Error::corrupt(NODE, "number of records", expected, count).at(address))
    }
}
