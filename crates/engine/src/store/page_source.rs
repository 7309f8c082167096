//! The place from which pages are read: the driver, and the journal with spilled pages.

use std::sync::Arc;

use hyperslab_vfd::{Driver, DriverError};

use super::bytes::count_before;
use super::journal::Journal;
use super::page::{PAGE_BYTES, shared_zeros};

/// The source from which pages of a file are read: a driver with the end of its bytes, and the
/// journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageSource<'a> {
    pub(crate) driver: &'a dyn Driver,
    /// The end of the bytes that the driver has. Bytes after it read as zeros.
    pub(crate) end: u64,
    /// The journal whose spilled pages replace bytes of the driver; `None` to read the committed
    /// bytes.
    pub(crate) journal: Option<&'a Journal>,
}

impl PageSource<'_> {
    /// Fills `buffer` with bytes of the file from the page source, beginning at the offset `start`.
    pub(crate) fn read(&self, start: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
        if let Some(outside) = buffer.get_mut(count_before(self.end, start, buffer.len())..) {
            outside.fill(0);
        }
        self.read_into_zeros(start, buffer)
    }

    /// Fills `buffer`, which holds zeros, with bytes of the file from the page source, beginning at
    /// the offset `start`.
    fn read_into_zeros(&self, start: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
        let inside = count_before(self.end, start, buffer.len());
        if let Some(inside) = buffer.get_mut(..inside).filter(|inside| !inside.is_empty()) {
            self.driver.read_at(start, inside)?;
        }
        self.journal.map_or(Ok(()), |journal| journal.overlay_spilled(start, buffer))
    }

    /// Reads the page of the file that begins at the offset `start` from the page source.
    pub(super) fn page(&self, start: u64) -> Result<Arc<[u8]>, DriverError> {
        let mut bytes = shared_zeros(PAGE_BYTES);
        if let Some(buffer) = Arc::get_mut(&mut bytes) {
            self.read_into_zeros(start, buffer)?;
        }
        Ok(bytes)
    }
}
