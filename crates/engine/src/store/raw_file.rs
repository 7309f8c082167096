//! Another file that holds nothing but raw data.

use hyperslab_vfd::{Driver, ReadRequest};
use std::sync::Arc;

use crate::error::{Error, Result};

/// A file of raw data. It reads as zero bytes behind its end.
#[derive(Debug, Clone)]
pub struct RawFile {
    driver: Arc<dyn Driver>,
    length: u64,
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
        Ok(Self { driver, length })
    }

    /// Fills buffers with the bytes from each offset on, and with zeros where the file has ended.
    ///
    /// # Errors
    /// [`Error::Io`] if the driver fails.
    pub fn read_many(&self, requests: &mut [(u64, &mut [u8])]) -> Result<()> {
        let mut inside = Vec::with_capacity(requests.len());
        for (offset, buffer) in requests {
            let there = usize::try_from(self.length.saturating_sub(*offset)).unwrap_or(usize::MAX);
            let length = there.min(buffer.len());
            buffer.get_mut(length..).unwrap_or_default().fill(0);
            if let Some(buf) = buffer.get_mut(..length).filter(|buf| !buf.is_empty()) {
                inside.push(ReadRequest { offset: *offset, buf });
            }
        }
        self.driver.read_many(&mut inside).map_err(|source| Error::Io {
            action: format!("cannot read raw data from `{}`", self.driver.name()),
            source,
        })
    }
}
