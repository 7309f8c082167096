//! Structured chunks: as they are stored where nothing about them changes, else the defined elements alone, which may come
//! from datasets that hold all of them, and go to such.

use std::collections::BTreeSet;

use hyperslab_dataspace::{Boxes, DefinedSet, Dims, Points, Region, Selection};
use hyperslab_format::structured_chunk::DefinedEncoding;

use super::chunks::{batches, read_batch, write_runs};
use super::movement::MoveSource;
use super::raw::same_filters;
use super::storage::NewStorage;
use super::streamed::{Parts, StoredParts, Streamed};
use super::{Copier, Task};
use crate::data::chunk_index::StructuredLocation;
use crate::data::structured::{Defined, StructuredForm, StructuredSource};
use crate::data::transfer::WriteSource;
use crate::data::variable::ForeignHeap;
use crate::error::Result;
use crate::object::dataset::DatasetDescription;
use crate::ops::{DatasetWriter, NewLayout};
use crate::store::{Edit, SpaceKind};

/// What is wanted of a copy besides what its header says.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseCopy {
    /// How defined elements are written down; `None` for as they were.
    pub(super) encoding: Option<DefinedEncoding>,
    /// What counts as undefined, if it is not the fill value of the original.
    pub(super) undefined: Option<Vec<u8>>,
}

impl SparseCopy {
    /// What a dataset wants that is to be stored like this.
    pub(super) fn of(storage: &NewStorage) -> Option<Self> {
        match &storage.layout {
            NewLayout::Structured { encoding, .. } => {
                Some(Self { encoding: *encoding, undefined: storage.undefined.clone() })
            }
            _ => None,
        }
    }

    /// Returns whether elements that were never written count as undefined.
    pub(super) fn skips_unwritten(&self, before: &DatasetDescription) -> bool {
        self.undefined.as_ref().is_none_or(|undefined| match before.fill_element() {
            Some(fill) => fill == undefined.as_slice(),
            None => undefined.iter().all(|byte| *byte == 0),
        })
    }
}

impl Copier<'_> {
    /// Returns whether stored chunks of one dataset are those of the other.
    pub(super) fn goes_as_stored(
        &self,
        edit: &Edit<'_>,
        streamed: &Streamed<'_>,
        chunks: &StructuredSource,
        writer: &DatasetWriter,
    ) -> bool {
        let Some(to) = writer.structured() else { return false };
        let (from, to) = (&chunks.form, &to.form);
        // Heaps of some forms have lengths in them that are as wide as those of the file.
        let same_widths = streamed.source.container.params() == edit.params();
        let plan = &streamed.plan;
        let sections = from.sections.iter().zip(&to.sections);
        // Where the order of metadata has to be guessed, decoding is what tells it.
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

    /// Chunks go over as they are stored; the index is made anew.
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
            let places: Vec<_> =
                batch.iter().map(|(_, location)| (location.address, location.size)).collect();
            let bytes = read_batch(store, &places)?;
            writer.with_structured(self.target, edit, None, |writer, writing| {
                let mut made = Vec::with_capacity(batch.len());
                for (scaled, location) in batch {
                    let sections = chunks.form.sections_of(location)?;
                    let address = writing.edit.allocate(SpaceKind::RawData, location.size)?;
                    made.push((scaled.clone(), writer.form.location(address, &sections)?));
                }
                let places = made.iter().map(|(_, place)| (place.address, place.size));
                write_runs(writing.edit.store(), places, &bytes)?;
                writer.table.insert(writing.edit, &made)
            })?;
            self.guide.copied(&task.path, bytes.len() as u64);
        }
        writer.flush(self.target, edit)
    }

    /// The defined elements of a sparse dataset, for one in chunks of either kind.
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
        // What lies in chunks on either side needs no word of either file.
        let same_elements = plan.is_copy() || (writer.structured().is_some() && plan.is_copy_within_chunks());
        for batch in batches(&stored, |location| bytes_in_memory(&chunks.form, location)) {
            let (foreign, made) = (streamed.no_contents(), streamed.no_contents());
            let parts = chunks.defined_in(source.read_context(), batch, Some(&foreign))?;
            let mut moved = Vec::with_capacity(parts.len());
            for part in parts {
                let values = part.values();
                self.guide.copied(&task.path, values.len() as u64);
                let values = if same_elements {
                    values.to_vec()
                } else {
                    let into = writer.structured().is_some().then_some(&*made);
                    let from = MoveSource { file: task.original.file, foreign: Some(&foreign), into };
                    self.move_elements(edit, &from, plan, values)?
                };
                moved.push((part, values));
            }
            let contents = if same_elements { &foreign } else { &made };
            if same_chunks && writer.is_sparse() {
                let all: Vec<(Dims, DefinedSet, Vec<u8>)> = moved
                    .into_iter()
                    .map(|(part, values)| (part.scaled.clone(), part.set().clone(), values))
                    .collect();
                writer.with_structured(self.target, edit, Some(contents), |writer, writing| {
                    writer.write_defined(writing, all)
                })?;
            } else {
                self.put_parts(edit, &mut writer, &chunks.form, moved, (contents, plan.to_size))?;
            }
        }
        writer.flush(self.target, edit)
    }

    /// Writes defined elements by their coordinates; whole chunks as such.
    fn put_parts(
        &self,
        edit: &mut Edit<'_>,
        writer: &mut DatasetWriter,
        form: &StructuredForm,
        parts: Vec<(Defined, Vec<u8>)>,
        (contents, size): (&ForeignHeap, usize),
    ) -> Result<()> {
        let mut points = Points { rank: form.grid.rank(), coordinates: Vec::new() };
        let mut values = Vec::new();
        for (part, bytes) in parts {
            let region = form.grid.region(&part.scaled)?;
            if region.element_count()? == part.set().len() {
                let origin = WriteSource::stored(&bytes, size).with_heap(contents);
                writer.write(self.target, edit, &Selection::region(&region), &origin)?;
            } else {
                part.collect_coordinates(form, &mut points.coordinates)?;
                values.extend(bytes);
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        let origin = WriteSource::stored(&values, size).with_heap(contents);
        writer.write(self.target, edit, &Selection::Points(points), &origin)
    }

    /// Of a dataset that holds all elements, those that are not as undefined ones.
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
        // Elements that lead elsewhere are compared before they are moved, too.
        let fill = before.fill_element().filter(|_| !plan.is_copy() && streamed.sparse.undefined.is_none());
        let target = writer.structured().map(|structured| Dims::from_slice(structured.form.grid.chunk()));
        for region in streamed.written_parts(target.as_deref(), streamed.budget())? {
            let selection = Selection::region(&region);
            let (foreign, made) = (streamed.no_contents(), streamed.no_contents());
            let elements = streamed.read(&selection, &foreign)?;
            self.guide.copied(&task.path, elements.len() as u64);
            let moved;
            let stored = if plan.is_copy() {
                &elements
            } else {
                let from =
                    MoveSource { file: task.original.file, foreign: Some(&foreign), into: Some(&made) };
                moved = self.move_elements(edit, &from, plan, &elements)?;
                &moved
            };
            let original = |number: u64| {
                let start = usize::try_from(number).ok()?.checked_mul(plan.from_size)?;
                elements.get(start..)?.get(..plan.from_size)
            };
            let is_defined = |number: u64, element: &[u8]| {
                element != undefined.as_slice() && (fill.is_none() || original(number) != fill)
            };
            writer.with_structured(self.target, edit, Some(&made), |writer, writing| {
                writer.write_where(writing, &region, stored, &is_defined)
            })?;
        }
        writer.flush(self.target, edit)
    }
}

impl Streamed<'_> {
    /// The parts of a dataset that holds all elements in which some may count as defined: boxes that cut no stored chunk,
    /// and where `bytes` are room enough are as large as chunks of the shape `target`, so that each of these is met once.
    pub(super) fn written_parts(&self, target: Option<&[u64]>, bytes: u64) -> Result<Parts> {
        let dims = Dims::from_slice(self.dataset.description.dataspace.dims());
        let stored = StoredParts::of(self.source, &self.dataset)?;
        let chunk =
            stored.as_ref().map_or_else(|| Dims::from_elem(1, dims.len()), |stored| stored.chunk.clone());
        let shape = grown(&chunk, target.unwrap_or(&chunk), self.element_bytes(), bytes);
        match stored {
            Some(stored) if self.sparse.skips_unwritten(&self.dataset.description) => {
                let number = |region: &Region| -> Dims {
                    region.start.iter().zip(&shape).map(|(start, size)| start / (*size).max(1)).collect()
                };
                let numbers: BTreeSet<Dims> = stored.regions.iter().map(number).collect();
                let boxes: Vec<Region> = numbers
                    .into_iter()
                    .map(|number| {
                        let start: Dims =
                            number.iter().zip(&shape).map(|(at, size)| at.saturating_mul(*size)).collect();
                        let left = start.iter().zip(&dims).map(|(start, dim)| dim.saturating_sub(*start));
                        let count = left.zip(&shape).map(|(left, size)| left.min(*size)).collect();
                        Region { start, count }
                    })
                    .collect();
                Ok(Parts::Stored(boxes.into_iter()))
            }
            _ => Ok(Parts::All(Boxes::new(&dims, &shape, self.element_bytes(), bytes))),
        }
    }
}

/// The shape of whole chunks side by side, up to another shape and to so many bytes, rows first; one chunk at least.
fn grown(chunk: &[u64], target: &[u64], element_size: u64, bytes: u64) -> Dims {
    let mut shape = Dims::from_slice(chunk);
    for (dimension, target) in target.iter().enumerate().rev() {
        let all = shape.iter().fold(element_size.max(1), |product, size| product.saturating_mul(*size));
        if let Some(size) = shape.get_mut(dimension) {
            let wanted = target.div_ceil((*size).max(1));
            *size = size.saturating_mul(wanted.min(bytes / all.max(1)).max(1));
        }
    }
    shape
}

/// Bytes that the defined elements of a chunk and their coordinates take, as its index entry says.
fn bytes_in_memory(form: &StructuredForm, location: &StructuredLocation) -> u64 {
    let Ok(sections) = form.sections_of(location) else { return location.size };
    let unfiltered = sections.0.iter().fold(0_u64, |sum, section| sum.saturating_add(section.unfiltered));
    let values = if form.kind.is_sparse() { sections.0.get(1) } else { None };
    let count =
        values.map_or(0, |values| values.unfiltered.checked_div(form.element_size as u64).unwrap_or(0));
    let coordinates = count.saturating_mul(form.grid.rank() as u64).saturating_mul(8);
    unfiltered.saturating_add(coordinates)
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
