//! Temporary files that are first written completely, and then read.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek as _, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab_exact::to_u64;

/// A temporary file that is first written completely, and then read. When the value is dropped, the
/// file is removed.
#[derive(Debug)]
pub(crate) struct Spool {
    writer: BufWriter<File>,
    length: u64,
}

impl Spool {
    /// Creates a temporary file in a folder.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let cannot = || format!("cannot create a temporary file in `{}`", folder.display());
        let file = tempfile::tempfile_in(folder).with_context(cannot)?;
        Ok(Self { writer: BufWriter::with_capacity(1 << 18, file), length: 0 })
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Replaces `buffer` with at most `count` bytes of the temporary file, from the offset `at`.
    pub(crate) fn read_at(&mut self, at: u64, buffer: &mut Vec<u8>, count: u64) -> Result<()> {
        self.writer.flush().context("cannot write a temporary file")?;
        let file = self.writer.get_mut();
        file.seek(SeekFrom::Start(at))?;
        buffer.clear();
        file.take(count).read_to_end(buffer)?;
        Ok(())
    }

    /// Returns a reader of the whole temporary file.
    pub(crate) fn into_reader(self) -> Result<impl Read> {
        let mut file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.length += to_u64(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
