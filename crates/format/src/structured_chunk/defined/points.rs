//! Decoding of the defined elements of a structured chunk from a list of points.

use std::cmp::Reverse;

use hyperslab_dataspace::{DefinedSet, strides};
use hyperslab_exact::to_u64;

use super::words::Word;
use super::{DecodedDefined, in_order, outside, within};
use crate::codec::{Reader, Result};

/// Reads a list of points, which are the defined elements of a structured chunk. The number of
/// points comes first. A coordinate takes `width` bytes.
pub(super) fn read(
    reader: &mut Reader<'_>,
    chunk: &[u64],
    width: usize,
    most_elements: u64,
) -> Result<DecodedDefined> {
    let count = reader.uint(width, "number of points")?;
    let size = width * chunk.len();
    let bytes = reader.count(count, size, "number of points")? * size;
    within(count, most_elements)?;
    let bytes = reader.take(bytes, "coordinates")?;
    // `DefinedSet::empty` checks that the product of the sizes fits 64 bits.
    let total = DefinedSet::empty(chunk).map_err(outside)?.total();
    match (width, total <= 1 << 32) {
        (2, true) => of_ranks::<u16, u32>(reader, bytes, chunk),
        (2, false) => of_ranks::<u16, u64>(reader, bytes, chunk),
        (4, true) => of_ranks::<u32, u32>(reader, bytes, chunk),
        (4, false) => of_ranks::<u32, u64>(reader, bytes, chunk),
        (_, true) => of_ranks::<u64, u32>(reader, bytes, chunk),
        (_, false) => of_ranks::<u64, u64>(reader, bytes, chunk),
    }
}

/// An integer type that can hold the offset of every element in a structured chunk.
trait Offset: Copy + Ord + Into<u64> {
    /// Truncates a number to the integer type for offsets of elements in a structured chunk.
    fn cut(number: u64) -> Self;
    /// Adds `a * b` (a coordinate and its stride) to the offset of an element in a structured
    /// chunk. Wraps around on overflow.
    fn add(self, a: Self, b: Self) -> Self;
    fn set(chunk: &[u64], offsets: Vec<Self>) -> hyperslab_dataspace::Result<DefinedSet>;
}

impl Offset for u32 {
    #[inline]
    fn cut(number: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "coordinates beyond the chunk are refused")]
        let low = number as u32;
        low
    }

    #[inline]
    fn add(self, a: Self, b: Self) -> Self {
        self.wrapping_add(a.wrapping_mul(b))
    }

    fn set(chunk: &[u64], offsets: Vec<Self>) -> hyperslab_dataspace::Result<DefinedSet> {
        DefinedSet::of_offsets32(chunk, offsets)
    }
}

impl Offset for u64 {
    #[inline]
    fn cut(number: u64) -> Self {
        number
    }

    #[inline]
    fn add(self, a: Self, b: Self) -> Self {
        self.wrapping_add(a.wrapping_mul(b))
    }

    fn set(chunk: &[u64], offsets: Vec<Self>) -> hyperslab_dataspace::Result<DefinedSet> {
        DefinedSet::of_offsets(chunk, offsets)
    }
}

fn of_ranks<W: Word, T: Offset>(reader: &Reader<'_>, bytes: &[u8], chunk: &[u64]) -> Result<DecodedDefined> {
    let words = W::split(bytes);
    let offsets: Vec<T> = match chunk {
        [size] => offsets::<W, T, 1>(reader, words, [*size])?,
        [slow, fast] => offsets::<W, T, 2>(reader, words, [*slow, *fast])?,
        [slow, middle, fast] => offsets::<W, T, 3>(reader, words, [*slow, *middle, *fast])?,
        _ => offsets_of_any_rank::<W, T>(reader, words, chunk)?,
    };
    let disorder = offsets.iter().skip(1).zip(&offsets).map(|(offset, before)| u32::from(offset <= before));
    if disorder.fold(0, |bad, here| bad | here) == 0 {
        return T::set(chunk, offsets).map(in_order).map_err(outside);
    }
    let stored = to_u64(offsets.len());
    let mut numbered: Vec<(T, u64)> = offsets.into_iter().zip(0..).collect();
    numbered.sort_unstable_by_key(|(offset, number)| (*offset, Reverse(*number)));
    numbered.dedup_by_key(|(offset, _)| *offset);
    let order = Some(numbered.iter().map(|(_, number)| *number).collect());
    let set = T::set(chunk, numbered.iter().map(|(offset, _)| *offset).collect()).map_err(outside)?;
    Ok(DecodedDefined { set, order, stored })
}

fn offsets<W: Word, T: Offset, const R: usize>(
    reader: &Reader<'_>,
    words: &[W::Bytes],
    sizes: [u64; R],
) -> Result<Vec<T>> {
    let (points, _) = words.as_chunks::<R>();
    let outside = |point: &[W::Bytes; R]| {
        point.iter().zip(&sizes).fold(0_u32, |bad, (at, size)| bad | u32::from(W::read(*at) >= *size))
    };
    if points.iter().fold(0, |bad, point| bad | outside(point)) != 0 {
        return Err(found_outside::<W>(reader, words, &sizes));
    }
    let mut steps = [T::cut(1); R];
    steps.iter_mut().zip(&strides(&sizes)).for_each(|(to, stride)| *to = T::cut(*stride));
    let offset = |point: &[W::Bytes; R]| {
        point.iter().zip(&steps).fold(T::cut(0), |sum, (at, step)| sum.add(T::cut(W::read(*at)), *step))
    };
    Ok(points.iter().map(offset).collect())
}

fn offsets_of_any_rank<W: Word, T: Offset>(
    reader: &Reader<'_>,
    words: &[W::Bytes],
    sizes: &[u64],
) -> Result<Vec<T>> {
    let points = words.chunks_exact(sizes.len().max(1));
    let mut offsets = Vec::with_capacity(points.len());
    for point in points {
        let (mut offset, mut inside) = (0_u64, true);
        for (at, size) in point.iter().zip(sizes) {
            let at = W::read(*at);
            inside &= at < *size;
            offset = offset.wrapping_mul(*size).wrapping_add(at);
        }
        if !inside {
            return Err(found_outside::<W>(reader, words, sizes));
        }
        offsets.push(T::cut(offset));
    }
    Ok(offsets)
}

/// Creates an error about the first defined element outside of the structured chunk.
#[cold]
fn found_outside<W: Word>(
    reader: &Reader<'_>,
    words: &[W::Bytes],
    sizes: &[u64],
) -> crate::codec::FormatError {
    let coordinates = words.iter().map(|word| W::read(*word)).zip(sizes.iter().cycle());
    let mut outside = coordinates.filter(|(at, size)| at >= *size);
    let (at, size) = outside.next().unwrap_or((0, &0));
    reader.corrupt("coordinate", format!("less than {size} (the size of the chunk)"), at)
}
