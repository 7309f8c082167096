//! Changes of a version 2 B-tree of chunks.

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v2::records::{
    BTreeV2Record as _, ChunkRecord, ChunkRecordContext, ChunkRecordForm,
};
use hyperslab_format::codec::Address;
use hyperslab_format::message::BTreeV2Parameters;
use smallvec::SmallVec;

use super::super::btree_v2::{BTreeV2Index, location};
use super::super::entry::record_form;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, Entry, Note};
use super::IndexEdit;
use crate::error::{Error, Result};
use crate::index::btree_v2::{BTreeV2, BTreeV2Creation};
use crate::store::{Edit, Store, at};

/// An editor of a version 2 B-tree of chunks, or the parameters of a version 2 B-tree that does not
/// exist yet.
#[derive(Debug)]
pub(super) struct BTreeV2Edit<E: Entry> {
    tree: Option<BTreeV2>,
    context: ChunkRecordContext,
    creation: BTreeV2Creation,
    rules: E::Rules,
}

impl<E: Entry> BTreeV2Edit<E> {
    pub(super) fn new(
        store: &Store,
        address: Address,
        rank: usize,
        parameters: BTreeV2Parameters,
        rules: E::Rules,
    ) -> Result<Self> {
        let form = record_form(E::form(&rules));
        let mut context = ChunkRecordContext { params: store.params(), rank, form };
        let creation = BTreeV2Creation {
            record_type: E::record_type(&rules),
            record_size: u16::try_from(ChunkRecord::size(context))
                .map_err(|_| Error::internal("B-tree of chunks", "a record has less than 64 KiB"))?,
            node_size: parameters.node_size,
            split_percent: parameters.split_percent,
            merge_percent: parameters.merge_percent,
        };
        let mut tree = None;
        if address.is_defined() {
            let existing = BTreeV2::of_store(store, address)?;
            context = at(E::of_tree(&rules, store.params(), rank, existing.header()), address)?;
            tree = Some(existing);
        }
        Ok(Self { tree, context, creation, rules })
    }

    fn record(&self, scaled: &[u64], location: &E) -> Result<Vec<u8>> {
        let plain = matches!(self.context.form, ChunkRecordForm::Plain);
        let stored = location.to_stored(&self.rules, plain)?;
        let record = ChunkRecord {
            address: stored.address,
            size: stored.size,
            filter_mask: stored.filter_mask,
            scaled: Dims::from_slice(scaled),
            metadata: SmallVec::from_slice(stored.metadata),
        };
        Ok(record.encode(self.context)?)
    }

    fn location(&self, record: Option<Vec<u8>>) -> Result<Option<E>> {
        let location = record.map(|record| location(&record, self.context, &self.rules)).transpose()?;
        Ok(location.flatten())
    }

    /// Returns the version 2 B-tree of chunks. Creates the B-tree if necessary.
    fn tree(&mut self, edit: &mut Edit<'_>) -> Result<&mut BTreeV2> {
        match &mut self.tree {
            Some(tree) => Ok(tree),
            none => Ok(none.insert(BTreeV2::create(edit, &self.creation)?)),
        }
    }
}

impl<E: Entry> IndexEdit<E> for BTreeV2Edit<E> {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let found = tree.get(store, &mut |record| Ok(self.context.compare(record, scaled)))?;
        self.location(found)
    }

    fn is_empty(&self) -> bool {
        self.tree.as_ref().is_none_or(|tree| tree.header().total_records == 0)
    }

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, E)]) -> Result<bool> {
        let (Some(tree), Some((first, _))) = (&self.tree, chunks.first()) else { return Ok(true) };
        if tree.ends_before(store, &mut |record| Ok(self.context.compare(record, first)))? {
            return Ok(true);
        }
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn set(&mut self, edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>> {
        let (record, context) = (self.record(scaled, location)?, self.context);
        let compare = &mut |record: &[u8]| Ok(context.compare(record, scaled));
        let before = self.tree(edit)?.set(edit, &record, compare)?;
        self.location(before)
    }

    fn extend(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, E)]) -> Result<()> {
        let Some((first, _)) = chunks.first() else { return Ok(()) };
        let context = self.context;
        let store = edit.store();
        let is_append =
            self.tree(edit)?.ends_before(store, &mut |record| Ok(context.compare(record, first)))?;
        let ascending = chunks.is_sorted_by(|(one, _), (other, _)| one.cmp(other) == Ordering::Less);
        if !is_append || !ascending {
            return chunks
                .iter()
                .try_for_each(|(scaled, location)| self.set(edit, scaled, location).map(drop));
        }
        let Some(mut tree) = self.tree.take() else { return Ok(()) };
        let appended = tree.append(edit, chunks.len(), |tree| {
            chunks.iter().try_for_each(|(scaled, location)| tree.push(&self.record(scaled, location)?))
        });
        self.tree = Some(tree);
        appended
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>> {
        let (context, Some(tree)) = (self.context, &mut self.tree) else { return Ok(None) };
        let removed = tree.remove(edit, &mut |record| Ok(context.compare(record, scaled)))?;
        self.location(removed)
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let index = BTreeV2Index::open(store, tree.address(), self.context.rank, self.rules)?;
        index.for_each_in(store, chunks, visit)
    }

    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if let Some(tree) = &self.tree {
            tree.clone().delete(edit, &mut |_, _| Ok(()))?;
        }
        self.tree = None;
        Ok(())
    }

    fn republish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.tree.as_mut().map_or(Ok(()), |tree| tree.republish(edit))
    }

    fn note(&self) -> Note<E> {
        Note::Index(self.tree.as_ref().map_or(Address::UNDEFINED, BTreeV2::address))
    }
}
