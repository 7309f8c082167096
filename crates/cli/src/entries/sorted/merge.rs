//! Sorted lists of matrix entries (runs), and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write as _;
use std::ops::Range;

use anyhow::{Context as _, Result};
use hyperslab::H5Type;
use hyperslab_exact::to_u64;

use super::super::batch::Batch;
use super::super::element::Element;
use super::super::spool::Spool;
use super::Keys;

/// The number of bytes that the program reads at once from a temporary file of sorted matrix
/// entries.
const READ_BYTES: u64 = 1 << 17;

/// A sorted list of matrix entries in memory.
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

    pub(super) fn push(&mut self, key: u64, value: &[u8]) -> Result<()> {
        self.rising &= self.keys.last().is_none_or(|(last, _)| *last <= key);
        self.keys.push((key, u32::try_from(self.keys.len())?));
        self.values.extend_from_slice(value);
        Ok(())
    }

    /// Sorts the matrix entries by key. The sort is stable.
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

    /// Appends the sorted matrix entries to the temporary file and clears the list in memory.
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

/// The largest size of a batch of matrix entries, as a multiple of the usual size. A batch exceeds
/// the usual size only to end together with a chunk.
const MAX_BATCHES: usize = 16;

/// A sorted list of matrix entries in a temporary file.
#[derive(Debug)]
struct SpilledRun {
    rest: Range<u64>,
    buffer: Vec<u8>,
    at: usize,
}

impl SpilledRun {
    /// Returns the current matrix entry of a sorted list. Reads more entries from the temporary
    /// file if necessary.
    fn entry(&mut self, spool: &mut Spool, size: usize) -> Result<Option<(u64, &[u8])>> {
        if self.at >= self.buffer.len() {
            // A key has 8 bytes, a value at most 16.
            let whole = to_u64(size) + 8;
            let bytes = (READ_BYTES / whole * whole).min(self.rest.end - self.rest.start);
            if bytes == 0 {
                return Ok(None);
            }
            spool.read_at(self.rest.start, &mut self.buffer, bytes)?;
            self.rest.start += bytes;
            self.at = 0;
        }
        let entry = self.buffer.get(self.at..).and_then(|rest| rest.split_at_checked(8));
        let (key, rest) = entry.context("a temporary file was truncated")?;
        let value = rest.get(..size).context("a temporary file was truncated")?;
        Ok(Some((
            u64::decode(key).context("a sort key in the temporary file with matrix entries is incomplete")?,
            value,
        )))
    }

    fn step(&mut self, size: usize) {
        self.at += size + 8;
    }
}

/// A merge of several sorted lists of matrix entries. The last list is in memory.
#[derive(Debug)]
pub(super) struct Merge {
    run: Run,
    /// The number of entries of `run` that were merged.
    at: usize,
    spool: Option<Spool>,
    spilled: Vec<SpilledRun>,
    /// The next key of each run in the temporary file.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Merge {
    pub(super) fn new(mut run: Run, spilled: Option<(Spool, Vec<Range<u64>>)>) -> Result<Self> {
        run.sort();
        let (mut spool, ranges) = spilled.unzip();
        let on_disk = |rest| SpilledRun { rest, buffer: Vec::new(), at: 0 };
        let mut spilled: Vec<SpilledRun> = ranges.into_iter().flatten().map(on_disk).collect();
        let mut heap = BinaryHeap::new();
        for (number, spilled) in spilled.iter_mut().enumerate() {
            if let Some(spool) = &mut spool
                && let Some((key, _)) = spilled.entry(spool, run.size)?
            {
                heap.push(Reverse((key, number)));
            }
        }
        Ok(Self { run, at: 0, spool, spilled, heap })
    }

    /// Moves about `maximum` merged matrix entries to the batch, in ascending order of keys. Sums
    /// entries with the same key. Returns false if no entries are left. A batch ends at the end of
    /// a chunk unless the chunk is very large.
    pub(super) fn fill(
        &mut self,
        batch: &mut Batch,
        maximum: usize,
        keys: &Keys,
        element: Element,
    ) -> Result<bool> {
        let (mut last, mut count, mut value) = (None, 0_usize, Vec::new());
        while let Some(key) = self.next_key() {
            if let Some(last) = last
                && last != key
                && count >= maximum
                && (!keys.together(last, key) || count / MAX_BATCHES >= maximum)
            {
                break;
            }
            value.clear();
            self.take(&mut value)?;
            if last != Some(key) {
                keys.push(key, &mut batch.coordinates)?;
                batch.values.extend_from_slice(&value);
                last = Some(key);
                count += 1;
                continue;
            }
            let start = batch.values.len().checked_sub(value.len()).context("a value is missing")?;
            let sum = batch.values.get_mut(start..).context("a value is missing")?;
            if element.add(sum, &value).is_none() {
                let mut at = Vec::new();
                keys.push(key, &mut at)?;
                anyhow::bail!("the sum of the entries at {at:?} does not fit in {}", element.datatype());
            }
        }
        Ok(count > 0)
    }

    /// Returns the smallest sort key of all merged lists. Among equal keys, earlier lists come
    /// first, so that sums are reproducible.
    fn next_key(&self) -> Option<u64> {
        let here = self.run.keys.get(self.at).map(|(key, _)| *key);
        let spilled = self.heap.peek().map(|Reverse((key, _))| *key);
        [here, spilled].into_iter().flatten().min()
    }

    /// Removes the matrix entry with the smallest sort key from the merged lists. Returns the
    /// entry's value.
    fn take(&mut self, value: &mut Vec<u8>) -> Result<()> {
        let here = self.run.keys.get(self.at).copied();
        let size = self.run.size;
        if let Some(Reverse((key, number))) = self.heap.peek().copied()
            && here.is_none_or(|(here, _)| key <= here)
        {
            let spilled = self
                .spilled
                .get_mut(number)
                .context("a sorted part of the temporary file with matrix entries is missing")?;
            let spool = self.spool.as_mut().context("the temporary file is missing")?;
            self.heap.pop();
            let (_, bytes) = spilled.entry(spool, size)?.context("an entry is missing")?;
            value.extend_from_slice(bytes);
            spilled.step(size);
            if let Some((key, _)) = spilled.entry(spool, size)? {
                self.heap.push(Reverse((key, number)));
            }
            return Ok(());
        }
        let (_, index) = here.context("an entry is missing")?;
        value.extend_from_slice(self.run.value(index).context("a value is missing")?);
        self.at += 1;
        Ok(())
    }
}
