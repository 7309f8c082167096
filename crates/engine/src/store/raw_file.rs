//! A file with nothing but raw data, such as an external file of a dataset.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_exact::to_u64;
use hyperslab_vfd::{Driver, ReadRequest};

use super::bytes::count_before;
use crate::error::{Error, Result};

/// An open external raw data file. Bytes after the end of the file read as zeros.
#[derive(Debug)]
pub struct RawFile {
    driver: Arc<dyn Driver>,
    length: AtomicU64,
}

impl RawFile {
    /// Opens an external raw data file that the driver `driver` stores.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the driver cannot report the length.
    pub fn new(driver: Arc<dyn Driver>) -> Result<Self> {
        let length = driver.len().map_err(|source| Error::Io {
            action: format!("cannot learn the length of `{}`", driver.name()),
            source,
        })?;
        Ok(Self { driver, length: AtomicU64::new(length) })
    }

    /// Fills each buffer with bytes of the external raw data file from an offset on, and with zeros
    /// after the end of the file.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn read_many(&self, requests: &mut [(u64, &mut [u8])]) -> Result<()> {
        let length_now = self.length.load(Ordering::Acquire);
        let mut inside = Vec::with_capacity(requests.len());
        for (offset, buffer) in requests {
            let count = count_before(length_now, *offset, buffer.len());
            let (buf, outside) = buffer.split_at_mut(count);
            outside.fill(0);
            if !buf.is_empty() {
                inside.push(ReadRequest { offset: *offset, buf });
            }
        }
        self.driver.read_many(&mut inside).map_err(|source| Error::Io {
            action: format!("cannot read raw data from `{}`", self.driver.name()),
            source,
        })
    }

    /// Writes bytes at an offset of the external raw data file.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.driver.write_at(offset, bytes).map_err(|source| Error::Io {
            action: format!("cannot write raw data to `{}`", self.driver.name()),
            source,
        })?;
        self.length.fetch_max(offset + to_u64(bytes.len()), Ordering::AcqRel);
        Ok(())
    }
}
