//! Datasets that are, or become, sparse.

use hyperslab_dataspace::Dims;
use hyperslab_engine::format::{ChunkFlags, Layout, StructuredChunkType};
use hyperslab_engine::ops::datasets::{DatasetDescription, Filters};
use hyperslab_engine::ops::{NewLayout, NewStorage, StoredBefore};
use hyperslab_engine::{Error, Result};
use hyperslab_filter::{FilterId, FilterSpec, Pipeline};

use super::guide::{Guide, Wish, fitting, specs_of};
use crate::Datatype;
use crate::datatype::DatatypeClass;
use crate::datatype::convert::Conversions;
use crate::sparse::{Section, SectionFacts, SparseOptions};

/// Filters that take any bytes and give the same back.
const FOR_ANY_BYTES: [FilterId; 11] = [
    FilterId::DEFLATE,
    FilterId::SHUFFLE,
    FilterId::FLETCHER32,
    FilterId::LZF,
    FilterId::LZO,
    FilterId::LZ4,
    FilterId::ZSTD,
    FilterId::BZIP2,
    FilterId::BLOSC,
    FilterId::BLOSC2,
    FilterId::BITSHUFFLE,
];

/// An element of some type.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) datatype: Datatype,
    pub(super) bytes: Vec<u8>,
}

impl Value {
    /// The same in another type; why there is none, otherwise.
    fn in_type(&self, datatype: &Datatype) -> std::result::Result<Vec<u8>, String> {
        let other = || "the undefined value is none of its type".to_owned();
        if datatype.points_into_file() {
            return Err(other());
        }
        let convert = |from: &Datatype, to: &Datatype, bytes: &[u8]| -> Option<Vec<u8>> {
            let mut converted = vec![0; to.size as usize];
            Conversions::default().plan(from, to).ok()?.convert(bytes, &mut converted, 1).ok()?;
            Some(converted)
        };
        let element = convert(&self.datatype, datatype, &self.bytes).ok_or_else(other)?;
        // Floats are rounded; what is cut off on the way to other types does not come back.
        let is_rounded = matches!(datatype.class, DatatypeClass::FloatingPoint(_));
        let comes_back =
            || convert(datatype, &self.datatype, &element).is_some_and(|back| back == self.bytes);
        if is_rounded || comes_back() { Ok(element) } else { Err(other()) }
    }
}

/// Returns whether a dataset is in structured chunks.
pub(super) fn is_structured(before: &DatasetDescription) -> bool {
    matches!(before.layout.layout, Layout::Structured(_))
}

/// Returns whether only its defined elements are stored.
pub(super) fn is_sparse(before: &DatasetDescription) -> bool {
    matches!(&before.layout.layout, Layout::Structured(layout) if layout.chunk_type.contains(StructuredChunkType::SPARSE))
}

/// The filters of the values of structured chunks.
pub(super) fn filters_of_values(before: &DatasetDescription) -> Pipeline {
    filters_of(before, Section::Values)
}

/// The filters of one section, if there is such a section.
fn filters_of(before: &DatasetDescription, section: Section) -> Pipeline {
    let sections = Section::all(is_sparse(before), before.datatype.is_variable_length());
    let pipelines = before.section_pipelines();
    let found = sections.iter().zip(pipelines).find(|(other, _)| **other == section);
    found.map(|(_, pipeline)| pipeline).unwrap_or_default()
}

impl Guide<'_> {
    /// Only defined elements, in chunks of that shape.
    pub(super) fn sparse_layout(&self, chunk: Dims) -> NewLayout {
        let encoding = self.rules.encoding.map(crate::SelectionEncoding::stored);
        NewLayout::Structured { chunk, sparse: true, edges_unfiltered: false, encoding }
    }

    /// The same, in chunks whose shape the density chooses.
    pub(super) fn auto_sparse(&self, dataset: StoredBefore<'_>, density: Option<f64>) -> Result<Wish> {
        let before = dataset.description;
        let density = if let Some(density) = density {
            density
        } else if let Some(why) = self.unreadable(before) {
            return Ok(Wish::Refused(why));
        } else {
            let undefined = match self.undefined(dataset) {
                Ok(undefined) => undefined,
                Err(why) => return Ok(Wish::Refused(why)),
            };
            dataset.defined_share(undefined.as_deref())?
        };
        let chunk = SparseOptions::default().with_density(density).chunk_for(&before.dataspace)?;
        Ok(Wish::Layout(self.sparse_layout(chunk.into())))
    }

    /// Structured chunks as they were.
    pub(super) fn same_structured(&self, dataset: StoredBefore<'_>) -> Wish {
        let before = dataset.description;
        let Layout::Structured(layout) = &before.layout.layout else { return Wish::Stay };
        Wish::Layout(NewLayout::Structured {
            chunk: fitting(before, &layout.dims),
            sparse: is_sparse(before),
            edges_unfiltered: layout.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS),
            encoding: self.rules.encoding.map(crate::SelectionEncoding::stored),
        })
    }

    /// The element that counts as undefined, where another than the fill value does.
    fn undefined(&self, dataset: StoredBefore<'_>) -> std::result::Result<Option<Vec<u8>>, String> {
        let before = dataset.description;
        let found = self.rules.undefined.iter().rev().find(|(glob, _)| glob.matches(dataset.path));
        match found {
            Some((_, value)) if !is_sparse(before) => value.in_type(&before.datatype).map(Some),
            _ => Ok(None),
        }
    }

    /// Structured chunks with their filters.
    pub(super) fn structured(
        &self,
        dataset: StoredBefore<'_>,
        layout: NewLayout,
        specs: Option<&[FilterSpec]>,
    ) -> Result<Wish> {
        let before = dataset.description;
        let NewLayout::Structured { chunk, sparse, encoding, .. } = &layout else { return Ok(Wish::Stay) };
        let undefined = match self.undefined(dataset) {
            Ok(undefined) => undefined.filter(|_| *sparse),
            Err(why) => return Ok(Wish::Refused(why)),
        };
        let facts = SectionFacts {
            datatype: &before.datatype,
            chunk,
            sparse: *sparse,
            encoding: encoding.unwrap_or_default(),
            fill: &before.fill.value,
        };
        let filters = |section: Section| self.section_filters(dataset, section, specs);
        let section_pipelines = match facts.pipelines(&filters, self.target.container.store.filters()) {
            Ok(pipelines) => pipelines,
            Err(error) => return Ok(Wish::Refused(error.to_string())),
        };
        let storage = NewStorage { section_pipelines, undefined, ..NewStorage::unfiltered(layout) };
        match dataset.check(&storage) {
            Err(Error::Unsupported { what }) => Ok(Wish::Refused(format!("{what} cannot be written"))),
            outcome => outcome.map(|()| Wish::Storage(storage)),
        }
    }

    /// The filters that a section of a dataset shall pass.
    fn section_filters(
        &self,
        dataset: StoredBefore<'_>,
        section: Section,
        specs: Option<&[FilterSpec]>,
    ) -> Vec<FilterSpec> {
        let mut rules = self.rules.section_filters.iter().rev();
        if let Some((_, _, filters)) =
            rules.find(|(glob, other, _)| *other == section && glob.matches(dataset.path))
        {
            return filters.clone();
        }
        match (specs, &dataset.description.filters) {
            (Some(specs), _) => specs.to_vec(),
            (None, Filters::Sections(_)) => specs_of(&filters_of(dataset.description, section)),
            (None, Filters::Chunk(pipeline)) => {
                let mut filters = specs_of(pipeline);
                // Those for numbers are for elements only.
                filters.retain(|filter| section == Section::Values || FOR_ANY_BYTES.contains(&filter.id()));
                filters
            }
        }
    }
}
