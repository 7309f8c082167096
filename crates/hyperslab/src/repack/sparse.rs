//! The storage of datasets that are or become sparse.

use hyperslab_dataspace::Dims;
use hyperslab_engine::format::{ChunkFlags, Layout, StructuredChunkType};
use hyperslab_engine::ops::datasets::{DatasetDescription, Filters};
use hyperslab_engine::ops::{NewLayout, NewStorage, StoredBefore};
use hyperslab_engine::{Error, Result};
use hyperslab_filter::{FilterId, FilterSpec, Pipeline};

use super::guide::{Guide, StorageChoice, fitting, specs_of};
use crate::Datatype;
use crate::datatype::DatatypeClass;
use crate::datatype::convert::Conversions;
use crate::sparse::{Fill, Section, SectionFacts, SparseOptions};

/// The identifiers of the lossless filters that accept chunks with any contents.
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

/// The bytes of one element, together with the datatype of the element.
#[derive(Debug, Clone)]
pub(super) struct TypedElement {
    pub(super) datatype: Datatype,
    pub(super) bytes: Vec<u8>,
}

impl TypedElement {
    /// Converts the element to the datatype `datatype`. Returns the bytes of the new element, or
    /// the reason why the conversion is not possible.
    fn in_type(&self, datatype: &Datatype) -> std::result::Result<Vec<u8>, String> {
        let other = || "the undefined value is not a value of the datatype".to_owned();
        if datatype.points_into_file() {
            return Err(other());
        }
        let convert = |from: &Datatype, to: &Datatype, bytes: &[u8]| -> Option<Vec<u8>> {
            let mut converted = vec![0; to.size as usize];
            Conversions::default().plan(from, to).ok()?.convert(bytes, &mut converted, 1).ok()?;
            Some(converted)
        };
        let element = convert(&self.datatype, datatype, &self.bytes).ok_or_else(other)?;
        // Rounding to a float is accepted. A conversion to another class must be exact, so that it
        // can be reversed.
        let is_float = matches!(datatype.class, DatatypeClass::FloatingPoint(_));
        let is_exact = || convert(datatype, &self.datatype, &element).is_some_and(|back| back == self.bytes);
        if is_float || is_exact() { Ok(element) } else { Err(other()) }
    }
}

/// Returns `true` if the source dataset of a repack is stored in structured chunks.
pub(super) fn is_structured(before: &DatasetDescription) -> bool {
    matches!(before.layout.layout, Layout::Structured(_))
}

/// Returns `true` if the source dataset of a repack stores only its defined elements.
pub(super) fn is_sparse(before: &DatasetDescription) -> bool {
    matches!(&before.layout.layout, Layout::Structured(layout) if layout.chunk_type.contains(StructuredChunkType::SPARSE))
}

/// Returns the filters of the section that contains the values, in the structured chunks of the
/// source dataset.
pub(super) fn filters_of_values(before: &DatasetDescription) -> Pipeline {
    filters_of(before, Section::Values)
}

/// Returns the filters of the section `section` in the structured chunks of the source dataset.
fn filters_of(before: &DatasetDescription, section: Section) -> Pipeline {
    let sections = Section::all(is_sparse(before), before.datatype.is_variable_length());
    let pipelines = before.section_pipelines();
    let found = sections.iter().zip(pipelines).find(|(other, _)| **other == section);
    // A missing section has no filters.
    found.map(|(_, pipeline)| pipeline).unwrap_or_default()
}

impl Guide<'_> {
    /// Returns the sparse layout for a repacked dataset, with the chunk shape `chunk`.
    pub(super) fn sparse_layout(&self, chunk: Dims) -> NewLayout {
        let encoding = self.rules.encoding.map(crate::SelectionEncoding::stored);
        NewLayout::Structured { chunk, sparse: true, edges_unfiltered: false, encoding }
    }

    /// Returns the new storage of a repacked dataset: the sparse layout with a chunk shape that
    /// hyperslab chooses from the density.
    pub(super) fn auto_sparse(
        &self,
        dataset: StoredBefore<'_>,
        density: Option<f64>,
    ) -> Result<StorageChoice> {
        let before = dataset.description;
        let density = if let Some(density) = density {
            density
        } else if let Some(why) = self.unreadable(before) {
            return Ok(StorageChoice::Refused(why));
        } else {
            let undefined = match self.undefined(dataset) {
                Ok(undefined) => undefined,
                Err(why) => return Ok(StorageChoice::Refused(why)),
            };
            dataset.defined_share(undefined.as_deref())?
        };
        let chunk = SparseOptions::default()
            .with_fill(Fill { density, occupied: 1.0 })
            .chunk_for(&before.dataspace)?;
        Ok(StorageChoice::Layout(self.sparse_layout(chunk.into())))
    }

    /// Returns the new storage of a repacked dataset that stays in structured chunks, with the
    /// chunk shape that it had before.
    pub(super) fn same_structured(&self, dataset: StoredBefore<'_>) -> StorageChoice {
        let before = dataset.description;
        let Layout::Structured(layout) = &before.layout.layout else { return StorageChoice::Keep };
        StorageChoice::Layout(NewLayout::Structured {
            chunk: fitting(before, &layout.dims),
            sparse: is_sparse(before),
            edges_unfiltered: layout.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS),
            encoding: self.rules.encoding.map(crate::SelectionEncoding::stored),
        })
    }

    /// Returns the bytes of the value that stands for undefined elements in a dataset that the
    /// repack makes sparse. Returns `None` if no repack rule sets such a value.
    fn undefined(&self, dataset: StoredBefore<'_>) -> std::result::Result<Option<Vec<u8>>, String> {
        let before = dataset.description;
        let found = self.rules.undefined.iter().rev().find(|(glob, _)| glob.matches(dataset.path));
        match found {
            Some((_, value)) if !is_sparse(before) => value.in_type(&before.datatype).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the new storage of a repacked dataset: a structured chunk layout with its filters.
    pub(super) fn structured(
        &self,
        dataset: StoredBefore<'_>,
        layout: NewLayout,
        specs: Option<&[FilterSpec]>,
    ) -> Result<StorageChoice> {
        let before = dataset.description;
        let NewLayout::Structured { chunk, sparse, encoding, .. } = &layout else {
            return Ok(StorageChoice::Keep);
        };
        let undefined = match self.undefined(dataset) {
            Ok(undefined) => undefined.filter(|_| *sparse),
            Err(why) => return Ok(StorageChoice::Refused(why)),
        };
        let facts = SectionFacts {
            datatype: &before.datatype,
            chunk,
            sparse: *sparse,
            // The encoding only affects the element size that filters get as a parameter, so the
            // default is sufficient.
            encoding: encoding.unwrap_or_default(),
            fill: &before.fill.value,
        };
        let filters = |section: Section| self.section_filters(dataset, section, specs);
        let section_pipelines = match facts.pipelines(&filters, &self.target.container.store.filters()) {
            Ok(pipelines) => pipelines,
            Err(error) => return Ok(StorageChoice::Refused(error.to_string())),
        };
        let storage = NewStorage { section_pipelines, undefined, ..NewStorage::unfiltered(layout) };
        match dataset.check(&storage) {
            Err(Error::Unsupported { subject }) => {
                Ok(StorageChoice::Refused(format!("{subject} cannot be written")))
            }
            outcome => outcome.map(|()| StorageChoice::Storage(storage)),
        }
    }

    /// Returns the filters that the repack rules choose for a section of a dataset's structured
    /// chunks.
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
                // Filters for numbers apply only to the values section.
                filters.retain(|filter| section == Section::Values || FOR_ANY_BYTES.contains(&filter.id()));
                filters
            }
        }
    }
}
