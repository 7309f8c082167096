//! `hyperslab digest`: a canonical description of a whole file.

use std::path::PathBuf;

use anyhow::Result;

/// What `digest` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file.
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    hyperslab::File::open(&arguments.file)?;
    Ok(())
}
