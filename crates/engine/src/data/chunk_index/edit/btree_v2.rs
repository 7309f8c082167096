//! Chunks into and out of a version 2 B-tree.

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v2::records::{
    BTreeV2Record as _, ChunkRecord, ChunkRecordContext, ChunkRecordForm, types,
};
use hyperslab_format::codec::Address;
use hyperslab_format::message::{BTreeV2Parameters, ChunkedLayout};
use smallvec::SmallVec;

use super::super::btree_v2::BTreeV2Index;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, ChunkLocation};
use super::{IndexEdit, Plain, check_address};
use crate::error::{Error, Result};
use crate::index::btree_v2::{BTreeV2, BTreeV2Creation};
use crate::store::{Edit, Store, at};

/// A tree of chunks, once there is one.
#[derive(Debug)]
pub(super) struct BTreeV2Edit {
    tree: Option<BTreeV2>,
    context: ChunkRecordContext,
    creation: BTreeV2Creation,
    plain: Plain,
}

impl BTreeV2Edit {
    pub(super) fn new(
        store: &Store,
        layout: &ChunkedLayout,
        parameters: BTreeV2Parameters,
        chunk_bytes: u64,
        filtered: Option<usize>,
    ) -> Result<Self> {
        let rank = layout.dims.len();
        let form =
            filtered.map_or(ChunkRecordForm::Plain, |size_width| ChunkRecordForm::Filtered { size_width });
        let mut context = ChunkRecordContext { params: store.params(), rank, form };
        let record_size = ChunkRecord::size(context);
        let creation = BTreeV2Creation {
            record_type: if filtered.is_some() { types::CHUNK_FILTERED } else { types::CHUNK },
            record_size: u16::try_from(record_size).unwrap_or(u16::MAX),
            node_size: parameters.node_size,
            split_percent: parameters.split_percent,
            merge_percent: parameters.merge_percent,
        };
        let mut tree = None;
        if layout.address.is_defined() {
            let there = BTreeV2::of_store(store, layout.address)?;
            let (kind, size) = (there.header().record_type, there.header().record_size.into());
            context = at(ChunkRecordContext::new(store.params(), rank, kind, size, 0), layout.address)?;
            if matches!(context.form, ChunkRecordForm::Structured { .. }) {
                return Err(Error::unsupported("structured chunks under a version 2 B-tree"));
            }
            tree = Some(there);
        }
        Ok(Self { tree, context, creation, plain: Plain { bytes: chunk_bytes } })
    }

    fn record(&self, scaled: &[u64], location: &ChunkLocation) -> Result<Vec<u8>> {
        let address = check_address(location)?;
        if matches!(self.context.form, ChunkRecordForm::Plain) {
            self.plain.check(location)?;
        }
        let record = ChunkRecord {
            address,
            size: location.size,
            filter_mask: location.filter_mask,
            scaled: Dims::from_slice(scaled),
            metadata: SmallVec::new(),
        };
        Ok(record.encode(self.context)?)
    }

    fn location(&self, record: &[u8]) -> Result<ChunkLocation> {
        let record = ChunkRecord::decode(record, self.context)?;
        let plain = matches!(self.context.form, ChunkRecordForm::Plain);
        let size = if plain { self.plain.bytes } else { record.size };
        Ok(ChunkLocation { address: record.address, size, filter_mask: record.filter_mask })
    }

    /// The tree, made if there is none.
    fn tree(&mut self, edit: &mut Edit<'_>) -> Result<&mut BTreeV2> {
        match &mut self.tree {
            Some(tree) => Ok(tree),
            none => Ok(none.insert(BTreeV2::create(edit, &self.creation)?)),
        }
    }
}

impl IndexEdit for BTreeV2Edit {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let found = tree.get(store, &mut |record| Ok(self.context.compare(record, scaled)))?;
        found.map(|record| self.location(&record)).transpose()
    }

    fn is_empty(&self) -> bool {
        self.tree.as_ref().is_none_or(|tree| tree.header().total_records == 0)
    }

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        let (Some(tree), Some((first, _))) = (&self.tree, chunks.first()) else { return Ok(true) };
        if tree.is_behind(store, &mut |record| Ok(self.context.compare(record, first)))? {
            return Ok(true);
        }
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn set(
        &mut self,
        edit: &mut Edit<'_>,
        scaled: &[u64],
        location: &ChunkLocation,
    ) -> Result<Option<ChunkLocation>> {
        let (record, context) = (self.record(scaled, location)?, self.context);
        let compare = &mut |record: &[u8]| Ok(context.compare(record, scaled));
        let before = self.tree(edit)?.set(edit, &record, compare)?;
        before.map(|record| self.location(&record)).transpose()
    }

    fn extend(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        let Some((first, _)) = chunks.first() else { return Ok(()) };
        let context = self.context;
        let store = edit.store();
        let behind = self.tree(edit)?.is_behind(store, &mut |record| Ok(context.compare(record, first)))?;
        let ascending = chunks.is_sorted_by(|(one, _), (other, _)| one.cmp(other) == Ordering::Less);
        if !behind || !ascending {
            return chunks.iter().try_for_each(|(scaled, place)| self.set(edit, scaled, place).map(drop));
        }
        let Some(mut tree) = self.tree.take() else { return Ok(()) };
        let appended = tree.append(edit, chunks.len(), |tree| {
            chunks.iter().try_for_each(|(scaled, location)| tree.push(&self.record(scaled, location)?))
        });
        self.tree = Some(tree);
        appended
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let (context, Some(tree)) = (self.context, &mut self.tree) else { return Ok(None) };
        let removed = tree.remove(edit, &mut |record| Ok(context.compare(record, scaled)))?;
        removed.map(|record| self.location(&record)).transpose()
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let index = BTreeV2Index::open(store, tree.address(), self.context.rank, self.plain.bytes)?;
        index.for_each_in(store, chunks, visit)
    }

    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if let Some(tree) = &self.tree {
            tree.clone().delete(edit, &mut |_, _| Ok(()))?;
        }
        self.tree = None;
        Ok(())
    }

    fn note(&self, layout: &mut ChunkedLayout) {
        layout.address = self.tree.as_ref().map_or(Address::UNDEFINED, BTreeV2::address);
    }
}
