//! The shuffle filter (number 2): the first bytes of all elements, then all second bytes, and so
//! on.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------
//! 0            | bytes of one element
//! ```
//! Bytes after the last whole element stay unchanged at the end.

use crate::codec::resize;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The shuffle filter, which transposes the bytes of elements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shuffle;

/// The size in bytes of a tile of elements that the shuffle filter transposes together. Two tiles
/// fit into the processor's first-level cache. The size is a multiple of `MAX_TILED_BYTES`.
const TILE_BYTES: usize = 8 << 10;

/// The maximum element size in bytes for transposition in tiles by the shuffle filter. Larger
/// elements are copied byte by byte.
const MAX_TILED_BYTES: usize = 64;

impl Filter for Shuffle {
    fn id(&self) -> FilterId {
        FilterId::SHUFFLE
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let size = element_size(context).ok_or_else(|| {
            FilterError::corrupt(self.id(), "the element size in the client data is missing or 0")
        })?;
        if input.len() > context.max_output {
            return Err(FilterError::Limit { id: self.id(), limit: context.max_output });
        }
        if is_no_op(size, input.len()) {
            return Ok(Produced::unchanged(input));
        }
        resize(self.id(), output, input.len())?;
        unshuffle(size, input, output);
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let size = element_size(context).ok_or_else(|| {
            FilterError::failed(self.id(), "the element size in the client data is missing or 0")
        })?;
        if is_no_op(size, input.len()) {
            return Ok(Produced::unchanged(input));
        }
        output.resize(input.len(), 0);
        shuffle(size, input, output);
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, input: usize) -> Option<usize> {
        Some(input)
    }

    fn compresses(&self) -> bool {
        false
    }

    fn prepare(&self, _requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        Ok(vec![dataset.datatype.size])
    }
}

fn element_size(context: &FilterContext<'_>) -> Option<usize> {
    context.client_data.first().and_then(|size| usize::try_from(*size).ok()).filter(|size| *size > 0)
}

/// Returns true if the shuffle filter changes nothing: elements of one byte, or fewer than two
/// elements.
fn is_no_op(size: usize, length: usize) -> bool {
    size == 1 || length / size < 2
}

/// Transposes elements of `size` bytes into byte planes for the shuffle filter. `size` is not 0.
/// Both slices have the same length.
pub(crate) fn to_planes(size: usize, elements: &[u8], planes: &mut [u8]) {
    if is_no_op(size, elements.len()) {
        copy(planes, elements);
    } else {
        shuffle(size, elements, planes);
    }
}

/// Transposes byte planes of the shuffle filter back into elements. This is the inverse of
/// [`to_planes`].
pub(crate) fn from_planes(size: usize, planes: &[u8], elements: &mut [u8]) {
    if is_no_op(size, planes.len()) {
        copy(elements, planes);
    } else {
        unshuffle(size, planes, elements);
    }
}

fn shuffle(size: usize, elements: &[u8], planes: &mut [u8]) {
    let count = elements.len() / size;
    let (elements, tail) = elements.split_at_checked(count * size).unwrap_or((elements, &[]));
    let (planes, tail_out) = split_mut(planes, count * size);
    if size.is_power_of_two() && size <= MAX_TILED_BYTES {
        shuffle_tiles(size, elements, planes);
    } else {
        let some = (TILE_BYTES / size).max(1);
        for (tile, elements) in elements.chunks(some * size).enumerate() {
            for (at, plane) in planes.chunks_exact_mut(count).enumerate() {
                let plane = plane.split_at_mut(tile * some).1;
                for (to, element) in plane.iter_mut().zip(elements.chunks_exact(size)) {
                    // The byte always exists. In this form, the loop is several times as fast as a
                    // loop that steps over bytes.
                    if let Some(byte) = element.get(at) {
                        *to = *byte;
                    }
                }
            }
        }
    }
    copy(tail_out, tail);
}

fn unshuffle(size: usize, planes: &[u8], elements: &mut [u8]) {
    let count = elements.len() / size;
    let (planes, tail) = planes.split_at_checked(count * size).unwrap_or((planes, &[]));
    let (elements, tail_out) = split_mut(elements, count * size);
    if size.is_power_of_two() && size <= MAX_TILED_BYTES {
        unshuffle_tiles(size, planes, elements);
    } else {
        for (at, plane) in planes.chunks_exact(count).enumerate() {
            let bytes = elements.iter_mut().skip(at).step_by(size);
            bytes.zip(plane).for_each(|(to, from)| *to = *from);
        }
    }
    copy(tail_out, tail);
}

// The index of a byte in a tile consists of the index of its element (high bits) and the index
// within the element (low bits). Moving the bytes at even indices to the first half of the tile and
// the bytes at odd indices to the second half rotates the bits of the index by one to the right.
// After one such step for each bit of the index within the element, the bytes form planes.
// Interleaving the two halves rotates the bits back. Both steps are fast on vector units, for all
// element sizes.

/// Transposes elements into byte planes of the shuffle filter, in tiles. `size` is a power of two
/// from 2 to `MAX_TILED_BYTES` and divides the length of `elements`.
fn shuffle_tiles(size: usize, elements: &[u8], planes: &mut [u8]) {
    let (mut from, mut to) = ([0; TILE_BYTES], [0; TILE_BYTES]);
    let count = elements.len() / size;
    for (number, tile) in elements.chunks(TILE_BYTES).enumerate() {
        let (from, to) = (&mut from, &mut to);
        let (mut from, mut to) = (split_mut(from, tile.len()).0, split_mut(to, tile.len()).0);
        deinterleave(tile, from);
        for _ in 1..size.ilog2() {
            deinterleave(from, to);
            std::mem::swap(&mut from, &mut to);
        }
        let at = number * (TILE_BYTES / size);
        for (bytes, plane) in from.chunks_exact(tile.len() / size).zip(planes.chunks_exact_mut(count)) {
            copy(split_mut(plane, at).1, bytes);
        }
    }
}

/// Transposes byte planes of the shuffle filter into elements, in tiles. The conditions for the
/// arguments of [`shuffle_tiles`] apply.
fn unshuffle_tiles(size: usize, planes: &[u8], elements: &mut [u8]) {
    let (mut from, mut to) = ([0; TILE_BYTES], [0; TILE_BYTES]);
    let count = elements.len() / size;
    for (number, tile) in elements.chunks_mut(TILE_BYTES).enumerate() {
        let (from, to) = (&mut from, &mut to);
        let (mut from, mut to) = (split_mut(from, tile.len()).0, split_mut(to, tile.len()).0);
        let at = number * (TILE_BYTES / size);
        for (bytes, plane) in from.chunks_exact_mut(tile.len() / size).zip(planes.chunks_exact(count)) {
            copy(bytes, plane.split_at(at).1);
        }
        for _ in 1..size.ilog2() {
            interleave(from, to);
            std::mem::swap(&mut from, &mut to);
        }
        interleave(from, tile);
    }
}

/// Separates bytes at even and odd indices, for the shuffle filter. Moves even bytes of `from` to
/// the first half of `to`, and odd bytes to the second half.
fn deinterleave(from: &[u8], to: &mut [u8]) {
    let (even, odd) = split_mut(to, from.len() / 2);
    // The code works on 16-bit words, which the compiler turns into vector narrowing.
    let words = from.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
    for ((word, even), odd) in words.zip(even).zip(odd) {
        [*even, _] = word.to_le_bytes();
        [*odd, _] = (word >> 8).to_le_bytes();
    }
}

/// Interleaves the bytes of the two halves of `from` into `to`, for the shuffle filter. This is the
/// inverse of [`deinterleave`].
// Not inlined: otherwise the compiler no longer knows that the slices are distinct, and uses no
// vectors.
#[inline(never)]
fn interleave(from: &[u8], to: &mut [u8]) {
    let (even, odd) = from.split_at_checked(from.len() / 2).unwrap_or((from, &[]));
    for ((pair, even), odd) in to.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
        *pair = [*even, *odd];
    }
}

fn split_mut(bytes: &mut [u8], at: usize) -> (&mut [u8], &mut [u8]) {
    let at = at.min(bytes.len());
    bytes.split_at_mut(at)
}

fn copy(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..count), from.get(..count)) {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    fn encoded(size: u32, input: &[u8]) -> Vec<u8> {
        conformance::encode(&Shuffle, &[size], input).unwrap()
    }

    #[test]
    fn keeps_the_contract() {
        for size in [1, 2, 3, 4, 5, 7, 8, 16, 17, 100, 5000, u32::MAX] {
            conformance::run(&Shuffle, &[size]);
        }
    }

    #[test]
    fn bytes_are_transposed_and_the_rest_stays() {
        assert_eq!(encoded(2, &[1, 2, 3, 4, 5, 6, 7]), [1, 3, 5, 2, 4, 6, 7]);
        assert_eq!(encoded(3, &[1, 2, 3, 4, 5, 6, 7, 8]), [1, 4, 2, 5, 3, 6, 7, 8]);
        assert_eq!(encoded(1, &[1, 2, 3]), [1, 2, 3]);
        assert_eq!(encoded(4, &[1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn every_size_equals_the_definition() {
        for size in [1_usize, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 64, 128] {
            for length in [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 600, 1027, 8191, 8192, 8200, 20_000] {
                let input: Vec<u8> = (0..length).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
                let count = length / size;
                let mut expected = input.clone();
                for at in 0..count * size {
                    expected[at % size * count + at / size] = input[at];
                }
                assert_eq!(encoded(u32::try_from(size).unwrap(), &input), expected, "{size} {length}");
            }
        }
    }

    #[test]
    fn parameters_are_checked() {
        for client_data in [&[][..], &[0]] {
            let context = FilterContext::new(client_data, 100);
            let decoded = Shuffle.decode(&context, &[1, 2], &mut Vec::new());
            assert!(matches!(decoded, Err(FilterError::Corrupt { .. })));
            let encoded = Shuffle.encode(&context, &[1, 2], &mut Vec::new());
            assert!(matches!(encoded, Err(FilterError::Failed { .. })));
        }
    }
}
