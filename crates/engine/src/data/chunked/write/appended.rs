//! Chunks of an append, encoded for the new shape before the dataset grows, while other threads
//! write and read.

use std::sync::Arc;

use hyperslab_dataspace::{ChunkGrid, Dims, Selection};

use super::super::ChunkedSource;
use super::concurrent::{each, encode_whole};
use super::selected::Selected;
use super::{BATCH_BYTES, ChunkWriter, ChunkWriting, Due, Encoded};
use crate::data::transfer::{RowBuffers, WriteSource};
use crate::error::Result;
use crate::store::Store;

/// Largest number of bytes of chunks that an append to a dataset encodes before it extends the
/// dataset.
const MAX_APPENDED_BYTES: usize = 4 * BATCH_BYTES;

/// The chunks that an append to a dataset encodes before it extends the dataset.
#[derive(Debug)]
pub struct Appended {
    before: Arc<ChunkedSource>,
    encoded: Vec<Encoded>,
    /// The partly written chunks and the unfiltered chunks.
    others: Vec<Dims>,
}

impl Appended {
    /// Encodes the chunks whose elements an append to a dataset replaces completely. `dims` is the
    /// shape of the dataset after the append. Returns `None` if the append replaces no whole chunk,
    /// or too many chunks.
    ///
    /// # Errors
    /// Returns the errors of [`write_concurrently`](super::write_concurrently).
    pub fn encode(
        store: &Store,
        before: Arc<ChunkedSource>,
        dims: &[u64],
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<Option<Self>> {
        let grid = ChunkGrid::new(before.grid.chunk(), dims)?;
        let after = ChunkedSource { grid, ..(*before).clone() };
        let selected = Selected::new(selection, &after.grid)?;
        from.check(selected.element_count())?;
        let (mut whole, mut others) = (Vec::new(), Vec::new());
        for scaled in selected.chunks(&after.grid)? {
            let encoded = selected.covers(&scaled)
                && !from.is_partial()
                && !after.is_stored_plainly(&scaled)?
                && !after.may_grow(&scaled)?;
            if encoded { &mut whole } else { &mut others }.push(scaled);
            if whole.len() * after.chunk_bytes > MAX_APPENDED_BYTES {
                return Ok(None);
            }
        }
        if whole.is_empty() {
            return Ok(None);
        }
        let work = |rows: &mut RowBuffers, scaled: Dims| {
            encode_whole(&after, store, &selected, (scaled, from), rows)
        };
        let encoded = each((store, &after), whole, work)?;
        Ok(Some(Self { before, encoded, others }))
    }

    /// Returns whether the encoded chunks of an append still fit the dataset: its shape is the
    /// shape at the time of the encoding.
    pub fn fits(&self, writer: &ChunkWriter) -> bool {
        Arc::ptr_eq(&self.before, &writer.source)
    }
}

impl ChunkWriter {
    /// Stores the appended chunks that were encoded before the dataset was extended. Then writes
    /// all other elements of the append.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn store_appended(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        appended: Appended,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        drop(appended.before);
        self.store_encoded(writing, &appended.encoded)?;
        let grid = self.source.grid.clone();
        let selected = Selected::new(selection, &grid)?;
        self.write_batch(writing, &selected, appended.others, from)?;
        if self.dirty.bytes() <= self.dirty_limit {
            return Ok(());
        }
        self.flush_dirty(writing, Due::Oldest { keep: self.dirty_limit / 2 })
    }
}
