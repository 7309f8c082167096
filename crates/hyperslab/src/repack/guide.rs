//! The storage of each dataset in the new file, by the patterns that match its path.

use std::cell::{Cell, RefCell};

use hyperslab_dataspace::{Dataspace, Dims};
use hyperslab_engine::Result;
use hyperslab_engine::format::{Layout, LinkPhaseChange};
use hyperslab_engine::ops::datasets::{DatasetDescription, Filters, StoredFillValue};
use hyperslab_engine::ops::{CopyGuide, MAX_COMPACT, NewLayout, NewStorage, OpenFile, StoredBefore};
use hyperslab_filter::{DatasetFacts, DatasetFill, FilterSpec, Pipeline};

use super::{Repack, RepackLayout, Repacked, sparse};
use crate::dataset::auto_chunk;

/// The decisions of a repack about the storage of datasets: the caller's rules, and a record of
/// their effects.
pub(super) struct Guide<'r> {
    pub(super) rules: &'r Repack<'r>,
    source: &'r OpenFile,
    pub(super) target: &'r OpenFile,
    kept: RefCell<Vec<(String, String)>>,
    bytes: Cell<u64>,
}

impl<'r> Guide<'r> {
    pub(super) fn new(rules: &'r Repack<'r>, source: &'r OpenFile, target: &'r OpenFile) -> Self {
        Self { rules, source, target, kept: RefCell::default(), bytes: Cell::new(0) }
    }

    pub(super) fn outcome(self) -> Repacked {
        Repacked { kept: self.kept.into_inner(), bytes: self.bytes.get() }
    }

    /// Returns the reason why the elements of a dataset under repack cannot be decoded, or `None`
    /// if decoding is possible. Elements that cannot be decoded cannot be stored in another layout.
    pub(super) fn unreadable(&self, description: &DatasetDescription) -> Option<String> {
        let missing = |pipeline: &Pipeline| {
            let filters = self.source.container.store.filters();
            let missing = pipeline.missing(&filters).next()?;
            Some(format!("the filter {} is not available", missing.id.0))
        };
        match &description.filters {
            Filters::Chunk(pipeline) => missing(pipeline),
            Filters::Sections(_) => description.section_pipelines().iter().find_map(missing),
        }
    }

    /// Returns the new storage of a dataset for the layout `wanted` that a repack rule requests.
    fn layout(
        &self,
        wanted: &RepackLayout,
        dataset: StoredBefore<'_>,
        filtered: bool,
    ) -> Result<StorageChoice> {
        let before = dataset.description;
        let Dataspace::Simple(extent) = &before.dataspace else {
            return Ok(match (&before.dataspace, wanted) {
                (Dataspace::Scalar, RepackLayout::Contiguous) => StorageChoice::Layout(NewLayout::Contiguous),
                (Dataspace::Scalar, RepackLayout::Compact) => compact(before),
                // Null and scalar datasets keep their storage without a notice.
                _ => StorageChoice::Keep,
            });
        };
        let size = u64::from(before.datatype.size);
        let auto = || -> Result<StorageChoice> {
            let chunk = auto_chunk(&before.dataspace, size)?;
            Ok(StorageChoice::Layout(NewLayout::Chunked { chunk: chunk.into(), edges_unfiltered: false }))
        };
        Ok(match wanted {
            RepackLayout::Compact => compact(before),
            RepackLayout::AutoChunked => auto()?,
            RepackLayout::Auto if sparse::is_sparse(before) => self.layout_for_filters(dataset, filtered)?,
            RepackLayout::AutoSparse { density } => self.auto_sparse(dataset, *density)?,
            RepackLayout::Auto if filtered || before.dataspace.is_extendible() => auto()?,
            RepackLayout::Auto | RepackLayout::Contiguous => StorageChoice::Layout(NewLayout::Contiguous),
            RepackLayout::Chunked(shape) | RepackLayout::Sparse(shape)
                if shape.len() != extent.dims.len() =>
            {
                StorageChoice::Refused(format!(
                    "the dataset has {} dimensions, the chunk {}",
                    extent.dims.len(),
                    shape.len()
                ))
            }
            RepackLayout::Chunked(shape) => {
                let chunk = fitting(before, shape);
                StorageChoice::Layout(NewLayout::Chunked { chunk, edges_unfiltered: false })
            }
            RepackLayout::Sparse(shape) => StorageChoice::Layout(self.sparse_layout(fitting(before, shape))),
        })
    }

    /// Returns the new storage that the repack rules choose for a dataset.
    fn storage_of(&self, dataset: StoredBefore<'_>) -> Result<StorageChoice> {
        let before = dataset.description;
        let layout = self.rules.layouts.iter().rev().find(|(glob, _)| glob.matches(dataset.path));
        let size = u64::from(before.datatype.size);
        let bytes = before.dataspace.element_count().and_then(|count| count.checked_mul(size));
        let filters = self.rules.filters.iter().rev().find(|(glob, _)| glob.matches(dataset.path));
        let filters = filters.filter(|_| bytes.is_none_or(|bytes| bytes >= self.rules.least_filtered));
        let sections = sparse::is_structured(before)
            && (self.rules.encoding.is_some()
                || self.rules.section_filters.iter().any(|(glob, ..)| glob.matches(dataset.path)));
        if layout.is_none() && filters.is_none() && !sections {
            return Ok(StorageChoice::Keep);
        }
        let specs = filters.map(|(_, specs)| specs.as_slice());
        let filtered = specs.is_some_and(|specs| !specs.is_empty());
        let choice = match layout {
            Some((_, wanted)) => self.layout(wanted, dataset, filtered)?,
            None => self.layout_for_filters(dataset, filtered)?,
        };
        let StorageChoice::Layout(layout) = choice else { return Ok(choice) };
        if let Some(why) = self.unreadable(before) {
            return Ok(StorageChoice::Refused(why));
        }
        if matches!(layout, NewLayout::Structured { .. }) {
            return self.structured(dataset, layout, specs);
        }
        self.with_filters(before, layout, specs)
    }

    /// Returns the layout that a repacked dataset needs for its filters. Chunked datasets and
    /// datasets with structured chunks keep their layout. Other datasets become chunked if they get
    /// filters, and otherwise keep their storage.
    fn layout_for_filters(&self, dataset: StoredBefore<'_>, filtered: bool) -> Result<StorageChoice> {
        match &dataset.description.layout.layout {
            Layout::Chunked(chunked) => Ok(StorageChoice::Layout(NewLayout::Chunked {
                chunk: chunked.dims.clone(),
                edges_unfiltered: chunked.leaves_edges_unfiltered(),
            })),
            Layout::Structured(_) => Ok(self.same_structured(dataset)),
            _ if filtered => self.layout(&RepackLayout::AutoChunked, dataset, true),
            _ => Ok(StorageChoice::Keep),
        }
    }

    /// Returns the new storage of a repacked dataset in chunked layout, with the filters that the
    /// repack rules choose.
    fn with_filters(
        &self,
        before: &DatasetDescription,
        layout: NewLayout,
        specs: Option<&[FilterSpec]>,
    ) -> Result<StorageChoice> {
        let NewLayout::Chunked { chunk, .. } = &layout else {
            return Ok(StorageChoice::Storage(NewStorage::unfiltered(layout)));
        };
        let pipeline = match (specs, &before.filters) {
            (Some(specs), _) => {
                let fill = match &before.fill.value {
                    StoredFillValue::Undefined => DatasetFill::Undefined,
                    StoredFillValue::Default => DatasetFill::Default,
                    StoredFillValue::User(element) => DatasetFill::Element(element),
                };
                let facts = DatasetFacts::new(&before.datatype, chunk).with_fill(fill);
                match Pipeline::for_dataset(specs, &facts, &self.target.container.store.filters()) {
                    Ok(pipeline) => pipeline,
                    Err(error) => return Ok(StorageChoice::Refused(error.to_string())),
                }
            }
            // The parameters of some filters depend on the chunk shape. A pipeline is kept only for
            // the same shape.
            (None, Filters::Chunk(pipeline)) if same_chunk(before, chunk) => pipeline.clone(),
            (None, filters) => {
                let pipeline = match filters {
                    Filters::Chunk(pipeline) => pipeline.clone(),
                    Filters::Sections(_) => sparse::filters_of_values(before),
                };
                match self.rebuilt(before, chunk, &pipeline) {
                    Ok(pipeline) => pipeline,
                    Err(why) => return Ok(StorageChoice::Refused(why)),
                }
            }
        };
        Ok(StorageChoice::Storage(NewStorage { pipeline, ..NewStorage::unfiltered(layout) }))
    }

    /// Returns the filter pipeline of a dataset for a repack, with the same filters as before and
    /// with their parameters rebuilt for the new chunk shape.
    fn rebuilt(
        &self,
        before: &DatasetDescription,
        chunk: &[u64],
        pipeline: &Pipeline,
    ) -> std::result::Result<Pipeline, String> {
        let specs = specs_of(pipeline);
        let facts = DatasetFacts::new(&before.datatype, chunk);
        Pipeline::for_dataset(&specs, &facts, &self.target.container.store.filters())
            .map_err(|error| error.to_string())
    }
}

/// Returns the specifications from which the filters of a filter pipeline can be created again.
pub(crate) fn specs_of(pipeline: &Pipeline) -> Vec<FilterSpec> {
    let stages = pipeline.stages.iter().map(|stage| {
        let client_data = stage.client_data.clone();
        FilterSpec::custom(stage.id, stage.flags, client_data, stage.name.clone())
    });
    stages.collect()
}

/// Returns a chunk shape that fits the repacked dataset: the shape `shape`, with each side limited
/// to the largest size of the dimension.
pub(super) fn fitting(before: &DatasetDescription, shape: &[u64]) -> Dims {
    let maximum = before.dataspace.max_dims();
    let fit =
        |(size, maximum): (&u64, Option<u64>)| maximum.map_or(*size, |maximum| (*size).min(maximum.max(1)));
    shape.iter().zip(maximum).map(fit).collect()
}

/// The new storage that the repack rules choose for a dataset.
pub(super) enum StorageChoice {
    /// Keep the storage.
    Keep,
    /// The requested storage is not possible, for this reason.
    Refused(String),
    /// A layout whose filters are not chosen yet.
    Layout(NewLayout),
    /// A layout with its filters.
    Storage(NewStorage),
}

/// Returns the compact layout as the new storage of a dataset. Returns a refusal if the elements do
/// not fit into an object header.
fn compact(before: &DatasetDescription) -> StorageChoice {
    let bytes = before.dataspace.element_count();
    let bytes = bytes.and_then(|count| count.checked_mul(u64::from(before.datatype.size)));
    match bytes {
        Some(bytes) if bytes <= MAX_COMPACT => StorageChoice::Layout(NewLayout::Compact),
        _ => StorageChoice::Refused(format!("the dataset has more than {MAX_COMPACT} bytes")),
    }
}

fn same_chunk(before: &DatasetDescription, chunk: &[u64]) -> bool {
    matches!(&before.layout.layout, Layout::Chunked(chunked) if chunked.dims.as_slice() == chunk)
}

impl CopyGuide for Guide<'_> {
    fn storage(&self, dataset: StoredBefore<'_>) -> Result<Option<NewStorage>> {
        match self.storage_of(dataset)? {
            StorageChoice::Storage(storage) => Ok(Some(storage)),
            StorageChoice::Layout(layout) => Ok(Some(NewStorage::unfiltered(layout))),
            StorageChoice::Keep => Ok(None),
            StorageChoice::Refused(why) => {
                self.kept.borrow_mut().push((dataset.path.to_owned(), why));
                Ok(None)
            }
        }
    }

    fn link_phase_change(&self) -> Option<LinkPhaseChange> {
        let (max_compact, min_dense) = self.rules.link_phase_change?;
        Some(LinkPhaseChange { max_compact, min_dense })
    }

    fn copied(&self, path: &str, bytes: u64) {
        self.bytes.set(self.bytes.get() + bytes);
        if let Some(progress) = &self.rules.progress {
            // Both files are locked during the call.
            let _callbacks = [self.source, self.target].map(|file| file.container.store.begin_callback());
            progress(path, bytes);
        }
    }
}
