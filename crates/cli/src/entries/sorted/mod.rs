//! The sort of matrix entries. Entries with the same coordinates are summed. Entries that do not
//! fit in memory are sorted in several lists, which are written to a temporary file and merged.

mod keys;
mod merge;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::batch::{BATCH_ENTRIES, Batch, Order, Source};
use super::element::Element;
use super::spool::Spool;
use merge::{Merge, Run};

pub(crate) use keys::Keys;

/// The number of matrix entries that are sorted in memory at once.
const MAX_RUN_ENTRIES: usize = 1 << 22;

/// A source of matrix entries that sorts the entries of another source.
pub(crate) struct Sorted<S> {
    source: S,
    keys: Keys,
    folder: PathBuf,
    incoming: Batch,
    /// Entries of `incoming` that are in `run`.
    taken: usize,
    run: Run,
    /// The longest run, and the least number of entries in a finished band.
    limits: (usize, usize),
    /// The first row after the current band. The band is complete when an entry at or after this
    /// row arrives.
    band_end: u64,
    band_start: u64,
    merge: Option<Merge>,
    ended: bool,
}

impl<S: Source> Sorted<S> {
    /// Sorts the matrix entries of a source. Temporary files go to `folder`.
    pub(crate) fn new(source: S, keys: Keys, folder: &Path) -> Self {
        Self::with_limits(source, keys, folder, (MAX_RUN_ENTRIES, BATCH_ENTRIES))
    }

    fn with_limits(source: S, keys: Keys, folder: &Path, limits: (usize, usize)) -> Self {
        let size = source.element().size();
        Self {
            source,
            keys,
            folder: folder.to_owned(),
            incoming: Batch::default(),
            taken: 0,
            run: Run::new(size),
            limits,
            band_end: 0,
            band_start: 0,
            merge: None,
            ended: false,
        }
    }

    pub(crate) fn shape(&self) -> &[u64] {
        self.source.shape()
    }

    pub(crate) fn element(&self) -> Element {
        self.source.element()
    }

    /// Replaces the batch with the next sorted matrix entries. Returns false, with an empty batch,
    /// after the last entry.
    pub(crate) fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        loop {
            if let Some(merge) = &mut self.merge {
                if merge.fill(batch, BATCH_ENTRIES, &self.keys, self.source.element())? {
                    return Ok(true);
                }
                self.merge = None;
            }
            if self.ended {
                return Ok(false);
            }
            self.collect()?;
        }
    }

    /// Collects matrix entries in memory until the source ends or a band of rows is complete. All
    /// entries after a band have larger sort keys than the band.
    fn collect(&mut self) -> Result<()> {
        let mut spilled: Option<(Spool, Vec<std::ops::Range<u64>>)> = None;
        while !self.take_incoming()? {
            if self.run.len() >= self.limits.0 {
                let (spool, runs) = match &mut spilled {
                    Some(spilled) => spilled,
                    none => none.insert((Spool::new(&self.folder)?, Vec::new())),
                };
                let from = spool.len();
                self.run.spill(spool)?;
                runs.push(from..spool.len());
                continue;
            }
            self.taken = 0;
            if !self.source.next_batch(&mut self.incoming)? {
                self.ended = true;
                break;
            }
        }
        let run = std::mem::replace(&mut self.run, Run::new(self.source.element().size()));
        self.merge = Some(Merge::new(run, spilled)?);
        Ok(())
    }

    /// Moves matrix entries from the batch to the list that will be sorted. Returns true if a band
    /// of rows is complete before the batch is empty.
    fn take_incoming(&mut self) -> Result<bool> {
        let rank = self.source.shape().len();
        let step = match self.source.order() {
            Order::Any => None,
            Order::Bands(height) => common_multiple(height, self.keys.band()),
        };
        let size = self.source.element().size();
        for (coordinates, value) in self.incoming.entries(rank, size).skip(self.taken) {
            let row = *coordinates.first().context("an entry of the matrix has no coordinates")?;
            if let Some(step) = step
                && row >= self.band_end
            {
                let start = row - row.checked_rem(step).context("a part of the matrix has no rows")?;
                let ends = self.run.len() >= self.limits.1;
                // A band may end after the last possible row.
                self.band_end = start.saturating_add(step);
                if ends {
                    self.band_start = start;
                    return Ok(true);
                }
            }
            if row < self.band_start {
                bail!("row {row} follows row {}: the rows are not in order", self.band_start);
            }
            if self.run.len() >= self.limits.0 {
                return Ok(false);
            }
            self.run.push(
                self.keys.key(coordinates).context("the coordinates of an entry are outside the matrix")?,
                value,
            )?;
            self.taken += 1;
        }
        Ok(false)
    }
}

/// Returns the least common multiple of two numbers.
fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut larger, mut smaller) = (a, b);
    while smaller != 0 {
        (larger, smaller) = (smaller, larger.checked_rem(smaller)?);
    }
    a.checked_div(larger)?.checked_mul(b).filter(|multiple| *multiple > 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::matrices::{Given, entries};
    use super::*;

    fn sorted(
        given: Given,
        order: Order,
        chunk: Option<&[u64]>,
        limits: (usize, usize),
    ) -> Result<Vec<(Vec<u64>, i64)>> {
        let folder = tempfile::tempdir().unwrap();
        let keys = match chunk {
            None => Keys::rows(&given.shape)?,
            Some(chunk) => Keys::chunks(&given.shape, chunk)?,
        };
        let mut sorted = Sorted::with_limits(given.source(order), keys, folder.path(), limits);
        let (mut batch, mut all) = (Batch::default(), Vec::new());
        while sorted.next_batch(&mut batch)? {
            all.extend(entries::<i64>(&batch, 2));
        }
        Ok(all)
    }

    proptest! {
        /// With runs and bands of any size, the result equals that of a map.
        #[test]
        fn entries_are_sorted_and_summed(
            entries in prop::collection::vec((0..9_u64, 0..7_u64, -9..9_i64), 0..80),
            run in 1..30_usize,
            band in 1..20_usize,
            chunk in prop::option::of((1..5_u64, 1..9_u64)),
            height in 0..4_u64,
        ) {
            let mut entries: Vec<_> = entries.into_iter().map(|(row, column, value)| (vec![row, column], value)).collect();
            let mut order = Order::Any;
            if height > 0 {
                entries.sort_by_key(|(at, _)| at[0] / height);
                order = Order::Bands(height);
            }
            let chunk = chunk.map(|(rows, columns)| [rows, columns]);
            let mut expected = BTreeMap::new();
            for (at, value) in &entries {
                let chunked = chunk.map_or([0, 0], |chunk| [at[0] / chunk[0], at[1] / chunk[1]]);
                *expected.entry((chunked, at.clone())).or_insert(0) += value;
            }
            let expected: Vec<_> = expected.into_iter().map(|((_, at), value)| (at, value)).collect();
            let given = Given::new(&[9, 7], &entries);
            let found = sorted(given, order, chunk.as_ref().map(<[u64; 2]>::as_slice), (run, band)).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn impossible_entries_are_errors() {
        let one = |at: [u64; 2], value| (at.to_vec(), value);
        let outside = Given::new(&[2, 2], &[one([0, 2], 1_i64)]);
        assert!(sorted(outside, Order::Any, None, (9, 9)).is_err());
        let large = Given::new(&[2, 2], &[one([1, 0], i64::MAX), one([1, 0], 1)]);
        let error = sorted(large, Order::Any, None, (9, 9)).unwrap_err();
        assert!(error.to_string().contains("[1, 0]"), "{error}");
        let back = Given::new(&[9, 2], &[one([5, 0], 1_i64), one([6, 0], 1), one([1, 0], 1)]);
        assert!(sorted(back, Order::Bands(1), None, (9, 1)).is_err());
        assert!(Keys::rows(&[1 << 40, 1 << 40]).is_err());
    }
}
