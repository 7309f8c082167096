//! The open file, and the resolver of other files.

use std::path::Path;
use std::sync::Arc;

use hyperslab_format::codec::Address;
use hyperslab_vfd::Driver;

use super::dataset_access::{DatasetAccess, RawFolders};
use super::dataset_writer::WriterContext;
use super::raw_files::RawFileResolver;
use super::writer_table::Writers;
use super::{extension, members, settings};
use crate::data::transfer::{ReadContext, Resources};
use crate::data::virtual_::VirtualOptions;
use crate::error::{Error, Result};
use crate::object::container::Container;
use crate::object::open_editors::OpenEditors;
use crate::store::{Store, StoreOptions};

/// A trait of resolvers that open the other files that links and datasets name.
pub trait FileResolver: RawFileResolver {
    /// Opens the HDF5 file with the name `name` for reading. A link or a dataset refers to the file
    /// by this name. The search begins with the folder `first`.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or must not be opened.
    fn open(&self, name: &[u8], first: Option<&Path>) -> Result<Arc<OpenFile>>;

    /// Opens the HDF5 file with the name `name` for writing. A link or a dataset refers to the file
    /// by this name.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if the file must not be changed.
    fn open_to_write(&self, name: &[u8], _first: Option<&Path>) -> Result<Arc<OpenFile>> {
        let name = String::from_utf8_lossy(name);
        Err(Error::unsupported(format!("writing to the file `{name}`")))
    }

    /// Adds a folder to the search for files that links and datasets name. The search begins with
    /// this folder.
    fn search_first(&self, folder: &Path) {
        let _ = folder;
    }

    /// Returns whether the file name `name` in a link refers to the file that contains the link.
    fn is_own(&self, _name: &[u8], _first: Option<&Path>) -> bool {
        false
    }

    /// Returns the HDF5 file with the name `name` if the program has it open. The resolver of file
    /// names does not keep or close this file.
    fn find_open(&self, _name: &[u8], _first: Option<&Path>) -> Option<Arc<OpenFile>> {
        None
    }

    /// Stores the dirty chunks of the files that the program has open for writing.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    fn flush_open(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the generation of the open files: a number that changes when the program opens or
    /// closes a file.
    fn generation(&self) -> u64 {
        0
    }
}

/// An open HDF5 file, with its caches, open editors and dataset writers.
#[derive(Debug)]
pub struct OpenFile {
    /// The store, the shared messages and the settings of the file.
    pub container: Container,
    /// The open editors of the object and of the group that were changed last.
    pub(super) editors: OpenEditors,
    /// Opens the other files that links name. Without a resolver, such links are errors.
    pub(super) resolver: Option<Arc<dyn FileResolver>>,
    /// The resolver for files of external storage, which is the same value as `resolver`.
    raw_files: Option<Arc<dyn RawFileResolver>>,
    /// The folders of external raw data files that the program chose for open datasets.
    pub(super) raw_folders: Arc<RawFolders>,
    /// The options for reading virtual datasets.
    pub virtual_options: VirtualOptions,
    /// The caches that reads of raw data share.
    pub resources: Resources,
    /// The datasets that are being written.
    pub writers: Writers,
}

impl OpenFile {
    /// Opens the HDF5 file that `driver` stores.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the superblock, its extension or the driver information is
    /// damaged, and I/O errors.
    pub fn open(driver: Arc<dyn Driver>, options: StoreOptions) -> Result<Self> {
        // A SWMR reader caches no chunks: a cached chunk may be out of date at the next read.
        let follows = options.swmr_read && options.write.is_none();
        let resources = Resources::new(if follows { 0 } else { options.chunk_cache })
            .keep_whole_chunks(options.cache_whole_chunks);
        let store = Store::open(driver, options)?;
        let stated = members::in_block(&store).and_then(|stated| {
            members::check(&stated, &store)?;
            members::assign_by_block(&stated, &store);
            Ok(())
        });
        store.forgive(stated)?;
        let address = store.superblock().extension();
        let mut container = settings::container(store);
        if address.is_defined() {
            let read = extension::read(&mut container, address)
                .map_err(|error| error.context("superblock extension"));
            container.store.forgive(read)?;
        }
        let file = Self::of(container, resources);
        file.free_left_unlinked()?;
        Ok(file)
    }

    /// Creates an open file without a resolver of file names and without dataset writers.
    pub(super) fn of(container: Container, resources: Resources) -> Self {
        Self {
            container,
            editors: OpenEditors::default(),
            resolver: None,
            raw_files: None,
            raw_folders: Arc::default(),
            virtual_options: VirtualOptions::default(),
            resources,
            writers: Writers::default(),
        }
    }

    /// Returns the open file with a resolver that opens the other files that links and datasets
    /// name.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn FileResolver>) -> Self {
        self.raw_files = Some(Arc::<_>::clone(&resolver) as Arc<dyn RawFileResolver>);
        self.resolver = Some(resolver);
        self
    }

    /// Returns the open file with options for reads of virtual datasets.
    #[must_use]
    pub fn with_virtual_options(mut self, options: VirtualOptions) -> Self {
        self.virtual_options = options;
        self
    }

    /// Returns the store and the caches of the open file for reads of raw data.
    pub fn read_context(&self) -> ReadContext<'_> {
        ReadContext { store: &self.container.store, resources: &self.resources }
    }

    /// Returns the open file's resolver of external raw data files.
    pub(super) fn raw_files(&self) -> Option<&Arc<dyn RawFileResolver>> {
        self.raw_files.as_ref()
    }

    /// Returns the resources of the open file that dataset writers use.
    pub(super) fn writer_context(&self) -> WriterContext<'_> {
        WriterContext {
            container: &self.container,
            editors: &self.editors,
            resources: &self.resources,
            raw_files: self.raw_files.as_ref(),
            raw_folders: &self.raw_folders,
        }
    }

    /// Opens another HDF5 file that a link of this file names.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file has no resolver, and the resolver's errors.
    pub fn other(&self, name: &[u8]) -> Result<Arc<Self>> {
        self.other_in(name, None)
    }

    /// Opens another HDF5 file that a dataset of this file names. The search begins with the folder
    /// `first`.
    ///
    /// # Errors
    /// As [`other`](Self::other).
    pub(super) fn other_in(&self, name: &[u8], first: Option<&Path>) -> Result<Arc<Self>> {
        match &self.resolver {
            Some(resolver) => resolver.open(name, first),
            None => Err(Error::Misuse(
                "this file was opened without a way to open other files, so links to other files cannot be \
                 followed"
                    .into(),
            )),
        }
    }

    /// Adds a folder to the search for files that links and datasets of this file name. The search
    /// begins with this folder.
    pub fn search_first(&self, folder: &Path) {
        if let Some(resolver) = &self.resolver {
            resolver.search_first(folder);
        }
    }

    /// Registers the access to a dataset, for which the caller holds a handle. Writes to external
    /// raw data files use the folder of the access as long as the result exists.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset is open with another folder of external raw data
    /// files.
    pub fn hold_access(&self, dataset: Address, access: DatasetAccess) -> Result<Arc<DatasetAccess>> {
        let access = Arc::new(access);
        if access.raw_folder.is_some() {
            self.raw_folders.add(dataset, &access)?;
        }
        Ok(access)
    }

    /// Returns the address of the object header of the open file's root group.
    pub fn root(&self) -> Address {
        self.container.store.superblock().root()
    }
}
