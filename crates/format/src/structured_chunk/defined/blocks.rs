//! Decoding of the defined elements of a structured chunk from an irregular hyperslab: a union of
//! blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use hyperslab_dataspace::{Block, DefinedBuilder, DefinedSet, Dims, Hyperslab, MAX_RANK, Selection, strides};

use super::words::Word;
use super::{outside, within};
use crate::codec::{FormatError, Reader, Result};

/// Reads a list of blocks of defined elements from section 0 of a structured chunk. A coordinate
/// takes `width` bytes. The blocks may have any order, and may overlap.
pub(super) fn read(
    reader: &mut Reader<'_>,
    chunk: &[u64],
    width: usize,
    most_elements: u64,
) -> Result<DefinedSet> {
    let count = reader.uint(width, "number of blocks")?;
    let size = width * chunk.len() * 2;
    let bytes = reader.count(count, size, "number of blocks")? * size;
    let bytes = reader.take(bytes, "blocks")?;
    match width {
        2 => of_ranks::<u16>(reader, bytes, chunk, most_elements),
        4 => of_ranks::<u32>(reader, bytes, chunk, most_elements),
        _ => of_ranks::<u64>(reader, bytes, chunk, most_elements),
    }
}

fn of_ranks<W: Word>(
    reader: &Reader<'_>,
    bytes: &[u8],
    chunk: &[u64],
    most_elements: u64,
) -> Result<DefinedSet> {
    let words = W::split(bytes);
    let expected = words.len().checked_div(chunk.len() * 2).unwrap_or(0);
    let expected = usize::try_from(most_elements).map_or(expected, |maximum| expected.min(maximum));
    let mut merger = Merger {
        strides: strides(chunk),
        builder: DefinedBuilder::with_capacity(chunk, expected).map_err(outside)?,
        elements: 0,
        most_elements,
        tall: Vec::new(),
        upcoming: BinaryHeap::new(),
        next_tall: u64::MAX,
    };
    match chunk.len() {
        1 => merger.add_all::<W, 1>(reader, words, chunk),
        2 => merger.add_all::<W, 2>(reader, words, chunk),
        3 => merger.add_all::<W, 3>(reader, words, chunk),
        4 => merger.add_all::<W, 4>(reader, words, chunk),
        _ => merger.add_all_of_any_rank::<W>(reader, words, chunk),
    }?;
    merger.take_until(u64::MAX)?;
    merger.check_elements()?;
    if !merger.builder.is_refused() {
        return merger.builder.finish().map_err(outside);
    }
    drop(merger);
    let mut blocks = Vec::with_capacity(expected);
    for_each_block_of_any_rank::<W>(reader, words, chunk, |start, end| {
        blocks.push(Block { start: Dims::from_slice(start), end: Dims::from_slice(end) });
        Ok(())
    })?;
    union(blocks, chunk, most_elements)
}

/// Returns the union of blocks of defined elements of a chunk. The blocks may have any order.
fn union(blocks: Vec<Block>, chunk: &[u64], most_elements: u64) -> Result<DefinedSet> {
    let selection = Selection::Hyperslab(Hyperslab::Irregular { rank: chunk.len(), blocks });
    let mut builder = DefinedBuilder::with_capacity(chunk, 0).map_err(outside)?;
    let mut elements = 0_u64;
    // Visit runs row by row, so that the element limit is checked after each row.
    let strides = strides(chunk);
    for run in selection.runs(chunk).map_err(outside)? {
        // Saturates: a count above 64 bits exceeds every limit.
        elements = elements.saturating_add(run.length);
        within(elements, most_elements)?;
        builder.push_run(run.start.iter().zip(&strides).map(|(at, stride)| at * stride).sum(), run.length);
    }
    builder.finish().map_err(outside)
}

fn for_each_block_of_any_rank<W: Word>(
    reader: &Reader<'_>,
    words: &[W::Bytes],
    chunk: &[u64],
    mut visit: impl FnMut(&[u64], &[u64]) -> Result<()>,
) -> Result<()> {
    let rank = chunk.len();
    let mut corners = [0; 2 * MAX_RANK];
    for block in words.chunks_exact((rank * 2).max(1)) {
        corners.iter_mut().zip(block).for_each(|(to, word)| *to = W::read(*word));
        let (start, rest) = corners.split_at(rank.min(MAX_RANK));
        let Some(end) = rest.get(..rank) else {
            return Err(FormatError::internal(super::NAME, "a chunk has at most 32 dimensions"));
        };
        check(reader, start, end, chunk)?;
        visit(start, end)?;
    }
    Ok(())
}

#[inline]
fn check(reader: &Reader<'_>, start: &[u64], end: &[u64], sizes: &[u64]) -> Result<()> {
    let dimensions = || start.iter().zip(end).zip(sizes);
    if dimensions().fold(0, |bad, ((start, end), size)| bad | u32::from(start > end) | u32::from(end >= size))
        == 0
    {
        return Ok(());
    }
    let bad = dimensions().find(|((start, end), size)| start > end || end >= size);
    let ((start, end), size) = bad.unwrap_or(((&0, &0), &0));
    Err(bad_corner(reader, *start, *end, *size))
}

#[cold]
fn bad_corner(reader: &Reader<'_>, start: u64, end: u64, size: u64) -> FormatError {
    let expected = if start > end {
        format!("at least {start}")
    } else {
        format!("less than {size} (the size of the chunk)")
    };
    reader.corrupt("ending offset", expected, end)
}

/// A merger that converts several blocks of defined elements to runs: ranges of consecutive
/// elements, in ascending order. The blocks must be disjoint, and sorted by their starts in C
/// order.
struct Merger {
    strides: Dims,
    builder: DefinedBuilder,
    elements: u64,
    most_elements: u64,
    /// Blocks of several runs.
    tall: Vec<TallBlock>,
    /// Heap of each tall block's next run: the offset of the run and the number of the block.
    upcoming: BinaryHeap<Reverse<(u64, usize)>>,
    /// Smallest offset in `upcoming`, or `u64::MAX` if `upcoming` is empty.
    next_tall: u64,
}

/// A block of defined elements that consists of several runs. A run is a range of elements that are
/// consecutive in the chunk.
struct TallBlock {
    /// Number of elements in each run.
    length: u64,
    /// Number of steps along each dimension; `done` counts the finished steps.
    counts: Dims,
    done: Dims,
}

impl Merger {
    fn add_all<W: Word, const R: usize>(
        &mut self,
        reader: &Reader<'_>,
        words: &[W::Bytes],
        chunk: &[u64],
    ) -> Result<()> {
        let (mut sizes, mut steps) = ([0; R], [1; R]);
        sizes.iter_mut().zip(chunk).for_each(|(to, size)| *to = *size);
        steps.iter_mut().zip(&self.strides).for_each(|(to, stride)| *to = *stride);
        let (corners, _) = words.as_chunks::<R>();
        let (blocks, _) = corners.as_chunks::<2>();
        for [start, end] in blocks {
            let (start, end) = (start.map(W::read), end.map(W::read));
            check(reader, &start, &end, &sizes)?;
            let (mut offset, mut last, mut rows) = (0, 0, 0);
            for dimension in start.iter().zip(&end).zip(&steps).enumerate() {
                let (number, ((start, end), step)) = dimension;
                offset += start * step;
                last += end * step;
                if number + 1 < R {
                    rows |= end - start;
                }
            }
            if offset > self.next_tall {
                self.take_until(offset)?;
            }
            if rows == 0 {
                self.push(offset, last - offset + 1);
            } else {
                self.add_tall(chunk, &start, &end, offset);
            }
        }
        Ok(())
    }

    fn add_all_of_any_rank<W: Word>(
        &mut self,
        reader: &Reader<'_>,
        words: &[W::Bytes],
        chunk: &[u64],
    ) -> Result<()> {
        for_each_block_of_any_rank::<W>(reader, words, chunk, |start, end| {
            let offset = start.iter().zip(&self.strides).map(|(at, stride)| at * stride).sum();
            self.take_until(offset)?;
            self.add_tall(chunk, start, end, offset);
            Ok(())
        })
    }

    #[inline]
    fn push(&mut self, offset: u64, length: u64) {
        if length == 1 {
            self.builder.push(offset);
        } else {
            self.builder.push_run(offset, length);
        }
        // Saturates: a count above 64 bits exceeds every limit.
        self.elements = self.elements.saturating_add(length);
    }

    /// Checks that the number of defined elements is within the limit. Checks nothing if the
    /// builder of the set has refused a range of elements, because the builder then reports its own
    /// error.
    fn check_elements(&self) -> Result<()> {
        if self.builder.is_refused() { Ok(()) } else { within(self.elements, self.most_elements) }
    }

    fn add_tall(&mut self, chunk: &[u64], start: &[u64], end: &[u64], offset: u64) {
        let mut counts: Dims = start.iter().zip(end).map(|(start, end)| end - start + 1).collect();
        // Dimensions that the block covers completely belong to the run, and so does the dimension
        // above them.
        let mut length = 1_u64;
        for (count, size) in counts.iter_mut().zip(chunk).rev() {
            let whole = count == size;
            length *= std::mem::replace(count, 1);
            if !whole {
                break;
            }
        }
        if counts.iter().all(|count| *count == 1) {
            self.push(offset, length);
            return;
        }
        let done = Dims::from_elem(0, counts.len());
        self.upcoming.push(Reverse((offset, self.tall.len())));
        self.next_tall = self.next_tall.min(offset);
        self.tall.push(TallBlock { length, counts, done });
    }

    /// Takes the runs (ranges of consecutive elements) of tall blocks that begin before `offset`,
    /// and adds them to the set of defined elements. `offset` is the number of an element in the
    /// chunk.
    fn take_until(&mut self, offset: u64) -> Result<()> {
        while let Some((at, length)) = self.take_run(offset) {
            self.push(at, length);
            self.check_elements()?;
            if self.builder.is_refused() {
                break;
            }
        }
        self.next_tall = self.upcoming.peek().map_or(u64::MAX, |Reverse((next, _))| *next);
        Ok(())
    }

    /// Takes the next run of consecutive defined elements among all blocks that have several runs.
    /// Returns its offset and length, or `None` if no run begins before `offset`.
    fn take_run(&mut self, offset: u64) -> Option<(u64, u64)> {
        let mut first = self.upcoming.peek_mut().filter(|first| first.0.0 < offset)?;
        let Reverse((at, number)) = *first;
        let block = self.tall.get_mut(number)?;
        match block.step(&self.strides) {
            Some(distance) => *first = Reverse((at + distance, number)),
            None => drop(PeekMut::pop(first)),
        }
        Some((at, block.length))
    }
}

impl TallBlock {
    /// Steps to the next run of consecutive elements in a block of defined elements. Returns the
    /// distance between the starts of the two runs, or `None` after the last run.
    fn step(&mut self, strides: &[u64]) -> Option<u64> {
        let mut back = 0_u64;
        for ((done, count), stride) in self.done.iter_mut().zip(&self.counts).zip(strides).rev() {
            if *done + 1 < *count {
                *done += 1;
                return stride.checked_sub(back);
            }
            back += *done * *stride;
            *done = 0;
        }
        None
    }
}
