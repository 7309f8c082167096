//! Limits of the machine: copying memory, reading from the system's cache, writing, decoding and
//! encoding.

use std::fs::File as SystemFile;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use hyperslab::File;
use hyperslab::filter::{ChunkTarget, FilterId, Pipeline, Registry, Scratch, Stage};

use crate::case::{Case, Limit};
use crate::contest::threads;
use crate::libhdf5;
use crate::table::median;

/// Bytes of one read or write.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// Bytes that are copied to measure the memory bandwidth.
const COPIED_BYTES: usize = 256 << 20;

/// Measurements that share a scratch buffer.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    buffer: Vec<u8>,
}

impl Limits {
    fn scratch(&mut self, length: usize) -> &mut [u8] {
        if self.buffer.len() < length {
            self.buffer = vec![1; length];
        }
        self.buffer.get_mut(..length).unwrap_or_default()
    }

    /// Returns the time of the case's limit, in seconds.
    pub(crate) fn of(&mut self, case: &Case, rounds: u64) -> Result<Option<f64>> {
        let rounds = rounds.clamp(1, 7);
        let once: &mut dyn FnMut(&mut Self) -> Result<f64> = match case.limit {
            Limit::None => return Ok(None),
            Limit::Model(model) => {
                return Ok(Some(model.seconds(self.scratch(model.scratch_bytes()), rounds)?));
            }
            Limit::Read if case.path.ends_with("array_virtual.h5") => {
                &mut |this| this.read_sources(&case.path)
            }
            Limit::Read => &mut |this| this.read(&case.path),
            Limit::Convert(size) => {
                let elements = File::open(&case.path)?.dataset("x")?.size()?;
                let bytes = usize::try_from(elements)?.saturating_mul(size);
                &mut move |this| this.convert(&case.path, bytes)
            }
            Limit::Write => &mut |this| this.write(std::fs::metadata(&case.path)?.len()),
            Limit::Decode => {
                let chunks = Chunks::of(&case.path)?;
                &mut move |this| chunks.decode(this)
            }
            Limit::Encode => {
                let chunks = Chunks::of(&case.path)?;
                let plain = chunks.plain()?;
                &mut move |_| chunks.encode(&plain)
            }
        };
        once(self)?;
        let seconds: Result<Vec<f64>> = (0..rounds).map(|_| once(self)).collect();
        Ok(Some(median(&seconds?)))
    }

    /// Reads a file into memory. Each thread reads a part.
    fn read(&mut self, path: &Path) -> Result<f64> {
        let file = SystemFile::open(path)?;
        let length = usize::try_from(file.metadata()?.len())?;
        let buffer = self.scratch(length);
        let start = Instant::now();
        read_by_all(&file, buffer)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Reads a file in pieces, and writes `bytes` bytes into memory meanwhile. Each thread takes a
    /// part.
    fn convert(&mut self, path: &Path, bytes: usize) -> Result<f64> {
        let file = SystemFile::open(path)?;
        let length = usize::try_from(file.metadata()?.len())?;
        let part = length.div_ceil(threads()).max(1);
        let start = Instant::now();
        std::thread::scope(|scope| {
            let work = |(number, place): (usize, &mut [u8])| -> Result<()> {
                let (from, mut piece) = (number.saturating_mul(part), vec![0; PIECE_BYTES]);
                let to = from.saturating_add(part).min(length);
                let pieces = to.saturating_sub(from).div_ceil(PIECE_BYTES).max(1);
                let mut at = from;
                for place in place.chunks_mut(place.len().div_ceil(pieces).max(1)) {
                    let count = to.saturating_sub(at).min(PIECE_BYTES);
                    let piece = piece.get_mut(..count).unwrap_or_default();
                    file.read_exact_at(piece, at as u64)?;
                    place.fill(piece.first().copied().unwrap_or_default());
                    at = at.saturating_add(count);
                }
                Ok(())
            };
            let places = self.scratch(bytes).chunks_mut(bytes.div_ceil(threads()).max(1));
            let running: Vec<_> = places.enumerate().map(|job| scope.spawn(move || work(job))).collect();
            running.into_iter().try_for_each(joined)
        })?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Opens and reads the sources of the virtual dataset one after the other.
    fn read_sources(&mut self, path: &Path) -> Result<f64> {
        let folder = path.with_file_name("virtual_sources");
        let sources =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let buffer = self.scratch(PIECE_BYTES);
        let start = Instant::now();
        for source in sources {
            let file = SystemFile::open(source)?;
            let length = usize::try_from(file.metadata()?.len())?.min(PIECE_BYTES);
            file.read_exact_at(buffer.get_mut(..length).unwrap_or_default(), 0)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Writes a new file of the given length with one thread, because two threads write no faster.
    fn write(&mut self, bytes: u64) -> Result<f64> {
        let path = libhdf5::folder()?.join("bare.bin");
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        let buffer = self.scratch(usize::try_from(bytes)?);
        let start = Instant::now();
        let mut file = SystemFile::create(&path)?;
        buffer.chunks(PIECE_BYTES).try_for_each(|piece| file.write_all(piece))?;
        drop(file);
        let seconds = start.elapsed().as_secs_f64();
        std::fs::remove_file(&path)?;
        Ok(seconds)
    }

    /// Returns the bytes that the given number of threads copies in memory in a second.
    pub(crate) fn copied(&mut self, threads: usize, rounds: u64) -> Result<f64> {
        let (from, to) = self.scratch(COPIED_BYTES * 2).split_at_mut(COPIED_BYTES);
        let part = COPIED_BYTES.div_ceil(threads.max(1));
        let mut seconds = Vec::new();
        for _ in 0..=rounds.clamp(1, 7) {
            let start = Instant::now();
            std::thread::scope(|scope| {
                for (from, to) in from.chunks(part).zip(to.chunks_mut(part)) {
                    scope.spawn(|| to.copy_from_slice(from));
                }
            });
            seconds.push(start.elapsed().as_secs_f64());
        }
        let rest = seconds.get(1..).context("no rounds")?;
        Ok(f64::from(u32::try_from(COPIED_BYTES)?) / median(rest))
    }
}

/// Reads the beginning of a file into memory. Each thread reads a part.
pub(crate) fn read_by_all(file: &SystemFile, buffer: &mut [u8]) -> Result<()> {
    let part = buffer.len().div_ceil(threads()).max(1);
    std::thread::scope(|scope| {
        let read = |(number, part_of): (usize, &mut [u8])| -> Result<()> {
            for (at, piece) in part_of.chunks_mut(PIECE_BYTES).enumerate() {
                let from = number.saturating_mul(part).saturating_add(at.saturating_mul(PIECE_BYTES));
                file.read_exact_at(piece, from as u64)?;
            }
            Ok(())
        };
        let running: Vec<_> =
            buffer.chunks_mut(part).enumerate().map(|job| scope.spawn(move || read(job))).collect();
        running.into_iter().try_for_each(joined)
    })
}

pub(crate) fn joined<T>(running: std::thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    running.join().unwrap_or_else(|_| bail!("a thread panicked"))
}

/// The stored chunks of a dataset, in memory.
#[derive(Debug)]
struct Chunks {
    pipeline: Pipeline,
    target: ChunkTarget,
    length: usize,
    stored: Vec<(Vec<u8>, u32)>,
}

impl Chunks {
    fn of(path: &Path) -> Result<Self> {
        let dataset = File::open(path)?.dataset("x")?;
        let shape = dataset.chunking().context("no chunks")?.shape;
        let element_size = usize::try_from(dataset.datatype().size)?;
        let elements = shape.iter().try_fold(1_u64, |product, side| product.checked_mul(*side));
        let length = usize::try_from(elements.context("a huge chunk")?)?.saturating_mul(element_size);
        let stage = |filter: &hyperslab::FilterInfo| Stage {
            flags: filter.flags,
            ..Stage::new(FilterId(filter.id), &filter.client_data)
        };
        let pipeline = Pipeline::new(dataset.filters().iter().map(stage).collect());
        let mut stored = Vec::new();
        for chunk in dataset.chunks().list()? {
            let bytes = dataset.chunks().read(&chunk.offset)?.context("no such chunk")?.bytes;
            stored.push((bytes, chunk.filter_mask));
        }
        let target = ChunkTarget { element_size, ..ChunkTarget::of_length(length) };
        Ok(Self { pipeline, target, length, stored })
    }

    /// Returns the number of chunks for each thread, evenly distributed.
    fn part(&self) -> usize {
        self.stored.len().div_ceil(threads()).max(1)
    }

    fn decode(&self, limits: &mut Limits) -> Result<f64> {
        let buffer = limits.scratch(self.length.saturating_mul(self.stored.len()));
        let registry = Registry::default();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let decode = |chunks: &[(Vec<u8>, u32)], out: &mut [u8]| -> Result<()> {
                let mut scratch = Scratch::default();
                for ((bytes, mask), out) in chunks.iter().zip(out.chunks_mut(self.length)) {
                    self.pipeline.decode_into(&registry, *mask, bytes, out, &self.target, &mut scratch)?;
                }
                Ok(())
            };
            let parts = buffer.chunks_mut(self.part().saturating_mul(self.length));
            let parts = self.stored.chunks(self.part()).zip(parts);
            let running: Vec<_> =
                parts.map(|(chunks, out)| scope.spawn(move || decode(chunks, out))).collect();
            running.into_iter().try_for_each(joined)
        })?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn plain(&self) -> Result<Vec<Vec<u8>>> {
        let registry = Registry::default();
        let decode = |(bytes, mask): &(Vec<u8>, u32)| {
            Ok(self.pipeline.decode_chunk(&registry, *mask, bytes.as_slice(), &self.target)?)
        };
        self.stored.iter().map(decode).collect()
    }

    fn encode(&self, plain: &[Vec<u8>]) -> Result<f64> {
        let registry = Registry::default();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let encode = |chunks: &[Vec<u8>]| -> Result<()> {
                let mut scratch = Scratch::default();
                for bytes in chunks {
                    self.pipeline.encode_chunk_with(
                        &registry,
                        bytes.as_slice(),
                        &self.target,
                        &mut scratch,
                    )?;
                }
                Ok(())
            };
            let running: Vec<_> =
                plain.chunks(self.part()).map(|chunks| scope.spawn(move || encode(chunks))).collect();
            running.into_iter().try_for_each(joined)
        })?;
        Ok(start.elapsed().as_secs_f64())
    }
}
