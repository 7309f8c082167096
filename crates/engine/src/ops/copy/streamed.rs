//! Elements that are read and written: where they are stored another way, or mean something only in their file.

use std::collections::HashSet;
use std::sync::Arc;

use hyperslab_dataspace::{Boxes, Dataspace, Dims, Region, Selection};
use hyperslab_format::message::Layout;

use super::chunks::stored_chunks;
use super::elements::Plan;
use super::movement::Origin as Whence;
use super::{Copier, Task};
use crate::data::{ForeignHeap, Origin};
use crate::error::Result;
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::Edit;

/// Bytes of elements that are in memory at once.
const AT_ONCE: u64 = 16 << 20;

/// The same of elements with contents elsewhere.
const POINTERS_AT_ONCE: u64 = 1 << 20;

/// What is copied in one go: everything there is, or those parts that were written.
enum Parts {
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

impl Copier<'_> {
    pub(super) fn stream(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        dataset: &OpenDataset,
        mut writer: DatasetWriter,
        plan: &Plan,
        task: &Task,
    ) -> Result<()> {
        let Some(parts) = self.parts(edit, source, dataset, &mut writer, plan)? else { return Ok(()) };
        let scalar = !matches!(dataset.description.dataspace, Dataspace::Simple(_));
        for region in parts {
            let selection = if scalar { Selection::All } else { Selection::region(&region) };
            let foreign = Arc::new(ForeignHeap::new(source.container.store.limits().result_bytes));
            let mut elements = if plan.is_copy() {
                dataset.read(source, &selection)?
            } else {
                dataset.read_collecting(source, &selection, &foreign)?
            };
            self.guide.copied(&task.path, elements.len() as u64);
            if !plan.is_copy() {
                let from = Whence { file: task.original.file, foreign: Some(&foreign) };
                elements = self.move_elements(edit, &from, plan, &elements)?;
            }
            let origin = Origin::stored(&elements, plan.to_size);
            writer.write(self.target, edit, &selection, &origin)?;
        }
        writer.flush(self.target, edit)
    }

    /// What of a dataset is to be copied; nothing if nothing was written.
    fn parts(
        &self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        dataset: &OpenDataset,
        writer: &mut DatasetWriter,
        plan: &Plan,
    ) -> Result<Option<Parts>> {
        let dims = Dims::from_slice(dataset.description.dataspace.dims());
        let budget = if plan.is_copy() { AT_ONCE } else { POINTERS_AT_ONCE };
        let size = plan.from_size.max(plan.to_size) as u64;
        let target_chunk = match &writer.description().layout.layout {
            Layout::Chunked(layout) => Some(layout.dims.clone()),
            _ => None,
        };
        if let Some(chunks) = dataset.chunks(source)? {
            let stored = stored_chunks(&source.container.store, &chunks)?;
            if stored.is_empty() {
                return Ok(None);
            }
            let total = chunks.grid.chunk_count().unwrap_or(u64::MAX);
            if (stored.len() as u64).saturating_mul(2) < total {
                if target_chunk.is_none() {
                    writer.allocate(self.target, edit)?;
                }
                let mut seen = HashSet::new();
                let mut regions = Vec::new();
                for (scaled, _) in stored {
                    let region = chunks.grid.region(&scaled)?;
                    if seen.insert(scaled) {
                        regions.push(region);
                    }
                }
                return Ok(Some(Parts::Stored(regions.into_iter())));
            }
        }
        let chunk = target_chunk.unwrap_or_else(|| Dims::from_elem(1, dims.len()));
        Ok(Some(Parts::All(Boxes::new(&dims, &chunk, size, budget))))
    }
}
