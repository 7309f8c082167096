//! Removal of records from a version 2 B-tree, and deletion of a whole tree.

use hyperslab_exact::to_usize;
use hyperslab_format::btree_v2::BTreeV2Child;
use smallvec::SmallVec;

use super::edit::{CountChange, header_size};
use super::node::{Path, Step, outside};
use super::{BTreeV2, Compare, NODE, VisitedBlocks};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

/// A function that the deletion of a version 2 B-tree calls for each record, with the bytes of the
/// record.
pub type AtDeleted<'a, 'e> = dyn FnMut(&mut Edit<'e>, &[u8]) -> Result<()> + 'a;

impl BTreeV2 {
    /// Removes the version 2 B-tree record for which `compare` returns `Equal`. Returns the bytes
    /// of the record, or `None` if the B-tree has no such record.
    ///
    /// # Errors
    /// Returns the errors of `compare`, read errors, and [`Error::Corrupt`] if a count of records
    /// cannot be right. The tree is unchanged then.
    pub fn remove(&mut self, edit: &mut Edit<'_>, compare: &mut Compare<'_>) -> Result<Option<Vec<u8>>> {
        let (mut path, found) = self.search(edit.store(), compare)?;
        let Some(found) = path.len().checked_sub(1).filter(|_| found) else { return Ok(None) };
        CountChange::Remove.apply(self.header.total_records, self.address)?;
        self.extend_to_leaf(edit.store(), &mut path)?;
        let leaf = path.last().copied().ok_or_else(outside)?;
        let fewest = if self.header.depth == 0 { 1 } else { self.minimum(0) };
        if leaf.child.records <= fewest {
            return self.remove_merging(edit, &path, found).map(Some);
        }
        let size = self.layout.record_size();
        let removed = self.change_path(edit, &path, CountChange::Remove, |nodes| {
            let removed = nodes.last_mut().ok_or_else(outside)?.remove(leaf.position, size)?;
            match (path.get(found), nodes.get_mut(found)) {
                // The last record of the leaf replaces the removed record of the internal node.
                (Some(step), Some(node)) if step.level > 0 => node.replace(step.position, &removed),
                _ => Ok(removed),
            }
        })?;
        Ok(Some(removed))
    }

    /// Extends a path that ends at a record of an internal node of a version 2 B-tree. The new end
    /// of the path is the record before it, which is the last record of a leaf.
    fn extend_to_leaf(&self, store: &Store, path: &mut Path) -> Result<()> {
        while let Some(step) = path.last().filter(|step| step.level > 0) {
            let node = self.node(store, step.level, step.child)?;
            let child = self.child_at(&node, step.position, step.child.address)?;
            let level = step.level - 1;
            let last = if level == 0 { child.records.checked_sub(1) } else { Some(child.records) };
            let last = last.ok_or_else(|| {
                Error::corrupt(NODE, "number of records", "at least 1 in a leaf", 0).at(child.address)
            })?;
            path.push(Step { level, child, position: to_usize(last)? });
        }
        Ok(())
    }

    /// Deletes the version 2 B-tree: calls `at_record` for each record in unspecified order, then
    /// frees the nodes and the header.
    ///
    /// # Errors
    /// Returns read errors, with the tree unchanged, and the errors of `at_record`.
    pub fn delete<'e>(self, edit: &mut Edit<'e>, at_record: &mut AtDeleted<'_, 'e>) -> Result<()> {
        let nodes = self.nodes(edit.store())?;
        for (level, child) in &nodes {
            let node = self.node(edit.store(), *level, *child)?;
            for record in node.records().chunks_exact(self.layout.record_size()) {
                at_record(edit, record)?;
            }
        }
        for (_, child) in nodes {
            edit.free(SpaceKind::BTree, child.address, self.node_bytes())?;
        }
        edit.free(SpaceKind::BTree, self.address, header_size(self.params))
    }

    /// Returns all nodes of a version 2 B-tree with their levels. Reads each node, and returns an
    /// error if the B-tree leads to a node twice.
    pub(super) fn nodes(&self, store: &Store) -> Result<Vec<(u16, BTreeV2Child)>> {
        let mut guard = VisitedBlocks::new(store, "version 2 B-tree");
        let mut unvisited: SmallVec<[(u16, BTreeV2Child); 64]> = SmallVec::new();
        unvisited.extend(self.root().map(|root| (self.header.depth, root)));
        let mut nodes = Vec::new();
        while let Some((level, child)) = unvisited.pop() {
            guard.enter(child.address)?;
            let node = self.node(store, level, child)?;
            if let Some(below) = level.checked_sub(1) {
                unvisited.extend(node.children().iter().map(|child| (below, *child)));
            }
            nodes.push((level, child));
        }
        Ok(nodes)
    }
}
