//! The form of the structured chunks of one dataset: their sections, filters and metadata.

use hyperslab_dataspace::{ChunkGrid, DefinedBuilder, DefinedSet, Dims, Ordered, Region};
use hyperslab_datatype::Datatype;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::message::{
    ChunkFlags, FieldOrder, FilterPipeline, Filters as StoredFilters, StructuredChunkLayout,
    StructuredChunkType,
};
use hyperslab_format::structured_chunk::{DefinedEncoding, MetadataOrder};
use smallvec::SmallVec;

use super::VariableFields;
use crate::data::transfer::Fill;
use crate::error::{Error, Result};
use crate::index::fractal_heap::stages;

/// What the sections of a chunk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// Which elements are defined, and their values.
    Sparse,
    /// The same, and a heap of what the values hold.
    SparseVariable,
    /// All elements, and a heap of what they hold.
    DenseVariable,
}

/// A section of the chunks of one dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionForm {
    /// Its filters.
    pub pipeline: Pipeline,
    /// True if it ends with a checksum.
    pub checksum: bool,
    /// True if encoders seek runs of one byte only; `None` until the first chunks have shown what is better.
    pub runs_only: Option<bool>,
    /// True if small ones are encoded fast rather than well: the first chunks have shown that it costs little.
    pub fast: bool,
}

/// What a dataset's header says that matters to its chunks.
#[derive(Debug, Clone)]
pub struct StructuredFacts<'a> {
    /// The dataset's object header.
    pub owner: Address,
    /// The shape.
    pub dims: &'a [u64],
    /// Type of the elements.
    pub datatype: &'a Datatype,
    /// The layout message.
    pub layout: &'a StructuredChunkLayout,
    /// The filters of sections, if there are any.
    pub filters: Option<&'a FilterPipeline>,
    /// What undefined elements read as.
    pub fill: Fill,
}

/// How the chunks of a dataset are made up.
#[derive(Debug, Clone)]
pub struct StructuredForm {
    /// The dataset's object header.
    pub owner: Address,
    /// How chunks tile the dataset.
    pub grid: ChunkGrid,
    /// Bytes of an element.
    pub element_size: usize,
    /// What the sections are.
    pub kind: ChunkKind,
    /// The sections.
    pub sections: SmallVec<[SectionForm; 3]>,
    /// True if any section passes filters.
    pub filtered: bool,
    /// Chunks that reach beyond the extent pass no filters.
    pub edges_unfiltered: bool,
    /// Bytes of an offset in chunk metadata.
    pub offset_size: u8,
    /// Where the composition stands in the layout message: tells how metadata may be ordered.
    pub order: FieldOrder,
    /// Where elements hold what lies in the heap.
    pub variable: VariableFields,
    /// What undefined elements read as.
    pub fill: Fill,
    /// How the defined elements are written down; `None` for as chunks have it that are there.
    pub encoding: Option<DefinedEncoding>,
    /// Widths of the file.
    pub params: FileParams,
}

impl ChunkKind {
    /// The kind of chunks that a layout message speaks of, for elements that hold contents of variable length or not.
    fn of(layout: &StructuredChunkLayout, variable: bool) -> Result<Self> {
        let sparse = layout.chunk_type.contains(StructuredChunkType::SPARSE);
        let expected = |what: &str| {
            let got = format_args!("type {} with {} sections", layout.chunk_type.bits(), layout.sections);
            Error::corrupt("data layout message", "structured chunk type", what, got)
        };
        match (sparse, variable, layout.sections) {
            (true, false, 2) => Ok(Self::Sparse),
            (true, true, 3) => Ok(Self::SparseVariable),
            (false, true, 2) => Ok(Self::DenseVariable),
            (true, false, _) => Err(expected("2 sections for elements of fixed size")),
            (true, true, _) => Err(expected("3 sections for elements of variable length")),
            (false, ..) => Err(expected("sparse chunks, or 2 sections for elements of variable length")),
        }
    }

    /// Returns whether some elements may be undefined.
    pub fn is_sparse(self) -> bool {
        self != Self::DenseVariable
    }
}

impl StructuredForm {
    /// The form of the chunks of a dataset.
    ///
    /// # Errors
    /// A layout that contradicts the rest of the description; filters of sections that there are not.
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
        let grid = ChunkGrid::new(chunk, dims)
            .map_err(|error| corrupt("chunk dimensions", "a shape like the dataspace's".into(), &error))?;
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

    /// The elements of a chunk that lie in the dataset's extent, as a box within the chunk.
    ///
    /// # Errors
    /// If there is no such chunk.
    pub fn inside(&self, scaled: &[u64]) -> Result<Region> {
        let region = self.grid.region(scaled)?;
        Ok(Region { start: Dims::from_elem(0, region.count.len()), count: region.count })
    }

    /// Visits what is wanted of a chunk: first element in the chunk, number of elements, position in the selection.
    pub(in crate::data) fn for_each_run(
        &self,
        wanted: &Ordered,
        scaled: &[u64],
        mut visit: impl FnMut(u64, u64, u64) -> Result<()>,
    ) -> Result<()> {
        let (grid, inside) = (&self.grid, self.grid.region(scaled)?);
        wanted.within(&inside, |at, count, position| {
            let places = at.iter().zip(&inside.start).zip(grid.chunk());
            let offset = places.fold(0_u64, |sum, ((at, start), size)| sum * *size + (at - *start));
            visit(offset, count, position)
        })
    }

    /// The wanted elements of a chunk; `None` if all of it is wanted.
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

    /// As [`wanted_in`](Self::wanted_in), of a chunk with these elements: what is wanted besides them does not matter.
    pub(in crate::data) fn wanted_of(
        &self,
        wanted: &Ordered,
        scaled: &[u64],
        defined: &DefinedSet,
    ) -> Result<Option<DefinedSet>> {
        let inside = self.grid.region(scaled)?;
        let outer = inside.count.iter().rev().skip(1);
        // The rows are at most the elements of the chunk.
        let rows: u64 = outer.product();
        let Some(axes) = wanted.axes().filter(|_| defined.len() < rows) else {
            return self.wanted_in(wanted, scaled);
        };
        // Fewer elements than rows are asked one by one.
        let mut set = DefinedBuilder::with_capacity(self.grid.chunk(), 0)?;
        defined.for_each_offset(|offset| {
            let mut rest = offset;
            let places = axes.iter().zip(inside.start.iter().zip(self.grid.chunk())).rev();
            let is_wanted = places.fold(true, |so_far, (axis, (start, size))| {
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

    /// The wanted elements of a chunk.
    pub(in crate::data) fn selected_in(&self, wanted: &Ordered, scaled: &[u64]) -> Result<DefinedSet> {
        let mut set = DefinedBuilder::with_capacity(self.grid.chunk(), 0)?;
        let mut next = 0_u64;
        self.for_each_run(wanted, scaled, |offset, count, _| {
            // Points may be there more than once.
            if offset >= next {
                set.push_run(offset, count);
                next = offset + count;
            }
            Ok(())
        })?;
        Ok(set.finish()?)
    }

    /// Returns whether the sections of that chunk pass no filter although others do.
    pub(in crate::data) fn passes_no_filter(&self, scaled: &[u64]) -> Result<bool> {
        Ok(!self.filtered || (self.edges_unfiltered && self.grid.is_edge(scaled)?))
    }

    /// Returns whether there is only one order that the metadata of chunks can be in.
    pub fn has_one_metadata_order(&self) -> bool {
        self.metadata_orders().len() == 1
    }

    /// In which orders the metadata of filtered chunks may be.
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
    let StoredFilters::Sections(listed) = &message.filters else {
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
