//! Arrays of Blosc 2: chunks in a grid, blocks in a grid within each.
//!
//! ```text
//! bytes        | meaning: the metalayer "b2nd", in MessagePack
//! -------------+------------------------------------------------------------------------------------------
//! 1            | an array of 7
//! 1, 1         | version; dimensions
//! 1, 9 each    | an array; elements of the array in each dimension (int64)
//! 1, 5 each    | an array; those of a chunk (int32)
//! 1, 5 each    | an array; those of a block (int32)
//! 1            | 0: the type follows as NumPy has it
//! 5, n         | a string
//! ```
//! Blocks are complete: what lies outside of the chunk, or of the array, is there and means nothing.

use hyperslab_exact::to_u64;

use crate::codec::length_u32;
use crate::{FilterId, Result};

use super::corrupt;

const MOST_DIMENSIONS: usize = 16;

/// Every version of the plug-in decodes arrays of so many.
const MOST_ENCODED: usize = 8;

const ARRAY: u8 = 0x90;
const INT_32: u8 = 0xd2;
const INT_64: u8 = 0xd3;
const STRING_32: u8 = 0xdb;

/// The shape of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Array {
    sides: Vec<Side>,
}

/// One dimension; no number is 0.
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

/// One dimension of the part of a block that lies within the array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    start: usize,
    count: usize,
    /// Of the block, and of the array.
    block: usize,
    array: usize,
}

impl Array {
    /// The array that one chunk of this shape is, in blocks of about so many bytes; [`None`] if Blosc 2 has no such.
    pub(super) fn for_chunks(shape: &[usize], size: usize, block: usize) -> Option<Self> {
        if !(2..=MOST_ENCODED).contains(&shape.len()) || shape.contains(&0) {
            return None;
        }
        let mut room = (block / size).max(1);
        let mut sides: Vec<Side> = shape
            .iter()
            .rev()
            .map(|side| {
                // Blocks of the same size, as few as there may be: little is filled up.
                let blocks = side.div_ceil(room.min(*side));
                let block = side.div_ceil(blocks);
                room = (room / block).max(1);
                Side { array: *side, chunk: *side, block }
            })
            .collect();
        sides.reverse();
        let array = Self { sides };
        array.chunk_length(size).is_some().then_some(array)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).ok_or_else(|| corrupt("the shape of its array"))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let [_, _, dimensions, rest @ ..] = bytes else { return None };
        let dimensions = usize::from(*dimensions);
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
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

    /// Appends the metalayer.
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

    /// Bytes of the array.
    pub(super) fn length(&self, size: usize) -> Option<usize> {
        self.product(size, |side| Some(side.array))
    }

    /// Bytes of a chunk, with what fills up its blocks.
    pub(super) fn chunk_length(&self, size: usize) -> Option<usize> {
        self.product(size, |side| side.blocks().checked_mul(side.block))
    }

    /// Bytes of a block.
    pub(super) fn checked_block_length(&self, size: usize) -> Option<usize> {
        self.product(size, |side| Some(side.block))
    }

    /// Bytes of a block of an array that was made for chunks.
    pub(super) fn block_length(&self, size: usize) -> usize {
        self.checked_block_length(size).unwrap_or(usize::MAX)
    }

    /// Chunks; no more than elements.
    pub(super) fn chunks(&self) -> usize {
        self.sides.iter().map(|side| side.chunks()).product()
    }

    /// Calls `each` with the number of every block of a chunk that has a part of the array, and that part.
    pub(super) fn each_block(
        &self,
        chunk: usize,
        mut each: impl FnMut(usize, &[Part]) -> Result<()>,
    ) -> Result<()> {
        let origin: Vec<usize> = coordinates(chunk, self.sides.iter().map(|side| side.chunks()));
        let origin = origin.iter().zip(&self.sides).map(|(at, side)| at * side.chunk);
        let starts: Vec<(usize, Side)> = origin.zip(self.sides.iter().copied()).collect();
        // Only blocks that begin before the end of the array: no more than elements.
        let counts: Vec<usize> = starts
            .iter()
            .map(|(start, side)| side.chunk.min(side.array.max(*start) - start).div_ceil(side.block))
            .collect();
        let mut parts = Vec::with_capacity(starts.len());
        for number in 0..counts.iter().product() {
            let block = coordinates(number, counts.iter().copied());
            let places = block.iter().zip(&self.sides);
            let index = places.fold(0_usize, |index, (at, side)| index * side.blocks() + *at);
            parts.clear();
            parts.extend(block.iter().zip(&starts).map(|(at, (origin, side))| {
                let start = origin + at * side.block;
                let end = (origin + side.chunk).min(side.array);
                let count = side.block.min(end.max(start) - start);
                Part { start, count, block: side.block, array: side.array }
            }));
            each(index, &parts)?;
        }
        Ok(())
    }

    /// Copies a block to its place; [`None`] if that is not there.
    pub(super) fn scatter(&self, parts: &[Part], size: usize, block: &[u8], output: &mut [u8]) -> Option<()> {
        each_row(parts, size, |from, to, length| {
            let row = block.get(from..)?.get(..length)?;
            output.get_mut(to..)?.get_mut(..length)?.copy_from_slice(row);
            Some(())
        })
    }

    /// The blocks of the one chunk that the array is, one after another.
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
        debug_assert!(gathered.is_ok(), "nothing fails");
        blocks
    }
}

/// The coordinates of the one of this number in a grid, the last varying fastest.
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

/// Calls `each` with where a row stands in its block and in the array, and its bytes.
fn each_row(
    parts: &[Part],
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
            room in 1..100_usize,
        ) {
            let array = Array::for_chunks(&shape, size, room).unwrap();
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
