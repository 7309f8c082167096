//! The arrays of Blosc 2: a grid of chunks, each with a grid of blocks.
//!
//! ```text
//! bytes        | meaning: the metalayer "b2nd", encoded as MessagePack
//! -------------+----------------------------------------------------------------------------------
//! 1            | an array of 7 values
//! 1, 1         | version; number of dimensions
//! 1, 9 each    | an array; the dimensions of the Blosc 2 array in elements (int64)
//! 1, 5 each    | an array; the dimensions of a chunk in elements (int32)
//! 1, 5 each    | an array; the dimensions of a block in elements (int32)
//! 1            | 0: the datatype follows in NumPy notation
//! 5, n         | a string
//! ```
//! All blocks have the full size. Elements of a block that lie outside the chunk or the array have
//! no meaning.

use hyperslab_exact::to_u64;

use crate::codec::length_u32;
use crate::{FilterId, Result};

use super::corrupt;

const MAX_DIMENSIONS: usize = 16;

/// The maximum number of dimensions of arrays that the Blosc2 encoder writes. Every version of the
/// HDF5 plug-in can decode such arrays.
const MAX_ENCODED_DIMENSIONS: usize = 8;

const ARRAY: u8 = 0x90;
const INT_32: u8 = 0xd2;
const INT_64: u8 = 0xd3;
const STRING_32: u8 = 0xdb;

/// The shapes of a Blosc2 array, of its chunks and of the blocks in a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Array {
    sides: Vec<Side>,
}

/// The lengths of a Blosc2 array, its chunks and its blocks along one dimension, in elements. No
/// length is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Side {
    array: usize,
    chunk: usize,
    block: usize,
}

impl Side {
    fn chunks(self) -> usize {
        self.array.div_ceil(self.chunk)
    }

    fn blocks(self) -> usize {
        self.chunk.div_ceil(self.block)
    }
}

/// The range of elements along one dimension in which a Blosc2 block overlaps the Blosc2 array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overlap {
    start: usize,
    count: usize,
    /// The size of the block along this dimension.
    block: usize,
    /// The size of the array along this dimension.
    array: usize,
}

impl Array {
    /// Creates the description of a Blosc2 array that has one chunk of the shape `shape`. The chunk
    /// is divided into blocks of about `block` bytes. Returns [`None`] if Blosc 2 cannot represent
    /// the array.
    pub(super) fn for_chunks(shape: &[usize], size: usize, block: usize) -> Option<Self> {
        if !(2..=MAX_ENCODED_DIMENSIONS).contains(&shape.len()) || shape.contains(&0) {
            return None;
        }
        let mut available = (block / size).max(1);
        let mut sides: Vec<Side> = shape
            .iter()
            .rev()
            .map(|side| {
                // Use the fewest blocks of equal size, so that the blocks need little padding.
                let blocks = side.div_ceil(available.min(*side));
                let block = side.div_ceil(blocks);
                available = (available / block).max(1);
                Side { array: *side, chunk: *side, block }
            })
            .collect();
        sides.reverse();
        let array = Self { sides };
        array.chunk_length(size).is_some().then_some(array)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).ok_or_else(|| corrupt("the metalayer with the array's shape is invalid"))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let [_, _, dimensions, rest @ ..] = bytes else { return None };
        let dimensions = usize::from(*dimensions);
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return None;
        }
        let (shape, rest) = rest.split_at_checked(1 + 9 * dimensions)?;
        let (chunk, rest) = rest.split_at_checked(1 + 5 * dimensions)?;
        let block = rest.get(..1 + 5 * dimensions)?;
        let numbers = shape.get(1..)?.as_chunks::<9>().0.iter();
        let long = numbers.map(|[_, number @ ..]| u64::from_be_bytes(*number));
        let short = |bytes: &[u8]| -> Option<Vec<u32>> {
            let numbers = bytes.get(1..)?.as_chunks::<5>().0.iter();
            Some(numbers.map(|[_, number @ ..]| u32::from_be_bytes(*number)).collect())
        };
        let sides = long.zip(short(chunk)?).zip(short(block)?).map(|((array, chunk), block)| {
            let side = Side {
                array: usize::try_from(array).ok()?,
                chunk: usize::try_from(chunk).ok()?,
                block: usize::try_from(block).ok()?,
            };
            (side.array > 0 && side.chunk > 0 && side.block > 0).then_some(side)
        });
        Some(Self { sides: sides.collect::<Option<_>>()? })
    }

    /// Appends to `output` the metadata section (metalayer) of a Blosc2 frame with the shape of the
    /// array.
    pub(super) fn write(&self, size: usize, output: &mut Vec<u8>) -> Result<()> {
        let dimensions = self.sides.len().to_le_bytes()[0];
        output.extend([ARRAY | 7, 0, dimensions, ARRAY | dimensions]);
        for side in &self.sides {
            output.push(INT_64);
            output.extend_from_slice(&to_u64(side.array).to_be_bytes());
        }
        for number in [|side: &Side| side.chunk, |side: &Side| side.block] {
            output.push(ARRAY | dimensions);
            for side in &self.sides {
                output.push(INT_32);
                output.extend_from_slice(&length_u32(FilterId::BLOSC2, number(side))?.to_be_bytes());
            }
        }
        let name = format!("|V{size}");
        output.extend([0, STRING_32]);
        output.extend_from_slice(&length_u32(FilterId::BLOSC2, name.len())?.to_be_bytes());
        output.extend_from_slice(name.as_bytes());
        Ok(())
    }

    fn product(&self, size: usize, number: impl Fn(&Side) -> Option<usize>) -> Option<usize> {
        self.sides.iter().try_fold(size, |product, side| product.checked_mul(number(side)?))
    }

    /// Returns the size of the Blosc2 array in bytes, or [`None`] if the size overflows.
    pub(super) fn length(&self, size: usize) -> Option<usize> {
        self.product(size, |side| Some(side.array))
    }

    /// Returns the size of a chunk of the Blosc2 array in bytes, including the padding of the
    /// blocks, or [`None`] if the size overflows.
    pub(super) fn chunk_length(&self, size: usize) -> Option<usize> {
        self.product(size, |side| side.blocks().checked_mul(side.block))
    }

    /// Returns the size of a block of the Blosc2 array in bytes, or [`None`] if the size overflows.
    pub(super) fn checked_block_length(&self, size: usize) -> Option<usize> {
        self.product(size, |side| Some(side.block))
    }

    /// Returns the size in bytes of a block of a Blosc2 array. The array comes from
    /// [`Self::for_chunks`], so that the size cannot overflow.
    pub(super) fn block_length(&self, size: usize) -> usize {
        self.checked_block_length(size).unwrap_or(usize::MAX)
    }

    /// Returns the number of chunks in the Blosc2 array, which is at most the number of elements.
    pub(super) fn chunks(&self) -> usize {
        self.sides.iter().map(|side| side.chunks()).product()
    }

    /// Calls `each` for every block of a Blosc2 chunk that overlaps the Blosc2 array. `each` gets
    /// the number of the block and the overlap.
    pub(super) fn each_block(
        &self,
        chunk: usize,
        mut each: impl FnMut(usize, &[Overlap]) -> Result<()>,
    ) -> Result<()> {
        let origin: Vec<usize> = coordinates(chunk, self.sides.iter().map(|side| side.chunks()));
        let origin = origin.iter().zip(&self.sides).map(|(at, side)| at * side.chunk);
        let starts: Vec<(usize, Side)> = origin.zip(self.sides.iter().copied()).collect();
        // Count only blocks that begin before the end of the array, so that the number of blocks
        // does not exceed the number of elements.
        let counts: Vec<usize> = starts
            .iter()
            .map(|(start, side)| side.chunk.min(side.array.max(*start) - start).div_ceil(side.block))
            .collect();
        let mut parts = Vec::with_capacity(starts.len());
        for number in 0..counts.iter().product() {
            let block = coordinates(number, counts.iter().copied());
            let positions = block.iter().zip(&self.sides);
            let index = positions.fold(0_usize, |index, (at, side)| index * side.blocks() + *at);
            parts.clear();
            parts.extend(block.iter().zip(&starts).map(|(at, (origin, side))| {
                let start = origin + at * side.block;
                let end = (origin + side.chunk).min(side.array);
                let count = side.block.min(end.max(start) - start);
                Overlap { start, count, block: side.block, array: side.array }
            }));
            each(index, &parts)?;
        }
        Ok(())
    }

    /// Copies the elements of a decoded Blosc2 block to their positions in the bytes `output` of
    /// the Blosc2 array. Returns [`None`] if the block lies outside the array.
    pub(super) fn scatter(
        &self,
        parts: &[Overlap],
        size: usize,
        block: &[u8],
        output: &mut [u8],
    ) -> Option<()> {
        each_row(parts, size, |from, to, length| {
            let row = block.get(from..)?.get(..length)?;
            output.get_mut(to..)?.get_mut(..length)?.copy_from_slice(row);
            Some(())
        })
    }

    /// Returns the bytes of all blocks of a Blosc2 array with one chunk, one block after another.
    pub(super) fn gather(&self, size: usize, input: &[u8]) -> Vec<u8> {
        let length = self.block_length(size);
        let mut blocks = vec![0; self.chunk_length(size).unwrap_or(0)];
        let gathered = self.each_block(0, |index, parts| {
            let block = blocks.get_mut(index * length..).and_then(|rest| rest.get_mut(..length));
            let block = block.unwrap_or_default();
            each_row(parts, size, |to, from, length| {
                let row = input.get(from..)?.get(..length)?;
                block.get_mut(to..)?.get_mut(..length)?.copy_from_slice(row);
                Some(())
            });
            Ok(())
        });
        debug_assert!(gathered.is_ok(), "the callback never fails");
        blocks
    }
}

/// Returns the coordinates of a Blosc2 chunk or block in a grid. `number` is the number of the
/// chunk or block, and `counts` is the shape of the grid. The last coordinate varies fastest.
fn coordinates(number: usize, counts: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut rest = number;
    let mut coordinates: Vec<usize> = counts
        .rev()
        .map(|count| {
            let at = rest % count.max(1);
            rest /= count.max(1);
            at
        })
        .collect();
    coordinates.reverse();
    coordinates
}

/// Calls `each` for every row of elements in the overlap of a Blosc2 block and the Blosc2 array.
/// `each` gets the offset of the row in the block, its offset in the array, and its length, all in
/// bytes.
fn each_row(
    parts: &[Overlap],
    size: usize,
    mut each: impl FnMut(usize, usize, usize) -> Option<()>,
) -> Option<()> {
    let (last, outer) = parts.split_last()?;
    let rows = outer.iter().map(|part| part.count).try_fold(1_usize, usize::checked_mul)?;
    for row in 0..rows {
        let (mut rest, mut in_block, mut in_array) = (row, 0, last.start);
        let (mut block_stride, mut array_stride) = (last.block, last.array);
        for part in outer.iter().rev() {
            let at = rest % part.count;
            rest /= part.count;
            in_block += at * block_stride;
            in_array += (part.start + at) * array_stride;
            block_stride *= part.block;
            array_stride *= part.array;
        }
        each(in_block * size, in_array * size, last.count * size)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_are_written_as_read() {
        let array = Array::for_chunks(&[100, 7, 30], 4, 1000).unwrap();
        let mut bytes = Vec::new();
        array.write(4, &mut bytes).unwrap();
        assert_eq!(Array::parse(&bytes).unwrap(), array);
        assert_eq!(array.sides.iter().map(|side| side.block).collect::<Vec<_>>(), [1, 7, 30]);
        for end in 0..bytes.len() - 9 {
            assert!(Array::parse(&bytes[..end]).is_err(), "{end}");
        }
        assert!(Array::for_chunks(&[9], 4, 1000).is_none());
        assert!(Array::for_chunks(&[9, 0], 4, 1000).is_none());
        assert!(Array::for_chunks(&[1; 9], 4, 1000).is_none());
        assert!(Array::for_chunks(&[usize::MAX, 2], 4, 1000).is_none());
    }

    proptest! {
        #[test]
        fn every_element_is_in_one_block(
            sides in proptest::collection::vec((1..9_usize, 1..7_usize, 1..5_usize), 1..5),
            size in 1..4_usize,
        ) {
            let sides = sides.into_iter().map(|(array, chunk, block)| Side { array, chunk, block }).collect();
            let array = Array { sides };
            let mut seen = vec![0_u8; array.length(size).unwrap()];
            let block = array.block_length(size);
            for chunk in 0..array.chunks() {
                array.each_block(chunk, |index, parts| {
                    assert!((index + 1) * block <= array.chunk_length(size).unwrap());
                    let mut part = vec![0; seen.len()];
                    array.scatter(parts, size, &vec![1; block], &mut part).unwrap();
                    seen.iter_mut().zip(part).for_each(|(seen, part)| *seen += part);
                    Ok(())
                }).unwrap();
            }
            prop_assert!(seen.iter().all(|count| *count == 1), "{:?}", seen);
        }

        #[test]
        fn what_is_gathered_is_scattered(
            shape in proptest::collection::vec(1..9_usize, 2..5),
            size in 1..4_usize,
            available in 1..100_usize,
        ) {
            let array = Array::for_chunks(&shape, size, available).unwrap();
            let input: Vec<u8> = (0..array.length(size).unwrap()).map(|at| at.to_le_bytes()[0]).collect();
            let blocks = array.gather(size, &input);
            let mut output = vec![0; input.len()];
            array.each_block(0, |index, parts| {
                let block = &blocks[index * array.block_length(size)..];
                array.scatter(parts, size, block, &mut output).unwrap();
                Ok(())
            }).unwrap();
            prop_assert_eq!(output, input);
        }
    }
}
