//! Making a file.

use std::sync::Arc;

use hyperslab_vfd::Driver;

use super::{OpenFile, Writers};
use crate::data::transfer::Resources;
use crate::data::virtual_::VirtualOptions;
use crate::error::Result;
use crate::object::group_edit::{self, GroupOptions};
use crate::object::header::ObjectHeader;
use crate::object::open_editors::OpenEditors;
use crate::store::{CreateOptions, Store, StoreOptions};

impl OpenFile {
    /// Makes a new file in `driver`, whose bytes before are lost, with an empty root group.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if the options cannot be; those of the medium.
    pub fn create(
        driver: Arc<dyn Driver>,
        create: &CreateOptions,
        root: &GroupOptions,
        options: StoreOptions,
    ) -> Result<Self> {
        let resources = Resources::new(options.chunk_cache);
        let store = Store::create(driver, create, options)?;
        let mut container = super::open::container(store);
        container.settings.group_leaf_k = create.group_leaf_k;
        container.settings.group_internal_k = create.group_internal_k;
        container.settings.indexed_storage_k = create.indexed_storage_k;
        container.settings.file_space = create.file_space_info();
        if !create.shared_messages.is_empty() {
            let extension = ObjectHeader::load(&container.store, container.store.superblock().extension())?;
            super::open::read_shared_messages(&mut container, &extension)?;
        }
        {
            let mut edit = container.store.edit()?;
            let group = group_edit::create_group(&container, &mut edit, root)?;
            group_edit::set_root(&container, &mut edit, group)?;
        }
        Ok(Self {
            container,
            editors: OpenEditors::default(),
            resolver: None,
            virtual_options: VirtualOptions::default(),
            resources,
            writers: Writers::default(),
        })
    }
}
