//! The targets of a command's output: standard output or a file.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::vfd::is_same_file;
use tempfile::NamedTempFile;

use crate::input::STANDARD;
use crate::interrupted::new_file_for;
use crate::output::{PlainOutput, Screen, plain_stdout};

/// The kind of a command's output, text or bytes. The kind determines how the output is written to
/// a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text for people. Control characters are always escaped.
    Text,
    /// Text for programs. Control characters are escaped only on a terminal.
    Data,
    /// Bytes that are not text. They are refused on a terminal.
    Bytes,
}

/// The destination of a command's output: standard output, or a file. A new file appears complete
/// or not at all.
pub(crate) enum OutputTarget {
    Stdout(PlainOutput),
    /// An existing file that is not a regular file, such as a pipe.
    Device {
        writer: BufWriter<File>,
        path: PathBuf,
    },
    New {
        writer: BufWriter<NamedTempFile>,
        path: PathBuf,
    },
}

impl OutputTarget {
    /// Locks standard output for text or bytes. Returns an error for bytes if standard output is a
    /// terminal.
    pub(crate) fn stdout(content: Content) -> Result<Self> {
        let is_terminal = io::stdout().is_terminal();
        if content == Content::Bytes && is_terminal {
            bail!(
                "this format is not text and cannot be printed to a terminal; name a file with --output, or use a pipe"
            );
        }
        let escapes_nothing = content == Content::Bytes || (content == Content::Data && !is_terminal);
        Ok(Self::Stdout(plain_stdout(escapes_nothing)))
    }

    /// Opens the output that an argument names; `-` is standard output. Returns an error if `path`
    /// is the file `source` that the command reads.
    pub(crate) fn named(path: &Path, source: &Path, content: Content) -> Result<Self> {
        let is_stdout = [STANDARD, "/dev/stdout"].into_iter().any(|name| path == Path::new(name));
        if is_stdout { Self::stdout(content) } else { Self::file(path, source) }
    }

    /// Creates an output file. Returns an error if `path` is the file `source` that the command
    /// reads.
    pub(crate) fn file(path: &Path, source: &Path) -> Result<Self> {
        let cannot = || format!("cannot write `{}`", path.display());
        if is_same_file(path, source) {
            bail!("the output file `{}` is the input file: name another output file", path.display())
        }
        // Such a path is the name of an open file of this process, which may be a regular file.
        let is_open = ["/dev/fd", "/dev/stderr", "/proc"].into_iter().any(|name| path.starts_with(name));
        if path.exists() && (is_open || !path.is_file()) {
            let writer = BufWriter::new(File::options().append(true).open(path).with_context(cannot)?);
            return Ok(Self::Device { writer, path: path.to_owned() });
        }
        // If the path is a symbolic link, the link stays and its target is replaced.
        let target =
            if path.is_symlink() { path.canonicalize().with_context(cannot)? } else { path.to_owned() };
        let path = target.as_path();
        let file = new_file_for(path, "")?;
        Ok(Self::New { writer: BufWriter::with_capacity(1 << 16, file), path: path.to_owned() })
    }

    /// Returns true if the output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout(writer) => writer.get_ref().get_ref().is_terminal(),
            Self::Device { writer, .. } => writer.get_ref().is_terminal(),
            Self::New { .. } => false,
        }
    }

    /// Flushes the output of a command. If the output is a new file, renames the file to its final
    /// name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        if let Self::New { writer, path } = self {
            let cannot = || format!("cannot write `{}`", path.display());
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
            file.persist(&path).map_err(|error| error.error).with_context(cannot)?;
        }
        Ok(())
    }
}

/// Adds the name of the output file to a write error, such as a full disk.
fn named<T>(path: &Path, written: io::Result<T>) -> io::Result<T> {
    written
        .map_err(|error| io::Error::new(error.kind(), format!("cannot write `{}`: {error}", path.display())))
}

impl Write for OutputTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(writer) => writer.write(bytes),
            Self::Device { writer, path } => named(path, writer.write(bytes)),
            Self::New { writer, path } => named(path, writer.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.flush(),
            Self::Device { writer, path } => named(path, writer.flush()),
            Self::New { writer, path } => named(path, writer.flush()),
        }
    }
}

impl Screen for OutputTarget {
    fn style(&mut self, code: impl std::fmt::Display) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.style(code),
            Self::Device { writer, .. } => write!(writer, "{code}"),
            Self::New { writer, .. } => write!(writer, "{code}"),
        }
    }
}
