//! Changes of the six kinds of chunk index. An index is created with its first chunk.

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
    ChunkIndexParameters, ChunkedLayout, ExtensibleArrayParameters, FixedArrayParameters,
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

/// A function that the deletion of a chunk index calls for each chunk, with the chunk's coordinates
/// (counted in chunks) and its entry in the index.
pub type AtDeletedChunk<'a, 'e, E = ChunkLocation> = dyn FnMut(&mut Edit<'e>, &[u64], E) -> Result<()> + 'a;

/// An editor of the chunk index of one dataset. Only one editor of a chunk index may exist at a
/// time. An editor can make many changes. Readers that opened the chunk index earlier see its state
/// at that time.
///
/// A change may alter the layout message. [`layout`](Self::layout) returns its present state.
#[derive(Debug)]
pub struct ChunkIndexEditor<E: Entry = ChunkLocation> {
    layout: E::Layout,
    shape: ChunkShape,
    index: Box<dyn IndexEdit<E>>,
}

/// A trait of chunk index editors: the operations that each kind of chunk index implements for
/// changes.
trait IndexEdit<E: Entry>: Send + Sync + fmt::Debug {
    /// Returns the chunk index entry of a chunk, if the chunk is stored.
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>>;

    /// Returns true if the chunk index certainly has no chunk. If the result is false, the chunk
    /// index may still have no chunk.
    fn is_empty(&self) -> bool;

    /// Implements [`ChunkTable::has_none_of`] for one kind of chunk index: returns whether none of
    /// the given chunks is stored.
    fn has_none_of(&self, store: &Store, chunks: &[(Dims, E)]) -> Result<bool> {
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Inserts or replaces the entry of a chunk in the chunk index. Returns the replaced entry.
    fn set(&mut self, edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>>;

    /// Inserts or replaces the entries of several chunks, which ascend in C order, in the chunk
    /// index.
    fn extend(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, E)]) -> Result<()> {
        chunks.iter().try_for_each(|(scaled, location)| self.set(edit, scaled, location).map(drop))
    }

    /// Removes the entry of a chunk from the chunk index and returns the entry.
    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>>;

    /// Calls `visit` for each stored chunk in a box of chunk coordinates, from the chunk index.
    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()>;

    /// Frees all file blocks of the chunk index. Afterwards, the chunk index has no chunks, and the
    /// next insertion creates it again.
    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()>;

    /// Implements [`ChunkTable::republish`] for one kind of chunk index: prepares the index for
    /// changes while SWMR readers read it.
    fn republish(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        Ok(())
    }

    /// Implements [`ChunkTable::reserve`] for one kind of chunk index: allocates the space of all
    /// possible chunks, if this kind of chunk index requires that.
    fn reserve(&mut self, _edit: &mut Edit<'_>, _zeroed: bool) -> Result<Option<(Address, u64)>> {
        Ok(None)
    }

    /// Returns the note about the chunk index for the layout message: the address of the index, or
    /// the location of the only chunk.
    fn note(&self) -> Note<E>;
}

/// Returns the width in bytes of the size field of filtered chunks. The field exists in chunk
/// indexes of layout version 4 and later.
///
/// Version 4 uses one byte more than the size of a decoded chunk needs, because filters may
/// lengthen a chunk. Version 5 uses the width of lengths.
pub fn size_width(layout_version: u8, params: FileParams, chunk_bytes: u64) -> usize {
    if layout_version >= 5 {
        return params.length_width();
    }
    let bits = chunk_bytes.checked_ilog2().unwrap_or(0) + 8;
    (bits / 8 + 1).min(8) as usize
}

impl ChunkIndexEditor {
    /// Opens an editor of the chunk index that the layout message `layout` names. If the chunk
    /// index does not exist, the first inserted chunk creates it.
    ///
    /// # Errors
    /// Returns errors of reading the index's header. Returns an error if the layout contradicts
    /// itself.
    pub fn open(store: &Store, layout: &ChunkedLayout, shape: &ChunkShape) -> Result<Self> {
        let index = make(store, layout, shape)?;
        Ok(Self { layout: layout.clone(), shape: shape.clone(), index })
    }
}

impl<E: Entry> ChunkIndexEditor<E> {
    /// Returns the kind of the chunk index that this editor changes.
    pub fn kind(&self) -> ChunkIndexKind {
        E::kind(&self.layout)
    }

    /// Returns the layout message of the dataset with the current state of the chunk index.
    pub fn layout(&self) -> &E::Layout {
        &self.layout
    }

    /// Inserts or replaces the entry of a chunk in the chunk index. Returns the replaced entry. The
    /// caller frees the stored bytes of the replaced chunk.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] without a change if the index cannot represent the entry: the
    /// wrong size of an unfiltered chunk, a size of more than 32 bits in a version 1 B-tree, or a
    /// chunk outside the maximum extent. Returns errors of reading the index and of
    /// [`Edit::allocate`].
    pub fn set(&mut self, edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>> {
        self.check_rank(scaled)?;
        let before = self.index.set(edit, scaled, location);
        self.note();
        before
    }

    /// Returns the chunk index entry of a chunk, or `None` if the chunk is not stored.
    ///
    /// # Errors
    /// Returns errors of reading the index.
    pub fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        self.check_rank(scaled)?;
        self.index.get(store, scaled)
    }

    /// Returns true if the chunk index certainly has no chunk. If the result is false, the chunk
    /// index may still have no chunk.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns whether the chunk index has no entry for any of the given chunks. The chunks are in
    /// C order of their coordinates.
    ///
    /// # Errors
    /// Returns errors of reading the index.
    pub fn has_none_of(&self, store: &Store, chunks: &[(Dims, E)]) -> Result<bool> {
        chunks.iter().try_for_each(|(scaled, _)| self.check_rank(scaled))?;
        self.index.has_none_of(store, chunks)
    }

    /// Inserts or replaces the entries of the given chunks in the chunk index. The chunks are in C
    /// order of their coordinates.
    ///
    /// # Errors
    /// Returns the errors of [`set`](Self::set). The chunks before the refused one stay in the
    /// index.
    pub fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, E)]) -> Result<()> {
        chunks.iter().try_for_each(|(scaled, _)| self.check_rank(scaled))?;
        let extended = self.index.extend(edit, chunks);
        self.note();
        extended
    }

    /// Removes the entry of a chunk from the chunk index and returns the entry. The caller frees
    /// the bytes of the chunk.
    ///
    /// # Errors
    /// Returns errors of reading the index and of [`Edit::allocate`].
    pub fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>> {
        self.check_rank(scaled)?;
        let removed = self.index.remove(edit, scaled);
        self.note();
        removed
    }

    /// Calls a function for each chunk in the chunk index, with the chunk's coordinates (counted in
    /// chunks) and its entry in the index.
    ///
    /// # Errors
    /// Returns errors of reading the index and of `visit`.
    pub fn for_each(&self, store: &Store, visit: &mut AtChunk<'_, E>) -> Result<()> {
        if self.index.is_empty() || self.shape.max_dims.contains(&Some(0)) {
            return Ok(());
        }
        let last = self.last();
        let chunks = ChunkBox { first: Dims::from_elem(0, last.len()), last };
        self.index.for_each(store, &chunks, visit)
    }

    /// Frees the file space of all chunks and of the chunk index. Afterwards the layout message
    /// describes a dataset without chunks.
    ///
    /// # Errors
    /// Returns the errors of [`delete_with`](Self::delete_with).
    pub fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.delete_with(edit, &mut |edit, _, chunk| {
            edit.free(SpaceKind::RawData, chunk.address(), chunk.size())
        })
    }

    /// Calls `at_chunk` for each chunk, then frees all file blocks of the chunk index. Afterwards
    /// the layout message describes a dataset without chunks, and the chunk index can be used
    /// again.
    ///
    /// # Errors
    /// Returns errors of reading the index and of `at_chunk`; no block of the index is then freed.
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

    /// Adds `count` to the coordinate along dimension `axis` of all chunks in the chunk index.
    /// `count` may be negative. Datasets that grow or shrink at their front use this function.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a chunk would move out of the maximum extent, and
    /// [`Error::Unsupported`] for an implicit index, both without a change. Returns errors of
    /// reading and creating an index.
    pub fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()> {
        if matches!(self.kind(), ChunkIndexKind::Implicit) {
            return Err(Error::unsupported("growth at the front of a dataset with an implicit chunk index"));
        }
        let mut chunks = self.collect(edit.store())?;
        let last = self.last();
        for (scaled, _) in &mut chunks {
            let moved = scaled
                .get(axis)
                .zip(last.get(axis))
                .and_then(|(at, last)| at.checked_add_signed(count).filter(|moved| moved <= last));
            let (Some(moved), Some(at)) = (moved, scaled.get_mut(axis)) else {
                return Err(Error::Misuse(format!(
                    "chunk {scaled:?} cannot move by {count} along dimension {axis}"
                )));
            };
            *at = moved;
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

    /// Calls a function for each chunk of the chunk index whose coordinates lie in a box.
    ///
    /// # Errors
    /// Returns errors of reading the index and of `visit`.
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

    /// Returns the coordinates (counted in chunks) of the last chunk that the dataset can have at
    /// its maximum size.
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
        Err(Error::Misuse(format!("chunk coordinates have {got} dimensions, but the dataset has {rank}")))
    }

    /// Returns the shape of a chunk of the dataset whose chunk index this editor changes.
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

/// Opens the chunk index that the layout message `layout` names, for changes, as a table of chunk
/// locations.
///
/// # Errors
/// Returns the errors of [`ChunkIndexEditor::open`].
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
        ChunkIndexParameters::BTreeV1 => Box::new(BTreeV1Edit::new(store.params(), layout, shape.btree_k)),
        ChunkIndexParameters::Single(stored) => {
            let sized = stored.is_some();
            let (size, filter_mask) =
                stored.map_or((rules.bytes, 0), |chunk| (chunk.size, chunk.filter_mask));
            let address = layout.address;
            let location = address.is_defined().then_some(ChunkLocation { address, size, filter_mask });
            Box::new(SingleEdit { sized, rules, index: SingleIndex { rank: layout.dims.len(), location } })
        }
        ChunkIndexParameters::Implicit => {
            Box::new(ImplicitEdit { first: layout.address, rules, order: order()? })
        }
        ChunkIndexParameters::FixedArray(parameters) => {
            fixed_array(store, layout.address, *parameters, order()?, rules)?
        }
        ChunkIndexParameters::ExtensibleArray(parameters) => {
            extensible_array(store, layout.address, *parameters, order()?, rules)?
        }
        ChunkIndexParameters::BTreeV2(parameters) => {
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
