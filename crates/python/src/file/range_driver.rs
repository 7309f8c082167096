//! A driver whose byte ranges a Python object reads: an object store of another package.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use hyperslab::vfd::{Driver, DriverError, FileIdentity, LockKind, ReadRequest, Result};
use hyperslab_exact::{to_u64, to_usize};
use parking_lot::Mutex;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::interpreter_ended;

/// The number of bytes that a small read fetches.
const LINE: u64 = 64 << 10;

/// The bytes of the first request.
const FIRST: u64 = 1 << 20;

/// The largest number of bytes of lines that stay in memory.
const CACHE: u64 = 128 << 20;

/// The largest number of bytes of announced reads that are fetched together.
const BATCH: u64 = 32 << 20;

/// The driver of an object with the method `ranges(starts, ends)`, which returns a list of bytes.
#[derive(Debug)]
pub(super) struct RangeDriver {
    reader: Py<PyAny>,
    name: String,
    size: u64,
    held: Mutex<Held>,
}

/// The bytes in memory, and the reads that were announced.
#[derive(Debug, Default)]
struct Held {
    lines: BTreeMap<u64, Arc<[u8]>>,
    /// The numbers of the lines, oldest first.
    order: VecDeque<u64>,
    /// Raw data by its offset, until it is read.
    raw: BTreeMap<u64, Arc<[u8]>>,
    announced: BTreeMap<u64, u64>,
}

impl RangeDriver {
    /// Creates the driver of an object with the attributes `name` and `size`.
    pub(super) fn new(reader: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = reader.getattr("name")?.extract()?;
        let size = reader.getattr("size")?.extract()?;
        let driver = Self { reader: reader.clone().unbind(), name, size, held: Mutex::default() };
        Ok(driver)
    }

    /// Fetches the first bytes of the file.
    pub(super) fn start(&self) -> Result<()> {
        self.fetch_lines(0, self.size.min(FIRST))
    }

    /// Reads ranges with one call of the object.
    fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Arc<[u8]>>> {
        let (starts, ends): (Vec<u64>, Vec<u64>) =
            ranges.iter().map(|range| (range.start, range.end)).unzip();
        let outcome = Python::try_attach(|py| -> PyResult<Vec<Arc<[u8]>>> {
            let found = self.reader.bind(py).call_method1("ranges", (starts, ends))?;
            let mut all = Vec::with_capacity(ranges.len());
            for bytes in found.try_iter()? {
                all.push(Arc::from(bytes?.cast::<PyBytes>()?.as_bytes()));
            }
            Ok(all)
        });
        let failed =
            |error| DriverError::io(self.name.as_str(), "cannot read the object", io::Error::other(error));
        let found = outcome.unwrap_or_else(|| Err(interpreter_ended())).map_err(failed)?;
        let lengths = found.iter().map(|bytes| to_u64(bytes.len()));
        if !lengths.eq(ranges.iter().map(|range| range.end - range.start)) {
            return Err(failed(PyOSError::new_err("the store returned other lengths than requested")));
        }
        Ok(found)
    }

    /// Fetches the lines of a range that are not in memory, as one range.
    fn fetch_lines(&self, start: u64, end: u64) -> Result<()> {
        let missing: Vec<u64> = {
            let held = self.held.lock();
            (start / LINE..end.div_ceil(LINE)).filter(|line| !held.lines.contains_key(line)).collect()
        };
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        let range = first * LINE..((last + 1) * LINE).min(self.size);
        for bytes in self.fetch(&[range])? {
            let mut held = self.held.lock();
            let length = to_usize(LINE)?;
            for (line, part) in (*first..).zip(bytes.chunks(length)) {
                if held.lines.insert(line, part.into()).is_none() {
                    held.order.push_back(line);
                }
            }
            while to_u64(held.order.len()) * LINE > CACHE {
                if let Some(oldest) = held.order.pop_front() {
                    held.lines.remove(&oldest);
                }
            }
        }
        Ok(())
    }

    /// Fills a buffer from the lines in memory. Returns `false` if a line is missing.
    fn copy_lines(&self, offset: u64, buf: &mut [u8]) -> Result<bool> {
        let held = self.held.lock();
        let mut rest = buf;
        let mut at = offset;
        while !rest.is_empty() {
            let Some(line) = held.lines.get(&(at / LINE)) else { return Ok(false) };
            let from = line.get(to_usize(at % LINE)?..).filter(|from| !from.is_empty());
            let Some(from) = from else { return Ok(false) };
            let count = from.len().min(rest.len());
            let (to, after) = rest.split_at_mut(count);
            to.copy_from_slice(from.get(..count).unwrap_or(from));
            (rest, at) = (after, at + to_u64(count));
        }
        Ok(true)
    }

    /// Returns whether a read at an offset was announced.
    fn is_announced(&self, offset: u64) -> bool {
        let held = self.held.lock();
        held.raw.contains_key(&offset) || held.announced.contains_key(&offset)
    }

    /// Returns raw data, and fetches announced data with it.
    fn raw(&self, range: &Range<u64>) -> Result<Arc<[u8]>> {
        let wanted = {
            let mut held = self.held.lock();
            if let Some(bytes) = held.raw.remove(&range.start)
                && to_u64(bytes.len()) == range.end - range.start
            {
                return Ok(bytes);
            }
            held.announced.remove(&range.start);
            let mut wanted = vec![range.clone()];
            let mut bytes = range.end - range.start;
            while let Some(next) = held.announced.first_entry() {
                bytes += next.get() - next.key();
                if bytes > BATCH {
                    break;
                }
                let (start, end) = next.remove_entry();
                wanted.push(start..end);
            }
            wanted
        };
        let mut found = self.fetch(&wanted)?.into_iter().zip(wanted);
        let first = found.next().map(|(bytes, _)| bytes);
        let mut held = self.held.lock();
        held.raw.extend(found.map(|(bytes, range)| (range.start, bytes)));
        first.ok_or_else(|| {
            DriverError::io(self.name.as_str(), "cannot read the object", io::Error::other("no bytes"))
        })
    }
}

impl Driver for RangeDriver {
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
        let end = offset.checked_add(length).filter(|end| *end <= self.size);
        let end = end.ok_or_else(|| DriverError::PastEnd {
            name: self.name.clone(),
            offset,
            length,
            end: self.size,
        })?;
        if self.copy_lines(offset, buf)? {
            return Ok(());
        }
        if length <= LINE && !self.is_announced(offset) {
            self.fetch_lines(offset, end)?;
            if self.copy_lines(offset, buf)? {
                return Ok(());
            }
        }
        let bytes = self.raw(&(offset..end))?;
        buf.copy_from_slice(&bytes);
        Ok(())
    }

    fn expect_many(&self, ranges: &[Range<u64>]) {
        let mut held = self.held.lock();
        // Raw data of an earlier announcement that was not read.
        held.raw.clear();
        held.announced.clear();
        let inside =
            ranges.iter().filter(|range| range.end <= self.size && range.end - range.start > LINE / 8);
        held.announced.extend(inside.map(|range| (range.start, range.end)));
    }

    fn expects_many(&self) -> bool {
        true
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let ends = requests.iter().map(|request| (request.offset, request.buf.len()));
        let ranges: Vec<Range<u64>> =
            ends.filter_map(|(offset, length)| Some(offset..offset.checked_add(to_u64(length))?)).collect();
        if ranges.len() > 1 {
            self.expect_many(&ranges);
        }
        requests.sort_unstable_by_key(|request| request.offset);
        requests.iter_mut().try_for_each(|request| self.read_at(request.offset, request.buf))
    }

    fn write_at(&self, _: u64, _: &[u8]) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name.clone() })
    }

    fn set_len(&self, _: u64) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name.clone() })
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
