//! Where elements are written to.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::vfd::is_same_file;
use tempfile::NamedTempFile;

use crate::interrupted::new_file_for;
use crate::output::{PlainOutput, Screen, plain_stdout};

use super::Format;

/// Standard output or a file, which appears whole or not at all.
pub(crate) enum Destination {
    Stdout(PlainOutput),
    /// Something that is there already and no regular file, such as a pipe.
    Device(BufWriter<File>),
    New {
        writer: BufWriter<NamedTempFile>,
        path: PathBuf,
    },
}

impl Destination {
    /// Standard output for a format. Text is made safe for terminals; bytes that are no text do not go to one, and comma-separated
    /// values are data wherever no terminal shows them.
    pub(super) fn stdout(format: Format) -> Result<Self> {
        let is_terminal = io::stdout().is_terminal();
        if format.is_binary() && is_terminal {
            bail!(
                "this format is not text, and would go to the terminal; name a file with --output, or use a pipe"
            );
        }
        let is_data = format.is_binary() || (format == Format::Csv && !is_terminal);
        Ok(Self::Stdout(plain_stdout(is_data)))
    }

    /// A file, which must not be the one that is read.
    pub(crate) fn file(path: &Path, source: &Path) -> Result<Self> {
        let cannot = || format!("cannot write `{}`", path.display());
        if is_same_file(path, source) {
            bail!("`{}` is the file that is read", path.display())
        }
        if path.exists() && !path.is_file() {
            return Ok(Self::Device(BufWriter::new(File::create(path).with_context(cannot)?)));
        }
        let file = new_file_for(path, "")?;
        Ok(Self::New { writer: BufWriter::with_capacity(1 << 16, file), path: path.to_owned() })
    }

    /// Whether people see it at once.
    pub(super) fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout(writer) => writer.get_ref().get_ref().is_terminal(),
            Self::Device(writer) => writer.get_ref().is_terminal(),
            Self::New { .. } => false,
        }
    }

    /// Ends writing; a file appears under its name.
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

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(writer) => writer.write(bytes),
            Self::Device(writer) => writer.write(bytes),
            Self::New { writer, .. } => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.flush(),
            Self::Device(writer) => writer.flush(),
            Self::New { writer, .. } => writer.flush(),
        }
    }
}

impl Screen for Destination {
    fn style(&mut self, code: impl std::fmt::Display) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.style(code),
            Self::Device(writer) => write!(writer, "{code}"),
            Self::New { writer, .. } => write!(writer, "{code}"),
        }
    }
}
