//! Creation of a file.

use std::sync::Arc;

use hyperslab_vfd::Driver;

use super::{OpenFile, extension, settings};
use crate::data::transfer::Resources;
use crate::error::Result;
use crate::object::group_edit::{self, GroupOptions};
use crate::object::header::ObjectHeader;
use crate::store::{CreateOptions, Store, StoreOptions};

impl OpenFile {
    /// Creates an HDF5 file with an empty root group in `driver`. Earlier bytes of `driver` are
    /// lost.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if the options contradict each other, and
    /// I/O errors.
    pub fn create(
        driver: Arc<dyn Driver>,
        create: &CreateOptions,
        root: &GroupOptions,
        options: StoreOptions,
    ) -> Result<Self> {
        let resources = Resources::new(options.chunk_cache).keep_whole_chunks(options.cache_whole_chunks);
        let store = Store::create(driver, create, options)?;
        let mut container = settings::container(store);
        container.settings.group_leaf_k = create.group_leaf_k;
        container.settings.group_internal_k = create.group_internal_k;
        container.settings.indexed_storage_k = create.indexed_storage_k;
        container.settings.file_space = create.file_space_info();
        if !create.shared_messages.is_empty() {
            let extension = ObjectHeader::load(&container.store, container.store.superblock().extension())?;
            extension::read_shared_messages(&mut container, &extension)?;
        }
        {
            let mut edit = container.store.edit()?;
            let group = group_edit::create_group(&container, &mut edit, root)?;
            group_edit::set_root(&container, &mut edit, group)?;
        }
        Ok(Self::of(container, resources))
    }
}
