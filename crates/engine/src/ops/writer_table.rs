//! The table of the datasets that are being written. The module `writers` states the order of its
//! locks.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use super::DatasetWriter;

/// The table of the dataset writers of one file, by the addresses of the datasets' object headers.
#[derive(Debug, Default)]
pub struct Writers {
    /// Ordered by address, so that the same calls produce the same file.
    pub(super) known: Mutex<BTreeMap<Address, Arc<WriterSlot>>>,
}

/// The entry of one dataset in the table of dataset writers. Only a thread with an `Edit` fills or
/// empties the entry.
#[derive(Debug)]
pub(super) struct WriterSlot(pub(super) Mutex<Option<DatasetWriter>>);

impl Writers {
    pub(super) fn slot(&self, dataset: Address) -> Option<Arc<WriterSlot>> {
        self.known.lock().get(&dataset).cloned()
    }

    pub(super) fn slots(&self) -> Vec<Arc<WriterSlot>> {
        self.known.lock().values().cloned().collect()
    }

    /// Removes all dataset writers from the table of a file's dataset writers.
    pub(super) fn clear(&self) {
        self.known.lock().clear();
    }

    /// Returns the addresses of the datasets that have dataset writers.
    pub(super) fn datasets(&self) -> Vec<Address> {
        self.known.lock().keys().copied().collect()
    }

    /// Calls `work` with the dataset writer of a dataset, if the dataset has one. Needs no `Edit`,
    /// the exclusive access to the file.
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
