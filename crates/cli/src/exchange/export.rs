//! Matrices on their way out of HDF5 files.

use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::filter::FilterSpec;

use super::import::{Encoding, Kept, Wanted, is_same, store};
use super::place::{Place, in_file};
use super::sorted::Keys;
use super::transfer::transfer;
use super::{folder_of, matrix_market, npz};
use crate::cat::Destination;
use crate::change::{change, named, open_or_create};
use crate::open::OpenArguments;

/// The level at which files are compressed unless another is asked for.
const LEVEL: u32 = 6;

/// Where a matrix goes to, and how it is compressed there.
#[derive(Debug)]
pub(crate) struct Goal<'a> {
    pub(crate) place: Place,
    pub(crate) out: &'a Path,
    pub(crate) level: Option<u32>,
}

/// Writes the matrix at `path` of a file.
pub(crate) fn export(open: &OpenArguments, file: &Path, path: &str, goal: &Goal<'_>) -> Result<()> {
    let folder = folder_of(goal.out);
    match &goal.place {
        Place::Group(to, inside) => return to_group(open, (file, path), (to, inside), goal.level),
        Place::MatrixMarket { .. } | Place::Npz => {}
    }
    let opened = open.open(file)?;
    let source = in_file(&opened, path).with_context(|| format!("`{}`", file.display()))?;
    let keys = Keys::rows(source.shape())?;
    let output = Destination::file(goal.out, file)?;
    let level = goal.level.unwrap_or(LEVEL);
    match goal.place {
        Place::MatrixMarket { compressed } => {
            let sink = matrix_market::Writer::new(output, compressed.then_some(level), &folder)?;
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
    let there = to.exists();
    let source = if is_same(file, to) {
        None
    } else {
        let opened = open.open(file)?;
        Some(in_file(&opened, path).with_context(|| format!("`{}`", file.display()))?)
    };
    let outcome = change(to, open_or_create(to)?, |target| {
        let source = match source {
            Some(source) => source,
            None => in_file(target, path)?,
        };
        store(source, target, inside, &folder_of(to), &wanted)
    });
    if outcome.is_err() && !there {
        // The error that came first is the one to be told.
        let _ = std::fs::remove_file(to);
    }
    outcome
}
