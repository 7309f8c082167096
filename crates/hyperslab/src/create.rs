//! Making files.

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

/// How to make a file.
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
    /// A file that HDF5 1.8 and later open, without a user block.
    pub fn new() -> Self {
        Self::default()
    }

    /// The versions of the library that shall read the file: [`LibverBounds::DEFAULT`] unless told otherwise.
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.store.write = Some(bounds);
        self
    }

    /// Bytes before the HDF5 file that are free for anything: 0 or a power of two from 512 on.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.create.user_block = bytes;
        self
    }

    /// Bytes of addresses and of lengths in the file: 2, 4 or 8 each, 8 by default.
    #[must_use]
    pub fn sizes(mut self, offsets: u8, lengths: u8) -> Self {
        self.create.params.size_of_offsets = offsets;
        self.create.params.size_of_lengths = lengths;
        self
    }

    /// Half of the children of a node of old groups' B-trees, and half of the links of a symbol table node: 16 and 4
    /// by default.
    #[must_use]
    pub fn symbol_table_ranks(mut self, btree: u16, node: u16) -> Self {
        self.create.group_internal_k = btree;
        self.create.group_leaf_k = node;
        self
    }

    /// Half of the children of a node of a version 1 B-tree of chunks: 32 by default.
    #[must_use]
    pub fn chunk_btree_rank(mut self, rank: u16) -> Self {
        self.create.indexed_storage_k = rank;
        self
    }

    /// How the file manages its space: as HDF5 1.8 does by default. Anything else needs files that only 1.10 and later
    /// open.
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

    /// Bytes by which the room for small blocks of metadata grows: 2048 by default. Nothing of it is stored.
    #[must_use]
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.store.placement.metadata_block = bytes;
        self
    }

    /// Bytes by which the room for small raw data grows: 2048 by default. Nothing of it is stored.
    #[must_use]
    pub fn small_data_block(mut self, bytes: u64) -> Self {
        self.store.placement.raw_block = bytes;
        self
    }

    /// Blocks of `threshold` bytes and more begin at multiples of `alignment`, counted from the end of the user block,
    /// in files without pages. Nothing of it is stored.
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

    /// How the root group is made.
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

    /// Which messages of object headers are stored once, however many objects have the same: nothing by default. Worth it
    /// for files of many datasets or attributes that are alike.
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

    /// Returns whether the root group remembers the order in which its links and attributes were created.
    #[must_use]
    pub fn track_order(mut self, yes: bool) -> Self {
        self.root.link_order = if yes { LinkOrder::Indexed } else { LinkOrder::Untracked };
        self.root.attribute_order = if yes { AttributeOrder::Indexed } else { AttributeOrder::Untracked };
        self
    }

    /// The filters that may be used.
    #[must_use]
    pub fn filters(mut self, filters: Registry) -> Self {
        self.store.filters = filters;
        self
    }

    /// Bytes of chunks that are kept in memory, before they are encoded or after they were decoded: 64 MiB by default.
    #[must_use]
    pub fn chunk_cache(mut self, bytes: u64) -> Self {
        self.store.chunk_cache = bytes;
        self
    }

    /// Bytes of changes that are kept in memory between flushes: 64 MiB by default. When there are more, they are flushed after the
    /// operation that made them.
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
    /// use hyperslab::{Durability, FileOptions};
    /// let file = FileOptions::new().durability(Durability::Ordered).create(&path)?;
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
    /// use hyperslab::{FileLocking, FileOptions};
    /// let file = FileOptions::new().locking(FileLocking::On).create(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn locking(mut self, locking: FileLocking) -> Self {
        self.locking = Some(locking);
        self
    }

    /// Which other files datasets may lie in.
    #[must_use]
    pub fn external_files(mut self, external: ExternalFiles) -> Self {
        self.external = external;
        self
    }

    /// Makes the file at `path`, in place of one that is there.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be made, [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if
    /// the options cannot be, [`ErrorKind::Locked`](crate::ErrorKind::Locked) if others have the file open that is there.
    pub fn create(self, path: impl AsRef<Path>) -> Result<File> {
        self.create_at(path.as_ref(), Access::Create)
    }

    /// Makes the file at `path`, where there is none.
    ///
    /// # Errors
    /// As [`create`](Self::create), and if there is one.
    pub fn create_new(self, path: impl AsRef<Path>) -> Result<File> {
        self.create_at(path.as_ref(), Access::CreateNew)
    }

    fn create_at(mut self, path: &Path, access: Access) -> Result<File> {
        self.store.locking = choose(self.locking);
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot make `{}`", path.display()), source })?;
        let write = Some(self.store.write.unwrap_or(LibverBounds::DEFAULT));
        let resolver = Beside::new(path, self.external, StoreOptions { write, ..self.store.clone() });
        let journal = self.store.journal.clone().unwrap_or_else(|| journal_of(path));
        let file = self.journal(journal).create_with(Arc::new(driver))?;
        File::of(file.with_resolver(Arc::new(resolver)))
    }

    /// Makes a file in memory. What it holds can be had with [`File::to_bytes`].
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in_memory(self) -> Result<File> {
        File::of(self.create_with(Arc::new(Core::from_vec("file in memory", Vec::new())))?)
    }

    /// Makes a file in what a driver of one's own holds; its bytes are lost.
    ///
    /// # Errors
    /// As [`create`](Self::create).
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
    /// Makes a file at `path`, in place of one that is there, that HDF5 1.8 and later open.
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
    /// As [`FileOptions::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        FileOptions::new().create(path)
    }

    /// Opens the file at `path` for reading and writing.
    ///
    /// # Errors
    /// As [`OpenOptions::open`](crate::OpenOptions::open).
    pub fn open_rw(path: impl AsRef<Path>) -> Result<Self> {
        crate::OpenOptions::new().write(true).open(path)
    }

    /// Returns whether the file may be changed.
    pub fn is_writable(&self) -> bool {
        let store = &self.root().file().container.store;
        store.is_writable() && !store.is_closed()
    }

    /// Writes everything that was changed. Until then changes are in memory, and who opens the file does not see them.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the medium fails; those of filters.
    pub fn flush(&self) -> Result<()> {
        if self.is_writable() { self.root().file().flush() } else { Ok(()) }
    }

    /// Writes everything that was changed, cuts off what is free at the end, stores what else is free where the file
    /// asks for it, and says if any of that fails. Other handles of the file can only read it then, and nobody may write
    /// to it until they are gone. What no link leads to is deleted, whoever has it open: its handles give errors from then on. A file that is
    /// dropped is closed too, but errors are only logged.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn close(self) -> Result<()> {
        if self.is_writable() { self.root().file().close() } else { Ok(()) }
    }

    /// The bytes of the whole file, flushed before.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.flush()?;
        self.root().file().container.store.image()
    }
}
