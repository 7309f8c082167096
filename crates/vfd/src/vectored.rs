//! The default implementations of vectored reads and writes, which join small requests.

use std::time::Duration;

use hyperslab_exact::to_u64;

use crate::{Driver, ReadRequest, Result, WriteRequest, clock};

/// The largest gap, in bytes, between two file reads that a driver joins to one read. Reading the
/// gap is cheaper than a second read.
const MAX_GAP_BYTES: u64 = 4 << 10;

/// The largest length, in bytes, of a read or write that joins several requests to a file driver.
/// The driver gets a longer request without joining.
const MAX_JOINED_BYTES: u64 = 1 << 20;

/// The shortest duration of a slow read of a driver. A slow read probably waits for a disk or a
/// network.
const SLOW_READ_TIME: Duration = Duration::from_micros(40);

/// The largest number of later read requests that are announced to a slow file driver at a time.
const ANNOUNCED_REQUESTS: usize = 64;

/// The number of read requests after a fast read for which the time of the driver is not measured.
const UNTIMED_READS: usize = 15;

/// Reads the bytes of all read requests from the file, and joins small neighbouring requests. After
/// a slow read, announces the next requests to the driver, which can then fetch them concurrently.
pub(crate) fn read_many<D: Driver + ?Sized>(driver: &D, requests: &mut [ReadRequest<'_>]) -> Result<()> {
    let mut order: Vec<&mut ReadRequest<'_>> = requests.iter_mut().collect();
    order.sort_by_key(|request| request.offset);
    let mut joined = Vec::new();
    let mut rest = order.as_mut_slice();
    let mut untimed = 0_usize;
    while !rest.is_empty() {
        let count = neighbours(rest).max(1);
        let Some((group, tail)) = rest.split_at_mut_checked(count) else { break };
        let start = if untimed == 0 && !tail.is_empty() { clock::now() } else { None };
        read_group(driver, group, &mut joined)?;
        untimed = match start {
            Some(start) if start.elapsed() > SLOW_READ_TIME => {
                let announced = tail.iter().take(ANNOUNCED_REQUESTS);
                announced.for_each(|request| driver.expect_read(request.offset, request.buf.len()));
                ANNOUNCED_REQUESTS
            }
            Some(_) => UNTIMED_READS,
            // Saturates: a group may have more requests than remain unmeasured.
            None => untimed.saturating_sub(count),
        };
        rest = tail;
    }
    Ok(())
}

/// Returns the number of neighbouring requests at the start of a list of read requests. One read of
/// the driver can fill them together. The list is sorted by file offset.
fn neighbours(sorted: &[&mut ReadRequest<'_>]) -> usize {
    let Some(start) = sorted.first().map(|request| request.offset) else { return 0 };
    let mut end = start;
    sorted
        .iter()
        .take_while(|request| {
            // A range beyond 64 bits is read alone, which fails.
            let Some(reach) = request.offset.checked_add(to_u64(request.buf.len())) else { return false };
            let (gap, reach) = (request.offset.max(end) - end, reach.max(end));
            let near = gap <= MAX_GAP_BYTES && reach - start <= MAX_JOINED_BYTES;
            if near {
                end = reach;
            }
            near
        })
        .count()
}

/// Fills the buffers of a group of neighbouring read requests, with one read of the driver if
/// possible.
fn read_group<D: Driver + ?Sized>(
    driver: &D,
    group: &mut [&mut ReadRequest<'_>],
    joined: &mut Vec<u8>,
) -> Result<()> {
    if group.len() > 1 && read_joined(driver, group, joined).is_some() {
        return Ok(());
    }
    // A single request, or a failed joined read: read each request alone, so that an error names
    // the request.
    group.iter_mut().try_for_each(|request| driver.read_at(request.offset, request.buf))
}

/// Fills the buffers of a group of neighbouring read requests with one read of the driver. Returns
/// `None` if the read fails.
fn read_joined<D: Driver + ?Sized>(
    driver: &D,
    group: &mut [&mut ReadRequest<'_>],
    joined: &mut Vec<u8>,
) -> Option<()> {
    let start = group.first()?.offset;
    let mut end = start;
    for request in group.iter() {
        end = end.max(request.offset.checked_add(u64::try_from(request.buf.len()).ok()?)?);
    }
    let length = usize::try_from(end.checked_sub(start)?).ok()?;
    if joined.len() < length {
        joined.resize(length, 0);
    }
    let bytes = joined.get_mut(..length)?;
    driver.read_at(start, bytes).ok()?;
    for request in group.iter_mut() {
        let at = usize::try_from(request.offset.checked_sub(start)?).ok()?;
        request.buf.copy_from_slice(bytes.get(at..)?.get(..request.buf.len())?);
    }
    Some(())
}

/// Fills the buffers `parts` with one read of the driver: reads into an intermediate buffer, and
/// copies the bytes from this buffer to `parts`.
pub(crate) fn read_parts<D: Driver + ?Sized>(driver: &D, offset: u64, parts: &mut [&mut [u8]]) -> Result<()> {
    let length = parts.iter().map(|part| part.len()).sum();
    let mut joined = vec![0; length];
    driver.read_at(offset, &mut joined)?;
    let mut rest = joined.as_slice();
    for part in parts {
        let Some((bytes, remaining)) = rest.split_at_checked(part.len()) else { break };
        part.copy_from_slice(bytes);
        rest = remaining;
    }
    Ok(())
}

/// Writes the bytes of all write requests to the file in order, and joins small adjacent requests.
pub(crate) fn write_many<D: Driver + ?Sized>(driver: &D, requests: &[WriteRequest<'_>]) -> Result<()> {
    let mut joined = Vec::new();
    let mut rest = requests;
    while let Some(first) = rest.first() {
        let count = adjacent(rest).max(1);
        let Some((group, tail)) = rest.split_at_checked(count) else { break };
        if count == 1 {
            driver.write_at(first.offset, first.bytes)?;
        } else {
            joined.clear();
            group.iter().for_each(|request| joined.extend_from_slice(request.bytes));
            driver.write_at(first.offset, &joined)?;
        }
        rest = tail;
    }
    Ok(())
}

/// Returns the number of adjacent requests at the start of a list of write requests: each begins at
/// the file offset where the one before ends. One write of the driver can store them together.
fn adjacent(requests: &[WriteRequest<'_>]) -> usize {
    let Some(start) = requests.first().map(|request| request.offset) else { return 0 };
    let mut end = start;
    requests
        .iter()
        .take_while(|request| {
            let Some(reach) = end.checked_add(to_u64(request.bytes.len())) else { return false };
            let follows = request.offset == end && reach - start <= MAX_JOINED_BYTES && reach < u64::MAX;
            if follows {
                end = reach;
            }
            follows
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Core, Driver};

    #[test]
    fn neighbours_are_joined_up_to_a_size_and_a_gap() {
        let count = |ranges: &[(u64, usize)]| {
            let mut buffers: Vec<(u64, Vec<u8>)> = ranges.iter().map(|(at, n)| (*at, vec![0; *n])).collect();
            let mut requests: Vec<ReadRequest<'_>> =
                buffers.iter_mut().map(|(offset, buf)| ReadRequest { offset: *offset, buf }).collect();
            neighbours(&requests.iter_mut().collect::<Vec<_>>())
        };
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[(5, 1)]), 1);
        assert_eq!(count(&[(0, 10), (10, 10), (20 + MAX_GAP_BYTES, 10)]), 3);
        assert_eq!(count(&[(0, 10), (11 + MAX_GAP_BYTES, 10)]), 1);
        assert_eq!(count(&[(0, 2 << 20), (5, 10)]), 0, "a large one stands alone");
        assert_eq!(count(&[(0, 1 << 20), (5, 10), (1 << 20, 1)]), 2);
        assert_eq!(count(&[(u64::MAX - 3, 2), (u64::MAX - 1, 30)]), 1, "one past 64 bits stands alone");
    }

    #[test]
    fn an_error_of_a_joined_read_names_the_request() {
        let driver = Core::from_vec("ten", vec![7; 10]);
        let (mut a, mut b) = ([0; 4], [0; 4]);
        let mut requests = [ReadRequest { offset: 8, buf: &mut a }, ReadRequest { offset: 2, buf: &mut b }];
        let error = read_many(&driver, &mut requests).unwrap_err();
        assert_eq!(error.to_string(), "ten: cannot read 4 bytes at 8: the file ends at 10");
        assert_eq!(b, [7; 4]);
    }

    /// A driver with slow reads, which records the announced reads.
    #[derive(Debug)]
    struct Medium {
        inner: Core,
        expected: std::sync::Mutex<Vec<u64>>,
    }

    impl Driver for Medium {
        fn name(&self) -> &str {
            self.inner.name()
        }

        fn kind(&self) -> crate::DriverKind {
            self.inner.kind()
        }

        fn identity(&self) -> Option<crate::FileIdentity> {
            None
        }

        fn is_read_only(&self) -> bool {
            true
        }

        fn len(&self) -> Result<u64> {
            self.inner.len()
        }

        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
            std::thread::sleep(SLOW_READ_TIME * 5);
            self.inner.read_at(offset, buf)
        }

        fn expect_read(&self, offset: u64, length: usize) {
            assert_eq!(length, 3);
            self.expected.lock().unwrap().push(offset);
        }

        fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
            self.inner.write_at(offset, bytes)
        }

        fn set_len(&self, len: u64) -> Result<()> {
            self.inner.set_len(len)
        }

        fn sync_data(&self) -> Result<()> {
            self.inner.sync_data()
        }

        fn lock(&self, kind: crate::LockKind) -> Result<()> {
            self.inner.lock(kind)
        }

        fn unlock(&self) -> Result<()> {
            self.inner.unlock()
        }
    }

    #[test]
    fn a_slow_medium_is_told_what_comes() {
        let offsets: Vec<u64> = (0..100).map(|at| at * 2 * MAX_GAP_BYTES).collect();
        let bytes: Vec<u8> = (0..200 * MAX_GAP_BYTES).map(|at| at.to_le_bytes()[1]).collect();
        let inner = Core::from_vec("slow", bytes.clone());
        let medium = Medium { inner, expected: std::sync::Mutex::default() };
        let mut buffers = vec![[0; 3]; offsets.len()];
        let requests = offsets.iter().zip(&mut buffers);
        let mut requests: Vec<ReadRequest<'_>> =
            requests.map(|(offset, buf)| ReadRequest { offset: *offset, buf }).collect();
        read_many(&medium, &mut requests).unwrap();
        // Each request was announced once, except for the two reads before the announcements.
        let announced: Vec<u64> =
            offsets.iter().copied().filter(|at| ![0, offsets[ANNOUNCED_REQUESTS + 1]].contains(at)).collect();
        assert_eq!(*medium.expected.lock().unwrap(), announced);
        for (offset, buffer) in offsets.iter().zip(&buffers) {
            let start = usize::try_from(*offset).unwrap();
            assert_eq!(buffer[..], bytes[start..start + 3]);
        }
    }

    #[test]
    fn joined_writes_keep_their_order() {
        let driver = Core::empty("order");
        let write = |offset, bytes| WriteRequest { offset, bytes };
        write_many(&driver, &[write(0, b"ab"), write(2, b"cd"), write(1, b"xy"), write(3, b"z")]).unwrap();
        let mut all = [0; 4];
        driver.read_at(0, &mut all).unwrap();
        assert_eq!(&all, b"axyz");
    }
}
