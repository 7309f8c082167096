//! The SWMR operations of a file: refresh by a reader, start by a writer.

use super::OpenFile;
use crate::error::Result;

impl OpenFile {
    /// Reads the superblock of the file again, if the file is open as a SWMR reader.
    ///
    /// # Errors
    /// Returns I/O errors, and [`Error::Corrupt`](crate::Error::Corrupt) if the file has no
    /// superblock any more.
    pub fn refresh(&self) -> Result<()> {
        self.container.store.refresh()
    }

    /// Flushes the file and begins SWMR writing: other programs may read the file from now on.
    ///
    /// # Errors
    /// As [`Edit::start_swmr_write`](crate::store::Edit::start_swmr_write) and
    /// [`flush`](Self::flush).
    pub fn start_swmr_write(&self) -> Result<()> {
        self.flush_chunks_concurrently(None)?;
        let mut edit = self.edit()?;
        self.delete_abandoned(&mut edit, false);
        self.flush_writers(&mut edit)?;
        edit.commit()?;
        edit.start_swmr_write()
    }
}
