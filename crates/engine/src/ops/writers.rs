//! The table of datasets that are being written.
//!
//! # Locks
//!
//! A thread takes locks in this order. A thread that holds a lock never waits for one of the first three above it.
//!
//! 1. The right to change the file, [`Edit`], or the shared right to read its structure,
//!    [`Reading`](crate::store::Reading): one for each file.
//! 2. The table of writers: for one look-up.
//! 3. The writer of one dataset. A thread without an `Edit` changes only the chunks that wait in the writer, and reads
//!    chunks from the file under `Reading`.
//! 4. The open header and the open group: for one look-up.
//! 5. The locks of the store and of the caches: one at a time.
//!
//! A thread that encodes chunks holds none of these locks, except when the file is closed or a dataset changes its shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_dataspace::Dataspace;
use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use super::{DatasetWriter, OpenFile};
use crate::error::Result;
use crate::store::Edit;

/// Writers that are kept at most.
const KEPT: usize = 256;

/// Writers by the addresses of their headers.
#[derive(Debug, Default)]
pub struct Writers {
    /// In the order of the addresses, so that the same calls make the same file.
    known: Mutex<BTreeMap<Address, Arc<Slot>>>,
}

/// The place of one writer. Only those with the right to change the file put one there or take it out.
#[derive(Debug)]
pub(super) struct Slot(pub(super) Mutex<Option<DatasetWriter>>);

impl Writers {
    fn slot(&self, dataset: Address) -> Option<Arc<Slot>> {
        self.known.lock().get(&dataset).cloned()
    }

    pub(super) fn slots(&self) -> Vec<Arc<Slot>> {
        self.known.lock().values().cloned().collect()
    }

    /// Forgets all writers.
    pub(super) fn forget_all(&self) {
        self.known.lock().clear();
    }

    /// The datasets that have writers.
    pub(super) fn datasets(&self) -> Vec<Address> {
        self.known.lock().keys().copied().collect()
    }

    /// Does something with the writer of a dataset, if it has one, without the right to change the file.
    pub(super) fn with<T>(&self, dataset: Address, work: impl FnOnce(&mut DatasetWriter) -> T) -> Option<T> {
        self.slot(dataset)?.0.lock().as_mut().map(work)
    }

    pub(super) fn any(&self, dataset: Option<Address>, is: impl Fn(&DatasetWriter) -> bool) -> bool {
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
        if self.is_open(dataset) {
            self.settle_objects(edit)?;
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

    /// The shape of a dataset that is being written, which its header need not say yet.
    pub fn dataspace_in_memory(&self, dataset: Address) -> Option<Dataspace> {
        let writable = self.container.store.is_writable();
        writable
            .then(|| self.writers.with(dataset, |writer| writer.description().dataspace.clone()))
            .flatten()
    }

    /// Takes the writer of a dataset that is about to be deleted, if it has one, and clears the chunk caches.
    pub(super) fn take_writer(&self, dataset: Address) -> Option<DatasetWriter> {
        self.resources.chunks.clear();
        self.resources.structured.clear();
        let slot = self.writers.known.lock().remove(&dataset)?;
        slot.0.lock().take()
    }
}
