//! The datasets of a file that are being written.

use std::collections::HashMap;

use hyperslab_dataspace::Selection;
use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use super::{DatasetWriter, OpenFile};
use crate::data::Origin;
use crate::error::Result;
use crate::store::Edit;

/// Writers that are kept at most.
const KEPT: usize = 256;

/// Writers by the addresses of their headers. Whoever takes one has the right to change the file first.
#[derive(Debug, Default)]
pub struct Writers {
    known: Mutex<HashMap<Address, DatasetWriter>>,
}

impl OpenFile {
    /// Does something with the writer of a dataset.
    pub(super) fn with_writer<T>(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        work: impl FnOnce(&mut DatasetWriter, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        let store = edit.store();
        let mut known = self.writers.known.lock();
        if let Some(writer) = known.get_mut(&dataset) {
            writer.check_followed(store)?;
            return work(writer, edit);
        }
        self.make_room(edit, &mut known, dataset)?;
        if self.container.is_open(dataset) {
            self.container.settle(edit)?;
        }
        let opened = DatasetWriter::open(self, dataset)?;
        opened.check_followed(store)?;
        work(known.entry(dataset).or_insert(opened), edit)
    }

    /// Keeps the writer of a new dataset.
    pub(super) fn keep_writer(&self, edit: &mut Edit<'_>, writer: DatasetWriter) -> Result<()> {
        let mut known = self.writers.known.lock();
        self.make_room(edit, &mut known, writer.address())?;
        known.insert(writer.address(), writer);
        Ok(())
    }

    fn make_room(
        &self,
        edit: &mut Edit<'_>,
        known: &mut HashMap<Address, DatasetWriter>,
        dataset: Address,
    ) -> Result<()> {
        if known.len() < KEPT || known.contains_key(&dataset) {
            return Ok(());
        }
        for (_, mut writer) in known.drain() {
            writer.flush(self, edit)?;
        }
        Ok(())
    }

    /// Writes the selected elements of the dataset whose header lies at `dataset`.
    ///
    /// # Errors
    /// As [`DatasetWriter::write`].
    pub fn write_dataset(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        selection: &Selection,
        from: &Origin<'_>,
    ) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            writer.write(self, edit, selection, from)?;
            // While its header is open, what it says is changed there at once.
            if writer.is_small() && self.container.is_open(dataset) {
                writer.flush(self, edit)
            } else {
                Ok(())
            }
        })
    }

    /// Changes the shape of a dataset.
    ///
    /// # Errors
    /// As [`DatasetWriter::resize`].
    pub fn resize_dataset(&self, edit: &mut Edit<'_>, dataset: Address, dims: &[u64]) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            let before = writer.description().dataspace.dims();
            if before.iter().zip(dims).any(|(before, after)| after < before) {
                edit.store().check_not_followed("a dataset cannot shrink")?;
            }
            writer.resize(self, edit, dims)
        })
    }

    /// Makes a dataset longer along a dimension and writes the new elements, an array of the shape `dims`.
    ///
    /// # Errors
    /// As [`DatasetWriter::append`].
    pub fn append_to_dataset(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        axis: usize,
        dims: &[u64],
        from: &Origin<'_>,
    ) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| writer.append(self, edit, axis, dims, from))
    }

    /// As [`append_to_dataset`](Self::append_to_dataset), at the front.
    ///
    /// # Errors
    /// As [`DatasetWriter::prepend`].
    pub fn prepend_to_dataset(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        axis: usize,
        dims: &[u64],
        from: &Origin<'_>,
    ) -> Result<()> {
        edit.store().check_not_followed("nothing can be put before the elements of a dataset")?;
        self.with_writer(edit, dataset, |writer, edit| writer.prepend(self, edit, axis, dims, from))
    }

    /// Puts the stored bytes of a chunk in place of the one that holds an element.
    ///
    /// # Errors
    /// As [`DatasetWriter::write_stored_chunk`].
    pub fn write_stored_chunk(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        element: &[u64],
        bytes: &[u8],
        filter_mask: u32,
    ) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            writer.write_stored_chunk(self, edit, element, bytes, filter_mask)
        })
    }

    /// Lets the file hold what is known of a dataset, or of all, for whoever reads it before changing it.
    ///
    /// # Errors
    /// As [`DatasetWriter::flush`].
    pub fn flush_dataset(&self, edit: &mut Edit<'_>, dataset: Option<Address>) -> Result<()> {
        let Some(dataset) = dataset else { return self.flush_writers(edit) };
        match self.writers.known.lock().get_mut(&dataset) {
            Some(writer) => writer.flush(self, edit),
            None => Ok(()),
        }
    }

    /// Whether something of a dataset, or of any one, is known in memory and not in the file.
    pub fn is_ahead(&self, dataset: Option<Address>) -> bool {
        if !self.container.store.is_writable() {
            return false;
        }
        let known = self.writers.known.lock();
        match dataset {
            Some(dataset) => known.get(&dataset).is_some_and(DatasetWriter::is_ahead),
            None => known.values().any(DatasetWriter::is_ahead),
        }
    }

    /// Makes sure that whoever reads a dataset, or any one, finds everything in the file.
    ///
    /// # Errors
    /// As [`DatasetWriter::flush`].
    pub fn settle(&self, dataset: Option<Address>) -> Result<()> {
        if !self.is_ahead(dataset) {
            return Ok(());
        }
        let mut edit = self.container.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        self.finish(edit)
    }

    /// To be called when an operation has ended: commits if there is much to commit, and all of it then.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn finish(&self, mut edit: Edit<'_>) -> Result<()> {
        if edit.is_crowded() { self.flush_in(&mut edit) } else { Ok(()) }
    }

    /// Writes everything that was changed: the file on the medium is what it is in memory.
    ///
    /// # Errors
    /// Those of filters and the medium.
    pub fn flush(&self) -> Result<()> {
        self.flush_in(&mut self.container.edit()?)
    }

    /// The last flush: the file is as short as it can be, and where it asks for that, what is free in it is stored. What
    /// is left of it can only be read.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn close(&self) -> Result<()> {
        if self.container.store.is_closed() {
            return Ok(());
        }
        let mut edit = self.container.edit()?;
        self.flush_writers(&mut edit)?;
        edit.close()?;
        self.container.store.closed()
    }

    /// Lets headers say what is known of shapes; chunks may still wait.
    pub(super) fn flush_headers(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.writers.known.lock().values_mut().try_for_each(|writer| writer.flush_shape(self, edit))
    }

    pub(super) fn flush_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.writers.known.lock().values_mut().try_for_each(|writer| writer.flush(self, edit))
    }

    pub(super) fn flush_in(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.container.settle(edit)?;
        self.flush_writers(edit)?;
        edit.commit()
    }

    /// The writer of a dataset that is about to be no more, if it has one; nothing of the dataset is kept in memory.
    pub fn take_writer(&self, dataset: Address) -> Option<DatasetWriter> {
        self.resources.chunks.clear();
        self.resources.structured.clear();
        self.writers.known.lock().remove(&dataset)
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
