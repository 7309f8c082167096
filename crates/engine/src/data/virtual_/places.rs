//! The positions of the elements of one source dataset in a request to a virtual dataset.

use hyperslab_dataspace::{Block, Dims, Ordered, Selection, gather, scatter};

use crate::data::transfer::byte_count;
use crate::error::{Error, Result};
use crate::memory::zeros;

const NAME: &str = "virtual data";

/// The positions of the elements of one source dataset in a read or write request to a virtual
/// dataset. The positions are in the order of the source's elements.
#[derive(Debug)]
pub enum Places {
    /// A selection of the requested box.
    Part {
        /// The shape of the box.
        dims: Dims,
        /// The selected elements of the box.
        selection: Selection,
        /// The number of selected elements.
        count: u64,
    },
    /// Runs, each with the number of elements of the source before the run.
    Pieces {
        /// The runs.
        pieces: Vec<(u64, MappedRun)>,
        /// The number of elements of the source.
        count: u64,
    },
}

/// A run of elements that are contiguous in two orders: in a request to a virtual dataset, and in
/// one of the virtual dataset's mappings.
#[derive(Debug)]
pub struct MappedRun {
    /// The number of elements before the run in the mapping.
    pub(super) mapped: u64,
    /// The number of elements before the run in the request.
    pub(super) wanted: u64,
    pub(super) length: u64,
}

impl Places {
    pub(super) fn part_of(dims: &Dims, selection: Selection) -> Result<Self> {
        let count = selection.element_count(dims)?;
        Ok(Self::Part { dims: dims.clone(), selection, count })
    }

    /// Converts runs of mapped elements of a virtual dataset to two values: the blocks of the
    /// source dataset that hold the elements, and the positions of the elements in the request.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the positions of a run exceed 64 bits.
    pub(super) fn pieces(mut pieces: Vec<MappedRun>, source: &Ordered) -> Result<(Vec<Block>, Self)> {
        // Points come in any order and may repeat; each of them is a run of one element.
        pieces.sort_by_key(|piece| piece.mapped);
        let mut blocks: Vec<Block> = Vec::new();
        let mut count = 0_u64;
        let mut placed = Vec::with_capacity(pieces.len());
        let mut fetched: Option<u64> = None;
        for piece in pieces {
            if fetched == Some(piece.mapped) && piece.length == 1 {
                // The previous element is the same element, so `count` is at least 1.
                placed.push((count - 1, piece));
                continue;
            }
            fetched = Some(piece.mapped).filter(|_| piece.length == 1);
            let mut at = piece.mapped;
            let end = at.checked_add(piece.length).ok_or_else(beyond)?;
            while at < end {
                let Some((start, run)) = source.at(at) else { break };
                let run = run.min(end - at);
                add_run(&mut blocks, start, run)?;
                at += run;
            }
            let next = count.checked_add(piece.length).ok_or_else(beyond)?;
            placed.push((count, piece));
            count = next;
        }
        Ok((blocks, Self::Pieces { pieces: placed, count }))
    }

    /// Returns the number of requested elements of a virtual dataset that come from one source
    /// dataset.
    pub fn count(&self) -> u64 {
        match self {
            Self::Part { count, .. } | Self::Pieces { count, .. } => *count,
        }
    }

    /// Returns the positions of source elements in a request to a virtual dataset as one run: its
    /// first index and its length. Returns `None` if the positions are not contiguous.
    pub(super) fn as_run(&self) -> Option<(u64, u64)> {
        match self {
            Self::Part { dims, selection, .. } => {
                let mut runs = selection.linear_runs(dims).ok()?;
                let run = runs.next()?;
                runs.next().is_none().then_some((run.offset, run.length))
            }
            Self::Pieces { pieces, count } => match pieces.as_slice() {
                [(0, piece)] if piece.length == *count => Some((piece.wanted, piece.length)),
                _ => None,
            },
        }
    }

    /// Copies the elements `packed` of a source dataset to their positions in the bytes `out` of a
    /// request to the virtual dataset.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if `packed` or `out` is too short.
    pub fn place(&self, packed: &[u8], out: &mut [u8], element_size: usize) -> Result<()> {
        match self {
            Self::Part { dims, selection, .. } => {
                scatter(packed, out, dims, selection, element_size)?;
            }
            Self::Pieces { pieces, .. } => {
                for (position, piece) in pieces {
                    let (from, to) = spans(*position, piece, element_size)?;
                    let (Some(from), Some(to)) = (packed.get(from), out.get_mut(to)) else {
                        return Err(Error::Misuse("the buffer is smaller than the selected elements".into()));
                    };
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(())
    }

    /// Packs the elements of a write to a virtual dataset that belong to one source dataset, in the
    /// order of the source dataset. If two elements have the same position in the source dataset,
    /// the later element counts.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a position is outside `elements`.
    pub fn pack(&self, elements: &[u8], element_size: usize) -> Result<Vec<u8>> {
        let mut packed = zeros(byte_count(self.count(), element_size, NAME)?, NAME)?;
        match self {
            Self::Part { dims, selection, .. } => {
                gather(elements, dims, selection, &mut packed, element_size)?;
            }
            Self::Pieces { pieces, .. } => {
                for (position, piece) in pieces {
                    let (to, from) = spans(*position, piece, element_size)?;
                    let (Some(from), Some(to)) = (elements.get(from), packed.get_mut(to)) else {
                        return Err(Error::Misuse("fewer elements are given than are selected".into()));
                    };
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(packed)
    }

    /// Marks the elements of a request to a virtual dataset that belong to one source dataset: sets
    /// their values in `covered` to true. `covered` has a value for each requested element.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a position is outside `covered`.
    pub fn set_covered(&self, covered: &mut [bool]) -> Result<()> {
        let mut set = |start: u64, length: u64| -> Result<()> {
            let (start, length) = (byte_count(start, 1, NAME)?, byte_count(length, 1, NAME)?);
            let run = covered.get_mut(start..).and_then(|rest| rest.get_mut(..length));
            let outside = || Error::Misuse("the buffer is smaller than the selected elements".into());
            run.ok_or_else(outside)?.fill(true);
            Ok(())
        };
        match self {
            Self::Part { dims, selection, .. } => {
                selection.linear_runs(dims)?.try_for_each(|run| set(run.offset, run.length))
            }
            Self::Pieces { pieces, .. } => {
                pieces.iter().try_for_each(|(_, piece)| set(piece.wanted, piece.length))
            }
        }
    }
}

/// Returns two byte ranges of a run of mapped elements: in the bytes of the source dataset, and in
/// the bytes of the request.
fn spans(
    position: u64,
    piece: &MappedRun,
    element_size: usize,
) -> Result<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let bytes = |elements: u64| byte_count(elements, element_size, NAME);
    let range = |start: u64| -> Result<_> {
        let end = start.checked_add(piece.length).ok_or_else(beyond)?;
        Ok(bytes(start)?..bytes(end)?)
    };
    Ok((range(position)?, range(piece.wanted)?))
}

/// Adds a run of elements along the fastest dimension to the list of blocks. Extends the last block
/// if the run continues it.
fn add_run(blocks: &mut Vec<Block>, start: Dims, length: u64) -> Result<()> {
    let Some((at, row)) = start.split_last() else { return Ok(()) };
    let last = length.checked_sub(1).and_then(|more| at.checked_add(more)).ok_or_else(beyond)?;
    if let Some(block) = blocks.last_mut()
        && let (Some((_, before)), Some(end)) = (block.start.split_last(), block.end.last())
        && before == row
        && end.checked_add(1) == Some(*at)
    {
        if let Some(end) = block.end.last_mut() {
            *end = last;
        }
        return Ok(());
    }
    let mut end = start.clone();
    if let Some(coordinate) = end.last_mut() {
        *coordinate = last;
    }
    blocks.push(Block { start, end });
    Ok(())
}

/// Creates an internal error about a position beyond the elements of a virtual dataset's mapping.
/// An earlier check should have found this position.
pub(super) fn beyond() -> Error {
    Error::internal(NAME, "positions of elements fit in 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_outside_a_buffer_are_an_error() {
        let run = MappedRun { mapped: 0, wanted: 1, length: 2 };
        let places = Places::Pieces { pieces: vec![(0, run)], count: 2 };
        let mut out = [0; 3];
        places.place(&[7, 8], &mut out, 1).unwrap();
        assert_eq!((out, places.pack(&out, 1).unwrap()), ([0, 7, 8], vec![7, 8]));
        assert!(places.place(&[7, 8], &mut out[..2], 1).is_err());
        assert!(places.place(&[7], &mut out, 1).is_err());
        let mut covered = [false; 3];
        places.set_covered(&mut covered).unwrap();
        assert_eq!(covered, [false, true, true]);
        assert!(places.set_covered(&mut covered[..2]).is_err());
    }
}
