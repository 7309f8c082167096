//! The extents of new space that were written since the last commit, with the sums of their bytes.
//! The next commit relies on these bytes.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_exact::{TooLarge, to_u64, to_usize};
use hyperslab_format::journal::{JournalExtent, SECTOR, SectorSums};

/// Size in bytes of the largest run of sectors with one checksum in new space (space that no commit
/// contains). If a part of the run changes, the checksum must be computed again.
const MAX_RUN_BYTES: u64 = 1 << 20;

/// The extents of new space, which no commit contains, that were written since the last commit.
#[derive(Debug, Default)]
pub(super) struct Extents {
    /// Runs of whole sectors by their first offset. Runs do not overlap.
    runs: BTreeMap<u64, Run>,
    /// Sectors that were written in part. Their sums are computed at the commit.
    edges: BTreeSet<u64>,
}

/// A run of neighbouring whole sectors that were written in new space (space that no commit
/// contains).
#[derive(Debug, Clone, Copy)]
struct Run {
    end: u64,
    /// The sum; `None` after a later write changed a part of the run.
    sum: Option<u64>,
}

/// The sectors of one write to the file, in two lists: runs of whole sectors with their checksums,
/// if known, and sectors that the write covers only in part.
#[derive(Debug)]
pub(in crate::store) struct WrittenSectors {
    runs: Vec<(u64, u64, Option<u64>)>,
    edges: [Option<u64>; 2],
}

impl WrittenSectors {
    /// Computes the checksums of the sectors that a write of bytes at `offset` of the file covers,
    /// and returns the sectors.
    pub(in crate::store) fn new(offset: u64, bytes: &[u8]) -> Self {
        Self::with(offset, to_u64(bytes.len()), |start, end| {
            // The commit reads the bytes of a run without a sum.
            let index = |at: u64| usize::try_from(at - offset).ok();
            Some(SectorSums::CURRENT.total(start, bytes.get(index(start)?..index(end)?)?))
        })
    }

    /// Returns the sectors of a failed write to the file. The bytes of these sectors in the file
    /// are unknown, so a commit must read them.
    pub(in crate::store) fn unknown(offset: u64, length: u64) -> Self {
        Self::with(offset, length, |_, _| None)
    }

    fn with(offset: u64, length: u64, sum: impl Fn(u64, u64) -> Option<u64>) -> Self {
        let end = offset + length;
        let (first, last) = (offset.next_multiple_of(SECTOR), end - end % SECTOR);
        let is_head = !offset.is_multiple_of(SECTOR) && length > 0;
        let head = is_head.then(|| offset - offset % SECTOR);
        let is_tail = !end.is_multiple_of(SECTOR) && length > 0;
        let tail = is_tail.then_some(last).filter(|tail| Some(*tail) != head);
        let mut runs = Vec::new();
        let mut start = first;
        while start < last {
            let end = (start + 1).next_multiple_of(MAX_RUN_BYTES).min(last);
            runs.push((start, end, sum(start, end)));
            start = end;
        }
        Self { runs, edges: [head, tail] }
    }
}

impl Extents {
    /// Adds the sectors of a write to the extents of new space, which no commit contains. The write
    /// replaces earlier writes of the same sectors.
    pub(super) fn add(&mut self, written: &WrittenSectors) {
        for (start, end, sum) in &written.runs {
            self.cut_out(*start, *end);
            while let Some(edge) = self.edges.range(*start..*end).next().copied() {
                self.edges.remove(&edge);
            }
            self.insert(*start, *end, *sum);
        }
        for edge in written.edges.into_iter().flatten() {
            self.cut_out(edge, edge + SECTOR);
            self.edges.insert(edge);
        }
    }

    /// Cuts the sectors from `start` up to `end` out of all runs of sectors that were written in
    /// new space (space that no commit contains). The remaining parts of a run have no checksum.
    fn cut_out(&mut self, start: u64, end: u64) {
        while let Some((&from, &run)) = self.runs.range(..end).next_back()
            && run.end > start
        {
            self.runs.remove(&from);
            if run.end > end {
                self.runs.insert(end, Run { end: run.end, sum: None });
            }
            if from < start {
                self.runs.insert(from, Run { end: start, sum: None });
                break;
            }
        }
    }

    /// Inserts a run of sectors of new space (space that no commit contains). The run does not
    /// overlap another run. If it and the previous run are short, joins them.
    fn insert(&mut self, start: u64, end: u64, sum: Option<u64>) {
        if let Some((&from, before)) = self.runs.range_mut(..start).next_back()
            && before.end == start
            && end - from <= MAX_RUN_BYTES
            && let Some((known, sum)) = before.sum.zip(sum)
        {
            *before = Run { end, sum: Some(known.wrapping_add(sum)) };
            return;
        }
        self.runs.insert(start, Run { end, sum });
    }

    /// Clears the record of the extents of new space that were written since the last commit.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.edges.clear();
    }

    /// Lists the extents of new space (space that no commit contains) before `file_end`: first the
    /// runs of whole sectors, joined if they touch, and then the sectors that were written in part.
    /// Both parts are in ascending order. `read` fills a buffer with bytes of the file.
    pub(super) fn list<E: From<TooLarge>>(
        &self,
        file_end: u64,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Vec<JournalExtent>, E> {
        let mut buffer = Vec::new();
        let mut total = |offset: u64, end: u64| -> Result<u64, E> {
            let mut sum = 0_u64;
            let mut at = offset;
            while at < end {
                let to = at + MAX_RUN_BYTES.min(end - at);
                buffer.resize(to_usize(to - at)?, 0);
                read(at, &mut buffer)?;
                sum = sum.wrapping_add(SectorSums::CURRENT.total(at, &buffer));
                at = to;
            }
            Ok(sum)
        };
        let whole_end = file_end - file_end % SECTOR;
        let mut extents: Vec<JournalExtent> = Vec::new();
        let mut cut = None;
        for (&start, run) in self.runs.range(..file_end) {
            let end = run.end.min(whole_end);
            if run.end > whole_end {
                cut = Some(whole_end);
            }
            if start >= end {
                continue;
            }
            let sum = match run.sum.filter(|_| end == run.end) {
                Some(sum) => sum,
                None => total(start, end)?,
            };
            let length = end - start;
            match extents.last_mut() {
                Some(last) if last.offset + last.length == start => {
                    (last.length, last.sum) = (last.length + length, last.sum.wrapping_add(sum));
                }
                _ => extents.push(JournalExtent { offset: start, length, sum }),
            }
        }
        let cut = cut.filter(|cut| *cut < file_end && !self.edges.contains(cut));
        for &offset in self.edges.range(..file_end).chain(cut.iter()) {
            let end = (offset + SECTOR).min(file_end);
            let length = end - offset;
            extents.push(JournalExtent { offset, length, sum: total(offset, end)? });
        }
        Ok(extents)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The extents cover each written sector once, and their sums are the sums of the bytes in
        /// the file.
        #[test]
        fn extents_are_what_was_written(
            writes in prop::collection::vec((0_usize..9000, 1_usize..4000, any::<u8>(), any::<bool>()), 0..20),
            file_end in 0_usize..13_000,
        ) {
            let mut file = vec![0_u8; 16_384];
            let mut touched = BTreeSet::new();
            let mut extents = Extents::default();
            for (number, (offset, length, value, failed)) in writes.into_iter().enumerate() {
                let bytes: Vec<u8> = (0..length).map(|at| value ^ u8::try_from((at / 7 + number) % 251).unwrap()).collect();
                let done = if failed { length / 2 } else { length };
                file[offset..offset + done].copy_from_slice(&bytes[..done]);
                let written = match failed {
                    true => WrittenSectors::unknown(offset as u64, length as u64),
                    false => WrittenSectors::new(offset as u64, &bytes),
                };
                extents.add(&written);
                touched.extend(offset / 512..=(offset + length - 1) / 512);
            }
            let read = |offset: u64, buffer: &mut [u8]| {
                let start = usize::try_from(offset).unwrap();
                buffer.copy_from_slice(&file[start..start + buffer.len()]);
                Ok::<(), TooLarge>(())
            };
            let list = extents.list(file_end as u64, read).unwrap();
            let mut covered = Vec::new();
            for extent in &list {
                let (start, length) = (usize::try_from(extent.offset).unwrap(), usize::try_from(extent.length).unwrap());
                prop_assert!(start.is_multiple_of(512) && start + length <= file_end);
                prop_assert!(length.is_multiple_of(512) || start + length == file_end);
                prop_assert_eq!(extent.sum, SectorSums::CURRENT.total(extent.offset, &file[start..start + length]));
                covered.extend(start / 512..=(start + length - 1) / 512);
            }
            covered.sort_unstable();
            let expected: Vec<usize> = touched.into_iter().filter(|sector| sector * 512 < file_end).collect();
            prop_assert_eq!(covered, expected);
        }
    }
}
