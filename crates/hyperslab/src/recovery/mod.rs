//! What is left of damaged files.

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

pub use hyperslab_engine::store::{EndRepair, JournalRepair, MarksRepair, Repaired};
pub use journal::{JournalComparison, JournalOutcome, JournalReport, JournalVerdict};
pub use report::{ChunkTally, Loss, LossPart, Outcome, Salvaged, SalvagedObject, SalvagedState};

/// Saves what can be read of a damaged file into a new one: a truncated file, one that a program has left in the middle of
/// a change, one with bad sectors.
///
/// Damage is passed over part by part: nodes of indexes, links, attributes, chunks, elements of variable length. Chunks and
/// elements that cannot be read have the fill value in the new file. Where something is lost, the file is searched for
/// objects that no sound link leads to any more; they come into the group `/lost+found`, under the addresses that they had.
/// The damaged file is only read.
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
    /// With the built-in filters and limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the damaged file is opened: driver, filters, limits.
    #[must_use]
    pub fn options(mut self, options: OpenOptions) -> Self {
        self.options = options;
        self
    }

    /// The versions of the library that shall read the new file.
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.libver = Some(bounds);
        self
    }

    /// Returns whether the file is searched for objects that nothing leads to, where something is lost: yes, if nothing is said.
    /// Among them may be objects that were deleted before the damage.
    /// Objects whose links are known but cannot be made (two of one name, say) go to `/lost+found` either way.
    #[must_use]
    pub fn search(mut self, yes: bool) -> Self {
        self.search = yes;
        self
    }

    /// In place: a journal beside the file is removed, whatever it says, instead of being replayed.
    #[must_use]
    pub fn discard_journal(mut self, yes: bool) -> Self {
        self.repair.discard_journal = yes;
        self
    }

    /// In place: whether the file is locked meanwhile, so that no writer lives; what `HDF5_USE_FILE_LOCKING` says, else
    /// [`FileLocking::BestEffort`], if nothing is said.
    #[must_use]
    pub fn locking(mut self, locking: FileLocking) -> Self {
        self.locking = Some(locking);
        self
    }

    /// In place: the file is put right although it is not locked, or a process has it open for writing. To be asked for by who
    /// knows that no writer lives: the marks and the journal of a writer that lives would be taken from it.
    #[must_use]
    pub fn unlocked(mut self, yes: bool) -> Self {
        self.unlocked = yes;
        self
    }

    /// In place: the superblock of a file that is shorter than it says shall say how long it is. To be asked for where a
    /// check has shown that nothing lies behind the end; what does is lost.
    #[must_use]
    pub fn cut_end(mut self, yes: bool) -> Self {
        self.repair.cut_end = yes;
        self
    }

    /// In place: the marks that say that the file is being written stay.
    #[must_use]
    pub fn keep_marks(mut self, yes: bool) -> Self {
        self.repair.keep_marks = yes;
        self
    }

    /// In place: the end that the superblock states (its end of file address, section II.A of the specification) stays, also
    /// if the file is longer.
    #[must_use]
    pub fn keep_end(mut self, yes: bool) -> Self {
        self.repair.keep_end = yes;
        self
    }

    /// In place: the file gets so many bytes behind the later of its stated and its real end, and the superblock says so.
    ///
    /// ```
    /// use hyperslab::{File, Recovery};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("short.h5");
    /// # File::create(&path)?.close()?;
    /// # let length = path.metadata()?.len();
    /// # std::fs::OpenOptions::new().append(true).open(&path)?.set_len(length - 1)?;
    /// assert!(Recovery::end_of(&path)?.is_truncated());
    /// Recovery::new().room(100).repair(&path)?;
    /// let end = Recovery::end_of(&path)?;
    /// assert_eq!((end.stated, end.length), (Some(length + 100), length + 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn room(mut self, bytes: u64) -> Self {
        self.repair.room = Some(bytes);
        self
    }

    /// Where a file ends, by its superblock and in truth. Nothing is changed, and a journal is not looked at.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read, [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if it
    /// has no superblock.
    pub fn end_of(path: impl AsRef<Path>) -> Result<EndRepair> {
        let failed = |source| Error::Io { action: "cannot open the file".into(), source };
        let path = path.as_ref();
        match members_of(path, Access::ReadOnly)? {
            Some(members) => ends(&*members),
            None => ends(&Sec2::open(path, Access::ReadOnly).map_err(failed)?),
        }
    }

    /// Puts a file right in place that its writer has not closed: replays its journal, clears the marks that say that it is
    /// being written, and corrects the stated end of a file that is longer. Blocks of metadata are not looked at.
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
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if somebody has the file locked, or, as far as the system tells, open
    /// for writing (SWMR writers of libhdf5 hold no lock); [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if locking is
    /// off and [`unlocked`](Self::unlocked) was not asked for; [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be written;
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the superblock is damaged, or the journal does not belong to what
    /// the file has become.
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

    /// Keeps writers away, and makes sure that there is none. Returns whether the file is locked now.
    fn lock(&self, driver: &dyn Driver) -> Result<bool> {
        let kind = LockKind::Exclusive;
        let locking = crate::locking::choose(self.locking);
        let is_locked = match locking {
            FileLocking::Off if !self.unlocked => {
                return Err(Error::Misuse(
                    "locking is off, so that a writer may live whose marks and journal would be taken from it: let the \
                     file be locked, or ask for it to be put right unlocked if you know that nobody writes it"
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

    /// Saves what is left of the file at `source` into a new one at `target`, in place of a file that is there.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if `source` cannot be read at all or `target` not be written,
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if both are the same.
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

    /// As [`salvage`](Self::salvage), of a file image, to another one.
    ///
    /// # Errors
    /// As [`salvage`](Self::salvage).
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
            // What a damaged file says of itself need not be possible.
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

    /// A new file with what cannot be changed later as in the damaged one.
    fn like(&self, source: &OpenFile) -> FileOptions {
        let info = crate::FileInfo::of(&source.container);
        let options = FileOptions::new()
            .sizes(info.size_of_offsets, info.size_of_lengths)
            .symbol_table_ranks(info.group_internal_k, info.group_leaf_k)
            .chunk_btree_rank(info.indexed_storage_k)
            .filters(source.container.store.filters().clone());
        self.bounded(options)
    }
}
