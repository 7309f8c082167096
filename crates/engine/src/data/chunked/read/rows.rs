//! Reads of unfiltered chunks that span all dimensions except the slowest: the elements of each
//! chunk are contiguous in the result. Chunks that are contiguous in the file are read together,
//! directly into the buffer.

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{Axis, Region};
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;

use super::super::ChunkedSource;
use super::chunk_box;
use crate::data::chunk_index::{ChunkIndex, ChunkLocation};
use crate::data::transfer::{ReadContext, ReadTarget, parallel};
use crate::error::{Error, Result};

/// Largest number of bytes in one piece of a read of whole rows from chunks. A row consists of all
/// elements of the dataset with one coordinate along the slowest dimension.
const PIECE_BYTES: u64 = 1 << 20;

/// Largest number of pieces (rows that are contiguous in the file) that a read of whole rows from
/// chunks lists before it reads them.
const LISTED_PIECES: usize = 64 << 10;

/// Largest number of pieces (rows that are contiguous in the file) that a read of whole rows from
/// chunks passes to the driver in one call.
const CALL_PIECES: usize = 256;

/// A read of whole rows from a dataset whose unfiltered chunks span all dimensions except the
/// slowest one. The rows of a chunk are contiguous in the file.
pub(super) struct RowRead<'a> {
    context: ReadContext<'a>,
    source: &'a ChunkedSource,
    index: &'a dyn ChunkIndex,
    chunks: &'a Region,
    /// The first selected row, and the row after the last selected one.
    wanted: (u64, u64),
    /// The number of rows of a chunk.
    chunk_rows: u64,
    /// The number of bytes of a row.
    row_bytes: u64,
}

/// A piece of a read of whole rows: selected rows of one chunk that are contiguous in the file.
struct RowPiece {
    row: u64,
    rows: u64,
    address: Address,
}

/// The result of a read of whole rows from unfiltered chunks: all rows were read, or the chunk
/// index does not have the order of the rows, so that another kind of read is necessary.
enum RowsOutcome {
    Done,
    /// The order of the index is not the order of the rows.
    Unordered,
}

impl<'a> RowRead<'a> {
    /// Creates the read of a selection by whole rows from chunks. Returns `None` if the selection
    /// contains parts of rows, if a chunk does not consist of whole rows, or if the chunks are
    /// filtered.
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
        // A look-up of one chunk is faster than a walk.
        let several = chunks.element_count().is_ok_and(|count| count > 1);
        if !whole || !several || !source.pipeline.is_empty() || slowest.block_count() != 1 {
            return None;
        }
        let row_bytes = (source.chunk_bytes as u64).checked_div(*chunk_rows)?;
        let (wanted, chunk_rows) = (slowest.bounds()?, *chunk_rows);
        Some(Self { context, source, index, chunks, wanted, chunk_rows, row_bytes })
    }

    /// Reads whole rows from chunks into the read target. Returns false if another kind of read is
    /// necessary: the elements need conversion, or the chunk index does not have the order of the
    /// rows.
    pub(super) fn read(&self, to: &mut ReadTarget<'_>) -> Result<bool> {
        let filled = to.holds(&self.source.fill);
        match to.as_stored() {
            Some(out) => Ok(matches!(self.read_into(out, filled)?, RowsOutcome::Done)),
            None => Ok(false),
        }
    }

    fn read_into(&self, out: &mut [u8], filled: bool) -> Result<RowsOutcome> {
        let mut pieces: Vec<RowPiece> = Vec::new();
        // All rows before `done` are read or filled.
        let mut done = self.wanted.0;
        let mut in_order = true;
        self.index.for_each_in(self.context.store, &chunk_box(self.chunks), &mut |scaled, location| {
            // A chunk that is too short needs decoding.
            in_order &= location.size >= self.source.chunk_bytes as u64;
            if !in_order {
                return Ok(());
            }
            let Some(piece) = self.piece(scaled, &location)? else { return Ok(()) };
            let end = pieces.last().map_or(done, |last| last.row + last.rows);
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
            if pieces.len() >= LISTED_PIECES {
                self.read_pieces(out, filled, &mut done, &pieces)?;
                pieces.clear();
            }
            pieces.push(piece);
            Ok(())
        })?;
        if !in_order {
            return Ok(RowsOutcome::Unordered);
        }
        self.read_pieces(out, filled, &mut done, &pieces)?;
        self.fill_gap(out, filled, done, self.wanted.1)?;
        Ok(RowsOutcome::Done)
    }

    /// Returns the piece of a read of whole rows that one chunk contributes: the selected rows of
    /// the chunk with the given coordinates.
    fn piece(&self, scaled: &[u64], location: &ChunkLocation) -> Result<Option<RowPiece>> {
        let first = scaled
            .first()
            .copied()
            .ok_or_else(|| Error::internal("read of rows", "a chunk has coordinates"))?;
        let first = first * self.chunk_rows;
        let row = first.max(self.wanted.0);
        let end = first + self.chunk_rows.min(self.wanted.1 - first);
        let Some(rows) = end.checked_sub(row).filter(|rows| *rows > 0) else { return Ok(None) };
        let address = location.address.checked_add((row - first) * self.row_bytes);
        let outside = || Error::corrupt("chunk", "address", "an end inside the file", location.address);
        Ok(Some(RowPiece { row, rows, address: address.ok_or_else(outside)? }))
    }

    fn follows(&self, before: &RowPiece, piece: &RowPiece) -> bool {
        let bytes = before.rows * self.row_bytes;
        bytes < PIECE_BYTES
            && before.row + before.rows == piece.row
            && before.address.checked_add(bytes) == Some(piece.address)
    }

    /// Returns the bytes of the read target for the rows from `from` to `to` (exclusive) of the
    /// dataset.
    fn bytes_of_rows<'o>(&self, out: &'o mut [u8], from: u64, to: u64) -> Result<&'o mut [u8]> {
        let at = |row: u64| usize::try_from((row - self.wanted.0).checked_mul(self.row_bytes)?).ok();
        let range = at(from).zip(at(to)).map(|(from, to)| from..to);
        range.and_then(|range| out.get_mut(range)).ok_or_else(too_short)
    }

    fn fill_gap(&self, out: &mut [u8], filled: bool, from: u64, to: u64) -> Result<()> {
        if !filled && from < to {
            self.source.fill.write(self.bytes_of_rows(out, from, to)?);
        }
        Ok(())
    }

    /// Reads pieces of whole rows, in ascending order, into the read target. Writes the fill value
    /// to the rows between the pieces.
    fn read_pieces(&self, out: &mut [u8], filled: bool, done: &mut u64, pieces: &[RowPiece]) -> Result<()> {
        let store = self.context.store;
        let Some(last) = pieces.last() else { return Ok(()) };
        let (first, end) = (*done, last.row + last.rows);
        let mut rest = self.bytes_of_rows(out, first, end)?;
        let (mut at, mut requests, mut wanted) = (first, Vec::with_capacity(pieces.len()), 0_u64);
        for piece in pieces {
            let bytes = |rows: u64| to_usize(rows * self.row_bytes);
            // `rest` holds all rows from the first to the last.
            let (gap, after) = std::mem::take(&mut rest).split_at_mut(bytes(piece.row - at)?);
            if !filled && !gap.is_empty() {
                self.source.fill.write(gap);
            }
            let (place, after) = after.split_at_mut(bytes(piece.rows)?);
            wanted += place.len() as u64;
            requests.push((piece.address, place));
            (rest, at) = (after, piece.row + piece.rows);
        }
        *done = end;
        if requests.len() > 1 && parallel::use_threads(store, wanted) {
            // Each thread gets several tasks, so that all threads finish at about the same time.
            let per_task =
                requests.len().div_ceil(crate::store::parallel::current_num_threads() * 4).min(CALL_PIECES);
            return store.share(|| {
                requests.par_chunks_mut(per_task).try_for_each(|requests| store.read_raw_many(requests))
            });
        }
        requests.chunks_mut(CALL_PIECES).try_for_each(|requests| store.read_raw_many(requests))
    }
}

fn too_short() -> Error {
    Error::Misuse("the buffer is smaller than the selected elements".into())
}
