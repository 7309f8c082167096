//! A journal in memory.

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab::vfd::{Core, Driver, Result, SideAccess, SideFile};

/// A file that is there until it is removed.
#[derive(Debug)]
pub struct Side {
    file: Mutex<Option<Arc<Core>>>,
}

impl Side {
    /// A file with these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self { file: Mutex::new(Some(Arc::new(Core::from_vec("journal", bytes.to_vec())))) }
    }

    fn file(&self) -> std::sync::MutexGuard<'_, Option<Arc<Core>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SideFile for Side {
    fn name(&self) -> &str {
        "journal"
    }

    fn open(&self, _: SideAccess) -> Result<Option<Arc<dyn Driver>>> {
        Ok(self.file().clone().map(|file| file as Arc<dyn Driver>))
    }

    fn create(&self) -> Result<Arc<dyn Driver>> {
        let file = self.file().get_or_insert_with(|| Arc::new(Core::empty("journal"))).clone();
        Ok(file)
    }

    fn remove(&self) -> Result<()> {
        *self.file() = None;
        Ok(())
    }
}
