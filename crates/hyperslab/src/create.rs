//! The creation of files.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::groups::{GroupOptions as EngineGroupOptions, LinkOrder};
use hyperslab_engine::ops::objects::AttributeOrder;
use hyperslab_engine::store::{CreateOptions, Durability, FileLocking, StoreOptions};
use hyperslab_engine::{Error, LibverBounds, Result};
use hyperslab_filter::Registry;
use hyperslab_vfd::{Access, Core, Driver, Sec2, SideFile};

use crate::external::{Beside, ExternalFiles};
use crate::journal_place::journal_of;
use crate::locking::choose;
use crate::{File, FileSpace, GroupOptions, SharedMessages};

/// Options for the creation of a file.
///
/// ```
/// use hyperslab::{FileOptions, LibraryVersion, LibverBounds};
/// let file = FileOptions::new()
///     .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?)
///     .user_block(512)
///     .create_in_memory()?;
/// assert_eq!(file.info().superblock_version, 3);
/// assert_eq!(file.info().user_block, 512);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FileOptions {
    create: CreateOptions,
    root: EngineGroupOptions,
    store: StoreOptions,
    external: ExternalFiles,
    locking: Option<FileLocking>,
}

impl FileOptions {
    /// Returns the default options: a file without a user block that HDF5 1.8 and later open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the library versions that can read the file. The default is [`LibverBounds::DEFAULT`].
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.store.write = Some(bounds);
        self
    }

    /// Sets the size of the user block in bytes: 0, or a power of two from 512 on. The user block
    /// precedes the HDF5 data and is free for any use.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.create.user_block = bytes;
        self
    }

    /// Sets the sizes of addresses and of lengths in the file: 2, 4 or 8 bytes each. The default is
    /// 8.
    #[must_use]
    pub fn sizes(mut self, offsets: u8, lengths: u8) -> Self {
        self.create.params.size_of_offsets = offsets;
        self.create.params.size_of_lengths = lengths;
        self
    }

    /// Sets the ranks for groups with symbol tables: half of the largest number of children of a
    /// B-tree node, and half of the largest number of links of a symbol table node. The defaults
    /// are 16 and 4.
    #[must_use]
    pub fn symbol_table_ranks(mut self, btree: u16, node: u16) -> Self {
        self.create.group_internal_k = btree;
        self.create.group_leaf_k = node;
        self
    }

    /// Sets the rank of version 1 B-trees that index chunks: half of the largest number of children
    /// of a node. The default is 32.
    #[must_use]
    pub fn chunk_btree_rank(mut self, rank: u16) -> Self {
        self.create.indexed_storage_k = rank;
        self
    }

    /// Sets the file space strategy. The default is that of HDF5 1.8; files with another strategy
    /// require HDF5 1.10 or later.
    ///
    /// ```
    /// use hyperslab::{FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds};
    /// let space = FileSpace { strategy: FileSpaceStrategy::Page, persist: true, threshold: 1, page_size: 4096 };
    /// let file = FileOptions::new()
    ///     .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?)
    ///     .file_space(space)
    ///     .create_in_memory()?;
    /// assert_eq!(file.info().file_space, space);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn file_space(mut self, space: FileSpace) -> Self {
        self.create.file_space = space.stored();
        self
    }

    /// Sets the size in bytes of the blocks that hyperslab allocates at once for small metadata.
    /// The default is 2048. The file does not store this option.
    #[must_use]
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.store.placement.metadata_block = bytes;
        self
    }

    /// Sets the size in bytes of the blocks that hyperslab allocates at once for small raw data.
    /// The default is 2048. The file does not store this option.
    #[must_use]
    pub fn small_data_block(mut self, bytes: u64) -> Self {
        self.store.placement.raw_block = bytes;
        self
    }

    /// Aligns blocks of at least `threshold` bytes to multiples of `alignment` bytes, counted from
    /// the end of the user block. The option has no effect with paged allocation. The file does not
    /// store this option.
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

    /// Sets the options of the root group.
    ///
    /// ```
    /// use hyperslab::{FileOptions, GroupOptions};
    /// let root = GroupOptions::new().link_phase_change(100, 50).attribute_phase_change(3, 2);
    /// let file = FileOptions::new().root_group(root).create_in_memory()?;
    /// assert_eq!(file.link_phase_change()?.max_compact, 100);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn root_group(mut self, options: GroupOptions) -> Self {
        self.root = options.0;
        self
    }

    /// Sets the messages of object headers that the file stores once if several objects have equal
    /// messages. The default is none. Sharing saves space in files with many similar datasets or
    /// attributes.
    ///
    /// ```
    /// use hyperslab::{FileOptions, SharedMessageIndexInfo, SharedMessages};
    /// let shared = SharedMessages::of(SharedMessageIndexInfo::ALL, 12);
    /// let file = FileOptions::new().shared_messages(shared.clone()).create_in_memory()?;
    /// for name in ["a", "b", "c"] {
    ///     file.new_dataset(name).write(&vec![1.5; 10])?.set_attribute("unit", "metre")?;
    /// }
    /// assert_eq!(file.info().shared_messages, shared);
    /// assert_eq!(file.dataset("b")?.attribute("unit")?.read_string()?, "metre");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn shared_messages(mut self, shared: SharedMessages) -> Self {
        self.create.shared_messages = shared.stored();
        self
    }

    /// Sets whether the root group records the creation order of its links and attributes, with an
    /// index.
    #[must_use]
    pub fn track_order(mut self, yes: bool) -> Self {
        self.root.link_order = if yes { LinkOrder::Indexed } else { LinkOrder::Untracked };
        self.root.attribute_order = if yes { AttributeOrder::Indexed } else { AttributeOrder::Untracked };
        self
    }

    /// Sets the registry of filters that the file may use.
    #[must_use]
    pub fn filters(mut self, filters: Registry) -> Self {
        self.store.filters = filters;
        self
    }

    /// Sets the size of the chunk cache in bytes: chunks in decoded form, clean and dirty. The
    /// default is 64 MiB.
    #[must_use]
    pub fn chunk_cache(mut self, bytes: u64) -> Self {
        self.store.chunk_cache = bytes;
        self
    }

    /// Sets the limit in bytes on changes that memory holds between flushes. The default is 64 MiB.
    /// An operation that exceeds the limit ends with a flush.
    #[must_use]
    pub fn uncommitted(mut self, bytes: u64) -> Self {
        self.store.uncommitted = bytes;
        self
    }

    /// Sets the failures that written data survives. The default is [`Durability::Full`].
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

    /// Sets the journal. The default is a file beside the HDF5 file, whose name has `.hjournal`
    /// added. A file with a driver of the program has a journal only if this method sets one;
    /// without a journal, commits are not atomic.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn SideFile>) -> Self {
        self.store.journal = Some(journal);
        self
    }

    /// Sets the locking of the file while it is open: several programs may read a file, or one may
    /// write it. The default is the value of the environment variable `HDF5_USE_FILE_LOCKING`
    /// (`TRUE`, `FALSE` or `BEST_EFFORT`), or else [`FileLocking::BestEffort`]. The lock is that of
    /// libhdf5. It is released when the last handle of the file is dropped.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("some.h5");
    /// use hyperslab::{FileLocking, FileOptions};
    /// let file = FileOptions::new().locking(FileLocking::On).create(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn locking(mut self, locking: FileLocking) -> Self {
        self.locking = Some(locking);
        self
    }

    /// Sets the other files that external and virtual datasets may use.
    #[must_use]
    pub fn external_files(mut self, external: ExternalFiles) -> Self {
        self.external = external;
        self
    }

    /// Creates the file at `path`, and replaces an existing file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be created,
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the options contradict each other, and
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if an existing file is locked.
    pub fn create(self, path: impl AsRef<Path>) -> Result<File> {
        self.create_at(path.as_ref(), Access::Create)
    }

    /// Creates the file at `path`, where no file may exist.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create), and [`ErrorKind::Io`](crate::ErrorKind::Io)
    /// if the file exists.
    pub fn create_new(self, path: impl AsRef<Path>) -> Result<File> {
        self.create_at(path.as_ref(), Access::CreateNew)
    }

    fn create_at(mut self, path: &Path, access: Access) -> Result<File> {
        self.store.locking = choose(self.locking);
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot create `{}`", path.display()), source })?;
        let write = Some(self.store.write.unwrap_or(LibverBounds::DEFAULT));
        let resolver = Beside::new(path, self.external, StoreOptions { write, ..self.store.clone() });
        let journal = self.store.journal.clone().unwrap_or_else(|| journal_of(path));
        let file = self.journal(journal).create_with(Arc::new(driver))?;
        File::of(file.with_resolver(Arc::new(resolver)))
    }

    /// Creates a file in memory. [`File::to_bytes`] returns its contents.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_in_memory(self) -> Result<File> {
        File::of(self.create_with(Arc::new(Core::from_vec("file in memory", Vec::new())))?)
    }

    /// Creates a file in the storage of `driver`, and replaces the existing bytes.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_driver(self, driver: Arc<dyn Driver>) -> Result<File> {
        File::of(self.create_with(driver)?)
    }

    fn create_with(self, driver: Arc<dyn Driver>) -> Result<OpenFile> {
        let write = Some(self.store.write.unwrap_or(LibverBounds::DEFAULT));
        let store = StoreOptions { write, locking: choose(self.locking), ..self.store };
        OpenFile::create(driver, &self.create, &self.root, store)
    }
}

impl File {
    /// Creates a file at `path` that HDF5 1.8 and later open, and replaces an existing file.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("new.h5");
    /// let file = hyperslab::File::create(&path)?;
    /// file.create_group("measurements/monday")?;
    /// file.close()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`FileOptions::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        FileOptions::new().create(path)
    }

    /// Opens the file at `path` for reading and writing.
    ///
    /// # Errors
    /// Returns the errors of [`OpenOptions::open`](crate::OpenOptions::open).
    pub fn open_rw(path: impl AsRef<Path>) -> Result<Self> {
        crate::OpenOptions::new().write(true).open(path)
    }

    /// Returns `true` if the file is open for writing.
    pub fn is_writable(&self) -> bool {
        let store = &self.root().file().container.store;
        store.is_writable() && !store.is_closed()
    }

    /// Writes all changes. Until then changes are only in memory, and other programs do not see
    /// them.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn flush(&self) -> Result<()> {
        if self.is_writable() { self.root().file().flush() } else { Ok(()) }
    }

    /// Writes all changes and closes the file: truncates it to the end of allocation, and stores
    /// the free space if the file persists it. Remaining handles of the file can only read, and the
    /// file cannot be opened for writing until they are dropped. Deletes unlinked objects; their
    /// handles return errors from then on.
    ///
    /// Dropping the last handle of a file also closes it, but errors are only logged.
    ///
    /// # Errors
    /// Returns the errors of [`flush`](Self::flush).
    pub fn close(self) -> Result<()> {
        if self.is_writable() { self.root().file().close() } else { Ok(()) }
    }

    /// Flushes the file and returns the bytes of the whole file.
    ///
    /// # Errors
    /// Returns the errors of [`flush`](Self::flush).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.flush()?;
        self.root().file().container.store.image()
    }
}
