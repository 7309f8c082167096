//! The storage of copied datasets. It equals the storage of the original, or the guide of the copy
//! chooses it.

use std::sync::Arc;

use hyperslab_filter::Pipeline;
use hyperslab_format::codec::FileParams;
use hyperslab_format::message::{ChunkFlags, Layout, LinkPhaseChange, StructuredChunkType};
use hyperslab_format::structured_chunk::DefinedEncoding;

use super::super::{NewLayout, OpenFile};
use super::salvage::Salvage;
use crate::error::Result;
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use crate::versions::LibverBounds;

/// The storage of a dataset's copy: layout and filters.
#[derive(Debug, Clone)]
pub struct NewStorage {
    /// The layout.
    pub layout: NewLayout,
    /// The filters of the chunks, with their parameters.
    pub pipeline: Pipeline,
    /// The filters of the sections of structured chunks.
    pub section_pipelines: Vec<Pipeline>,
    /// The element that counts as undefined if the original is dense and the copy is sparse, in the
    /// form that the copy stores. It becomes the fill value of the copy. `None` for the fill value
    /// of the original.
    pub undefined: Option<Vec<u8>>,
}

impl NewStorage {
    /// Creates the storage of a dataset's copy without filters, from a layout.
    pub fn unfiltered(layout: NewLayout) -> Self {
        Self { layout, pipeline: Pipeline::default(), section_pipelines: Vec::new(), undefined: None }
    }
}

/// The description of a source dataset that a copy of objects is about to read.
#[derive(Debug, Clone, Copy)]
pub struct StoredBefore<'a> {
    /// The description in the header, with the datatype of the copy.
    pub description: &'a DatasetDescription,
    /// The path from the copied object; from the root if the copied object is the root.
    pub path: &'a str,
    /// The file of the dataset.
    pub(super) file: &'a Arc<OpenFile>,
    /// The header of the dataset.
    pub(super) header: &'a ObjectHeader,
    /// The version bounds, and the widths of addresses and lengths, of the target.
    pub(super) target: (LibverBounds, FileParams),
}

/// A trait of guides of a copy of objects. A guide chooses the storage of each copied dataset, and
/// receives reports on the progress of the copy.
pub trait CopyGuide {
    /// Returns the storage for the copy of the dataset `dataset`. `None` means that the copy has
    /// the storage of the original.
    ///
    /// # Errors
    /// Returns an error if the dataset cannot be copied. The error ends the copy.
    fn storage(&self, dataset: StoredBefore<'_>) -> Result<Option<NewStorage>> {
        let _ = dataset;
        Ok(None)
    }

    /// Returns the numbers of links at which copied groups change between compact and dense
    /// storage. `None` means that a copy has the numbers of the original.
    fn link_phase_change(&self) -> Option<LinkPhaseChange> {
        None
    }

    /// Reports to the guide of a copy that `bytes` bytes of raw data were copied.
    fn copied(&self, path: &str, bytes: u64) {
        let _ = (path, bytes);
    }

    /// Returns the receiver of a salvage's damage report. Without a receiver, damage ends the copy.
    fn salvage(&self) -> Option<&dyn Salvage> {
        None
    }
}

/// A guide for a copy of objects that keeps the storage of each original dataset.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsStored;

impl CopyGuide for AsStored {}

/// Returns the layout of a source dataset as the layout of a new dataset. Returns `None` for a
/// virtual dataset, because the caller copies the mappings.
pub(super) fn same_layout(description: &DatasetDescription) -> Option<NewLayout> {
    Some(match &description.layout.layout {
        Layout::Compact(_) => NewLayout::Compact,
        Layout::Contiguous(_) if description.external.is_empty() => NewLayout::Contiguous,
        Layout::Contiguous(_) => NewLayout::External(description.external.clone()),
        Layout::Chunked(chunked) => NewLayout::Chunked {
            chunk: chunked.dims.clone(),
            edges_unfiltered: chunked.leaves_edges_unfiltered(),
        },
        Layout::Structured(structured) => NewLayout::Structured {
            chunk: structured.dims.iter().take(description.dataspace.dims().len()).copied().collect(),
            sparse: structured.chunk_type.contains(StructuredChunkType::SPARSE),
            edges_unfiltered: structured.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS),
            encoding: None,
        },
        Layout::Virtual(_) => return None,
    })
}

/// The properties of a copied dataset with structured chunks that only the copy needs, because
/// object headers do not store them.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseCopy {
    /// The encoding of the defined elements; `None` for the encoding of the original.
    pub(super) encoding: Option<DefinedEncoding>,
    /// The element that counts as undefined; `None` for the fill value of the original.
    pub(super) undefined: Option<Vec<u8>>,
}

impl SparseCopy {
    /// Returns the properties of a dataset's copy in structured chunks, or `None` for other
    /// layouts.
    pub(super) fn of(storage: &NewStorage) -> Option<Self> {
        match &storage.layout {
            NewLayout::Structured { encoding, .. } => {
                Some(Self { encoding: *encoding, undefined: storage.undefined.clone() })
            }
            _ => None,
        }
    }

    /// Returns whether elements of the source dataset that were never written count as undefined in
    /// the copy.
    pub(super) fn skips_unwritten(&self, before: &DatasetDescription) -> bool {
        self.undefined.as_ref().is_none_or(|undefined| match before.fill_element() {
            Some(fill) => fill == undefined.as_slice(),
            None => undefined.iter().all(|byte| *byte == 0),
        })
    }
}
