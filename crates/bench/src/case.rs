//! Benchmark cases.

use std::path::{Path, PathBuf};

use crate::models::Model;

/// The program that runs a case.
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

    /// Returns the name of the C program.
    pub(crate) fn in_c(self) -> &'static str {
        match self {
            Self::Read => "read_arrays",
            Self::Write => "write_files",
            Self::Metadata => "read_metadata",
        }
    }
}

/// The lower bound of a case's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    None,
    /// The time to read the file from the system's cache.
    Read,
    /// The time to read the file and to write this number of bytes of elements into memory.
    Convert(usize),
    /// The time to decode the file's chunks from memory.
    Decode,
    /// The time to write the bytes of the file.
    Write,
    /// The time to encode the file's chunks in memory.
    Encode,
    /// The time of a model, which stores only the indispensable data.
    Model(Model),
}

/// A benchmark case: one measured workload.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) section: &'static str,
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) path: PathBuf,
    /// The name of the operation, and the words that follow the name of the file in the request.
    pub(crate) description: String,
    /// The target ratio to libhdf5.
    pub(crate) aim: f64,
    /// The request with which libhdf5 reads a written file back. The result is compared with the
    /// same reading of libhdf5's own file.
    pub(crate) check: Option<(Program, String)>,
    /// True to remove the file from the system's cache before each run.
    pub(crate) cold: bool,
    /// True if the case compares programs that map files into memory.
    pub(crate) mapped: bool,
    pub(crate) limit: Limit,
    /// The number of chunks and the bytes of their data, if the report shows the metadata bytes for
    /// each chunk.
    pub(crate) chunks: Option<(u64, u64)>,
    /// True if instructions are counted too.
    pub(crate) counted: bool,
}

impl Limit {
    /// Returns the model of the case, if one exists.
    pub(crate) fn model(program: Program, path: &Path, description: &str) -> Self {
        Model::of(program, path, description).map_or(Self::None, Self::Model)
    }

    /// Returns the largest acceptable ratio of a case's time to its limit. Models omit much that
    /// every implementation must do, so their bound is larger.
    pub(crate) fn bound(self) -> f64 {
        if matches!(self, Self::Model(_)) { 4.0 } else { 1.3 }
    }
}

impl Case {
    /// Returns a case with the usual settings.
    pub(crate) fn new(
        section: &'static str,
        name: &str,
        program: Program,
        path: PathBuf,
        description: &str,
    ) -> Self {
        let limit = Limit::model(program, &path, description);
        Self {
            section,
            name: name.to_owned(),
            program,
            path,
            description: description.to_owned(),
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
        line(&self.description, &self.path)
    }
}

/// Returns the request line for an operation on a file.
pub(crate) fn line(description: &str, path: &Path) -> String {
    let (kind, rest) = description.split_once(' ').unwrap_or((description, ""));
    format!("{kind} {} {rest}", path.display())
}
