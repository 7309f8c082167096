//! Three file layouts for the detector frames of the demonstration, written frame by frame and read
//! in blocks.

use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::filter::FilterSpec;
use hyperslab::{Dataset, File, Points, Region, Section, Selection, SelectionEncoding};
use hyperslab_exact::to_usize;

use super::answer::Answer;
use super::scene::Frame;

/// The number of bytes of frames that the demonstration reads at once, with all pixels counted.
const BLOCK_BYTES: u64 = 32 << 20;

/// The compression level of the deflate filter in the demonstration's files.
const COMPRESSION_LEVEL: u32 = 4;

/// The number of elements in a chunk of the demonstration's photon lists.
const LIST_CHUNK: u64 = 1 << 14;

/// A region of the demonstration's frames: ranges of frames, rows and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamRegion {
    /// The first coordinate along each dimension.
    pub(super) start: [u64; 3],
    pub(super) count: [u64; 3],
}

impl StreamRegion {
    /// Returns true if the region contains a pixel of a frame. The pixel number counts the pixels
    /// of a frame in C order.
    pub(super) fn contains(&self, frame: u64, pixel: u32, size: u64) -> bool {
        let at = [frame, u64::from(pixel) / size, u64::from(pixel) % size];
        at.iter()
            .zip(self.start.iter().zip(&self.count))
            .all(|(at, (start, count))| at.checked_sub(*start).is_some_and(|inside| inside < *count))
    }

    /// Divides the region of the demonstration into blocks of several frames.
    fn blocks(self, size: u64) -> impl Iterator<Item = Self> {
        let step = (BLOCK_BYTES / (size * size * 2)).max(1);
        let [first, ..] = self.start;
        let [frames, rows, columns] = self.count;
        (0..frames.div_ceil(step)).map(move |block| {
            let at = block * step;
            let [_, row, column] = self.start;
            Self { start: [first + at, row, column], count: [step.min(frames - at), rows, columns] }
        })
    }

    fn region(&self) -> Result<Region> {
        Ok(Region::new(&self.start, &self.count).map_err(hyperslab::Error::from)?)
    }
}

/// A file layout for detector frames. The demonstration compares several layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Sparse,
    Dense,
    Lists,
}

impl Storage {
    pub(super) const ALL: [Self; 3] = [Self::Sparse, Self::Dense, Self::Lists];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sparse => "sparse",
            Self::Dense => "dense, gzip 4",
            Self::Lists => "lists, gzip 4",
        }
    }

    /// Returns the name of the file layout, which occurs in the JSON document and in the name of
    /// the layout's file.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Sparse => "sparse",
            Self::Dense => "dense",
            Self::Lists => "lists",
        }
    }
}

/// A writer of detector frames to one file of the demonstration.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    size: u64,
    frames: u64,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Sparse(Dataset),
    Dense(Dataset, Vec<u16>),
    Lists { starts: Dataset, pixels: Dataset, counts: Dataset, buffered: Box<Buffered> },
}

/// Photons in memory that will be appended to the demonstration's photon lists.
#[derive(Debug, Default)]
struct Buffered {
    total: u64,
    starts: Vec<u64>,
    pixels: Vec<u32>,
    counts: Vec<u16>,
}

impl Writer {
    pub(super) fn create(storage: Storage, path: &Path, size: u32) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("`{}`", path.display()))?;
        let size = u64::from(size);
        let frames = || {
            let new = file.new_dataset("entry/frames").of::<u16>().shape(&[0, size, size]);
            new.max_shape(&[None, Some(size), Some(size)])
        };
        let list = |name: &str| {
            let new =
                file.new_dataset(&format!("entry/{name}")).shape(&[0]).unlimited().chunks(&[LIST_CHUNK]);
            new.shuffle().deflate(COMPRESSION_LEVEL)
        };
        let target = match storage {
            Storage::Sparse => {
                let filters = [FilterSpec::shuffle(), FilterSpec::deflate(COMPRESSION_LEVEL)];
                let new = frames().sparse(&[1, size, size]).selection_encoding(SelectionEncoding::Shortest);
                let new = new.section_filters(Section::Selection, &filters);
                Target::Sparse(new.section_filters(Section::Values, &filters).create()?)
            }
            Storage::Dense => {
                let pixels = to_usize(size * size)?;
                Target::Dense(
                    frames().chunks(&[1, size, size]).deflate(COMPRESSION_LEVEL).create()?,
                    vec![0; pixels],
                )
            }
            Storage::Lists => Target::Lists {
                starts: list("indptr").of::<u64>().create()?,
                pixels: list("indices").of::<u32>().create()?,
                counts: list("data").of::<u16>().create()?,
                buffered: Box::new(Buffered { starts: vec![0], ..Buffered::default() }),
            },
        };
        Ok(Self { file, size, frames: 0, target })
    }

    /// Appends a detector frame to the demonstration's file.
    pub(super) fn append(&mut self, frame: &Frame) -> Result<()> {
        let Self { size, frames, target, .. } = self;
        match target {
            Target::Sparse(dataset) => {
                let mut coordinates = Vec::with_capacity(frame.pixels.len() * 3);
                for pixel in &frame.pixels {
                    let pixel = u64::from(*pixel);
                    coordinates.extend([0, pixel / *size, pixel % *size]);
                }
                dataset.sparse().append(0, 1, &Points { rank: 3, coordinates }, &frame.counts)?;
            }
            Target::Dense(dataset, pixels) => {
                pixels.fill(0);
                for (pixel, count) in frame.pixels.iter().zip(&frame.counts) {
                    if let Some(place) = pixels.get_mut(*pixel as usize) {
                        *place = *count;
                    }
                }
                dataset.resize(&[*frames + 1, *size, *size])?;
                let part = StreamRegion { start: [*frames, 0, 0], count: [1, *size, *size] };
                dataset.write(&part.region()?, pixels)?;
            }
            Target::Lists { buffered, .. } => {
                buffered.total += frame.pixels.len() as u64;
                buffered.starts.push(buffered.total);
                buffered.pixels.extend(&frame.pixels);
                buffered.counts.extend(&frame.counts);
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Writes all appended detector frames to the demonstration's file.
    pub(super) fn flush(&mut self) -> Result<()> {
        if let Target::Lists { starts, pixels, counts, buffered } = &mut self.target {
            starts.append(0, &buffered.starts)?;
            pixels.append(0, &buffered.pixels)?;
            counts.append(0, &buffered.counts)?;
            buffered.starts.clear();
            buffered.pixels.clear();
            buffered.counts.clear();
        }
        Ok(self.file.flush()?)
    }

    pub(super) fn close(mut self) -> Result<()> {
        self.flush()?;
        Ok(self.file.close()?)
    }
}

/// Reads a region of a demonstration file block by block, and summarizes its photons.
pub(super) fn read(storage: Storage, path: &Path, size: u32, part: StreamRegion) -> Result<Answer> {
    let file = File::open(path)?;
    let size = u64::from(size);
    let mut answer = Answer::default();
    match storage {
        Storage::Sparse => {
            each_photon(&file, size, part, |frame, pixel, count| answer.add(frame, pixel, count))?;
        }
        Storage::Dense => {
            let frames = file.dataset("entry/frames")?;
            let mut pixels = Vec::new();
            for block in part.blocks(size) {
                pixels.resize(to_usize(block.count.iter().product())?, 0_u16);
                frames.read_into(Selection::region(&block.region()?), &mut pixels)?;
                add_dense(&mut answer, &block, size, &pixels)?;
            }
        }
        Storage::Lists => read_lists(&file, size, part, &mut answer)?,
    }
    Ok(answer)
}

/// Visits the defined elements of a region of the demonstration's sparse dataset. Calls `visit`
/// with the frame, the pixel and the count of each element.
pub(super) fn each_photon(
    file: &File,
    size: u64,
    part: StreamRegion,
    mut visit: impl FnMut(u64, u64, u16),
) -> Result<()> {
    let frames = file.dataset("entry/frames")?;
    for block in part.blocks(size) {
        let (points, counts) = frames.sparse().read::<u16>(&Selection::region(&block.region()?))?;
        for (at, count) in points.coordinates.chunks_exact(3).zip(counts) {
            if let [frame, row, column] = *at {
                visit(frame, row * size + column, count);
            }
        }
    }
    Ok(())
}

/// Adds the nonzero pixels of a block of frames to the summary of the photons.
fn add_dense(answer: &mut Answer, block: &StreamRegion, size: u64, pixels: &[u16]) -> Result<()> {
    let [first, top, left] = block.start;
    let [_, rows, columns] = block.count;
    let lines = pixels.chunks_exact(to_usize(columns)?.max(1));
    for (line, counts) in (0..).zip(lines) {
        let (frame, row) = (first + line / rows, top + line % rows);
        for (column, count) in (left..).zip(counts) {
            if *count > 0 {
                answer.add(frame, row * size + column, *count);
            }
        }
    }
    Ok(())
}

fn read_lists(file: &File, size: u64, part: StreamRegion, answer: &mut Answer) -> Result<()> {
    let (starts, pixels) = (file.dataset("entry/indptr")?, file.dataset("entry/indices")?);
    let counts = file.dataset("entry/data")?;
    for block in part.blocks(size) {
        let [first, ..] = block.start;
        let [frames, ..] = block.count;
        let of = |start: u64, count: u64| -> Result<Selection> {
            Ok(Selection::region(&Region::new(&[start], &[count]).map_err(hyperslab::Error::from)?))
        };
        let bounds = starts.read_raw::<u64>(&of(first, frames + 1)?)?;
        let (Some(from), Some(to)) = (bounds.first(), bounds.last()) else { continue };
        let length = |from: u64, to: u64| {
            to.checked_sub(from).context("the row offsets of the lists of photons are not in ascending order")
        };
        let selection = of(*from, length(*from, *to)?)?;
        let mut photons =
            pixels.read_raw::<u32>(&selection)?.into_iter().zip(counts.read_raw::<u16>(&selection)?);
        for (frame, bounds) in (first..).zip(bounds.windows(2)) {
            let [from, to] = bounds else { continue };
            for (pixel, count) in photons.by_ref().take(to_usize(length(*from, *to)?)?) {
                if block.contains(frame, pixel, size) {
                    answer.add(frame, u64::from(pixel), count);
                }
            }
        }
    }
    Ok(())
}
