//! The table of the objects in the new file that h5repack prints (`-v`).

use std::collections::HashSet;
use std::io::{self, Write};

use anyhow::Result;
use hyperslab::{Dataset, File, FilterInfo, LinkTarget, Object, ObjectKind, ObjectToken};

use crate::output::escape;

/// The width of the columns to the left of the names in h5repack's table.
const NAME_INDENT: usize = 28;

/// The names of the filters with the identifiers 1 and above, in ascending order.
const FILTERS: [&str; 6] = ["GZIP", "SHUF", "FLET", "SZIP", "NBIT", "SOFF"];

/// An object or link that h5repack's table will list later.
enum Next {
    Object(ObjectToken, Vec<u8>),
    Link(Vec<u8>),
}

/// Prints h5repack's table of all objects, each once. The members of a group come before the
/// objects after the group.
pub(super) fn print(out: &mut impl Write, file: &File) -> Result<()> {
    let rule = "-----------------------------------------";
    writeln!(out, "{rule}\n Type     Filter (Compression)     Name\n{rule}")?;
    let mut known = HashSet::new();
    let mut pending = vec![Next::Object(file.root().token(), b"/".to_vec())];
    while let Some(next) = pending.pop() {
        match next {
            Next::Link(path) => line(out, " link", &path)?,
            Next::Object(token, path) if known.insert(token) => {
                object(out, &file.object_at(token)?, &path, &mut pending)?;
            }
            Next::Object(..) => {}
        }
    }
    Ok(())
}

fn line(out: &mut impl Write, subject: &str, name: &[u8]) -> io::Result<()> {
    writeln!(out, "{subject:<NAME_INDENT$} {}", escape(name))
}

fn object(out: &mut impl Write, object: &Object, path: &[u8], pending: &mut Vec<Next>) -> Result<()> {
    match object.kind() {
        Some(ObjectKind::Group) => {
            line(out, " group", path)?;
            let parent = path.strip_suffix(b"/").unwrap_or(path);
            let mut links = object.clone().into_group()?.links()?;
            links.sort_by(|one, other| other.name.cmp(&one.name));
            pending.extend(links.into_iter().map(|link| {
                let path = [parent, b"/", &link.name].concat();
                match link.target {
                    LinkTarget::Hard(token) => Next::Object(token, path),
                    _ => Next::Link(path),
                }
            }));
        }
        Some(ObjectKind::Dataset) => line(out, &dataset(&object.clone().into_dataset()?)?, path)?,
        Some(ObjectKind::Datatype) => line(out, " type", path)?,
        _ => line(out, " other", path)?,
    }
    for name in object.attribute_names()? {
        writeln!(out, "{:<width$} {}", "  attr", escape(name.as_bytes()), width = NAME_INDENT + 1)?;
    }
    Ok(())
}

/// Returns the filters of a dataset for h5repack's table, and its compression ratio.
#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn dataset(dataset: &Dataset) -> Result<String> {
    let filters = match dataset.sparse().chunking() {
        Some(chunking) => chunking.sections.into_iter().flat_map(|(_, filters)| filters).collect(),
        None => dataset.filters(),
    };
    let mut names: Vec<String> = filters.iter().map(name).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(" dset".into());
    }
    let elements = dataset.dataspace().element_count().unwrap_or(u64::MAX);
    let bytes = elements as f64 * f64::from(dataset.datatype().size);
    let stored = dataset.storage_size()?;
    let ratio = if stored == 0 { 0.0 } else { bytes / stored as f64 };
    Ok(format!(" dset     {}   ({ratio:.3}:1)", names.join(" ")))
}

fn name(filter: &FilterInfo) -> String {
    let known = filter.id.checked_sub(1).and_then(|index| FILTERS.get(usize::from(index)));
    known.map_or_else(|| "UD".to_owned(), |name| (*name).to_owned())
}
