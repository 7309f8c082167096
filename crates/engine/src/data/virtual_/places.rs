//! Which of the elements that a request asks for come from one source dataset.

use hyperslab_dataspace::{Block, Dims, Ordered, Selection, gather, scatter};

use crate::data::transfer::byte_count;
use crate::error::{Error, Result};
use crate::memory::zeros;

const WHAT: &str = "virtual data";

/// Places in a request, in the order of the source's elements.
#[derive(Debug)]
pub enum Places {
    /// A selection of the box that is asked for.
    Part {
        /// The shape of the box.
        dims: Dims,
        /// What of it.
        selection: Selection,
        /// How much of it.
        count: u64,
    },
    /// Runs, each with the number of elements of the source before it.
    Pieces {
        /// The runs.
        pieces: Vec<(u64, Piece)>,
        /// Elements of the source.
        count: u64,
    },
}

/// Elements that follow each other in a request and in a mapping.
#[derive(Debug)]
pub struct Piece {
    /// Elements before in the mapping.
    pub(super) mapped: u64,
    /// Elements before in the request.
    pub(super) wanted: u64,
    pub(super) length: u64,
}

impl Places {
    pub(super) fn part_of(dims: &Dims, selection: Selection) -> Result<Self> {
        let count = selection.element_count(dims)?;
        Ok(Self::Part { dims: dims.clone(), selection, count })
    }

    /// The blocks of the source for some pieces, and where their elements go.
    pub(super) fn pieces(mut pieces: Vec<Piece>, source: &Ordered) -> (Vec<Block>, Self) {
        // Points come in any order, and may come more than once; one at a time then.
        pieces.sort_by_key(|piece| piece.mapped);
        let mut blocks: Vec<Block> = Vec::new();
        let mut count = 0_u64;
        let mut placed = Vec::with_capacity(pieces.len());
        let mut fetched: Option<u64> = None;
        for piece in pieces {
            if fetched == Some(piece.mapped) && piece.length == 1 {
                placed.push((count.saturating_sub(1), piece));
                continue;
            }
            placed.push((count, Piece { ..piece }));
            fetched = Some(piece.mapped).filter(|_| piece.length == 1);
            let mut at = piece.mapped;
            let end = at.saturating_add(piece.length);
            while at < end {
                let Some((start, run)) = source.at(at) else { break };
                let run = run.min(end.saturating_sub(at));
                add_run(&mut blocks, start, run);
                at = at.saturating_add(run);
            }
            count = count.saturating_add(piece.length);
        }
        (blocks, Self::Pieces { pieces: placed, count })
    }

    /// Elements of the source.
    pub fn count(&self) -> u64 {
        match self {
            Self::Part { count, .. } | Self::Pieces { count, .. } => *count,
        }
    }

    /// The places as one run, if they are one: elements before it, and those in it.
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

    /// Puts elements of the source into their places.
    ///
    /// # Errors
    /// If there are fewer than places.
    pub fn place(&self, packed: &[u8], out: &mut [u8], element_size: usize) -> Result<()> {
        match self {
            Self::Part { dims, selection, .. } => {
                scatter(packed, out, dims, selection, element_size)?;
            }
            Self::Pieces { pieces, .. } => {
                for (position, piece) in pieces {
                    let (from, to) = spans(*position, piece, element_size)?;
                    if let (Some(from), Some(to)) = (packed.get(from), out.get_mut(to)) {
                        to.copy_from_slice(from);
                    }
                }
            }
        }
        Ok(())
    }

    /// The elements that stand in the places, in the order of the source. Of several for one element of it, the last.
    ///
    /// # Errors
    /// If a place lies outside of `elements`.
    pub fn pack(&self, elements: &[u8], element_size: usize) -> Result<Vec<u8>> {
        let mut packed = zeros(byte_count(self.count(), element_size, WHAT)?, WHAT)?;
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

    /// Notes that the request has these places in a source, one value for each element that is asked for.
    ///
    /// # Errors
    /// If there are more than memory can hold.
    pub fn mark(&self, covered: &mut [bool]) -> Result<()> {
        let mut mark = |start: u64, length: u64| -> Result<()> {
            let (start, length) = (byte_count(start, 1, WHAT)?, byte_count(length, 1, WHAT)?);
            let run = covered.get_mut(start..).and_then(|rest| rest.get_mut(..length));
            run.unwrap_or_default().fill(true);
            Ok(())
        };
        match self {
            Self::Part { dims, selection, .. } => {
                selection.linear_runs(dims)?.try_for_each(|run| mark(run.offset, run.length))
            }
            Self::Pieces { pieces, .. } => {
                pieces.iter().try_for_each(|(_, piece)| mark(piece.wanted, piece.length))
            }
        }
    }
}

/// The bytes of a piece among those of the source, and among those of the request.
fn spans(
    position: u64,
    piece: &Piece,
    element_size: usize,
) -> Result<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let bytes = |elements: u64| byte_count(elements, element_size, WHAT);
    let (source, wanted, length) = (bytes(position)?, bytes(piece.wanted)?, bytes(piece.length)?);
    Ok((source..source.saturating_add(length), wanted..wanted.saturating_add(length)))
}

/// Adds a run along the fastest dimension, to the block before if it goes on there.
fn add_run(blocks: &mut Vec<Block>, start: Dims, length: u64) {
    let Some((at, row)) = start.split_last() else { return };
    let last = at.saturating_add(length.saturating_sub(1));
    if let Some(block) = blocks.last_mut()
        && let (Some((_, before)), Some(end)) = (block.start.split_last(), block.end.last())
        && before == row
        && end.checked_add(1) == Some(*at)
    {
        if let Some(end) = block.end.last_mut() {
            *end = last;
        }
        return;
    }
    let mut end = start.clone();
    if let Some(place) = end.last_mut() {
        *place = last;
    }
    blocks.push(Block { start, end });
}
