//! The options that opening and creating a file have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::datasets::{VirtualOptions, VirtualView};
use hyperslab_engine::store::{Durability, FileLocking, StoreOptions};
use hyperslab_engine::{LibverBounds, Limits};
use hyperslab_filter::Registry;
use hyperslab_vfd::{AccessLog, Driver, Log, SideFile};

use crate::external::{ExternalFiles, ExternalResolver, OpenFiles};
use crate::locking::choose;

/// The options for access to a file. [`OpenOptions`](crate::OpenOptions) and
/// [`FileOptions`](crate::FileOptions) share the methods of this type. `M` contains the options
/// that only one of the two has.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("new.h5");
/// use hyperslab::{AccessOptions, Durability, FileOptions, OpenOptions};
///
/// fn fast<M>(options: AccessOptions<M>) -> AccessOptions<M> {
///     options.chunk_cache(256 << 20).durability(Durability::Ordered)
/// }
///
/// fast(FileOptions::new()).user_block(512).create(&path)?.close()?;
/// let file = fast(OpenOptions::new()).write(true).open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AccessOptions<M> {
    store: StoreOptions,
    libver: Option<LibverBounds>,
    log: Option<Arc<AccessLog>>,
    external: ExternalFiles,
    open_files: Option<Arc<dyn OpenFiles>>,
    raw_folder: Option<PathBuf>,
    virtual_options: VirtualOptions,
    locking: Option<FileLocking>,
    pub(crate) mode: M,
}

impl<M> AccessOptions<M> {
    /// Returns the default options for access to a file: the built-in filters and the default
    /// limits.
    pub fn new() -> Self
    where
        M: Default,
    {
        Self::default()
    }

    /// Sets the versions of the HDF5 library that can read the objects written to the file:
    /// [`LibverBounds::DEFAULT`] by default. A file that is open for reading only ignores this
    /// option.
    ///
    /// ```
    /// use hyperslab::{FileOptions, LibraryVersion, LibverBounds};
    /// let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?;
    /// let file = FileOptions::new().libver(bounds).create_in_memory()?;
    /// assert_eq!(file.info().superblock_version, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.libver = Some(bounds);
        self
    }

    /// Sets the access log of the file. The log counts the driver's calls and the bytes that they
    /// read and write. Accesses to other files, to which links or datasets of this file refer, are
    /// not counted.
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

    /// Sets limits for the memory and the work that operations on the file may need. An operation
    /// that needs more returns an error.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{Limits, OpenOptions};
    /// let file = OpenOptions::new().limits(Limits::cautious()).open(path)?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.store.limits = limits;
        self
    }

    /// Sets the filters that can encode and decode the chunks of the file: [`Registry::default`],
    /// all built-in filters, by default.
    ///
    /// ```
    /// use hyperslab::filter::{FilterId, FilterSpec, Registry};
    /// let mut filters = Registry::default();
    /// filters.remove(FilterId::DEFLATE);
    /// let file = hyperslab::FileOptions::new().filters(filters).create_in_memory()?;
    /// let packed = file.new_dataset("a").chunks(&[2]).filter(FilterSpec::deflate(6));
    /// assert!(packed.write(&[1.5, 2.5]).is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn filters(mut self, filters: Registry) -> Self {
        self.store.filters = filters;
        self
    }

    /// Sets the size of the file's chunk cache in bytes: 64 MiB by default. All datasets of the
    /// file share the cache. It holds decoded chunks for later reads, and dirty chunks until they
    /// are encoded. With 0 no chunk is kept.
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

    /// Sets whether the chunk cache also keeps chunks of which one read took all elements; by
    /// default, it does not, because few programs read them again. A server whose clients ask for
    /// the same elements decodes each chunk once.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::OpenOptions::new().cache_whole_chunks(true).open(path)?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn cache_whole_chunks(mut self, keep: bool) -> Self {
        self.store.cache_whole_chunks = keep;
        self
    }

    /// Sets the largest number of bytes of clean pages in the page buffer of the file: 32 MiB by
    /// default. Without a page buffer, each read of metadata reaches the driver.
    #[must_use]
    pub fn page_buffer(mut self, bytes: u64) -> Self {
        self.store.page_buffer = bytes;
        self
    }

    /// Sets the use of the file's page buffer for small raw data: `true` by default. With `false`,
    /// each read of raw data reaches the driver, as drivers need that count or check reads.
    #[must_use]
    pub fn buffer_raw_data(mut self, buffered: bool) -> Self {
        self.store.buffer_raw_data = buffered;
        self
    }

    /// Sets the largest number of dirty bytes of the file that stay in memory between flushes: 64
    /// MiB by default. If an operation exceeds the limit, a flush follows it.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().dirty_limit(1 << 30).create_in_memory()?;
    /// file.new_dataset("a").write(&[1.5, 2.5])?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn dirty_limit(mut self, bytes: u64) -> Self {
        self.store.uncommitted = bytes;
        self
    }

    /// Sets the durability of the file: the guarantee for its contents if the writer, or the whole
    /// machine, stops at any time. The default is [`Durability::Full`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("new.h5");
    /// use hyperslab::{Durability, FileOptions};
    /// let file = FileOptions::new().durability(Durability::Ordered).create(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.store.durability = durability;
        self
    }

    /// Sets the storage of the file's journal. By default the journal is a file beside the HDF5
    /// file, with `.hjournal` added to the name. If the program supplies the driver, there is no
    /// journal by default, and commits are not atomic.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn SideFile>) -> Self {
        self.store.journal = Some(journal);
        self
    }

    /// Sets the use of the file's advisory lock. The lock is the one of libhdf5: many programs can
    /// read a file, or one can write it. The file is unlocked when its last handle is dropped.
    ///
    /// By default the environment variable `HDF5_USE_FILE_LOCKING` decides (`TRUE`, `FALSE` or
    /// `BEST_EFFORT`). If it is not set, the default is [`FileLocking::BestEffort`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("some.h5");
    /// use hyperslab::{ErrorKind, File, FileLocking, OpenOptions};
    /// let writer = File::create(&path)?;
    /// writer.flush()?;
    /// assert_eq!(File::open(&path).unwrap_err().kind(), ErrorKind::Locked);
    /// // Without a lock, the writer may change the file during a read.
    /// let unlocked = OpenOptions::new().locking(FileLocking::Off).open(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn locking(mut self, locking: FileLocking) -> Self {
        self.locking = Some(locking);
        self
    }

    /// Sets the number of bytes of the file that are allocated at once for small metadata blocks:
    /// 2048 by default. The file does not store this number.
    #[must_use]
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.store.placement.metadata_block = bytes;
        self
    }

    /// Sets the number of bytes of the file that are allocated at once for small raw data: 2048 by
    /// default. The file does not store this number.
    #[must_use]
    pub fn small_data_block(mut self, bytes: u64) -> Self {
        self.store.placement.raw_block = bytes;
        self
    }

    /// Sets the alignment of blocks in the file: blocks of `threshold` bytes and more are aligned
    /// to multiples of `alignment` bytes, counted from the end of the user block. Files with paged
    /// allocation ignore this option. The file does not store the two numbers.
    ///
    /// ```
    /// use hyperslab::{FileOptions, Layout};
    /// let file = FileOptions::new().alignment(1000, 4096).create_in_memory()?;
    /// let dataset = file.new_dataset("a").write(&[0_f64; 500])?;
    /// let Layout::Contiguous { address: Some(address) } = dataset.layout() else { return Ok(()) };
    /// assert_eq!(address % 4096, 0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn alignment(mut self, threshold: u64, alignment: u64) -> Self {
        self.store.placement.alignment_threshold = threshold;
        self.store.placement.alignment = alignment;
        self
    }

    /// Sets the folder for relative names of external raw data files. By default it is the folder
    /// of the HDF5 file, which libhdf5 calls `${ORIGIN}`; the default of libhdf5 is the working
    /// directory.
    #[must_use]
    pub fn raw_data_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.raw_folder = Some(folder.into());
        self
    }

    /// Sets the rule for the current dimensions of virtual datasets with unlimited mappings, which
    /// grow with their source datasets. By default they extend to the last element of the longest
    /// source dataset.
    #[must_use]
    pub fn virtual_view(mut self, view: VirtualView) -> Self {
        self.virtual_options.view = view;
        self
    }

    /// Sets the largest number of missing source datasets in a row that a virtual dataset skips in
    /// the search for numbered source datasets (`%b` in their name): 0 by default.
    #[must_use]
    pub fn virtual_gap(mut self, gap: u64) -> Self {
        self.virtual_options.gap = gap;
        self
    }

    /// Sets the policy for other files to which links, virtual datasets and external raw data lead:
    /// [`ExternalFiles::Beside`] by default.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{ExternalFiles, OpenOptions};
    /// let file = OpenOptions::new().external_files(ExternalFiles::Refuse).open(path)?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn external_files(mut self, external: ExternalFiles) -> Self {
        self.external = external;
        self
    }

    /// Sets the files that the program already has open. Links and virtual datasets of this file
    /// use these open files. See [`OpenFiles`] for an example.
    #[must_use]
    pub fn open_files(mut self, files: Arc<dyn OpenFiles>) -> Self {
        self.open_files = Some(files);
        self
    }

    /// Returns the options for the metadata store of the engine. The file is open for writing or
    /// for reading only.
    pub(crate) fn store(&self, write: bool) -> StoreOptions {
        let bounds = self.libver.unwrap_or(LibverBounds::DEFAULT);
        let (write, locking) = (write.then_some(bounds), choose(self.locking));
        StoreOptions { write, locking, ..self.store.clone() }
    }

    /// Returns the access log that counts the calls of the file's driver, if the options have one.
    pub(crate) fn log(&self) -> Option<Arc<AccessLog>> {
        self.log.clone()
    }

    /// Returns the file's driver. If the options have an access log, the driver is wrapped, and the
    /// log records its calls.
    pub(crate) fn logged(&self, driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
        match &self.log {
            Some(log) => Arc::new(Log::new(driver, Arc::clone(log))),
            None => driver,
        }
    }

    /// Returns the policy for other files to which links and datasets lead.
    pub(crate) fn external(&self) -> ExternalFiles {
        self.external
    }

    /// Applies the options for virtual datasets to a file that was opened through a driver, and
    /// returns the file.
    pub(crate) fn with_virtual_options(&self, file: OpenFile) -> OpenFile {
        file.with_virtual_options(self.virtual_options)
    }

    /// Returns a handle of the file at `path`, with access to other files. Links and datasets of
    /// this file can refer to these files.
    pub(crate) fn with_external_files(&self, file: OpenFile, path: &Path, store: StoreOptions) -> OpenFile {
        let resolver = ExternalResolver::new(path, self.external, store)
            .with_raw_folder(self.raw_folder.clone())
            .with_open_files(self.open_files.clone())
            .with_virtual_options(self.virtual_options);
        self.with_virtual_options(file).with_resolver(Arc::new(resolver))
    }
}
