//! Changes of an implicit chunk index: the address of the first chunk determines the addresses of
//! all chunks.

use hyperslab_format::codec::Address;

use super::super::implicit::ImplicitIndex;
use super::super::order::ArrayOrder;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, ChunkLocation, ChunkRules, Entry as _, Note};
use super::IndexEdit;
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

/// An editor of an implicit chunk index. The editor holds the address of the first chunk, if the
/// chunks are allocated.
#[derive(Debug)]
pub(super) struct ImplicitEdit {
    pub(super) first: Address,
    pub(super) rules: ChunkRules,
    pub(super) order: ArrayOrder,
}

impl ImplicitEdit {
    fn index(&self) -> ImplicitIndex {
        ImplicitIndex { first: self.first, chunk_bytes: self.rules.bytes, order: self.order.clone() }
    }
}

impl IndexEdit<ChunkLocation> for ImplicitEdit {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        if self.is_empty() { Ok(None) } else { self.index().get(store, scaled) }
    }

    fn is_empty(&self) -> bool {
        !self.first.is_defined()
    }

    // Sets the location of a chunk. All chunks are allocated together, so the first location that
    // is set determines all other locations. A different location is an error.
    fn set(
        &mut self,
        edit: &mut Edit<'_>,
        scaled: &[u64],
        location: &ChunkLocation,
    ) -> Result<Option<ChunkLocation>> {
        let address = location.to_stored(&self.rules, true)?.address;
        let offset = self.order.number(scaled).and_then(|number| number.checked_mul(self.rules.bytes));
        let first = offset.and_then(|offset| address.raw().checked_sub(offset)).map(Address::new);
        let first = first.filter(|first| self.is_empty() || *first == self.first).ok_or_else(|| {
            Error::Misuse(format!(
                "the chunk {scaled:?} cannot have the address {address}: the chunks of \
                this dataset must be contiguous"
            ))
        })?;
        let before = self.get(edit.store(), scaled)?;
        self.first = first;
        Ok(before)
    }

    // Returns `None`. Chunks of this index keep their space permanently.
    fn remove(&mut self, _edit: &mut Edit<'_>, _scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        Ok(None)
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        self.index().for_each_in(store, chunks, visit)
    }

    fn free(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        self.first = Address::UNDEFINED;
        Ok(())
    }

    fn reserve(&mut self, edit: &mut Edit<'_>, zeroed: bool) -> Result<Option<(Address, u64)>> {
        if !self.is_empty() {
            return Ok(None);
        }
        let bytes = self.order.count().checked_mul(self.rules.bytes);
        let bytes = bytes.ok_or_else(|| {
            Error::Misuse("all chunks of the dataset together have more than 2^64 bytes".into())
        })?;
        self.first = if zeroed {
            edit.allocate_zeroed(SpaceKind::RawData, bytes)?
        } else {
            edit.allocate(SpaceKind::RawData, bytes)?
        };
        Ok(Some((self.first, bytes)))
    }

    fn note(&self) -> Note<ChunkLocation> {
        Note::Index(self.first)
    }
}
