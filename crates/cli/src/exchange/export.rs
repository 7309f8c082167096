//! The export of matrices from HDF5 files.

use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::filter::FilterSpec;

use super::folder_of;
use super::import::{Encoding, Kept, Wanted, bring};
use super::place::{MatrixPlace, in_file};
use crate::change::named;
use crate::destination::Destination;
use crate::entries::{Keys, transfer};
use crate::formats::{mtx, npz};
use crate::open::OpenArguments;

/// The level at which files are compressed unless another is asked for.
const LEVEL: u32 = 6;

/// The destination of an exported matrix, and its compression.
#[derive(Debug)]
pub(crate) struct Goal<'a> {
    pub(crate) place: MatrixPlace,
    pub(crate) out: &'a Path,
    pub(crate) level: Option<u32>,
}

/// Writes the matrix at `path` of a file.
pub(crate) fn export(open: &OpenArguments, file: &Path, path: &str, goal: &Goal<'_>) -> Result<()> {
    let folder = folder_of(goal.out);
    match &goal.place {
        MatrixPlace::Group(to, inside) => return to_group(open, (file, path), (to, inside), goal.level),
        MatrixPlace::MatrixMarket { .. } | MatrixPlace::Npz => {}
    }
    let opened = open.open(file)?;
    let source = in_file(&opened, path).with_context(|| format!("`{}`", file.display()))?;
    let keys = Keys::rows(source.shape())?;
    let output = Destination::file(goal.out, file)?;
    let level = goal.level.unwrap_or(LEVEL);
    match goal.place {
        MatrixPlace::MatrixMarket { compressed } => {
            let sink = mtx::Writer::new(output, compressed.then_some(level), &folder)?;
            transfer(source, keys, Box::new(sink), &folder)?;
        }
        _ => transfer(source, keys, Box::new(npz::Writer::new(output, level, &folder)), &folder)?,
    }
    open.report();
    Ok(())
}

/// Writes compressed rows to a group of an HDF5 file, which may be the one that is read.
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
    let wanted = Wanted { kept: Kept::Csr, dtype: None, chunks: None, filters, encoding: Encoding::Blocks };
    let source = MatrixPlace::Group(file.to_owned(), path.to_owned());
    let open_source = || {
        let opened = open.open(file)?;
        in_file(&opened, path).with_context(|| format!("`{}`", file.display()))
    };
    bring(&source, open_source, to, inside, &wanted)
}
