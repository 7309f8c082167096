//! Matrices on their way into HDF5 files.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::{File, SelectionEncoding};

use super::batch::Source;
use super::convert::Converted;
use super::element::Element;
use super::place::{self, Place};
use super::sorted::Keys;
use super::transfer::transfer;
use super::{dataset, folder_of, group};
use crate::change::{TypeName, change, named, open_or_create};

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

/// Brings the matrix at `input` to `path` of the file.
pub(crate) fn import(from: &Place, input: &Path, file: &Path, path: &str, wanted: Wanted<'_>) -> Result<()> {
    let path = named(path)?;
    if let Some([]) = wanted.chunks {
        bail!("chunks without a shape");
    }
    let same = matches!(from, Place::Group(other, _) if is_same(other, file));
    let there = file.exists();
    // What cannot be read is found before there is a file.
    let source = if same { None } else { Some(from.open(input)?) };
    let work = |opened: &File| {
        let source = match (source, from) {
            (Some(source), _) => source,
            (None, Place::Group(_, inside)) => place::in_file(opened, inside)?,
            (None, _) => bail!("no matrix"),
        };
        store(source, opened, path, &folder_of(file), &wanted)
    };
    let outcome = change(file, open_or_create(file)?, work);
    if outcome.is_err() && !there {
        // The error that came first is the one to be told.
        let _ = std::fs::remove_file(file);
    }
    outcome
}

pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    hyperslab::vfd::is_same_file(one, other)
}

/// Makes what a matrix becomes. If that fails, nothing of it stays.
pub(super) fn store(
    source: Box<dyn Source>,
    file: &File,
    path: &str,
    folder: &Path,
    wanted: &Wanted<'_>,
) -> Result<()> {
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
        // The error that came first is the one to be told.
        let _ = file.remove(&new);
    }
    outcome
}

/// The first group on the way, or the end of the path, that is not there.
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
