//! A dataset in chunks, and the decoding of one chunk.

use std::sync::Arc;

use hyperslab_dataspace::ChunkGrid;
use hyperslab_filter::{ChunkTarget, FilterError, Pipeline, Scratch};
use hyperslab_format::codec::Address;

use crate::data::chunk_index::{ChunkIndex, ChunkLocation};
use crate::data::transfer::Fill;
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::store::Store;

/// A dataset of chunked layout.
#[derive(Debug, Clone)]
pub struct ChunkedSource {
    /// The dataset's object header.
    pub owner: Address,
    /// How chunks tile the dataset.
    pub grid: ChunkGrid,
    /// Bytes of an element.
    pub element_size: usize,
    /// Bytes of a decoded chunk.
    pub chunk_bytes: usize,
    /// Where the chunks lie; `None` while there are none.
    pub index: Option<Arc<dyn ChunkIndex>>,
    /// The filters that chunks passed.
    pub pipeline: Pipeline,
    /// Chunks that reach beyond the extent have passed no filter.
    pub edges_unfiltered: bool,
    /// What chunks that are not stored read as.
    pub fill: Fill,
}

impl ChunkedSource {
    /// The elements of one chunk, those beyond the extent included.
    pub fn chunk(&self, store: &Store, scaled: &[u64], location: &ChunkLocation) -> Result<Vec<u8>> {
        let mut stored = store.read_raw_vec(location.address, location.size)?;
        let Some(place) = self.to_decode(scaled, location)? else {
            stored.truncate(self.chunk_bytes);
            return Ok(stored);
        };
        let mut out = self.buffer(store, &place)?;
        self.decode(store, &place, &stored, &mut out, &mut Scratch::default())?;
        Ok(out)
    }

    /// Returns whether the chunk has passed no filter.
    pub(crate) fn is_stored_plainly(&self, scaled: &[u64]) -> Result<bool> {
        Ok(self.pipeline.is_empty() || (self.edges_unfiltered && self.grid.is_edge(scaled)?))
    }

    /// Returns whether the bytes of a stored chunk passed no filter: the dataset has none for the chunk, or the filter mask skips all.
    pub(crate) fn is_plain(&self, scaled: &[u64], location: &ChunkLocation) -> Result<bool> {
        Ok(self.is_stored_plainly(scaled)? || self.pipeline.skips_all(location.filter_mask))
    }

    /// How a stored chunk is decoded; `None`, if its elements lie in the file as they are, all of them. What a chunk without
    /// filters has too few of is made up for as behind filters.
    pub(in crate::data) fn to_decode(
        &self,
        scaled: &[u64],
        location: &ChunkLocation,
    ) -> Result<Option<ChunkLocation>> {
        if !self.is_stored_plainly(scaled)? {
            return Ok(Some(*location));
        }
        let is_whole = location.size >= self.chunk_bytes as u64;
        Ok((!is_whole).then_some(ChunkLocation { filter_mask: u32::MAX, ..*location }))
    }

    /// What of a stored chunk means anything, as far as this can be told without decoding it: of a chunk that passed
    /// no filter no more than the bytes of its elements.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it has no bytes.
    pub(crate) fn stored_part(&self, scaled: &[u64], location: &ChunkLocation) -> Result<ChunkLocation> {
        if location.size == 0 {
            return Err(Error::corrupt("chunk", "size", "at least 1 byte", 0).at(location.address));
        }
        if self.is_plain(scaled, location)? {
            return Ok(ChunkLocation { size: location.size.min(self.chunk_bytes as u64), ..*location });
        }
        Ok(*location)
    }

    /// That a stored chunk may decode to as much as it says: little cannot become very much.
    pub(in crate::data) fn check_expansion(&self, store: &Store, location: &ChunkLocation) -> Result<()> {
        let limits = store.limits();
        // A bound beyond 64 bits is no bound.
        let possible = location.size.max(64).saturating_mul(limits.expansion).min(limits.chunk_bytes);
        if self.chunk_bytes as u64 <= possible {
            return Ok(());
        }
        Err(Error::Limit {
            what: format!(
                "chunk at {}: bytes after {} filters",
                location.address,
                self.pipeline.stages.len()
            ),
            got: self.chunk_bytes as u64,
            limit: possible,
        })
    }

    /// A buffer for a decoded chunk.
    pub(in crate::data) fn buffer(&self, store: &Store, location: &ChunkLocation) -> Result<Vec<u8>> {
        self.check_expansion(store, location)?;
        zeros(self.chunk_bytes, "chunk")
    }

    /// Decodes stored bytes into a buffer of a chunk's size. Elements that a chunk does not have, though others of it are there,
    /// have the fill value. (libhdf5 reads such chunks, too; the elements are whatever stood in its memory.)
    pub(in crate::data) fn decode(
        &self,
        store: &Store,
        location: &ChunkLocation,
        stored: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let target = ChunkTarget { element_size: self.element_size, ..ChunkTarget::of_length(out.len()) };
        let failed = |source| Error::Filter { address: location.address, source };
        let filters = store.filters();
        let got = self.pipeline.decode_start(filters, location.filter_mask, stored, out, &target, scratch);
        let got = got.map_err(failed)?;
        if got == 0 && !out.is_empty() {
            return Err(failed(FilterError::Length { expected: out.len(), got }));
        }
        if got < out.len() {
            let whole = got - got.checked_rem(self.element_size).unwrap_or(0);
            self.fill.write(out.split_at_mut(whole).1);
        }
        Ok(())
    }
}
