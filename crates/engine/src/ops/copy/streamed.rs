//! Copies of elements that are read and written, because their storage changes or because they must
//! be relocated.

use std::collections::HashSet;
use std::sync::Arc;

use hyperslab_dataspace::{Boxes, Dataspace, Dims, Region, Selection};
use hyperslab_exact::to_u64;
use hyperslab_format::message::Layout;

use super::chunks::stored_chunks;
use super::elements::ElementPlan;
use super::relocate::RelocationSource;
use super::storage::SparseCopy;
use super::{Copier, LostPart, Task};
use crate::data::transfer::{WriteSource, byte_count};
use crate::data::variable::ForeignHeap;
use crate::error::Result;
use crate::memory::zeros;
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::Edit;

/// Largest number of bytes of elements that a copy of a dataset holds in memory.
const BLOCK_BYTES: u64 = 16 << 20;

/// Largest number of bytes of elements with references or variable-length data that a copy of a
/// dataset holds in memory.
const RELOCATED_BLOCK_BYTES: u64 = 1 << 20;

/// Number of failed reads of a dataset in a salvage. After this number, the remaining elements of
/// the dataset count as lost.
const MAX_FAILED_READS: u32 = 1 << 16;

/// The state of a copy of one dataset that reads and writes the elements block by block.
pub(super) struct Streamed<'s> {
    pub(super) source: &'s Arc<OpenFile>,
    pub(super) dataset: OpenDataset,
    pub(super) plan: ElementPlan,
    pub(super) sparse: SparseCopy,
}

/// The regions of a source dataset that a copy reads one after the other: the whole dataset, or its
/// stored chunks.
pub(super) enum CopyRegions {
    All(Boxes),
    Stored(std::vec::IntoIter<Region>),
}

impl Iterator for CopyRegions {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        match self {
            Self::All(boxes) => boxes.next(),
            Self::Stored(regions) => regions.next(),
        }
    }
}

/// The stored chunks of a dense source dataset, which a copy reads one after the other.
pub(super) struct StoredRegions {
    /// The elements of each chunk.
    pub(super) regions: Vec<Region>,
    /// The chunk shape.
    pub(super) chunk: Dims,
    /// Number of chunks in the chunk grid.
    pub(super) total: u64,
}

impl StoredRegions {
    /// Returns the stored chunks of a dense source dataset. Returns `None` if the dataset has no
    /// dense chunks.
    ///
    /// # Errors
    /// Returns an error if the chunk index is damaged.
    pub(super) fn of(source: &OpenFile, dataset: &OpenDataset) -> Result<Option<Self>> {
        let store = &source.container.store;
        let (grid, stored): (_, Vec<Dims>) = if let Some(chunks) = dataset.chunks(source)? {
            let stored = stored_chunks(store, &chunks)?;
            (chunks.grid.clone(), stored.into_iter().map(|(scaled, _)| scaled).collect())
        } else if let Some(chunks) = dataset.structured_chunks(source)?
            && !chunks.form.kind.is_sparse()
        {
            let stored = chunks.stored_chunks(store)?;
            (chunks.form.grid.clone(), stored.into_iter().map(|(scaled, _)| scaled).collect())
        } else {
            return Ok(None);
        };
        let total = grid.chunk_count().unwrap_or(u64::MAX);
        let mut seen = HashSet::new();
        let mut regions = Vec::new();
        for scaled in stored {
            let region = grid.region(&scaled)?;
            if seen.insert(scaled) {
                regions.push(region);
            }
        }
        Ok(Some(Self { regions, chunk: Dims::from_slice(grid.chunk()), total }))
    }
}

impl Streamed<'_> {
    /// Reads the selected elements of a dataset to copy, and returns them as the source file stores
    /// them. Elements of a virtual dataset can lie in other files. For these, collects
    /// variable-length data in `foreign`, a heap in memory.
    ///
    /// # Errors
    /// Returns the errors of reading the elements.
    pub(super) fn read(&self, selection: &Selection, foreign: &Arc<ForeignHeap>) -> Result<Vec<u8>> {
        if self.plan.is_copy() {
            self.dataset.read(self.source, selection)
        } else {
            self.dataset.read_collecting(self.source, selection, foreign)
        }
    }

    /// Returns an empty heap for the variable-length data of a copied dataset.
    pub(super) fn empty_heap(&self) -> Arc<ForeignHeap> {
        Arc::new(ForeignHeap::new(self.source.container.store.limits().result_bytes))
    }

    /// Divides a dataset to copy into boxes: whole chunks of the shape `chunk`, or rows of
    /// elements.
    pub(super) fn boxes(&self, chunk: Option<Dims>) -> Boxes {
        let dims = Dims::from_slice(self.dataset.description.dataspace.dims());
        let chunk = chunk.unwrap_or_else(|| Dims::from_elem(1, dims.len()));
        Boxes::new(&dims, &chunk, self.element_bytes(), self.budget())
    }

    /// Returns the larger element size in bytes of a source dataset and its copy.
    pub(super) fn element_bytes(&self) -> u64 {
        self.plan.from_size.max(self.plan.to_size) as u64
    }

    /// Returns the largest number of bytes of elements that the copy of a dataset may hold in
    /// memory.
    pub(super) fn budget(&self) -> u64 {
        if self.plan.is_copy() { BLOCK_BYTES } else { RELOCATED_BLOCK_BYTES }
    }
}

impl Copier<'_> {
    pub(super) fn stream(
        &mut self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let Some(parts) = self.parts(edit, streamed, &mut writer)? else { return Ok(()) };
        let scalar = !matches!(streamed.dataset.description.dataspace, Dataspace::Simple(_));
        let (plan, structured) = (&streamed.plan, writer.structured().is_some());
        let mut failures = 0;
        for region in parts {
            let selection = if scalar { Selection::All } else { Selection::region(&region) };
            let (foreign, made) = (streamed.empty_heap(), streamed.empty_heap());
            let mut elements =
                self.read_box(streamed, &region, &selection, &foreign, (task, &mut failures))?;
            self.guide.copied(&task.path, elements.len() as u64);
            if !plan.is_copy() {
                let into = structured.then_some(&*made);
                let from = RelocationSource { file: task.original.file, foreign: Some(&foreign), into };
                elements = self.relocate_elements_of(edit, &from, plan, &elements, &task.path)?;
            }
            let source = WriteSource::stored(&elements, plan.to_size).with_heap(&made);
            writer.write(self.target.writer_context(), edit, &selection, &source)?;
        }
        writer.flush(self.target.writer_context(), edit)
    }

    /// Returns the regions of a source dataset to copy, or `None` if the source dataset has no
    /// stored chunk.
    ///
    /// # Errors
    /// Returns the errors of the chunk index, and of allocating the copy.
    fn parts(
        &self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        writer: &mut DatasetWriter,
    ) -> Result<Option<CopyRegions>> {
        let rank = streamed.dataset.description.dataspace.dims().len();
        let target_chunk: Option<Dims> = match &writer.description().layout.layout {
            Layout::Chunked(layout) => Some(layout.dims.clone()),
            Layout::Structured(layout) => Some(layout.dims.iter().take(rank).copied().collect()),
            _ => None,
        };
        let stored = StoredRegions::of(streamed.source, &streamed.dataset)?;
        if stored.as_ref().is_some_and(|stored| stored.regions.is_empty()) {
            return Ok(None);
        }
        let few = |stored: &StoredRegions| to_u64(stored.regions.len()) < stored.total.div_ceil(2);
        let stored = stored.filter(few);
        if writer.is_laid_out_at_once() || (stored.is_some() && target_chunk.is_none()) {
            // All chunks of an implicit index are allocated before the first chunk is written.
            writer.allocate(self.target.writer_context(), edit)?;
        }
        if let Some(stored) = stored {
            return Ok(Some(CopyRegions::Stored(stored.regions.into_iter())));
        }
        writer.expect_all();
        Ok(Some(CopyRegions::All(streamed.boxes(target_chunk))))
    }

    /// Returns the elements of a box of the source dataset. In a salvage, unreadable elements have
    /// the fill value.
    ///
    /// # Errors
    /// Returns the errors of reading the elements, except damage in a salvage.
    pub(super) fn read_box(
        &self,
        streamed: &Streamed<'_>,
        region: &Region,
        selection: &Selection,
        foreign: &Arc<ForeignHeap>,
        (task, failures): (&Task, &mut u32),
    ) -> Result<Vec<u8>> {
        let read = streamed.read(selection, foreign);
        if !self.is_salvaging() || read.is_ok() {
            return read;
        }
        let halves = if *failures < MAX_FAILED_READS {
            *failures += 1;
            halves(region)
        } else {
            None
        };
        let Some([one, other]) = halves else {
            self.or_report(&task.path, LostPart::Box(region.clone()), read.map(drop))?;
            let description = &streamed.dataset.description;
            let size = description.datatype.size as usize;
            let count = region.element_count()?;
            let mut elements = zeros(byte_count(count, size, "elements to copy")?, "elements to copy")?;
            let fill = description.fill_element().filter(|fill| fill.len() == size);
            if let Some(fill) = fill {
                elements.chunks_exact_mut(size.max(1)).for_each(|element| element.copy_from_slice(fill));
            }
            return Ok(elements);
        };
        let part = |region: &Region| Selection::region(region);
        let first = self.read_box(streamed, &one, &part(&one), foreign, (task, &mut *failures))?;
        let second = self.read_box(streamed, &other, &part(&other), foreign, (task, failures))?;
        // All dimensions before the divided one have one element, so the elements of the second
        // half follow those of the first.
        Ok([first, second].concat())
    }
}

/// Divides a box of elements into two halves along its slowest dimension with more than one
/// element.
fn halves(region: &Region) -> Option<[Region; 2]> {
    let dimension = region.count.iter().position(|count| *count > 1)?;
    let (mut one, mut other) = (region.clone(), region.clone());
    let count = *region.count.get(dimension)?;
    *one.count.get_mut(dimension)? = count / 2;
    *other.count.get_mut(dimension)? = count - count / 2;
    let start = other.start.get_mut(dimension)?;
    *start = start.checked_add(count / 2)?;
    Some([one, other])
}
