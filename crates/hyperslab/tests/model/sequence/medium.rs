//! The storage of a sequence's file, and the options for writing it.

use std::sync::Arc;

use hyperslab::vfd::{Core, Driver, SideFile};
use hyperslab::{Durability, FileOptions, OpenOptions};

/// The storage of a file.
#[derive(Debug, Clone)]
pub(crate) struct Medium {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) journal: Option<Arc<dyn SideFile>>,
    pub(crate) durability: Durability,
    /// The largest number of dirty bytes in memory; `None` for the default.
    pub(crate) uncommitted: Option<u64>,
    /// True if the file is compared with the model after each flush and each new open.
    pub(crate) compared: bool,
}

impl Medium {
    /// Returns storage in memory without a journal.
    pub(crate) fn memory() -> Self {
        let driver = Arc::new(Core::from_vec("model", Vec::new()));
        Self { driver, journal: None, durability: Durability::None, uncommitted: None, compared: true }
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.driver.len().unwrap() as usize];
        self.driver.read_at(0, &mut bytes).unwrap();
        bytes
    }

    /// Returns the options of a new file on this storage.
    pub(crate) fn create(&self, options: FileOptions) -> FileOptions {
        let options = options.durability(self.durability);
        let options = self.journal.clone().into_iter().fold(options, FileOptions::journal);
        self.uncommitted.into_iter().fold(options, FileOptions::dirty_limit)
    }

    /// Returns the options for opening an existing file on this storage.
    pub(crate) fn open(&self, options: OpenOptions) -> OpenOptions {
        let options = options.durability(self.durability);
        let options = self.journal.clone().into_iter().fold(options, OpenOptions::journal);
        self.uncommitted.into_iter().fold(options, OpenOptions::dirty_limit)
    }
}
