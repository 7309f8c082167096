//! Reading with a clock and with a log of what the file is asked.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use fastrand::Rng;
use hyperslab::vfd::AccessLog;
use hyperslab::{Dataset, Region};
use serde_json::{Value as Json, json};

use super::access::Access;
use crate::open::OpenArguments;

/// Bytes that are asked for at once.
const BLOCK: u64 = 16 << 20;

/// The same places are asked for in each run.
const SEED: u64 = 5;

/// What was measured.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) what: What,
    pub(super) requests: u64,
    /// Bytes of elements that were asked for, and bytes that were read of the file.
    pub(super) wanted: u64,
    pub(super) read: u64,
    pub(super) time: Duration,
    /// How much of it the file was read, if only one thread was at work.
    pub(super) reading: Option<Duration>,
    /// Whether all of it was read.
    pub(super) complete: bool,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Access(Access),
    Chunk,
}

/// Measures one dataset.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) open: &'a OpenArguments,
    pub(super) file: &'a Path,
    pub(super) dataset: &'a str,
    /// For each way of reading.
    pub(super) budget: Duration,
}

impl Bench<'_> {
    /// Reads in one way until all is read or the time is over. The file is opened anew, so that no chunk is decoded yet.
    pub(super) fn run(&self, what: What) -> Result<Option<Cell>> {
        let log = Arc::new(AccessLog::new());
        let mut options = self.open.options().access_log(Arc::clone(&log));
        if what != What::Access(Access::Whole) {
            // Each request for itself.
            options = options.chunk_cache(0);
        }
        let file = options.open(self.file)?;
        let dataset = file.object(self.dataset.trim_matches('/'))?.into_dataset()?;
        let Some(mut places) = Places::of(&dataset, what) else { return Ok(None) };
        let before = log.report().reads;
        let mut cell = Cell {
            what,
            requests: 0,
            wanted: 0,
            read: 0,
            time: Duration::ZERO,
            reading: None,
            complete: false,
        };
        let begin = Instant::now();
        while let Some(region) = places.next() {
            let stored = dataset.read_stored(&region)?;
            cell.wanted = cell.wanted.saturating_add(u64::try_from(stored.bytes().len()).unwrap_or(u64::MAX));
            cell.requests = cell.requests.saturating_add(1);
            if begin.elapsed() >= self.budget {
                break;
            }
        }
        cell.time = begin.elapsed();
        cell.complete = what == What::Access(Access::Whole) && places.next().is_none();
        let after = log.report().reads;
        cell.read = after.bytes.saturating_sub(before.bytes);
        let reading = after.time.saturating_sub(before.time);
        cell.reading = (what == What::Chunk).then_some(reading.min(cell.time));
        Ok((cell.requests > 0).then_some(cell))
    }
}

/// Regions to be read: in order, or here and there.
enum Places {
    InOrder(hyperslab::Blocks),
    /// Boxes of that size, at multiples of it or of one.
    Random {
        dims: Vec<u64>,
        shape: Vec<u64>,
        step: Vec<u64>,
        rng: Rng,
    },
}

impl Places {
    fn of(dataset: &Dataset, what: What) -> Option<Self> {
        let dims = dataset.dataspace().dims().to_vec();
        if dataset.dataspace().element_count().is_none_or(|count| count == 0) {
            return None;
        }
        let size = u64::from(dataset.datatype().size).max(1);
        let (shape, step) = match what {
            What::Access(Access::Whole) => return Some(Self::InOrder(dataset.blocks(BLOCK))),
            What::Access(Access::Point) => (vec![1; dims.len()], vec![1; dims.len()]),
            What::Access(Access::Slab(slab)) => {
                let mut shape = dims.clone();
                *shape.get_mut(slab)? = 1;
                let shape = bounded(shape, size);
                (shape.clone(), shape)
            }
            What::Chunk => {
                let structured = dataset.sparse().chunking().map(|chunking| chunking.shape);
                let shape = structured.or_else(|| dataset.chunking().map(|chunking| chunking.shape))?;
                let elements = shape.iter().zip(&dims).map(|(side, size)| (*side).min(*size));
                let bytes = elements.fold(size, u64::saturating_mul);
                // A chunk that large is no chunk of a file that can be measured.
                if bytes > BLOCK.saturating_mul(16) {
                    return None;
                }
                (shape.clone(), shape)
            }
        };
        Some(Self::Random { dims, shape, step, rng: Rng::with_seed(SEED) })
    }

    fn next(&mut self) -> Option<Region> {
        match self {
            Self::InOrder(blocks) => blocks.next(),
            Self::Random { dims, shape, step, rng } => {
                let (mut start, mut count) = (Vec::new(), Vec::new());
                for ((size, side), step) in dims.iter().zip(shape.iter()).zip(step.iter()) {
                    let steps = size.div_ceil((*step).max(1));
                    let at = rng.u64(0..steps.max(1)).saturating_mul(*step);
                    start.push(at);
                    count.push((*side).min(size.saturating_sub(at)));
                }
                Region::new(&start, &count).ok()
            }
        }
    }
}

/// A shape of at most as many bytes as are asked for at once: the longest sides become shorter.
fn bounded(mut shape: Vec<u64>, size: u64) -> Vec<u64> {
    while shape.iter().fold(size, |bytes, side| bytes.saturating_mul(*side)) > BLOCK {
        let Some(longest) = shape.iter_mut().max().filter(|side| **side > 1) else { break };
        *longest = longest.div_ceil(2);
    }
    shape
}

impl Cell {
    /// Bytes in a second.
    pub(super) fn rate(&self, bytes: u64) -> u64 {
        let nanoseconds = self.time.as_nanos().max(1);
        let rate = u128::from(bytes).saturating_mul(1_000_000_000).checked_div(nanoseconds).unwrap_or(0);
        u64::try_from(rate).unwrap_or(u64::MAX)
    }

    /// Time for a request.
    pub(super) fn each(&self) -> Duration {
        self.time.checked_div(u32::try_from(self.requests).unwrap_or(u32::MAX).max(1)).unwrap_or_default()
    }

    pub(super) fn json(&self) -> Json {
        json!({
            "access": match self.what { What::Access(access) => access.json(), What::Chunk => json!("chunk") },
            "requests": self.requests,
            "wanted_bytes": self.wanted,
            "read_bytes": self.read,
            "seconds": self.time.as_secs_f64(),
            "wanted_bytes_per_second": self.rate(self.wanted),
            "read_bytes_per_second": self.rate(self.read),
            "reading_seconds": self.reading.map(|reading| reading.as_secs_f64()),
            "complete": self.complete,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_bounded() {
        assert_eq!(bounded(vec![1, 100, 100], 8), [1, 100, 100]);
        let large = bounded(vec![1, 1 << 20, 1 << 40], 8);
        assert!(large.iter().product::<u64>() * 8 <= BLOCK && large.iter().product::<u64>() * 8 > BLOCK / 4);
        assert_eq!(bounded(vec![1, 1], u64::MAX), [1, 1]);
    }
}
