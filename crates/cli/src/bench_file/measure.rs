//! Timed reads of a dataset for `bench-file`, with a log of the file accesses.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use fastrand::Rng;
use hyperslab::vfd::AccessLog;
use hyperslab::{Dataset, Region};
use hyperslab_exact::to_u64;
use serde_json::{Value as Json, json};

use super::access::Access;
use super::estimate::float;
use crate::open::OpenArguments;

/// The largest size of the elements that one read request of `bench-file` selects, in bytes.
const BLOCK_BYTES: u64 = 16 << 20;

/// The size of the largest chunk for which `bench-file` measures the time of reading, in bytes.
const MAX_CHUNK_BYTES: u64 = 16 * BLOCK_BYTES;

/// The seed for the choice of random regions. With a fixed seed, each run of the program reads the
/// same regions.
const SEED: u64 = 5;

/// The number, the bytes and the duration of read requests of one kind, measured by `bench-file`.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) request: Request,
    pub(super) requests: u64,
    /// Bytes of elements that were requested.
    pub(super) wanted: u64,
    /// Bytes that were read from the file.
    pub(super) read: u64,
    pub(super) time: Duration,
    /// The part of the time in which the file was read. Measured for single chunks only, because
    /// one thread reads these.
    pub(super) reading: Option<Duration>,
    /// True if the whole dataset was read.
    pub(super) complete: bool,
}

/// A kind of read request that `bench-file` measures: an access pattern, or a single chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Access(Access),
    Chunk,
}

/// A running benchmark of one dataset in `bench-file`: the file, the dataset, and the time limit.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) open: &'a OpenArguments,
    pub(super) file: &'a Path,
    pub(super) dataset: &'a str,
    /// The time for each kind of request.
    pub(super) budget: Duration,
}

impl Bench<'_> {
    /// Measures read requests of one kind until all elements are read or the time limit is reached.
    /// Opens the file again first, so that no decoded chunk is cached.
    pub(super) fn run(&self, request: Request) -> Result<Option<Measurement>> {
        let log = Arc::new(AccessLog::new());
        let mut options = self.open.options().access_log(Arc::clone(&log));
        if request != Request::Access(Access::Whole) {
            // No request profits from chunks that an earlier request decoded.
            options = options.chunk_cache(0);
        }
        let file = crate::remote::open(options, self.file)?;
        let dataset = file.object(self.dataset.trim_matches('/'))?.into_dataset()?;
        let Some(mut regions) = Regions::of(&dataset, request)? else { return Ok(None) };
        let before = log.report().reads;
        let mut result = Measurement {
            request,
            requests: 0,
            wanted: 0,
            read: 0,
            time: Duration::ZERO,
            reading: None,
            complete: false,
        };
        let begin = Instant::now();
        while let Some(region) = regions.next() {
            let stored = dataset.read_stored(&region)?;
            result.wanted += to_u64(stored.bytes().len());
            result.requests += 1;
            if begin.elapsed() >= self.budget {
                break;
            }
        }
        result.time = begin.elapsed();
        result.complete = request == Request::Access(Access::Whole) && regions.next().is_none();
        let after = log.report().reads;
        // The counters of the log never decrease.
        result.read = after.bytes - before.bytes;
        let reading = after.time - before.time;
        result.reading = (request == Request::Chunk).then_some(reading.min(result.time));
        Ok((result.requests > 0).then_some(result))
    }
}

/// The regions of a dataset that a measurement reads: all blocks in order, or random regions.
enum Regions {
    InOrder(hyperslab::Blocks),
    /// Regions of one shape, at multiples of the step.
    Random {
        dims: Vec<u64>,
        shape: Vec<u64>,
        step: Vec<u64>,
        rng: Rng,
    },
}

impl Regions {
    /// Returns the regions of a dataset that a kind of read request reads. Returns `None` if the
    /// dataset has no such regions, or if its chunks are too large for a measurement.
    fn of(dataset: &Dataset, request: Request) -> Result<Option<Self>> {
        let dims = dataset.dataspace().dims().to_vec();
        if dataset.dataspace().element_count().is_none_or(|count| count == 0) {
            return Ok(None);
        }
        let size = u64::from(dataset.datatype().size).max(1);
        let (shape, step) = match request {
            Request::Access(Access::Whole) => return Ok(Some(Self::InOrder(dataset.blocks(BLOCK_BYTES)))),
            Request::Access(Access::Point) => (vec![1; dims.len()], vec![1; dims.len()]),
            Request::Access(Access::Slice(dimension)) => {
                let mut shape = dims.clone();
                *shape.get_mut(dimension).context("the dataset lacks the dimension to measure")? = 1;
                let shape = bounded(shape, size);
                (shape.clone(), shape)
            }
            Request::Chunk => {
                let structured = dataset.sparse().chunking().map(|chunking| chunking.shape);
                let shape = structured.or_else(|| dataset.chunking().map(|chunking| chunking.shape));
                let Some(shape) = shape else { return Ok(None) };
                let elements = shape.iter().zip(&dims).map(|(side, size)| (*side).min(*size));
                if bytes_of(size, elements).is_none_or(|bytes| bytes > MAX_CHUNK_BYTES) {
                    return Ok(None);
                }
                (shape.clone(), shape)
            }
        };
        Ok(Some(Self::Random { dims, shape, step, rng: Rng::with_seed(SEED) }))
    }

    fn next(&mut self) -> Option<Region> {
        match self {
            Self::InOrder(blocks) => blocks.next(),
            Self::Random { dims, shape, step, rng } => {
                let (mut start, mut count) = (Vec::new(), Vec::new());
                for ((size, side), step) in dims.iter().zip(shape.iter()).zip(step.iter()) {
                    let steps = size.div_ceil((*step).max(1));
                    // The start is less than the size.
                    let at = rng.u64(0..steps.max(1)) * *step;
                    start.push(at);
                    count.push((*side).min(*size - at));
                }
                Region::new(&start, &count).ok()
            }
        }
    }
}

/// Returns the size in bytes of an array of elements. Returns `None` if the size does not fit in 64
/// bits.
fn bytes_of(element: u64, mut sides: impl Iterator<Item = u64>) -> Option<u64> {
    sides.try_fold(element, u64::checked_mul)
}

/// Halves the longest side of a region repeatedly until its elements have at most `BLOCK_BYTES`
/// bytes.
fn bounded(mut shape: Vec<u64>, size: u64) -> Vec<u64> {
    while bytes_of(size, shape.iter().copied()).is_none_or(|bytes| bytes > BLOCK_BYTES) {
        let Some(longest) = shape.iter_mut().max().filter(|side| **side > 1) else { break };
        *longest = longest.div_ceil(2);
    }
    shape
}

impl Measurement {
    /// Returns the measured read rate of the requests, in bytes per second.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast clamps")]
    pub(super) fn rate(&self, bytes: u64) -> u64 {
        (float(bytes) / self.time.as_secs_f64().max(1e-9)) as u64
    }

    /// Returns the mean duration of one measured read request.
    pub(super) fn each(&self) -> Duration {
        self.time.div_f64(float(self.requests.max(1)))
    }

    pub(super) fn json(&self) -> Json {
        json!({
            "access": match self.request { Request::Access(access) => access.json(), Request::Chunk => json!("chunk") },
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
    fn slices_are_bounded() {
        assert_eq!(bounded(vec![1, 100, 100], 8), [1, 100, 100]);
        let large = bounded(vec![1, 1 << 20, 1 << 40], 8);
        assert!(
            large.iter().product::<u64>() * 8 <= BLOCK_BYTES
                && large.iter().product::<u64>() * 8 > BLOCK_BYTES / 4
        );
        assert_eq!(bounded(vec![1, 1], u64::MAX), [1, 1]);
    }
}
