//! The driver of a source whose bytes come from outside.

use std::ops::Range;
use std::sync::Arc;

use hyperslab::vfd::{Driver, DriverError, FileIdentity, LockKind, ReadRequest, Result};
use hyperslab_exact::to_u64;

use crate::pool::Pool;

/// A driver that reads the blocks that are in memory. A read of other bytes notes them and fails.
#[derive(Debug, Clone)]
pub(crate) struct SourceDriver {
    pool: Arc<Pool>,
    /// The number of the source.
    source: u32,
    name: Arc<str>,
    size: u64,
}

impl SourceDriver {
    pub(crate) fn new(pool: &Arc<Pool>, source: u32, name: &Arc<str>, size: u64) -> Self {
        Self { pool: Arc::clone(pool), source, name: Arc::clone(name), size }
    }

    fn name_for_error(&self) -> String {
        self.name.to_string()
    }

    fn read_only<T>(&self) -> Result<T> {
        Err(DriverError::ReadOnly { name: self.name_for_error() })
    }
}

impl Driver for SourceDriver {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn len(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let length = to_u64(buf.len());
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > self.size) {
            let (name, end) = (self.name_for_error(), self.size);
            return Err(DriverError::PastEnd { name, offset, length, end });
        }
        if self.pool.read(self.source, offset, buf) {
            return Ok(());
        }
        Err(DriverError::NotYet { name: self.name_for_error() })
    }

    fn expect_read(&self, offset: u64, length: usize) {
        if let Some(end) = offset.checked_add(to_u64(length)) {
            self.expect_many(std::slice::from_ref(&(offset..end)));
        }
    }

    fn expect_many(&self, ranges: &[Range<u64>]) {
        for range in ranges.iter().filter(|range| range.end <= self.size) {
            self.pool.note(self.source, range);
        }
    }

    fn expects_many(&self) -> bool {
        true
    }

    fn read_ahead(&self, work: &mut dyn FnMut()) -> u64 {
        // The reads of `work` note what is missing. If all bytes are in memory, which the first
        // attempt shows, they would only take time.
        if self.pool.is_repeated() {
            work();
        }
        0
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        // All requests are tried, so that one attempt notes all missing blocks.
        let outcomes: Vec<Result<()>> =
            requests.iter_mut().map(|request| self.read_at(request.offset, request.buf)).collect();
        outcomes.into_iter().collect()
    }

    fn write_at(&self, _: u64, _: &[u8]) -> Result<()> {
        self.read_only()
    }

    fn set_len(&self, _: u64) -> Result<()> {
        self.read_only()
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }
}
