//! The driver that reads an object of a store by byte ranges.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use hyperslab::vfd::{Driver, DriverError, FileIdentity, LockKind, ReadRequest, Result};
use hyperslab_exact::{to_u64, to_usize};

use crate::ahead;
use crate::counters::Usage;
use crate::fetcher::Fetcher;
use crate::held::Keep;
use crate::notes::Notes;
use crate::ranges::merge;
use crate::streamed;

/// The largest number of bytes that a read fetches before it copies them.
const BATCH_BYTES: u64 = 16 << 20;

/// The largest number of bytes that a read of the next bytes in a row fetches in addition.
const MAX_READ_AHEAD_BYTES: u64 = 4 << 20;

/// The largest number of bytes that one attempt of reads in advance fetches.
const MAX_AHEAD_BYTES: u64 = 64 << 20;

/// The largest number of attempts of reads in advance. Metadata structures have few levels.
const MAX_AHEAD_ATTEMPTS: usize = 32;

/// The number of attempts to read bytes through the memory of the fetcher. Other readers may take
/// the memory between the fetch and the copy.
const ATTEMPTS: usize = 3;

/// A driver that reads an object of a store, or of a web server, by byte ranges. It only reads.
///
/// Small reads fetch lines of 64 KiB, or of a page, which stay in memory. Large reads fetch exactly
/// their bytes. Each call blocks its thread until the bytes are there.
#[derive(Debug, Clone)]
pub struct CloudDriver {
    fetcher: Arc<Fetcher>,
    state: Arc<State>,
    /// The notes of missing bytes, if reads do not wait for them.
    notes: Option<Arc<Notes>>,
}

#[derive(Debug)]
struct State {
    line: AtomicU64,
    /// The end of the last lines that a read fetched, and the number of bytes read ahead then.
    last_end: AtomicU64,
    ahead: AtomicU64,
}

impl CloudDriver {
    pub(crate) fn new(fetcher: Arc<Fetcher>, line: u64) -> Self {
        let state = State {
            line: AtomicU64::new(line.max(1)),
            last_end: AtomicU64::new(0),
            ahead: AtomicU64::new(0),
        };
        Self { fetcher, state: Arc::new(state), notes: None }
    }

    /// Creates a driver whose reads do not wait: a read of missing bytes notes them and fails.
    pub(crate) fn noting(fetcher: Arc<Fetcher>, line: u64, notes: Arc<Notes>) -> Self {
        Self { notes: Some(notes), ..Self::new(fetcher, line) }
    }

    /// Returns the counts of requests, bytes and rounds since the object was opened.
    pub fn usage(&self) -> Usage {
        self.fetcher.remote.counters().usage()
    }

    /// Returns whether the store can tell that the object was replaced. Without an `ETag` and a
    /// time of change, only a change of the length is noticed.
    pub fn notices_changes(&self) -> bool {
        self.fetcher.remote.is_guarded()
    }

    /// Returns the version of the object (its `ETag`), if the store has versions.
    pub fn version(&self) -> Option<&str> {
        self.fetcher.remote.tag()
    }

    /// Sets the number of bytes that small reads fetch.
    pub(crate) fn set_line(&self, bytes: u64) {
        self.state.line.store(bytes.max(1), Relaxed);
    }

    fn size(&self) -> u64 {
        self.fetcher.remote.size()
    }

    /// Returns the range of a read, which must end inside the object.
    fn range(&self, offset: u64, length: usize) -> Result<Range<u64>> {
        let length = to_u64(length);
        let name = || self.name().to_owned();
        let end = offset.checked_add(length).ok_or_else(|| DriverError::TooLarge {
            name: name(),
            offset,
            length,
        })?;
        if end > self.size() {
            return Err(DriverError::PastEnd { name: name(), offset, length, end: self.size() });
        }
        Ok(offset..end)
    }

    /// Returns the notes of missing bytes, if reads of this thread do not wait for them.
    fn notes(&self) -> Option<Arc<Notes>> {
        self.notes.clone().or_else(|| ahead::notes_of(&self.fetcher))
    }

    /// Calls `work` until its reads find all bytes, and fetches the missing bytes after each call.
    /// Returns the number of fetched bytes.
    fn fetch_ahead(&self, work: &mut dyn FnMut()) -> u64 {
        let mut fetched = 0;
        for _ in 0..MAX_AHEAD_ATTEMPTS {
            let Some(missing) = ahead::missing_of(&self.fetcher, work) else { break };
            let mut ranges = missing.lines;
            ranges.extend(missing.raw);
            ranges.sort_unstable_by_key(|range| (range.start, range.end));
            let ranges = merge(&ranges);
            let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            if bytes == 0 || bytes > MAX_AHEAD_BYTES || self.fetcher.wait_for(ranges, Keep::Lines).is_err() {
                // The reads after this one report the error.
                break;
            }
            fetched += bytes;
        }
        fetched
    }

    /// Returns the bytes of a range if they are in memory.
    fn take(&self, range: &Range<u64>) -> Option<Vec<Bytes>> {
        let Some(whole) = self.fetcher.remote.whole() else { return self.fetcher.take(range) };
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        (end <= whole.len()).then(|| vec![whole.slice(start..end)])
    }

    /// Returns the lines with the bytes of a small read, and lines after them if the reads are in
    /// a row.
    fn lines(&self, range: &Range<u64>) -> Range<u64> {
        let line = self.state.line.load(Relaxed);
        let start = range.start - range.start % line;
        let in_a_row = self.state.last_end.load(Relaxed) == start && start > 0;
        let ahead = if in_a_row {
            (self.state.ahead.load(Relaxed) * 2).clamp(line, MAX_READ_AHEAD_BYTES.max(line))
        } else {
            0
        };
        let end = range.end.checked_next_multiple_of(line).and_then(|end| end.checked_add(ahead));
        let end = end.map_or(self.size(), |end| end.min(self.size()));
        self.state.ahead.store(ahead, Relaxed);
        self.state.last_end.store(end, Relaxed);
        start..end
    }

    /// Notes the bytes of a read that has failed, or of a read that is announced.
    fn note(&self, notes: &Notes, range: &Range<u64>, has_failed: bool) {
        let line = self.state.line.load(Relaxed);
        if range.end - range.start > line {
            return notes.note(|missing| {
                missing.has_failed |= has_failed;
                missing.raw.push(range.clone());
            });
        }
        let start = range.start - range.start % line;
        let end = range.end.checked_next_multiple_of(line).map_or(self.size(), |end| end.min(self.size()));
        notes.note(|missing| {
            missing.has_failed |= has_failed;
            missing.lines.push(start..end);
        });
    }

    /// Fills a buffer with bytes that are there; otherwise notes them and fails.
    fn read_or_note(&self, notes: &Notes, range: &Range<u64>, buffer: &mut [u8]) -> Result<()> {
        if let Some(pieces) = self.take(range) {
            copy(&pieces, buffer);
            return Ok(());
        }
        self.note(notes, range, true);
        Err(DriverError::NotYet { name: self.name().to_owned() })
    }

    /// Returns whether a range is read straight into the caller's buffer: it is long, and was not
    /// announced.
    fn is_streamed(&self, range: &Range<u64>) -> bool {
        let length = range.end - range.start;
        if length < streamed::MIN_BYTES || self.fetcher.remote.whole().is_some() {
            return false;
        }
        let held = self.fetcher.held();
        let missing: u64 = held.missing(range).iter().map(|part| part.end - part.start).sum();
        let is_new = held.not_pending(range).as_slice() == std::slice::from_ref(range);
        drop(held);
        missing >= length / 2 && is_new && !self.fetcher.is_announced(range)
    }

    /// Fills a buffer with a range of at most [`BATCH_BYTES`].
    fn read_batch(&self, range: &Range<u64>, buffer: &mut [u8]) -> Result<()> {
        for attempt in 0..ATTEMPTS {
            if let Some(pieces) = self.take(range) {
                copy(&pieces, buffer);
                self.fetcher.send_announced();
                return Ok(());
            }
            if attempt == 0 {
                self.fetcher.send_announced_of(range);
            }
            if range.end - range.start <= self.state.line.load(Relaxed) {
                self.fetcher.wait_for(vec![self.lines(range)], Keep::Lines)?;
            } else {
                self.fetcher.wait_for(vec![range.clone()], Keep::UntilRead)?;
            }
        }
        copy(&[self.fetcher.read_directly(range.clone())?], buffer);
        Ok(())
    }
}

/// Copies pieces to a buffer of the same length.
fn copy(pieces: &[Bytes], buffer: &mut [u8]) {
    let mut rest = buffer;
    for piece in pieces {
        let Some((to, after)) = rest.split_at_mut_checked(piece.len()) else { return };
        to.copy_from_slice(piece);
        rest = after;
    }
}

impl Driver for CloudDriver {
    fn name(&self) -> &str {
        self.fetcher.remote.name()
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn len(&self) -> Result<u64> {
        Ok(self.size())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let range = self.range(offset, buf.len())?;
        if let Some(notes) = self.notes() {
            return self.read_or_note(&notes, &range, buf);
        }
        if self.is_streamed(&range) {
            return streamed::read_into(&self.fetcher, &range, buf);
        }
        let mut rest = buf;
        let mut start = range.start;
        while start < range.end {
            let batch = start..start + (range.end - start).min(BATCH_BYTES);
            let length = to_usize(batch.end - batch.start)?;
            let Some((to, after)) = rest.split_at_mut_checked(length) else { break };
            self.read_batch(&batch, to)?;
            (rest, start) = (after, batch.end);
        }
        Ok(())
    }

    fn read_ahead(&self, work: &mut dyn FnMut()) -> u64 {
        if self.fetcher.remote.whole().is_some() {
            return 0;
        }
        if self.notes().is_some() {
            // The reads note what is missing for the work around this one.
            work();
            return 0;
        }
        self.fetch_ahead(work)
    }

    fn expect_read(&self, offset: u64, length: usize) {
        if let Ok(range) = self.range(offset, length) {
            self.expect_many(&[range]);
        }
    }

    fn expect_many(&self, ranges: &[Range<u64>]) {
        let inside = ranges.iter().filter(|range| range.end <= self.size());
        if let Some(notes) = self.notes() {
            let held = self.fetcher.held();
            let missing: Vec<_> = inside.filter(|range| !held.missing(range).is_empty()).collect();
            drop(held);
            missing.into_iter().for_each(|range| notes.note(|missing| missing.raw.push(range.clone())));
        } else if self.fetcher.remote.whole().is_none() {
            self.fetcher.announce(&inside.cloned().collect::<Vec<_>>());
        }
    }

    fn expects_many(&self) -> bool {
        self.fetcher.remote.whole().is_none()
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let ranges = requests.iter().map(|request| self.range(request.offset, request.buf.len()));
        let ranges = ranges.collect::<Result<Vec<_>>>()?;
        if ranges.len() > 1 {
            self.expect_many(&ranges);
        }
        if let Some(notes) = self.notes() {
            let outcomes = requests.iter_mut().zip(&ranges);
            let outcomes: Vec<_> =
                outcomes.map(|(request, range)| self.read_or_note(&notes, range, request.buf)).collect();
            return outcomes.into_iter().collect();
        }
        requests.sort_unstable_by_key(|request| request.offset);
        requests.iter_mut().try_for_each(|request| self.read_at(request.offset, request.buf))
    }

    fn write_at(&self, _: u64, _: &[u8]) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name().to_owned() })
    }

    fn set_len(&self, _: u64) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name().to_owned() })
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }
}
