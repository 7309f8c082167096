//! What Blosc 2 does to a block before it is encoded.

use crate::codec::bit_planes;
use crate::{Result, shuffle};

use super::unsupported;

/// Up to this version, bits are shuffled only in blocks of whole groups of elements.
const WHOLE_GROUPS: u8 = 2;

/// What is done to a block before it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transform {
    Nothing,
    /// All first bytes of the elements, all second ones and so on.
    Shuffle,
    /// The same with bits.
    Bitshuffle,
    /// What differs from the first block; there, from the element before.
    Delta,
    /// Each byte is what is to be added to the one before, in as many rows as an element has bytes.
    ByteDelta {
        rows: usize,
    },
}

impl Transform {
    /// The transform of this number, with what is to be known about it, in a frame of elements of `size` bytes.
    pub(super) fn of_number(number: u8, meta: u8, size: usize) -> Result<Self> {
        match number {
            // Numbers 4 and 36 drop bits and have nothing to be undone.
            0 | 4 | 36 => Ok(Self::Nothing),
            1 => Ok(Self::Shuffle),
            2 => Ok(Self::Bitshuffle),
            3 => Ok(Self::Delta),
            35 => Ok(Self::ByteDelta { rows: if meta == 0 { size } else { usize::from(meta) } }),
            _ => Err(unsupported(&format!("filter {number} of Blosc2"))),
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

/// How the bytes of a block make up elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    /// Bytes of an element, not 0.
    pub(super) size: usize,
    /// Version of the chunk.
    pub(super) version: u8,
}

impl Elements {
    /// Undoes a transform; `first` is the first block, where this is another one; `bits` is memory.
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
                let whole = self.groups(planes.len());
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

    /// Applies a transform; `first` is the first block, where this is another one; `bits` is memory.
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
                let whole = self.groups(block.len());
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
            // The other one is only read.
            Transform::Nothing | Transform::ByteDelta { .. } => planes.copy_from_slice(block),
        }
    }

    /// Bytes of the elements of which bits are shuffled.
    fn groups(self, length: usize) -> usize {
        let count = length / self.size;
        let whole = count - count % bit_planes::GROUP;
        if self.version <= WHOLE_GROUPS && whole != count { 0 } else { whole * self.size }
    }

    /// Bytes of what differences are taken of, 8 at most.
    fn difference_width(self) -> usize {
        match self.size {
            1 | 2 | 4 | 8 => self.size,
            size if size.is_multiple_of(8) => 8,
            _ => 1,
        }
    }
}
