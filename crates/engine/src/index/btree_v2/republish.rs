//! Copy-on-write of changed nodes for SWMR: a SWMR reader sees the old nodes until the header has
//! the address of the new root.

use hyperslab_format::btree_v2::BTreeV2Child;
use hyperslab_format::codec::Address;

use super::BTreeV2;
use super::node::outside;
use crate::error::Result;
use crate::store::{Edit, SpaceKind};

impl BTreeV2 {
    /// Moves changed nodes of the version 2 B-tree, and the nodes above them, to new addresses. A
    /// node is changed if it has changed since the last flush. SWMR readers then see either the old
    /// nodes or the new nodes.
    ///
    /// # Errors
    /// Returns read errors, and the errors of [`Edit::allocate`].
    pub fn republish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let Some(root) = self.root() else { return Ok(()) };
        if let Some(address) = self.move_changed(edit, self.header.depth, root)? {
            self.header.root = address;
            self.save(edit);
        }
        Ok(())
    }

    /// Moves a version 2 B-tree node to a new address if the node or a node below it has changed
    /// since the last flush. Returns the new address.
    fn move_changed(&self, edit: &mut Edit<'_>, level: u16, child: BTreeV2Child) -> Result<Option<Address>> {
        let mut moved = Vec::new();
        if let Some(below) = level.checked_sub(1) {
            let children = self.node(edit.store(), level, child)?.children().to_vec();
            for (position, child) in children.into_iter().enumerate() {
                if let Some(address) = self.move_changed(edit, below, child)? {
                    moved.push((position, address));
                }
            }
        }
        let (old, new) = (child.address, edit.is_new(child.address));
        if moved.is_empty() && (new || !edit.is_changed(old)) {
            return Ok(None);
        }
        let mut node = self.take(edit, level, child)?;
        for (position, address) in moved {
            node.children.get_mut(position).ok_or_else(outside)?.address = address;
        }
        if new {
            return self.put(edit, level, old, node).map(|()| None);
        }
        let address = edit.allocate(SpaceKind::BTree, self.node_bytes())?;
        edit.free(SpaceKind::BTree, old, self.node_bytes())?;
        self.put(edit, level, address, node)?;
        Ok(Some(address))
    }
}
