//! The options for opening files.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{ErrorKind, Result};
use hyperslab_vfd::{Core, Driver};

use crate::driver::{FileDriver, Opener};
use crate::other_files::{OtherFiles, ProvidedFiles};
use crate::{AccessOptions, File};

/// The options for opening an existing file. Without [`write`](Self::write) the file is open for
/// reading only.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// use hyperslab::{FileDriver, OpenOptions};
/// let file = OpenOptions::new().driver(FileDriver::Core).chunk_cache(16 << 20).open(path)?;
/// assert!(!file.is_writable());
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub type OpenOptions = AccessOptions<Opening>;

/// The options that apply only to the opening of an existing file; see [`OpenOptions`].
#[derive(Debug, Clone, Default)]
pub struct Opening {
    driver: FileDriver,
    write: bool,
    swmr_read: bool,
    swmr_write: bool,
    ignore_status_flags: bool,
    salvage: bool,
}

impl OpenOptions {
    /// Sets the driver that reads the bytes of the file: [`FileDriver::Auto`] by default.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{FileDriver, OpenOptions, vfd::DriverKind};
    /// let file = OpenOptions::new().driver(FileDriver::Mmap).open(path)?;
    /// assert_eq!(file.info().driver, DriverKind::Mmap);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn driver(mut self, driver: FileDriver) -> Self {
        self.mode.driver = driver;
        self
    }

    /// Sets whether the file is opened for reading and writing instead of reading only.
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
        self.mode.write = yes;
        self
    }

    /// Sets whether the file is opened as a SWMR reader (single writer, multiple readers). Another
    /// program may then have the file open as the SWMR writer.
    ///
    /// Objects keep the state in which they were first read until [`File::refresh`] or
    /// [`Dataset::refresh`](crate::Dataset::refresh). Nothing else is kept in memory, so every read
    /// goes to the file. A block that the writer is just writing is read again. The file is locked
    /// only while it is opened. See [`File::start_swmr_write`] for an example.
    #[must_use]
    pub fn swmr_read(mut self, yes: bool) -> Self {
        self.mode.swmr_read = yes;
        self
    }

    /// Sets whether the file is opened as the SWMR writer (single writer, multiple readers). The
    /// result is the same as a call of [`File::start_swmr_write`] after opening the file for
    /// [writing](Self::write).
    #[must_use]
    pub fn swmr_write(mut self, yes: bool) -> Self {
        self.mode.swmr_write = yes;
        self
    }

    /// Sets whether the file is opened in spite of two problems: status flags that say that a
    /// writer has the file open, and a length below the one that the superblock states. Access to
    /// missing bytes returns errors.
    #[must_use]
    pub fn ignore_status_flags(mut self, yes: bool) -> Self {
        self.mode.ignore_status_flags = yes;
        self
    }

    /// Opens the file at `path` with these options.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if the file or one of its members cannot be
    /// opened, [`ErrorKind::Corrupt`](crate::ErrorKind) if it is not an HDF5 file, and
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if another program holds a lock that
    /// excludes this access.
    pub fn open(self, path: impl AsRef<Path>) -> Result<File> {
        self.open_root(self.open_at(path.as_ref())?)
    }

    /// Opens a file image, the bytes of a whole file in memory, with these options.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if `bytes` are not an HDF5 file.
    pub fn open_bytes(self, bytes: impl Into<Arc<[u8]>>) -> Result<File> {
        self.open_driver(Arc::new(Core::image("file image", bytes.into())))
    }

    /// Opens a file whose bytes `driver` stores, with these options.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the bytes are not an HDF5 file, and the
    /// errors of the driver.
    pub fn open_driver(self, driver: Arc<dyn Driver>) -> Result<File> {
        self.open_root(self.open_image(driver)?)
    }

    /// Opens a file whose bytes `driver` stores. `others` provides the files to which links and
    /// datasets of the file lead.
    ///
    /// # Errors
    /// Returns the errors of [`open_driver`](Self::open_driver).
    pub fn open_driver_with(self, driver: Arc<dyn Driver>, others: Arc<dyn OtherFiles>) -> Result<File> {
        let (options, policy) = (self.options(), self.external());
        let resolver = ProvidedFiles { others, policy, options, depth: 0 };
        let file = self.open_image(driver)?.with_resolver(Arc::new(resolver));
        self.open_root(file)
    }

    /// Returns the driver through which [`open`](Self::open) reads the file at `path`. If the file
    /// has several members, the driver covers all of them. With [`FileDriver::Auto`], a file that
    /// is not an HDF5 file gets [`vfd::Sec2`](crate::vfd::Sec2).
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be read. With a driver
    /// other than [`FileDriver::Auto`], returns the errors of [`open`](Self::open).
    pub fn find_driver(self, path: impl AsRef<Path>) -> Result<Arc<dyn Driver>> {
        let automatic = matches!(self.mode.driver, FileDriver::Auto);
        let opener = self.opener(self.options());
        match opener.open(path.as_ref()) {
            Ok(file) => Ok(Arc::clone(file.container.store.driver())),
            Err(error) if automatic && error.kind() != ErrorKind::Locked => opener.single_file(path.as_ref()),
            Err(error) => Err(error),
        }
    }

    /// Returns the options for opening a damaged file for a salvage: read-only access that
    /// tolerates damaged structures.
    pub(crate) fn salvage(mut self) -> Self {
        self.mode.salvage = true;
        (self.mode.write, self.mode.swmr_write) = (false, false);
        self
    }

    /// Opens the file at `path`, with access to the other files to which it refers. The root group
    /// is not read.
    pub(crate) fn open_at(&self, path: &Path) -> Result<OpenFile> {
        let options = self.options();
        let file = self.opener(options.clone()).open(path)?;
        Ok(self.with_external_files(file, path, options))
    }

    /// Opens the file whose bytes `driver` stores. The root group is not read.
    pub(crate) fn open_image(&self, driver: Arc<dyn Driver>) -> Result<OpenFile> {
        let file = OpenFile::open(self.logged(driver), self.options())?;
        Ok(self.with_virtual_options(file))
    }

    /// Opens the root group of a file and returns the file's handle. Starts SWMR writing if the
    /// options request it.
    fn open_root(&self, file: OpenFile) -> Result<File> {
        let file = File::of(file)?;
        if self.mode.swmr_write {
            file.start_swmr_write()?;
        }
        Ok(file)
    }

    fn options(&self) -> StoreOptions {
        let Opening { write, swmr_read, swmr_write, ignore_status_flags, salvage, .. } = self.mode;
        let store = self.store(write || swmr_write);
        StoreOptions { swmr_read, ignore_status_flags, salvage, ..store }
    }

    fn opener(&self, options: StoreOptions) -> Opener {
        Opener { driver: self.mode.driver.clone(), options, log: self.log() }
    }
}

/// Opens the file at `path` with automatic choice of the driver ([`FileDriver::Auto`]).
pub(crate) fn open_path(path: &Path, options: StoreOptions) -> Result<OpenFile> {
    Opener { options, ..Opener::default() }.open(path)
}
