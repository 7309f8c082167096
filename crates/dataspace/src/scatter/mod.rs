//! Concurrent writing of the selected elements of many chunks into one buffer.
//!
//! The selected elements of a chunk have target elements in the buffer. These are no slice of the
//! buffer: rows of several chunks alternate. Therefore a [`Tile`] holds a pointer to the whole
//! buffer, and writes to its own target elements only. The following invariants make this sound.
//! This module ensures all of them:
//!
//! - A [`Canvas`] borrows the buffer mutably, and [`Canvas::tiles`] borrows the canvas mutably.
//!   While tiles exist, no other code accesses the buffer.
//! - The selection maps each position to one element of a box in the buffer. Two positions never
//!   share a target element.
//! - A [`Tiling`] assigns disjoint ranges of positions to the chunks. [`Canvas::tiles`] accepts
//!   each chunk once: it rejects coordinates that do not ascend strictly.
//! - [`Tiles`] returns the tile of each chunk once. Splitting it splits the list of chunks.
//! - `Tile::new` checks the last target element against the length of the buffer.
#![expect(unsafe_code, reason = "tiles of one buffer, written from several threads; see UNSAFE.md")]

mod raw;
mod tile;

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::error::{Result, same_rank};
use crate::linear::strides;
use crate::region::check_bounds;
use crate::{BoxPosition, DataspaceError, Dims, Tiling};

pub use tile::{ConvertRun, Tile, TileScratch};

/// The target of a read: a buffer in memory that receives the selected elements of many chunks,
/// with the shape and the position of the selection in the buffer.
#[derive(Debug)]
pub struct Canvas<'a> {
    bytes: &'a mut [u8],
    element_size: usize,
    shape: Dims,
    strides: Dims,
    base: u64,
}

impl<'a> Canvas<'a> {
    /// Creates a canvas for a packed buffer. A canvas is a target of selected elements. The buffer
    /// is a C-order array of the shape `shape`, with elements of `element_size` bytes.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if `bytes` is shorter than the array.
    pub fn packed(bytes: &'a mut [u8], shape: &[u64], element_size: usize) -> Result<Self> {
        let zero = Dims::from_elem(0, shape.len());
        Self::boxed(bytes, BoxPosition { dims: shape, start: &zero }, shape, element_size)
    }

    /// Creates a canvas for a box of the shape `shape` in a larger C-order array in memory. A
    /// canvas is a target of selected elements.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if the box reaches beyond the array,
    /// [`DataspaceError::Buffer`] if `bytes` is shorter than the array,
    /// [`DataspaceError::Overflow`], [`DataspaceError::Invalid`] if `element_size` is 0.
    pub fn boxed(
        bytes: &'a mut [u8],
        placement: BoxPosition<'_>,
        shape: &[u64],
        element_size: usize,
    ) -> Result<Self> {
        let subject = "the buffer";
        if element_size == 0 {
            return Err(DataspaceError::Invalid { subject: "an element", problem: "has no bytes" });
        }
        same_rank(subject, shape.len(), placement.dims.len())?;
        same_rank(subject, shape.len(), placement.start.len())?;
        check_bounds(subject, placement.start, shape, placement.dims)?;
        let elements = crate::error::product("number of elements", placement.dims.iter().copied())?;
        let needed = usize::try_from(elements).ok().and_then(|elements| elements.checked_mul(element_size));
        let needed = needed.ok_or(DataspaceError::Overflow { subject: "number of bytes of an array" })?;
        if needed > bytes.len() {
            return Err(DataspaceError::Buffer { subject, needed, got: bytes.len() });
        }
        let strides = strides(placement.dims);
        let base = strides.iter().zip(placement.start).fold(0_u64, |base, (stride, at)| base + stride * at);
        Ok(Self { bytes, element_size, shape: Dims::from_slice(shape), strides, base })
    }

    /// Returns the tiles of a canvas for a list of chunks. A tile is the part of the target buffer
    /// for the selected elements of one chunk. The coordinates of the chunks must ascend strictly
    /// in C order.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] if the chunks do not ascend, or if the shapes of tiling and
    /// canvas differ.
    pub fn tiles<'c>(&'c mut self, tiling: &'c Tiling, chunks: &'c [Dims]) -> Result<Tiles<'c>> {
        if tiling.shape() != self.shape.as_slice() {
            return Err(DataspaceError::Invalid {
                subject: "a tiling",
                problem: "has another shape than its buffer",
            });
        }
        if !chunks.is_sorted_by(|one, next| one < next) {
            return Err(DataspaceError::Invalid { subject: "a list of chunks", problem: "does not ascend" });
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

/// A pointer to the target buffer of a canvas: a buffer that receives selected elements of several
/// chunks. All tiles (the parts of the buffer for one chunk) share the pointer.
#[derive(Debug, Clone, Copy)]
struct Target<'c> {
    start: NonNull<u8>,
    length: usize,
    element_size: usize,
    strides: &'c [u64],
    base: u64,
    buffer: PhantomData<&'c mut [u8]>,
}

// SAFETY: A target is a mutable borrow of bytes, which may move to another thread. Copies of it
// exist in `Tiles` and `Tile` only, and no two copies write to the same element (see the module's
// documentation).
unsafe impl Send for Target<'_> {}

/// The tiles of a list of chunks: the parts of a canvas that receive the chunks' elements. Each
/// tile can be taken once.
#[derive(Debug)]
pub struct Tiles<'c> {
    tiling: &'c Tiling,
    chunks: &'c [Dims],
    target: Target<'c>,
}

impl<'c> Tiles<'c> {
    /// Returns the remaining chunks of the list: those whose tiles (parts of the target buffer)
    /// were not taken yet.
    pub fn chunks(&self) -> &'c [Dims] {
        self.chunks
    }

    /// Returns the part of the target buffer for all remaining tiles as one slice. A tile is the
    /// part for the selected elements of one chunk. Returns [`None`] if the tiles are not
    /// contiguous.
    ///
    /// They are contiguous if every chunk is selected as a whole, and each chunk's elements follow
    /// the elements of the chunk before. The tiles remain available: a caller uses either the slice
    /// or the tiles.
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
        // SAFETY: `run` checked that the bytes lie in the buffer. The bytes are the target elements
        // of the chunks of `self` and of no others: `run_of_chunks` checked that the chunks are
        // contiguous in the selection, and their elements together have the length of the range.
        // The slice borrows `self` mutably.
        Some(unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(at), length) })
    }

    /// Splits the list of a canvas's tiles into the first `count` tiles and the other tiles.
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

impl Target<'_> {
    /// Returns the offset and the length, in bytes, of a run of elements in the target buffer of a
    /// read. Returns `None` if the run exceeds the buffer.
    fn run(&self, first: u64, count: u64) -> Option<(usize, usize)> {
        let at = usize::try_from(first).ok()?.checked_mul(self.element_size)?;
        let length = usize::try_from(count).ok()?.checked_mul(self.element_size)?;
        (at.checked_add(length)? <= self.length).then_some((at, length))
    }
}

const OUTSIDE: DataspaceError = DataspaceError::Overflow { subject: "end of a run" };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Hyperslab, Region, RegularHyperslab, Selection, gather};
    use proptest::prelude::*;

    /// An extent, a chunk shape, and a regular hyperslab of the extent.
    fn cases() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, RegularHyperslab)> {
        let one = (0..4_u64, 1..6_u64, 1..40_u64, 1..5_u64, 1..60_u64, 0..3_u64).prop_map(
            |(start, gap, count, block, chunk, after)| {
                let stride = block + gap - 1;
                (start + (count - 1) * stride + block + after, chunk, start, stride, count, block)
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

    /// Returns the bytes of a chunk of the array `0, 1, 2, …` of u32.
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

            // Unconverted, into a packed buffer, by several threads.
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
                        } else if let Some(slices) = tile.as_slices(8) {
                            let mut rest = &bytes[from..to];
                            for slice in slices {
                                assert!(slice.len() >= 8);
                                let (now, after) = rest.split_at(slice.len());
                                slice.copy_from_slice(now);
                                rest = after;
                            }
                            assert!(rest.is_empty());
                        } else {
                            assert!(tile.copy_from(&bytes[from..to - 1], needed.start).is_err());
                            tile.copy_from(&bytes[from..to], needed.start).unwrap();
                        }
                    });
                }
            });
            prop_assert_eq!(&out, &expected);

            // Converted to elements that are two bytes longer, into a box of a larger array.
            let dims: Vec<u64> = tiling.shape().iter().map(|size| size + 2 * margin).collect();
            let start = vec![margin; dims.len()];
            let mut out = vec![0xee; usize::try_from(dims.iter().product::<u64>()).unwrap() * 6];
            let mut canvas = Canvas::boxed(&mut out, BoxPosition { dims: &dims, start: &start }, tiling.shape(), 6).unwrap();
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
        // The last chunk reaches beyond the extent, rows of chunks alternate, and not all elements
        // are selected.
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
