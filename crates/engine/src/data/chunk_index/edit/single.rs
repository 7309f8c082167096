//! The dataset that is one chunk: the layout message is the index.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkIndex as IndexParameters, ChunkedLayout, FilteredChunk};

use super::super::single::SingleIndex;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, ChunkLocation};
use super::{IndexEdit, Plain, check_address};
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

/// The place of the only chunk.
#[derive(Debug)]
pub(super) struct SingleEdit {
    filtered: bool,
    plain: Plain,
    index: SingleIndex,
}

impl SingleEdit {
    pub(super) fn new(address: Address, stored: Option<FilteredChunk>, plain: Plain, rank: usize) -> Self {
        let (size, filter_mask) = stored.map_or((plain.bytes, 0), |chunk| (chunk.size, chunk.filter_mask));
        let location = address.is_defined().then_some(ChunkLocation { address, size, filter_mask });
        Self { filtered: stored.is_some(), plain, index: SingleIndex { rank, location } }
    }
}

impl IndexEdit for SingleEdit {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        self.index.get(store, scaled)
    }

    fn is_empty(&self) -> bool {
        self.index.location.is_none()
    }

    fn set(
        &mut self,
        _edit: &mut Edit<'_>,
        scaled: &[u64],
        location: &ChunkLocation,
    ) -> Result<Option<ChunkLocation>> {
        check_address(location)?;
        if !self.filtered {
            self.plain.check(location)?;
        }
        if scaled.iter().any(|at| *at != 0) {
            return Err(Error::Misuse(format!("chunk {scaled:?} of a dataset that is one chunk")));
        }
        Ok(self.index.location.replace(*location))
    }

    fn remove(&mut self, _edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        if scaled.iter().any(|at| *at != 0) {
            return Ok(None);
        }
        Ok(self.index.location.take())
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        self.index.for_each_in(store, chunks, visit)
    }

    fn free(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        self.index.location = None;
        Ok(())
    }

    fn note(&self, layout: &mut ChunkedLayout) {
        layout.address = self.index.location.map_or(Address::UNDEFINED, |chunk| chunk.address);
        if self.filtered {
            let (size, filter_mask) =
                self.index.location.map_or((0, 0), |chunk| (chunk.size, chunk.filter_mask));
            layout.index = IndexParameters::Single(Some(FilteredChunk { size, filter_mask }));
        }
    }
}
