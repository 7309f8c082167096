//! The datasets of a file that are being written.
//!
//! # Locks
//!
//! In this order, each of them only together with those before it, and none of the first three waited for by who holds a later
//! one:
//!
//! 1. the right to change the file, [`Edit`], or, shared, to read its structure, [`Reading`]: one per file;
//! 2. the list of writers, for the time of one look;
//! 3. the writer of one dataset. Who has no `Edit` changes only what waits in it, and fetches chunks under `Reading`;
//! 4. what is open [behind](crate::object::container::Container): for the time of one look;
//! 5. the locks inside of the store and of the caches, each taken alone and given back before the next one.
//!
//! Who compresses holds none of them, but for what is left when the file is closed or a dataset changes its shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_dataspace::{Dataspace, Selection};
use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use super::{DatasetWriter, OpenFile};
use crate::data::transfer::WriteSource;
use crate::error::Result;
use crate::store::{Edit, Reading};

/// Writers that are kept at most.
const KEPT: usize = 256;

/// How often a reader waits for others to end what they do before it stops them.
const PATIENCE: usize = 3;

/// Writers by the addresses of their headers.
#[derive(Debug, Default)]
pub struct Writers {
    /// In the order of the addresses, so that the same calls make the same file.
    known: Mutex<BTreeMap<Address, Arc<Slot>>>,
}

/// The place of one writer. Only those with the right to change the file put one there or take it out.
#[derive(Debug)]
struct Slot(Mutex<Option<DatasetWriter>>);

impl Writers {
    fn slot(&self, dataset: Address) -> Option<Arc<Slot>> {
        self.known.lock().get(&dataset).cloned()
    }

    fn slots(&self) -> Vec<Arc<Slot>> {
        self.known.lock().values().cloned().collect()
    }

    /// The datasets that have writers.
    pub(super) fn datasets(&self) -> Vec<Address> {
        self.known.lock().keys().copied().collect()
    }

    /// Does something with the writer of a dataset, if it has one, without the right to change the file.
    pub(super) fn with<T>(&self, dataset: Address, work: impl FnOnce(&mut DatasetWriter) -> T) -> Option<T> {
        self.slot(dataset)?.0.lock().as_mut().map(work)
    }

    fn any(&self, dataset: Option<Address>, is: impl Fn(&DatasetWriter) -> bool) -> bool {
        match dataset {
            Some(dataset) => self.with(dataset, |writer| is(writer)).unwrap_or(false),
            None => self.slots().iter().any(|slot| slot.0.lock().as_ref().is_some_and(&is)),
        }
    }
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
        if let Some(slot) = self.writers.slot(dataset)
            && let Some(writer) = slot.0.lock().as_mut()
        {
            writer.check_followed(store)?;
            writer.outdate_fetched();
            return work(writer, edit);
        }
        self.make_room(edit, dataset)?;
        if self.container.is_open(dataset) {
            self.container.settle(edit)?;
        }
        let mut writer = DatasetWriter::open(self, dataset)?;
        writer.check_followed(store)?;
        let outcome = work(&mut writer, edit);
        self.writers.known.lock().insert(dataset, Arc::new(Slot(Mutex::new(Some(writer)))));
        outcome
    }

    /// Keeps the writer of a new dataset.
    pub(super) fn keep_writer(&self, edit: &mut Edit<'_>, writer: DatasetWriter) -> Result<()> {
        let dataset = writer.address();
        self.make_room(edit, dataset)?;
        self.writers.known.lock().insert(dataset, Arc::new(Slot(Mutex::new(Some(writer)))));
        Ok(())
    }

    fn make_room(&self, edit: &mut Edit<'_>, dataset: Address) -> Result<()> {
        let slots: Vec<Arc<Slot>> = {
            let mut known = self.writers.known.lock();
            if known.len() < KEPT || known.contains_key(&dataset) {
                return Ok(());
            }
            std::mem::take(&mut *known).into_values().collect()
        };
        for slot in slots {
            if let Some(mut writer) = slot.0.lock().take() {
                writer.flush(self, edit)?;
            }
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
        from: &WriteSource<'_>,
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
        from: &WriteSource<'_>,
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
        from: &WriteSource<'_>,
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
        self.flush_writer(edit, dataset)
    }

    fn flush_writer(&self, edit: &mut Edit<'_>, dataset: Address) -> Result<()> {
        self.writers.with(dataset, |writer| writer.flush(self, edit)).unwrap_or(Ok(()))
    }

    /// The shape of a dataset that is being written, which its header need not say yet.
    pub fn dataspace_in_memory(&self, dataset: Address) -> Option<Dataspace> {
        let writable = self.container.store.is_writable();
        writable
            .then(|| self.writers.with(dataset, |writer| writer.description().dataspace.clone()))
            .flatten()
    }

    /// Whether something of a dataset, or of any one, is known in memory and not in the file.
    pub fn is_ahead(&self, dataset: Option<Address>) -> bool {
        self.container.store.is_writable() && self.writers.any(dataset, DatasetWriter::is_ahead)
    }

    /// Keeps those who change the file away, with all of a dataset, or of any one, in the file that was written before.
    ///
    /// # Errors
    /// As [`DatasetWriter::flush`].
    pub fn reading_settled(&self, dataset: Option<Address>) -> Result<Reading<'_>> {
        if !self.container.store.is_writable() {
            return self.container.reading();
        }
        for _ in 0..PATIENCE {
            self.settle(dataset)?;
            let reading = self.container.reading()?;
            // Somebody may have written in between.
            if !self.is_ahead(dataset) {
                return Ok(reading);
            }
        }
        let mut edit = self.container.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        Ok(edit.into_reading())
    }

    /// To be called when an operation has ended: deletes the objects that nobody has open and no link leads to any more, and commits if there is much to commit, and all of it then.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn finish(&self, mut edit: Edit<'_>) -> Result<()> {
        self.delete_abandoned(&mut edit, false);
        let crowded = edit.is_crowded();
        drop(edit);
        if crowded { self.flush() } else { Ok(()) }
    }

    /// Writes everything that was changed: the file on the medium is what it is in memory.
    ///
    /// # Errors
    /// Those of filters and the medium.
    pub fn flush(&self) -> Result<()> {
        self.flush_ahead(None)?;
        let mut edit = self.container.edit()?;
        self.delete_abandoned(&mut edit, false);
        self.flush_writers(&mut edit)?;
        edit.commit()
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
        self.delete_abandoned(&mut edit, true);
        self.end_writers(&mut edit)?;
        edit.close()?;
        self.container.store.closed()
    }

    /// Lets headers say what is known of shapes; chunks may still wait.
    pub(super) fn flush_headers(&self, edit: &mut Edit<'_>) -> Result<()> {
        let flush = |slot: Arc<Slot>| match slot.0.lock().as_mut() {
            Some(writer) => writer.flush_shape(self, edit),
            None => Ok(()),
        };
        self.writers.slots().into_iter().try_for_each(flush)
    }

    pub(super) fn flush_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        let flush = |slot: Arc<Slot>| match slot.0.lock().as_mut() {
            Some(writer) => writer.flush(self, edit),
            None => Ok(()),
        };
        self.writers.slots().into_iter().try_for_each(flush)
    }

    /// Writes what is known of all datasets, and leaves no writer in which something could wait without an [`Edit`].
    fn end_writers(&self, edit: &mut Edit<'_>) -> Result<()> {
        for slot in self.writers.slots() {
            let mut slot = slot.0.lock();
            if let Some(writer) = slot.as_mut() {
                writer.flush(self, edit)?;
            }
            *slot = None;
        }
        self.writers.known.lock().clear();
        Ok(())
    }

    /// The writer of a dataset that is about to be no more, if it has one; nothing of the dataset is kept in memory.
    pub fn take_writer(&self, dataset: Address) -> Option<DatasetWriter> {
        self.resources.chunks.clear();
        self.resources.structured.clear();
        let slot = self.writers.known.lock().remove(&dataset)?;
        slot.0.lock().take()
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
