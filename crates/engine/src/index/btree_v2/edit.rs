//! Making a tree, and putting records into it.

use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::codec::{Address, FileParams, Structure as _};

use super::balance::Changes;
use super::node::{Edge, Node, Path, Step};
use super::{BTreeV2, BTreeV2Layout, Compare};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store, at};

/// What a tree is made with, and keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeV2Creation {
    /// One of [`types`](hyperslab_format::btree_v2::records::types).
    pub record_type: u8,
    /// Bytes of a record.
    pub record_size: u16,
    /// Bytes of a node.
    pub node_size: u32,
    /// How full a node may be, in percent.
    pub split_percent: u8,
    /// How full a node must be, in percent; at most half of the other.
    pub merge_percent: u8,
}

impl BTreeV2Creation {
    /// A tree as libhdf5 makes them for everything but chunks: nodes of 512 bytes.
    pub fn new(record_type: u8, record_size: u16) -> Self {
        Self { record_type, record_size, node_size: 512, split_percent: 100, merge_percent: 40 }
    }
}

impl BTreeV2 {
    /// Makes an empty tree, which can be changed at once. Its [`address`](Self::address) is what refers to it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if nodes of that size do not hold two records; as [`Edit::allocate`].
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
        tree.check_room(0)?;
        tree.address = edit.allocate(SpaceKind::BTree, header_size(params))?;
        tree.save(edit);
        Ok(tree)
    }

    /// The tree whose header lies at `address`, to be changed. There is to be one at a time of each tree; it can
    /// be kept over many changes.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn edit(edit: &Edit<'_>, address: Address) -> Result<Self> {
        Self::of_store(edit.store(), address)
    }

    /// As [`edit`](Self::edit), before there is an edit.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_store(store: &Store, address: Address) -> Result<Self> {
        let params = store.params();
        let header = store.shared::<BTreeV2Header>(address, &params)?;
        Self::of((*header).clone(), params, address)
    }

    /// Inserts a record where `compare` says, which finds no record `Equal`. `false`, and nothing is changed, if it
    /// does.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the record is not of the tree's size; those of `compare`, of reading nodes and of
    /// [`Edit::allocate`], and nothing is changed then.
    pub fn insert(&mut self, edit: &mut Edit<'_>, record: &[u8], compare: &mut Compare<'_>) -> Result<bool> {
        self.check_size(record)?;
        let (path, found) = self.search(edit.store(), compare)?;
        if !found {
            self.insert_at(edit, &path, record)?;
        }
        Ok(!found)
    }

    /// Inserts a record, or puts it in the place of the one that `compare` finds `Equal`, which is given back.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
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
                Ok(Some(before))
            }
            None => self.insert_at(edit, &path, record).map(|()| None),
        }
    }

    /// Changes the record that `compare` finds `Equal` in its place, which its order must not leave; `None` if
    /// there is none.
    ///
    /// # Errors
    /// The errors of `compare` and of reading nodes; nothing is changed then.
    pub fn modify<R>(
        &mut self,
        edit: &mut Edit<'_>,
        compare: &mut Compare<'_>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Option<R>> {
        let (path, found) = self.search(edit.store(), compare)?;
        let Some(step) = path.last().filter(|_| found) else { return Ok(None) };
        let mut node = self.take(edit, step.level, step.child)?;
        let size = self.layout.record_size();
        let start = step.position.saturating_mul(size);
        let result = node.records.get_mut(start..start.saturating_add(size)).map(change);
        self.put(edit, step.level, step.child.address, node)?;
        Ok(result)
    }

    /// Puts a record at the end of a way down.
    fn insert_at(&mut self, edit: &mut Edit<'_>, path: &Path, record: &[u8]) -> Result<()> {
        let Some(leaf) = path.last() else { return self.insert_first(edit, record) };
        if self.header.total_records == u64::MAX {
            return Err(Error::Misuse("a version 2 B-tree of 2^64 records".into()));
        }
        if leaf.child.records >= self.capacity(0) {
            return self.insert_splitting(edit, path, record);
        }
        for step in path.iter().rev() {
            let mut node = self.take(edit, step.level, step.child)?;
            if step.level == 0 {
                node.insert(step.position, record);
            } else if let Some(child) = node.children.get_mut(step.position) {
                child.total = child.total.saturating_add(1);
                child.records = child.records.saturating_add(u64::from(step.level == 1));
            }
            self.put(edit, step.level, step.child.address, node)?;
        }
        self.header.total_records = self.header.total_records.saturating_add(1);
        if self.header.depth == 0 {
            self.header.root_records = self.header.root_records.saturating_add(1);
        }
        self.save(edit);
        Ok(())
    }

    fn insert_first(&mut self, edit: &mut Edit<'_>, record: &[u8]) -> Result<()> {
        self.set_depth(0)?;
        let root = edit.allocate(SpaceKind::BTree, self.node_bytes())?;
        self.put(edit, 0, root, Node { records: record.to_vec(), children: Vec::new() })?;
        self.set_root(root, 1, 1)?;
        self.save(edit);
        Ok(())
    }

    /// Inserts into a full leaf.
    fn insert_splitting(&mut self, edit: &mut Edit<'_>, path: &Path, record: &[u8]) -> Result<()> {
        Changes::run(self, edit, |tree, edit, changes| {
            let end = Edge::of(path);
            let mut changed: Option<Node> = None;
            for (index, step) in path.iter().enumerate().rev() {
                let mut node = if let Some(node) = changed.take() {
                    node
                } else {
                    let mut leaf = tree.copy(edit.store(), step.level, step.child)?;
                    leaf.insert(step.position, record);
                    leaf
                };
                let Some(up) = index.checked_sub(1).and_then(|above| path.get(above)) else {
                    return tree.settle_root(edit, changes, *step, node);
                };
                let mut parent = tree.copy(edit.store(), up.level, up.child)?;
                if node.count(tree.layout.record_size()) as u64 > tree.capacity(step.level) {
                    tree.relieve(edit, changes, &mut parent, up.position, (*step, node), end)?;
                } else {
                    parent.set_child(up.position, node.entry(step.child.address, tree.layout.record_size()));
                    changes.put(step.level, step.child.address, std::mem::take(&mut node));
                }
                changed = Some(parent);
            }
            Ok(())
        })
    }

    /// The root after a change below it or in it.
    pub(super) fn settle_root(
        &mut self,
        edit: &mut Edit<'_>,
        changes: &mut Changes,
        step: Step,
        mut node: Node,
    ) -> Result<()> {
        let size = self.layout.record_size();
        let mut root = node.entry(step.child.address, size);
        if root.records > self.capacity(step.level) {
            let level = step.level.saturating_add(1);
            self.set_depth(level)?;
            self.check_room(level)?;
            let half = node.count(size) / 2;
            let (records, right) = node.cut(half, size);
            let right_address = changes.allocate(self, edit)?;
            let children = vec![node.entry(root.address, size), right.entry(right_address, size)];
            changes.put(step.level, right_address, right);
            let above = Node { records, children };
            let address = changes.allocate(self, edit)?;
            changes.put(step.level, root.address, node);
            root = above.entry(address, size);
            changes.put(level, address, above);
        } else {
            changes.put(step.level, root.address, node);
        }
        self.set_root(root.address, root.records, root.total)
    }

    /// Most records that a node at `level` may keep.
    pub(super) fn capacity(&self, level: u16) -> u64 {
        let max = self.layout.max_records(level);
        max.saturating_mul(self.header.split_percent.into())
            .checked_div(100)
            .unwrap_or(0)
            .clamp(2.min(max), max)
    }

    /// Fewest records that a node at `level` may keep, if it is not the root.
    pub(super) fn minimum(&self, level: u16) -> u64 {
        let merge = self.layout.max_records(level).saturating_mul(self.header.merge_percent.into());
        merge.checked_div(100).unwrap_or(0).clamp(1, (self.capacity(level) / 2).max(1))
    }

    /// That nodes at `level` can be split.
    pub(super) fn check_room(&self, level: u16) -> Result<()> {
        if self.layout.max_records(level) >= 2 {
            return Ok(());
        }
        let expected = format!("room for two records at level {level}");
        Err(Error::corrupt(BTreeV2Header::NAME, "node size", expected, self.header.node_size)
            .at(self.address))
    }

    pub(super) fn set_root(&mut self, address: Address, records: u64, total: u64) -> Result<()> {
        self.header.root = address;
        self.header.total_records = total;
        self.header.root_records = u16::try_from(records).map_err(|_| {
            Error::corrupt(BTreeV2Header::NAME, "node size", "at most 65535 records in a node", records)
        })?;
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

    /// Puts the header in its place.
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
            "a record of {got} bytes for a version 2 B-tree of records of {size} bytes"
        )))
    }
}

/// Bytes of a tree's header.
pub(super) fn header_size(params: FileParams) -> u64 {
    BTreeV2Header::size(&params) as u64
}
