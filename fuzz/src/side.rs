//! A journal in memory.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab::vfd::{Core, Driver, DriverError, Result, SideAccess, SideFile};

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
        let mut file = self.file();
        if file.is_some() {
            return Err(DriverError::io("journal", "make", ErrorKind::AlreadyExists.into()));
        }
        Ok(file.insert(Arc::new(Core::empty("journal"))).clone())
    }

    fn remove(&self) -> Result<()> {
        *self.file() = None;
        Ok(())
    }

    fn set_aside(&self) -> Result<String> {
        match self.file().take() {
            Some(_) => Ok("journal.stale-1".to_owned()),
            None => Err(DriverError::io("journal", "set aside", ErrorKind::NotFound.into())),
        }
    }
}
