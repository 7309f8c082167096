//! The listing as a JSON document for programs.
//!
//! ```text
//! { "format": "hyperslab ls 1", "file": …, "superblock": …, "user_block": …, "size": …, "path": …,
//!   "entries": [ … ], "failures": … }
//! ```
//! `entries` is flat, so that the depth of the document does not depend on the depth of the file.
//! Each entry has an `id` and the `id` of its `parent`, and follows its parent. `link` is the kind
//! of the link; for a hard link, `kind` is the kind of the object. Sizes are in bytes; a `null` in
//! `max_shape` is an unlimited dimension. Keys that do not apply to an entry are missing. Later
//! versions may add keys. The format of `hyperslab tree` is `hyperslab tree 1`: it has no storage
//! sizes, and attributes only with `--attrs`.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use hyperslab::{Dataspace, Datatype, FileInfo, FilterInfo, GroupStorage, Layout};
use serde_json::{Map, Value as Json, json};

use super::dataset::{DatasetFacts, index_name, layout_name};
use super::describe::{Detail, GroupFacts, ObjectFacts};
use super::describer::AttributeFacts;
use super::walk::{Content, Entry, EntryPath, Sink};
use crate::sections::{SectionTotals, StructuredTotals, filter_name};
use crate::values::{Value, numbers};

/// A receiver of listed entries that writes them to a JSON document.
pub(crate) struct Document<W: Write> {
    output: W,
}

type Object = Map<String, Json>;

impl<W: Write> Document<W> {
    pub(crate) fn begin(
        mut output: W,
        command: &str,
        file: &Path,
        info: &FileInfo,
        path: &str,
    ) -> Result<Self> {
        let file = serde_json::to_string(&file.to_string_lossy())?;
        let (version, block, size) = (info.superblock_version, info.user_block, info.length);
        writeln!(output, "{{\n\"format\": \"hyperslab {command} 1\",\n\"file\": {file},")?;
        writeln!(output, "\"superblock\": {version},\n\"user_block\": {block},\n\"size\": {size},")?;
        write!(output, "\"path\": {},\n\"entries\": [", serde_json::to_string(path)?)?;
        Ok(Self { output })
    }

    pub(crate) fn end(mut self, failures: usize) -> Result<()> {
        write!(self.output, "\n],\n\"failures\": {failures}\n}}\n")?;
        Ok(self.output.flush()?)
    }
}

impl<W: Write> Sink for Document<W> {
    fn entry(&mut self, entry: &Entry, entry_path: &EntryPath<'_>) -> Result<()> {
        let mut object = Object::new();
        object.insert("id".into(), json!(entry.id));
        object.insert("parent".into(), json!(entry.parent));
        object.extend(entry_keys(&entry.name, &entry.content, entry_path));
        self.output.write_all(if entry.id == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.output, &Json::Object(object)).map_err(std::io::Error::from)?;
        Ok(())
    }
}

/// Returns the JSON keys of a listed entry.
pub(crate) fn entry_keys(bytes: &[u8], kind: &Content, entry_path: &EntryPath<'_>) -> Object {
    let mut object = Object::new();
    name(&mut object, bytes);
    optional(&mut object, "path", entry_path.shown());
    content(&mut object, kind);
    object
}

/// Adds a key to a JSON object if its value exists.
fn optional(object: &mut Object, key: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        object.insert(key.into(), value.into());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Adds a name to a JSON object. If the name is not UTF-8, also adds its bytes as hexadecimal
/// digits.
fn name(object: &mut Object, bytes: &[u8]) {
    object.insert("name".into(), json!(text(bytes)));
    if str::from_utf8(bytes).is_err() {
        object.insert("name_bytes".into(), json!(numbers::hexadecimal(bytes.iter().copied())));
    }
}

fn content(object: &mut Object, content: &Content) {
    let mut link = |kind: &str, keys: Json| {
        object.insert("link".into(), json!(kind));
        if let Json::Object(keys) = keys {
            object.extend(keys);
        }
    };
    match content {
        Content::Object(facts) => link("hard", Json::Object(facts_of(facts))),
        Content::Same { path, around } => link("hard", json!({ "same_as": path, "circle": around })),
        Content::Soft { path, dangling } => {
            link("soft", json!({ "target": text(path), "dangling": dangling }));
        }
        Content::External { file, path } => {
            link("external", json!({ "target_file": text(file), "target": text(path) }));
        }
        Content::UserDefined { class, value } => {
            let value = numbers::hexadecimal(value.iter().copied());
            link("user-defined", json!({ "class": class, "value": value }));
        }
        Content::UnknownLink => link("unknown", Json::Null),
        Content::Broken(error) => link("hard", json!({ "error": error })),
    }
}

fn facts_of(facts: &ObjectFacts) -> Object {
    let mut object = Object::new();
    let kind = match &facts.detail {
        Detail::Group(_) => "group",
        Detail::Dataset(_) => "dataset",
        Detail::Datatype(_) => "datatype",
        Detail::Unknown => "unknown",
    };
    object.insert("kind".into(), json!(kind));
    object.insert("address".into(), json!(facts.address));
    optional(&mut object, "link_count", facts.link_count);
    optional(&mut object, "comment", facts.comment.as_deref().map(text));
    optional(&mut object, "modified", facts.modified);
    match &facts.detail {
        Detail::Group(group) => group_keys(&mut object, group),
        Detail::Dataset(dataset) => dataset_keys(&mut object, dataset),
        Detail::Datatype(datatype) => type_keys(&mut object, datatype),
        Detail::Unknown => {}
    }
    object.insert("attributes".into(), facts.attributes.iter().map(attribute).collect());
    if !facts.problems.is_empty() {
        object.insert("errors".into(), json!(facts.problems));
    }
    object
}

fn group_keys(object: &mut Object, group: &GroupFacts) {
    optional(object, "class", group.class.clone());
    optional(object, "members", group.members);
    let storage = group.storage.map(|storage| match storage {
        GroupStorage::SymbolTable => "symbol table",
        GroupStorage::Compact => "compact",
        GroupStorage::Dense => "dense",
    });
    optional(object, "storage", storage);
    object.insert("creation_order_tracked".into(), json!(group.order_tracked));
}

fn type_keys(object: &mut Object, datatype: &Datatype) {
    object.insert("type".into(), json!(datatype.to_string()));
    object.insert("type_size".into(), json!(datatype.size));
}

fn space_keys(object: &mut Object, space: &Dataspace) {
    let kind = match space {
        Dataspace::Null => "null",
        Dataspace::Scalar => "scalar",
        Dataspace::Simple(_) => "simple",
    };
    object.insert("dataspace".into(), json!(kind));
    object.insert("shape".into(), json!(space.dims()));
    if space.is_extendible() {
        object.insert("max_shape".into(), json!(space.max_dims().as_slice()));
    }
}

fn dataset_keys(object: &mut Object, dataset: &DatasetFacts) {
    space_keys(object, &dataset.space);
    type_keys(object, &dataset.datatype);
    if let Some(committed) = &dataset.committed {
        let entry_path = json!({ "address": committed.address, "path": committed.path });
        object.insert("committed_type".into(), entry_path);
    }
    optional(object, "units", dataset.units.clone());
    value_keys(object, "value", dataset.value.as_ref());
    object.insert("layout".into(), json!(layout_name(&dataset.layout)));
    if let Layout::Chunked(chunking) = &dataset.layout {
        object.insert("chunk_shape".into(), json!(chunking.shape));
        object.insert("chunk_index".into(), json!(index_name(chunking.index)));
    }
    optional(object, "chunks", dataset.stored.and_then(|stored| stored.chunks));
    optional(object, "logical_size", dataset.logical);
    optional(object, "stored_size", dataset.stored.map(|stored| stored.bytes));
    optional(object, "ratio", dataset.ratio());
    object.insert("filters".into(), dataset.filters.iter().map(filter).collect());
    if let Some(chunking) = &dataset.chunking {
        object.insert("chunk_shape".into(), json!(chunking.shape));
        object.insert("chunk_index".into(), json!(index_name(chunking.index)));
        object.insert("sparse".into(), json!(chunking.sparse));
    }
    if let Some(totals) = &dataset.structured {
        structured_keys(object, totals);
    }
    value_keys(object, "fill_value", dataset.fill.as_ref());
    if !dataset.external.is_empty() {
        let piece = |piece: &hyperslab::ExternalFile| json!({ "file": text(&piece.name), "offset": piece.offset, "size": piece.size });
        object.insert("external_files".into(), dataset.external.iter().map(piece).collect());
    }
}

fn filter(filter: &FilterInfo) -> Json {
    json!({
        "id": filter.id,
        "name": filter_name(filter),
        "optional": filter.flags & 1 == 1,
        "parameters": filter.client_data,
    })
}

fn structured_keys(object: &mut Object, totals: &StructuredTotals) {
    object.insert("defined".into(), json!(totals.defined));
    optional(object, "density", totals.density());
    object.insert("sections".into(), totals.sections.iter().map(section).collect());
}

/// Returns the JSON keys that describe a section of structured chunks.
pub(crate) fn section(section: &SectionTotals) -> Json {
    json!({
        "name": section.section.name(),
        "stored_size": section.stored,
        "unfiltered_size": section.unfiltered,
        "ratio": section.ratio(),
        "filters": section.filters.iter().map(filter).collect::<Json>(),
    })
}

fn value_keys(object: &mut Object, key: &str, value: Option<&Value>) {
    let Some(value) = value else { return };
    object.insert(key.into(), value.json());
    if value.is_cut() {
        object.insert(format!("{key}_is_cut"), json!(true));
    }
}

fn attribute(attribute: &AttributeFacts) -> Json {
    let mut object = Object::new();
    name(&mut object, &attribute.name);
    if let Some(datatype) = &attribute.datatype {
        type_keys(&mut object, datatype);
    }
    if let Some(space) = &attribute.space {
        space_keys(&mut object, space);
    }
    match &attribute.value {
        Ok(value) => value_keys(&mut object, "value", Some(value)),
        Err(error) => {
            object.insert("error".into(), json!(error));
        }
    }
    Json::Object(object)
}
