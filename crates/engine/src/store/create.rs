//! A new file: its superblock, and nothing else yet.

use std::sync::Arc;

use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::superblock::{ConsistencyFlags, OldSuperblock, Superblock, SuperblockVersion};
use hyperslab_format::symbol_table_entry::{SymbolTableCache, SymbolTableEntry};
use hyperslab_vfd::Driver;

use super::{SpaceKind, Store, StoreOptions};
use crate::error::{Error, Result};
use crate::versions::{LibraryVersion, LibverBounds};

/// What cannot be changed in a file once it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreateOptions {
    /// Widths of addresses and lengths: 2, 4 or 8 bytes.
    pub params: FileParams,
    /// Bytes of the user block before the superblock: 0 or a power of two from 512 on.
    pub user_block: u64,
    /// Half of the entries of a symbol table node.
    pub group_leaf_k: u16,
    /// Half of the children of a group's B-tree node.
    pub group_internal_k: u16,
    /// Half of the children of a node of the B-tree of chunks.
    pub indexed_storage_k: u16,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            params: FileParams::DEFAULT,
            user_block: 0,
            group_leaf_k: Superblock::DEFAULT_GROUP_LEAF_K,
            group_internal_k: Superblock::DEFAULT_GROUP_INTERNAL_K,
            indexed_storage_k: Superblock::DEFAULT_INDEXED_STORAGE_K,
        }
    }
}

impl CreateOptions {
    fn check(&self) -> Result<()> {
        let widths = [self.params.size_of_offsets, self.params.size_of_lengths];
        if widths.iter().any(|width| ![2, 4, 8].contains(width)) {
            let [offsets, lengths] = widths;
            return Err(Error::Misuse(format!(
                "offsets of {offsets} and lengths of {lengths} bytes: they are 2, 4 or 8"
            )));
        }
        if self.user_block != 0 && (self.user_block < 512 || !self.user_block.is_power_of_two()) {
            return Err(Error::Misuse(format!(
                "a user block of {} bytes: it is 0 or a power of two from 512 on",
                self.user_block
            )));
        }
        if [self.group_leaf_k, self.group_internal_k, self.indexed_storage_k].contains(&0) {
            return Err(Error::Misuse("ranks of B-trees are 1 at least".into()));
        }
        Ok(())
    }

    /// The superblock of a file without objects. The root group is not there yet.
    fn superblock(&self, bounds: LibverBounds) -> Superblock {
        let version = if bounds.prefers(LibraryVersion::V18) {
            let version = if bounds.prefers(LibraryVersion::V110) { 3 } else { 2 };
            SuperblockVersion::New { version, extension: Address::UNDEFINED, root: Address::UNDEFINED }
        } else {
            let other_k = self.indexed_storage_k != Superblock::DEFAULT_INDEXED_STORAGE_K;
            let cache = SymbolTableCache::Nothing;
            SuperblockVersion::Old(OldSuperblock {
                indexed_storage_k: other_k.then_some(self.indexed_storage_k),
                group_leaf_k: self.group_leaf_k,
                group_internal_k: self.group_internal_k,
                free_space: Address::UNDEFINED,
                driver_info: Address::UNDEFINED,
                root: SymbolTableEntry { name_offset: 0, header: Address::UNDEFINED, cache },
            })
        };
        Superblock {
            params: self.params,
            consistency: ConsistencyFlags::empty(),
            base_address: self.user_block,
            end_of_file: Address::new(self.user_block),
            version,
        }
    }
}

impl Store {
    /// Makes a new file in `driver`, whose bytes before are lost. It has no root group yet.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the options cannot be or the driver is read-only, [`Error::Io`].
    pub fn create(
        driver: Arc<dyn Driver>,
        create: &CreateOptions,
        mut options: StoreOptions,
    ) -> Result<Self> {
        create.check()?;
        if driver.is_read_only() {
            return Err(Error::Misuse(format!("`{}` can only be read", driver.name())));
        }
        let bounds = options.write.unwrap_or_default();
        options.write = Some(bounds);
        driver.set_len(0).map_err(|source| Error::Io { action: "cannot empty the file".into(), source })?;
        let superblock = create.superblock(bounds);
        let length = superblock.encode()?.len() as u64;
        let store = Self::assemble(driver, superblock, create.user_block, (0, 0), options);
        let mut edit = store.edit()?;
        edit.allocate(SpaceKind::Superblock, length)?;
        edit.change_superblock(|_| ())?;
        drop(edit);
        Ok(store)
    }
}
