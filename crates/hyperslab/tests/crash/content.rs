//! The contents of a file, in a form that can be compared fast.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hyperslab::{Dataset, File, LinkTarget, Object, ObjectKind, Result, Stored};

use crate::sequence::world::{Array, Node, Target, World};

/// The contents of each object, by path.
pub(crate) type Content = BTreeMap<String, Vec<u8>>;

fn join(path: &str, name: &str) -> String {
    format!("{}/{name}", path.trim_end_matches('/'))
}

fn say(reported: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let mut line = String::new();
    writeln!(line, "{text}").unwrap();
    reported.extend_from_slice(line.as_bytes());
}

/// Returns the contents of the file according to the model.
pub(crate) fn of_model(world: &World) -> Content {
    world.paths().into_iter().map(|(path, node)| (path, of_node(&world.nodes[node]))).collect()
}

fn of_node(node: &Node) -> Vec<u8> {
    let mut reported = Vec::new();
    for (name, value) in &node.attributes {
        say(&mut reported, format_args!("attribute {name} {:?}", value.dims));
        reported.extend_from_slice(&value.bytes);
    }
    for (name, target) in &node.links {
        match target {
            Target::Hard(_) => say(&mut reported, format_args!("link {name}")),
            Target::Soft(path) => say(&mut reported, format_args!("soft link {name} {path}")),
            Target::External(file, path) => {
                say(&mut reported, format_args!("external link {name} {file} {path}"));
            }
        }
    }
    if let Some(Array { make, dims, values }) = &node.array {
        say(&mut reported, format_args!("dataset {dims:?}"));
        reported.extend_from_slice(&make.kind.encode_all(values));
    }
    reported
}

/// Returns the contents of a file.
pub(crate) fn of_file(file: &File) -> Result<Content> {
    let mut found = Content::new();
    let mut waiting = vec![("/".to_owned(), (**file.root()).clone())];
    while let Some((path, object)) = waiting.pop() {
        let mut reported = Vec::new();
        attributes(&object, &mut reported)?;
        if object.kind() == Some(ObjectKind::Group) {
            for link in object.into_group()?.links()? {
                let name = link.name_lossy();
                match link.target {
                    LinkTarget::Hard(token) => {
                        say(&mut reported, format_args!("link {name}"));
                        waiting.push((join(&path, &name), file.object_at(token)?));
                    }
                    LinkTarget::Soft(path) => {
                        say(
                            &mut reported,
                            format_args!("soft link {name} {}", String::from_utf8_lossy(&path)),
                        );
                    }
                    LinkTarget::External { file, path } => {
                        let (file, path) = (String::from_utf8_lossy(&file), String::from_utf8_lossy(&path));
                        say(&mut reported, format_args!("external link {name} {file} {path}"));
                    }
                    other => say(&mut reported, format_args!("link {name} {other:?}")),
                }
            }
        } else if object.kind() == Some(ObjectKind::Dataset) {
            dataset(&object.into_dataset()?, &mut reported)?;
        }
        found.insert(path, reported);
    }
    Ok(found)
}

fn attributes(object: &Object, reported: &mut Vec<u8>) -> Result<()> {
    for attribute in object.attributes()? {
        say(reported, format_args!("attribute {} {:?}", attribute.name(), attribute.dataspace()?.dims()));
        reported.extend_from_slice(attribute.read_stored()?.bytes());
    }
    Ok(())
}

fn dataset(dataset: &Dataset, reported: &mut Vec<u8>) -> Result<()> {
    say(reported, format_args!("dataset {:?}", dataset.dataspace().dims()));
    if dataset.sparse().chunking().is_some() {
        let (places, values) = dataset.sparse().read_stored(..)?;
        say(reported, format_args!("defined {:?}", places.coordinates));
        elements(dataset, &values, reported)
    } else {
        elements(dataset, &dataset.read_stored(..)?, reported)
    }
}

fn elements(dataset: &Dataset, stored: &Stored, reported: &mut Vec<u8>) -> Result<()> {
    if dataset.datatype().is_variable_string() {
        say(reported, format_args!("{:?}", stored.strings()?));
    } else {
        reported.extend_from_slice(stored.bytes());
    }
    Ok(())
}

/// Returns the first difference of two contents.
pub(crate) fn difference(found: &Content, expected: &Content) -> Vec<String> {
    let only = |one: &Content, other: &Content, subject: &str| -> Vec<String> {
        one.keys().filter(|path| !other.contains_key(*path)).map(|path| format!("{subject} {path}")).collect()
    };
    let mut all = only(found, expected, "found only:");
    all.extend(only(expected, found, "missing:"));
    for (path, reported) in found {
        let Some(other) = expected.get(path).filter(|other| *other != reported) else { continue };
        let at = reported.iter().zip(other).take_while(|(one, two)| one == two).count();
        let around = |bytes: &[u8]| {
            let from = at.saturating_sub(20).min(bytes.len());
            bytes[from..bytes.len().min(at + 20)].escape_ascii().to_string()
        };
        all.push(format!("{path}: at {at} `{}` in place of `{}`", around(reported), around(other)));
    }
    all
}
