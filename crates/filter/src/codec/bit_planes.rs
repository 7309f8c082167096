//! Transposition of the bits of elements.
//!
//! A bit plane holds one bit of each element: the bit of the first element is the lowest bit of the
//! plane's first byte. The bit planes of the elements' first bytes come first, starting with the
//! lowest bit.

use crate::shuffle;

/// The number of elements that share a byte of a bit plane. Only whole groups of this number of
/// elements can be transposed to bit planes.
pub(crate) const GROUP_ELEMENTS: usize = 8;

/// Transposes elements of `size` bytes into bit planes. Both slices have the same length, a
/// multiple of `GROUP_ELEMENTS` elements. `size` is not 0, and `spare` is scratch memory.
pub(crate) fn to_bit_planes(size: usize, elements: &[u8], planes: &mut [u8], spare: &mut Vec<u8>) {
    spare.resize(elements.len(), 0);
    shuffle::to_planes(size, elements, spare);
    // Each group of eight bytes of a byte plane becomes one byte of each of eight bit planes. These
    // bytes are then gathered into planes.
    spare.as_chunks_mut::<GROUP_ELEMENTS>().0.iter_mut().for_each(transpose_square);
    let plane = (elements.len() / size).max(1);
    for (from, to) in spare.chunks_exact(plane).zip(planes.chunks_exact_mut(plane)) {
        shuffle::to_planes(GROUP_ELEMENTS, from, to);
    }
}

/// Transposes bit planes back into elements, the inverse of [`to_bit_planes`].
pub(crate) fn from_bit_planes(size: usize, planes: &[u8], elements: &mut [u8], spare: &mut Vec<u8>) {
    spare.resize(planes.len(), 0);
    let plane = (planes.len() / size).max(1);
    for (from, to) in planes.chunks_exact(plane).zip(spare.chunks_exact_mut(plane)) {
        shuffle::from_planes(GROUP_ELEMENTS, from, to);
    }
    spare.as_chunks_mut::<GROUP_ELEMENTS>().0.iter_mut().for_each(transpose_square);
    shuffle::from_planes(size, spare, elements);
}

/// Transposes 8 × 8 bits, for bit planes of elements. Bit `j` of byte `i` becomes bit `i` of byte
/// `j`.
#[inline]
fn transpose_square(square: &mut [u8; GROUP_ELEMENTS]) {
    let mut bits = u64::from_le_bytes(*square);
    // Swap the off-diagonal corners of squares of two, four and eight bits.
    for (distance, corners) in
        [(7, 0x00aa_00aa_00aa_00aa_u64), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let exchange = (bits ^ bits >> distance) & corners;
        bits ^= exchange ^ exchange << distance;
    }
    *square = bits.to_le_bytes();
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
