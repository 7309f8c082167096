//! The descriptions of files, objects, datasets and attributes in a digest.

use hyperslab::{
    AllocationTime, Attribute, ChunkIndexKind, CreationOrder, Dataset, Dataspace, FileInfo,
    FileSpaceStrategy, FillStatus, FillTime, FilterInfo, GroupStorage, Layout, Link, LinkTarget, Object,
    ObjectKind, Result, Section, Stored, VirtualMapping,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::walk::{DigestObject, Objects};
use super::{encode, hex, path_of, selection, text, types};
use crate::output::chain;
use crate::selection::defined::DefinedElements;

/// The size in bytes of the largest dataset for which a digest contains a hash of the elements.
const MAX_DATA_BYTES: u64 = 64 << 20;

/// The size in bytes of the largest fill value that a digest prints. For a larger fill value, the
/// digest prints a hash.
const MAX_FILL_BYTES: usize = 1024;

type Entry = Map<String, Value>;

fn put(entry: &mut Entry, key: &str, value: impl Into<Value>) {
    entry.insert(key.into(), value.into());
}

/// Inserts a value under its key into a digest. For an error, inserts the message under another
/// key.
fn put_or(entry: &mut Entry, key: &str, error_key: &str, value: Result<Value>) {
    match value {
        Ok(value) => put(entry, key, value),
        Err(error) => put(entry, error_key, chain(&error)),
    }
}

pub(super) fn file(info: &FileInfo) -> Value {
    let indexes: Vec<Value> = info
        .shared_messages
        .indexes
        .iter()
        .map(|index| json!({"types": index.types, "min_size": index.min_size}))
        .collect();
    json!({
        "superblock_version": info.superblock_version,
        "user_block": info.user_block,
        "size_of_offsets": info.size_of_offsets,
        "size_of_lengths": info.size_of_lengths,
        "sym_k": [info.group_internal_k, info.group_leaf_k],
        "istore_k": info.indexed_storage_k,
        "sohm_indexes": indexes,
        "space_strategy": match info.file_space.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => "fsm_aggr",
            FileSpaceStrategy::Page => "page",
            FileSpaceStrategy::Aggregators => "aggr",
            FileSpaceStrategy::None => "none",
        },
        "space_persist": info.file_space.persist,
        "space_threshold": info.file_space.threshold,
        "page_size": info.file_space.page_size,
    })
}

pub(super) fn object(objects: &Objects, found: &DigestObject) -> Value {
    let mut entry = Entry::new();
    put(&mut entry, "path", objects.path_to(found));
    match &found.object {
        Ok(object) => describe(objects, found, object, &mut entry),
        Err(error) => {
            put(&mut entry, "kind", "error");
            put(&mut entry, "error", chain(error));
        }
    }
    Value::Object(entry)
}

fn describe(objects: &Objects, found: &DigestObject, object: &Object, entry: &mut Entry) {
    let Some(kind) = object.kind() else {
        put(entry, "kind", "error");
        put(entry, "error", "an object of unknown kind");
        return;
    };
    put(entry, "kind", kind.name());
    put_or(entry, "nlink", "error", object.link_count().map(Value::from));
    match object.comment() {
        Ok(Some(comment)) if !comment.is_empty() => put(entry, "comment", text(&comment)),
        Ok(_) => {}
        Err(error) => put(entry, "error", chain(&error)),
    }
    let header = object.header_info().map(|header| {
        json!({"version": header.version, "nmesgs": header.messages, "nchunks": header.chunks, "flags": header.flags})
    });
    put_or(entry, "header", "error", header);
    let described = match kind {
        ObjectKind::Group => group(objects, found, object, entry),
        ObjectKind::Dataset => {
            object.clone().into_dataset().and_then(|found| dataset(objects, &found, entry))
        }
        ObjectKind::Datatype => object.clone().into_datatype().map(|found| {
            put(entry, "dtype", types::datatype(found.datatype()));
        }),
        _ => Ok(()),
    };
    if let Err(error) = described {
        put(entry, "error", chain(&error));
    }
    let attributes = object
        .attributes()
        .map(|attributes| Value::Array(attributes.iter().map(|found| attribute(objects, found)).collect()));
    put_or(entry, "attrs", "attrs_error", attributes);
}

fn group(objects: &Objects, found: &DigestObject, object: &Object, entry: &mut Entry) -> Result<()> {
    let group = object.clone().into_group()?;
    match &found.links {
        Some(Ok(links)) => {
            put(entry, "links", links.iter().map(|found| link(objects, found)).collect::<Vec<_>>());
        }
        Some(Err(error)) => put(entry, "links_error", chain(error)),
        None => {}
    }
    let bits = |order: CreationOrder| match order {
        CreationOrder::Untracked => 0,
        CreationOrder::Tracked => 1,
        CreationOrder::Indexed => 3,
    };
    put(entry, "attr_order", bits(object.attribute_order()?));
    put(entry, "link_order", bits(group.link_order()?));
    let storage = match group.storage()? {
        GroupStorage::SymbolTable => "symbol_table",
        GroupStorage::Compact => "compact",
        GroupStorage::Dense => "dense",
    };
    put(entry, "storage", storage);
    Ok(())
}

fn link(objects: &Objects, link: &Link) -> Value {
    let mut entry = Entry::new();
    put(&mut entry, "name", text(&link.name));
    put(&mut entry, "cset", types::charset(link.charset));
    if let Some(order) = link.creation_order {
        put(&mut entry, "corder", order);
    }
    match &link.target {
        LinkTarget::Hard(token) => {
            put(&mut entry, "kind", "hard");
            put(&mut entry, "object", path_of(objects, *token));
        }
        LinkTarget::Soft(path) => {
            put(&mut entry, "kind", "soft");
            put(&mut entry, "target", text(path));
        }
        LinkTarget::External { file, path } => {
            put(&mut entry, "kind", "external");
            put(&mut entry, "file", text(file));
            put(&mut entry, "target", text(path));
        }
        // The value depends on the link class: libhdf5 returns none for a class that is not
        // registered.
        LinkTarget::UserDefined { class, .. } => {
            put(&mut entry, "kind", format!("user-{class}"));
            put(&mut entry, "value", "");
        }
        _ => put(&mut entry, "kind", "unknown"),
    }
    Value::Object(entry)
}

fn attribute(objects: &Objects, attribute: &Attribute) -> Value {
    let mut entry = Entry::new();
    put(&mut entry, "name", text(attribute.name_bytes()));
    put(&mut entry, "cset", types::charset(attribute.charset()));
    if let Some(order) = attribute.creation_order() {
        put(&mut entry, "corder", order);
    }
    if let Err(error) = attribute_value(objects, attribute, &mut entry) {
        put(&mut entry, "error", chain(&error));
    }
    Value::Object(entry)
}

fn attribute_value(objects: &Objects, attribute: &Attribute, entry: &mut Entry) -> Result<()> {
    let datatype = attribute.datatype()?;
    put(entry, "dtype", types::datatype(&datatype));
    if let Some(token) = attribute.committed_datatype()? {
        put(entry, "committed", path_of(objects, token));
    }
    let dataspace = attribute.dataspace()?;
    space(entry, &dataspace);
    elements(objects, entry, &dataspace, datatype.size, || attribute.read_stored());
    Ok(())
}

fn space(entry: &mut Entry, dataspace: &Dataspace) {
    match dataspace {
        Dataspace::Null => put(entry, "space", "null"),
        Dataspace::Scalar => put(entry, "space", "scalar"),
        Dataspace::Simple(extent) => {
            put(entry, "space", "simple");
            put(entry, "shape", extent.dims.to_vec());
            let max: Vec<Value> =
                dataspace.max_dims().iter().map(|max| max.map_or(json!(-1), Value::from)).collect();
            put(entry, "maxshape", max);
        }
    }
}

/// Inserts the hash, the length and the first bytes of a dataset's elements into a digest. If the
/// elements are missing, inserts the reason.
fn elements(
    objects: &Objects,
    entry: &mut Entry,
    dataspace: &Dataspace,
    element_size: u32,
    read: impl FnOnce() -> Result<Stored>,
) {
    let bytes = dataspace.element_count().and_then(|count| count.checked_mul(u64::from(element_size)));
    if bytes.is_none_or(|bytes| bytes > MAX_DATA_BYTES) {
        put(entry, "data_skipped", "logical size over 64 MiB");
        return;
    }
    match read().and_then(|stored| encode::hash(objects, &stored)) {
        Ok(hashed) => {
            let (hash, length, head) = hashed.finish();
            put(entry, "data_sha256", hash);
            put(entry, "data_len", length);
            put(entry, "data_head", head);
        }
        Err(error) => put(entry, "data_error", chain(&error)),
    }
}

fn dataset(objects: &Objects, dataset: &Dataset, entry: &mut Entry) -> Result<()> {
    put(entry, "dtype", types::datatype(dataset.datatype()));
    if let Some(token) = dataset.committed_datatype() {
        put(entry, "committed", path_of(objects, token));
    }
    layout(dataset, entry);
    let mappings = dataset.virtual_mappings()?;
    space(entry, &dataset.dataspace());
    let filters: Vec<Value> = dataset.filters().iter().map(filter).collect();
    put(entry, "filters", filters);
    put(entry, "fill", fill(objects, dataset));
    let external: Vec<Value> = dataset
        .external_files()
        .iter()
        .map(|piece| {
            json!({"file": text(&piece.name), "offset": piece.offset, "size": piece.size.map_or(json!(-1), Value::from)})
        })
        .collect();
    if !external.is_empty() {
        put(entry, "external", external);
    }
    elements(objects, entry, &dataset.dataspace(), dataset.datatype().size, || dataset.read_stored(..));
    if dataset.sparse().chunking().is_some_and(|chunking| chunking.sparse) {
        defined(objects, dataset, entry);
    }
    if dataset.layout() == Layout::Virtual {
        put(entry, "virtual", describe_mappings(&mappings)?);
    }
    Ok(())
}

fn layout(dataset: &Dataset, entry: &mut Entry) {
    let word = match dataset.layout() {
        Layout::Compact => "compact",
        Layout::Contiguous { .. } => "contiguous",
        Layout::Virtual => "virtual",
        Layout::Chunked(chunking) => {
            put(entry, "chunk", chunking.shape);
            put(entry, "chunk_opts", if chunking.edges_unfiltered { 2 } else { 0 });
            put(entry, "chunk_index", index(chunking.index));
            "chunked"
        }
        _ => {
            structured(dataset, entry);
            "structured"
        }
    };
    put(entry, "layout", word);
}

fn index(kind: ChunkIndexKind) -> &'static str {
    match kind {
        ChunkIndexKind::BTreeV1 => "btree1",
        ChunkIndexKind::Single => "single",
        ChunkIndexKind::Implicit => "implicit",
        ChunkIndexKind::FixedArray => "fixed_array",
        ChunkIndexKind::ExtensibleArray => "extensible_array",
        ChunkIndexKind::BTreeV2 => "btree2",
    }
}

fn structured(dataset: &Dataset, entry: &mut Entry) {
    let Some(chunking) = dataset.sparse().chunking() else { return };
    put(entry, "chunk", chunking.shape);
    put(entry, "chunk_opts", if chunking.edges_unfiltered { 2 } else { 0 });
    put(entry, "chunk_index", index(chunking.index));
    let section = |(section, filters): &(Section, Vec<FilterInfo>)| json!({"name": section.name(), "filters": filters.iter().map(filter).collect::<Value>()});
    put(entry, "sections", chunking.sections.iter().map(section).collect::<Value>());
}

/// Inserts the number and the hash of a dataset's defined elements into a digest, or the reason why
/// both are missing. The digest describes dense datasets that are too large to read in the same
/// way.
fn defined(objects: &Objects, dataset: &Dataset, entry: &mut Entry) {
    let count = match dataset.sparse().defined_count() {
        Ok(count) => count,
        Err(error) => return put(entry, "defined_error", chain(&error)),
    };
    put(entry, "defined", count);
    let bytes = count.checked_mul(u64::from(dataset.datatype().size));
    if bytes.is_none_or(|bytes| bytes > MAX_DATA_BYTES) {
        return put(entry, "defined_skipped", "defined elements over 64 MiB");
    }
    match defined_hash(objects, dataset) {
        Ok(hash) => put(entry, "defined_sha256", hash),
        Err(error) => put(entry, "defined_error", chain(&error)),
    }
}

/// Returns a hash of the coordinates and values of all defined elements of a dataset.
pub(super) fn defined_hash(objects: &Objects, dataset: &Dataset) -> Result<String> {
    let mut hashed = encode::Hashed::default();
    DefinedElements::all(dataset)?
        .for_each(&mut |points, stored| encode::add_defined(&mut hashed, objects, points, stored))?;
    Ok(hashed.finish().0)
}

fn filter(filter: &FilterInfo) -> Value {
    json!({"id": filter.id, "flags": filter.flags, "cd_values": filter.client_data, "name": filter.name})
}

fn fill(objects: &Objects, dataset: &Dataset) -> Value {
    let fill = dataset.fill_value();
    let mut entry = Entry::new();
    let time = match fill.time {
        FillTime::Allocation => "alloc",
        FillTime::Never => "never",
        FillTime::IfSet => "ifset",
        _ => "unknown",
    };
    put(&mut entry, "time", time);
    let allocation = match fill.allocation {
        AllocationTime::Default => "default",
        AllocationTime::Early => "early",
        AllocationTime::Late => "late",
        AllocationTime::Incremental => "incr",
        _ => "unknown",
    };
    put(&mut entry, "alloc", allocation);
    match fill.status {
        FillStatus::Undefined => put(&mut entry, "status", "undefined"),
        FillStatus::Default => put(&mut entry, "status", "default"),
        FillStatus::User(_) => {
            put(&mut entry, "status", "user");
            match dataset.stored_fill_value().and_then(|stored| encode::bytes(objects, &stored)) {
                Ok(bytes) if bytes.len() <= MAX_FILL_BYTES => put(&mut entry, "value", hex(&bytes)),
                Ok(bytes) => put(&mut entry, "value_sha256", hex(&Sha256::digest(&bytes))),
                Err(error) => put(&mut entry, "error", chain(&error)),
            }
        }
    }
    Value::Object(entry)
}

fn describe_mappings(mappings: &[VirtualMapping]) -> Result<Value> {
    let mut described = Vec::new();
    for mapping in mappings {
        described.push(json!({
            "file": text(&mapping.file),
            "dataset": text(&mapping.dataset),
            "vsel": selection::describe(&mapping.selection)?,
            "ssel": selection::describe(&mapping.source_selection)?,
        }));
    }
    Ok(Value::Array(described))
}
