//! The state of a file that is open for writing: its space, its journal, and the limits of its
//! committed part.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;
use smallvec::SmallVec;

use super::journal::Journal;
use super::space::{BlockPlacement, Fresh, Space, SpaceRecord, StatedMembers};
use crate::versions::LibverBounds;

/// The state of a writable file for an edit, which is an exclusive right to change the file.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(super) space: Space,
    pub(super) bounds: LibverBounds,
    pub(super) superblock_changed: bool,
    /// The file space info message of the file, if it has one.
    pub(super) record: Option<SpaceRecord>,
    /// The description of the members in the file, if it has one.
    pub(super) stated_members: Option<StatedMembers>,
}

/// The write state of an open file. If the file is open for reading only, the part [`Writing`] is
/// missing.
#[derive(Debug)]
pub(super) struct WriteState {
    pub(super) is_writable: bool,
    /// The right to change the file: `None` in a file that is open for reading only.
    pub(super) writing: RwLock<Option<Writing>>,
    /// The lock of written bytes. A thread that writes bytes holds it shared, and a commit holds it
    /// exclusively, so that no write happens during a commit.
    pub(super) gate: RwLock<()>,
    pub(super) journal: Journal,
    /// The offset from which on no byte is part of the committed file; 0 before the first commit of
    /// a new file.
    new_from: AtomicU64,
    /// The addresses before that offset that are not part of the committed file.
    pub(super) fresh: RwLock<Arc<Fresh>>,
    /// The limit of dirty blocks in bytes.
    pub(super) dirty_limit: u64,
    pub(super) placement: BlockPlacement,
    /// The number of edits of the file.
    generation: AtomicU64,
    /// True if the file may no longer be changed.
    is_closed: AtomicBool,
}

impl WriteState {
    /// Creates the write state of an open file without changes. The committed part of the file ends
    /// before the file offset `new_from`.
    pub(super) fn new(
        writing: Option<Writing>,
        journal: Journal,
        new_from: u64,
        dirty_limit: u64,
        placement: BlockPlacement,
    ) -> Self {
        let fresh = writing.as_ref().map_or_else(Arc::default, |writing| writing.space.fresh());
        Self {
            is_writable: writing.is_some(),
            writing: RwLock::new(writing),
            gate: RwLock::new(()),
            journal,
            new_from: AtomicU64::new(new_from),
            fresh: RwLock::new(fresh),
            dirty_limit,
            placement,
            generation: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Returns the first file offset that is not part of the committed file. Returns 0 before the
    /// first commit of a new file.
    pub(super) fn new_from(&self) -> u64 {
        self.new_from.load(Ordering::Acquire)
    }

    /// Records that the committed part of the file ends before the file offset `from`.
    pub(super) fn set_new_from(&self, from: u64) {
        self.new_from.store(from, Ordering::Release);
    }

    /// Returns the file offset from which on bytes are written directly, without the journal. No
    /// commit contains the bytes from this offset on, and the journal has no record of them.
    pub(super) fn direct_from(&self) -> u64 {
        match self.new_from() {
            0 => 0,
            new_from => new_from.max(self.journal.known().end()),
        }
    }

    /// Records that bytes were written into new space of the file, which no commit contains. Before
    /// the first commit of a new file, records only that a write happened.
    pub(super) fn note_new(&self, offset: u64, bytes: &[u8]) {
        match self.new_from() {
            0 => self.journal.note_write(),
            _ => self.journal.note_new(offset, bytes),
        }
    }

    /// Splits a range of the file into two kinds of parts. The first kind must be written through
    /// the journal, because the journal has a record of its bytes. The second kind need not. If the
    /// range belongs to the committed file, the whole range must be written through the journal.
    pub(super) fn without_known(&self, range: FileRange) -> SmallVec<[FileRange; 3]> {
        let FileRange { start, end, is_new } = range;
        let mut parts = SmallVec::new();
        let mut at = start;
        for (from, to) in if is_new { self.journal.known().parts(start, end) } else { Vec::new() } {
            if at < from {
                parts.push(FileRange { start: at, end: from, is_new: true });
            }
            parts.push(FileRange { start: from, end: to, is_new: false });
            at = to;
        }
        if at < end {
            parts.push(FileRange { start: at, end, is_new });
        }
        parts
    }

    /// Returns the generation of the file: the number of its edits.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Increases the generation of the file, the number of its edits, by one.
    pub(super) fn next_generation(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns whether the file was closed. Edits of a closed file are refused.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Refuses all later edits of the file, because the file is closed.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

/// A range of file offsets, with start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileRange {
    pub(super) start: u64,
    pub(super) end: u64,
    /// True if the bytes may be written directly: they are not part of the committed file, and the
    /// journal has no record of them.
    pub(super) is_new: bool,
}
