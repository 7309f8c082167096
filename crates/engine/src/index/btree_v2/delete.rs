//! Taking records out of a tree, and deleting all of it.

use hyperslab_format::btree_v2::BTreeV2Child;
use smallvec::SmallVec;

use super::edit::header_size;
use super::node::{Path, Step};
use super::{BTreeV2, Compare, Walk};
use crate::error::Result;
use crate::store::{Edit, SpaceKind, Store};

/// What is done with each record of a tree that is deleted.
pub type AtDeleted<'a, 'e> = dyn FnMut(&mut Edit<'e>, &[u8]) -> Result<()> + 'a;

impl BTreeV2 {
    /// Removes the record that `compare` finds `Equal` and gives it back; `None` if there is none.
    ///
    /// # Errors
    /// The errors of `compare` and of reading nodes; nothing is changed then.
    pub fn remove(&mut self, edit: &mut Edit<'_>, compare: &mut Compare<'_>) -> Result<Option<Vec<u8>>> {
        let (mut path, found) = self.search(edit.store(), compare)?;
        if !found {
            return Ok(None);
        }
        let place = path.len().saturating_sub(1);
        self.to_leaf(edit.store(), &mut path)?;
        let Some(leaf) = path.last() else { return Ok(None) };
        let fewest = if self.header.depth == 0 { 1 } else { self.minimum(0) };
        if leaf.child.records <= fewest {
            return self.remove_merging(edit, &path, place).map(Some);
        }
        let size = self.layout.record_size();
        let mut removed = Vec::new();
        for (index, step) in path.iter().enumerate().rev() {
            let mut node = self.take(edit, step.level, step.child)?;
            if step.level == 0 {
                removed = node.remove(step.position, size);
            } else {
                if let Some(child) = node.children.get_mut(step.position) {
                    child.total = child.total.saturating_sub(1);
                    child.records = child.records.saturating_sub(u64::from(step.level == 1));
                }
                if index == place {
                    removed = node.replace(step.position, &removed);
                }
            }
            self.put(edit, step.level, step.child.address, node)?;
        }
        self.header.total_records = self.header.total_records.saturating_sub(1);
        if self.header.depth == 0 {
            self.header.root_records = self.header.root_records.saturating_sub(1);
        }
        self.save(edit);
        Ok(Some(removed))
    }

    /// Goes on from a record in an internal node to the one before it, which is the last of a leaf.
    fn to_leaf(&self, store: &Store, path: &mut Path) -> Result<()> {
        while let Some(step) = path.last().filter(|step| step.level > 0) {
            let node = self.keep(store, step.level, step.child)?;
            let child = self.child_at(&node, step.position, step.child.address)?;
            let level = step.level.saturating_sub(1);
            let last = if level == 0 { child.records.saturating_sub(1) } else { child.records };
            path.push(Step { level, child, position: usize::try_from(last).unwrap_or(usize::MAX) });
        }
        Ok(())
    }

    /// Deletes the tree: `at_record` is called for each record in no certain order, then nodes and header are freed.
    ///
    /// # Errors
    /// The errors of reading nodes, in which case nothing is changed; those of `at_record`.
    pub fn delete<'e>(self, edit: &mut Edit<'e>, at_record: &mut AtDeleted<'_, 'e>) -> Result<()> {
        let nodes = self.nodes(edit.store())?;
        let size = self.layout.record_size();
        for (level, child) in &nodes {
            let node = self.keep(edit.store(), *level, *child)?;
            for record in node.records().chunks_exact(size.max(1)) {
                at_record(edit, record)?;
            }
        }
        for (_, child) in nodes {
            edit.free(SpaceKind::BTree, child.address, self.node_bytes())?;
        }
        edit.free(SpaceKind::BTree, self.address, header_size(self.params))
    }

    /// All nodes with their levels, each checked to be there and to be visited once.
    pub(super) fn nodes(&self, store: &Store) -> Result<Vec<(u16, BTreeV2Child)>> {
        let mut guard = Walk::new(store, "version 2 B-tree");
        let mut pending: SmallVec<[(u16, BTreeV2Child); 64]> = SmallVec::new();
        pending.extend(self.root().map(|root| (self.header.depth, root)));
        let mut nodes = Vec::new();
        while let Some((level, child)) = pending.pop() {
            guard.enter(child.address)?;
            let node = self.keep(store, level, child)?;
            pending.extend(node.children().iter().map(|below| (level.saturating_sub(1), *below)));
            nodes.push((level, child));
        }
        Ok(nodes)
    }
}
