//! Repair and salvage of damaged files.

mod collect;
mod journal;
mod report;

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{RepairOptions, ends, repair};
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{
    Access, Core, Driver, DriverError, LockKind, Sec2, SideFile, find_writers, is_same_file,
};

use crate::driver::members_of;
use crate::journal_place::journal_of;
use crate::{File, FileLocking, FileOptions, LibverBounds, OpenOptions};
use collect::Collector;

pub use hyperslab_engine::store::{EndRepair, JournalRepair, Repaired, StatusFlagsRepair};
pub use journal::{JournalComparison, JournalOutcome, JournalReport, JournalVerdict};
pub use report::{ChunkTally, Loss, LossPart, Outcome, Salvaged, SalvagedObject, SalvagedState};

/// A builder for the repair and the salvage of damaged files, with their options.
///
/// [`repair`](Self::repair) corrects a file in place that its writer did not close.
/// [`salvage`](Self::salvage) copies what can be read of a damaged file into a new file, for
/// instance of a truncated file or of a file with bad sectors.
///
/// Salvage skips the damaged parts: index nodes, links, attributes, chunks, variable-length
/// elements. Chunks and elements that cannot be read have the fill value in the new file. If a part
/// is lost, salvage searches the file for objects without a readable link, and copies them into the
/// group `/lost+found`, named by their old addresses. The damaged file is not changed.
///
/// ```
/// use hyperslab::{File, Recovery, SalvagedState};
/// # let folder = tempfile::tempdir()?;
/// # let (damaged, saved) = (folder.path().join("damaged.h5"), folder.path().join("saved.h5"));
/// let file = File::create(&damaged)?;
/// file.new_dataset("first").write(&vec![1; 1000])?;
/// file.new_dataset("second").chunks(&[1000]).write(&(0..5000).collect::<Vec<i32>>())?;
/// file.close()?;
/// let mut bytes = std::fs::read(&damaged)?;
/// bytes.truncate(bytes.len() - 5000);
/// std::fs::write(&damaged, bytes)?;
///
/// let salvaged = Recovery::new().salvage(&damaged, &saved)?;
/// assert!(File::open(&damaged).is_err() && File::open(&saved).is_ok());
/// for object in salvaged.objects.iter().filter(|object| object.state() != SalvagedState::Whole) {
///     println!("{object}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recovery {
    options: OpenOptions,
    libver: Option<LibverBounds>,
    search: bool,
    repair: RepairOptions,
    locking: Option<FileLocking>,
    unlocked: bool,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            options: OpenOptions::new(),
            libver: None,
            search: true,
            repair: RepairOptions::default(),
            locking: None,
            unlocked: false,
        }
    }
}

impl Recovery {
    /// Returns a recovery with the default options: the built-in filters and the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options with which salvage opens the damaged file, such as driver, filters and
    /// limits.
    #[must_use]
    pub fn options(mut self, options: OpenOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the versions of the HDF5 library that can read the new file of a salvage.
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.libver = Some(bounds);
        self
    }

    /// Sets whether salvage searches a damaged file for objects without links, if a part of the
    /// file is lost: yes by default. The search may also find objects that were deleted before the
    /// damage.
    ///
    /// With either setting, an object whose links cannot be created is copied to `/lost+found`, for
    /// instance because two links have the same name.
    #[must_use]
    pub fn search(mut self, yes: bool) -> Self {
        self.search = yes;
        self
    }

    /// Sets whether repair removes the journal beside the damaged file instead of replaying the
    /// journal.
    #[must_use]
    pub fn discard_journal(mut self, yes: bool) -> Self {
        self.repair.discard_journal = yes;
        self
    }

    /// Sets the use of the file lock in a repair. The lock ensures that the file has no writer. The
    /// default is that of [`OpenOptions::locking`].
    #[must_use]
    pub fn locking(mut self, locking: FileLocking) -> Self {
        self.locking = Some(locking);
        self
    }

    /// Sets whether repair continues without a file lock, and even if a process has the file open
    /// for writing. The caller must know that the file has no writer. Otherwise, the repair clears
    /// the status flags and removes the journal of the running writer.
    #[must_use]
    pub fn unlocked(mut self, yes: bool) -> Self {
        self.unlocked = yes;
        self
    }

    /// Sets whether repair lowers the end of file that the superblock states, if the real file is
    /// shorter. Blocks past the real end are lost. The caller must know, for instance from
    /// `hyperslab check`, that no block is there.
    #[must_use]
    pub fn cut_end(mut self, yes: bool) -> Self {
        self.repair.cut_end = yes;
        self
    }

    /// Sets whether repair keeps the status flags of the file, which say that a writer has the file
    /// open.
    #[must_use]
    pub fn keep_status_flags(mut self, yes: bool) -> Self {
        self.repair.keep_status_flags = yes;
        self
    }

    /// Sets whether repair keeps the end of file that the superblock states (section II.A of the
    /// specification), even if the file is longer.
    #[must_use]
    pub fn keep_end(mut self, yes: bool) -> Self {
        self.repair.keep_end = yes;
        self
    }

    /// Sets the number of bytes by which repair extends the file. The extension begins at the end
    /// that the superblock states or at the real end of the file, whichever is later. Repair stores
    /// the new end in the superblock.
    ///
    /// ```
    /// use hyperslab::{File, Recovery};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("short.h5");
    /// # File::create(&path)?.close()?;
    /// # let length = path.metadata()?.len();
    /// # std::fs::OpenOptions::new().append(true).open(&path)?.set_len(length - 1)?;
    /// assert!(Recovery::end_of(&path)?.is_truncated());
    /// Recovery::new().extend_by(100).repair(&path)?;
    /// let end = Recovery::end_of(&path)?;
    /// assert_eq!((end.stated, end.length), (Some(length + 100), length + 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn extend_by(mut self, bytes: u64) -> Self {
        self.repair.increment = Some(bytes);
        self
    }

    /// Returns the end of file that the superblock states, and the real end of the file. The file
    /// is not changed, and a journal is ignored.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be read, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if it has no superblock.
    pub fn end_of(path: impl AsRef<Path>) -> Result<EndRepair> {
        let failed = |source| Error::Io { action: "cannot open the file".into(), source };
        let path = path.as_ref();
        match members_of(path, Access::ReadOnly)? {
            Some(members) => ends(&*members),
            None => ends(&Sec2::open(path, Access::ReadOnly).map_err(failed)?),
        }
    }

    /// Repairs a file in place after its writer did not close it. Replays the journal and clears
    /// the status flags. If the file is longer than the superblock states, corrects the end of file
    /// there. Metadata blocks are not checked.
    ///
    /// ```
    /// use hyperslab::{File, Recovery};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("unclosed.h5");
    /// # File::create(&path)?.close()?;
    /// # std::fs::OpenOptions::new().append(true).open(&path)?.set_len(5000)?;
    /// let repaired = Recovery::new().repair(&path)?;
    /// assert!(repaired.journal.is_none());
    /// assert!(repaired.end.is_some_and(|end| end.corrected && end.length == 5000));
    /// assert!(!Recovery::new().repair(&path)?.found_anything());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Locked`](crate::ErrorKind::Locked) if another program has the file
    /// locked or, as far as the system reports it, open for writing (SWMR writers of libhdf5 hold
    /// no lock). Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if locking is off and
    /// [`unlocked`](Self::unlocked) is not set, [`ErrorKind::Io`](crate::ErrorKind::Io) if the file
    /// cannot be written, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the superblock
    /// is damaged or the journal does not belong to the current state of the file.
    pub fn repair(&self, path: impl AsRef<Path>) -> Result<Repaired> {
        let path = path.as_ref();
        let failed = |source| Error::Io { action: "cannot repair the file".into(), source };
        let driver: Arc<dyn Driver> = match members_of(path, Access::ReadWrite)? {
            Some(members) => members,
            None => Arc::new(Sec2::open(path, Access::ReadWrite).map_err(failed)?),
        };
        let is_locked = self.lock(&*driver)?;
        let repaired = self.repair_locked(&driver, journal_of(path));
        if is_locked {
            driver.unlock().map_err(failed)?;
        }
        repaired
    }

    fn repair_locked(&self, driver: &Arc<dyn Driver>, side: Arc<dyn SideFile>) -> Result<Repaired> {
        let journal = match self.repair.discard_journal {
            false => journal::delete_unlinked(driver, Arc::clone(&side))?,
            true => None,
        };
        let mut repaired = repair(driver, &*side, self.repair)?;
        repaired.journal = journal.or(repaired.journal);
        Ok(repaired)
    }

    /// Locks the file to repair and checks that no process has the file open for writing. Returns
    /// `true` if the file is locked.
    fn lock(&self, driver: &dyn Driver) -> Result<bool> {
        let kind = LockKind::Exclusive;
        let locking = crate::locking::choose(self.locking);
        let is_locked = match locking {
            FileLocking::Off if !self.unlocked => {
                return Err(Error::Misuse(
                    "file locking is off, so a running writer cannot be detected, and a repair would remove its \
                     journal and clear its status flags: switch locking on, or, if no program writes to the \
                     file, ask for a repair without a lock"
                        .into(),
                ));
            }
            FileLocking::Off => false,
            FileLocking::On | FileLocking::BestEffort => match driver.lock(kind) {
                Ok(()) => true,
                Err(DriverError::Unsupported { .. }) if locking == FileLocking::BestEffort => false,
                Err(DriverError::Locked { name, holders }) => {
                    return Err(Error::Locked { name, kind, holders });
                }
                Err(source) => return Err(Error::Io { action: "cannot lock the file".into(), source }),
            },
        };
        let writers = find_writers(driver.identity().as_ref());
        if !self.unlocked && !writers.0.is_empty() {
            return Err(Error::Locked { name: driver.name().to_owned(), kind, holders: writers });
        }
        Ok(is_locked)
    }

    /// Copies the readable parts of the file at `source` to a new file at `target`. An existing
    /// file at `target` is replaced.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if no byte of `source` can be read or
    /// `target` cannot be written, and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if both are
    /// the same file.
    pub fn salvage(&self, source: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<Salvaged> {
        let (source, target) = (source.as_ref(), target.as_ref());
        if is_same_file(source, target) {
            return Err(Error::Misuse("the damaged file cannot be its own copy".into()));
        }
        let source = self.options.clone().salvage().open_at(source)?;
        let source = Arc::new(source);
        let (file, salvaged) = self.save(&source, |options| options.create(target))?;
        file.close()?;
        Ok(salvaged)
    }

    /// Copies the readable parts of a file image to a new file image, like
    /// [`salvage`](Self::salvage).
    ///
    /// # Errors
    /// Returns the errors of [`salvage`](Self::salvage).
    pub fn salvage_bytes(&self, bytes: impl Into<Arc<[u8]>>) -> Result<(Vec<u8>, Salvaged)> {
        let driver: Arc<dyn Driver> = Arc::new(Core::image("damaged file", bytes.into()));
        let source = self.options.clone().salvage().open_image(driver)?;
        let source = Arc::new(source);
        let (file, salvaged) = self.save(&source, FileOptions::create_in_memory)?;
        Ok((file.to_bytes()?, salvaged))
    }

    fn save(
        &self,
        source: &Arc<OpenFile>,
        create: impl Fn(FileOptions) -> Result<File>,
    ) -> Result<(File, Salvaged)> {
        let target = match create(self.like(source)) {
            Ok(target) => target,
            // The properties that a damaged file states may be invalid. The new file then has the
            // default properties.
            Err(error) if error.kind() == crate::ErrorKind::Io => return Err(error),
            Err(_) => create(self.bounded(FileOptions::new()))?,
        };
        let collector = Collector::default();
        {
            let to = target.root().file();
            let mut edit = to.edit()?;
            let search = self.search;
            to.salvage_contents(&mut edit, source, &collector, || search && collector.has_losses())?;
            to.finish(edit)?;
        }
        Ok((target, collector.finish()))
    }

    fn bounded(&self, options: FileOptions) -> FileOptions {
        match self.libver {
            Some(bounds) => options.libver(bounds),
            None => options,
        }
    }

    /// Returns the options for the new file of a salvage, which is like the damaged file: it has
    /// the same fixed properties, such as the sizes of addresses.
    fn like(&self, source: &OpenFile) -> FileOptions {
        let info = crate::FileInfo::of(&source.container);
        let options = FileOptions::new()
            .sizes(info.size_of_offsets, info.size_of_lengths)
            .symbol_table_ranks(info.group_internal_k, info.group_leaf_k)
            .chunk_btree_rank(info.indexed_storage_k)
            .filters(source.container.store.filters());
        self.bounded(options)
    }
}
