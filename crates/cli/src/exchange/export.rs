//! The export of sparse matrices from HDF5 files.

use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::filter::FilterSpec;

use super::folder_of;
use super::import::{ImportOptions, MatrixForm, import_with};
use super::location::{MatrixLocation, in_file};
use crate::change::named;
use crate::entries::{Keys, transfer};
use crate::formats::{mtx, npz};
use crate::open::OpenArguments;
use crate::output_target::{Content, OutputTarget};

/// The compression level of an exported matrix without the argument `--deflate`.
const DEFAULT_LEVEL: u32 = 6;

/// The location and the compression of an exported matrix.
#[derive(Debug)]
pub(crate) struct ExportTarget<'a> {
    pub(crate) location: MatrixLocation,
    pub(crate) out: &'a Path,
    pub(crate) level: Option<u32>,
}

/// Exports the matrix at `path` of an HDF5 file to another file or group.
pub(crate) fn export(open: &OpenArguments, file: &Path, path: &str, target: &ExportTarget<'_>) -> Result<()> {
    let folder = folder_of(target.out);
    match &target.location {
        MatrixLocation::Group(to, inside) => return to_group(open, (file, path), (to, inside), target.level),
        MatrixLocation::MatrixMarket { .. } | MatrixLocation::Npz => {}
    }
    let opened = open.open(file)?;
    let source = in_file(&opened, path).with_context(|| format!("`{}`", file.display()))?;
    let keys = Keys::rows(source.shape())?;
    let output = OutputTarget::named(target.out, file, Content::Bytes)?;
    let level = target.level.unwrap_or(DEFAULT_LEVEL);
    match target.location {
        MatrixLocation::MatrixMarket { compressed } => {
            let sink = mtx::Writer::new(output, compressed.then_some(level), &folder)?;
            transfer(source, keys, Box::new(sink), &folder)?;
        }
        _ => transfer(source, keys, Box::new(npz::Writer::new(output, level, &folder)), &folder)?,
    }
    open.report();
    Ok(())
}

/// Exports a matrix as compressed rows to a group of an HDF5 file, which may be the input file.
fn to_group(
    open: &OpenArguments,
    (file, path): (&Path, &str),
    (to, inside): (&Path, &str),
    level: Option<u32>,
) -> Result<()> {
    let inside = named(inside)?;
    let filters = match level {
        None | Some(0) => Vec::new(),
        Some(level) => vec![FilterSpec::shuffle(), FilterSpec::deflate(level)],
    };
    let options =
        ImportOptions { form: Some(MatrixForm::Csr), dtype: None, chunks: None, filters, encoding: None };
    let source = MatrixLocation::Group(file.to_owned(), path.to_owned());
    let open_source = || {
        let opened = open.open(file)?;
        in_file(&opened, path).with_context(|| format!("`{}`", file.display()))
    };
    import_with(&source, open_source, to, inside, &options)
}
