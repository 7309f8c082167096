//! The import of sparse matrices into HDF5 files.

use std::path::Path;

use anyhow::{Result, bail};
use hyperslab::SelectionEncoding;
use hyperslab::filter::FilterSpec;
use hyperslab::vfd::is_same_file;

use super::location::{self, MatrixLocation};
use super::{folder_of, group};
use crate::change::create_whole;
use crate::entries::{Converted, Element, Keys, Source, dataset, transfer};
use crate::formats::new_object::NewObject;
use crate::input::Input;
use crate::typed::TypeName;

/// The form of an imported matrix in the HDF5 file: a sparse dataset or a group of compressed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatrixForm {
    /// A sparse dataset, which stores the defined elements in structured chunks
    Sparse,
    /// A group of compressed rows in the format of AnnData
    Csr,
}

/// The encoding in which a sparse dataset stores the list of its defined elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Encoding {
    /// Blocks of elements: the form that other implementations of the proposal expect
    Blocks,
    /// Single elements: smaller if few defined elements are neighbours
    Points,
    /// The smaller of the two forms, for each chunk
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

/// The options of the command `import` for a matrix.
#[derive(Debug)]
pub(crate) struct ImportOptions<'a> {
    /// The form of the matrix. `None` is compressed rows for matrices of two dimensions, else a
    /// sparse dataset.
    pub(crate) form: Option<MatrixForm>,
    pub(crate) dtype: Option<TypeName>,
    pub(crate) chunks: Option<&'a [u64]>,
    pub(crate) filters: Vec<FilterSpec>,
    /// The encoding of a sparse dataset. `None` is blocks.
    pub(crate) encoding: Option<Encoding>,
}

/// Imports the matrix in the file `input` as the object at `path` of the HDF5 file `file`.
pub(crate) fn import(
    from: &MatrixLocation,
    input: &Input,
    file: &Path,
    path: &str,
    options: &ImportOptions<'_>,
) -> Result<()> {
    if let Some([]) = options.chunks {
        bail!("the chunk shape has no dimensions");
    }
    import_with(from, || from.open(input.path(), input.name()), file, path, options)
}

/// Imports the matrix `from` as the object at `path` of the HDF5 file `to`. The matrix may come
/// from the same file.
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
    let source = if inside.is_some() { None } else { Some(open()?) };
    create_whole(to, path, |new| {
        let source = match (source, inside) {
            (Some(source), _) => source,
            (None, Some(inside)) => location::in_file(new.file, inside)?,
            (None, None) => bail!("the matrix is missing"),
        };
        store(source, new, &folder_of(to), options)
    })
}

/// Creates the sparse dataset or the group for an imported matrix, and writes the matrix entries.
fn store(
    source: Box<dyn Source>,
    new: &NewObject<'_>,
    folder: &Path,
    options: &ImportOptions<'_>,
) -> Result<()> {
    let source = match options.dtype {
        Some(name) => Box::new(Converted::new(source, Element::named(name)?)?),
        None => source,
    };
    let form = match (options.form, source.shape()) {
        (Some(form), _) => form,
        (None, [_, _]) => MatrixForm::Csr,
        (None, _) => MatrixForm::Sparse,
    };
    if options.encoding.is_some() && form != MatrixForm::Sparse {
        bail!("--encoding works only with sparse datasets (--as sparse)");
    }
    match form {
        MatrixForm::Sparse => {
            let chunk = match options.chunks {
                Some(chunk) => chunk.to_vec(),
                None => dataset::chunk_for(source.shape(), source.element(), source.count())?,
            };
            let keys = Keys::chunks(source.shape(), &chunk)?;
            let sink = dataset::Writer::new(
                new.holder(),
                new.name(),
                chunk,
                options.filters.clone(),
                options.encoding.unwrap_or(Encoding::Blocks).stored(),
            );
            transfer(source, keys, Box::new(sink), folder)
        }
        MatrixForm::Csr => {
            let chunk = match options.chunks {
                None => None,
                Some([elements]) => Some(*elements),
                Some(_) => {
                    bail!(
                        "the arrays of compressed rows have one dimension: give --chunks one size, such as 65536, or store a sparse dataset with --as sparse"
                    )
                }
            };
            let keys = Keys::rows(source.shape())?;
            let stored = group::Stored { chunk, filters: options.filters.clone() };
            let sink = group::Writer::new(new.holder(), new.name(), stored, folder.to_owned());
            transfer(source, keys, Box::new(sink), folder)
        }
    }
}
