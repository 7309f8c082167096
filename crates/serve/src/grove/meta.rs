//! `/meta`: the metadata of an object, with its attributes and, for a group, its children.

use hyperslab::{Attribute, CreationOrder, Dataset, Dataspace, Group, Link, Object};
use serde_json::{Map, Value, json};

use super::entity::{self, Entity, Links};
use super::types::describe;
use super::{Answer, Asked, Failure};

pub(super) fn answer(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let links = Links::of(asked.query)?;
    let path = asked.query.path();
    let entity = entity::find(&asked.file, path, links)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    // The headers of all children of a remote file come together.
    asked.file.read_ahead(|| drop(describe_entity(&entity, name, true)));
    Ok(Answer::json(&describe_entity(&entity, name, true)?))
}

/// Returns the metadata of an entity. The keys are in alphabetical order.
fn describe_entity(entity: &Entity, name: &str, with_children: bool) -> Result<Value, Failure> {
    let mut metadata = Map::new();
    if let Some(object) = entity.object() {
        metadata.insert("attributes".into(), Value::Array(attributes(object)?));
    }
    let kind = match entity {
        Entity::Group(group) => {
            if with_children {
                metadata.insert("children".into(), Value::Array(children(group)?));
            }
            "group"
        }
        Entity::Dataset(dataset) => {
            metadata.insert("chunks".into(), json!(chunks(dataset)));
            metadata.insert("filters".into(), filters(dataset));
            "dataset"
        }
        Entity::Datatype(_) => "datatype",
        Entity::Soft(_) => "soft_link",
        Entity::External { .. } => "external_link",
        Entity::Other => "other",
    };
    metadata.insert("kind".into(), json!(kind));
    metadata.insert("name".into(), json!(name));
    match entity {
        Entity::Dataset(dataset) => {
            metadata.insert("shape".into(), shape(&dataset.dataspace()));
            metadata.insert("type".into(), describe(dataset.datatype()));
        }
        Entity::Datatype(datatype) => drop(metadata.insert("type".into(), describe(datatype.datatype()))),
        Entity::Soft(path) => drop(metadata.insert("target_path".into(), text(path))),
        Entity::External { file, path } => {
            metadata.insert("target_file".into(), text(file));
            metadata.insert("target_path".into(), text(path));
        }
        Entity::Group(_) | Entity::Other => {}
    }
    Ok(Value::Object(metadata))
}

/// Returns the links of a group in the order in which h5py lists them: the order of creation, if
/// the group records it.
pub(super) fn links_in_order(group: &Group) -> Result<Vec<Link>, Failure> {
    let mut links = group.links()?;
    if group.link_order()? != CreationOrder::Untracked {
        links.sort_by_key(|link| link.creation_order);
    }
    Ok(links)
}

fn children(group: &Group) -> Result<Vec<Value>, Failure> {
    let mut children = Vec::new();
    for link in links_in_order(group)? {
        let name = link.name_lossy();
        let child = entity::follow(group, &link, Links::OnlyValid, &name);
        let child = child.and_then(|entity| describe_entity(&entity, &name, false));
        // A damaged child must not hide its neighbours; its own metadata have the failure.
        children.push(child.unwrap_or_else(|_| json!({ "attributes": [], "kind": "other", "name": name })));
    }
    Ok(children)
}

fn attributes(object: &Object) -> Result<Vec<Value>, Failure> {
    object.attributes()?.iter().map(describe_attribute).collect()
}

fn describe_attribute(attribute: &Attribute) -> Result<Value, Failure> {
    let (space, datatype) = (attribute.dataspace()?, attribute.datatype()?);
    Ok(json!({ "name": attribute.name(), "shape": shape(&space), "type": describe(&datatype) }))
}

fn shape(space: &Dataspace) -> Value {
    match space {
        Dataspace::Null => Value::Null,
        _ => json!(space.dims()),
    }
}

/// Returns the shape of the chunks of a dataset, which may be sparse.
pub(super) fn chunks(dataset: &Dataset) -> Option<Vec<u64>> {
    match dataset.chunking() {
        Some(chunking) => Some(chunking.shape),
        None => dataset.sparse().chunking().map(|chunking| chunking.shape),
    }
}

/// Returns the filters of a dataset. A sparse dataset shows those of its values.
fn filters(dataset: &Dataset) -> Value {
    let mut filters = dataset.filters();
    if let Some(chunking) = dataset.sparse().chunking().filter(|_| filters.is_empty()) {
        filters = chunking.sections.into_iter().next_back().map_or(filters, |(_, filters)| filters);
    }
    if filters.is_empty() {
        return Value::Null;
    }
    let filter = |filter: &hyperslab::FilterInfo| json!({ "id": filter.id, "name": filter.name.as_deref().unwrap_or(known_name(filter.id)) });
    Value::Array(filters.iter().map(filter).collect())
}

/// Returns the name of a filter whose name is not in the file.
fn known_name(id: u16) -> &'static str {
    match id {
        1 => "deflate",
        2 => "shuffle",
        3 => "fletcher32",
        4 => "szip",
        5 => "nbit",
        6 => "scaleoffset",
        _ => "",
    }
}

/// Returns bytes of a file as text. Bytes that are not UTF-8 become U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).into_owned())
}
