//! The handling of a journal that a writer left beside a file, when the file is opened.

use std::fmt;
use std::sync::Arc;

use hyperslab_vfd::{Driver, SideFile};

use super::journal::{
    self, FoundJournal, Journal, JournalReport, JournalVerdict, KeptJournal, RecoverFor, Recovered,
};
use super::options::{Durability, StoreOptions};
use crate::error::{Error, Result};

/// The action that the opening of a file took on the journal beside the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalOutcome {
    /// The journal was replayed: its commits are in the file, or are laid over the file in memory
    /// if the file is only read.
    Replayed(JournalReport),
    /// The file already held all commits of the journal. The journal is removed, or stays if the
    /// file is only read.
    Applied(JournalReport),
    /// The journal does not belong to the file and was renamed. The file is unchanged.
    SetAside {
        /// The new path of the journal.
        name: String,
        /// The comparison with the file, unless the journal's header is damaged.
        report: Option<JournalReport>,
    },
    /// The journal does not belong to the file, which is only read. Both are unchanged.
    Ignored {
        /// The path of the journal.
        name: String,
        /// The comparison with the file, unless the journal's header is damaged.
        report: Option<JournalReport>,
    },
}

impl JournalOutcome {
    /// Returns the addresses of unlinked objects that the previous writer of the file held open.
    /// The object headers of these objects are in the file, but no link leads to the objects.
    pub fn unlinked(&self) -> &[u64] {
        match self {
            Self::Replayed(report) | Self::Applied(report) => &report.unlinked,
            Self::SetAside { .. } | Self::Ignored { .. } => &[],
        }
    }

    /// Returns whether a program should warn its users that the commits of the journal are not in
    /// the file.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::SetAside { .. } | Self::Ignored { .. })
    }
}

/// Writes the fate on one line.
impl fmt::Display for JournalOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let story = |report: &Option<JournalReport>, name: &str| match report {
            Some(report) => report.to_string(),
            None => format!("the header of the journal `{name}` is damaged"),
        };
        match self {
            Self::Replayed(report) => write!(f, "{report}; they were replayed"),
            Self::Applied(report) => write!(f, "{report}"),
            Self::SetAside { name, report } => {
                write!(
                    f,
                    "{}. The journal was set aside as `{name}`, and the file is unchanged",
                    story(report, name)
                )
            }
            Self::Ignored { name, report } => {
                write!(f, "{}. The journal is ignored, and the file is unchanged", story(report, name))
            }
        }
    }
}

/// A journal that was left beside a file, and the report on the recovery of the file from it.
pub(super) struct LeftJournal {
    side: Option<Arc<dyn SideFile>>,
    found: FoundJournal,
    write: bool,
    kept: Option<KeptJournal>,
}

impl LeftJournal {
    /// Recovers the file from the journal beside it, if a journal exists. Returns the driver of the
    /// recovered file, and the journal.
    pub(super) fn recover(
        driver: Arc<dyn Driver>,
        options: &StoreOptions,
    ) -> Result<(Arc<dyn Driver>, Self)> {
        let write = options.write.is_some();
        let Some(side) = options.journal.clone() else {
            return Ok((driver, Self { side: None, found: FoundJournal::Absent, write, kept: None }));
        };
        let journals = options.durability != Durability::None && !driver.kind().has_member_ends();
        let purpose = match () {
            () if !write => RecoverFor::Reading,
            () if journals => RecoverFor::Journaling,
            () => RecoverFor::Writing,
        };
        let Recovered { driver, found, kept } = journal::recover(driver, &*side, purpose)?;
        if found == FoundJournal::Unrelated && write && options.durability != Durability::None {
            return Err(unrelated(&*side));
        }
        Ok((driver, Self { side: Some(side), found, write, kept }))
    }

    fn belongs_to_the_file(&self) -> bool {
        match &self.found {
            FoundJournal::Absent | FoundJournal::Empty | FoundJournal::Unrelated => true,
            FoundJournal::Damaged => false,
            FoundJournal::Compared(report) => report.verdict != JournalVerdict::Foreign,
        }
    }

    /// Explains an error about the file: if a journal beside the file does not belong to it, adds
    /// this fact to the error.
    pub(super) fn explain(&self, error: Error) -> Error {
        let Some(side) = self.side.as_deref().filter(|_| !self.belongs_to_the_file()) else { return error };
        let story = match &self.found {
            FoundJournal::Compared(report) => report.to_string(),
            _ => format!("the header of the journal `{}` is damaged", side.name()),
        };
        error.context(format!("the file cannot be opened without its journal ({story}; nothing was changed)"))
    }

    /// Passes a journal that was left beside the file and lists unlinked objects to the journal of
    /// the file's new writer.
    pub(super) fn hand_over(&mut self, journal: &Journal, length: u64) {
        if let Some(kept) = self.kept.take() {
            journal.adopt(kept, length);
        }
    }

    /// Sets aside a journal that does not belong to the file, after the file was opened
    /// successfully. Returns the action that was taken on the journal.
    pub(super) fn finish(self) -> Result<Option<JournalOutcome>> {
        let belongs = self.belongs_to_the_file();
        let Some(side) = self.side else { return Ok(None) };
        let report = match self.found {
            FoundJournal::Absent | FoundJournal::Empty | FoundJournal::Unrelated => return Ok(None),
            FoundJournal::Damaged => None,
            FoundJournal::Compared(report) => Some(report),
        };
        Ok(Some(match report {
            Some(report) if belongs && report.verdict == JournalVerdict::Pending => {
                JournalOutcome::Replayed(report)
            }
            Some(report) if belongs => JournalOutcome::Applied(report),
            report if self.write => {
                let failed = |source| Error::Io { action: "cannot set the journal aside".into(), source };
                let outcome = JournalOutcome::SetAside { name: side.set_aside().map_err(failed)?, report };
                tracing::warn!("{outcome}");
                outcome
            }
            report => {
                let outcome = JournalOutcome::Ignored { name: side.name().to_owned(), report };
                tracing::warn!("{outcome}");
                outcome
            }
        }))
    }
}

/// Creates an error about a file that is not a journal but has the name of the journal.
pub(super) fn unrelated(side: &dyn SideFile) -> Error {
    Error::Misuse(format!(
        "`{}` is not a journal and was not changed: rename it, choose another path for the journal, or write without a \
         journal (`Durability::None`)",
        side.name()
    ))
}
