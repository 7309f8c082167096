//! Opening a file: superblock, superblock extension, shared messages.

use std::fmt;
use std::sync::Arc;

use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    BTreeK, FileSpaceInfo, MessageFlags, MessageType, MetadataCacheImage, SharedMessageTable,
};
use hyperslab_format::superblock::{Superblock, SuperblockVersion};
use hyperslab_vfd::Driver;

use super::{Writers, members};
use crate::data::transfer::{ReadContext, Resources};
use crate::data::virtual_::VirtualOptions;
use crate::error::{Error, Result};
use crate::index::shared_messages::SharedMessages;
use crate::object::container::{Container, FileSettings};
use crate::object::header::ObjectHeader;
use crate::object::header_edit::HeaderEditor;
use crate::object::open_editors::OpenEditors;
use crate::object::{message, sharing};
use crate::store::{SpaceKind, Store, StoreOptions};

/// Opens the other files that links and datasets lead to.
pub trait FileResolver: Send + Sync + fmt::Debug {
    /// Opens the file of that name, as the link has it.
    ///
    /// # Errors
    /// If there is no such file, or it may not be opened.
    fn open(&self, name: &[u8]) -> Result<Arc<OpenFile>>;

    /// Opens the file of that name to change what it holds.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if it may not be changed.
    fn open_to_write(&self, name: &[u8]) -> Result<Arc<OpenFile>> {
        let name = String::from_utf8_lossy(name);
        Err(Error::unsupported(format!("writing to the file `{name}`")))
    }

    /// Returns whether that is a name of the file itself with the link.
    fn is_own(&self, _name: &[u8]) -> bool {
        false
    }

    /// Opens a file of raw data by the name that a dataset has for it.
    ///
    /// # Errors
    /// If there is no such file, or it may not be opened.
    fn open_raw(&self, name: &[u8]) -> Result<Arc<dyn Driver>>;

    /// Opens a file of raw data to write to it; makes it if there is none.
    ///
    /// # Errors
    /// If it may not be opened or made.
    fn open_raw_to_write(&self, name: &[u8]) -> Result<Arc<dyn Driver>> {
        let name = String::from_utf8_lossy(name);
        Err(Error::unsupported(format!("writing to the external file `{name}`")))
    }
}

/// An open file.
#[derive(Debug)]
pub struct OpenFile {
    /// Bytes, shared messages and settings.
    pub container: Container,
    /// The object and the group that stay open between changes.
    pub(super) editors: OpenEditors,
    /// Opens the other files that links lead to; without one they are refused.
    pub resolver: Option<Arc<dyn FileResolver>>,
    /// How virtual datasets are seen.
    pub virtual_options: VirtualOptions,
    /// What reads of raw data share.
    pub resources: Resources,
    /// Datasets that are being written.
    pub writers: Writers,
}

impl OpenFile {
    /// Opens the file that `driver` holds, for reading.
    pub fn open(driver: Arc<dyn Driver>, options: StoreOptions) -> Result<Self> {
        // Who follows a writer keeps nothing: it may be out of date when it is asked for.
        let follows = options.swmr_read && options.write.is_none();
        let resources = Resources::new(if follows { 0 } else { options.chunk_cache });
        let store = Store::open(driver, options)?;
        let said = members::in_block(&store).and_then(|said| {
            members::check(&said, &store)?;
            members::assign_by_block(&said, &store);
            Ok(())
        });
        store.forgive(said)?;
        let extension = store.superblock().extension();
        let mut container = container(store);
        if extension.is_defined() {
            let read = read_extension(&mut container, extension)
                .map_err(|error| error.context("superblock extension"));
            container.store.forgive(read)?;
        }
        let file = Self {
            container,
            editors: OpenEditors::default(),
            resolver: None,
            virtual_options: VirtualOptions::default(),
            resources,
            writers: Writers::default(),
        };
        file.free_left_unlinked()?;
        Ok(file)
    }

    /// The same file, with the way to others.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn FileResolver>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// The same file, where virtual datasets are seen so.
    #[must_use]
    pub fn with_virtual_options(mut self, options: VirtualOptions) -> Self {
        self.virtual_options = options;
        self
    }

    /// Returns the bytes and the caches for reads of raw data.
    pub fn read_context(&self) -> ReadContext<'_> {
        ReadContext { store: &self.container.store, resources: &self.resources }
    }

    /// Opens another file that a link of this one names.
    ///
    /// # Errors
    /// If there is no way to other files, or it refuses this one.
    pub fn other(&self, name: &[u8]) -> Result<Arc<Self>> {
        match &self.resolver {
            Some(resolver) => resolver.open(name),
            None => Err(Error::Misuse("links to other files are not followed".into())),
        }
    }

    /// Address of the root group's object header.
    pub fn root(&self) -> Address {
        self.container.store.superblock().root()
    }
}

/// The store with what its superblock says.
pub(super) fn container(store: Store) -> Container {
    let settings = settings_of(&store.superblock());
    Container::new(store, settings)
}

fn settings_of(superblock: &Superblock) -> FileSettings {
    let (leaf, internal, indexed) = match &superblock.version {
        SuperblockVersion::Old(old) => (old.group_leaf_k, old.group_internal_k, old.indexed_storage_k),
        SuperblockVersion::New { .. } => {
            (Superblock::DEFAULT_GROUP_LEAF_K, Superblock::DEFAULT_GROUP_INTERNAL_K, None)
        }
    };
    FileSettings {
        group_leaf_k: leaf,
        group_internal_k: internal,
        indexed_storage_k: indexed.unwrap_or(Superblock::DEFAULT_INDEXED_STORAGE_K),
        file_space: None,
        cache_image: None,
    }
}

fn read_extension(container: &mut Container, address: Address) -> Result<()> {
    let mut header = ObjectHeader::load(&container.store, address)?;
    let said = members::in_message(container, &header)?;
    members::check(&said, &container.store)?;
    // The image comes first: it may hold blocks that are read here.
    let image = message::find::<MetadataCacheImage>(container, &header)?;
    let image = image.filter(|image| image.address.is_defined());
    if let Some(image) = image {
        container.store.overlay(image.address, image.length)?;
        if container.store.is_writable() {
            drop(header);
            dissolve_image(container, address)?;
            header = ObjectHeader::load(&container.store, address)?;
        } else {
            container.settings.cache_image = Some(image.length);
        }
    }
    members::assign_by_message(&said, &container.store, &header);
    if let Some(k) = message::find::<BTreeK>(container, &header)? {
        container.settings.group_leaf_k = k.group_leaf;
        container.settings.group_internal_k = k.group_internal;
        container.settings.indexed_storage_k = k.chunk_internal;
    }
    // Marked so, it was written before somebody changed the file who did not know what it says.
    let stated = header.find(MessageType::FILE_SPACE_INFO);
    if let Some(stated) = stated.filter(|message| !message.flags.contains(MessageFlags::WAS_UNKNOWN)) {
        container.settings.file_space = message::find::<FileSpaceInfo>(container, &header)?;
        let place = header.place(stated).filter(|_| !stated.flags.contains(MessageFlags::SHARED));
        if let Some((info, place)) = container.settings.file_space.zip(place) {
            container.store.manage_space(info, place)?;
        }
    }
    if let Some(image) = image.filter(|_| container.store.is_writable()) {
        container.store.edit()?.free(SpaceKind::ObjectHeader, image.address, image.length)?;
    }
    read_shared_messages(container, &header)
}

/// Puts the blocks of a metadata cache image to their places: once the file is changed, the image would hide what
/// those become. The message that leads to it goes.
fn dissolve_image(container: &mut Container, extension: Address) -> Result<()> {
    let blocks = container.store.end_overlay();
    let mut edit = container.store.edit()?;
    for (address, block) in blocks {
        edit.write(address, &block, "block of the metadata cache image")?;
    }
    let mut header = HeaderEditor::load(edit.store(), extension)?;
    header.remove_messages(MessageType::METADATA_CACHE_IMAGE, |_| true)?;
    header.save(&mut edit)
}

/// What the extension says of shared messages.
pub(super) fn read_shared_messages(container: &mut Container, extension: &ObjectHeader) -> Result<()> {
    if let Some(table) = message::find::<SharedMessageTable>(container, extension)? {
        let (address, indexes) = (table.table, table.index_count);
        let shared = SharedMessages::open(&container.store, address, indexes, sharing::message_in_header)?;
        container.shared_messages = Some(shared);
    }
    Ok(())
}
