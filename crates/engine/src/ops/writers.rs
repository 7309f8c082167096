//! Access of an open file to the writers of its datasets.
//!
//! # Locks
//!
//! A thread takes locks in this order. A thread that holds a lock never waits for one of the first
//! three locks above it.
//!
//! 1. The right to change the file, [`Edit`], or the shared right to read its structure,
//!    [`Reading`](crate::store::Reading): one for each file.
//! 2. The table of writers: for one look-up.
//! 3. The writer of one dataset. A thread without an `Edit` changes only the dirty chunks of the
//!    writer, and reads chunks from the file under `Reading`.
//! 4. The open header and the open group: for one look-up.
//! 5. The locks of the store and of the caches: one at a time.
//!
//! A thread that encodes chunks holds none of these locks, except when the file is closed or a
//! dataset changes its shape.

use std::sync::Arc;

use hyperslab_dataspace::Dataspace;
use hyperslab_format::codec::Address;
use hyperslab_format::message::Layout;
use parking_lot::Mutex;

use super::writer_table::WriterSlot;
use super::{DatasetWriter, OpenFile};
use crate::error::Result;
use crate::object::dataset::DatasetDescription;
use crate::store::Edit;

/// Largest number of dataset writers in the table of a file's dataset writers.
const MAX_WRITERS: usize = 256;

impl OpenFile {
    /// Calls `work` with exclusive access to a dataset's writer. Opens the writer if the dataset
    /// has none.
    ///
    /// # Errors
    /// Returns the errors of opening the writer, and those of `work`.
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
        self.evict_writers(edit, dataset)?;
        if self.is_open(dataset) {
            self.flush_editors(edit)?;
        }
        let mut writer = DatasetWriter::open(self.writer_context(), dataset)?;
        writer.check_followed(store)?;
        let outcome = work(&mut writer, edit);
        self.writers.known.lock().insert(dataset, Arc::new(WriterSlot(Mutex::new(Some(writer)))));
        outcome
    }

    /// Adds the writer of a new dataset to the table of the file's dataset writers.
    ///
    /// # Errors
    /// Returns filter and I/O errors of evicted writers.
    pub(super) fn keep_writer(&self, edit: &mut Edit<'_>, writer: DatasetWriter) -> Result<()> {
        let dataset = writer.address();
        self.evict_writers(edit, dataset)?;
        self.writers.known.lock().insert(dataset, Arc::new(WriterSlot(Mutex::new(Some(writer)))));
        Ok(())
    }

    /// Flushes and removes all dataset writers of the file if their table is full and has no writer
    /// of `dataset`. If the flush of a writer fails, this writer and the writers after it stay with
    /// their dirty chunks.
    fn evict_writers(&self, edit: &mut Edit<'_>, dataset: Address) -> Result<()> {
        let keeps_all = {
            let known = self.writers.known.lock();
            known.len() < MAX_WRITERS || known.contains_key(&dataset)
        };
        if keeps_all { Ok(()) } else { self.end_writers(edit) }
    }

    /// Returns the current dataspace of a dataset that is open for writes. The object header may
    /// hold an older dataspace.
    pub fn current_dataspace(&self, dataset: Address) -> Option<Dataspace> {
        self.with_current(dataset, |description| description.dataspace.clone())
    }

    /// Returns the current layout of a dataset that is open for writes. The object header may hold
    /// an older layout, and a flush may still change addresses.
    pub fn current_layout(&self, dataset: Address) -> Option<Layout> {
        self.with_current(dataset, |description| description.layout.layout.clone())
    }

    /// Calls `read` with the current description of a dataset that is open for writes.
    fn with_current<T>(&self, dataset: Address, read: impl FnOnce(&DatasetDescription) -> T) -> Option<T> {
        let writable = self.container.store.is_writable();
        writable.then(|| self.writers.with(dataset, |writer| read(writer.description()))).flatten()
    }

    /// Removes the writer of a dataset that will be deleted from the table of dataset writers, and
    /// returns the writer, if the dataset has one. Clears the chunk caches.
    pub(super) fn take_writer(&self, dataset: Address) -> Option<DatasetWriter> {
        self.resources.chunks.clear();
        self.resources.structured.clear();
        let slot = self.writers.known.lock().remove(&dataset)?;
        slot.0.lock().take()
    }
}
