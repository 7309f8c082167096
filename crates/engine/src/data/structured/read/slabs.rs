//! Reads of the defined elements of a sparse dataset in C order, slab by slab. A slab consists of
//! the structured chunks whose coordinate along the first dimension is the same.

use std::sync::Arc;

use hyperslab_dataspace::{DefinedSet, Dims, Ordered, Selection};
use hyperslab_format::structured_chunk::SectionHeap;

use super::super::StructuredForm;
use super::source::{LocatedChunk, StructuredSource};
use crate::data::chunk_index::{ChunkBox, StructuredLocation};
use crate::data::transfer::{DefinedChunk, ReadContext, parallel};
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::store::Store;

/// Largest number of structured chunks in a group that is decoded concurrently.
const GROUP_CHUNKS: usize = 128;
/// Largest number of stored bytes in a group of structured chunks that is decoded concurrently.
const GROUP_BYTES: u128 = 8 << 20;

/// Number of coordinates along the first dimension, counted in structured chunks, that one walk
/// over the chunk index covers.
const WINDOW_ROWS: u64 = 64;

/// One structured chunk with its selected defined elements. An element is defined if it has a
/// stored value.
#[derive(Debug, Clone)]
pub struct SelectedChunk {
    /// The coordinates of the chunk, counted in chunks.
    pub scaled: Dims,
    /// The coordinates of the chunk's first element.
    pub origin: Dims,
    chunk: Arc<DefinedChunk>,
    /// The selected elements and their values, unless the whole chunk is selected.
    picked: Option<(DefinedSet, Vec<u8>)>,
}

/// A slab of a sparse dataset: the structured chunks that share one coordinate along the first
/// dimension, with the selected defined elements of these chunks.
#[derive(Debug, Clone)]
pub struct Slab {
    /// The first coordinate of the slab's first element.
    pub first: u64,
    /// The number of elements along the first dimension.
    pub height: u64,
    /// The chunks, in C order.
    pub parts: Vec<SelectedChunk>,
}

impl SelectedChunk {
    /// Returns the set of selected defined elements of a structured chunk, as offsets of elements
    /// in the chunk.
    pub fn set(&self) -> &DefinedSet {
        self.picked.as_ref().map_or(&self.chunk.defined, |(set, _)| set)
    }

    /// Returns the stored values of a structured chunk's selected defined elements, in ascending
    /// order of the elements' offsets in the chunk.
    ///
    /// Variable-length values are descriptors of data in the heap that the caller gave to the read.
    pub fn values(&self) -> &[u8] {
        self.picked.as_ref().map_or(&self.chunk.values, |(_, values)| values)
    }
}

impl Slab {
    /// Returns the number of selected defined elements in a slab: in the structured chunks that
    /// share one coordinate along the first dimension.
    pub fn len(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum + part.set().len())
    }

    /// Returns whether a slab has no selected defined elements. A slab consists of the structured
    /// chunks that share one coordinate along the first dimension.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl StructuredSource {
    /// Calls `visit` with the selected defined elements of a sparse dataset. Each call receives
    /// several slabs: groups of structured chunks that share one first coordinate. The slabs ascend
    /// by this coordinate.
    ///
    /// # Errors
    /// Returns errors of damaged chunks and of `visit`.
    pub fn for_each_defined(
        &self,
        context: ReadContext<'_>,
        selection: &Selection,
        foreign: Option<&ForeignHeap>,
        visit: &mut dyn FnMut(Vec<Slab>) -> Result<()>,
    ) -> Result<()> {
        let grid = &self.form.grid;
        let extent = grid.extent();
        let Some(bounds) = selection.bounding_box(extent)? else { return Ok(()) };
        let wanted = Ordered::new(selection, extent)?;
        let chunks = grid.chunk_region(&bounds)?;
        let (Some(index), false) = (&self.index, chunks.is_empty()) else { return Ok(()) };
        let last: Dims = chunks.bounds().map(|(_, end)| end - 1).collect();
        let (mut at, to) = (chunks.start.first().copied().unwrap_or(0), last.first().copied().unwrap_or(0));
        let mut rows = WINDOW_ROWS;
        loop {
            let end = at + (rows - 1).min(to - at);
            let mut window = ChunkBox { first: chunks.start.clone(), last: last.clone() };
            if let (Some(first), Some(last)) = (window.first.first_mut(), window.last.first_mut()) {
                (*first, *last) = (at, end);
            }
            let mut found = Vec::new();
            index.for_each_in(context.store, &window, &mut |scaled, location| {
                if wanted.may_meet(&grid.region(scaled)?) {
                    found.push(LocatedChunk { scaled: Dims::from_slice(scaled), location });
                }
                Ok(())
            })?;
            // If this window has no chunks, a long range of rows may have none, so the next window
            // is larger. A window of all rows cannot grow.
            rows = if found.is_empty() { rows.checked_mul(2).unwrap_or(rows) } else { WINDOW_ROWS };
            found.sort_unstable_by(|one, other| one.scaled.cmp(&other.scaled));
            for group in groups(found) {
                visit(self.slabs(context, &wanted, group, foreign)?)?;
            }
            match end.checked_add(1).filter(|next| *next <= to) {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    /// Returns the defined elements of the given structured chunks, in the order of the given
    /// chunks. Skips chunks without defined elements.
    ///
    /// # Errors
    /// Returns errors of damaged chunks.
    pub fn defined_in(
        &self,
        context: ReadContext<'_>,
        chunks: &[(Dims, StructuredLocation)],
        foreign: Option<&ForeignHeap>,
    ) -> Result<Vec<SelectedChunk>> {
        let wanted = Ordered::new(&Selection::All, self.form.grid.extent())?;
        let found = |(scaled, location): &(Dims, StructuredLocation)| LocatedChunk {
            scaled: scaled.clone(),
            location: *location,
        };
        let loaded = self.load(context, chunks.iter().map(found).collect())?;
        let parts = self.parts(context, &wanted, loaded, foreign)?;
        Ok(parts.into_iter().flatten().collect())
    }

    fn slabs(
        &self,
        context: ReadContext<'_>,
        wanted: &Ordered,
        group: Vec<LocatedChunk>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<Vec<Slab>> {
        let loaded = self.load(context, group)?;
        let parts = self.parts(context, wanted, loaded, foreign)?;
        let mut slabs: Vec<Slab> = Vec::new();
        for part in parts.into_iter().flatten() {
            let first = part.origin.first().copied().unwrap_or(0);
            match slabs.last_mut() {
                Some(slab) if slab.first == first => slab.parts.push(part),
                _ => {
                    // A chunk may be higher than the dataset.
                    let rows = self.form.grid.extent().first().copied().unwrap_or(1) - first;
                    let height = self.form.grid.chunk().first().copied().unwrap_or(1).min(rows);
                    slabs.push(Slab { first, height, parts: vec![part] });
                }
            }
        }
        Ok(slabs)
    }

    /// Returns the parts of structured chunks that a read needs, on several threads if that is
    /// faster; see [`part`](Self::part).
    fn parts(
        &self,
        context: ReadContext<'_>,
        wanted: &Ordered,
        loaded: Vec<(LocatedChunk, Arc<DefinedChunk>)>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<Vec<Option<SelectedChunk>>> {
        // A read of few elements, such as a row, touches a small part of each chunk.
        let selected = u128::from(wanted.len()) * size_of::<u64>() as u128;
        let bytes: u128 = loaded.iter().map(|(_, chunk)| chunk.memory_bytes() as u128).sum();
        let threads = loaded.len() > 1 && parallel::use_threads(context.store, bytes.min(selected));
        parallel::map(context.store, threads, loaded, |(found, chunk)| {
            self.part(wanted, found, chunk, foreign)
        })
    }

    /// Returns the part of a structured chunk that a read needs: its selected defined elements.
    /// Returns `None` if the chunk has none.
    fn part(
        &self,
        wanted: &Ordered,
        found: LocatedChunk,
        chunk: Arc<DefinedChunk>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<Option<SelectedChunk>> {
        let mut picked = match self.form.wanted_of(wanted, &found.scaled, &chunk.defined)? {
            None => None,
            Some(wanted) => {
                let (set, segments) = chunk.defined.intersection(&wanted);
                let values = segments.gather(&chunk.values, &[], self.form.element_size)?;
                Some((set, values))
            }
        };
        if !self.form.variable.is_empty() {
            let (set, mut values) = picked.unwrap_or_else(|| (chunk.defined.clone(), chunk.values.clone()));
            let heap = SectionHeap::decode(&chunk.heap, self.form.params)?;
            self.export(&mut values, &heap, foreign)?;
            picked = Some((set, values));
        }
        let origin = self.form.origin(&found.scaled);
        let part = SelectedChunk { scaled: found.scaled, origin, chunk, picked };
        Ok((!part.set().is_empty()).then_some(part))
    }
}

impl StructuredSource {
    /// Calls `visit` with the location of each stored structured chunk in the shape of the dataset,
    /// in the order of the chunk index.
    ///
    /// # Errors
    /// Returns errors of reading the index and of `visit`.
    pub fn for_each_chunk(
        &self,
        store: &Store,
        visit: &mut dyn FnMut(&[u64], StructuredLocation) -> Result<()>,
    ) -> Result<()> {
        let counts = self.form.grid.counts();
        let (Some(index), false) = (&self.index, counts.contains(&0)) else { return Ok(()) };
        let last = counts.iter().map(|count| count - 1).collect();
        let all = ChunkBox { first: Dims::from_elem(0, counts.len()), last };
        index.for_each_in(store, &all, &mut |scaled, location| visit(scaled, location))
    }

    /// Returns the structured chunk of a sparse dataset that holds an element, if the chunk is
    /// stored: its coordinates in units of chunks, and its location in the file.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if there is no such element.
    pub fn chunk_at(&self, store: &Store, element: &[u64]) -> Result<Option<(Dims, StructuredLocation)>> {
        let (scaled, _) = self.form.grid.locate(element)?;
        let Some(index) = &self.index else { return Ok(None) };
        Ok(index.get(store, &scaled)?.map(|location| (scaled, location)))
    }

    /// Counts the defined elements of a stored structured chunk. The chunk index entry states the
    /// number, unless the chunk lies partly outside the shape of the dataset. Such a chunk is
    /// decoded.
    ///
    /// # Errors
    /// Returns errors of a damaged chunk.
    pub fn count_defined(
        &self,
        context: ReadContext<'_>,
        scaled: &[u64],
        location: &StructuredLocation,
    ) -> Result<u64> {
        let form = &self.form;
        if form.kind.is_sparse() && !form.grid.is_edge(scaled)? {
            let sections = form.sections_of(location)?;
            if let (Some(values), Some(section)) = (sections.0.get(1), form.sections.get(1)) {
                let checksum = if section.checksum { 4 } else { 0 };
                let bytes = values.unfiltered.checked_sub(checksum).ok_or_else(|| {
                    Error::corrupt("structured chunk", "section with values", "a checksum", "none")
                        .at(location.address)
                })?;
                return Ok(bytes.checked_div(form.element_size as u64).unwrap_or(0));
            }
        }
        if !form.kind.is_sparse() {
            return Ok(form.inside(scaled)?.element_count()?);
        }
        let found = LocatedChunk { scaled: Dims::from_slice(scaled), location: *location };
        Ok(self.chunk(context, &found)?.defined.len())
    }
}

/// Divides structured chunks, which are in C order, into groups that are decoded together. Chunks
/// with the same coordinate along the first dimension are always in the same group.
fn groups(found: Vec<LocatedChunk>) -> Vec<Vec<LocatedChunk>> {
    let mut groups: Vec<Vec<LocatedChunk>> = Vec::new();
    let mut bytes = 0_u128;
    for chunk in found {
        let size = u128::from(chunk.location.size);
        match groups.last_mut() {
            Some(group)
                if group.last().is_some_and(|last| last.scaled.first() == chunk.scaled.first())
                    || (group.len() < GROUP_CHUNKS && bytes < GROUP_BYTES) =>
            {
                bytes += size;
                group.push(chunk);
            }
            _ => {
                bytes = size;
                groups.push(vec![chunk]);
            }
        }
    }
    groups
}

impl StructuredForm {
    /// Returns the coordinates in the dataset of a structured chunk's first element.
    pub fn origin(&self, scaled: &[u64]) -> Dims {
        scaled.iter().zip(self.grid.chunk()).map(|(at, size)| at * *size).collect()
    }
}
