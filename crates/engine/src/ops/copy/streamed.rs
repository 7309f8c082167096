//! Elements that are read and written: where they are stored another way, or mean something only in their file.

use std::collections::HashSet;
use std::sync::Arc;

use hyperslab_dataspace::{Boxes, Dataspace, Dims, Region, Selection};
use hyperslab_format::message::Layout;

use super::chunks::stored_chunks;
use super::elements::Plan;
use super::movement::MoveSource;
use super::sparse::SparseCopy;
use super::{Copier, Task};
use crate::data::transfer::WriteSource;
use crate::data::variable::ForeignHeap;
use crate::error::Result;
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::Edit;

/// Bytes of elements that are in memory at once.
const AT_ONCE: u64 = 16 << 20;

/// The same of elements with contents elsewhere.
const POINTERS_AT_ONCE: u64 = 1 << 20;

/// A dataset whose elements are read and written.
pub(super) struct Streamed<'s> {
    pub(super) source: &'s Arc<OpenFile>,
    pub(super) dataset: OpenDataset,
    pub(super) plan: Plan,
    pub(super) sparse: SparseCopy,
}

/// What is read in one go: everything there is, or those parts that were written.
pub(super) enum Parts {
    All(Boxes),
    Stored(std::vec::IntoIter<Region>),
}

impl Iterator for Parts {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        match self {
            Self::All(boxes) => boxes.next(),
            Self::Stored(regions) => regions.next(),
        }
    }
}

/// The stored chunks of a dataset of which chunks hold all elements.
pub(super) struct StoredParts {
    /// What they hold.
    pub(super) regions: Vec<Region>,
    /// Their shape.
    pub(super) chunk: Dims,
    /// How many there could be.
    pub(super) total: u64,
}

impl StoredParts {
    /// `None` if the dataset is not in such chunks.
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
    /// The elements of a part, as stored in the file that they are in; what they hold elsewhere is in `foreign` then.
    pub(super) fn read(&self, selection: &Selection, foreign: &Arc<ForeignHeap>) -> Result<Vec<u8>> {
        if self.plan.is_copy() {
            self.dataset.read(self.source, selection)
        } else {
            self.dataset.read_collecting(self.source, selection, foreign)
        }
    }

    /// No contents yet.
    pub(super) fn no_contents(&self) -> Arc<ForeignHeap> {
        Arc::new(ForeignHeap::new(self.source.container.store.limits().result_bytes))
    }

    /// Boxes of whole chunks of that shape, or of rows of elements.
    pub(super) fn boxes(&self, chunk: Option<Dims>) -> Boxes {
        let dims = Dims::from_slice(self.dataset.description.dataspace.dims());
        let chunk = chunk.unwrap_or_else(|| Dims::from_elem(1, dims.len()));
        Boxes::new(&dims, &chunk, self.element_bytes(), self.budget())
    }

    /// Bytes of an element, in the file in which it has more.
    pub(super) fn element_bytes(&self) -> u64 {
        self.plan.from_size.max(self.plan.to_size) as u64
    }

    /// Bytes of elements that are in memory at once.
    pub(super) fn budget(&self) -> u64 {
        if self.plan.is_copy() { AT_ONCE } else { POINTERS_AT_ONCE }
    }
}

impl Copier<'_> {
    /// Copies what is not copied as it is stored.
    pub(super) fn copy_streamed(
        &mut self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let sparse_source = match streamed.dataset.structured_chunks(streamed.source)? {
            Some(chunks) if self.goes_as_stored(edit, streamed, &chunks, &writer) => {
                return self.copy_structured(edit, streamed, &chunks, writer, task);
            }
            chunks => chunks.filter(|chunks| chunks.form.kind.is_sparse()),
        };
        let after = &writer.description().layout.layout;
        let in_chunks = matches!(after, Layout::Chunked(_) | Layout::Structured(_));
        match sparse_source {
            Some(chunks) if chunks.index.is_none() => Ok(()),
            Some(chunks) if in_chunks => self.copy_defined(edit, streamed, &chunks, writer, task),
            None if writer.is_sparse() => {
                writer.encode_defined_as(streamed.sparse.encoding);
                self.define(edit, streamed, writer, task)
            }
            _ => self.stream(edit, streamed, writer, task),
        }
    }

    fn stream(
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
            let (foreign, made) = (streamed.no_contents(), streamed.no_contents());
            let mut elements =
                self.read_box(streamed, &region, &selection, &foreign, (task, &mut failures))?;
            self.guide.copied(&task.path, elements.len() as u64);
            if !plan.is_copy() {
                let into = structured.then_some(&*made);
                let from = MoveSource { file: task.original.file, foreign: Some(&foreign), into };
                elements = self.move_elements_of(edit, &from, plan, &elements, &task.path)?;
            }
            let origin = WriteSource::stored(&elements, plan.to_size).with_heap(&made);
            writer.write(self.target, edit, &selection, &origin)?;
        }
        writer.flush(self.target, edit)
    }

    /// What of a dataset is to be copied; nothing if nothing was written.
    fn parts(
        &self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        writer: &mut DatasetWriter,
    ) -> Result<Option<Parts>> {
        let rank = streamed.dataset.description.dataspace.dims().len();
        let target_chunk: Option<Dims> = match &writer.description().layout.layout {
            Layout::Chunked(layout) => Some(layout.dims.clone()),
            Layout::Structured(layout) => Some(layout.dims.iter().take(rank).copied().collect()),
            _ => None,
        };
        let stored = StoredParts::of(streamed.source, &streamed.dataset)?;
        if stored.as_ref().is_some_and(|stored| stored.regions.is_empty()) {
            return Ok(None);
        }
        let few = |stored: &StoredParts| (stored.regions.len() as u64).saturating_mul(2) < stored.total;
        let stored = stored.filter(few);
        if writer.is_laid_out_at_once() || (stored.is_some() && target_chunk.is_none()) {
            // Every chunk has its place before the first of them comes.
            writer.allocate(self.target, edit)?;
        }
        if let Some(stored) = stored {
            return Ok(Some(Parts::Stored(stored.regions.into_iter())));
        }
        writer.expect_all();
        Ok(Some(Parts::All(streamed.boxes(target_chunk))))
    }
}
