//! Copies of structured chunks. The stored bytes are copied if the form stays the same, otherwise
//! the defined elements. Source or target may be dense.

use std::collections::BTreeSet;

use hyperslab_dataspace::{Boxes, DefinedSet, Dims, Points, Region, Selection};
use hyperslab_exact::to_u64;

use super::chunks::{batches, read_batch, same_filters, write_runs};
use super::relocate::RelocationSource;
use super::streamed::{CopyRegions, StoredRegions, Streamed};
use super::{Copier, Task};
use crate::data::chunk_index::StructuredLocation;
use crate::data::structured::{SelectedChunk, StructuredForm, StructuredSource};
use crate::data::transfer::WriteSource;
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::ops::DatasetWriter;
use crate::store::{Edit, SpaceKind};

impl Copier<'_> {
    /// Returns whether a copy can store the structured chunks of the source dataset as they are.
    pub(super) fn goes_as_stored(
        &self,
        edit: &Edit<'_>,
        streamed: &Streamed<'_>,
        chunks: &StructuredSource,
        writer: &DatasetWriter,
    ) -> bool {
        let Some(to) = writer.structured() else { return false };
        let (from, to) = (&chunks.form, &to.form);
        // Some forms of heaps contain lengths of the file's width.
        let same_widths = streamed.source.container.params() == edit.params();
        let plan = &streamed.plan;
        let sections = from.sections.iter().zip(&to.sections);
        // If the order of the metadata is ambiguous, only decoding determines it.
        from.has_one_metadata_order()
            && (plan.is_copy() || (same_widths && plan.is_copy_within_chunks()))
            && streamed.sparse.encoding.is_none()
            && from.kind == to.kind
            && from.grid == to.grid
            && from.edges_unfiltered == to.edges_unfiltered
            && from.sections.len() == to.sections.len()
            && sections
                .into_iter()
                .all(|(from, to)| from.checksum == to.checksum && same_filters(&from.pipeline, &to.pipeline))
    }

    /// Copies structured chunks as stored to the target file, and creates a new chunk index.
    ///
    /// # Errors
    /// Returns the errors of reading and writing chunks.
    pub(super) fn copy_structured(
        &self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        chunks: &StructuredSource,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let store = &streamed.source.container.store;
        let stored = chunks.stored_chunks(store)?;
        let stored = self.sound_structured(streamed.source, chunks, stored, task)?;
        for batch in batches(&stored, |location| location.size) {
            let locations: Vec<_> =
                batch.iter().map(|(_, location)| (location.address, location.size)).collect();
            let bytes = read_batch(store, &locations)?;
            writer.with_structured(self.target.writer_context(), edit, None, |writer, writing| {
                let mut made = Vec::with_capacity(batch.len());
                for (scaled, location) in batch {
                    let sections = chunks.form.sections_of(location)?;
                    let address = writing.edit.allocate(SpaceKind::RawData, location.size)?;
                    made.push((scaled.clone(), writer.form.location(address, &sections)?));
                }
                let locations = made.iter().map(|(_, location)| (location.address, location.size));
                write_runs(writing.edit.store(), locations, &bytes)?;
                writer.table.insert(writing.edit, &made)
            })?;
            self.guide.copied(&task.path, bytes.len() as u64);
        }
        writer.flush(self.target.writer_context(), edit)
    }

    /// Copies the defined elements of a sparse dataset to a dataset with flat or structured chunks.
    ///
    /// # Errors
    /// Returns the errors of reading, relocating and writing elements.
    pub(super) fn copy_defined(
        &mut self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        chunks: &StructuredSource,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let (source, plan) = (streamed.source, &streamed.plan);
        let stored = chunks.stored_chunks(&source.container.store)?;
        let stored = self.sound_structured(source, chunks, stored, task)?;
        let encoding = match (streamed.sparse.encoding, stored.first()) {
            (None, Some(first)) => Some(chunks.encoding_of(&source.container.store, first)?),
            (wanted, _) => wanted,
        };
        writer.encode_defined_as(encoding);
        let same_chunks = writer.structured().is_some_and(|to| to.form.grid == chunks.form.grid);
        // If the source and the target both store variable-length data in chunks, the elements need
        // no relocation.
        let same_elements = plan.is_copy() || (writer.structured().is_some() && plan.is_copy_within_chunks());
        for batch in batches(&stored, |location| bytes_in_memory(&chunks.form, location)) {
            let (foreign, made) = (streamed.empty_heap(), streamed.empty_heap());
            let parts = chunks.defined_in(source.read_context(), batch, Some(&foreign))?;
            let mut moved = Vec::with_capacity(parts.len());
            for part in parts {
                let values = part.values();
                self.guide.copied(&task.path, values.len() as u64);
                let values = if same_elements {
                    values.to_vec()
                } else {
                    let into = writer.structured().is_some().then_some(&*made);
                    let from = RelocationSource { file: task.original.file, foreign: Some(&foreign), into };
                    self.relocate_elements(edit, &from, plan, values)?
                };
                moved.push((part, values));
            }
            let contents = if same_elements { &foreign } else { &made };
            if same_chunks && writer.is_sparse() {
                let all: Vec<(Dims, DefinedSet, Vec<u8>)> = moved
                    .into_iter()
                    .map(|(part, values)| (part.scaled.clone(), part.set().clone(), values))
                    .collect();
                writer.with_structured(
                    self.target.writer_context(),
                    edit,
                    Some(contents),
                    |writer, writing| writer.write_defined(writing, all),
                )?;
            } else {
                self.put_parts(edit, &mut writer, &chunks.form, moved, (contents, plan.to_size))?;
            }
        }
        writer.flush(self.target.writer_context(), edit)
    }

    /// Writes defined elements of a sparse source dataset to the copy. If all elements of a chunk
    /// are defined, writes them as a region; otherwise, writes elements by their coordinates.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    fn put_parts(
        &self,
        edit: &mut Edit<'_>,
        writer: &mut DatasetWriter,
        form: &StructuredForm,
        parts: Vec<(SelectedChunk, Vec<u8>)>,
        (contents, size): (&ForeignHeap, usize),
    ) -> Result<()> {
        let mut points = Points { rank: form.grid.rank(), coordinates: Vec::new() };
        let mut values = Vec::new();
        for (part, bytes) in parts {
            let region = form.grid.region(&part.scaled)?;
            if region.element_count()? == part.set().len() {
                let source = WriteSource::stored(&bytes, size).with_heap(contents);
                writer.write(self.target.writer_context(), edit, &Selection::region(&region), &source)?;
            } else {
                part.collect_coordinates(form, &mut points.coordinates)?;
                values.extend(bytes);
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        let source = WriteSource::stored(&values, size).with_heap(contents);
        writer.write(self.target.writer_context(), edit, &Selection::Points(points), &source)
    }

    /// Copies the elements of a dense dataset to a sparse copy. Skips elements that count as
    /// undefined.
    ///
    /// # Errors
    /// Returns the errors of reading, relocating and writing elements.
    pub(super) fn define(
        &mut self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let plan = &streamed.plan;
        let before = &streamed.dataset.description;
        let zeros = vec![0; plan.to_size];
        let undefined = writer.description().fill_element().unwrap_or(&zeros).to_vec();
        // Elements with references or variable-length data are compared before their relocation as
        // well.
        let fill = before.fill_element().filter(|_| !plan.is_copy() && streamed.sparse.undefined.is_none());
        let target = writer.structured().map(|structured| Dims::from_slice(structured.form.grid.chunk()));
        for region in streamed.written_regions(target.as_deref(), streamed.budget())? {
            let selection = Selection::region(&region);
            let (foreign, made) = (streamed.empty_heap(), streamed.empty_heap());
            let elements = streamed.read(&selection, &foreign)?;
            self.guide.copied(&task.path, elements.len() as u64);
            let moved;
            let stored = if plan.is_copy() {
                &elements
            } else {
                let from =
                    RelocationSource { file: task.original.file, foreign: Some(&foreign), into: Some(&made) };
                moved = self.relocate_elements(edit, &from, plan, &elements)?;
                &moved
            };
            let original = |number: u64| {
                let start = usize::try_from(number).ok()?.checked_mul(plan.from_size)?;
                elements.get(start..)?.get(..plan.from_size)
            };
            let is_defined = |number: u64, element: &[u8]| {
                element != undefined.as_slice() && (fill.is_none() || original(number) != fill)
            };
            writer.with_structured(self.target.writer_context(), edit, Some(&made), |writer, writing| {
                writer.write_where(writing, &region, stored, &is_defined)
            })?;
        }
        writer.flush(self.target.writer_context(), edit)
    }
}

impl Streamed<'_> {
    /// Returns the regions of a dense dataset that may contain defined elements. Each stored chunk
    /// lies in one region. `target` is the chunk shape of the copy. If a chunk of the copy has at
    /// most `bytes` bytes, each region covers whole chunks of the copy, so that each of them is
    /// written once.
    ///
    /// # Errors
    /// Returns an error if the chunk index is damaged.
    pub(super) fn written_regions(&self, target: Option<&[u64]>, bytes: u64) -> Result<CopyRegions> {
        let dims = Dims::from_slice(self.dataset.description.dataspace.dims());
        let stored = StoredRegions::of(self.source, &self.dataset)?;
        let chunk =
            stored.as_ref().map_or_else(|| Dims::from_elem(1, dims.len()), |stored| stored.chunk.clone());
        let shape = grown(&chunk, target.unwrap_or(&chunk), self.element_bytes(), bytes);
        match stored {
            Some(stored) if self.sparse.skips_unwritten(&self.dataset.description) => {
                let number = |region: &Region| -> Dims {
                    region.start.iter().zip(&shape).map(|(start, size)| start / (*size).max(1)).collect()
                };
                let numbers: BTreeSet<Dims> = stored.regions.iter().map(number).collect();
                let outside = || Error::internal("regions to copy", "a stored chunk lies inside the extent");
                let region = |number: Dims| -> Result<Region> {
                    let mut region = Region::whole(&dims);
                    let sides = region.start.iter_mut().zip(&mut region.count);
                    for ((start, count), (at, size)) in sides.zip(number.iter().zip(&shape)) {
                        *start = at.checked_mul(*size).ok_or_else(outside)?;
                        *count = count.checked_sub(*start).ok_or_else(outside)?.min(*size);
                    }
                    Ok(region)
                };
                let boxes = numbers.into_iter().map(region).collect::<Result<Vec<_>>>()?;
                Ok(CopyRegions::Stored(boxes.into_iter()))
            }
            _ => Ok(CopyRegions::All(Boxes::new(&dims, &shape, self.element_bytes(), bytes))),
        }
    }
}

/// Returns the grown shape of a chunk for a copied dataset: several whole chunks that together have
/// at most `bytes` bytes. The shape grows at most to `target`, along the fastest dimension first.
fn grown(chunk: &[u64], target: &[u64], element_size: u64, bytes: u64) -> Dims {
    let mut shape = Dims::from_slice(chunk);
    for (dimension, target) in target.iter().enumerate().rev() {
        let factors = shape.iter().copied().chain([element_size.max(1)]);
        // A shape whose size does not fit in 64 bits cannot grow.
        let fits = hyperslab_exact::product("bytes of a shape", factors).map_or(1, |all| bytes / all.max(1));
        if let Some(size) = shape.get_mut(dimension) {
            let wanted = target.div_ceil((*size).max(1));
            // The product is at most `bytes`, or the old size.
            *size *= wanted.min(fits).max(1);
        }
    }
    shape
}

/// Returns the number of bytes that a structured chunk's defined elements and their coordinates
/// take in memory. Computes the number from the entry of the chunk in the chunk index.
fn bytes_in_memory(form: &StructuredForm, location: &StructuredLocation) -> u64 {
    let Ok(sections) = form.sections_of(location) else { return location.size };
    let values = if form.kind.is_sparse() { sections.0.get(1) } else { None };
    let element_size = to_u64(form.element_size).max(1);
    let count = values.map_or(0, |values| values.unfiltered / element_size);
    let coordinates = hyperslab_exact::product("bytes of coordinates", [count, to_u64(form.grid.rank()), 8]);
    let sections = sections.0.iter().map(|section| section.unfiltered);
    let bytes =
        coordinates.and_then(|coordinates| hyperslab_exact::sum("bytes", sections.chain([coordinates])));
    // A larger chunk is a batch of its own, whose read reports the error.
    bytes.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_grow_by_whole_chunks() {
        let shape = |chunk: &[u64], target: &[u64], bytes| grown(chunk, target, 4, bytes).to_vec();
        assert_eq!(shape(&[10, 10], &[100, 95], 1 << 20), [100, 100]);
        assert_eq!(shape(&[10, 10], &[100, 95], 400 * 25), [20, 100]);
        assert_eq!(shape(&[10, 10], &[100, 95], 1), [10, 10]);
        assert_eq!(shape(&[1, 1], &[100, 95], 4 * 200), [2, 95]);
        assert_eq!(shape(&[30, 30], &[7, 7], 1 << 20), [30, 30]);
    }
}
