//! How each dataset is to be stored, by the patterns that match it.

use std::cell::{Cell, RefCell};

use hyperslab_dataspace::{Dataspace, Dims};
use hyperslab_engine::Result;
use hyperslab_engine::format::{Layout, LinkPhaseChange};
use hyperslab_engine::ops::datasets::{DatasetDescription, Fill, Filters};
use hyperslab_engine::ops::{CopyGuide, MAX_COMPACT, NewLayout, NewStorage, OpenFile, StoredBefore};
use hyperslab_filter::{DatasetFacts, FillValue, FilterSpec, Pipeline};

use super::{Repack, RepackLayout, Repacked, sparse};
use crate::dataset::auto_chunk;

/// The rules, and what came of them.
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

    /// Why elements cannot be read, and so not be stored another way.
    pub(super) fn unreadable(&self, description: &DatasetDescription) -> Option<String> {
        let missing = |pipeline: &Pipeline| {
            let missing = pipeline.missing(self.source.container.store.filters()).next()?;
            Some(format!("there is no filter {}", missing.id.0))
        };
        match &description.filters {
            Filters::Chunk(pipeline) => missing(pipeline),
            Filters::Sections(_) => description.section_pipelines().iter().find_map(missing),
        }
    }

    /// The layout that is asked for; `None` to leave it.
    fn layout(&self, wanted: &RepackLayout, dataset: StoredBefore<'_>, filtered: bool) -> Result<Wish> {
        let before = dataset.description;
        let Dataspace::Simple(extent) = &before.dataspace else {
            return Ok(match (&before.dataspace, wanted) {
                (Dataspace::Scalar, RepackLayout::Contiguous) => Wish::Layout(NewLayout::Contiguous),
                (Dataspace::Scalar, RepackLayout::Compact) => compact(before),
                // What has no elements, or only one, is not worth a word.
                _ => Wish::Stay,
            });
        };
        let size = u64::from(before.datatype.size);
        let auto = || -> Result<Wish> {
            let chunk = auto_chunk(&before.dataspace, size)?;
            Ok(Wish::Layout(NewLayout::Chunked { chunk: chunk.into(), edges_unfiltered: false }))
        };
        Ok(match wanted {
            RepackLayout::Compact => compact(before),
            RepackLayout::AutoChunked => auto()?,
            RepackLayout::Auto if sparse::is_sparse(before) => self.layout_for_filters(dataset, filtered)?,
            RepackLayout::AutoSparse { density } => self.auto_sparse(dataset, *density)?,
            RepackLayout::Auto if filtered || before.dataspace.is_extendible() => auto()?,
            RepackLayout::Auto | RepackLayout::Contiguous => Wish::Layout(NewLayout::Contiguous),
            RepackLayout::Chunked(shape) | RepackLayout::Sparse(shape)
                if shape.len() != extent.dims.len() =>
            {
                Wish::Refused(format!("it has {} dimensions, the chunk {}", extent.dims.len(), shape.len()))
            }
            RepackLayout::Chunked(shape) => {
                let chunk = fitting(before, shape);
                Wish::Layout(NewLayout::Chunked { chunk, edges_unfiltered: false })
            }
            RepackLayout::Sparse(shape) => Wish::Layout(self.sparse_layout(fitting(before, shape))),
        })
    }

    fn storage_of(&self, dataset: StoredBefore<'_>) -> Result<Wish> {
        let before = dataset.description;
        let layout = self.rules.layouts.iter().rev().find(|(glob, _)| glob.matches(dataset.path));
        let elements = before.dataspace.element_count().unwrap_or(u64::MAX);
        let bytes = elements.saturating_mul(before.datatype.size.into());
        let filters = self.rules.filters.iter().rev().find(|(glob, _)| glob.matches(dataset.path));
        let filters = filters.filter(|_| bytes >= self.rules.least_filtered);
        let sections = sparse::is_structured(before)
            && (self.rules.encoding.is_some()
                || self.rules.section_filters.iter().any(|(glob, ..)| glob.matches(dataset.path)));
        if layout.is_none() && filters.is_none() && !sections {
            return Ok(Wish::Stay);
        }
        let specs = filters.map(|(_, specs)| specs.as_slice());
        let filtered = specs.is_some_and(|specs| !specs.is_empty());
        let wish = match layout {
            Some((_, wanted)) => self.layout(wanted, dataset, filtered)?,
            None => self.layout_for_filters(dataset, filtered)?,
        };
        let Wish::Layout(layout) = wish else { return Ok(wish) };
        if let Some(why) = self.unreadable(before) {
            return Ok(Wish::Refused(why));
        }
        if matches!(layout, NewLayout::Structured { .. }) {
            return self.structured(dataset, layout, specs);
        }
        self.with_filters(before, layout, specs)
    }

    /// What has filters is in chunks: those it had, if any.
    fn layout_for_filters(&self, dataset: StoredBefore<'_>, filtered: bool) -> Result<Wish> {
        match &dataset.description.layout.layout {
            Layout::Chunked(chunked) => Ok(Wish::Layout(NewLayout::Chunked {
                chunk: chunked.dims.clone(),
                edges_unfiltered: chunked.leaves_edges_unfiltered(),
            })),
            Layout::Structured(_) => Ok(self.same_structured(dataset)),
            _ if filtered => self.layout(&RepackLayout::AutoChunked, dataset, true),
            _ => Ok(Wish::Stay),
        }
    }

    fn with_filters(
        &self,
        before: &DatasetDescription,
        layout: NewLayout,
        specs: Option<&[FilterSpec]>,
    ) -> Result<Wish> {
        let NewLayout::Chunked { chunk, .. } = &layout else {
            return Ok(Wish::Storage(NewStorage::unfiltered(layout)));
        };
        let pipeline = match (specs, &before.filters) {
            (Some(specs), _) => {
                let fill = match &before.fill.value {
                    Fill::Undefined => FillValue::Undefined,
                    Fill::Default => FillValue::Default,
                    Fill::User(element) => FillValue::Element(element),
                };
                let facts = DatasetFacts::new(&before.datatype, chunk).with_fill(fill);
                match Pipeline::for_dataset(specs, &facts, self.target.container.store.filters()) {
                    Ok(pipeline) => pipeline,
                    Err(error) => return Ok(Wish::Refused(error.to_string())),
                }
            }
            // The parameters of some filters depend on the chunks: they are only good for those they were made for.
            (None, Filters::Chunk(pipeline)) if same_chunk(before, chunk) => pipeline.clone(),
            (None, filters) => {
                let pipeline = match filters {
                    Filters::Chunk(pipeline) => pipeline.clone(),
                    Filters::Sections(_) => sparse::filters_of_values(before),
                };
                match self.remade(before, chunk, &pipeline) {
                    Ok(pipeline) => pipeline,
                    Err(why) => return Ok(Wish::Refused(why)),
                }
            }
        };
        Ok(Wish::Storage(NewStorage { pipeline, ..NewStorage::unfiltered(layout) }))
    }

    /// The same filters, for other chunks.
    fn remade(
        &self,
        before: &DatasetDescription,
        chunk: &[u64],
        pipeline: &Pipeline,
    ) -> std::result::Result<Pipeline, String> {
        let specs = specs_of(pipeline);
        let facts = DatasetFacts::new(&before.datatype, chunk);
        Pipeline::for_dataset(&specs, &facts, self.target.container.store.filters())
            .map_err(|error| error.to_string())
    }
}

/// The filters of a pipeline, to be made for other chunks.
pub(super) fn specs_of(pipeline: &Pipeline) -> Vec<FilterSpec> {
    let stages = pipeline.stages.iter().map(|stage| {
        let client_data = stage.client_data.clone();
        FilterSpec::custom(stage.id, stage.flags, client_data, stage.name.clone())
    });
    stages.collect()
}

/// A chunk that is nowhere longer than the dataset can become.
pub(super) fn fitting(before: &DatasetDescription, shape: &[u64]) -> Dims {
    let most = before.dataspace.max_dims();
    let fit = |(size, most): (&u64, Option<u64>)| most.map_or(*size, |most| (*size).min(most.max(1)));
    shape.iter().zip(most).map(fit).collect()
}

/// What is to be done with a dataset.
pub(super) enum Wish {
    /// Nothing.
    Stay,
    /// It cannot be, and why.
    Refused(String),
    Layout(NewLayout),
    Storage(NewStorage),
}

fn compact(before: &DatasetDescription) -> Wish {
    let bytes = before.dataspace.element_count();
    let bytes = bytes.and_then(|count| count.checked_mul(u64::from(before.datatype.size)));
    match bytes {
        Some(bytes) if bytes <= MAX_COMPACT => Wish::Layout(NewLayout::Compact),
        _ => Wish::Refused(format!("it has more than {MAX_COMPACT} bytes")),
    }
}

fn same_chunk(before: &DatasetDescription, chunk: &[u64]) -> bool {
    matches!(&before.layout.layout, Layout::Chunked(chunked) if chunked.dims.as_slice() == chunk)
}

impl CopyGuide for Guide<'_> {
    fn storage(&self, dataset: StoredBefore<'_>) -> Result<Option<NewStorage>> {
        match self.storage_of(dataset)? {
            Wish::Storage(storage) => Ok(Some(storage)),
            Wish::Layout(layout) => Ok(Some(NewStorage::unfiltered(layout))),
            Wish::Stay => Ok(None),
            Wish::Refused(why) => {
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
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        if let Some(progress) = &self.rules.progress {
            // Both files are held meanwhile.
            let _callbacks = [self.source, self.target].map(|file| file.container.store.begin_callback());
            progress(path, bytes);
        }
    }
}
