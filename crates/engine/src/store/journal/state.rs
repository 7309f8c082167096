//! The state of a journal, and of its file on the disk.

use std::sync::Arc;

use hyperslab_format::journal::JournalChain;
use hyperslab_vfd::Driver;

/// While a journal lists unlinked objects, commits follow one another up to this length of the journal.
const MAX_LISTING_BYTES: u64 = 256 << 20;

/// The state of a journal between two commits.
#[derive(Debug)]
pub(super) struct State {
    pub(super) file: Option<Arc<dyn Driver>>,
    pub(super) sequence: u64,
    pub(super) chain: JournalChain,
    /// Where the next record begins.
    pub(super) end: u64,
    /// Number of commits.
    pub(super) commits: u64,
    /// The file was not cut below this length since the disk had it.
    pub(super) synced_length: u64,
    pub(super) phase: Phase,
    /// True if records of the next commit are there already.
    pub(super) building: bool,
    /// True if the next commit is the first of its journal: the disk may have the commits before until then.
    pub(super) is_first: bool,
    /// True if the last commit lists unlinked objects.
    pub(super) lists_unlinked: bool,
    /// Why nothing more is written.
    pub(super) broken: Option<&'static str>,
}

/// What the journal on the disk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing, whatever happens to the disk.
    Empty,
    /// Begun anew, with nothing whole; but the disk may still have, or have in part, what was there before.
    Begun,
    /// Commits, the last of which may not stand in the file.
    Committed,
    /// Commits that stand in the file, though perhaps not on its disk.
    Applied,
}

impl State {
    /// Returns whether the next commit must follow those that the journal holds.
    pub(super) fn must_go_on(&self) -> bool {
        let holds_commits = matches!(self.phase, Phase::Committed | Phase::Applied);
        self.lists_unlinked && holds_commits && self.end <= MAX_LISTING_BYTES
    }
}
