//! The creation of files.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::groups::{GroupOptions as EngineGroupOptions, LinkOrder};
use hyperslab_engine::ops::objects::AttributeOrder;
use hyperslab_engine::store::{CreateOptions, NewMembers, StoreOptions};
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{Access, Core, Driver, Sec2};

use crate::journal_place::journal_of;
use crate::{AccessOptions, File, FileSpace, GroupOptions, SharedMessages};

/// The options for the creation of a file.
///
/// ```
/// use hyperslab::{FileOptions, LibraryVersion, LibverBounds};
/// let file = FileOptions::new()
///     .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?)
///     .user_block(512)
///     .create_in_memory()?;
/// assert_eq!(file.info().superblock_version, 3);
/// assert_eq!(file.info().user_block, 512);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type FileOptions = AccessOptions<Creating>;

/// The options that apply only to the creation of a file; see [`FileOptions`].
#[derive(Debug, Clone, Default)]
pub struct Creating {
    create: CreateOptions,
    root: EngineGroupOptions,
}

impl FileOptions {
    /// Sets the size of the new file's user block in bytes: 0, or a power of two from 512 on. The
    /// user block precedes the HDF5 data and is free for any use.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.mode.create.user_block = bytes;
        self
    }

    /// Sets the members that the new file describes. Use this option together with a driver that
    /// stores the file in these members ([`create_driver`](Self::create_driver)). Each kind of data
    /// goes to its member.
    #[must_use]
    pub fn members(mut self, members: NewMembers) -> Self {
        self.mode.create.members = Some(members);
        self
    }

    /// Sets the sizes of addresses and of lengths in the new file: 2, 4 or 8 bytes each. The
    /// default is 8.
    #[must_use]
    pub fn sizes(mut self, offsets: u8, lengths: u8) -> Self {
        self.mode.create.params.size_of_offsets = offsets;
        self.mode.create.params.size_of_lengths = lengths;
        self
    }

    /// Sets the ranks for groups with symbol tables in the new file: half of the largest number of
    /// children of a B-tree node, and half of the largest number of links of a symbol table node.
    /// The defaults are 16 and 4.
    #[must_use]
    pub fn symbol_table_ranks(mut self, btree: u16, node: u16) -> Self {
        self.mode.create.group_internal_k = btree;
        self.mode.create.group_leaf_k = node;
        self
    }

    /// Sets the rank of version 1 B-trees that index chunks in the new file: half of the largest
    /// number of children of a node. The default is 32.
    #[must_use]
    pub fn chunk_btree_rank(mut self, rank: u16) -> Self {
        self.mode.create.indexed_storage_k = rank;
        self
    }

    /// Sets the file space strategy of the new file: the structures that allocate and track space.
    /// The default is that of HDF5 1.8; files with another strategy require HDF5 1.10 or later.
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
        self.mode.create.file_space = space.stored();
        self
    }

    /// Sets the options of the new file's root group.
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
        self.mode.root = options.0;
        self
    }

    /// Sets the types of object header messages that objects of the new file share: objects with
    /// equal messages refer to one stored copy. The default is none. Sharing saves space in files
    /// with many similar datasets or attributes.
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
        self.mode.create.shared_messages = shared.stored();
        self
    }

    /// Sets whether the root group of the new file records the creation order of its links and
    /// attributes, with an index.
    #[must_use]
    pub fn track_order(mut self, yes: bool) -> Self {
        self.mode.root.link_order = if yes { LinkOrder::Indexed } else { LinkOrder::Untracked };
        self.mode.root.attribute_order =
            if yes { AttributeOrder::Indexed } else { AttributeOrder::Untracked };
        self
    }

    /// Creates the file at `path` with these options, and replaces an existing file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be created,
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the options contradict each other, and
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if an existing file is locked.
    pub fn create(self, path: impl AsRef<Path>) -> Result<File> {
        self.create_at(path.as_ref(), Access::Create)
    }

    /// Creates the file at `path` with these options. Returns an error if a file exists at `path`.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create), and [`ErrorKind::Io`](crate::ErrorKind::Io)
    /// if the file exists.
    pub fn create_new(self, path: impl AsRef<Path>) -> Result<File> {
        self.create_at(path.as_ref(), Access::CreateNew)
    }

    fn create_at(self, path: &Path, access: Access) -> Result<File> {
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot create `{}`", path.display()), source })?;
        let options = self.store(true);
        let journal = options.journal.clone().unwrap_or_else(|| journal_of(path));
        let store = StoreOptions { journal: Some(journal), ..options.clone() };
        let file = self.create_with(Arc::new(driver), store)?;
        File::of(self.with_external_files(file, path, options))
    }

    /// Creates a file in memory with these options. [`File::to_bytes`] returns the bytes of the
    /// file.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_in_memory(self) -> Result<File> {
        self.create_driver(Arc::new(Core::from_vec("file in memory", Vec::new())))
    }

    /// Creates a file in the storage of `driver` with these options, and replaces the existing
    /// bytes.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_driver(self, driver: Arc<dyn Driver>) -> Result<File> {
        let file = self.create_with(driver, self.store(true))?;
        File::of(self.with_virtual_options(file))
    }

    fn create_with(&self, driver: Arc<dyn Driver>, store: StoreOptions) -> Result<OpenFile> {
        OpenFile::create(self.logged(driver), &self.mode.create, &self.mode.root, store)
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

    /// Opens the file at `path` for reading and writing (`rw`).
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

    /// Writes all dirty data of the file. Until then changes are only in memory, and other programs
    /// do not see them.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn flush(&self) -> Result<()> {
        if self.is_writable() { self.root().file().flush() } else { Ok(()) }
    }

    /// Writes all dirty data and closes the file. Deletes unlinked objects. Remaining handles of
    /// the file can only read, and the file cannot be opened for writing until they are dropped.
    ///
    /// Truncates the file to the end of allocation, and stores the free space if the file persists
    /// it. Handles of the deleted objects return errors afterwards.
    ///
    /// Dropping the last handle of a file also closes it, but errors are only logged.
    ///
    /// # Errors
    /// Returns the errors of [`flush`](Self::flush).
    pub fn close(self) -> Result<()> {
        if self.is_writable() { self.root().file().close() } else { Ok(()) }
    }

    /// Flushes the file, and gives back the space that the file holds for new blocks at its end.
    /// The file is then as short as after [`close`](Self::close).
    ///
    /// # Errors
    /// Returns the errors of [`flush`](Self::flush).
    pub fn release_unused_space(&self) -> Result<()> {
        self.root().file().release_unused_space()
    }

    /// Changes a superblock of version 3 to version 2, so that HDF5 1.8 can open the file. Older
    /// superblocks stay. Datasets keep their form; see
    /// [`Dataset::use_old_layout`](crate::Dataset::use_old_layout).
    ///
    /// ```
    /// use hyperslab::{FileOptions, LibraryVersion, LibverBounds};
    /// let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?;
    /// let file = FileOptions::new().libver(bounds).create_in_memory()?;
    /// assert_eq!(file.info().superblock_version, 3);
    /// file.use_old_superblock()?;
    /// assert_eq!(file.info().superblock_version, 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the file has settings
    /// of its file space, and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open
    /// for reading only.
    pub fn use_old_superblock(&self) -> Result<()> {
        let file = self.root().file();
        let mut edit = file.edit_deferred()?;
        file.use_old_superblock(&mut edit)?;
        file.finish(edit)
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
