//! The description of a chunked dataset for reads, and the decoding of a chunk.

use std::sync::Arc;

use hyperslab_dataspace::{ChunkGrid, MaxDims};
use hyperslab_filter::{ChunkTarget, FilterError, Pipeline, Scratch};
use hyperslab_format::codec::Address;

use crate::data::chunk_index::{ChunkIndex, ChunkLocation};
use crate::data::transfer::{FillElement, max_decoded_bytes};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::store::Store;

/// The source of elements for reads of a chunked dataset without structured chunks: its chunk grid,
/// chunk index, filters and fill value.
#[derive(Debug, Clone)]
pub struct ChunkedSource {
    /// The address of the dataset's object header.
    pub owner: Address,
    /// The division of the dataset into chunks.
    pub grid: ChunkGrid,
    /// The maximum sizes of the dimensions; `None` for an unlimited dimension.
    pub max_dims: MaxDims,
    /// The number of bytes of an element.
    pub element_size: usize,
    /// The number of bytes of a decoded chunk.
    pub chunk_bytes: usize,
    /// The index of the chunks; `None` while no chunk is stored.
    pub index: Option<Arc<dyn ChunkIndex>>,
    /// The filter pipeline of the dataset.
    pub pipeline: Pipeline,
    /// True if partial chunks at the edge are not filtered.
    pub edges_unfiltered: bool,
    /// The value of elements of chunks that are not stored.
    pub fill: FillElement,
}

impl ChunkedSource {
    /// Returns the number of elements that a chunk has when each dimension of the dataset has its
    /// maximum size.
    ///
    /// # Errors
    /// Returns [`Error::Dataspace`] if the dataset has no such chunk.
    pub(in crate::data) fn final_elements(&self, scaled: &[u64]) -> Result<u64> {
        let region = self.grid.region(scaled)?;
        let lengths = region.start.iter().zip(self.grid.chunk()).zip(&self.max_dims);
        let lengths = lengths.map(|((start, length), max)| match max {
            // A damaged file can state a maximum below the size. The chunk then ends at its start.
            Some(max) => (*max - (*start).min(*max)).min(*length),
            None => *length,
        });
        // The product is at most the number of elements of a chunk.
        Ok(lengths.product::<u64>().max(region.element_count()?))
    }

    /// Returns whether a chunk gets further elements when the dataset grows. Such a chunk is not
    /// complete although all its elements are written, so that it stays in memory for the next
    /// elements.
    ///
    /// # Errors
    /// Returns [`Error::Dataspace`] if the dataset has no such chunk.
    pub(in crate::data) fn may_grow(&self, scaled: &[u64]) -> Result<bool> {
        Ok(self.final_elements(scaled)? > self.grid.region(scaled)?.element_count()?)
    }

    /// Returns the decoded elements of a chunk, including elements outside the shape of the
    /// dataset.
    pub fn chunk(&self, store: &Store, scaled: &[u64], location: &ChunkLocation) -> Result<Vec<u8>> {
        Ok(self.chunk_and_length(store, scaled, location)?.0)
    }

    /// Returns the elements of a chunk, including elements outside the shape of the dataset, and
    /// the length in bytes of the decoded chunk. If the length is less than the size of the
    /// elements, the chunk was stored too short.
    pub(crate) fn chunk_and_length(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &ChunkLocation,
    ) -> Result<(Vec<u8>, usize)> {
        let mut stored = store.read_raw_vec(location.address, location.size)?;
        let Some(encoded_location) = self.to_decode(scaled, location)? else {
            stored.truncate(self.chunk_bytes);
            return Ok((stored, self.chunk_bytes));
        };
        let mut out = self.buffer(store, &encoded_location)?;
        let length =
            self.decode_length(store, &encoded_location, &stored, &mut out, &mut Scratch::default())?;
        Ok((out, length))
    }

    /// Encodes the elements of a chunk with the filters of the dataset. Returns the encoded bytes
    /// of the chunk and its filter mask.
    pub(crate) fn encode(
        &self,
        store: &Store,
        address: Address,
        elements: Vec<u8>,
    ) -> Result<(Vec<u8>, u32)> {
        let target =
            ChunkTarget { element_size: self.element_size, ..ChunkTarget::of_length(elements.len()) };
        let encoded = self.pipeline.encode_chunk(&store.filters(), elements, &target);
        encoded.map_err(|source| Error::Filter { address, source })
    }

    /// Returns whether the dataset applies no filters to the chunk with the given coordinates.
    /// Ignores the filter mask of the chunk.
    pub(crate) fn is_stored_plainly(&self, scaled: &[u64]) -> Result<bool> {
        Ok(self.pipeline.is_empty() || (self.edges_unfiltered && self.grid.is_edge(scaled)?))
    }

    /// Returns whether the stored bytes of a chunk are unfiltered. Either the dataset has no
    /// filters for the chunk, or the filter mask skips all of them.
    pub(crate) fn is_plain(&self, scaled: &[u64], location: &ChunkLocation) -> Result<bool> {
        Ok(self.is_stored_plainly(scaled)? || self.pipeline.skips_all(location.filter_mask))
    }

    /// Returns the location of a stored chunk if the chunk must be decoded. Returns `None` if the
    /// stored bytes are already the elements of the whole chunk.
    ///
    /// An unfiltered chunk that is too short must also be decoded, with all filters skipped:
    /// decoding adds the missing elements.
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

    /// Returns the location of the stored bytes that a reader needs of a chunk. If the chunk is
    /// unfiltered, these are the bytes of the elements; otherwise, all stored bytes.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the chunk has no bytes.
    pub(crate) fn stored_part(&self, scaled: &[u64], location: &ChunkLocation) -> Result<ChunkLocation> {
        if location.size == 0 {
            return Err(Error::corrupt("chunk", "size", "at least 1 byte", 0).at(location.address));
        }
        if self.is_plain(scaled, location)? {
            return Ok(ChunkLocation { size: location.size.min(self.chunk_bytes as u64), ..*location });
        }
        Ok(*location)
    }

    /// Checks that a few stored bytes of a chunk do not decode to very many bytes. Compares the
    /// decoded size of the chunk with its stored size.
    pub(in crate::data) fn check_expansion(&self, store: &Store, location: &ChunkLocation) -> Result<()> {
        let possible = max_decoded_bytes(location.size, store.limits());
        if self.chunk_bytes as u64 <= possible {
            return Ok(());
        }
        Err(Error::Limit {
            subject: format!(
                "chunk at {}: decoded bytes, with {} filters,",
                location.address,
                self.pipeline.stages.len()
            ),
            got: self.chunk_bytes as u64,
            limit: possible,
        })
    }

    /// Reads all stored bytes of a chunk from the file into a buffer.
    pub(in crate::data) fn read_stored(
        &self,
        store: &Store,
        location: &ChunkLocation,
        stored: &mut [u8],
    ) -> Result<()> {
        match self.grid.chunk_count() {
            Ok(1) => store.read_raw_whole(location.address, stored),
            _ => store.read_raw(location.address, stored),
        }
    }

    /// Allocates a buffer for the decoded bytes of one chunk.
    pub(in crate::data) fn buffer(&self, store: &Store, location: &ChunkLocation) -> Result<Vec<u8>> {
        self.check_expansion(store, location)?;
        zeros(self.chunk_bytes, "chunk")
    }

    /// Decodes the stored bytes of a chunk into a buffer of the chunk's decoded size. If the
    /// decoded chunk is too short, writes the fill value to the missing elements at its end.
    ///
    /// libhdf5 also reads such chunks, but leaves the missing elements undefined.
    pub(in crate::data) fn decode(
        &self,
        store: &Store,
        location: &ChunkLocation,
        stored: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.decode_length(store, location, stored, out, scratch).map(drop)
    }

    /// Decodes the stored bytes of a chunk into a buffer, and returns the length in bytes of the
    /// decoded chunk. If the decoded chunk is too short, writes the fill value to the missing
    /// elements at its end.
    fn decode_length(
        &self,
        store: &Store,
        location: &ChunkLocation,
        stored: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let target = ChunkTarget { element_size: self.element_size, ..ChunkTarget::of_length(out.len()) };
        let failed = |source| Error::Filter { address: location.address, source };
        let filters = &store.filters();
        let got = self.pipeline.decode_start(filters, location.filter_mask, stored, out, &target, scratch);
        let got = got.map_err(failed)?;
        if got == 0 && !out.is_empty() {
            return Err(failed(FilterError::Length { expected: out.len(), got }));
        }
        if got < out.len() {
            let whole = got - got.checked_rem(self.element_size).unwrap_or(0);
            self.fill.write(out.split_at_mut(whole).1);
        }
        Ok(got)
    }
}
