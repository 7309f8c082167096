//! The driver of a file, and the ends of the file's bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_format::codec::Address;
use hyperslab_vfd::{Driver, DriverError};

use super::page_source::PageSource;
use super::space::Space;
use crate::error::{Error, Result};

/// The driver of a file, with the ends of the stored, written and allocated bytes as file offsets.
#[derive(Debug)]
pub(super) struct Backing {
    pub(super) driver: Arc<dyn Driver>,
    /// The offset of address 0: the size of the user block in bytes.
    pub(super) base: u64,
    /// The end of the file, including bytes that are not yet written.
    length: AtomicU64,
    /// The end of the bytes that the driver has.
    written: AtomicU64,
    /// The end of all bytes that were ever written, to the driver or to memory. Later bytes are
    /// zeros.
    touched: AtomicU64,
    /// The number of stored bytes. Used for files that are only read, and for files whose members
    /// have ends of their own.
    stored: AtomicU64,
}

impl Backing {
    /// Creates the description of a file's driver and of the ends of its bytes. The file has
    /// `length` bytes, of which the driver stores `stored` bytes.
    pub(super) fn new(driver: Arc<dyn Driver>, base: u64, length: u64, stored: u64) -> Self {
        Self {
            driver,
            base,
            length: length.into(),
            written: length.into(),
            touched: length.into(),
            stored: stored.into(),
        }
    }

    /// Returns the end of the file as an offset. This is the length of the file after all changes.
    pub(super) fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// Returns the number of bytes of the file that the driver stores.
    pub(super) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Acquire)
    }

    /// Returns the end of the bytes of the file that were ever written. Returns `None` if not even
    /// the user block was written.
    pub(super) fn touched(&self) -> Option<u64> {
        self.touched.load(Ordering::Acquire).checked_sub(self.base)
    }

    /// Returns the source of file pages for reads without a journal: the driver and the end of its
    /// bytes.
    pub(super) fn source(&self) -> PageSource<'_> {
        PageSource { driver: &*self.driver, end: self.written.load(Ordering::Acquire), journal: None }
    }

    /// Returns the offset in the file of an address. Returns `None` if the address is undefined or
    /// the offset exceeds 64 bits.
    pub(super) fn offset_of(&self, address: Address) -> Option<u64> {
        address.get()?.checked_add(self.base)
    }

    /// Records that the file's driver stores all bytes of the file up to the offset `end`.
    pub(super) fn note_written(&self, end: u64) {
        self.written.fetch_max(end, Ordering::AcqRel);
    }

    /// Records that bytes of the file up to the offset `end` were written, to the driver or to
    /// memory.
    pub(super) fn note_touched(&self, end: u64) {
        self.touched.fetch_max(end, Ordering::AcqRel);
    }

    /// Extends the file to the end of all allocated file space.
    pub(super) fn extend_to(&self, space: &Space) {
        self.length.fetch_max(self.base + space.furthest(), Ordering::AcqRel);
        if space.has_members() {
            self.stored.fetch_max(self.base + space.usage().end, Ordering::AcqRel);
        }
    }

    /// Records the end that the file has after a commit.
    pub(super) fn set_end(&self, end: u64) {
        self.length.store(end, Ordering::Release);
        self.written.store(end, Ordering::Release);
        self.touched.store(end, Ordering::Release);
    }

    /// Reads the length of the file from the driver, for a file that another program writes.
    pub(super) fn update_length(&self) -> Result<u64> {
        let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
        let length = self.driver.len().map_err(unknown)?;
        for known in [&self.length, &self.written, &self.touched] {
            known.fetch_max(length, Ordering::AcqRel);
        }
        Ok(self.length())
    }
}

/// Creates an error about a write to the file that the driver could not do.
pub(super) fn write_failed(source: DriverError) -> Error {
    Error::Io { action: "cannot write the file".into(), source }
}
