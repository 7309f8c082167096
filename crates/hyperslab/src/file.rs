//! Files.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::datasets::{VirtualOptions, VirtualView};
use hyperslab_engine::store::{Durability, FileLocking, StoreOptions};
use hyperslab_engine::{ErrorKind, LibverBounds, Limits, Result};
use hyperslab_filter::Registry;
use hyperslab_vfd::{AccessLog, Core, Driver, SideFile};

use crate::driver::{FileDriver, Opener};
use crate::external::{Beside, ExternalFiles};
use crate::info::FileInfo;
use crate::locking::choose;
use crate::{Group, Object, Walk};

/// An open HDF5 file. It is used like its root group; clones share one open file.
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

/// How to open a file.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// let file = hyperslab::OpenOptions::new().swmr_read(true).open(path)?;
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    store: StoreOptions,
    libver: Option<LibverBounds>,
    driver: FileDriver,
    log: Option<Arc<AccessLog>>,
    external: ExternalFiles,
    raw_folder: Option<PathBuf>,
    virtual_options: VirtualOptions,
    locking: Option<FileLocking>,
    swmr_write: bool,
}

impl OpenOptions {
    /// For reading, with the built-in filters and limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// How the bytes are reached; found out from the file by default.
    #[must_use]
    pub fn driver(mut self, driver: FileDriver) -> Self {
        self.driver = driver;
        self
    }

    /// Counts what is read of the file (not of other files that it leads to).
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use std::sync::Arc;
    /// let log = Arc::new(hyperslab::vfd::AccessLog::new());
    /// let file = hyperslab::OpenOptions::new().access_log(Arc::clone(&log)).open(path)?;
    /// assert!(log.report().reads.calls > 0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn access_log(mut self, log: Arc<AccessLog>) -> Self {
        self.log = Some(log);
        self
    }

    /// Opens the file for writing as well.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("some.h5");
    /// # hyperslab::File::create(&path)?.close()?;
    /// let file = hyperslab::OpenOptions::new().write(true).open(&path)?;
    /// file.create_group("new")?;
    /// file.close()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn write(mut self, yes: bool) -> Self {
        self.store.write = yes.then(|| self.libver.unwrap_or(LibverBounds::DEFAULT));
        self
    }

    /// Sets the versions of the library that shall read what is written: [`LibverBounds::DEFAULT`] unless told otherwise.
    /// Has no effect on a file that is open for reading only.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("some.h5");
    /// # hyperslab::File::create(&path)?.close()?;
    /// use hyperslab::{LibraryVersion, LibverBounds, OpenOptions};
    /// let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?;
    /// let file = OpenOptions::new().write(true).libver(bounds).open(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.libver = Some(bounds);
        self.store.write = self.store.write.map(|_| bounds);
        self
    }

    /// Reads a file that a writer has open for single-writer/multiple-reader access. What is known of objects stays as it is until
    /// [`File::refresh`] or [`Dataset::refresh`](crate::Dataset::refresh). Nothing else is kept in memory, so that every read goes
    /// to the file, and a block that is just being written is read again. The file is locked only while it is opened.
    #[must_use]
    pub fn swmr_read(mut self, yes: bool) -> Self {
        self.store.swmr_read = yes;
        self
    }

    /// Writes to the file while others read it, as [`File::start_swmr_write`]. [`libver`](Self::libver) says in which versions; [`write`](Self::write)
    /// need not be called.
    #[must_use]
    pub fn swmr_write(mut self, yes: bool) -> Self {
        self.swmr_write = yes;
        self
    }

    /// Opens a file although it is marked as open for writing, or shorter than it says; what is missing gives
    /// errors where it is used.
    #[must_use]
    pub fn ignore_marks(mut self, yes: bool) -> Self {
        self.store.ignore_marks = yes;
        self
    }

    /// Bounds on the memory and work that the file may ask for.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.store.limits = limits;
        self
    }

    /// The filters that may be used.
    #[must_use]
    pub fn filters(mut self, filters: Registry) -> Self {
        self.store.filters = filters;
        self
    }

    /// Bytes of decoded chunks that are kept for the next read, for all datasets of the file together: 64 MiB by
    /// default. 0 keeps none.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::OpenOptions::new().chunk_cache(256 << 20).open(path)?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn chunk_cache(mut self, bytes: u64) -> Self {
        self.store.chunk_cache = bytes;
        self
    }

    /// Bytes of changes that are kept in memory between flushes, as
    /// [`FileOptions::uncommitted`](crate::FileOptions::uncommitted).
    #[must_use]
    pub fn uncommitted(mut self, bytes: u64) -> Self {
        self.store.uncommitted = bytes;
        self
    }

    /// What the file survives of what is written to it: [`Durability::Full`] by default.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("new.h5");
    /// # hyperslab::File::create(&path)?.close()?;
    /// use hyperslab::{Durability, OpenOptions};
    /// let file = OpenOptions::new().write(true).durability(Durability::Ordered).open(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.store.durability = durability;
        self
    }

    /// Where the journal of the changes lies: beside the file, with `.hjournal` added to its name, by default. A file behind a driver of
    /// one's own has none unless it is given here, and then its changes are not atomic.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn SideFile>) -> Self {
        self.store.journal = Some(journal);
        self
    }

    /// Returns whether the file is locked while it is open, so that many programs may read it or one may write it: as the environment
    /// variable `HDF5_USE_FILE_LOCKING` says (`TRUE`, `FALSE` or `BEST_EFFORT`), which is [`FileLocking::BestEffort`] if it is
    /// not set. The lock is that of libhdf5; it is given back when the last handle of the file is gone.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("some.h5");
    /// use hyperslab::{ErrorKind, File, FileLocking, OpenOptions};
    /// let writer = File::create(&path)?;
    /// writer.flush()?;
    /// assert_eq!(File::open(&path).unwrap_err().kind(), ErrorKind::Locked);
    /// let at_ones_own_risk = OpenOptions::new().locking(FileLocking::Off).open(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn locking(mut self, locking: FileLocking) -> Self {
        self.locking = Some(locking);
        self
    }

    /// How blocks are laid that are written, as [`FileOptions::metadata_block`](crate::FileOptions::metadata_block).
    #[must_use]
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.store.placement.metadata_block = bytes;
        self
    }

    /// As [`FileOptions::small_data_block`](crate::FileOptions::small_data_block).
    #[must_use]
    pub fn small_data_block(mut self, bytes: u64) -> Self {
        self.store.placement.raw_block = bytes;
        self
    }

    /// As [`FileOptions::alignment`](crate::FileOptions::alignment).
    #[must_use]
    pub fn alignment(mut self, threshold: u64, alignment: u64) -> Self {
        self.store.placement.alignment_threshold = threshold;
        self.store.placement.alignment = alignment;
        self
    }

    /// Where files of raw data are looked for whose names are relative: beside the HDF5 file by default, which
    /// is `${ORIGIN}` for libhdf5 (whose own default is the working directory).
    #[must_use]
    pub fn raw_data_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.raw_folder = Some(folder.into());
        self
    }

    /// How far virtual datasets reach whose mappings have no end: as far as there is an element by default.
    #[must_use]
    pub fn virtual_view(mut self, view: VirtualView) -> Self {
        self.virtual_options.view = view;
        self
    }

    /// How many numbered sources (`%b`) of a virtual dataset may be missing before the search for further ones
    /// ends; none by default.
    #[must_use]
    pub fn virtual_gap(mut self, gap: u64) -> Self {
        self.virtual_options.gap = gap;
        self
    }

    /// Which other files links, virtual datasets and raw data in other files may lead to. By default those beside the file, or in folders below.
    #[must_use]
    pub fn external_files(mut self, external: ExternalFiles) -> Self {
        self.external = external;
        self
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if it, or another file that is part of it, cannot be opened, [`ErrorKind::Corrupt`](crate::ErrorKind)
    /// if it is no HDF5 file, [`ErrorKind::Locked`](crate::ErrorKind::Locked) if others have it open in a way that excludes this one.
    pub fn open(self, path: impl AsRef<Path>) -> Result<File> {
        let swmr_write = self.swmr_write;
        let file = File::of(self.open_beside(path.as_ref())?)?;
        if swmr_write {
            file.start_swmr_write()?;
        }
        Ok(file)
    }

    /// The file at `path`, with the way to others.
    fn open_beside(mut self, path: &Path) -> Result<OpenFile> {
        self.store.locking = choose(self.locking);
        if self.swmr_write {
            self.store.write.get_or_insert(self.libver.unwrap_or(LibverBounds::DEFAULT));
        }
        let resolver = Beside::new(path, self.external, self.store.clone())
            .with_raw_folder(self.raw_folder)
            .with_virtual_options(self.virtual_options);
        let opener = Opener { driver: self.driver, options: self.store, log: self.log };
        let file = opener.open(path)?.with_virtual_options(self.virtual_options);
        Ok(file.with_resolver(Arc::new(resolver)))
    }

    /// For reading on over damage.
    pub(crate) fn salvage(mut self) -> Self {
        self.store.salvage = true;
        self.store.write = None;
        self
    }

    /// The file at `path`, whether its root group can be read or not.
    pub(crate) fn open_file(self, path: &Path) -> Result<Arc<OpenFile>> {
        self.open_beside(path).map(Arc::new)
    }

    /// The same of the file behind a driver.
    pub(crate) fn open_image(self, driver: Arc<dyn Driver>) -> Result<Arc<OpenFile>> {
        let opener = Opener { log: self.log, ..Opener::default() };
        let file = OpenFile::open(opener.logged(driver), self.store)?;
        Ok(Arc::new(file.with_virtual_options(self.virtual_options)))
    }

    /// The driver through which [`open`](Self::open) reads the file at `path`: that of all its members, if it is spread
    /// over several. A file that cannot be opened is taken as it is, unless a driver was chosen.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if there is no such file; those of [`open`](Self::open), if a driver was chosen.
    pub fn find_driver(mut self, path: impl AsRef<Path>) -> Result<Arc<dyn Driver>> {
        self.store.locking = choose(self.locking);
        let automatic = matches!(self.driver, FileDriver::Auto);
        let opener = Opener { driver: self.driver, options: self.store, log: self.log };
        match opener.open(path.as_ref()) {
            Ok(file) => Ok(Arc::clone(file.container.store.driver())),
            Err(error) if automatic && error.kind() != ErrorKind::Locked => opener.plain(path.as_ref()),
            Err(error) => Err(error),
        }
    }

    /// Opens a file image in memory.
    ///
    /// # Errors
    /// If it is no HDF5 file.
    pub fn open_bytes(self, bytes: impl Into<Arc<[u8]>>) -> Result<File> {
        self.open_driver(Arc::new(Core::image("file image", bytes.into())))
    }

    /// Opens the file behind a driver of one's own.
    ///
    /// # Errors
    /// If it is no HDF5 file.
    pub fn open_driver(mut self, driver: Arc<dyn Driver>) -> Result<File> {
        self.store.locking = choose(self.locking);
        let opener = Opener { log: self.log, ..Opener::default() };
        let file = OpenFile::open(opener.logged(driver), self.store)?;
        File::of(file.with_virtual_options(self.virtual_options))
    }
}

pub(crate) fn open_path(path: &Path, options: StoreOptions) -> Result<OpenFile> {
    Opener { options, ..Opener::default() }.open(path)
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
    /// As [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// Opens a file image in memory.
    ///
    /// # Errors
    /// As [`OpenOptions::open_bytes`].
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Self> {
        OpenOptions::new().open_bytes(bytes)
    }

    /// What the superblock and its extension say.
    pub fn info(&self) -> FileInfo {
        FileInfo::of(&self.root.file().container)
    }

    /// The root group.
    pub fn root(&self) -> &Group {
        &self.root
    }

    /// All objects that hard links lead to, each once.
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
