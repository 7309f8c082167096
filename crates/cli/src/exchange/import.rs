//! The import of matrices into HDF5 files.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::vfd::is_same_file;
use hyperslab::{File, SelectionEncoding};

use super::location::{self, MatrixLocation};
use super::{folder_of, group};
use crate::change::{change, named, open_or_create};
use crate::entries::{Converted, Element, Keys, Source, dataset, transfer};
use crate::typed::TypeName;

/// The form in which a matrix is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MatrixForm {
    /// A sparse dataset, which stores the defined elements in structured chunks
    Sparse,
    /// A group of compressed rows in the format of AnnData
    Csr,
}

/// The encoding of the list of defined elements of a sparse dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Encoding {
    /// Blocks, which other implementations of the proposal expect
    Blocks,
    /// Single elements: smaller if few defined elements are neighbours
    Points,
    /// The smaller of the two, for each chunk
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

/// The options of an import.
#[derive(Debug)]
pub(crate) struct ImportOptions<'a> {
    pub(crate) form: MatrixForm,
    pub(crate) dtype: Option<TypeName>,
    pub(crate) chunks: Option<&'a [u64]>,
    pub(crate) filters: Vec<FilterSpec>,
    pub(crate) encoding: Encoding,
}

/// Stores the matrix at `input` at `path` of the file.
pub(crate) fn import(
    from: &MatrixLocation,
    input: &Path,
    file: &Path,
    path: &str,
    options: ImportOptions<'_>,
) -> Result<()> {
    let path = named(path)?;
    if let Some([]) = options.chunks {
        bail!("the shape of chunks is empty");
    }
    import_with(from, || from.open(input), file, path, &options)
}

/// Stores the matrix `from` at `path` of the file `to`, which may also contain the matrix. Removes
/// a new file after an error.
pub(super) fn import_with(
    from: &MatrixLocation,
    open: impl FnOnce() -> Result<Box<dyn Source>>,
    to: &Path,
    path: &str,
    options: &ImportOptions<'_>,
) -> Result<()> {
    let inside = match from {
        MatrixLocation::Group(other, inside) if is_same_file(other, to) => Some(inside),
        _ => None,
    };
    let existed = to.exists();
    // The source is opened before the file is created, so that an unreadable source leaves no file.
    let source = if inside.is_some() { None } else { Some(open()?) };
    let outcome = change(to, open_or_create(to)?, |target| {
        let source = match (source, inside) {
            (Some(source), _) => source,
            (None, Some(inside)) => location::in_file(target, inside)?,
            (None, None) => bail!("the matrix is missing"),
        };
        store(source, target, path, &folder_of(to), options)
    });
    if outcome.is_err() && !existed {
        // The first error is reported, not this one.
        let _ = std::fs::remove_file(to);
    }
    outcome
}

/// Creates the sparse dataset or the group of a matrix. Removes it after an error.
fn store(
    source: Box<dyn Source>,
    file: &File,
    path: &str,
    folder: &Path,
    options: &ImportOptions<'_>,
) -> Result<()> {
    let new = first_new(file, path)?.with_context(|| format!("`{path}` exists already"))?;
    let source = match options.dtype {
        Some(name) => Box::new(Converted::new(source, Element::named(name)?)?),
        None => source,
    };
    let outcome = match options.form {
        MatrixForm::Sparse => {
            let chunk = match options.chunks {
                Some(chunk) => chunk.to_vec(),
                None => dataset::chunk_for(source.shape(), source.element(), source.count())?,
            };
            let keys = Keys::chunks(source.shape(), &chunk)?;
            let sink =
                dataset::Writer::new(file, path, chunk, options.filters.clone(), options.encoding.stored());
            transfer(source, keys, Box::new(sink), folder)
        }
        MatrixForm::Csr => {
            let chunk = match options.chunks {
                None => None,
                Some([elements]) => Some(*elements),
                Some(_) => {
                    bail!(
                        "the arrays of compressed rows have one dimension: give --chunks one size, such as 65536"
                    )
                }
            };
            let keys = Keys::rows(source.shape())?;
            let stored = group::Stored { chunk, filters: options.filters.clone() };
            let sink = group::Writer::new(file, path, stored, folder.to_owned());
            transfer(source, keys, Box::new(sink), folder)
        }
    };
    if outcome.is_err() && file.object(&new).is_ok() {
        // The first error is reported, not this one.
        let _ = file.remove(&new);
    }
    outcome
}

/// Returns the shortest prefix of the path that does not exist, or `None` if the whole path exists.
fn first_new(file: &File, path: &str) -> Result<Option<String>> {
    let mut prefix = String::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let parent = crate::lookup::object(file, &prefix)?;
        let Ok(parent) = parent.into_group() else { bail!("`{prefix}` is not a group") };
        if !prefix.is_empty() {
            prefix.push('/');
        }
        prefix.push_str(name);
        if !parent.link_exists(name)? {
            return Ok(Some(prefix));
        }
    }
    Ok(None)
}
