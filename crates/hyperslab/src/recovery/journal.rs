//! Inspection of the journal beside a file, and replay of a journal into a copy.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{StoreOptions, journal_report, replay_into_copy};
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{Access, Driver, PathSideFile, Sec2, SideFile};

use super::{JournalRepair, Recovery};
use crate::journal_place::journal_of;
use crate::{File, FileLocking, LibverBounds};

pub use hyperslab_engine::store::{JournalComparison, JournalOutcome, JournalReport, JournalVerdict};

/// Returns the journal of a file to repair: the one at the path `journal` if it is given, else the
/// one beside the file.
fn journal_at(path: &Path, journal: Option<&Path>) -> Arc<dyn SideFile> {
    journal.map_or_else(|| journal_of(path), |journal| Arc::new(PathSideFile::new(journal)) as _)
}

/// Replays the journal in `side` into the file, deletes the unlinked objects that the journal
/// lists, and removes the journal. Returns the treatment of the journal.
///
/// Returns `None` without a change if the journal lists no objects, if the journal does not belong
/// to the file, or if the file cannot be opened.
///
/// # Errors
/// Returns [`Error::Io`] if the file or the journal cannot be written.
pub(super) fn delete_unlinked(
    driver: &Arc<dyn Driver>,
    side: Arc<dyn SideFile>,
) -> Result<Option<JournalRepair>> {
    let Ok(Some(report)) = journal_report(&**driver, &*side) else { return Ok(None) };
    let fate = match report.verdict {
        _ if report.unlinked.is_empty() => return Ok(None),
        JournalVerdict::Pending => JournalRepair::Replayed,
        JournalVerdict::Applied => JournalRepair::Removed,
        _ => return Ok(None),
    };
    let options = StoreOptions {
        write: Some(LibverBounds::DEFAULT),
        journal: Some(side),
        // The caller holds the lock.
        locking: FileLocking::Off,
        ignore_status_flags: true,
        ..StoreOptions::default()
    };
    match OpenFile::open(Arc::clone(driver), options) {
        Ok(file) => file.close().map(|_| Some(fate)),
        Err(error @ Error::Io { .. }) => Err(error),
        // The list of unlinked objects cannot be read, so they are not deleted. The repair
        // continues without this step.
        Err(_) => Ok(None),
    }
}

impl Recovery {
    /// Compares a journal with the file at `path`. The journal is the one at `journal`, or else the
    /// one beside the file. Returns `None` if the journal does not exist or contains no complete
    /// commit. Neither file is changed.
    ///
    /// ```
    /// use hyperslab::{File, Recovery};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("closed.h5");
    /// File::create(&path)?.close()?;
    /// assert!(Recovery::journal_of(&path, None)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if one of the files cannot be read,
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the header of the journal is damaged,
    /// and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file at the path of the journal
    /// is not a journal.
    pub fn journal_of(path: impl AsRef<Path>, journal: Option<&Path>) -> Result<Option<JournalReport>> {
        let failed = |source| Error::Io { action: "cannot open the file".into(), source };
        let path = path.as_ref();
        let file = Sec2::open(path, Access::ReadOnly).map_err(failed)?;
        journal_report(&file, &*journal_at(path, journal))
    }

    /// Copies the file at `path` to a new file at `copy`, and replays a journal into the copy. The
    /// journal is the one at `journal`, or else the one beside the file. The journal is replayed
    /// even if it does not match the file. The file and the journal are not changed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](crate::ErrorKind::Io) if a file cannot be read, or the copy exists
    /// or cannot be written, [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the journal does
    /// not exist, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the journal contains no
    /// complete commit.
    pub fn replay_into(path: impl AsRef<Path>, journal: Option<&Path>, copy: impl AsRef<Path>) -> Result<()> {
        let (path, copy) = (path.as_ref(), copy.as_ref());
        let cannot_copy = |source| {
            let source = hyperslab_vfd::DriverError::io(copy.display().to_string(), "make", source);
            Error::Io { action: "cannot copy the file".into(), source }
        };
        let mut from = std::fs::File::open(path).map_err(cannot_copy)?;
        let mut options = std::fs::OpenOptions::new();
        let mut to = options.write(true).create_new(true).open(copy).map_err(cannot_copy)?;
        let mut replay = || {
            std::io::copy(&mut from, &mut to).map_err(cannot_copy)?;
            let failed = |source| Error::Io { action: "cannot open the copy".into(), source };
            let to = Sec2::open(copy, Access::ReadWrite).map_err(failed)?;
            replay_into_copy(&*journal_at(path, journal), &to)
        };
        replay().inspect_err(|_| {
            // Remove an incomplete copy, because a user could mistake it for a complete copy.
            let _ = std::fs::remove_file(copy);
        })
    }
}

impl File {
    /// Returns the treatment of the journal that was beside the file when the file was opened: for
    /// instance replayed, or set aside because another program has changed the file. Returns `None`
    /// if the file had no journal with a commit.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::File::open(path)?;
    /// assert!(file.journal_outcome().is_none());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn journal_outcome(&self) -> Option<&JournalOutcome> {
        self.root().file().container.store.journal_outcome()
    }
}
