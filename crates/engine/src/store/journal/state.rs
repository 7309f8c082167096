//! The state of a journal and of its file on disk.

use std::sync::Arc;

use hyperslab_format::journal::JournalChain;
use hyperslab_vfd::Driver;

/// Largest length in bytes at which commits are still appended to a journal that lists unlinked
/// objects.
const MAX_LISTING_BYTES: u64 = 256 << 20;

/// The state of the journal of an open file between two commits.
#[derive(Debug)]
pub(super) struct JournalState {
    pub(super) file: Option<Arc<dyn Driver>>,
    pub(super) sequence: u64,
    pub(super) chain: JournalChain,
    /// The offset of the next record.
    pub(super) end: u64,
    /// The number of commits in the journal.
    pub(super) commits: u64,
    /// A length that the HDF5 file had when it was synced. The file was not truncated below this
    /// length since then.
    pub(super) synced_length: u64,
    pub(super) phase: Phase,
    /// True if the journal already has records of the next commit.
    pub(super) is_building: bool,
    /// True if the next commit is the first one of its journal. Until that commit, the disk may
    /// still have the commits of the previous journal.
    pub(super) is_first: bool,
    /// True if the last commit lists unlinked objects.
    pub(super) lists_unlinked: bool,
    /// The reason why further writes are refused.
    pub(super) refusal: Option<&'static str>,
}

/// The phase of the journal of an open file, which states the contents of the journal on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// No commits, also after a loss of power.
    Empty,
    /// A new journal without a complete commit. The disk may still have the previous journal, or a
    /// part of it.
    Begun,
    /// Commits, of which the last one may not be in the file.
    Committed,
    /// Commits that are in the file, but perhaps not on the file's disk.
    Applied,
}

impl JournalState {
    /// Returns whether the next commit must be appended to the commits of the journal.
    pub(super) fn must_append(&self) -> bool {
        let holds_commits = matches!(self.phase, Phase::Committed | Phase::Applied);
        self.lists_unlinked && holds_commits && self.end <= MAX_LISTING_BYTES
    }
}
