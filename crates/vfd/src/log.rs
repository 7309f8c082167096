//! A driver that logs the calls of another driver.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use hyperslab_exact::to_u64;

use crate::access_log::{AccessLog, LoggedOperation};
use crate::{Driver, DriverKind, FileIdentity, LockKind, ReadRequest, Result, WriteRequest, clock};

/// A driver that passes calls to another file driver, counts each call in an [`AccessLog`], and
/// traces it (`tracing`, level `TRACE`, target `hyperslab_vfd::log`).
///
/// ```
/// use hyperslab_vfd::{AccessLog, Core, Driver, Log};
/// use std::sync::Arc;
///
/// let log = Arc::new(AccessLog::counting_bytes(1024));
/// let driver = Log::new(Arc::new(Core::from_vec("scratch", vec![0; 100])), Arc::clone(&log));
/// driver.read_at(10, &mut [0; 5])?;
/// assert_eq!(log.report().reads.bytes, 5);
/// println!("{}", log.report());
/// # Ok::<(), hyperslab_vfd::DriverError>(())
/// ```
#[derive(Debug)]
pub struct Log {
    inner: Arc<dyn Driver>,
    log: Arc<AccessLog>,
}

impl Log {
    /// Creates a driver that passes calls to the file driver `inner` and counts them in the access
    /// log `log`.
    pub fn new(inner: Arc<dyn Driver>, log: Arc<AccessLog>) -> Self {
        Self { inner, log }
    }

    /// Runs `work`, an operation of the inner file driver, and records the operation in the access
    /// log with its duration.
    fn recorded<T>(
        &self,
        operation: LoggedOperation,
        ranges: &[(u64, u64)],
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let start = clock::now();
        let result = work();
        let duration = start.map_or(Duration::ZERO, |start| start.elapsed());
        self.log.record(operation, ranges, duration, result.is_err());
        if tracing::enabled!(tracing::Level::TRACE) {
            let bytes = ranges.iter().map(|(_, length)| length).sum::<u64>();
            let offset = ranges.first().map_or(0, |(offset, _)| *offset);
            let (name, operation, error) = (self.inner.name(), operation.name(), result.as_ref().err());
            let error = error.map(tracing::field::display);
            tracing::trace!(name, operation, offset, bytes, ranges = ranges.len(), error);
        }
        result
    }
}

fn length(bytes: &[u8]) -> u64 {
    to_u64(bytes.len())
}

impl Driver for Log {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kind(&self) -> DriverKind {
        self.inner.kind()
    }

    fn name_at(&self, offset: u64) -> Cow<'_, str> {
        self.inner.name_at(offset)
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.inner.identity()
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn len(&self) -> Result<u64> {
        self.inner.len()
    }

    fn stored_len(&self) -> Result<u64> {
        self.inner.stored_len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.recorded(LoggedOperation::Read, &[(offset, length(buf))], || self.inner.read_at(offset, buf))
    }

    fn expect_read(&self, offset: u64, length: usize) {
        self.inner.expect_read(offset, length);
    }

    fn expect_many(&self, ranges: &[Range<u64>]) {
        self.inner.expect_many(ranges);
    }

    fn expects_many(&self) -> bool {
        self.inner.expects_many()
    }

    fn read_ahead(&self, work: &mut dyn FnMut()) -> u64 {
        self.inner.read_ahead(work)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let ranges: Vec<_> = requests.iter().map(|request| (request.offset, length(request.buf))).collect();
        self.recorded(LoggedOperation::Read, &ranges, || self.inner.read_many(requests))
    }

    fn read_parts(&self, offset: u64, parts: &mut [&mut [u8]]) -> Result<()> {
        let bytes = parts.iter().map(|part| length(part)).sum();
        self.recorded(LoggedOperation::Read, &[(offset, bytes)], || self.inner.read_parts(offset, parts))
    }

    fn reads_parts(&self) -> bool {
        self.inner.reads_parts()
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.recorded(LoggedOperation::Write, &[(offset, length(bytes))], || {
            self.inner.write_at(offset, bytes)
        })
    }

    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        let ranges: Vec<_> = requests.iter().map(|request| (request.offset, length(request.bytes))).collect();
        self.recorded(LoggedOperation::Write, &ranges, || self.inner.write_many(requests))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.recorded(LoggedOperation::SetLength, &[(len, 0)], || self.inner.set_len(len))
    }

    fn member_ranges(&self) -> Result<Vec<Range<u64>>> {
        self.inner.member_ranges()
    }

    fn set_member_ends(&self, ends: &[u64]) -> Result<()> {
        let ranges: Vec<_> = ends.iter().map(|end| (*end, 0)).collect();
        self.recorded(LoggedOperation::SetLength, &ranges, || self.inner.set_member_ends(ends))
    }

    fn flush(&self) -> Result<()> {
        self.recorded(LoggedOperation::Flush, &[], || self.inner.flush())
    }

    fn sync_data(&self) -> Result<()> {
        self.recorded(LoggedOperation::Sync, &[], || self.inner.sync_data())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.recorded(LoggedOperation::Lock, &[], || self.inner.lock(kind))
    }

    fn unlock(&self) -> Result<()> {
        self.recorded(LoggedOperation::Lock, &[], || self.inner.unlock())
    }

    /// Returns [`None`] for the bytes of the file, because the logging driver cannot count reads
    /// from a slice.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Core, DriverError, conformance};

    fn driver(bytes: &[u8]) -> (Log, Arc<AccessLog>) {
        let log = Arc::new(AccessLog::counting_bytes(64));
        (Log::new(Arc::new(Core::from_vec("core", bytes.to_vec())), Arc::clone(&log)), log)
    }

    #[test]
    fn keeps_the_contract() {
        conformance::run(|| driver(&[]).0);
        conformance::run_read_only(|bytes| {
            let inner = Arc::new(Core::image("image", bytes.to_vec()));
            Log::new(inner, Arc::new(AccessLog::new()))
        });
    }

    #[test]
    fn every_call_is_counted() {
        let (driver, log) = driver(&[0; 32]);
        driver.read_at(3, &mut [0; 4]).unwrap();
        let (mut a, mut b) = ([0; 5], [0; 6]);
        driver
            .read_many(&mut [ReadRequest { offset: 0, buf: &mut a }, ReadRequest { offset: 20, buf: &mut b }])
            .unwrap();
        driver.write_many(&[WriteRequest { offset: 30, bytes: b"ab" }]).unwrap();
        assert!(matches!(driver.read_at(31, &mut [0; 9]), Err(DriverError::PastEnd { .. })));
        driver.flush().unwrap();
        driver.set_len(40).unwrap();
        let report = log.report();
        assert_eq!((report.reads.calls, report.reads.ranges, report.reads.bytes), (3, 4, 24));
        assert_eq!((report.writes.calls, report.writes.bytes), (1, 2));
        assert_eq!((report.flushes, report.set_lengths, report.errors), (1, 1, 1));
        assert!(driver.as_bytes().is_none());
    }
}
