//! Open files.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::ops::{OpenFile, objects};

use crate::info::{FileInfo, FileMetadataBytes};
use crate::{Group, Object, OpenOptions, Walk};

/// A handle of an open HDF5 file. The handle dereferences to the root group. Clones share one open
/// file.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// let file = hyperslab::File::open(path)?;
/// assert!(!file.is_empty()?);
/// assert_eq!(file.info().size_of_offsets, 8);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct File {
    root: Group,
}

impl File {
    pub(crate) fn of(file: OpenFile) -> Result<Self> {
        Self::of_open(Arc::new(file))
    }

    pub(crate) fn of_open(file: Arc<OpenFile>) -> Result<Self> {
        let address = file.root();
        let root = Object::open(file, address, "/").map_err(|error| error.context("root group"))?;
        Ok(Self { root: Group::new(root)? })
    }

    /// Opens the file at `path` for reading.
    ///
    /// # Errors
    /// Returns the errors of [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// Opens a file image: the bytes of a whole HDF5 file in memory.
    ///
    /// # Errors
    /// Returns the errors of [`OpenOptions::open_bytes`].
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Self> {
        OpenOptions::new().open_bytes(bytes)
    }

    /// Returns the properties of the file that the superblock and its extension state.
    pub fn info(&self) -> FileInfo {
        FileInfo::of(&self.root.file().container)
    }

    /// Returns the sizes of metadata that belongs to the file itself and to no object, in bytes:
    /// the superblock extension, the shared messages and the stored free-space managers.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let sizes = hyperslab::File::open(path)?.metadata_bytes()?;
    /// assert_eq!(sizes.shared_heap, 0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if this metadata is damaged.
    pub fn metadata_bytes(&self) -> Result<FileMetadataBytes> {
        objects::file_bytes(&self.root.file().container)
    }

    /// Returns the name of the file as its driver states it. For a file on disk, the name is the
    /// path by which the file was opened.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// assert_eq!(hyperslab::File::open(path)?.file_name(), path);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn file_name(&self) -> &str {
        self.root.file().container.store.name()
    }

    /// Returns whether two handles belong to one open file. A second opening of the same path is
    /// another open file.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// assert!(file.is_same(&file.create_group("a")?.containing_file()?));
    /// assert!(!file.is_same(&hyperslab::FileOptions::new().create_in_memory()?));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.root.file(), other.root.file())
    }

    /// Replaces the filters that can encode and decode the chunks of this file. Other handles of
    /// the file use the new filters too.
    ///
    /// ```
    /// use hyperslab::filter::{FilterId, FilterSpec, Registry};
    ///
    /// let file = hyperslab::FileOptions::new().filters(Registry::empty()).create_in_memory()?;
    /// let new = || file.new_dataset("packed").chunks(&[2]).filter(FilterSpec::deflate(6));
    /// assert!(new().write(&[1.5, 2.5]).is_err());
    /// file.set_filters(Registry::default());
    /// new().write(&[1.5, 2.5])?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn set_filters(&self, filters: crate::filter::Registry) {
        self.root.file().container.store.set_filters(filters);
    }

    /// Returns the root group of the file.
    pub fn root(&self) -> &Group {
        &self.root
    }

    /// Returns an iterator over all objects of the file to which hard links lead. Each object
    /// occurs once.
    pub fn walk(&self) -> Walk {
        Walk::new(self)
    }
}

impl Deref for File {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.root
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = &self.root.file().container.store;
        f.debug_struct("File")
            .field("name", &store.name())
            .field("writable", &store.is_writable())
            .finish_non_exhaustive()
    }
}
