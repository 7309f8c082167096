//! Flushes of datasets and of the file, the end of an operation, and the close of the file.

use std::sync::Arc;

use hyperslab_format::codec::Address;

use super::writers::Slot;
use super::{DatasetWriter, OpenFile};
use crate::error::Result;
use crate::store::{Edit, Reading};

/// Attempts of a reader to find no chunk in memory, before the reader locks the writers out.
const PATIENCE: usize = 3;

impl OpenFile {
    /// Flushes a dataset, or all, if chunks or headers wait in memory.
    ///
    /// # Errors
    /// The errors of filters and the medium.
    pub fn settle(&self, dataset: Option<Address>) -> Result<()> {
        if !self.is_ahead(dataset) {
            return Ok(());
        }
        self.flush_ahead(dataset)?;
        let mut edit = self.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        self.finish(edit)
    }

    /// Writes the chunks and the header of a dataset, or of all, that wait in memory.
    ///
    /// # Errors
    /// The errors of filters and the medium.
    pub fn flush_dataset(&self, edit: &mut Edit<'_>, dataset: Option<Address>) -> Result<()> {
        let Some(dataset) = dataset else { return self.flush_writers(edit) };
        self.flush_writer(edit, dataset)
    }

    fn flush_writer(&self, edit: &mut Edit<'_>, dataset: Address) -> Result<()> {
        self.writers.with(dataset, |writer| writer.flush(self, edit)).unwrap_or(Ok(()))
    }

    /// Returns whether chunks or the header of a dataset, or of any dataset, wait in memory.
    pub fn is_ahead(&self, dataset: Option<Address>) -> bool {
        self.container.store.is_writable() && self.writers.any(dataset, DatasetWriter::is_ahead)
    }

    /// Returns the right to read, under which no chunk of the dataset, or of any dataset, waits in memory.
    ///
    /// # Errors
    /// The errors of filters and the medium.
    pub fn reading_settled(&self, dataset: Option<Address>) -> Result<Reading<'_>> {
        if !self.container.store.is_writable() {
            return self.reading();
        }
        for _ in 0..PATIENCE {
            self.settle(dataset)?;
            let reading = self.reading()?;
            // Another thread may have written in between.
            if !self.is_ahead(dataset) {
                return Ok(reading);
            }
        }
        let mut edit = self.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        Ok(edit.into_reading())
    }

    /// Ends an operation: deletes objects without links that are not open, and commits if many changes wait.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn finish(&self, mut edit: Edit<'_>) -> Result<()> {
        self.delete_abandoned(&mut edit, false);
        let crowded = edit.is_over_limit();
        drop(edit);
        if crowded { self.flush() } else { Ok(()) }
    }

    /// Writes all changes to the medium, as one commit.
    ///
    /// # Errors
    /// The errors of filters and the medium.
    pub fn flush(&self) -> Result<()> {
        self.flush_ahead(None)?;
        let mut edit = self.edit()?;
        self.delete_abandoned(&mut edit, false);
        self.flush_writers(&mut edit)?;
        edit.commit()
    }

    /// Flushes and closes the file: cuts free space off its end, and stores the free space if the file asks for that.
    /// The file can only be read afterwards.
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

    /// Writes changed shapes into the headers. Chunks may still wait.
    pub(super) fn flush_headers(&self, edit: &mut Edit<'_>) -> Result<()> {
        let flush = |slot: Arc<Slot>| match slot.0.lock().as_mut() {
            Some(writer) => writer.flush_shape(self, edit),
            None => Ok(()),
        };
        self.writers.slots().into_iter().try_for_each(flush)
    }

    /// Flushes all datasets.
    pub(super) fn flush_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        let flush = |slot: Arc<Slot>| match slot.0.lock().as_mut() {
            Some(writer) => writer.flush(self, edit),
            None => Ok(()),
        };
        self.writers.slots().into_iter().try_for_each(flush)
    }

    /// Flushes all datasets and removes their writers.
    fn end_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        for slot in self.writers.slots() {
            let mut slot = slot.0.lock();
            if let Some(writer) = slot.as_mut() {
                writer.flush(self, edit)?;
            }
            *slot = None;
        }
        self.writers.forget_all();
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
