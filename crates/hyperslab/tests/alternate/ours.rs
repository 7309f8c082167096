//! The side of hyperslab: it executes operations on an open file.

use hyperslab::filter::{FilterSpec, SzipCoding};
use hyperslab::{
    AllocationTime, Dataset, DatasetBuilder, Dataspace, Durability, Error, File, FileDriver, FileOptions,
    FileSpace, FileSpaceStrategy, FillTime, GroupOptions, Hyperslab, LibraryVersion, LibverBounds,
    OpenOptions, Points, ReferenceTarget, RegularHyperslab, Selection, vfd::Driver,
};
use serde_json::Value as Json;
use std::sync::Arc;

use crate::kinds;

pub(crate) fn text<'a>(of: &'a Json, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_else(|| panic!("no {name}: {of}"))
}

/// Returns numbers. Null means unlimited.
pub(crate) fn numbers(of: &Json) -> Vec<u64> {
    of.as_array().unwrap().iter().map(|number| number.as_u64().unwrap_or(hyperslab::UNLIMITED)).collect()
}

fn bounds(request: &Json) -> LibverBounds {
    let version = |name| LibraryVersion::from_name(text(request, name)).unwrap();
    LibverBounds::new(version("low"), version("high")).unwrap()
}

/// Creates the file that a request names.
pub(crate) fn create(request: &Json) -> Result<File, Error> {
    let made = &request["create"];
    let options = FileOptions::new()
        .libver(bounds(request))
        .user_block(made["userblock"].as_u64().unwrap())
        .durability(Durability::Ordered)
        .track_order(made["track"].as_bool().unwrap());
    let strategy = match made["strategy"].as_str() {
        None => return options.create(text(request, "path")),
        Some("fsm") => FileSpaceStrategy::FreeSpaceAndAggregators,
        Some("page") => FileSpaceStrategy::Page,
        Some("aggregate") => FileSpaceStrategy::Aggregators,
        Some(_) => FileSpaceStrategy::None,
    };
    let space = FileSpace {
        strategy,
        persist: made["persist"].as_bool().unwrap(),
        threshold: made["threshold"].as_u64().unwrap(),
        page_size: made["page_size"].as_u64().unwrap(),
    };
    options.file_space(space).create(text(request, "path"))
}

fn options(request: &Json) -> OpenOptions {
    let driver = match text(request, "driver") {
        "family" => FileDriver::Family { member_size: None },
        "split" => FileDriver::split(),
        "multi" => FileDriver::Multi,
        _ => FileDriver::Sec2,
    };
    OpenOptions::new().driver(driver)
}

/// Opens the file that a request names, for writing.
pub(crate) fn open(request: &Json) -> Result<File, Error> {
    let durability = if request["full"] == true { Durability::Full } else { Durability::Ordered };
    options(request).write(true).libver(bounds(request)).durability(durability).open(text(request, "path"))
}

/// Opens the file that a request names, for reading.
pub(crate) fn open_to_read(request: &Json) -> Result<File, Error> {
    options(request).open(text(request, "path"))
}

/// Returns the bytes of the file that a request names, read through its driver.
pub(crate) fn driver(request: &Json) -> Result<Arc<dyn Driver>, Error> {
    options(request).find_driver(text(request, "path"))
}

/// Executes one operation.
pub(crate) fn apply(file: &File, op: &Json) -> Result<(), Error> {
    let path = op["path"].as_str().unwrap_or_default();
    match text(op, "op") {
        "group" => {
            let options = GroupOptions::new().track_order(op["track"] == true);
            file.create_group_with(path, options).map(drop)
        }
        "dataset" => make_dataset(file, op),
        "write" => write(&file.dataset(path)?, op, file),
        "resize" => file.dataset(path)?.resize(&numbers(&op["dims"])),
        "attr" => set_attribute(file, op),
        "remove_attr" => file.object(path)?.remove_attribute(text(op, "name")),
        "rename_attr" => file.object(path)?.rename_attribute(text(op, "name"), text(op, "to")),
        "remove" => file.remove(path),
        "rename" => file.rename(path, text(op, "to")),
        "hard" => file.link_hard(path, &file.object(text(op, "to"))?),
        "soft" => file.link_soft(path, text(op, "to")),
        "commit" => file.commit_datatype(path, &kinds::datatype(text(op, "kind"))).map(drop),
        "copy" => file.copy(&file.object(path)?, text(op, "to")).map(drop),
        "rewrite" => {
            let dataset = file.dataset(path)?;
            dataset.write_stored(.., dataset.read_stored(..)?.bytes())
        }
        "flush" => file.flush(),
        other => panic!("no operation is called {other}"),
    }
}

fn filter(reported: &Json) -> FilterSpec {
    let number = || reported[1].as_u64().unwrap() as u32;
    match reported[0].as_str().unwrap() {
        "deflate" => FilterSpec::deflate(number()),
        "shuffle" => FilterSpec::shuffle(),
        "fletcher32" => FilterSpec::fletcher32(),
        "lzf" => FilterSpec::lzf(),
        "nbit" => FilterSpec::nbit(),
        "scaleoffset" => FilterSpec::scale_offset_int(number()),
        _ => {
            let coding = if reported[1] == "nn" { SzipCoding::NearestNeighbour } else { SzipCoding::Entropy };
            FilterSpec::szip(coding, reported[2].as_u64().unwrap() as u32)
        }
    }
}

fn make_dataset(file: &File, op: &Json) -> Result<(), Error> {
    let builder = file.new_dataset(text(op, "path"));
    let builder = match op["committed"].as_str() {
        Some(path) => builder.committed(&file.committed_datatype(path)?),
        None => builder.datatype(kinds::datatype(text(op, "kind"))),
    };
    let builder = if op["dims"].is_null() { builder.null() } else { builder.shape(&numbers(&op["dims"])) };
    let builder = match text(op, "layout") {
        "compact" => builder.compact(),
        "contiguous" => builder.contiguous(),
        _ => {
            let maximum: Vec<Option<u64>> = op["max"].as_array().unwrap().iter().map(Json::as_u64).collect();
            builder.chunks(&numbers(&op["chunk"])).max_shape(&maximum)
        }
    };
    let builder = op["filters"].as_array().unwrap().iter().map(filter).fold(builder, DatasetBuilder::filter);
    let builder = match op["fill"].as_str() {
        Some(element) => builder.fill_stored(&kinds::from_hex(element)),
        None => builder,
    };
    let builder = builder
        .allocation_time(match text(op, "alloc") {
            "early" => AllocationTime::Early,
            "late" => AllocationTime::Late,
            "incremental" => AllocationTime::Incremental,
            _ => AllocationTime::Default,
        })
        .fill_time(if op["fill_time"] == "alloc" { FillTime::Allocation } else { FillTime::IfSet })
        .track_times(op["times"] == true)
        .track_order(op["track"] == true);
    builder.create().map(drop)
}

pub(crate) fn selection(reported: &Json, rank: usize) -> Selection {
    if let Some(points) = reported["points"].as_array() {
        return Selection::Points(Points { rank, coordinates: points.iter().flat_map(numbers).collect() });
    }
    let Some([start, stride, count, block]) = reported["slab"].as_array().map(Vec::as_slice) else {
        return Selection::All;
    };
    Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
        start: numbers(start).into(),
        stride: numbers(stride).into(),
        count: numbers(count).into(),
        block: numbers(block).into(),
    }))
}

fn plain_bytes(data: &[Json]) -> Vec<u8> {
    data.iter().flat_map(|element| kinds::from_hex(element.as_str().unwrap())).collect()
}

fn write(dataset: &Dataset, op: &Json, file: &File) -> Result<(), Error> {
    let (kind, data) = (text(op, "kind"), op["data"].as_array().unwrap());
    let selection = selection(&op["sel"], dataset.ndim());
    if kinds::is_plain(kind) {
        return dataset.write_stored(&selection, &plain_bytes(data));
    }
    if kind == "objref" {
        return dataset.write_references(.., &references(data, file)?);
    }
    if kind == "vstr" {
        let texts: Vec<&str> = data.iter().map(|text| text.as_str().unwrap()).collect();
        return dataset.write_strings(&selection, &texts);
    }
    let values: Vec<_> = data.iter().map(|element| kinds::value(kind, element)).collect();
    dataset.write_values(&selection, &values)
}

fn references(data: &[Json], file: &File) -> Result<Vec<ReferenceTarget>, Error> {
    let one = |path: &Json| match path.as_str() {
        None => Ok(ReferenceTarget::Null),
        Some(path) => Ok(ReferenceTarget::object(&file.object(path)?)),
    };
    data.iter().map(one).collect()
}

fn set_attribute(file: &File, op: &Json) -> Result<(), Error> {
    let object = file.object(text(op, "path"))?;
    let (kind, name) = (text(op, "kind"), text(op, "name"));
    let space = match op["dims"].as_array() {
        None => Dataspace::Null,
        Some(dims) if dims.is_empty() => Dataspace::Scalar,
        Some(_) => Dataspace::simple(&numbers(&op["dims"])),
    };
    let (data, datatype) = (op["data"].as_array().unwrap(), kinds::datatype(kind));
    if kinds::is_plain(kind) {
        return object.set_attribute_stored(name, &datatype, &space, &plain_bytes(data));
    }
    let values: Vec<_> = data.iter().map(|element| kinds::value(kind, element)).collect();
    object.set_attribute_values(name, &datatype, &space, &values)
}
