//! Chunks under a version 2 B-tree, in the order of their scaled coordinates.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree_v2::records::{
    BTreeV2Record as _, ChunkRecord, ChunkRecordContext, ChunkRecordForm,
};
use hyperslab_format::codec::Address;

use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, ChunkLocation};
use crate::error::{Error, Result};
use crate::index::btree_v2::BTreeV2;
use crate::store::{Store, at};

/// The index of a dataset with two and more unlimited dimensions.
#[derive(Debug)]
pub(super) struct BTreeV2Index {
    tree: Arc<BTreeV2>,
    address: Address,
    context: ChunkRecordContext,
    /// Bytes of a chunk that passes no filter; records without filters do not repeat it.
    chunk_bytes: u64,
}

impl BTreeV2Index {
    pub(super) fn open(store: &Store, address: Address, rank: usize, chunk_bytes: u64) -> Result<Self> {
        let tree = BTreeV2::open(store, address)?;
        let (kind, size) = (tree.header().record_type, usize::from(tree.header().record_size));
        let context = at(ChunkRecordContext::new(store.params(), rank, kind, size, 0), address)?;
        if matches!(context.form, ChunkRecordForm::Structured { .. }) {
            return Err(Error::unsupported("structured chunks under a version 2 B-tree"));
        }
        Ok(Self { tree, address, context, chunk_bytes })
    }

    fn location(&self, record: &[u8]) -> Result<ChunkLocation> {
        let record = at(ChunkRecord::decode(record, self.context), self.address)?;
        let filtered = matches!(self.context.form, ChunkRecordForm::Filtered { .. });
        let size = if filtered { record.size } else { self.chunk_bytes };
        Ok(ChunkLocation { address: record.address, size, filter_mask: record.filter_mask })
    }
}

impl ChunkIndex for BTreeV2Index {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::BTreeV2
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let record = self.tree.find(store, &mut |record| Ok(self.context.compare(record, scaled)))?;
        record.map(|record| self.location(&record)).transpose()
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        let mut scaled = Vec::new();
        self.tree.walk_range(
            store,
            &mut |record| {
                Ok(if self.context.compare(record, &chunks.first) == Ordering::Less {
                    Ordering::Less
                } else if self.context.compare(record, &chunks.last) == Ordering::Greater {
                    Ordering::Greater
                } else {
                    Ordering::Equal
                })
            },
            &mut |record| {
                scaled.clear();
                scaled.extend(self.context.scaled(record));
                if chunks.contains(&scaled) {
                    visit(&scaled, self.location(record)?)?;
                }
                Ok(ControlFlow::Continue(()))
            },
        )
    }
}
