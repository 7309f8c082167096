//! Chunks without filters that span all dimensions but the slowest: each of them is a stretch of the result, and those that
//! follow each other in the file are read at once, straight into place.

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{Axis, Region};
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;

use super::super::ChunkedSource;
use super::chunk_box;
use crate::data::chunk_index::{ChunkIndex, ChunkLocation};
use crate::data::transfer::{ReadContext, ReadTarget, parallel};
use crate::error::{Error, Result};

/// Bytes that one thread reads at once.
const PIECE: u64 = 1 << 20;

/// Pieces that are listed before they are read.
const LISTED: usize = 64 << 10;

/// Pieces that are asked for together.
const TOGETHER: usize = 256;

/// One read of whole rows.
pub(super) struct Rows<'a> {
    context: ReadContext<'a>,
    source: &'a ChunkedSource,
    index: &'a dyn ChunkIndex,
    chunks: &'a Region,
    /// The first row that is wanted, and the one behind the last.
    wanted: (u64, u64),
    /// Rows of a chunk, and bytes of a row.
    chunk_rows: u64,
    row_bytes: u64,
}

/// Rows that stand side by side in the file.
struct Piece {
    row: u64,
    rows: u64,
    address: Address,
}

/// What became of a read.
enum Outcome {
    Done,
    /// The index has its chunks in another order.
    Unordered,
}

impl<'a> Rows<'a> {
    /// The read of a selection, if it is one of whole rows of such chunks.
    pub(super) fn new(
        context: ReadContext<'a>,
        source: &'a ChunkedSource,
        index: &'a dyn ChunkIndex,
        axes: &[Axis],
        chunks: &'a Region,
    ) -> Option<Self> {
        let ((slowest, others), (chunk_rows, chunk)) =
            axes.split_first().zip(source.grid.chunk().split_first())?;
        let extent = source.grid.extent().get(1..)?;
        let mut sizes = others.iter().zip(chunk).zip(extent);
        let whole = sizes.all(|((axis, chunk), size)| axis.len() == *size && chunk == size);
        // One chunk is looked up, not walked to.
        let several = chunks.element_count().is_ok_and(|count| count > 1);
        if !whole || !several || !source.pipeline.is_empty() || slowest.block_count() != 1 {
            return None;
        }
        let row_bytes = (source.chunk_bytes as u64).checked_div(*chunk_rows)?;
        let (wanted, chunk_rows) = (slowest.bounds()?, *chunk_rows);
        Some(Self { context, source, index, chunks, wanted, chunk_rows, row_bytes })
    }

    /// Reads the elements if they go as they are stored and the index is in order; says whether it did.
    pub(super) fn read(&self, to: &mut ReadTarget<'_>) -> Result<bool> {
        let filled = to.holds(&self.source.fill);
        match to.as_stored() {
            Some(out) => Ok(matches!(self.read_into(out, filled)?, Outcome::Done)),
            None => Ok(false),
        }
    }

    fn read_into(&self, out: &mut [u8], filled: bool) -> Result<Outcome> {
        let mut pieces: Vec<Piece> = Vec::new();
        // Rows before it have their values.
        let mut settled = self.wanted.0;
        let mut in_order = true;
        self.index.for_each_in(self.context.store, &chunk_box(self.chunks), &mut |scaled, location| {
            // What a chunk is short of does not lie in the file.
            in_order &= location.size >= self.source.chunk_bytes as u64;
            if !in_order {
                return Ok(());
            }
            let Some(piece) = self.piece(scaled, &location)? else { return Ok(()) };
            let end = pieces.last().map_or(settled, |last| last.row + last.rows);
            in_order &= piece.row >= end;
            if !in_order {
                return Ok(());
            }
            if let Some(last) = pieces.last_mut()
                && self.follows(last, &piece)
            {
                last.rows += piece.rows;
                return Ok(());
            }
            if pieces.len() >= LISTED {
                self.read_pieces(out, filled, &mut settled, &pieces)?;
                pieces.clear();
            }
            pieces.push(piece);
            Ok(())
        })?;
        if !in_order {
            return Ok(Outcome::Unordered);
        }
        self.read_pieces(out, filled, &mut settled, &pieces)?;
        self.settle(out, filled, settled, self.wanted.1)?;
        Ok(Outcome::Done)
    }

    /// What is wanted of a chunk.
    fn piece(&self, scaled: &[u64], location: &ChunkLocation) -> Result<Option<Piece>> {
        let first = scaled.first().copied().unwrap_or(0) * self.chunk_rows;
        let row = first.max(self.wanted.0);
        let end = first + self.chunk_rows.min(self.wanted.1 - first);
        let Some(rows) = end.checked_sub(row).filter(|rows| *rows > 0) else { return Ok(None) };
        let address = location.address.checked_add((row - first) * self.row_bytes);
        let outside = || Error::corrupt("chunk", "address", "an end inside the file", location.address);
        Ok(Some(Piece { row, rows, address: address.ok_or_else(outside)? }))
    }

    fn follows(&self, before: &Piece, piece: &Piece) -> bool {
        let bytes = before.rows * self.row_bytes;
        bytes < PIECE
            && before.row + before.rows == piece.row
            && before.address.checked_add(bytes) == Some(piece.address)
    }

    /// The bytes of rows in the result.
    fn place<'o>(&self, out: &'o mut [u8], from: u64, to: u64) -> Result<&'o mut [u8]> {
        let at = |row: u64| usize::try_from((row - self.wanted.0).checked_mul(self.row_bytes)?).ok();
        let range = at(from).zip(at(to)).map(|(from, to)| from..to);
        range.and_then(|range| out.get_mut(range)).ok_or_else(too_short)
    }

    fn settle(&self, out: &mut [u8], filled: bool, from: u64, to: u64) -> Result<()> {
        if !filled && from < to {
            self.source.fill.write(self.place(out, from, to)?);
        }
        Ok(())
    }

    /// Reads pieces, which ascend, and fills what lies between them.
    fn read_pieces(&self, out: &mut [u8], filled: bool, settled: &mut u64, pieces: &[Piece]) -> Result<()> {
        let store = self.context.store;
        let Some(last) = pieces.last() else { return Ok(()) };
        let (first, end) = (*settled, last.row + last.rows);
        let mut rest = self.place(out, first, end)?;
        let (mut at, mut requests, mut wanted) = (first, Vec::with_capacity(pieces.len()), 0_u64);
        for piece in pieces {
            let bytes = |rows: u64| to_usize(rows * self.row_bytes);
            // The place holds all rows from the first to the last.
            let (gap, behind) = std::mem::take(&mut rest).split_at_mut(bytes(piece.row - at)?);
            if !filled && !gap.is_empty() {
                self.source.fill.write(gap);
            }
            let (place, behind) = behind.split_at_mut(bytes(piece.rows)?);
            wanted += place.len() as u64;
            requests.push((piece.address, place));
            (rest, at) = (behind, piece.row + piece.rows);
        }
        *settled = end;
        if requests.len() > 1 && parallel::is_worth(store, wanted) {
            // Each thread gets its turn several times, and whole pieces of the file at a time.
            let per_task =
                requests.len().div_ceil(crate::store::parallel::current_num_threads() * 4).min(TOGETHER);
            return store.share(|| {
                requests.par_chunks_mut(per_task).try_for_each(|requests| store.read_raw_many(requests))
            });
        }
        requests.chunks_mut(TOGETHER).try_for_each(|requests| store.read_raw_many(requests))
    }
}

fn too_short() -> Error {
    Error::Misuse("the buffer holds fewer elements than are selected".into())
}
