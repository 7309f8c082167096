//! New datasets.

use std::path::PathBuf;
use std::sync::Arc;

use crate::ending::Detached as _;
use hyperslab::datatype::convert::Conversions;
use hyperslab::filter::{FilterId, FilterSpec};
use hyperslab::{
    AllocationTime, Dataset as Facade, DatasetBuilder, Datatype, FillTime, Group, VirtualMapping,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::elements::Encoded;
use crate::errors::OrRaise;
use crate::object::Object;
use crate::process::in_pool;
use crate::selection::Selection;
use crate::types::Type;

/// A mapping of a virtual dataset: selection, file, dataset and source selection.
type Mapping<'py> = (Bound<'py, Selection>, String, String, Bound<'py, Selection>);

/// Returns an option of a new dataset; `None` if it is missing or `None`.
fn option<'py>(options: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(options.get_item(name)?.filter(|value| !value.is_none()))
}

/// The form of a `TypedDict` of options: unknown names are errors of the package.
const NAMES: [&str; 17] = [
    "maxshape",
    "chunks",
    "sparse",
    "density",
    "filters",
    "filter_specs",
    "fill",
    "fill_time",
    "alloc_time",
    "track_times",
    "track_order",
    "compact",
    "external",
    "efile_prefix",
    "virtual_prefix",
    "virtual_sources",
    "unfiltered_edges",
];

/// Creates a dataset in a group. `path` of `None` makes a dataset without a link; `shape` of `None`
/// makes a null dataspace.
pub(crate) fn create(
    py: Python<'_>,
    group: &Group,
    path: Option<&str>,
    datatype: &Bound<'_, PyAny>,
    shape: Option<&[u64]>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Facade> {
    for name in options.keys() {
        if !NAMES.contains(&name.extract::<String>()?.as_str()) {
            return Err(PyTypeError::new_err(format!("unknown option {name} of a dataset")));
        }
    }
    let builder = group.new_dataset(path.unwrap_or_default());
    let (builder, datatype) = with_datatype(builder, datatype)?;
    let builder = match shape {
        None => builder.null(),
        Some(shape) => builder.shape(shape),
    };
    let builder = with_layout(builder, options)?;
    let builder = with_filters(builder, options)?;
    let builder = with_fill(builder, group, &datatype, options)?;
    let builder = with_times(builder, options)?;
    let builder = with_sources(builder, options)?;
    let folder = |name| option(options, name)?.map(|folder| folder.extract::<PathBuf>()).transpose();
    let file = group.containing_file().or_raise()?;
    let access = super::access::access(file.file_name(), folder("efile_prefix")?, folder("virtual_prefix")?);
    let builder = builder.access(&access);
    let create = || if path.is_none() { builder.create_unlinked() } else { builder.create() };
    py.detached(|| in_pool(create)).or_raise()
}

/// Sets the datatype of a new dataset: a `Type`, or the handle of a committed datatype.
fn with_datatype(
    builder: DatasetBuilder,
    datatype: &Bound<'_, PyAny>,
) -> PyResult<(DatasetBuilder, Datatype)> {
    if let Ok(datatype) = datatype.cast::<Type>() {
        let datatype = datatype.get().datatype.clone();
        return Ok((builder.datatype(datatype.clone()), datatype));
    }
    let object = datatype.cast::<Object>().map_err(|_| PyTypeError::new_err("a datatype is needed"))?;
    let committed = object.get().facade()?.into_datatype().or_raise()?;
    let datatype = committed.datatype().clone();
    Ok((builder.committed(&committed), datatype))
}

fn with_layout(mut builder: DatasetBuilder, options: &Bound<'_, PyDict>) -> PyResult<DatasetBuilder> {
    if let Some(sizes) = option(options, "maxshape")? {
        builder = builder.max_shape(&sizes.extract::<Vec<Option<u64>>>()?);
    }
    let sparse = option(options, "sparse")?.map_or(Ok(false), |yes| yes.extract())?;
    match option(options, "chunks")? {
        Some(chunks) if chunks.is_instance_of::<PyBool>() => {
            builder = if sparse { builder.sparse_auto() } else { builder.auto_chunks() };
        }
        Some(chunks) => {
            let chunks: Vec<u64> = chunks.extract()?;
            builder = if sparse { builder.sparse(&chunks) } else { builder.chunks(&chunks) };
        }
        None if sparse => builder = builder.sparse_auto(),
        None => {}
    }
    if let Some(density) = option(options, "density")? {
        builder = builder.density(density.extract()?);
    }
    if option(options, "compact")?.map_or(Ok(false), |yes| yes.extract())? {
        builder = builder.compact();
    }
    if option(options, "unfiltered_edges")?.map_or(Ok(false), |yes| yes.extract())? {
        builder = builder.unfiltered_edges();
    }
    if let Some(pieces) = option(options, "external")? {
        let pieces: Vec<(String, u64, Option<u64>)> = pieces.extract()?;
        let pieces: Vec<_> =
            pieces.iter().map(|(name, offset, size)| (name.as_str(), *offset, *size)).collect();
        builder = builder.external(&pieces);
    }
    Ok(builder)
}

fn with_filters(mut builder: DatasetBuilder, options: &Bound<'_, PyDict>) -> PyResult<DatasetBuilder> {
    if let Some(filters) = option(options, "filters")? {
        for (id, values, optional, name) in filters.extract::<Vec<(u16, Vec<u32>, bool, Option<String>)>>()? {
            builder = builder
                .filter(FilterSpec::custom(FilterId(id), u16::from(optional), values, name).or_missing());
        }
    }
    if let Some(specs) = option(options, "filter_specs")? {
        let specs = FilterSpec::parse_list(&specs.extract::<String>()?);
        for spec in specs.map_err(|error| PyValueError::new_err(error.to_string()))? {
            builder = builder.filter(spec);
        }
    }
    Ok(builder)
}

fn with_fill(
    builder: DatasetBuilder,
    group: &Group,
    datatype: &Datatype,
    options: &Bound<'_, PyDict>,
) -> PyResult<DatasetBuilder> {
    let Some(fill) = option(options, "fill")? else { return Ok(builder) };
    let file = group.containing_file().or_raise()?;
    let element = Encoded::new(&super::subscript::as_array(&fill, None)?, datatype, &file)?;
    let mut conversions = Conversions::default().across_charsets();
    if let Some(heap) = element.heap {
        conversions = conversions.with_source_heap(heap);
    }
    let stored = file.store_elements(&element.memory, datatype, &element.bytes, &conversions).or_raise()?;
    Ok(builder.fill_stored(&stored))
}

fn with_times(mut builder: DatasetBuilder, options: &Bound<'_, PyDict>) -> PyResult<DatasetBuilder> {
    if let Some(time) = option(options, "fill_time")? {
        builder = builder.fill_time(match time.extract::<String>()?.as_str() {
            "alloc" => FillTime::Allocation,
            "never" => FillTime::Never,
            "ifset" => FillTime::IfSet,
            other => return Err(PyValueError::new_err(format!("unknown fill time {other:?}"))),
        });
    }
    if let Some(time) = option(options, "alloc_time")? {
        builder = builder.allocation_time(match time.extract::<String>()?.as_str() {
            "default" => AllocationTime::Default,
            "early" => AllocationTime::Early,
            "late" => AllocationTime::Late,
            "incr" => AllocationTime::Incremental,
            other => return Err(PyValueError::new_err(format!("unknown allocation time {other:?}"))),
        });
    }
    if let Some(yes) = option(options, "track_times")? {
        builder = builder.track_times(yes.extract()?);
    }
    if let Some(yes) = option(options, "track_order")? {
        builder = builder.track_order(yes.extract()?);
    }
    Ok(builder)
}

fn with_sources(builder: DatasetBuilder, options: &Bound<'_, PyDict>) -> PyResult<DatasetBuilder> {
    let Some(sources) = option(options, "virtual_sources")? else { return Ok(builder) };
    let sources: Vec<Mapping<'_>> = sources.extract()?;
    let mappings: Vec<VirtualMapping> = sources
        .into_iter()
        .map(|(selection, file, dataset, source)| VirtualMapping {
            file: file.into_bytes(),
            dataset: dataset.into_bytes(),
            selection: selection.get().facade().clone(),
            source_selection: source.get().facade().clone(),
        })
        .collect();
    Ok(builder.virtual_sources(&mappings))
}

/// Creates a dataset and its Python handle.
pub(crate) fn create_handle(
    py: Python<'_>,
    session: &Arc<crate::file::Session>,
    group: &Group,
    path: Option<&str>,
    datatype: &Bound<'_, PyAny>,
    shape: Option<&[u64]>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Py<super::Dataset>> {
    super::Dataset::create(session, create(py, group, path, datatype, shape, options)?, py)
}
