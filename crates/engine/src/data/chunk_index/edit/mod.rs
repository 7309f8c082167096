//! Changing where chunks lie: the six kinds of index, each made when the first chunk comes.

mod array;
mod btree_v1;
mod btree_v1_append;
mod btree_v1_keys;
mod btree_v1_plan;
mod btree_v2;
mod choose;
mod extensible_array;
mod fixed_array;
mod implicit;
mod single;
mod structured;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_structured;

use std::fmt;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::message::{
    ChunkIndex as IndexParameters, ChunkedLayout, ExtensibleArrayParameters, FixedArrayParameters,
};

use super::order::ArrayOrder;
use super::single::SingleIndex;
use super::{AtChunk, ChunkBox, ChunkIndexKind, ChunkLocation, ChunkShape, ChunkTable, Entry, Note};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

use array::ArrayEdit;
use btree_v1::BTreeV1Edit;
use btree_v2::BTreeV2Edit;
use extensible_array::ExtensibleArray;
use fixed_array::FixedArray;
use implicit::ImplicitEdit;
use single::SingleEdit;

pub use choose::{NewChunks, choose};
pub use structured::{NewStructuredChunks, StructuredIndexEditor, choose_structured};

/// What is done with each chunk of an index that is deleted.
pub type AtDeletedChunk<'a, 'e, E = ChunkLocation> = dyn FnMut(&mut Edit<'e>, &[u64], E) -> Result<()> + 'a;

/// The index of one dataset, to be changed. There is to be one at a time; it can be kept over many changes, and what
/// readers opened before shows the index as it was.
///
/// A change may change the layout message: [`layout`](Self::layout) is what it must say now.
#[derive(Debug)]
pub struct ChunkIndexEditor<E: Entry = ChunkLocation> {
    layout: E::Layout,
    shape: ChunkShape,
    index: Box<dyn IndexEdit<E>>,
}

/// What each kind of index does.
trait IndexEdit<E: Entry>: Send + Sync + fmt::Debug {
    /// The place of one chunk.
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>>;

    /// Returns whether there is surely no chunk.
    fn is_empty(&self) -> bool;

    /// As [`ChunkTable::has_none_of`].
    fn has_none_of(&self, store: &Store, chunks: &[(Dims, E)]) -> Result<bool> {
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts a chunk to a new place; gives where it was.
    fn set(&mut self, edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>>;

    /// Puts chunks, ascending in C order, to new places.
    fn extend(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, E)]) -> Result<()> {
        chunks.iter().try_for_each(|(scaled, location)| self.set(edit, scaled, location).map(drop))
    }

    /// Forgets a chunk; gives where it was.
    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>>;

    /// Visits the chunks of the box.
    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()>;

    /// Frees all blocks of the index, which is as new then.
    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()>;

    /// Lets nothing be changed in place that readers may be on the way to, if others read the file while it is written.
    fn republish(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        Ok(())
    }

    /// As [`ChunkTable::reserve`].
    fn reserve(&mut self, _edit: &mut Edit<'_>, _zeroed: bool) -> Result<Option<(Address, u64)>> {
        Ok(None)
    }

    /// What the layout message says about the index.
    fn note(&self) -> Note<E>;
}

/// Bytes of the size field of filtered chunks in indexes of layout version 4 and later.
///
/// Version 4 takes one byte more than the bytes of an unfiltered chunk need, for filters that make it longer; version 5
/// takes as many as lengths have.
pub fn size_width(layout_version: u8, params: FileParams, chunk_bytes: u64) -> usize {
    if layout_version >= 5 {
        return params.length_width();
    }
    let bits = chunk_bytes.checked_ilog2().unwrap_or(0) + 8;
    (usize::try_from(bits / 8).unwrap_or(8) + 1).min(8)
}

impl ChunkIndexEditor {
    /// The index that `layout` names, if it is made yet.
    ///
    /// # Errors
    /// The errors of reading the index's header, and a layout that contradicts itself.
    pub fn open(store: &Store, layout: &ChunkedLayout, shape: &ChunkShape) -> Result<Self> {
        let index = make(store, layout, shape)?;
        Ok(Self { layout: layout.clone(), shape: shape.clone(), index })
    }
}

impl<E: Entry> ChunkIndexEditor<E> {
    /// The kind of the index.
    pub fn kind(&self) -> ChunkIndexKind {
        E::kind(&self.layout)
    }

    /// What the layout message must say: the address is that of the index as it is now.
    pub fn layout(&self) -> &E::Layout {
        &self.layout
    }

    /// Puts a chunk to a new place; gives where it was. Its bytes there are the caller's to free.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the index cannot say that place: sizes of unfiltered chunks and of those that pass 32 bits
    /// under a version 1 B-tree, chunks beyond the greatest extent. Nothing is changed then. Those of reading the index
    /// and of [`Edit::allocate`].
    pub fn set(&mut self, edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>> {
        self.check_rank(scaled)?;
        let before = self.index.set(edit, scaled, location);
        self.note();
        before
    }

    /// The place of one chunk, or `None` if it is not stored.
    ///
    /// # Errors
    /// The errors of reading the index.
    pub fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        self.check_rank(scaled)?;
        self.index.get(store, scaled)
    }

    /// Returns whether there is surely no chunk.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns whether none of these chunks, in C order of their coordinates, is stored.
    ///
    /// # Errors
    /// The errors of reading the index.
    pub fn has_none_of(&self, store: &Store, chunks: &[(Dims, E)]) -> Result<bool> {
        chunks.iter().try_for_each(|(scaled, _)| self.check_rank(scaled))?;
        self.index.has_none_of(store, chunks)
    }

    /// Puts chunks to new places, in C order of their coordinates; what was known of them is replaced.
    ///
    /// # Errors
    /// As [`set`](Self::set), but chunks before the one that is refused are in the index.
    pub fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, E)]) -> Result<()> {
        chunks.iter().try_for_each(|(scaled, _)| self.check_rank(scaled))?;
        let extended = self.index.extend(edit, chunks);
        self.note();
        extended
    }

    /// Forgets a chunk; gives where it was. Its bytes are the caller's to free.
    ///
    /// # Errors
    /// The errors of reading the index and of [`Edit::allocate`].
    pub fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>> {
        self.check_rank(scaled)?;
        let removed = self.index.remove(edit, scaled);
        self.note();
        removed
    }

    /// Visits all chunks.
    ///
    /// # Errors
    /// The errors of reading the index and of `visit`.
    pub fn for_each(&self, store: &Store, visit: &mut AtChunk<'_, E>) -> Result<()> {
        if self.index.is_empty() || self.shape.max_dims.contains(&Some(0)) {
            return Ok(());
        }
        let last = self.last();
        let chunks = ChunkBox { first: Dims::from_elem(0, last.len()), last };
        self.index.for_each(store, &chunks, visit)
    }

    /// Gives the room of all chunks and of the index back. The layout is that of a dataset without chunks then.
    ///
    /// # Errors
    /// As [`delete_with`](Self::delete_with).
    pub fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.delete_with(edit, &mut |edit, _, chunk| {
            edit.free(SpaceKind::RawData, chunk.address(), chunk.size())
        })
    }

    /// Calls `at_chunk` for each chunk, then frees all blocks of the index. The layout is that of a dataset without
    /// chunks then, and the index can be used anew.
    ///
    /// # Errors
    /// The errors of reading the index and of `at_chunk`; nothing of the index is freed then.
    pub fn delete_with<'e>(
        &mut self,
        edit: &mut Edit<'e>,
        at_chunk: &mut AtDeletedChunk<'_, 'e, E>,
    ) -> Result<()> {
        for (scaled, location) in self.collect(edit.store())? {
            at_chunk(edit, &scaled, location)?;
        }
        self.clear(edit)
    }

    /// Moves all chunks by `count` chunks along dimension `axis`: up, or down if `count` is negative. For datasets that
    /// grow or shrink at their front.
    ///
    /// # Errors
    /// [`Error::Misuse`] if a chunk would come to lie where none can; [`Error::Unsupported`] for chunks that lie in the
    /// order of their coordinates. Nothing is changed then. Those of reading and making an index.
    pub fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()> {
        if matches!(self.kind(), ChunkIndexKind::Implicit) {
            return Err(Error::unsupported("growth at the front of a dataset whose chunks lie side by side"));
        }
        let mut chunks = self.collect(edit.store())?;
        let most = self.last().get(axis).copied().unwrap_or(0);
        for (scaled, _) in &mut chunks {
            let moved = scaled.get(axis).and_then(|at| at.checked_add_signed(count));
            let moved = moved.filter(|at| *at <= most).ok_or_else(|| {
                Error::Misuse(format!("chunk {scaled:?} cannot move by {count} along dimension {axis}"))
            })?;
            if let Some(at) = scaled.get_mut(axis) {
                *at = moved;
            }
        }
        chunks.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        self.clear(edit)?;
        let extended = self.index.extend(edit, &chunks);
        self.note();
        extended
    }

    fn clear(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let freed = self.index.free(edit);
        self.note();
        freed
    }

    /// Visits the chunks of a box.
    ///
    /// # Errors
    /// The errors of reading the index and of `visit`.
    pub fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        if self.index.is_empty() || self.shape.max_dims.contains(&Some(0)) {
            return Ok(());
        }
        self.index.for_each(store, chunks, visit)
    }

    fn collect(&self, store: &Store) -> Result<Vec<(Dims, E)>> {
        let mut chunks = Vec::new();
        self.for_each(store, &mut |scaled, location| {
            chunks.push((Dims::from_slice(scaled), location));
            Ok(())
        })?;
        Ok(chunks)
    }

    /// The last chunk there may be along each dimension.
    fn last(&self) -> Dims {
        let chunk = self.chunk();
        let counts = chunk
            .iter()
            .zip(&self.shape.max_dims)
            .map(|(chunk, max)| max.map_or(u64::MAX, |max| max.div_ceil((*chunk).max(1)) - 1));
        counts.collect()
    }

    fn check_rank(&self, scaled: &[u64]) -> Result<()> {
        let (got, rank) = (scaled.len(), self.chunk().len());
        if got == rank {
            return Ok(());
        }
        Err(Error::Misuse(format!("chunk coordinates of {got} dimensions for a dataset of {rank}")))
    }

    /// Elements of a chunk along each dimension.
    fn chunk(&self) -> &[u64] {
        E::chunk(&self.layout, self.shape.max_dims.len())
    }

    fn note(&mut self) {
        E::note(&mut self.layout, self.index.note());
    }
}

impl ChunkTable for ChunkIndexEditor {
    fn is_ordered(&self) -> bool {
        matches!(self.kind(), ChunkIndexKind::BTreeV1 | ChunkIndexKind::BTreeV2)
    }

    fn republish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.index.republish(edit)
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        Self::get(self, store, scaled)
    }

    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        Self::has_none_of(self, store, chunks)
    }

    fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        Self::insert(self, edit, chunks)
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        Self::remove(self, edit, scaled)
    }

    fn reserve(&mut self, edit: &mut Edit<'_>, zeroed: bool) -> Result<Option<(Address, u64)>> {
        let reserved = self.index.reserve(edit, zeroed);
        self.note();
        reserved
    }

    fn keeps_all(&self) -> bool {
        self.kind() == ChunkIndexKind::Implicit
    }

    fn changed_layout(&self, before: &ChunkedLayout) -> Option<ChunkedLayout> {
        (self.layout != *before).then(|| self.layout.clone())
    }

    fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()> {
        Self::shift(self, edit, axis, count)
    }

    fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        Self::delete(self, edit)
    }

    fn for_each(&self, store: &Store, visit: &mut AtChunk<'_>) -> Result<()> {
        Self::for_each(self, store, visit)
    }
}

/// The index that `layout` names, to be changed by what writes chunks.
///
/// # Errors
/// As [`ChunkIndexEditor::open`].
pub fn open_table(store: &Store, layout: &ChunkedLayout, shape: &ChunkShape) -> Result<Box<dyn ChunkTable>> {
    Ok(Box::new(<ChunkIndexEditor>::open(store, layout, shape)?))
}

fn make(
    store: &Store,
    layout: &ChunkedLayout,
    shape: &ChunkShape,
) -> Result<Box<dyn IndexEdit<ChunkLocation>>> {
    let rules = ChunkLocation::rules(layout, shape);
    let order = || ArrayOrder::new(&layout.dims, &shape.max_dims);
    Ok(match &layout.index {
        IndexParameters::BTreeV1 => Box::new(BTreeV1Edit::new(store.params(), layout, shape.btree_k)),
        IndexParameters::Single(stored) => {
            let sized = stored.is_some();
            let (size, filter_mask) =
                stored.map_or((rules.bytes, 0), |chunk| (chunk.size, chunk.filter_mask));
            let address = layout.address;
            let location = address.is_defined().then_some(ChunkLocation { address, size, filter_mask });
            Box::new(SingleEdit { sized, rules, index: SingleIndex { rank: layout.dims.len(), location } })
        }
        IndexParameters::Implicit => Box::new(ImplicitEdit { first: layout.address, rules, order: order()? }),
        IndexParameters::FixedArray(parameters) => {
            fixed_array(store, layout.address, *parameters, order()?, rules)?
        }
        IndexParameters::ExtensibleArray(parameters) => {
            extensible_array(store, layout.address, *parameters, order()?, rules)?
        }
        IndexParameters::BTreeV2(parameters) => {
            Box::new(BTreeV2Edit::new(store, layout.address, layout.dims.len(), *parameters, rules)?)
        }
    })
}

fn fixed_array<E: Entry>(
    store: &Store,
    address: Address,
    parameters: FixedArrayParameters,
    order: ArrayOrder,
    rules: E::Rules,
) -> Result<Box<dyn IndexEdit<E>>> {
    let array = FixedArray::new(store.params(), parameters, &order, rules)?.open(store, address)?;
    Ok(Box::new(ArrayEdit { order, array }))
}

fn extensible_array<E: Entry>(
    store: &Store,
    address: Address,
    parameters: ExtensibleArrayParameters,
    order: ArrayOrder,
    rules: E::Rules,
) -> Result<Box<dyn IndexEdit<E>>> {
    let array = ExtensibleArray::new(store.params(), parameters, rules)?.open(store, address)?;
    Ok(Box::new(ArrayEdit { order, array }))
}
