//! The transforms of Blosc 2, which are applied to a block before the codec.

use crate::codec::bit_planes;
use crate::{Result, shuffle};

use super::unsupported;

/// The last Blosc2 version that shuffles bits only in blocks of whole groups (of eight elements).
/// Later versions shuffle the whole groups of every block.
const WHOLE_GROUPS_VERSION: u8 = 2;

/// A transform of the bytes of a Blosc2 block before the codec, such as a shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transform {
    Nothing,
    /// Byte planes: the first bytes of all elements, then the second bytes and so on.
    Shuffle,
    /// Bit planes: the same as [`Transform::Shuffle`] with bits.
    Bitshuffle,
    /// Exclusive or with the first block; in the first block, with the preceding element.
    Delta,
    /// Difference of each byte from the preceding byte, in as many rows as an element has bytes.
    ByteDelta {
        rows: usize,
    },
}

impl Transform {
    /// Returns a Blosc2 transform from its number and its parameter `meta`. `size` is the element
    /// size of the Blosc2 frame in bytes.
    pub(super) fn of_number(number: u8, meta: u8, size: usize) -> Result<Self> {
        match number {
            // Transforms 4 and 36 discard bits, which the decoder cannot restore.
            0 | 4 | 36 => Ok(Self::Nothing),
            1 => Ok(Self::Shuffle),
            2 => Ok(Self::Bitshuffle),
            3 => Ok(Self::Delta),
            35 => Ok(Self::ByteDelta { rows: if meta == 0 { size } else { usize::from(meta) } }),
            _ => Err(unsupported(&format!("Blosc2 transform {number}"))),
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Shuffle => 1,
            Self::Bitshuffle => 2,
            Self::Delta => 3,
            Self::ByteDelta { .. } => 35,
        }
    }
}

/// The properties of elements on which Blosc2 transforms depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    /// Bytes of an element, not 0.
    pub(super) size: usize,
    /// Version of the chunk format.
    pub(super) version: u8,
}

impl Elements {
    /// Reverses a transform of a Blosc2 block, from `planes` to `elements`. `first` is block 0 of
    /// the chunk, and `None` for block 0 itself. `bits` is scratch memory.
    pub(super) fn undo(
        self,
        transform: Transform,
        first: Option<&[u8]>,
        planes: &[u8],
        elements: &mut [u8],
        bits: &mut Vec<u8>,
    ) {
        match transform {
            Transform::Nothing => elements.copy_from_slice(planes),
            Transform::Shuffle => shuffle::from_planes(self.size, planes, elements),
            Transform::Bitshuffle => {
                let whole = self.grouped_bytes(planes.len());
                let (from, from_tail) = planes.split_at(whole);
                let (to, to_tail) = elements.split_at_mut(whole);
                bit_planes::from_bit_planes(self.size, from, to, bits);
                to_tail.copy_from_slice(from_tail);
            }
            Transform::Delta => {
                elements.copy_from_slice(planes);
                self.add_differences(first, elements);
            }
            Transform::ByteDelta { rows } => {
                elements.copy_from_slice(planes);
                let row = elements.len() / rows.max(1);
                for row in elements.chunks_exact_mut(row.max(1)).take(rows) {
                    let mut sum = 0_u8;
                    for byte in row {
                        sum = sum.wrapping_add(*byte);
                        *byte = sum;
                    }
                }
            }
        }
    }

    fn add_differences(self, first: Option<&[u8]>, elements: &mut [u8]) {
        let width = self.difference_width();
        let end = elements.len() / width * width;
        let elements = elements.split_at_mut(end).0;
        let Some(first) = first else {
            let mut before = [0; 8];
            for element in elements.chunks_exact_mut(width) {
                element.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
                before.iter_mut().zip(element).for_each(|(before, byte)| *before = *byte);
            }
            return;
        };
        elements.iter_mut().zip(first).for_each(|(byte, first)| *byte ^= first);
    }

    /// Applies a transform to a Blosc2 block, from `block` to `planes`. `first` is block 0 of the
    /// chunk, and `None` for block 0 itself. `bits` is scratch memory.
    pub(super) fn apply(
        self,
        transform: Transform,
        first: Option<&[u8]>,
        block: &[u8],
        planes: &mut [u8],
        bits: &mut Vec<u8>,
    ) {
        match transform {
            Transform::Shuffle => shuffle::to_planes(self.size, block, planes),
            Transform::Bitshuffle => {
                let whole = self.grouped_bytes(block.len());
                let (from, from_tail) = block.split_at(whole);
                let (to, to_tail) = planes.split_at_mut(whole);
                bit_planes::to_bit_planes(self.size, from, to, bits);
                to_tail.copy_from_slice(from_tail);
            }
            Transform::Delta => {
                planes.copy_from_slice(block);
                let width = self.difference_width();
                let end = block.len() / width * width;
                let skipped = if first.is_none() { width } else { 0 };
                let elements = planes.iter_mut().take(end).skip(skipped);
                elements.zip(first.unwrap_or(block)).for_each(|(byte, reference)| *byte ^= reference);
            }
            // The encoder does not use byte deltas.
            Transform::Nothing | Transform::ByteDelta { .. } => planes.copy_from_slice(block),
        }
    }

    /// Returns the number of bytes in the whole groups (of eight elements) of a Blosc2 block. Only
    /// the bits of these bytes are shuffled.
    fn grouped_bytes(self, length: usize) -> usize {
        let count = length / self.size;
        let whole = count - count % bit_planes::GROUP_ELEMENTS;
        if self.version <= WHOLE_GROUPS_VERSION && whole != count { 0 } else { whole * self.size }
    }

    /// Returns the width in bytes of the integers for the delta transform of Blosc2, at most 8. The
    /// transform stores differences of such integers.
    fn difference_width(self) -> usize {
        match self.size {
            1 | 2 | 4 | 8 => self.size,
            size if size.is_multiple_of(8) => 8,
            _ => 1,
        }
    }
}
