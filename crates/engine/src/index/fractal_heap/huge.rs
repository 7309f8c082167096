//! Objects too large for a heap's blocks: each lies on its own in the file, and a version 2 B-tree knows where.

use hyperslab_format::fractal_heap::HeapId;

use super::FractalHeap;
use super::change::Change;
use crate::error::{Error, Result};
use crate::store::Edit;

impl Change<'_, '_> {
    pub(super) fn insert_huge(&mut self, _bytes: &[u8]) -> Result<Vec<u8>> {
        Err(Error::unsupported("huge objects of a fractal heap"))
    }

    pub(super) fn remove_huge(&mut self, _id: &HeapId) -> Result<()> {
        Err(Error::unsupported("huge objects of a fractal heap"))
    }
}

impl FractalHeap {
    pub(super) fn delete_huge(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        if self.header.huge_btree.is_defined() {
            return Err(Error::unsupported("huge objects of a fractal heap"));
        }
        Ok(())
    }
}
