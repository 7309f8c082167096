//! Transposition of the bits of elements.
//!
//! A bit plane holds one bit of each element: the bit of the first element is the lowest bit of the
//! plane's first byte. The bit planes of the elements' first bytes come first, starting with the
//! lowest bit.

use crate::shuffle;

/// The number of elements that share a byte of a bit plane. Only whole groups of this number of
/// elements can be transposed to bit planes.
pub(crate) const GROUP_ELEMENTS: usize = 8;

/// The three stages of a transposition of 8 × 8 bits: the distance of the rows that exchange bits,
/// which is also the distance of the bits, and the bits that change in the second row.
const STAGES: [(usize, u8); 3] = [(1, 0x55), (2, 0x33), (4, 0x0f)];

/// The maximum element size in bytes for which bytes move between planes and elements in one pass.
const MAX_ONE_PASS: usize = 8;

/// Transposes elements of `size` bytes into bit planes. Both slices have the same length, a
/// multiple of `GROUP_ELEMENTS` elements. `size` is not 0, and `spare` is scratch memory.
pub(crate) fn to_bit_planes(size: usize, elements: &[u8], planes: &mut [u8], spare: &mut Vec<u8>) {
    spare.resize(elements.len(), 0);
    let plane = plane_bytes(size, elements);
    if is_one_pass(size) {
        shuffle::to_planes(size * GROUP_ELEMENTS, elements, spare);
        transpose_squares(plane * size, spare);
        for (byte, group) in planes.chunks_exact_mut(plane * GROUP_ELEMENTS).enumerate() {
            let from = spare.chunks_exact(plane).skip(byte).step_by(size);
            group.chunks_exact_mut(plane).zip(from).for_each(|(to, from)| to.copy_from_slice(from));
        }
    } else {
        shuffle::to_planes(size, elements, spare);
        let byte_plane = plane * GROUP_ELEMENTS;
        for (from, to) in spare.chunks_exact(byte_plane).zip(planes.chunks_exact_mut(byte_plane)) {
            shuffle::to_planes(GROUP_ELEMENTS, from, to);
        }
        transpose_squares(plane, planes);
    }
}

/// Transposes bit planes back into elements, the inverse of [`to_bit_planes`].
pub(crate) fn from_bit_planes(size: usize, planes: &[u8], elements: &mut [u8], spare: &mut Vec<u8>) {
    spare.resize(planes.len(), 0);
    let plane = plane_bytes(size, planes);
    if is_one_pass(size) {
        for (byte, group) in planes.chunks_exact(plane * GROUP_ELEMENTS).enumerate() {
            let to = spare.chunks_exact_mut(plane).skip(byte).step_by(size);
            group.chunks_exact(plane).zip(to).for_each(|(from, to)| to.copy_from_slice(from));
        }
        transpose_squares(plane * size, spare);
        shuffle::from_planes(size * GROUP_ELEMENTS, spare, elements);
    } else {
        elements.copy_from_slice(planes);
        transpose_squares(plane, elements);
        let byte_plane = plane * GROUP_ELEMENTS;
        for (from, to) in elements.chunks_exact(byte_plane).zip(spare.chunks_exact_mut(byte_plane)) {
            shuffle::from_planes(GROUP_ELEMENTS, from, to);
        }
        shuffle::from_planes(size, spare, elements);
    }
}

/// Returns true if the bytes of elements of `size` bytes move to or from planes in one pass.
fn is_one_pass(size: usize) -> bool {
    size.is_power_of_two() && size <= MAX_ONE_PASS
}

/// Returns the bytes of a bit plane. The result is not 0.
fn plane_bytes(size: usize, bytes: &[u8]) -> usize {
    (bytes.len() / size / GROUP_ELEMENTS).max(1)
}

/// Transposes squares of 8 × 8 bits. Each group of eight rows of `row` bytes has one square for
/// each byte of a row: bit `j` of the byte in row `i` becomes bit `i` of the byte in row `j`.
fn transpose_squares(row: usize, rows: &mut [u8]) {
    for group in rows.chunks_exact_mut(row * GROUP_ELEMENTS) {
        for (distance, bits) in STAGES {
            for part in group.chunks_exact_mut(2 * distance * row) {
                let (low, high) = part.split_at_mut(distance * row);
                exchange(low, high, distance, bits);
            }
        }
    }
}

/// Exchanges the bits of `low` above `distance` with the bits of `high` below, for each pair of
/// bytes. `bits` are the bits that change in `high`.
// Not inlined: otherwise the compiler no longer knows that the slices are distinct, and uses no
// vectors.
#[inline(never)]
fn exchange(low: &mut [u8], high: &mut [u8], distance: usize, bits: u8) {
    let mask = u64::from_le_bytes([bits; 8]);
    let ((lows, low), (highs, high)) = (low.as_chunks_mut::<8>(), high.as_chunks_mut::<8>());
    for (low, high) in lows.iter_mut().zip(highs) {
        let (mut first, mut second) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        let changed = (first >> distance ^ second) & mask;
        second ^= changed;
        first ^= changed << distance;
        (*low, *high) = (first.to_le_bytes(), second.to_le_bytes());
    }
    for (low, high) in low.iter_mut().zip(high) {
        let changed = (*low >> distance ^ *high) & bits;
        *high ^= changed;
        *low ^= changed << distance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_equals_the_definition() {
        for size in [1_usize, 2, 3, 4, 8, 13, 16] {
            for count in [0, 8, 16, 24, 128, 1000] {
                let elements: Vec<u8> =
                    (0..size * count).map(|at| (at * at / 7 + at).to_le_bytes()[0]).collect();
                let mut expected = vec![0; size * count];
                for (element, byte, bit) in
                    (0..count).flat_map(|e| (0..size).flat_map(move |b| (0..8).map(move |k| (e, b, k))))
                {
                    let value = elements[element * size + byte] >> bit & 1;
                    expected[(byte * 8 + bit) * (count / 8) + element / 8] |= value << (element % 8);
                }
                let mut planes = vec![0; size * count];
                to_bit_planes(size, &elements, &mut planes, &mut vec![1; 5]);
                assert_eq!(planes, expected, "{size} {count}");
                let mut back = vec![0; size * count];
                from_bit_planes(size, &planes, &mut back, &mut Vec::new());
                assert_eq!(back, elements, "{size} {count}");
            }
        }
    }
}
