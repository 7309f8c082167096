//! Another file that holds nothing but raw data.

use hyperslab_exact::to_usize;
use hyperslab_vfd::{Driver, ReadRequest};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A file of raw data. It reads as zero bytes behind its end.
#[derive(Debug)]
pub struct RawFile {
    driver: Arc<dyn Driver>,
    length: AtomicU64,
}

impl RawFile {
    /// The file that `driver` holds.
    ///
    /// # Errors
    /// If its length cannot be learned.
    pub fn new(driver: Arc<dyn Driver>) -> Result<Self> {
        let length = driver.len().map_err(|source| Error::Io {
            action: format!("cannot learn the length of `{}`", driver.name()),
            source,
        })?;
        Ok(Self { driver, length: AtomicU64::new(length) })
    }

    /// Fills buffers with the bytes from each offset on, and with zeros where the file has ended.
    ///
    /// # Errors
    /// [`Error::Io`] if the driver fails.
    pub fn read_many(&self, requests: &mut [(u64, &mut [u8])]) -> Result<()> {
        let length_now = self.length.load(Ordering::Acquire);
        let mut inside = Vec::with_capacity(requests.len());
        for (offset, buffer) in requests {
            // A request may begin behind the end.
            let there = length_now.saturating_sub(*offset).min(buffer.len() as u64);
            let (buf, outside) = buffer.split_at_mut(to_usize(there)?);
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

    /// Writes bytes from an offset on.
    ///
    /// # Errors
    /// [`Error::Io`] if the driver fails.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.driver.write_at(offset, bytes).map_err(|source| Error::Io {
            action: format!("cannot write raw data to `{}`", self.driver.name()),
            source,
        })?;
        self.length.fetch_max(offset + bytes.len() as u64, Ordering::AcqRel);
        Ok(())
    }
}
