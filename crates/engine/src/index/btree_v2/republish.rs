//! Changed nodes in other places: for those who read the tree while it is written, what they may look at stays as it is,
//! until the header says where the new root lies.

use hyperslab_format::btree_v2::BTreeV2Child;
use hyperslab_format::codec::Address;

use super::BTreeV2;
use crate::error::Result;
use crate::store::{Edit, SpaceKind};

impl BTreeV2 {
    /// Gives all nodes that were changed since the last flush, and those that lead to them, places that no reader knows.
    ///
    /// # Errors
    /// The errors of reading nodes and of [`Edit::allocate`].
    pub fn republish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let Some(root) = self.root() else { return Ok(()) };
        if let Some(address) = self.move_changed(edit, self.header.depth, root)? {
            self.header.root = address;
            self.save(edit);
        }
        Ok(())
    }

    /// The new place of a node, if it needs one.
    fn move_changed(&self, edit: &mut Edit<'_>, level: u16, child: BTreeV2Child) -> Result<Option<Address>> {
        let mut moved = Vec::new();
        if let Some(below) = level.checked_sub(1) {
            let children = self.keep(edit.store(), level, child)?.children().to_vec();
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
            if let Some(child) = node.children.get_mut(position) {
                child.address = address;
            }
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
