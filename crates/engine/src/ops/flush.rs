//! Flushes of datasets and of the file, the end of an operation, and the close of the file.

use std::sync::Arc;

use hyperslab_format::codec::Address;

use super::writer_table::WriterSlot;
use super::{DatasetWriter, OpenFile};
use crate::error::Result;
use crate::store::{Edit, Reading};

/// Largest number of flushes of datasets before a read of the file. Writers may work between these
/// flushes. If dirty data still remains, the reader excludes the writers and flushes again.
const MAX_FLUSHES: usize = 3;

impl OpenFile {
    /// Flushes a dataset, or all datasets of the file, if there are dirty chunks or dirty object
    /// headers.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn flush_dirty(&self, dataset: Option<Address>) -> Result<()> {
        if !self.is_dirty(dataset) {
            return Ok(());
        }
        self.flush_chunks_concurrently(dataset)?;
        let mut edit = self.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        self.finish(edit)
    }

    /// Stores the dirty chunks of the files that the program has open for writing, in which a
    /// virtual dataset of this file may have sources.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn flush_sources(&self) -> Result<()> {
        self.resolver.as_ref().map_or(Ok(()), |resolver| resolver.flush_open())
    }

    /// Writes the dirty chunks and the object header of a dataset, or of all datasets of the file.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn flush_dataset(&self, edit: &mut Edit<'_>, dataset: Option<Address>) -> Result<()> {
        let Some(dataset) = dataset else { return self.flush_writers(edit) };
        self.flush_writer(edit, dataset)
    }

    fn flush_writer(&self, edit: &mut Edit<'_>, dataset: Address) -> Result<()> {
        self.writers.with(dataset, |writer| writer.flush(self.writer_context(), edit)).unwrap_or(Ok(()))
    }

    /// Returns whether a dataset, or any dataset of the file, has dirty chunks or a dirty object
    /// header.
    pub fn is_dirty(&self, dataset: Option<Address>) -> bool {
        self.container.store.is_writable() && self.writers.any(dataset, DatasetWriter::is_dirty)
    }

    /// Flushes a dataset, or all datasets of the file, and returns the right to read the file.
    /// While the caller holds this right, these datasets have no dirty chunks.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn reading_flushed(&self, dataset: Option<Address>) -> Result<Reading<'_>> {
        if !self.container.store.is_writable() {
            return self.reading();
        }
        for _ in 0..MAX_FLUSHES {
            self.flush_dirty(dataset)?;
            let reading = self.reading()?;
            // Another thread may have written between the flush and the lock.
            if !self.is_dirty(dataset) {
                return Ok(reading);
            }
        }
        let mut edit = self.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        Ok(edit.into_reading())
    }

    /// Completes an operation that changed the file. Deletes unlinked objects without handles. If
    /// the dirty data exceeds its limit, also commits.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn finish(&self, mut edit: Edit<'_>) -> Result<()> {
        self.delete_abandoned(&mut edit, false);
        let crowded = edit.is_over_limit();
        drop(edit);
        if crowded { self.flush() } else { Ok(()) }
    }

    /// Writes all changes of the open file to the driver, as one commit.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub fn flush(&self) -> Result<()> {
        self.flush_chunks_concurrently(None)?;
        let mut edit = self.edit()?;
        self.delete_abandoned(&mut edit, false);
        self.flush_writers(&mut edit)?;
        edit.commit()
    }

    /// Flushes the open file, and frees the file space that is kept for new small blocks. Truncates
    /// free space at the end of the file.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn release_unused_space(&self) -> Result<()> {
        self.flush()?;
        let mut edit = self.edit()?;
        edit.release_unused_space()?;
        edit.commit()
    }

    /// Flushes and closes the open file. Truncates free space at the end of the file. If the file
    /// has persistent free space, stores the free-space managers. Afterwards, only reads are
    /// possible.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn close(&self) -> Result<()> {
        if self.container.store.is_closed() {
            return Ok(());
        }
        let mut edit = self.edit()?;
        self.delete_abandoned(&mut edit, true);
        self.end_writers(&mut edit)?;
        edit.close()?;
        self.container.store.end_writing()
    }

    /// Writes changed dataspaces of datasets into their object headers. Chunks stay dirty.
    pub(super) fn flush_headers(&self, edit: &mut Edit<'_>) -> Result<()> {
        let flush = |slot: Arc<WriterSlot>| match slot.0.lock().as_mut() {
            Some(writer) => writer.flush_shape(self.writer_context(), edit),
            None => Ok(()),
        };
        self.writers.slots().into_iter().try_for_each(flush)
    }

    /// Flushes all datasets of the file that have dataset writers.
    pub(super) fn flush_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        let flush = |slot: Arc<WriterSlot>| match slot.0.lock().as_mut() {
            Some(writer) => writer.flush(self.writer_context(), edit),
            None => Ok(()),
        };
        self.writers.slots().into_iter().try_for_each(flush)
    }

    /// Flushes all datasets of the file and removes their dataset writers.
    pub(super) fn end_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        for slot in self.writers.slots() {
            let mut slot = slot.0.lock();
            if let Some(writer) = slot.as_mut() {
                writer.flush(self.writer_context(), edit)?;
            }
            *slot = None;
        }
        self.writers.clear();
        Ok(())
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if self.container.store.is_writable()
            && let Err(error) = self.close()
        {
            tracing::error!(%error, file = self.container.store.name(), "changes of a file that was dropped are lost");
        }
    }
}
