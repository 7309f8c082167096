//! How the elements of a copied dataset are stored: as before, or as whoever copies wants it.

use std::sync::Arc;

use hyperslab_filter::Pipeline;
use hyperslab_format::codec::FileParams;
use hyperslab_format::message::{ChunkFlags, Layout, LinkPhaseChange, StructuredChunkType};

use super::super::{NewLayout, OpenFile};
use super::salvage::Salvage;
use crate::error::Result;
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use crate::versions::LibverBounds;

/// How a copied dataset is to be stored.
#[derive(Debug, Clone)]
pub struct NewStorage {
    /// Where its elements lie.
    pub layout: NewLayout,
    /// The filters of its chunks, with their parameters.
    pub pipeline: Pipeline,
    /// The filters of the sections of its structured chunks.
    pub section_pipelines: Vec<Pipeline>,
    /// An element, as the copy stores it, that counts as undefined where all elements were stored and the copy is
    /// sparse; it becomes the fill value. The fill value of the dataset if there is none.
    pub undefined: Option<Vec<u8>>,
}

impl NewStorage {
    /// Elements that pass no filters.
    pub fn unfiltered(layout: NewLayout) -> Self {
        Self { layout, pipeline: Pipeline::default(), section_pipelines: Vec::new(), undefined: None }
    }
}

/// A dataset that is about to be copied.
#[derive(Debug, Clone, Copy)]
pub struct StoredBefore<'a> {
    /// What its header says. The type is that which its copy will have.
    pub description: &'a DatasetDescription,
    /// Its path from the object that is copied; from the root if that is it.
    pub path: &'a str,
    /// The file that it is in.
    pub(super) file: &'a Arc<OpenFile>,
    /// Its header there.
    pub(super) header: &'a ObjectHeader,
    /// For which versions the copy is written, and how wide addresses and lengths are there.
    pub(super) target: (LibverBounds, FileParams),
}

/// Decides how datasets are stored in their new place, and is told how far the copy is.
pub trait CopyGuide {
    /// How the dataset shall be stored; `None` as it is.
    ///
    /// # Errors
    /// What makes it impossible, which ends the copy.
    fn storage(&self, dataset: StoredBefore<'_>) -> Result<Option<NewStorage>> {
        let _ = dataset;
        Ok(None)
    }

    /// Up to how many links groups keep in their headers, and below how many they come back to them; `None` as it is.
    fn link_phase_change(&self) -> Option<LinkPhaseChange> {
        None
    }

    /// So many bytes of raw data were copied.
    fn copied(&self, path: &str, bytes: u64) {
        let _ = (path, bytes);
    }

    /// Who is told what is left out of a damaged file; without one, damage ends the copy.
    fn salvage(&self) -> Option<&dyn Salvage> {
        None
    }
}

/// Everything stays as it is stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsStored;

impl CopyGuide for AsStored {}

/// Where the elements of a dataset lie, in the terms of a new one; mappings of virtual datasets are the caller's.
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
