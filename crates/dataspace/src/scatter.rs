//! Putting the selected elements of many chunks into one buffer, from many threads.
//!
//! Each chunk's elements go to places of their own, but these are no slices of the buffer: rows of several chunks
//! take turns in it. So a [`Tile`] holds a pointer to the whole buffer and writes to its own places only. What
//! makes that sound is kept together in this module:
//!
//! - a [`Canvas`] borrows the buffer mutably, and [`Canvas::tiles`] borrows the canvas mutably: while tiles live,
//!   nobody else sees the buffer;
//! - the places of a position are a box of an array, so that two positions never share a place;
//! - a [`Tiling`] gives the chunks of a grid disjoint ranges of positions, and [`Canvas::tiles`] takes every chunk
//!   once: it refuses coordinates that do not ascend strictly;
//! - [`Tiles`] gives the tile of each chunk once, and splitting it splits the chunks;
//! - every tile checks against the buffer's length where its last element ends before it is made.
#![expect(unsafe_code, reason = "tiles of one buffer, written from several threads; see UNSAFE.md")]

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

use smallvec::SmallVec;

use crate::copy::{Nest, Rows};
use crate::error::{Result, same_rank};
use crate::linear::strides;
use crate::region::check_bounds;
use crate::tiling::Part;
use crate::{DataspaceError, Dims, Placement, Tiling};

/// Rows shorter than this are converted together rather than one by one.
const SHORT_ROW: u64 = 32;

/// The buffer that selected elements go to, and where in it.
#[derive(Debug)]
pub struct Canvas<'a> {
    bytes: &'a mut [u8],
    element_size: usize,
    shape: Dims,
    strides: Dims,
    base: u64,
}

impl<'a> Canvas<'a> {
    /// Elements of `element_size` bytes one after the other in C order, as an array of `shape`.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if `bytes` holds fewer.
    pub fn packed(bytes: &'a mut [u8], shape: &[u64], element_size: usize) -> Result<Self> {
        let zero = Dims::from_elem(0, shape.len());
        Self::boxed(bytes, Placement { dims: shape, start: &zero }, shape, element_size)
    }

    /// A box of `shape` in a larger C-order array.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if the box leaves the array,
    /// [`DataspaceError::Buffer`] if `bytes` is shorter than the array, [`DataspaceError::Overflow`],
    /// [`DataspaceError::Invalid`] if elements have no bytes.
    pub fn boxed(
        bytes: &'a mut [u8],
        place: Placement<'_>,
        shape: &[u64],
        element_size: usize,
    ) -> Result<Self> {
        let what = "the buffer";
        if element_size == 0 {
            return Err(DataspaceError::Invalid { what: "an element", problem: "has no bytes" });
        }
        same_rank(what, shape.len(), place.dims.len())?;
        same_rank(what, shape.len(), place.start.len())?;
        check_bounds(what, place.start, shape, place.dims)?;
        let elements = crate::error::product("number of elements", place.dims.iter().copied())?;
        let needed = usize::try_from(elements).ok().and_then(|elements| elements.checked_mul(element_size));
        let needed = needed.ok_or(DataspaceError::Overflow { what: "number of bytes of an array" })?;
        if needed > bytes.len() {
            return Err(DataspaceError::Buffer { what, needed, got: bytes.len() });
        }
        let strides = strides(place.dims);
        let base = strides
            .iter()
            .zip(place.start)
            .fold(0_u64, |base, (stride, at)| base.saturating_add(stride * at));
        Ok(Self { bytes, element_size, shape: Dims::from_slice(shape), strides, base })
    }

    /// The tiles of these chunks, whose coordinates must ascend strictly in C order.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] if they do not, or if the tiling has another shape than the canvas.
    pub fn tiles<'c>(&'c mut self, tiling: &'c Tiling, chunks: &'c [Dims]) -> Result<Tiles<'c>> {
        if tiling.shape() != self.shape.as_slice() {
            return Err(DataspaceError::Invalid {
                what: "a tiling",
                problem: "has another shape than its buffer",
            });
        }
        if !chunks.is_sorted_by(|one, next| one < next) {
            return Err(DataspaceError::Invalid { what: "a list of chunks", problem: "does not ascend" });
        }
        let target = Target {
            length: self.bytes.len(),
            start: NonNull::from(&mut *self.bytes).cast(),
            element_size: self.element_size,
            strides: &self.strides,
            base: self.base,
            buffer: PhantomData,
        };
        Ok(Tiles { tiling, chunks, target })
    }
}

/// The buffer behind the tiles.
#[derive(Debug, Clone, Copy)]
struct Target<'c> {
    start: NonNull<u8>,
    length: usize,
    element_size: usize,
    strides: &'c [u64],
    base: u64,
    buffer: PhantomData<&'c mut [u8]>,
}

// SAFETY: A target is a mutable borrow of bytes, which may go to another thread. Copies of it exist in `Tiles` and
// `Tile` only, which write to places that no other copy writes to (see the module's documentation).
unsafe impl Send for Target<'_> {}

/// The tiles of some chunks of one canvas.
#[derive(Debug)]
pub struct Tiles<'c> {
    tiling: &'c Tiling,
    chunks: &'c [Dims],
    target: Target<'c>,
}

impl<'c> Tiles<'c> {
    /// The chunks whose tiles are left.
    pub fn chunks(&self) -> &'c [Dims] {
        self.chunks
    }

    /// The places of all tiles as one slice, if every chunk is selected whole, and the elements of one chunk follow
    /// those of the chunk before. Takes no tile: use either the slice or the tiles.
    pub fn as_slice(&mut self) -> Option<&mut [u8]> {
        let per_chunk = self.tiling.run_of_chunks(self.chunks)?;
        let first = Tile::new(self.tiling, self.chunks.first()?, self.target).ok()?;
        let last = Tile::new(self.tiling, self.chunks.last()?, self.target).ok()?;
        let (start, end) = (first.run_of(per_chunk)?, last.run_of(per_chunk)?);
        let count = per_chunk.checked_mul(self.chunks.len() as u64)?;
        if start.checked_add(count) != end.checked_add(per_chunk) {
            return None;
        }
        let (at, length) = self.target.run(start, count)?;
        // SAFETY: `run` checked that the bytes lie in the buffer. They are the places of the chunks of `self` and of
        // no others: `run_of_chunks` saw that the chunks follow each other, and with as many elements as they have
        // together they fill all from the first place to the last. `self` is borrowed mutably meanwhile.
        Some(unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(at), length) })
    }

    /// The first `count` tiles, and the rest.
    pub fn split_at(self, count: usize) -> (Self, Self) {
        let (first, rest) = self.chunks.split_at(count.min(self.chunks.len()));
        let Self { tiling, target, .. } = self;
        (Self { tiling, chunks: first, target }, Self { tiling, chunks: rest, target })
    }
}

impl<'c> Iterator for Tiles<'c> {
    type Item = Result<Tile<'c>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (chunk, rest) = self.chunks.split_first()?;
        self.chunks = rest;
        Some(Tile::new(self.tiling, chunk, self.target))
    }
}

/// The places of one chunk's selected elements.
#[derive(Debug)]
pub struct Tile<'c> {
    parts: SmallVec<[Part; 1]>,
    target: Target<'c>,
}

/// Room that conversions of tiles work in.
#[derive(Debug, Default)]
pub struct TileScratch {
    gathered: Vec<u8>,
    converted: Vec<u8>,
}

impl<'c> Tile<'c> {
    fn new(tiling: &Tiling, chunk: &[u64], target: Target<'c>) -> Result<Self> {
        let parts = tiling.parts(chunk, target.strides, target.base)?;
        let elements = (target.length / target.element_size) as u64;
        for part in &parts {
            let last = part.steps.iter().fold(part.dst, |last, step| {
                last.saturating_add(step.count.saturating_sub(1).saturating_mul(step.dst))
            });
            if last >= elements {
                return Err(DataspaceError::Overflow { what: "end of a tile" });
            }
        }
        Ok(Self { parts, target })
    }

    /// The number of selected elements.
    pub fn len(&self) -> u64 {
        self.parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.len()))
    }

    /// Whether the chunk holds no selected element.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// From the first selected element of the chunk to the one behind the last, counted in C order.
    pub fn source(&self) -> Range<u64> {
        let start = self.parts.iter().map(|part| part.src).min().unwrap_or(0);
        start..self.parts.iter().map(Part::src_end).max().unwrap_or(0)
    }

    /// The first place, if the tile is a whole chunk of that many elements, whose places lie side by side.
    fn run_of(&self, elements: u64) -> Option<u64> {
        let [part] = self.parts.as_slice() else { return None };
        let (count, steps) = part.runs();
        (steps.is_empty() && count == elements).then_some(part.dst)
    }

    /// The places as a slice, if they lie side by side, and so do the elements in the chunk.
    pub fn as_slice(&mut self) -> Option<&mut [u8]> {
        let [part] = self.parts.as_slice() else { return None };
        let (count, steps) = part.runs();
        if !steps.is_empty() {
            return None;
        }
        let (at, length) = self.target.run(part.dst, count)?;
        // SAFETY: `run` checked that the bytes lie in the buffer. They are places of this tile alone, which is
        // borrowed mutably as long as the slice lives.
        Some(unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(at), length) })
    }

    /// Copies the elements from a slice of the chunk that begins with its element `first`.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if the slice does not reach to the last selected element. Nothing is copied then.
    pub fn copy_from(&mut self, chunk: &[u8], first: u64) -> Result<()> {
        let size = self.target.element_size;
        self.check_source(chunk, first, size)?;
        for part in &self.parts {
            let src = to_bytes(part.src.saturating_sub(first), size);
            let rows = part.steps.iter().map(|step| Rows {
                count: to_bytes(step.count, 1),
                src: to_bytes(step.src, size),
                dst: to_bytes(step.dst, size),
            });
            // SAFETY: `check_source` saw that all loops read within `chunk`, `new` that they write within the
            // buffer; these places are this tile's alone. A slice of the caller's cannot overlap them: the
            // buffer is borrowed mutably.
            unsafe {
                let to = self.target.start.as_ptr();
                copy_nest(&Nest::of_loops(size, rows), chunk.as_ptr(), src, to, to_bytes(part.dst, size));
            }
        }
        Ok(())
    }

    /// Converts the elements, of `size` bytes each, from a slice of the chunk that begins with its element `first`.
    /// `convert` is given as many source as destination elements, which lie side by side; the destination holds
    /// what stood there before.
    ///
    /// # Errors
    /// As [`copy_from`](Self::copy_from), and those of `convert`.
    pub fn convert_from<E: From<DataspaceError>>(
        &mut self,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut dyn FnMut(&[u8], &mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.check_source(chunk, first, size)?;
        for part in std::mem::take(&mut self.parts) {
            let (run, steps) = part.runs();
            let strided = run == 1 && steps.first().is_some_and(|step| step.dst == 1);
            if run >= SHORT_ROW || steps.is_empty() {
                self.each_run(&part, |src, to| {
                    let at = to_bytes(src.saturating_sub(first), size);
                    let from = chunk.get(at..at.saturating_add(to_bytes(run, size)));
                    convert(from.ok_or(OUTSIDE)?, to)
                })?;
            } else if strided && steps.first().is_some_and(|step| step.count >= SHORT_ROW) {
                self.convert_strided(&part, chunk, first, size, scratch, convert)?;
            } else {
                self.convert_gathered(&part, chunk, first, size, scratch, convert)?;
            }
        }
        Ok(())
    }

    /// Gives each run of places to `write`, as long as can be.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn for_each_run<E: From<DataspaceError>>(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for part in std::mem::take(&mut self.parts) {
            self.each_run(&part, |_, to| write(to))?;
        }
        Ok(())
    }

    /// Rows that are strided in the chunk and whole in the buffer: each is gathered, then converted into place.
    fn convert_strided<E: From<DataspaceError>>(
        &mut self,
        part: &Part,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut dyn FnMut(&[u8], &mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let Some((row, outer)) = part.steps.split_first() else { return Ok(()) };
        let gathered = resized(&mut scratch.gathered, to_bytes(row.count, size));
        let row_part = Part { src: 0, dst: 0, steps: SmallVec::from_slice(&[*row]) };
        let nest = packing(&row_part, size, false);
        let mut whole = Part { src: part.src, dst: part.dst, steps: SmallVec::new() };
        // The row as one run: its places lie side by side.
        whole.steps.push(crate::tiling::Step { count: row.count, src: 1, dst: 1 });
        whole.steps.extend_from_slice(outer);
        self.each_run(&whole, |src, to| {
            let at = to_bytes(src.saturating_sub(first), size);
            nest.copy(chunk.get(at..).ok_or(OUTSIDE)?, 0, gathered, 0);
            convert(gathered, to)
        })
    }

    /// Many short rows: all are gathered, converted, and put into place.
    fn convert_gathered<E: From<DataspaceError>>(
        &mut self,
        part: &Part,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut dyn FnMut(&[u8], &mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let out_size = self.target.element_size;
        let TileScratch { gathered, converted } = scratch;
        let gathered = resized(gathered, to_bytes(part.len(), size));
        let converted = resized(converted, to_bytes(part.len(), out_size));
        packing(part, size, false).copy(chunk, to_bytes(part.src.saturating_sub(first), size), gathered, 0);
        let back = packing(part, out_size, true);
        let (to, at) = (self.target.start.as_ptr(), to_bytes(part.dst, out_size));
        // SAFETY: The loops visit the places of `part`, which `new` found to lie in the buffer and which are this
        // tile's alone; `converted` holds as many elements, one after the other.
        unsafe { gather_raw(&back, to, at, converted) };
        convert(gathered, converted)?;
        // SAFETY: As above.
        unsafe { copy_nest(&reversed(part, out_size), converted.as_ptr(), 0, to, at) };
        Ok(())
    }

    /// Calls `visit` with the first element of each run in the chunk and the run's places.
    fn each_run<E: From<DataspaceError>>(
        &mut self,
        part: &Part,
        mut visit: impl FnMut(u64, &mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (run, steps) = part.runs();
        let mut at: SmallVec<[u64; 4]> = SmallVec::from_elem(0, steps.len());
        let (mut src, mut dst) = (part.src, part.dst);
        loop {
            let (start, length) = self.target.run(dst, run).ok_or(OUTSIDE)?;
            // SAFETY: `run` checked the bounds; the places are this tile's alone, and the slice is gone before
            // the next one is made.
            let to = unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(start), length) };
            visit(src, to)?;
            let mut done = true;
            for (at, step) in at.iter_mut().zip(steps) {
                *at += 1;
                if *at < step.count {
                    (src, dst) = (src.saturating_add(step.src), dst.saturating_add(step.dst));
                    done = false;
                    break;
                }
                let back = std::mem::take(at) - 1;
                src = src.saturating_sub(back.saturating_mul(step.src));
                dst = dst.saturating_sub(back.saturating_mul(step.dst));
            }
            if done {
                return Ok(());
            }
        }
    }

    /// That a slice of the chunk from element `first` on holds all selected elements.
    fn check_source(&self, chunk: &[u8], first: u64, size: usize) -> Result<()> {
        let Range { start, end } = self.source();
        let needed = usize::try_from(end.saturating_sub(first)).ok().and_then(|end| end.checked_mul(size));
        let needed = needed.filter(|_| start >= first || self.is_empty());
        match needed {
            Some(needed) if needed <= chunk.len() => Ok(()),
            _ => {
                let needed = needed.unwrap_or(usize::MAX);
                Err(DataspaceError::Buffer { what: "the chunk", needed, got: chunk.len() })
            }
        }
    }
}

impl Target<'_> {
    /// The bytes of a run of elements, if they lie in the buffer.
    fn run(&self, place: u64, count: u64) -> Option<(usize, usize)> {
        let at = usize::try_from(place).ok()?.checked_mul(self.element_size)?;
        let length = usize::try_from(count).ok()?.checked_mul(self.element_size)?;
        (at.checked_add(length)? <= self.length).then_some((at, length))
    }
}

const OUTSIDE: DataspaceError = DataspaceError::Overflow { what: "end of a run" };

/// Bytes of elements that are in memory, so that nothing overflows; what would is too large for any buffer.
fn to_bytes(elements: u64, size: usize) -> usize {
    usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(size)
}

fn resized(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    buffer.get_mut(..length).unwrap_or_default()
}

/// The loops from the elements of the chunk (or, with `places`, of the buffer) to one after the other.
fn packing(part: &Part, size: usize, places: bool) -> Nest {
    let mut packed = 1_u64;
    let rows: SmallVec<[Rows; 4]> = part
        .steps
        .iter()
        .map(|step| {
            let src = if places { step.dst } else { step.src };
            let row = Rows {
                count: to_bytes(step.count, 1),
                src: to_bytes(src, size),
                dst: to_bytes(packed, size),
            };
            packed = packed.saturating_mul(step.count);
            row
        })
        .collect();
    Nest::of_loops(size, rows)
}

/// The loops from elements one after the other to their places.
fn reversed(part: &Part, size: usize) -> Nest {
    let mut packed = 1_u64;
    let rows: SmallVec<[Rows; 4]> = part
        .steps
        .iter()
        .map(|step| {
            let (src, dst) = (to_bytes(packed, size), to_bytes(step.dst, size));
            packed = packed.saturating_mul(step.count);
            Rows { count: to_bytes(step.count, 1), src, dst }
        })
        .collect();
    Nest::of_loops(size, rows)
}

/// Copies everything the loops visit.
///
/// # Safety
/// From `src` plus `src_base` bytes on the loops read, from `dst` plus `dst_base` bytes on they write, within one
/// allocation each; nothing else touches what is written, and the two do not overlap.
unsafe fn copy_nest(nest: &Nest, src: *const u8, src_base: usize, dst: *mut u8, dst_base: usize) {
    nest.for_each_plane(src_base, dst_base, |src_at, dst_at, rows| {
        // SAFETY: The caller's promise covers every run of every plane.
        unsafe {
            let (src, dst) = (src.add(src_at), dst.add(dst_at));
            match nest.run {
                1 => copy_rows::<1>(src, dst, rows),
                2 => copy_rows::<2>(src, dst, rows),
                4 => copy_rows::<4>(src, dst, rows),
                8 => copy_rows::<8>(src, dst, rows),
                16 => copy_rows::<16>(src, dst, rows),
                32 => copy_rows::<32>(src, dst, rows),
                64 => copy_rows::<64>(src, dst, rows),
                run => {
                    for row in 0..rows.count {
                        let (src, dst) = (src.add(row * rows.src), dst.add(row * rows.dst));
                        std::ptr::copy_nonoverlapping(src, dst, run);
                    }
                }
            }
        }
    });
}

/// Copies `rows.count` runs of N bytes.
///
/// # Safety
/// As [`copy_nest`].
unsafe fn copy_rows<const N: usize>(src: *const u8, dst: *mut u8, rows: Rows) {
    for row in 0..rows.count {
        // SAFETY: The caller's promise covers every run; arrays of bytes may lie anywhere.
        unsafe {
            let run = src.add(row * rows.src).cast::<[u8; N]>().read();
            dst.add(row * rows.dst).cast::<[u8; N]>().write(run);
        }
    }
}

/// Gathers what stands at the places that the loops visit.
///
/// # Safety
/// From `src` plus `base` bytes on the loops read within one allocation that nothing else writes to meanwhile where
/// they read; they write as many bytes as `packed` has, one after the other.
unsafe fn gather_raw(nest: &Nest, src: *mut u8, base: usize, packed: &mut [u8]) {
    // SAFETY: The caller's promise; `packed` is a buffer of its own.
    unsafe { copy_nest(nest, src.cast_const(), base, packed.as_mut_ptr(), 0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Hyperslab, Region, RegularHyperslab, Selection, gather};
    use proptest::prelude::*;

    /// Extent, chunk shape, and a regular hyperslab in the extent.
    fn cases() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, RegularHyperslab)> {
        let one = (0..4_u64, 1..6_u64, 1..40_u64, 1..5_u64, 1..60_u64, 0..3_u64).prop_map(
            |(start, gap, count, block, chunk, behind)| {
                let stride = block + gap - 1;
                (start + (count - 1) * stride + block + behind, chunk, start, stride, count, block)
            },
        );
        proptest::collection::vec(one, 1..3).prop_map(|all| {
            let mut slab = RegularHyperslab::region(&[], &[]);
            for (_, _, start, stride, count, block) in &all {
                slab.start.push(*start);
                slab.stride.push(*stride);
                slab.count.push(*count);
                slab.block.push(*block);
            }
            (all.iter().map(|one| one.0).collect(), all.iter().map(|one| one.1).collect(), slab)
        })
    }

    fn chunks(tiling: &Tiling) -> Vec<Dims> {
        let rank = tiling.shape().len();
        (0..rank).fold(vec![Dims::new()], |starts, dimension| {
            let numbers: Vec<u64> = tiling.chunk_numbers(dimension).collect();
            let with = |start: &Dims, at: u64| start.iter().copied().chain([at]).collect::<Dims>();
            starts.iter().flat_map(|start| numbers.iter().map(move |at| with(start, *at))).collect()
        })
    }

    /// The bytes of a chunk of the array `0, 1, 2, …` of u32.
    fn chunk_of(extent: &[u64], chunk: &[u64], scaled: &[u64]) -> Vec<u8> {
        let all = Region::whole(chunk).coordinates();
        all.flat_map(|at| {
            let number = at
                .iter()
                .zip(scaled)
                .zip(chunk)
                .zip(extent)
                .fold(0, |sum, (((at, scaled), chunk), size)| sum * size + (scaled * chunk + at));
            u32::try_from(number).unwrap().to_le_bytes()
        })
        .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn tiles_put_together_what_gather_gives((extent, chunk, slab) in cases(), threads in 1..4_usize, margin in 0..3_u64) {
            let array: Vec<u8> = (0..u32::try_from(extent.iter().product::<u64>()).unwrap()).flat_map(u32::to_le_bytes).collect();
            let axes = slab.axes(&extent).unwrap();
            let tiling = Tiling::new(&axes, &extent, &chunk).unwrap();
            let selection = Selection::Hyperslab(Hyperslab::Regular(slab));
            let count = usize::try_from(tiling.shape().iter().product::<u64>()).unwrap();
            let mut expected = vec![0; count * 4];
            gather(&array, &extent, &selection, &mut expected, 4).unwrap();
            let listed = chunks(&tiling);

            // As they are, into a packed buffer, in several threads.
            let mut out = vec![0xee; count * 4];
            let mut canvas = Canvas::packed(&mut out, tiling.shape(), 4).unwrap();
            let mut tiles = canvas.tiles(&tiling, &listed).unwrap();
            let share = listed.len().div_ceil(threads);
            std::thread::scope(|scope| {
                for part in listed.chunks(share) {
                    let (mine, rest) = std::mem::replace(&mut tiles, Tiles { chunks: &[], ..empty(&tiling) }).split_at(share);
                    tiles = rest;
                    let (extent, chunk) = (&extent, &chunk);
                    scope.spawn(move || for (scaled, tile) in part.iter().zip(mine) {
                        let mut tile = tile.unwrap();
                        let bytes = chunk_of(extent, chunk, scaled);
                        let needed = tile.source();
                        let from = usize::try_from(needed.start).unwrap() * 4;
                        let to = usize::try_from(needed.end).unwrap() * 4;
                        if let Some(slice) = tile.as_slice() {
                            slice.copy_from_slice(&bytes[from..to]);
                        } else {
                            assert!(tile.copy_from(&bytes[from..to - 1], needed.start).is_err());
                            tile.copy_from(&bytes[from..to], needed.start).unwrap();
                        }
                    });
                }
            });
            prop_assert_eq!(&out, &expected);

            // Converted to two bytes more, into a box of a larger array.
            let dims: Vec<u64> = tiling.shape().iter().map(|size| size + 2 * margin).collect();
            let start = vec![margin; dims.len()];
            let mut out = vec![0xee; usize::try_from(dims.iter().product::<u64>()).unwrap() * 6];
            let mut canvas = Canvas::boxed(&mut out, Placement { dims: &dims, start: &start }, tiling.shape(), 6).unwrap();
            let mut scratch = TileScratch::default();
            for (scaled, tile) in listed.iter().zip(canvas.tiles(&tiling, &listed).unwrap()) {
                let mut convert = |from: &[u8], to: &mut [u8]| {
                    assert_eq!(from.len() / 4, to.len() / 6);
                    for (from, to) in from.chunks(4).zip(to.chunks_mut(6)) {
                        assert_eq!(to, [0xee; 6]);
                        to[1..5].copy_from_slice(from); // the first and the last byte keep what they held
                    }
                    Ok::<(), DataspaceError>(())
                };
                tile.unwrap().convert_from(&chunk_of(&extent, &chunk, scaled), 0, 4, &mut scratch, &mut convert).unwrap();
            }
            let inside = Region { start: Dims::from_slice(&start), count: Dims::from_slice(tiling.shape()) };
            let mut expected = expected.chunks(4);
            for (place, at) in out.chunks(6).zip(Region::whole(&dims).coordinates()) {
                let mut wanted = [0xee; 6];
                if inside.contains(&at) {
                    wanted[1..5].copy_from_slice(expected.next().unwrap());
                }
                prop_assert_eq!(place, wanted);
            }
        }
    }

    fn empty(tiling: &Tiling) -> Tiles<'_> {
        let target = Target {
            start: NonNull::dangling(),
            length: 0,
            element_size: 1,
            strides: &[],
            base: 0,
            buffer: PhantomData,
        };
        Tiles { tiling, chunks: &[], target }
    }

    #[test]
    fn whole_chunks_that_follow_each_other_are_one_slice() {
        let keys = |numbers: &[u64]| numbers.iter().map(|at| Dims::from_slice(&[*at, 0])).collect::<Vec<_>>();
        let slice = |axes: &[Axis], chunk: &[u64], numbers: &[u64]| {
            let tiling = Tiling::new(axes, &[10, 4], chunk).unwrap();
            let mut out = vec![0; usize::try_from(tiling.shape().iter().product::<u64>()).unwrap()];
            let mut canvas = Canvas::packed(&mut out, tiling.shape(), 1).unwrap();
            let keys = keys(numbers);
            let mut tiles = canvas.tiles(&tiling, &keys).unwrap();
            let length = tiles.as_slice().map(|slice| {
                slice.fill(1);
                slice.len()
            });
            drop(canvas);
            length.map(|length| (out.iter().position(|byte| *byte == 1).unwrap(), length))
        };
        let (rows, columns) = (Axis::whole(10), Axis::whole(4));
        assert_eq!(slice(&[rows, columns], &[2, 4], &[1, 2, 3]), Some((8, 24)));
        assert_eq!(slice(&[rows, columns], &[2, 4], &[1, 3]), None);
        assert_eq!(slice(&[rows, columns], &[3, 4], &[1, 2]), Some((12, 24)));
        // The last chunk reaches beyond the extent; rows take turns; not all is selected.
        assert_eq!(slice(&[rows, columns], &[3, 4], &[2, 3]), None);
        assert_eq!(slice(&[rows, columns], &[2, 2], &[0, 1]), None);
        assert_eq!(slice(&[Axis::new(0, 2, 5, 1, 10, 0).unwrap(), columns], &[2, 4], &[0, 1]), None);
        assert_eq!(slice(&[Axis::new(2, 1, 1, 8, 10, 0).unwrap(), columns], &[2, 4], &[1, 2]), Some((0, 16)));
    }

    #[test]
    fn a_chunk_is_given_once() {
        let tiling = Tiling::new(&[Axis::whole(8)], &[8], &[4]).unwrap();
        let mut out = [0; 8];
        let mut canvas = Canvas::packed(&mut out, &[8], 1).unwrap();
        let (zero, one) = (Dims::from_slice(&[0]), Dims::from_slice(&[1]));
        assert!(canvas.tiles(&tiling, &[zero.clone(), zero.clone()]).is_err());
        assert!(canvas.tiles(&tiling, &[one.clone(), zero.clone()]).is_err());
        assert_eq!(canvas.tiles(&tiling, &[zero, one]).unwrap().count(), 2);
        assert!(Canvas::packed(&mut out, &[9], 1).is_err());
        let other = Tiling::new(&[Axis::whole(7)], &[8], &[4]).unwrap();
        assert!(Canvas::packed(&mut out, &[8], 1).unwrap().tiles(&other, &[]).is_err());
    }

    #[test]
    fn a_scalar_is_one_tile() {
        let tiling = Tiling::new(&[], &[], &[]).unwrap();
        let mut out = [0; 4];
        let mut canvas = Canvas::packed(&mut out, &[], 4).unwrap();
        let only = [Dims::new()];
        let mut tile = canvas.tiles(&tiling, &only).unwrap().next().unwrap().unwrap();
        assert_eq!((tile.len(), tile.source()), (1, 0..1));
        tile.as_slice().unwrap().copy_from_slice(b"abcd");
        assert_eq!(&out, b"abcd");
    }
}
