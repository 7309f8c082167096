//! Changes of the chunk index of a dataset with a single chunk. This index is part of the layout
//! message.

use super::super::single::SingleIndex;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, Entry, Note};
use super::IndexEdit;
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

/// An editor of the chunk index of a dataset with a single chunk. The editor holds the location of
/// the chunk.
#[derive(Debug)]
pub(super) struct SingleEdit<E: Entry> {
    /// True if the layout message stores the chunk's size.
    pub(super) sized: bool,
    pub(super) rules: E::Rules,
    pub(super) index: SingleIndex<E>,
}

impl<E: Entry> IndexEdit<E> for SingleEdit<E> {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        self.index.get(store, scaled)
    }

    fn is_empty(&self) -> bool {
        self.index.location.is_none()
    }

    fn set(&mut self, _edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>> {
        location.check_single(self.sized, &self.rules)?;
        if scaled.iter().any(|at| *at != 0) {
            return Err(Error::Misuse(format!(
                "the chunk {scaled:?} is outside the dataset, which has a single chunk"
            )));
        }
        Ok(self.index.location.replace(*location))
    }

    fn remove(&mut self, _edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>> {
        if scaled.iter().any(|at| *at != 0) {
            return Ok(None);
        }
        Ok(self.index.location.take())
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        self.index.for_each_in(store, chunks, visit)
    }

    fn free(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        self.index.location = None;
        Ok(())
    }

    fn note(&self) -> Note<E> {
        Note::Single(self.index.location)
    }
}
