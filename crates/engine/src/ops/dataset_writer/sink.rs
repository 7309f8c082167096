//! The choice of the sink of a dataset by its layout.

use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{AllocationTime, FillWriteTime, Layout, StructuredChunkLayout};

use super::super::chunk_forms::{chunked_source, structured_form};
use super::super::raw_files::RawFiles;
use super::WriterContext;
use crate::data::chunk_index::{self, BufferedTable, StructuredIndexEditor};
use crate::data::chunked::{ChunkWriter, ChunkedSink};
use crate::data::linear::{CompactSink, ContiguousSink, ExternalSink};
use crate::data::structured::StructuredWriter;
use crate::data::transfer::{FillElement, Sink};
use crate::data::virtual_::VirtualSink;
use crate::error::Result;
use crate::object::dataset::{DatasetDescription, StoredFillValue};

/// The sink of a dataset: its storage, open for writes of elements. The variants are layouts.
/// Chunked storage has more operations than the other layouts.
#[derive(Debug)]
pub(in crate::ops) enum DatasetSink {
    /// Flat chunks.
    Chunked(ChunkedSink),
    /// Structured chunks.
    Structured(Box<StructuredWriter>),
    /// All other layouts.
    Other(Box<dyn Sink>),
}

impl DatasetSink {
    /// Opens the storage of the dataset with the object header at `address` for writes.
    ///
    /// # Errors
    /// Returns an error if the index of the chunks is damaged, or the layout cannot be written.
    pub(super) fn open(
        file: WriterContext<'_>,
        address: Address,
        description: &DatasetDescription,
    ) -> Result<Self> {
        let dims = Dims::from_slice(description.dataspace.dims());
        Ok(match &description.layout.layout {
            _ if !description.external.is_empty() => {
                let pieces = description.external.iter();
                let pieces = pieces.map(|piece| (piece.file.clone(), piece.offset, piece.size)).collect();
                let files = Arc::new(RawFiles::to_write(file.raw_files, file.raw_folders, address));
                Self::Other(Box::new(ExternalSink { dims, pieces, files }))
            }
            Layout::Chunked(layout) => {
                let (source, shape) = chunked_source(file.container, address, description, layout)?;
                let table = chunk_index::open_table(&file.container.store, layout, &shape)?;
                let limit = to_usize(file.resources.chunks.capacity())?;
                Self::Chunked(ChunkedSink {
                    writer: ChunkWriter::new(source, limit),
                    table: Box::new(BufferedTable::new(table)),
                    allocates_late: description.fill.allocation_time == AllocationTime::LATE,
                    fills: writes_fill(description),
                })
            }
            Layout::Structured(layout) => {
                Self::Structured(Box::new(structured_writer(file, address, description, layout)?))
            }
            Layout::Compact(_) => Self::Other(Box::new(CompactSink { dims })),
            Layout::Contiguous(_) => Self::Other(Box::new(ContiguousSink {
                dims,
                elements: description.dataspace.element_count(),
                element_size: description.datatype.size,
                fill: description.fill_element().map_or(FillElement::ZERO, FillElement::element),
                fills: writes_fill(description),
            })),
            Layout::Virtual(_) => Self::Other(Box::new(VirtualSink)),
        })
    }

    /// Returns the sink of a dataset (its storage, open for writes of elements) in a form that is
    /// independent of the layout.
    pub(in crate::ops) fn get(&self) -> &dyn Sink {
        match self {
            Self::Chunked(sink) => sink,
            Self::Structured(sink) => &**sink,
            Self::Other(sink) => &**sink,
        }
    }

    /// Returns changeable access to the sink of a dataset (its storage, open for writes of
    /// elements) in a form that is independent of the layout.
    pub(super) fn get_mut(&mut self) -> &mut dyn Sink {
        match self {
            Self::Chunked(sink) => sink,
            Self::Structured(sink) => &mut **sink,
            Self::Other(sink) => &mut **sink,
        }
    }
}

/// Returns whether newly allocated file space of a dataset gets fill values.
fn writes_fill(description: &DatasetDescription) -> bool {
    let fill = &description.fill;
    match fill.write_time {
        FillWriteTime::ON_ALLOCATION => true,
        FillWriteTime::IF_SET => fill.value != StoredFillValue::Undefined,
        _ => false,
    }
}

/// Returns the writer of the structured chunks of the dataset with the object header at `owner`.
fn structured_writer(
    file: WriterContext<'_>,
    owner: Address,
    description: &DatasetDescription,
    layout: &StructuredChunkLayout,
) -> Result<StructuredWriter> {
    let (form, shape) = structured_form(file.container, owner, description, layout)?;
    let table = StructuredIndexEditor::open(&file.container.store, layout, &shape)?;
    let limit = to_usize(file.resources.structured.capacity())?;
    Ok(StructuredWriter::new(form, table, limit))
}
