//! The check that a dataset can be written while SWMR readers read the file.

use hyperslab_format::message::{ChunkIndexParameters, Layout};

use super::DatasetWriter;
use crate::error::{Error, Result};
use crate::object::header::ObjectHeader;
use crate::store::Store;

impl DatasetWriter {
    /// Checks that the writer's dataset can be written while SWMR readers read the file. Does
    /// nothing if the file is not open for SWMR writing.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the dataset cannot be written so.
    pub(in crate::ops) fn check_followed(&self, store: &Store) -> Result<()> {
        if !store.is_swmr_writer() {
            return Ok(());
        }
        let unsupported = |subject: &str| Err(Error::unsupported(format!("SWMR writing of {subject}")));
        if self.description().datatype.points_into_file() {
            return unsupported("elements with variable-length data or references");
        }
        match &self.description().layout.layout {
            Layout::Chunked(layout) if layout.index == ChunkIndexParameters::BTreeV1 => {
                return unsupported("chunks with a version 1 B-tree");
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
