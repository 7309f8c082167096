//! The contents of a file as hyperslab reads them. `content` in referee.py returns the contents as
//! libhdf5 reads them.

use std::collections::{BTreeMap, HashMap};

use hyperslab::datatype::{ReferenceKind, VariableLengthKind};
use hyperslab::{
    Dataspace, Datatype, DatatypeClass, Error, File, Group, LinkTarget, Object, ObjectKind, ObjectToken,
    ReferenceTarget, Stored,
};
use serde_json::{Value as Json, json};

use crate::kinds::{class_number, hex};

/// The contents of a file, by path.
pub(crate) type Content = BTreeMap<String, Json>;

/// The first path of each object, in the order of names.
struct Names<'a> {
    file: &'a File,
    found: HashMap<ObjectToken, String>,
}

impl Names<'_> {
    fn visit(&mut self, group: &Group, path: &str) -> Result<(), Error> {
        self.found.insert(group.token(), path.to_owned());
        for link in group.links()? {
            let LinkTarget::Hard(token) = link.target else { continue };
            if self.found.contains_key(&token) {
                continue;
            }
            let inner = format!("{}/{}", path.trim_end_matches('/'), link.name_lossy());
            let object = self.file.object_at(token)?;
            if object.kind() == Some(ObjectKind::Group) {
                self.visit(&object.into_group()?, &inner)?;
            } else {
                self.found.insert(token, inner);
            }
        }
        Ok(())
    }

    fn at(&self, token: ObjectToken) -> &str {
        // Two tokens may differ in the life of the address, although the address is equal.
        let same = |(known, path): (&ObjectToken, &'_ String)| {
            (known.address() == token.address()).then(|| path.clone())
        };
        match self.found.get(&token) {
            Some(path) => path,
            None if self.found.iter().find_map(same).is_some() => "another life of an address",
            None => "?",
        }
    }
}

/// Returns the contents of a file.
pub(crate) fn content(file: &File) -> Result<Content, Error> {
    let mut names = Names { file, found: HashMap::new() };
    names.visit(file.root(), "/")?;
    let mut content = Content::new();
    for (token, path) in &names.found {
        let object = file.object_at(*token)?;
        let reported = match object.kind() {
            Some(ObjectKind::Group) => group(&object.clone().into_group()?, &names)?,
            Some(ObjectKind::Dataset) => {
                let dataset = object.clone().into_dataset()?;
                let space = dataset.dataspace();
                let committed = dataset.committed_datatype().map(|token| names.at(token).to_owned());
                json!({"kind": "dataset", "type": described(dataset.datatype()), "dims": dims(&space),
                       "max": space.max_dims().to_vec(), "committed": committed,
                       "data": data(&dataset.read_stored(..)?, &space, &names)?})
            }
            _ => json!({"kind": "datatype", "type": described(object.clone().into_datatype()?.datatype())}),
        };
        let mut reported = reported;
        reported["attributes"] = attributes(&object, &names)?;
        content.insert(path.clone(), reported);
    }
    Ok(content)
}

fn group(group: &Group, names: &Names<'_>) -> Result<Json, Error> {
    let mut links = group.links()?;
    let target = |target: &LinkTarget| match target {
        LinkTarget::Hard(token) => json!(["hard", names.at(*token)]),
        LinkTarget::Soft(path) => json!(["soft", String::from_utf8_lossy(path)]),
        _ => json!(["external"]),
    };
    let all: BTreeMap<String, Json> =
        links.iter().map(|link| (link.name_lossy(), target(&link.target))).collect();
    let mut reported = json!({"kind": "group", "links": all});
    if group.link_order()?.is_tracked() {
        links.sort_by_key(|link| link.creation_order);
        reported["order"] = json!(links.iter().map(hyperslab::Link::name_lossy).collect::<Vec<_>>());
    }
    Ok(reported)
}

fn attributes(object: &Object, names: &Names<'_>) -> Result<Json, Error> {
    let mut found = serde_json::Map::new();
    for attribute in object.attributes()? {
        let space = attribute.dataspace()?;
        let reported = json!({"type": described(&attribute.datatype()?), "dims": dims(&space),
                          "data": data(&attribute.read_stored()?, &space, names)?});
        found.insert(attribute.name(), reported);
    }
    Ok(Json::Object(found))
}

fn dims(space: &Dataspace) -> Json {
    if *space == Dataspace::Null { Json::Null } else { json!(space.dims()) }
}

fn data(stored: &Stored, space: &Dataspace, names: &Names<'_>) -> Result<Json, Error> {
    if *space == Dataspace::Null {
        return Ok(Json::Null);
    }
    let datatype = stored.datatype();
    if is_plain(datatype) {
        return Ok(json!(hex(stored.bytes())));
    }
    let all: Result<Vec<String>, Error> =
        stored.elements().map(|element| said(stored, datatype, element, names)).collect();
    Ok(json!(all?))
}

/// Returns true if the elements contain no references and no variable-length data.
pub(crate) fn is_plain(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Compound(compound) => compound.members.iter().all(|member| is_plain(&member.datatype)),
        DatatypeClass::Array(array) => is_plain(&array.base),
        DatatypeClass::VariableLength(_) | DatatypeClass::Reference(_) => false,
        _ => true,
    }
}

/// Returns the description of a type.
pub(crate) fn described(datatype: &Datatype) -> String {
    match &datatype.class {
        DatatypeClass::Compound(compound) => {
            let member = |member: &hyperslab::datatype::Member| {
                format!("{}={}", String::from_utf8_lossy(&member.name), described(&member.datatype))
            };
            format!("{{{}}}", compound.members.iter().map(member).collect::<Vec<_>>().join(";"))
        }
        DatatypeClass::Array(array) => {
            let dims: Vec<String> = array.dims.iter().map(u32::to_string).collect();
            format!("({} {})", dims.join("x"), described(&array.base))
        }
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::Sequence => format!("[{}]", described(&variable.base)),
            VariableLengthKind::String { .. } => "string".into(),
        },
        DatatypeClass::Reference(reference) => {
            let region = reference.kind == ReferenceKind::DatasetRegion1;
            if region { "region" } else { "reference" }.into()
        }
        class => format!("{}:{}", class_number(class), datatype.size),
    }
}

/// Returns the description of one element. Elements without references and variable-length data are
/// described by their bytes.
fn said(stored: &Stored, datatype: &Datatype, bytes: &[u8], names: &Names<'_>) -> Result<String, Error> {
    if is_plain(datatype) {
        return Ok(hex(bytes));
    }
    let items = |base: &Datatype, bytes: &[u8]| -> Result<String, Error> {
        let one = |item: &[u8]| said(stored, base, item, names);
        Ok(bytes.chunks(base.size as usize).map(one).collect::<Result<Vec<_>, _>>()?.join(","))
    };
    match &datatype.class {
        DatatypeClass::Compound(compound) => {
            let member = |member: &hyperslab::datatype::Member| {
                let part = &bytes[member.offset as usize..][..member.datatype.size as usize];
                said(stored, &member.datatype, part, names)
            };
            let members: Result<Vec<String>, Error> = compound.members.iter().map(member).collect();
            Ok(format!("{{{}}}", members?.join(";")))
        }
        DatatypeClass::Array(array) => Ok(format!("({})", items(&array.base, bytes)?)),
        DatatypeClass::VariableLength(variable) => {
            let contents = stored.variable_length(bytes)?;
            let stored = contents.items(variable.base.size as usize)?;
            if let VariableLengthKind::String { .. } = variable.kind {
                let end = stored.iter().position(|byte| *byte == 0).unwrap_or(stored.len());
                return Ok(format!("s{}", hex(&stored[..end])));
            }
            Ok(format!("[{}]", items(&variable.base, stored)?))
        }
        DatatypeClass::Reference(reference) => Ok(match stored.reference(*reference, bytes)? {
            ReferenceTarget::Null => "r".into(),
            ReferenceTarget::Object(token) | ReferenceTarget::Region(token, _) => {
                format!("r{}", names.at(token))
            }
            target => format!("r{target:?}"),
        }),
        _ => Ok(hex(bytes)),
    }
}
