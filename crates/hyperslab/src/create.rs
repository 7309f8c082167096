//! Making files.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::groups::{GroupOptions as EngineGroupOptions, LinkOrder};
use hyperslab_engine::ops::objects::AttributeOrder;
use hyperslab_engine::store::{CreateOptions, StoreOptions};
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{Access, Core, Driver, Sec2};

use crate::journal_place::journal_of;
use crate::{AccessOptions, File, FileSpace, GroupOptions, SharedMessages};

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
pub type FileOptions = AccessOptions<Creating>;

/// The options that only [`FileOptions`] has.
#[derive(Debug, Clone, Default)]
pub struct Creating {
    create: CreateOptions,
    root: EngineGroupOptions,
}

impl FileOptions {
    /// Bytes before the HDF5 file that are free for anything: 0 or a power of two from 512 on.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.mode.create.user_block = bytes;
        self
    }

    /// Bytes of addresses and of lengths in the file: 2, 4 or 8 each, 8 by default.
    #[must_use]
    pub fn sizes(mut self, offsets: u8, lengths: u8) -> Self {
        self.mode.create.params.size_of_offsets = offsets;
        self.mode.create.params.size_of_lengths = lengths;
        self
    }

    /// Half of the children of a node of old groups' B-trees, and half of the links of a symbol table node: 16 and 4
    /// by default.
    #[must_use]
    pub fn symbol_table_ranks(mut self, btree: u16, node: u16) -> Self {
        self.mode.create.group_internal_k = btree;
        self.mode.create.group_leaf_k = node;
        self
    }

    /// Half of the children of a node of a version 1 B-tree of chunks: 32 by default.
    #[must_use]
    pub fn chunk_btree_rank(mut self, rank: u16) -> Self {
        self.mode.create.indexed_storage_k = rank;
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
        self.mode.create.file_space = space.stored();
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
        self.mode.root = options.0;
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
        self.mode.create.shared_messages = shared.stored();
        self
    }

    /// Returns whether the root group remembers the order in which its links and attributes were created.
    #[must_use]
    pub fn track_order(mut self, yes: bool) -> Self {
        self.mode.root.link_order = if yes { LinkOrder::Indexed } else { LinkOrder::Untracked };
        self.mode.root.attribute_order =
            if yes { AttributeOrder::Indexed } else { AttributeOrder::Untracked };
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

    fn create_at(self, path: &Path, access: Access) -> Result<File> {
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot make `{}`", path.display()), source })?;
        let options = self.store(true);
        let journal = options.journal.clone().unwrap_or_else(|| journal_of(path));
        let store = StoreOptions { journal: Some(journal), ..options.clone() };
        let file = self.create_with(Arc::new(driver), store)?;
        File::of(self.with_external_files(file, path, options))
    }

    /// Makes a file in memory. What it holds can be had with [`File::to_bytes`].
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in_memory(self) -> Result<File> {
        self.create_driver(Arc::new(Core::from_vec("file in memory", Vec::new())))
    }

    /// Makes a file in what a driver of one's own holds; its bytes are lost.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_driver(self, driver: Arc<dyn Driver>) -> Result<File> {
        let file = self.create_with(driver, self.store(true))?;
        File::of(self.with_virtual_options(file))
    }

    fn create_with(&self, driver: Arc<dyn Driver>, store: StoreOptions) -> Result<OpenFile> {
        OpenFile::create(self.logged(driver), &self.mode.create, &self.mode.root, store)
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
