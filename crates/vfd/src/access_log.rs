//! The counters of a [`Log`](crate::Log), and the report of their values.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyperslab_exact::{to_u64, to_usize};

/// The largest number of rows in which a formatted access report shows the map of file accesses.
const MAX_MAP_ROWS: usize = 32;

/// The kind of a file operation (a read, a write and so on) that is counted in the access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoggedOperation {
    Read,
    Write,
    SetLength,
    Flush,
    Sync,
    Lock,
}

impl LoggedOperation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::SetLength => "set length",
            Self::Flush => "flush",
            Self::Sync => "sync",
            Self::Lock => "lock",
        }
    }
}

/// Counters of the reads, writes and other operations on a file. Several drivers and threads may
/// share the counters.
#[derive(Debug, Default)]
pub struct AccessLog {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    report: AccessReport,
    map: Option<Map>,
}

/// The counters of the reads, or of the writes, of a file in the access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// The number of calls of the driver.
    pub calls: u64,
    /// The number of ranges in these calls. One call may have several ranges.
    pub ranges: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The total duration of the calls, summed over all threads.
    pub time: Duration,
}

/// The values of all counters of an access log of a file at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AccessReport {
    /// The reads.
    pub reads: Traffic,
    /// The writes.
    pub writes: Traffic,
    /// The number of changes of the length.
    pub set_lengths: u64,
    /// The number of flushes of buffers to the system.
    pub flushes: u64,
    /// The number of syncs to the disk.
    pub syncs: u64,
    /// The number of acquired and released locks.
    pub locks: u64,
    /// The number of failed calls.
    pub errors: u64,
    /// The accesses to each part of the file; empty unless the log [counts
    /// bytes](AccessLog::counting_bytes).
    pub cells: Vec<AccessCell>,
    /// The number of bytes of a cell.
    pub cell_size: u64,
}

/// The numbers of bytes that were read and written in one cell of an access log. A cell is a part
/// of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccessCell {
    /// The number of bytes read. A byte that is read twice counts twice.
    pub read: u64,
    /// The number of bytes written. A byte that is written twice counts twice.
    pub written: u64,
}

/// The access map of an access log. It counts the bytes read and written in each cell (part) of the
/// file. The number of cells is bounded: if a file offset lies beyond the last cell, the cell size
/// doubles.
#[derive(Debug)]
struct Map {
    max_cells: usize,
    cell_size: u64,
    cells: Vec<AccessCell>,
}

impl Map {
    fn add(&mut self, offset: u64, length: u64, operation: LoggedOperation) {
        // A range beyond 64 bits belongs to no file.
        let Some(end) = offset.checked_add(length).filter(|_| length > 0) else { return };
        let max_cells = to_u64(self.max_cells);
        while self.cell_size.checked_mul(max_cells).is_some_and(|reach| end > reach) {
            self.coarsen();
        }
        // Both indexes are less than `max_cells` now.
        let (first, last) = (offset / self.cell_size, (end - 1) / self.cell_size);
        let (Ok(first), Ok(last)) = (to_usize(first), to_usize(last)) else { return };
        if self.cells.len() <= last {
            self.cells.resize(last + 1, AccessCell::default());
        }
        let mut at = offset;
        for cell in self.cells.iter_mut().take(last + 1).skip(first) {
            let inside = at % self.cell_size;
            let count = (self.cell_size - inside).min(end - at);
            let sum = if operation == LoggedOperation::Write { &mut cell.written } else { &mut cell.read };
            *sum += count;
            at += count;
        }
    }

    /// Doubles the cell size of the access map. Each new cell holds the sum of two old neighbouring
    /// cells.
    fn coarsen(&mut self) {
        self.cell_size *= 2;
        let sum = |pair: &[AccessCell]| {
            pair.iter().fold(AccessCell::default(), |sum, cell| AccessCell {
                read: sum.read + cell.read,
                written: sum.written + cell.written,
            })
        };
        self.cells = self.cells.chunks(2).map(sum).collect();
    }
}

impl AccessLog {
    /// Creates an access log that counts the calls of a file driver and the bytes that they
    /// transfer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an access log that also counts the bytes read and written in each part of the file.
    /// The parts are at most `max_cells` cells of equal size, and at least one cell.
    ///
    /// A cell takes 16 bytes of memory. It covers one byte of the file if `max_cells` suffice,
    /// otherwise 2, 4, 8, … bytes.
    pub fn counting_bytes(max_cells: usize) -> Self {
        let map = Map { max_cells: max_cells.max(1), cell_size: 1, cells: Vec::new() };
        Self { counts: Mutex::new(Counts { map: Some(map), ..Counts::default() }) }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // Poisoning is harmless: the data are only numbers.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation on the file in the access log.
    pub(crate) fn record(
        &self,
        operation: LoggedOperation,
        ranges: &[(u64, u64)],
        time: Duration,
        failed: bool,
    ) {
        let mut counts = self.counts();
        let Counts { report, map } = &mut *counts;
        report.errors += u64::from(failed);
        let count = match operation {
            LoggedOperation::Read | LoggedOperation::Write => {
                let traffic =
                    if operation == LoggedOperation::Read { &mut report.reads } else { &mut report.writes };
                for (offset, length) in ranges {
                    traffic.ranges += 1;
                    traffic.bytes += *length;
                    if let Some(map) = map.as_mut().filter(|_| !failed) {
                        map.add(*offset, *length, operation);
                    }
                }
                traffic.time += time;
                &mut traffic.calls
            }
            LoggedOperation::SetLength => &mut report.set_lengths,
            LoggedOperation::Flush => &mut report.flushes,
            LoggedOperation::Sync => &mut report.syncs,
            LoggedOperation::Lock => &mut report.locks,
        };
        *count += 1;
    }

    /// Returns the current values of all counters of the access log.
    pub fn report(&self) -> AccessReport {
        let counts = self.counts();
        let mut report = counts.report.clone();
        if let Some(map) = &counts.map {
            report.cells.clone_from(&map.cells);
            report.cell_size = map.cell_size;
        }
        report
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, ranges, bytes, time } = self;
        write!(f, "{bytes} bytes in {ranges} ranges and {calls} calls, {:.3} ms", time.as_secs_f64() * 1e3)
    }
}

/// Formats one line for each kind of operation, and a map of the accesses if bytes were counted.
impl fmt::Display for AccessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "read   {}", self.reads)?;
        writeln!(f, "write  {}", self.writes)?;
        let Self { set_lengths, flushes, syncs, locks, errors, .. } = self;
        write!(
            f,
            "other  {set_lengths} changes of length, {flushes} flushes, {syncs} syncs, {locks} locks, {errors} errors"
        )?;
        if self.cells.is_empty() {
            return Ok(());
        }
        write!(f, "\n       offset     reads per byte    writes per byte")?;
        let per_row = self.cells.len().div_ceil(MAX_MAP_ROWS).max(1);
        let mut start = 0_u64;
        for row in self.cells.chunks(per_row) {
            // Saturates: the end of the last cell may not fit in 64 bits.
            let size = self.cell_size.saturating_mul(to_u64(row.len()));
            let read = row.iter().map(|cell| cell.read).sum();
            let written = row.iter().map(|cell| cell.written).sum();
            write!(f, "\n{start:>13} {:>18.3} {:>18.3}", ratio(read, size), ratio(written, size))?;
            start = start.saturating_add(size);
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn ratio(count: u64, size: u64) -> f64 {
    count as f64 / size.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(ranges: &[(u64, u64)], max_cells: usize) -> AccessReport {
        let log = AccessLog::counting_bytes(max_cells);
        for range in ranges {
            log.record(LoggedOperation::Read, &[*range], Duration::ZERO, false);
        }
        log.report()
    }

    #[test]
    fn bytes_are_counted_one_by_one_while_cells_suffice() {
        let report = log(&[(2, 3), (4, 2), (0, 0)], 8);
        let read: Vec<u64> = report.cells.iter().map(|cell| cell.read).collect();
        assert_eq!((report.cell_size, read), (1, vec![0, 0, 1, 1, 2, 1]));
    }

    #[test]
    fn cells_grow_and_lose_no_count() {
        let ranges = [(2, 3), (4, 2), (9, 20), (30, 1), (1 << 40, 5)];
        for end in 1..=ranges.len() {
            let report = log(&ranges[..end], 4);
            assert!(report.cells.len() <= 4);
            let sum: u64 = report.cells.iter().map(|cell| cell.read).sum();
            assert_eq!(sum, ranges[..end].iter().map(|(_, length)| length).sum::<u64>());
        }
        assert_eq!(log(&[(u64::MAX - 3, 3)], 4).cell_size, 1 << 62);
        assert!(log(&[(u64::MAX, 3)], 1).cells.is_empty(), "no file reaches past 64 bits");
    }

    #[test]
    fn the_report_is_for_people() {
        let mut report = log(&[(0, 4), (2, 2)], 4);
        report.reads.time = Duration::from_micros(1500);
        assert_eq!(
            report.to_string(),
            "read   6 bytes in 2 ranges and 2 calls, 1.500 ms\n\
             write  0 bytes in 0 ranges and 0 calls, 0.000 ms\n\
             other  0 changes of length, 0 flushes, 0 syncs, 0 locks, 0 errors\n       \
             offset     reads per byte    writes per byte\n            \
             0              1.000              0.000\n            \
             1              1.000              0.000\n            \
             2              2.000              0.000\n            \
             3              2.000              0.000"
        );
        assert_eq!(AccessLog::new().report().to_string().lines().count(), 3);
        let many = log(&[(0, 1000)], 4096).to_string();
        assert_eq!(many.lines().count(), 4 + 32);
    }
}
