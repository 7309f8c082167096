//! The input files of importers. Importers read a file more than once, so standard input and pipes
//! are copied to a temporary file first.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::read::MultiGzDecoder;
use tempfile::{NamedTempFile, TempPath};

/// The argument that means standard input or standard output.
pub(crate) const STANDARD: &str = "-";

/// The number of bytes at the start of a file by which the program recognizes the format.
const HEAD_BYTES: u64 = 512;

/// An input file that a command can read more than once.
#[derive(Debug)]
pub(crate) struct Input {
    /// The name in the arguments.
    name: PathBuf,
    /// The copy of a pipe, or the decompressed file.
    copy: Option<TempPath>,
}

impl Input {
    /// Opens the input file that an argument names; `-` is standard input. Copies the input to a
    /// temporary file unless it is a regular file.
    pub(crate) fn open(name: &Path) -> Result<Self> {
        let cannot = || format!("cannot read `{}`", name.display());
        let copy = if name == Path::new(STANDARD) {
            Some(copied(io::stdin().lock()).with_context(cannot)?)
        } else if name.exists() && !name.is_file() && !name.is_dir() {
            Some(copied(File::open(name).with_context(cannot)?).with_context(cannot)?)
        } else {
            None
        };
        Ok(Self { name: name.to_owned(), copy })
    }

    /// Returns the path of the input file, which may be a temporary copy.
    pub(crate) fn path(&self) -> &Path {
        self.copy.as_deref().unwrap_or(&self.name)
    }

    /// Returns the name of the input file as the argument states it.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the first bytes of the input file. Returns no bytes if the file cannot be read.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        if let Ok(file) = File::open(self.path()) {
            // A file that cannot be read has no known format; the reader of a format reports the
            // error.
            let _ = file.take(HEAD_BYTES).read_to_end(&mut head);
        }
        head
    }

    /// Returns the input file with its gzip compression removed.
    pub(crate) fn decompressed(self) -> Result<Self> {
        let cannot = || format!("cannot decompress `{}`", self.name.display());
        let file = File::open(self.path()).with_context(cannot)?;
        let copy = copied(MultiGzDecoder::new(BufReader::new(file))).with_context(cannot)?;
        Ok(Self { name: self.name, copy: Some(copy) })
    }
}

/// Copies an input stream to a temporary file.
fn copied(mut from: impl Read) -> io::Result<TempPath> {
    let mut copy = NamedTempFile::with_prefix("hyperslab-")?;
    io::copy(&mut from, &mut copy)?;
    Ok(copy.into_temp_path())
}
