//! The form, the source and the writer of a dataset in structured chunks.

use std::sync::Arc;

use hyperslab_format::codec::Address;
use hyperslab_format::message::StructuredChunkLayout;

use super::{OpenDataset, OpenFile};
use crate::data::chunk_index::{self, ChunkShape, StructuredIndexEditor};
use crate::data::structured::{StructuredFacts, StructuredForm, StructuredSource, StructuredWriter};
use crate::data::transfer::Fill;
use crate::error::{Error, Result};
use crate::object::container::Container;
use crate::object::dataset::{DatasetDescription, Filters};

/// How the chunks of a dataset are made up, and what their index depends on.
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
        fill: description.fill_element().map_or(Fill::ZERO, Fill::element),
    };
    let form = StructuredForm::new(container.store.params(), &facts).map_err(|error| error.at(owner))?;
    let size = u64::from(description.datatype.size);
    let shape = ChunkShape::of_structured(layout, &description.dataspace.max_dims(), size, form.filtered);
    Ok((form, shape))
}

/// The chunks of a dataset that is being written.
pub(super) fn structured_writer(
    file: &OpenFile,
    owner: Address,
    description: &DatasetDescription,
    layout: &StructuredChunkLayout,
) -> Result<StructuredWriter> {
    let (form, shape) = structured_form(&file.container, owner, description, layout)?;
    let table = StructuredIndexEditor::open(&file.container.store, layout, &shape)?;
    let limit = usize::try_from(file.resources.structured.capacity()).unwrap_or(usize::MAX);
    Ok(StructuredWriter::new(form, table, limit))
}

impl OpenDataset {
    /// The chunks of a dataset in structured chunks; `None` for others.
    ///
    /// # Errors
    /// If the layout contradicts the rest of the header, or the index is damaged.
    pub fn structured_chunks(&self, file: &OpenFile) -> Result<Option<Arc<StructuredSource>>> {
        let hyperslab_format::message::Layout::Structured(layout) = &self.description.layout.layout else {
            return Ok(None);
        };
        if let Some(source) = self.structured.get() {
            return Ok(Some(Arc::clone(source)));
        }
        let (form, shape) = structured_form(&file.container, self.address(), &self.description, layout)?;
        let index = chunk_index::open_structured(&file.container.store, layout, &shape)?;
        let source = Arc::new(StructuredSource { form, index });
        Ok(Some(Arc::clone(self.structured.get_or_init(|| source))))
    }
}
