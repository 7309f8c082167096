//! The properties of a dataset's chunks that its readers and its writer share.

use hyperslab_dataspace::ChunkGrid;
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkedLayout, StructuredChunkLayout};

use crate::data::chunk_index::{self, ChunkShape};
use crate::data::chunked::ChunkedSource;
use crate::data::structured::{StructuredFacts, StructuredForm};
use crate::data::transfer::FillElement;
use crate::error::{Error, Result};
use crate::object::container::Container;
use crate::object::dataset::{DatasetDescription, Filters};

/// Returns two values: the source from which reads of a dataset with flat (not structured) chunks
/// take elements, and the properties that determine the chunk index. The source has no chunk index
/// yet. `owner` is the address of the object header.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the chunk shape contradicts the dataspace, [`Error::Limit`] if a
/// chunk exceeds the limit, and [`Error::Unsupported`] if the filters are those of structured
/// chunks.
pub(super) fn chunked_source(
    container: &Container,
    owner: Address,
    description: &DatasetDescription,
    layout: &ChunkedLayout,
) -> Result<(ChunkedSource, ChunkShape)> {
    let Filters::Chunk(pipeline) = &description.filters else {
        return Err(Error::unsupported(
            "a filter pipeline for structured chunks on a dataset with ordinary chunks",
        ));
    };
    let dims = description.dataspace.dims();
    let grid = ChunkGrid::new(&layout.dims, dims).map_err(|error| {
        Error::corrupt(
            "data layout message",
            "chunk dimensions",
            "as many dimensions as the dataspace has, each of at least 1",
            error,
        )
    })?;
    let element_size = description.datatype.size as usize;
    let limit = container.store.limits().chunk_bytes;
    let elements = grid.elements_per_chunk()?;
    let Some(bytes) = elements.checked_mul(element_size as u64) else {
        return Err(Error::Limit { subject: "chunk: elements".into(), got: elements, limit });
    };
    if bytes > limit {
        return Err(Error::Limit { subject: "chunk: bytes".into(), got: bytes, limit });
    }
    let chunk_bytes = to_usize(bytes)?;
    let shape = ChunkShape {
        max_dims: description.dataspace.max_dims().to_vec(),
        chunk_bytes: bytes,
        btree_k: container.settings.indexed_storage_k,
        size_width: (!pipeline.is_empty())
            .then(|| chunk_index::size_width(description.layout.version, container.store.params(), bytes)),
    };
    let source = ChunkedSource {
        owner,
        grid,
        max_dims: description.dataspace.max_dims(),
        element_size,
        chunk_bytes,
        index: None,
        pipeline: pipeline.clone(),
        edges_unfiltered: layout.leaves_edges_unfiltered(),
        fill: description.fill_element().map_or(FillElement::ZERO, FillElement::element),
    };
    Ok((source, shape))
}

/// Returns the form of a dataset's structured chunks (the properties that their encoding needs),
/// and the properties that determine the chunk index.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the filters or the layout contradict the rest of the header.
pub(super) fn structured_form(
    container: &Container,
    owner: Address,
    description: &DatasetDescription,
    layout: &StructuredChunkLayout,
) -> Result<(StructuredForm, ChunkShape)> {
    let filters = match &description.filters {
        Filters::Sections(message) => Some(message),
        Filters::Chunk(pipeline) if pipeline.is_empty() => None,
        Filters::Chunk(_) => {
            let expected = "filters of sections for structured chunks";
            let got = "filters of whole chunks";
            return Err(Error::corrupt("filter pipeline message", "version", expected, got));
        }
    };
    let facts = StructuredFacts {
        owner,
        dims: description.dataspace.dims(),
        datatype: &description.datatype,
        layout,
        filters,
        fill: description.fill_element().map_or(FillElement::ZERO, FillElement::element),
    };
    let form = StructuredForm::new(container.store.params(), &facts).map_err(|error| error.at(owner))?;
    let size = u64::from(description.datatype.size);
    let shape = ChunkShape::of_structured(layout, &description.dataspace.max_dims(), size, form.filtered);
    Ok((form, shape))
}
