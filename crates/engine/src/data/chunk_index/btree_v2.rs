//! Version 2 B-trees of chunks, in the order of the scaled coordinates.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree_v2::records::{ChunkRecordContext, ChunkRecordForm};
use hyperslab_format::codec::{Address, FormatError};

use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, Entry};
use crate::error::Result;
use crate::index::btree_v2::{AtRecord, BTreeV2, Compare};
use crate::store::{Store, at};

/// The chunk index of a dataset with two or more unlimited dimensions: a version 2 B-tree.
#[derive(Debug)]
pub(super) struct BTreeV2Index<E: Entry> {
    tree: Arc<BTreeV2>,
    address: Address,
    context: ChunkRecordContext,
    rules: E::Rules,
}

impl<E: Entry> BTreeV2Index<E> {
    pub(super) fn open(store: &Store, address: Address, rank: usize, rules: E::Rules) -> Result<Self> {
        let tree = BTreeV2::open(store, address)?;
        let context = at(E::of_tree(&rules, store.params(), rank, tree.header()), address)?;
        Ok(Self { tree, address, context, rules })
    }

    fn walk(&self, store: &Store, compare: &mut Compare<'_>, visit: &mut AtRecord<'_>) -> Result<()> {
        let ascending = |one: &[u8], next: &[u8]| self.context.scaled(one).cmp(self.context.scaled(next));
        self.tree.walk_checked(store, E::STRICT.then_some(&ascending), compare, visit)
    }

    fn location(&self, record: &[u8]) -> Result<Option<E>> {
        at(location(record, self.context, &self.rules), self.address)
    }
}

/// Decodes the chunk index entry in a record of a version 2 B-tree. Returns `None` if the record
/// names no stored chunk.
pub(super) fn location<E: Entry>(
    record: &[u8],
    context: ChunkRecordContext,
    rules: &E::Rules,
) -> Result<Option<E>, FormatError> {
    let stored = context.element(record)?;
    let entry = E::from_stored(rules, matches!(context.form, ChunkRecordForm::Plain), &stored);
    Ok(Some(entry).filter(|entry| !E::STRICT || entry.address().is_defined()))
}

impl<E: Entry> ChunkIndex<E> for BTreeV2Index<E> {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::BTreeV2
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        let mut found = None;
        self.walk(store, &mut |record| Ok(self.context.compare(record, scaled)), &mut |record| {
            found = self.location(record)?;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        let mut scaled = Vec::new();
        self.walk(
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
                if chunks.contains(&scaled)
                    && let Some(location) = store.forgive(self.location(record))?.flatten()
                {
                    visit(&scaled, location)?;
                }
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    fn bytes(&self, store: &Store) -> Result<u64> {
        self.tree.bytes(store)
    }
}
