//! Reads of the nodes of a version 2 B-tree in advance.

use hyperslab_format::btree_v2::{BTreeV2Child, BTreeV2Internal, BTreeV2Leaf};
use hyperslab_format::codec::Address;

use super::{BTreeV2, NODE};
use crate::index::VisitedBlocks;
use crate::store::Store;

impl BTreeV2 {
    /// Reads the root node of the version 2 B-tree. For work in [`Store::read_ahead`]: an error is
    /// left to the read after it.
    pub fn touch_root(&self, store: &Store) {
        if let Some(root) = self.root() {
            self.touch_node(store, self.header.depth, root.address, root.records, &mut |_, _| {});
        }
    }

    /// Reads all nodes of the version 2 B-tree, and calls `visit` for each record of the nodes that
    /// can be read, in unspecified order. For work in [`Store::read_ahead`]: errors are left to the
    /// reads after it.
    pub fn touch(&self, store: &Store, visit: &mut dyn FnMut(&[u8])) {
        let mut guard = VisitedBlocks::new(store, NODE);
        let mut pending: Vec<_> = self.root().map(|root| (self.header.depth, root)).into_iter().collect();
        while let Some((level, child)) = pending.pop() {
            if guard.enter(child.address).is_err() {
                return;
            }
            self.touch_node(store, level, child.address, child.records, &mut |records, children| {
                records.chunks_exact(self.layout.record_size()).for_each(&mut *visit);
                if let Some(below) = level.checked_sub(1) {
                    pending.extend(children.iter().map(|grandchild| (below, *grandchild)));
                }
            });
        }
    }

    /// Reads a node of the version 2 B-tree, and calls `visit` with its records and children.
    fn touch_node(
        &self,
        store: &Store,
        level: u16,
        address: Address,
        records: u64,
        visit: &mut dyn FnMut(&[u8], &[BTreeV2Child]),
    ) {
        if level > 0 {
            let context = self.layout.internal(level, records).ok();
            let node = context.and_then(|context| store.shared::<BTreeV2Internal>(address, &context).ok());
            if let Some(node) = node {
                visit(&node.records, &node.children);
            }
        } else {
            let context = self.layout.leaf(records).ok();
            let leaf = context.and_then(|context| store.shared::<BTreeV2Leaf>(address, &context).ok());
            if let Some(leaf) = leaf {
                visit(&leaf.records, &[]);
            }
        }
    }
}
