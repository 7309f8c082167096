//! A file that one writes while others read it.

use hyperslab_format::message::{ChunkIndex, Layout};

use super::{DatasetWriter, OpenFile};
use crate::error::{Error, Result};
use crate::object::header::ObjectHeader;
use crate::store::Store;

impl OpenFile {
    /// Takes the file as it is now, if it was opened to follow its writer.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if there is no superblock any more.
    pub fn refresh(&self) -> Result<()> {
        self.container.store.refresh()
    }

    /// Lets others read the file from now on while it is written.
    ///
    /// # Errors
    /// As [`Edit::start_swmr_write`](crate::store::Edit::start_swmr_write) and [`flush`](Self::flush).
    pub fn start_swmr_write(&self) -> Result<()> {
        self.flush_ahead(None)?;
        let mut edit = self.edit()?;
        self.delete_abandoned(&mut edit, false);
        self.flush_writers(&mut edit)?;
        edit.commit()?;
        edit.start_swmr_write()
    }
}

impl DatasetWriter {
    /// An error if the dataset cannot be written while others read it.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(super) fn check_followed(&self, store: &Store) -> Result<()> {
        if !store.is_swmr_writer() {
            return Ok(());
        }
        let unsupported = |what: &str| Err(Error::unsupported(format!("SWMR writing of {what}")));
        if self.description().datatype.points_into_file() {
            return unsupported("elements that lead to others in the file (variable length, references)");
        }
        match &self.description().layout.layout {
            Layout::Chunked(layout) if layout.index == ChunkIndex::BTreeV1 => {
                return unsupported("chunks under a version 1 B-tree");
            }
            Layout::Chunked(_) | Layout::Contiguous(_) if self.description().external.is_empty() => {}
            _ => return unsupported("a dataset that is neither in chunks nor contiguous"),
        }
        if ObjectHeader::load(store, self.address())?.version() < 2 {
            return unsupported("a dataset whose header has no checksum (version 1)");
        }
        Ok(())
    }
}
