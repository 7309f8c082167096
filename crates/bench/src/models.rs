//! Lower bounds for metadata cases: models of files that store only names, checksums and addresses.
//!
//! The models parse no messages, check no arguments and know the number of objects in advance.
//! Their times are therefore far below those of any real implementation.
#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "images are what the models make them"
)]

use std::collections::HashMap;
use std::fs::File as SystemFile;
use std::hint::black_box;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use hyperslab_format::codec::checksum;

use crate::arrays::next;
use crate::case::Program;
use crate::contest::threads;
use crate::libhdf5;
use crate::limits::{self, PIECE_BYTES};
use crate::table::median;

/// Bytes of an object header with its checksum, of an attribute before its name, and of a checksum.
const HEADER_BYTES: usize = 256;
const ATTRIBUTE_BYTES: usize = 64;
const CHECKSUM_BYTES: usize = 4;

/// Bytes of an object, an attribute and a link, each with its name and its data.
const OBJECT_BYTES: usize = 384;
const NAMED_ATTRIBUTE_BYTES: usize = 80;
const LINK_BYTES: usize = 40;

/// Bytes of a block of links and of an index node. Each has its own checksum.
const LINK_BLOCK_BYTES: usize = 512;
const NODE_BYTES: usize = 4096;

/// The number of reads for one of many chunks (both ends of the file, the object and its index),
/// and the number of repetitions in one time measurement.
const READS_PER_CHUNK: usize = 6;
const REPETITIONS: u32 = 20;

/// Contiguous chunks, followed by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Indexed {
    count: usize,
    /// Bytes of a chunk.
    size: usize,
    /// Bytes of an entry of the index.
    entry: usize,
    /// True if nodes of the index have checksums.
    checked: bool,
}

impl Indexed {
    /// Returns chunks with the given kind of index, in a dataset of the given rank.
    fn new(count: usize, size: usize, kind: &str, rank: usize) -> Self {
        let (entry, checked) = match kind {
            // A key with size, mask and offsets, and an address.
            "btree1" => (8 + 8 * (rank + 1) + 8, false),
            "btree2" => (8 + 8 * rank, true),
            _ => (8, true),
        };
        Self { count, size, entry, checked }
    }

    fn data(self) -> usize {
        self.count * self.size
    }

    fn verify(self, index: &[u8]) {
        if self.checked {
            index.chunks(NODE_BYTES).for_each(|node| {
                black_box(checksum(node));
            });
        }
    }
}

/// The model of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    WriteObjects(usize),
    ReadObjects(usize),
    WriteAttributes(usize),
    ReadAttributes(usize),
    WriteLinks(usize),
    ListLinks(usize),
    /// Number of links to find, and number of links in the group.
    FindLinks(usize, usize),
    WriteStrings(usize),
    ReadStrings(usize),
    WriteChunks(Indexed),
    ReadChunks(Indexed),
    /// The chunks, and the number of chunks to read at pseudo-random coordinates.
    ReadSome(Indexed, usize),
    ReadOne(Indexed),
    /// The chunks, and the number of searches in the index.
    LookUp(Indexed, usize),
    Walk(Indexed),
}

impl Model {
    /// Returns the model of a request, if one exists.
    pub(crate) fn of(program: Program, path: &Path, description: &str) -> Option<Self> {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let words: Vec<&str> = description.split_whitespace().collect();
        let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
        let indexed = || Indexed::new(100_000, 512, stem.rsplit('_').next().unwrap_or_default(), 2);
        let million = || Indexed::new(1_000_000, 64, stem.rsplit('_').next().unwrap_or_default(), 1);
        Some(match (program, words.first().copied()?, numbers.as_slice()) {
            (Program::Write, "objects", &[_, count]) => Self::WriteObjects(count),
            (Program::Write, "attributes", &[_, count]) => Self::WriteAttributes(count),
            (Program::Write, "links", &[_, count]) => Self::WriteLinks(count),
            (Program::Write, "strings", &[_, count]) => Self::WriteStrings(count),
            (Program::Write, "append" | "insert", &[low, count, size, unlimited, ..]) => {
                let kind = match (low, unlimited) {
                    (0 | 1, _) => "btree1",
                    (_, 2) => "btree2",
                    _ => "other",
                };
                Self::WriteChunks(Indexed::new(count, size * 8, kind, 2))
            }
            (Program::Write, "arrays", &[low, rows, columns, 4, 4]) => {
                let kind = if low < 2 { "btree1" } else { "other" };
                Self::WriteChunks(Indexed::new(rows * columns / 16, 64, kind, 2))
            }
            (Program::Metadata, "list" | "objects" | "visit", _) => Self::ReadObjects(10_000),
            (Program::Metadata, "attributes", _) => Self::ReadAttributes(10_000),
            (Program::Metadata, "links", _) => Self::ListLinks(100_000),
            (Program::Metadata, "lookup", &[count, of, _]) => Self::FindLinks(count, of),
            (Program::Metadata, "sizes", &[count, _]) => Self::LookUp(indexed(), count),
            (Program::Metadata, "chunks", &[count, _]) => Self::ReadSome(indexed(), count),
            (Program::Metadata, "walk", _) => Self::Walk(indexed()),
            (Program::Read, "strings", _) => Self::ReadStrings(1_000_000),
            (Program::Read, "whole", _) if stem.contains("million") => Self::ReadChunks(million()),
            (Program::Read, "rows", &[1, ..]) if stem.contains("million") => Self::ReadOne(million()),
            (Program::Read, "rows", &[count, ..]) if stem.contains("million") => {
                Self::ReadSome(million(), count)
            }
            _ => return None,
        })
    }

    /// Returns the seconds of the model, the median of some rounds. `buffer` is scratch memory that
    /// is already mapped.
    pub(crate) fn seconds(self, buffer: &mut [u8], rounds: u64) -> Result<f64> {
        let path = libhdf5::folder()?.join("model.bin");
        if let Some(made) = self.read_from() {
            made.once(&path, buffer)?;
        }
        let mut seconds = Vec::new();
        for round in 0..=rounds {
            let took = self.once(&path, buffer)?;
            if round > 0 {
                seconds.push(took);
            }
        }
        std::fs::remove_file(&path)?;
        Ok(median(&seconds))
    }

    /// Returns the bytes of scratch memory that the model needs.
    pub(crate) fn scratch_bytes(self) -> usize {
        if let Self::ReadChunks(chunks) = self { chunks.data() } else { 0 }
    }

    /// Returns another model. The other model writes the file that this model reads.
    fn read_from(self) -> Option<Self> {
        Some(match self {
            Self::ReadObjects(count) => Self::WriteObjects(count),
            Self::ReadAttributes(count) => Self::WriteAttributes(count),
            Self::ListLinks(count) | Self::FindLinks(_, count) => Self::WriteLinks(count),
            Self::ReadStrings(count) => Self::WriteStrings(count),
            Self::ReadChunks(chunks)
            | Self::ReadSome(chunks, _)
            | Self::ReadOne(chunks)
            | Self::LookUp(chunks, _)
            | Self::Walk(chunks) => Self::WriteChunks(chunks),
            _ => return None,
        })
    }

    fn once(self, path: &Path, buffer: &mut [u8]) -> Result<f64> {
        if self.read_from().is_none() && path.exists() {
            std::fs::remove_file(path)?;
        }
        match self {
            Self::WriteObjects(count) => write_named(path, count, HEADER_BYTES, OBJECT_BYTES, "dataset"),
            Self::WriteAttributes(count) => {
                write_named(path, count, ATTRIBUTE_BYTES, NAMED_ATTRIBUTE_BYTES, "attr")
            }
            Self::ReadObjects(count) => read_named(path, count, HEADER_BYTES, OBJECT_BYTES, "dataset"),
            Self::ReadAttributes(count) => {
                read_named(path, count, ATTRIBUTE_BYTES, NAMED_ATTRIBUTE_BYTES, "attr")
            }
            Self::WriteLinks(count) => write_links(path, count),
            Self::ListLinks(_) => list_links(path),
            Self::FindLinks(count, of) => find_links(path, count, of),
            Self::WriteStrings(count) => write_strings(path, count),
            Self::ReadStrings(count) => read_strings(path, count),
            Self::WriteChunks(chunks) => write_chunks(path, chunks),
            Self::ReadChunks(chunks) => read_chunks(path, chunks, buffer),
            Self::ReadSome(chunks, count) => read_some(path, chunks, count),
            Self::ReadOne(chunks) => read_one(path, chunks),
            Self::LookUp(chunks, count) => look_up(path, chunks, Some(count)),
            Self::Walk(chunks) => look_up(path, chunks, None),
        }
    }
}

fn seconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

/// Writes named records of one size into one image, with an index by name. Each record has a header
/// with a checksum, and data.
fn write_named(path: &Path, count: usize, header: usize, size: usize, word: &str) -> Result<f64> {
    let start = Instant::now();
    let mut image: Vec<u8> = Vec::with_capacity(count * size);
    let mut index = HashMap::with_capacity(count);
    for number in 0..count {
        let (name, at) = (format!("{word}_{number:05}"), image.len());
        image.resize(at + header - CHECKSUM_BYTES, 3);
        let sum = checksum(&image[at..]);
        image.extend_from_slice(&sum.to_le_bytes());
        image.extend_from_slice(name.as_bytes());
        image.resize(at + size, 1);
        index.insert(name, at);
    }
    SystemFile::create(path)?.write_all(&image)?;
    black_box(index);
    Ok(seconds(start))
}

/// Reads the whole image, builds the index, and finds and verifies each record by name, in another
/// order than that of the file. The bytes of the records are dropped.
fn read_named(path: &Path, count: usize, header: usize, size: usize, word: &str) -> Result<f64> {
    let name = |number: usize| format!("{word}_{number:05}");
    let length = name(0).len();
    let start = Instant::now();
    let image = std::fs::read(path)?;
    let mut index: HashMap<&[u8], usize> = HashMap::with_capacity(count);
    for (at, one) in image.chunks_exact(size).enumerate() {
        index.insert(&one[header..header + length], at * size);
    }
    let mut given = Vec::with_capacity(count);
    let mut sum = 0_u32;
    for number in 0..count {
        let name = name(number * 7919 % count);
        let at = *index.get(name.as_bytes()).context("no such name")?;
        sum ^= checksum(&image[at..at + header - CHECKSUM_BYTES]);
        given.push((name, image[at + header..at + size].to_vec()));
    }
    black_box((sum, given));
    Ok(seconds(start))
}

/// Writes links. Duplicate names are refused; the others are sorted into blocks with a checksum
/// each.
fn write_links(path: &Path, count: usize) -> Result<f64> {
    let start = Instant::now();
    let mut known = std::collections::HashSet::with_capacity(count);
    let mut links = Vec::with_capacity(count);
    for number in 0..count {
        let name = format!("link_{:06}", number * 7919 % count);
        let hash = checksum(name.as_bytes());
        known.insert(name.clone());
        links.push((hash, name));
    }
    links.sort_unstable();
    let mut image: Vec<u8> = Vec::with_capacity(count * LINK_BYTES);
    for (hash, name) in &links {
        let end = image.len() + LINK_BYTES;
        image.extend_from_slice(name.as_bytes());
        image.extend_from_slice(&hash.to_le_bytes());
        image.resize(end, 0);
    }
    image.chunks(LINK_BLOCK_BYTES).for_each(|block| {
        black_box(checksum(block));
    });
    SystemFile::create(path)?.write_all(&image)?;
    black_box(known);
    Ok(seconds(start))
}

fn list_links(path: &Path) -> Result<f64> {
    let start = Instant::now();
    let image = std::fs::read(path)?;
    image.chunks(LINK_BLOCK_BYTES).for_each(|block| {
        black_box(checksum(block));
    });
    let mut names: Vec<&[u8]> = image.chunks_exact(LINK_BYTES).map(|link| &link[..11]).collect();
    names.sort_unstable();
    black_box(names.iter().flat_map(|name| name.iter()).map(|byte| u64::from(*byte)).sum::<u64>());
    Ok(seconds(start))
}

/// Finds links. Each look-up reads two blocks.
fn find_links(path: &Path, count: usize, of: usize) -> Result<f64> {
    let blocks = usize::try_from(std::fs::metadata(path)?.len())? / LINK_BLOCK_BYTES - 1;
    let (mut state, mut block) = (3, [0; LINK_BLOCK_BYTES]);
    let start = Instant::now();
    let file = SystemFile::open(path)?;
    for _ in 0..count {
        let name = format!("link_{:06}", next(&mut state) % of as u64);
        let hash = checksum(name.as_bytes()) as usize;
        for block_number in [hash % blocks, hash % blocks + 1] {
            file.read_exact_at(&mut block, (block_number * LINK_BLOCK_BYTES) as u64)?;
        }
    }
    Ok(seconds(start))
}

/// Writes heap objects with a header of 16 bytes, and references of 16 bytes.
fn write_strings(path: &Path, count: usize) -> Result<f64> {
    let texts: Vec<String> =
        (0..count).map(|number| format!("string number {}", number * 7919 % count)).collect();
    let start = Instant::now();
    let (mut heap, mut references) = (Vec::with_capacity(48 * count), Vec::with_capacity(16 * count));
    for (number, text) in texts.iter().enumerate() {
        references.extend_from_slice(&u32::try_from(text.len())?.to_le_bytes());
        references.extend_from_slice(&(heap.len() as u64).to_le_bytes());
        references.extend_from_slice(&u32::try_from(number)?.to_le_bytes());
        heap.extend_from_slice(&[1, 0, 1, 0, 0, 0, 0, 0]);
        heap.extend_from_slice(&(text.len() as u64).to_le_bytes());
        heap.extend_from_slice(text.as_bytes());
        heap.resize(heap.len().next_multiple_of(8), 0);
    }
    let mut file = SystemFile::create(path)?;
    file.write_all(&references)?;
    file.write_all(&heap)?;
    Ok(seconds(start))
}

/// Reads the whole file. Each thread builds a part of the strings, which are then dropped.
fn read_strings(path: &Path, count: usize) -> Result<f64> {
    let start = Instant::now();
    let image = std::fs::read(path)?;
    let (references, heap) = image.split_at(16 * count);
    let part = count.div_ceil(threads()) * 16;
    std::thread::scope(|scope| {
        let text = |reference: &[u8]| -> Result<String> {
            let length = u32::from_le_bytes(reference[..4].try_into()?) as usize;
            let at = usize::try_from(u64::from_le_bytes(reference[4..12].try_into()?))? + 16;
            Ok(std::str::from_utf8(&heap[at..at + length])?.to_owned())
        };
        let texts = move |references: &[u8]| -> Result<()> {
            let texts: Result<Vec<String>> = references.chunks_exact(16).map(text).collect();
            black_box(texts?);
            Ok(())
        };
        let running: Vec<_> = references.chunks(part).map(|part| scope.spawn(move || texts(part))).collect();
        running.into_iter().try_for_each(limits::joined)
    })?;
    Ok(seconds(start))
}

/// Writes chunks through a buffer that is written when it is full. The index of the chunks'
/// addresses follows the chunks.
fn write_chunks(path: &Path, chunks: Indexed) -> Result<f64> {
    let chunk = vec![7_u8; chunks.size];
    let start = Instant::now();
    let mut file = SystemFile::create(path)?;
    let mut buffer: Vec<u8> = Vec::with_capacity(PIECE_BYTES + chunks.size);
    let mut index: Vec<u8> = Vec::with_capacity(chunks.count * chunks.entry);
    for number in 0..chunks.count {
        index.extend_from_slice(&((number * chunks.size) as u64).to_le_bytes());
        if chunks.entry > 8 {
            index.extend_from_slice(&(number as u64).to_le_bytes());
        }
        index.resize((number + 1) * chunks.entry, 0);
        buffer.extend_from_slice(&chunk);
        if buffer.len() >= PIECE_BYTES {
            file.write_all(&buffer)?;
            buffer.clear();
        }
    }
    file.write_all(&buffer)?;
    chunks.verify(&index);
    file.write_all(&index)?;
    Ok(seconds(start))
}

fn read_index(file: &SystemFile, chunks: Indexed) -> Result<Vec<u8>> {
    let mut index = vec![0; chunks.count * chunks.entry];
    file.read_exact_at(&mut index, chunks.data() as u64)?;
    chunks.verify(&index);
    Ok(index)
}

fn read_chunks(path: &Path, chunks: Indexed, buffer: &mut [u8]) -> Result<f64> {
    let start = Instant::now();
    let file = SystemFile::open(path)?;
    black_box(read_index(&file, chunks)?);
    limits::read_by_all(&file, &mut buffer[..chunks.data()])?;
    Ok(seconds(start))
}

fn read_some(path: &Path, chunks: Indexed, count: usize) -> Result<f64> {
    let (mut state, mut chunk) = (4, vec![0; chunks.size]);
    let start = Instant::now();
    let file = SystemFile::open(path)?;
    for _ in 0..count {
        let number = next(&mut state) % chunks.count as u64;
        file.read_exact_at(&mut chunk, number * chunks.size as u64)?;
    }
    Ok(seconds(start))
}

fn read_one(path: &Path, chunks: Indexed) -> Result<f64> {
    let (mut state, mut block) = (77, [0; 2048]);
    let starts = (chunks.data() - block.len()) as u64;
    let start = Instant::now();
    for _ in 0..REPETITIONS {
        let file = SystemFile::open(path)?;
        for _ in 0..READS_PER_CHUNK {
            file.read_exact_at(&mut block, next(&mut state) % starts)?;
        }
    }
    Ok(seconds(start) / f64::from(REPETITIONS))
}

/// Reads the whole index and takes `count` of its entries, or all. A binary search finds entries by
/// chunk coordinates.
fn look_up(path: &Path, chunks: Indexed, count: Option<usize>) -> Result<f64> {
    let mut state = 5;
    let start = Instant::now();
    let index = read_index(&SystemFile::open(path)?, chunks)?;
    let entry = chunks.entry;
    let word =
        |at: usize| index[at..at + 8].iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let find = |number: u64| {
        if entry == 8 {
            return usize::try_from(number).unwrap_or(0) * entry;
        }
        let (mut from, mut to) = (0, chunks.count);
        while to - from > 1 {
            let middle = from.midpoint(to);
            if word(middle * entry + 8) <= number { from = middle } else { to = middle }
        }
        from * entry
    };
    let sum = match count {
        None => (0..chunks.count).fold(0_u64, |sum, number| sum.wrapping_add(word(number * entry))),
        Some(count) => (0..count).fold(0_u64, |sum, _| {
            let number = next(&mut state) % chunks.count as u64;
            sum.wrapping_add(word(find(number)))
        }),
    };
    black_box(sum);
    Ok(seconds(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_models_do_their_work() -> Result<()> {
        let path = libhdf5::folder()?.join("models_test.bin");
        let chunks = |kind| Indexed::new(1000, 64, kind, 2);
        let mut buffer = vec![0; chunks("").data()];
        let readers = [Model::ReadObjects(100), Model::ReadAttributes(100), Model::ListLinks(1000)]
            .into_iter()
            .chain([Model::FindLinks(10, 1000), Model::ReadStrings(1001)])
            .chain(["btree1", "btree2", "fixed"].into_iter().flat_map(|kind| {
                let chunks = chunks(kind);
                [
                    Model::ReadChunks(chunks),
                    Model::ReadSome(chunks, 10),
                    Model::ReadOne(chunks),
                    Model::LookUp(chunks, 10),
                    Model::Walk(chunks),
                ]
            }));
        for reader in readers {
            let writer = reader.read_from().context("it reads")?;
            assert!(writer.once(&path, &mut [])? + reader.once(&path, &mut buffer)? > 0.0, "{reader:?}");
        }
        assert_eq!(std::fs::metadata(&path)?.len(), 1000 * (64 + 8));
        Ok(std::fs::remove_file(&path)?)
    }

    #[test]
    fn cases_have_their_models() {
        let of = |program, description: &str, stem: &str| Model::of(program, Path::new(stem), description);
        let indexed = Indexed { count: 100_000, size: 512, entry: 40, checked: false };
        assert_eq!(
            of(Program::Write, "append 1 100000 64 1", "written.h5"),
            Some(Model::WriteChunks(indexed))
        );
        assert_eq!(
            of(Program::Metadata, "sizes 20000 5", "array_index_btree1.h5"),
            Some(Model::LookUp(indexed, 20_000))
        );
        assert_eq!(
            of(Program::Read, "rows f32 1 16 4", "array_million_fixed.h5"),
            Some(Model::ReadOne(Indexed { count: 1_000_000, size: 64, entry: 8, checked: true }))
        );
        assert_eq!(of(Program::Read, "whole f32", "array_gzip.h5"), None);
        assert_eq!(of(Program::Write, "arrays 1 f32 none 8192 8192 512 512", "written.h5"), None);
    }
}
