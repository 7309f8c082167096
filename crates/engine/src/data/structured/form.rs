//! The form of the structured chunks of a dataset: their sections, filters and metadata.

use hyperslab_dataspace::{Axis, ChunkGrid, DefinedBuilder, DefinedSet, Dims, Ordered, Region};
use hyperslab_datatype::Datatype;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::message::{
    ChunkFlags, FieldOrder, FilterDescriptions, FilterPipeline, StructuredChunkLayout, StructuredChunkType,
};
use hyperslab_format::structured_chunk::{DefinedEncoding, MetadataOrder};
use smallvec::SmallVec;

use super::VariableFields;
use crate::data::transfer::FillElement;
use crate::error::{Error, Result};
use crate::index::fractal_heap::stages;
use crate::store::Store;

/// The kind of a structured chunk, which determines its sections: sparse, sparse with
/// variable-length data, or dense with variable-length data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// The set of defined elements, and their values.
    Sparse,
    /// The set of defined elements, their values, and a heap with the variable-length data of the
    /// values.
    SparseVariable,
    /// All elements, and a heap with their variable-length data.
    DenseVariable,
}

/// The properties of one section of structured chunks, for example the first one. All structured
/// chunks of a dataset share these properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionForm {
    /// The filter pipeline of the section.
    pub pipeline: Pipeline,
    /// True if the section ends with a checksum.
    pub checksum: bool,
    /// True if encoders search only for repetitions of one byte. `None` until the first chunks show
    /// which search is better.
    pub runs_only: Option<bool>,
    /// True if small sections are encoded with the fastest level, because the first chunks became
    /// only slightly larger with that level.
    pub fast: bool,
}

/// The facts about a dataset that determine the form of its structured chunks: the shape, the
/// datatype and other properties from the object header.
#[derive(Debug, Clone)]
pub struct StructuredFacts<'a> {
    /// The address of the dataset's object header.
    pub owner: Address,
    /// The shape.
    pub dims: &'a [u64],
    /// The type of the elements.
    pub datatype: &'a Datatype,
    /// The layout message.
    pub layout: &'a StructuredChunkLayout,
    /// The filter pipelines of the sections, if there are any.
    pub filters: Option<&'a FilterPipeline>,
    /// The value of undefined elements.
    pub fill: FillElement,
}

/// The form that all structured chunks of one dataset share: shape, element size, sections and
/// filters.
#[derive(Debug, Clone)]
pub struct StructuredForm {
    /// The address of the dataset's object header.
    pub owner: Address,
    /// The division of the dataset into chunks.
    pub grid: ChunkGrid,
    /// The number of bytes of an element.
    pub element_size: usize,
    /// The kind of the chunks.
    pub kind: ChunkKind,
    /// The sections.
    pub sections: SmallVec<[SectionForm; 3]>,
    /// True if any section is filtered.
    pub filtered: bool,
    /// True if partial chunks at the edge are not filtered.
    pub edges_unfiltered: bool,
    /// The number of bytes of an offset in chunk metadata.
    pub offset_size: u8,
    /// The position of the composition field in the layout message. It determines the order of
    /// chunk metadata.
    pub order: FieldOrder,
    /// The positions of variable-length data in an element.
    pub variable: VariableFields,
    /// The value of undefined elements.
    pub fill: FillElement,
    /// The encoding of defined elements; `None` until the writer has chosen it.
    pub encoding: Option<DefinedEncoding>,
    /// The widths of addresses and lengths in the file.
    pub params: FileParams,
}

impl ChunkKind {
    /// Returns the kind of structured chunk that the layout message of a dataset describes.
    /// `variable` is true if the elements have variable-length data.
    fn of(layout: &StructuredChunkLayout, variable: bool) -> Result<Self> {
        let sparse = layout.chunk_type.contains(StructuredChunkType::SPARSE);
        let expected = |subject: &str| {
            let got = format_args!("type {} with {} sections", layout.chunk_type.bits(), layout.sections);
            Error::corrupt("data layout message", "structured chunk type", subject, got)
        };
        match (sparse, variable, layout.sections) {
            (true, false, 2) => Ok(Self::Sparse),
            (true, true, 3) => Ok(Self::SparseVariable),
            (false, true, 2) => Ok(Self::DenseVariable),
            (true, false, _) => Err(expected("2 sections for elements of fixed size")),
            (true, true, _) => Err(expected("3 sections for variable-length elements")),
            (false, ..) => Err(expected("sparse chunks, or 2 sections for variable-length elements")),
        }
    }

    /// Returns whether the structured chunks of a dataset are sparse. In sparse chunks, elements
    /// may be undefined.
    pub fn is_sparse(self) -> bool {
        self != Self::DenseVariable
    }
}

impl StructuredForm {
    /// Creates the description of the form of a dataset's structured chunks.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the layout contradicts the rest of the description, or if a
    /// section with filters does not exist.
    pub fn new(params: FileParams, facts: &StructuredFacts<'_>) -> Result<Self> {
        let StructuredFacts { dims, layout, datatype, .. } = *facts;
        let corrupt = |field, expected: String, got: &dyn std::fmt::Display| {
            Error::corrupt("data layout message", field, expected, got)
        };
        let size = u64::from(datatype.size);
        let chunk = match layout.dims.split_last() {
            Some((element, chunk)) if layout.dims.len() == dims.len() + 1 => {
                if *element != size {
                    return Err(corrupt("element size", format!("the datatype's {size}"), element));
                }
                chunk
            }
            _ if layout.dims.len() == dims.len() => &layout.dims,
            _ => {
                let expected = format!("{} for a dataspace of rank {}", dims.len() + 1, dims.len());
                return Err(corrupt("dimensionality", expected, &layout.dims.len()));
            }
        };
        let grid = ChunkGrid::new(chunk, dims).map_err(|error| {
            corrupt(
                "chunk dimensions",
                "as many dimensions as the dataspace has, each of at least 1".into(),
                &error,
            )
        })?;
        grid.elements_per_chunk()?;
        let kind = ChunkKind::of(layout, datatype.is_variable_length())?;
        let sections = sections(layout, facts.filters)?;
        let filtered = sections.iter().any(|section| !section.pipeline.is_empty());
        Ok(Self {
            owner: facts.owner,
            grid,
            element_size: datatype.size as usize,
            kind,
            filtered,
            sections,
            edges_unfiltered: layout.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS),
            offset_size: layout.offset_size,
            order: layout.order,
            variable: VariableFields::of(datatype)?,
            fill: facts.fill.clone(),
            encoding: None,
            params,
        })
    }

    /// Returns the part of a structured chunk that lies inside the shape of the dataset, as a box
    /// relative to the chunk's first element.
    ///
    /// # Errors
    /// Returns an error if there is no such chunk.
    pub fn inside(&self, scaled: &[u64]) -> Result<Region> {
        let region = self.grid.region(scaled)?;
        Ok(Region { start: Dims::from_elem(0, region.count.len()), count: region.count })
    }

    /// Calls `visit` for each run of selected elements in a structured chunk, with three values:
    /// the offset of the first element in the chunk, the number of elements, and the index of the
    /// first element in the selection.
    pub(in crate::data) fn for_each_run(
        &self,
        wanted: &Ordered,
        scaled: &[u64],
        mut visit: impl FnMut(u64, u64, u64) -> Result<()>,
    ) -> Result<()> {
        let (grid, inside) = (&self.grid, self.grid.region(scaled)?);
        wanted.within(&inside, |at, count, position| {
            let locations = at.iter().zip(&inside.start).zip(grid.chunk());
            let offset = locations.fold(0_u64, |sum, ((at, start), size)| sum * *size + (at - *start));
            visit(offset, count, position)
        })
    }

    /// Returns the set of wanted elements of a structured chunk, which are the elements in the
    /// selection of a read. Returns `None` if the selection contains the whole chunk.
    pub(in crate::data) fn wanted_in(&self, wanted: &Ordered, scaled: &[u64]) -> Result<Option<DefinedSet>> {
        let inside = self.grid.region(scaled)?;
        let whole = wanted.axes().is_some_and(|axes| {
            axes.iter().zip(inside.bounds()).all(|(axis, (from, to))| {
                let mut runs = axis.runs_within(from, to);
                runs.next().is_some_and(|run| run.length >= to - from) && runs.next().is_none()
            })
        });
        if whole {
            return Ok(None);
        }
        self.selected_in(wanted, scaled).map(Some)
    }

    /// Returns the set of wanted elements of a structured chunk with the defined elements
    /// `defined`. Wanted elements are the elements in the selection of a read. The set may lack
    /// undefined elements. Returns `None` if the selection contains the whole chunk.
    pub(in crate::data) fn wanted_of(
        &self,
        wanted: &Ordered,
        scaled: &[u64],
        defined: &DefinedSet,
    ) -> Result<Option<DefinedSet>> {
        let inside = self.grid.region(scaled)?;
        let Some(axes) = wanted.axes().filter(|axes| has_more_rows(axes, &inside, defined.len())) else {
            return self.wanted_in(wanted, scaled);
        };
        if let Some(ranges) = ranges_in(axes, &inside) {
            return Ok(Some(defined.within(&ranges)?));
        }
        // If there are few elements, each element is tested.
        let mut set = DefinedBuilder::with_capacity(self.grid.chunk(), 0)?;
        defined.for_each_offset(|offset| {
            let mut rest = offset;
            let locations = axes.iter().zip(inside.start.iter().zip(self.grid.chunk())).rev();
            let is_wanted = locations.fold(true, |so_far, (axis, (start, size))| {
                let at = start.checked_add(rest % (*size).max(1));
                let ends = at.and_then(|at| Some((at, at.checked_add(1)?)));
                rest /= (*size).max(1);
                so_far && ends.is_some_and(|(at, end)| axis.runs_within(at, end).next().is_some())
            });
            if is_wanted {
                set.push(offset);
            }
        });
        Ok(Some(set.finish()?))
    }

    /// Returns the set of elements of a structured chunk that a selection contains.
    pub(in crate::data) fn selected_in(&self, wanted: &Ordered, scaled: &[u64]) -> Result<DefinedSet> {
        let mut set = DefinedBuilder::with_capacity(self.grid.chunk(), 0)?;
        let mut next = 0_u64;
        self.for_each_run(wanted, scaled, |offset, count, _| {
            // Points may repeat.
            if offset >= next {
                set.push_run(offset, count);
                next = offset + count;
            }
            Ok(())
        })?;
        Ok(set.finish()?)
    }

    /// Returns whether several threads may encode or decode chunks at the same time: whether the
    /// filters of all sections allow it.
    pub(in crate::data) fn allows_threads(&self, store: &Store) -> bool {
        let filters = store.filters();
        self.sections.iter().all(|section| section.pipeline.allows_threads(&filters))
    }

    /// Returns whether no section of the structured chunk with the given coordinates passes through
    /// a filter.
    pub(in crate::data) fn passes_no_filter(&self, scaled: &[u64]) -> Result<bool> {
        Ok(!self.filtered || (self.edges_unfiltered && self.grid.is_edge(scaled)?))
    }

    /// Returns whether the metadata of a dataset's structured chunks can have only one order of
    /// fields.
    pub fn has_one_metadata_order(&self) -> bool {
        self.metadata_orders().len() == 1
    }

    /// Returns the orders that the fields in the stored metadata of a structured chunk can have.
    pub(in crate::data) fn metadata_orders(&self) -> &'static [Option<MetadataOrder>] {
        match (self.filtered, self.order) {
            (false, _) => &[None],
            (true, FieldOrder::CompositionFirst) => &[Some(MetadataOrder::OffsetsFirst)],
            (true, FieldOrder::CompositionLast) => {
                &[Some(MetadataOrder::OffsetsFirst), Some(MetadataOrder::MasksFirst)]
            }
        }
    }
}

/// Returns whether a box of a selection contains more rows of selected elements than `count`. All
/// elements of a row differ only in the last coordinate. `axes` are the selected coordinates of
/// each dimension.
fn has_more_rows(axes: &[Axis], inside: &Region, count: u64) -> bool {
    let outer = axes.len().checked_sub(1);
    let bounds = axes.iter().zip(inside.bounds()).take(outer.unwrap_or(0));
    let mut rows = 1_u64;
    for (axis, (from, to)) in bounds {
        let mut selected = 0_u64;
        for run in axis.runs_within(from, to) {
            selected += run.length;
            if selected > count {
                break;
            }
        }
        // The number of rows is at most the number of elements in the chunk, which fits in 64 bits.
        rows *= selected;
    }
    rows > count
}

/// Returns the selected coordinates of each dimension inside a structured chunk, from the first
/// number to before the second, counted from the chunk's first element. Returns `None` if the
/// coordinates of a dimension have gaps. `axes` are the selected coordinates of each dimension.
fn ranges_in(axes: &[Axis], inside: &Region) -> Option<SmallVec<[(u64, u64); 4]>> {
    let bounds = axes.iter().zip(inside.bounds());
    bounds
        .map(|(axis, (from, to))| {
            let mut runs = axis.runs_within(from, to);
            let run = runs.next()?;
            let start = run.start.checked_sub(from)?;
            runs.next().is_none().then_some((start, start + run.length))
        })
        .collect()
}

fn sections(
    layout: &StructuredChunkLayout,
    filters: Option<&FilterPipeline>,
) -> Result<SmallVec<[SectionForm; 3]>> {
    let none = SectionForm { pipeline: Pipeline::default(), checksum: false, runs_only: None, fast: false };
    let mut sections: SmallVec<[SectionForm; 3]> = SmallVec::from_elem(none, layout.sections.into());
    for section in &layout.metadata_sections {
        if let Some(form) = sections.get_mut(usize::from(*section)) {
            form.checksum = true;
        }
    }
    let Some(message) = filters else { return Ok(sections) };
    let FilterDescriptions::Sections(listed) = &message.filters else {
        let expected = "filters of sections for structured chunks";
        return Err(Error::corrupt(
            "filter pipeline message",
            "version",
            expected,
            "filters of whole chunks",
        ));
    };
    for section in listed {
        let Some(form) = sections.get_mut(usize::from(section.section)) else {
            let expected = format!("a section below {}", layout.sections);
            return Err(Error::corrupt(
                "filter pipeline message",
                "section number",
                expected,
                section.section,
            ));
        };
        form.pipeline = stages(&section.filters);
    }
    Ok(sections)
}
