//! Runs of sorted entries, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write as _;
use std::ops::Range;

use anyhow::{Context as _, Result};
use hyperslab::H5Type;

use super::super::batch::Batch;
use super::super::element::Element;
use super::super::spool::Spool;
use super::Keys;

/// The size of the part of a run that is read at once, in bytes.
const AT_ONCE: u64 = 1 << 17;

/// A run in memory.
#[derive(Debug)]
pub(super) struct Run {
    /// The keys, each with the number of its value.
    keys: Vec<(u64, u32)>,
    values: Vec<u8>,
    size: usize,
    rising: bool,
}

impl Run {
    pub(super) fn new(size: usize) -> Self {
        Self { keys: Vec::new(), values: Vec::new(), size, rising: true }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn push(&mut self, key: u64, value: &[u8]) {
        self.rising &= self.keys.last().is_none_or(|(last, _)| *last <= key);
        // The number of entries of a run fits into 32 bits.
        self.keys.push((key, u32::try_from(self.keys.len()).unwrap_or(u32::MAX)));
        self.values.extend_from_slice(value);
    }

    /// Sorts by key. The sort is stable.
    fn sort(&mut self) {
        if !self.rising {
            self.keys.sort_unstable();
            self.rising = true;
        }
    }

    fn value(&self, index: u32) -> Option<&[u8]> {
        let start = usize::try_from(index).ok()?.checked_mul(self.size)?;
        self.values.get(start..start.checked_add(self.size)?)
    }

    /// Appends the entries to the spool and clears the run.
    pub(super) fn spill(&mut self, spool: &mut Spool) -> Result<()> {
        self.sort();
        for (key, index) in &self.keys {
            spool.write_all(&u64::to_bytes(&[*key]))?;
            spool.write_all(self.value(*index).context("a value is missing")?)?;
        }
        self.keys.clear();
        self.values.clear();
        Ok(())
    }
}

/// The largest batch that continues to the end of a chunk, in usual batches.
const MOST_BATCHES: usize = 16;

/// A run in a temporary file.
#[derive(Debug)]
struct Waiting {
    rest: Range<u64>,
    buffer: Vec<u8>,
    at: usize,
}

impl Waiting {
    /// Returns the current entry. Reads more entries if necessary.
    fn entry(&mut self, spool: &mut Spool, size: usize) -> Result<Option<(u64, &[u8])>> {
        let whole = size.saturating_add(8);
        if self.at >= self.buffer.len() {
            let entries = AT_ONCE.checked_div(whole as u64).unwrap_or(1).max(1);
            let bytes =
                entries.saturating_mul(whole as u64).min(self.rest.end.saturating_sub(self.rest.start));
            if bytes == 0 {
                return Ok(None);
            }
            spool.read_at(self.rest.start, &mut self.buffer, bytes)?;
            self.rest.start = self.rest.start.saturating_add(bytes);
            self.at = 0;
        }
        let entry = self.buffer.get(self.at..).and_then(|rest| rest.split_at_checked(8));
        let (key, rest) = entry.context("a temporary file is shorter than it was")?;
        let value = rest.get(..size).context("a temporary file is shorter than it was")?;
        Ok(Some((u64::decode(key).context("a key is none")?, value)))
    }

    fn step(&mut self, size: usize) {
        self.at = self.at.saturating_add(size).saturating_add(8);
    }
}

/// A merge of several runs, the last of which is in memory.
#[derive(Debug)]
pub(super) struct Merge {
    run: Run,
    /// The number of entries of `run` that were merged.
    at: usize,
    spool: Option<Spool>,
    waiting: Vec<Waiting>,
    /// The next key of each run in the temporary file.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Merge {
    pub(super) fn new(mut run: Run, spilled: Option<(Spool, Vec<Range<u64>>)>) -> Result<Self> {
        run.sort();
        let (mut spool, ranges) = spilled.unzip();
        let waiting = |rest| Waiting { rest, buffer: Vec::new(), at: 0 };
        let mut waiting: Vec<Waiting> = ranges.unwrap_or_default().into_iter().map(waiting).collect();
        let mut heap = BinaryHeap::new();
        for (number, waiting) in waiting.iter_mut().enumerate() {
            if let Some(spool) = &mut spool
                && let Some((key, _)) = waiting.entry(spool, run.size)?
            {
                heap.push(Reverse((key, number)));
            }
        }
        Ok(Self { run, at: 0, spool, waiting, heap })
    }

    /// Moves about `most` entries into the batch and sums those with the same key. Returns false if none are left. A batch
    /// ends with a chunk unless the chunk is very large.
    pub(super) fn fill(
        &mut self,
        batch: &mut Batch,
        most: usize,
        keys: &Keys,
        element: Element,
    ) -> Result<bool> {
        let (mut last, mut count, mut value) = (None, 0_usize, Vec::new());
        while let Some(key) = self.next_key() {
            if let Some(last) = last
                && last != key
                && count >= most
                && (!keys.together(last, key) || count >= most.saturating_mul(MOST_BATCHES))
            {
                break;
            }
            value.clear();
            self.take(&mut value)?;
            if last != Some(key) {
                keys.push(key, &mut batch.coordinates)?;
                batch.values.extend_from_slice(&value);
                last = Some(key);
                count = count.saturating_add(1);
                continue;
            }
            let start = batch.values.len().saturating_sub(value.len());
            let sum = batch.values.get_mut(start..).context("a value is missing")?;
            if element.add(sum, &value).is_none() {
                let mut at = Vec::new();
                keys.push(key, &mut at)?;
                anyhow::bail!(
                    "the values of the entries at {at:?} sum to more than {} holds",
                    element.datatype()
                );
            }
        }
        Ok(count > 0)
    }

    /// Returns the smallest key. Equal keys come in the order of the runs, so that sums are reproducible.
    fn next_key(&self) -> Option<u64> {
        let here = self.run.keys.get(self.at).map(|(key, _)| *key);
        let waiting = self.heap.peek().map(|Reverse((key, _))| *key);
        [here, waiting].into_iter().flatten().min()
    }

    /// Removes the entry with the smallest key and returns its value.
    fn take(&mut self, value: &mut Vec<u8>) -> Result<()> {
        let here = self.run.keys.get(self.at).copied();
        let size = self.run.size;
        if let Some(Reverse((key, number))) = self.heap.peek().copied()
            && here.is_none_or(|(here, _)| key <= here)
            && let (Some(waiting), Some(spool)) = (self.waiting.get_mut(number), &mut self.spool)
        {
            self.heap.pop();
            if let Some((_, bytes)) = waiting.entry(spool, size)? {
                value.extend_from_slice(bytes);
            }
            waiting.step(size);
            if let Some((key, _)) = waiting.entry(spool, size)? {
                self.heap.push(Reverse((key, number)));
            }
            return Ok(());
        }
        if let Some((_, index)) = here {
            value.extend_from_slice(self.run.value(index).context("a value is missing")?);
            self.at = self.at.saturating_add(1);
        }
        Ok(())
    }
}
