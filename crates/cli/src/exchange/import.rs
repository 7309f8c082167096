//! The import of matrices into HDF5 files.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::vfd::is_same_file;
use hyperslab::{File, SelectionEncoding};

use super::place::{self, MatrixPlace};
use super::{folder_of, group};
use crate::change::{change, named, open_or_create};
use crate::entries::{Converted, Element, Keys, Source, dataset, transfer};
use crate::typed::TypeName;

/// What becomes of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kept {
    /// A sparse dataset, which stores what is defined, in structured chunks
    Sparse,
    /// A group of compressed rows, as AnnData has it
    Csr,
}

/// How a sparse dataset lists its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Encoding {
    /// As blocks, which other implementations of the proposal expect
    Blocks,
    /// One by one, which is smaller where few are neighbours
    Points,
    /// Whichever is smaller, chunk by chunk
    Shortest,
}

impl Encoding {
    pub(super) fn stored(self) -> SelectionEncoding {
        match self {
            Self::Blocks => SelectionEncoding::Blocks,
            Self::Points => SelectionEncoding::Points,
            Self::Shortest => SelectionEncoding::Shortest,
        }
    }
}

/// How a matrix is imported.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) kept: Kept,
    pub(crate) dtype: Option<TypeName>,
    pub(crate) chunks: Option<&'a [u64]>,
    pub(crate) filters: Vec<FilterSpec>,
    pub(crate) encoding: Encoding,
}

/// Stores the matrix at `input` at `path` of the file.
pub(crate) fn import(
    from: &MatrixPlace,
    input: &Path,
    file: &Path,
    path: &str,
    wanted: Wanted<'_>,
) -> Result<()> {
    let path = named(path)?;
    if let Some([]) = wanted.chunks {
        bail!("chunks without a shape");
    }
    bring(from, || from.open(input), file, path, &wanted)
}

/// Stores the matrix `from` at `path` of the file `to`, which may be the file of the matrix. A file that did not exist
/// before is removed after an error.
pub(super) fn bring(
    from: &MatrixPlace,
    open: impl FnOnce() -> Result<Box<dyn Source>>,
    to: &Path,
    path: &str,
    wanted: &Wanted<'_>,
) -> Result<()> {
    let inside = match from {
        MatrixPlace::Group(other, inside) if is_same_file(other, to) => Some(inside),
        _ => None,
    };
    let existed = to.exists();
    // The source is opened before the file is created, so that an unreadable source leaves no file.
    let source = if inside.is_some() { None } else { Some(open()?) };
    let outcome = change(to, open_or_create(to)?, |target| {
        let source = match (source, inside) {
            (Some(source), _) => source,
            (None, Some(inside)) => place::in_file(target, inside)?,
            (None, None) => bail!("no matrix"),
        };
        store(source, target, path, &folder_of(to), wanted)
    });
    if outcome.is_err() && !existed {
        // The first error is reported.
        let _ = std::fs::remove_file(to);
    }
    outcome
}

/// Creates the sparse dataset or the group of a matrix. Removes it after an error.
fn store(source: Box<dyn Source>, file: &File, path: &str, folder: &Path, wanted: &Wanted<'_>) -> Result<()> {
    let new = first_new(file, path)?.with_context(|| format!("there is a `{path}` already"))?;
    let source = match wanted.dtype {
        Some(name) => Box::new(Converted::new(source, Element::named(name)?)?),
        None => source,
    };
    let outcome = match wanted.kept {
        Kept::Sparse => {
            let chunk = match wanted.chunks {
                Some(chunk) => chunk.to_vec(),
                None => dataset::chunk_for(source.shape(), source.element(), source.count())?,
            };
            let keys = Keys::chunks(source.shape(), &chunk)?;
            let sink =
                dataset::Writer::new(file, path, chunk, wanted.filters.clone(), wanted.encoding.stored());
            transfer(source, keys, Box::new(sink), folder)
        }
        Kept::Csr => {
            let chunk = match wanted.chunks {
                None => None,
                Some([elements]) => Some(*elements),
                Some(_) => {
                    bail!("the arrays of compressed rows have one dimension, and chunks such as 65536")
                }
            };
            let keys = Keys::rows(source.shape())?;
            let stored = group::Stored { chunk, filters: wanted.filters.clone() };
            let sink = group::Writer::new(file, path, stored, folder.to_owned());
            transfer(source, keys, Box::new(sink), folder)
        }
    };
    if outcome.is_err() && file.object(&new).is_ok() {
        // The first error is reported.
        let _ = file.remove(&new);
    }
    outcome
}

/// Returns the shortest prefix of the path that does not exist, or `None` if the whole path exists.
fn first_new(file: &File, path: &str) -> Result<Option<String>> {
    let mut way = String::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let parent = crate::places::object(file, &way)?;
        let Ok(parent) = parent.into_group() else { bail!("`{way}` is no group") };
        if !way.is_empty() {
            way.push('/');
        }
        way.push_str(name);
        if !parent.link_exists(name)? {
            return Ok(Some(way));
        }
    }
    Ok(None)
}
