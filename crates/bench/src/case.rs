//! A piece of work.

use std::path::{Path, PathBuf};

use crate::models::Model;

/// Which program does a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Program {
    Read,
    Write,
    Metadata,
}

impl Program {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Metadata => "metadata",
        }
    }

    /// The program in C.
    pub(crate) fn in_c(self) -> &'static str {
        match self {
            Self::Read => "read_arrays",
            Self::Write => "write_files",
            Self::Metadata => "read_metadata",
        }
    }
}

/// What bounds a piece of work from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    None,
    /// The file is read from the cache of the system.
    Read,
    /// The file is read, and elements of so many bytes are written into memory.
    Convert(usize),
    /// Its chunks are decoded from memory.
    Decode,
    /// The bytes of the file are written.
    Write,
    /// Its chunks are encoded in memory.
    Encode,
    /// A file that keeps nothing that can be done without.
    Model(Model),
}

/// A piece of work.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) section: &'static str,
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) path: PathBuf,
    /// The kind of work and what follows the file.
    pub(crate) what: String,
    /// The ratio to libhdf5 that is aimed at.
    pub(crate) aim: f64,
    /// How a file that was written is read by libhdf5, to tell whether it is the same as its own.
    pub(crate) check: Option<(Program, String)>,
    /// Before each run the file is taken out of the cache of the system.
    pub(crate) cold: bool,
    /// It is done by those who map files into memory.
    pub(crate) mapped: bool,
    pub(crate) limit: Limit,
    /// Chunks and the bytes of their data, where the bytes of metadata for each chunk are of interest.
    pub(crate) chunks: Option<(u64, u64)>,
    /// Whether instructions are counted too.
    pub(crate) counted: bool,
}

impl Limit {
    /// The model of this work, if there is one.
    pub(crate) fn model(program: Program, path: &Path, what: &str) -> Self {
        Model::of(program, path, what).map_or(Self::None, Self::Model)
    }

    /// Longer than so many times what bounds it, work should not take: nobody can have all that a model leaves out.
    pub(crate) fn bound(self) -> f64 {
        if matches!(self, Self::Model(_)) { 4.0 } else { 1.3 }
    }
}

impl Case {
    /// Work on arrays or metadata that is like most.
    pub(crate) fn new(
        section: &'static str,
        name: &str,
        program: Program,
        path: PathBuf,
        what: &str,
    ) -> Self {
        let limit = Limit::model(program, &path, what);
        Self {
            section,
            name: name.to_owned(),
            program,
            path,
            what: what.to_owned(),
            aim: 1.0,
            check: None,
            cold: false,
            mapped: false,
            limit,
            chunks: None,
            counted: false,
        }
    }

    pub(crate) fn line(&self) -> String {
        line(&self.what, &self.path)
    }
}

/// The request for some work on a file.
pub(crate) fn line(what: &str, path: &Path) -> String {
    let (kind, rest) = what.split_once(' ').unwrap_or((what, ""));
    format!("{kind} {} {rest}", path.display())
}
