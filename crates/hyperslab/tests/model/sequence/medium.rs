//! Where the file of a sequence lies, and how it is written.

use std::sync::Arc;

use hyperslab::vfd::{Core, Driver, SideFile};
use hyperslab::{Durability, FileOptions, OpenOptions};

/// Where a file lies.
#[derive(Debug, Clone)]
pub(crate) struct Medium {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) journal: Option<Arc<dyn SideFile>>,
    pub(crate) durability: Durability,
    /// Bytes of changes that are kept in memory, if not as many as usual.
    pub(crate) uncommitted: Option<u64>,
    /// Whether the file is compared with the model when it is flushed or opened again.
    pub(crate) compared: bool,
}

impl Medium {
    /// In memory, without a journal.
    pub(crate) fn memory() -> Self {
        let driver = Arc::new(Core::from_vec("model", Vec::new()));
        Self { driver, journal: None, durability: Durability::None, uncommitted: None, compared: true }
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.driver.len().unwrap() as usize];
        self.driver.read_at(0, &mut bytes).unwrap();
        bytes
    }

    /// The options of a new file, with what is to be said of the medium.
    pub(crate) fn create(&self, options: FileOptions) -> FileOptions {
        let options = options.durability(self.durability);
        let options = self.journal.clone().into_iter().fold(options, FileOptions::journal);
        self.uncommitted.into_iter().fold(options, FileOptions::dirty_limit)
    }

    /// The same for a file that is there.
    pub(crate) fn open(&self, options: OpenOptions) -> OpenOptions {
        let options = options.durability(self.durability);
        let options = self.journal.clone().into_iter().fold(options, OpenOptions::journal);
        self.uncommitted.into_iter().fold(options, OpenOptions::dirty_limit)
    }
}
