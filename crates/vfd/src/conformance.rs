//! Tests that every driver must pass: `conformance::run(|| MyDriver::new())`.
#![expect(clippy::unwrap_used, reason = "this is a test suite: a failure is meant to panic")]

use std::thread;

use crate::{Driver, DriverError, LockKind, ReadRequest, WriteRequest};

/// Tests a file driver for all requirements of the driver trait. `make` creates an empty, writable
/// driver; each driver is dropped before the next one is created.
///
/// # Panics
/// Panics if the driver violates a requirement.
pub fn run<D: Driver>(make: impl Fn() -> D) {
    starts_empty(&make());
    reads_what_was_written(&make());
    gaps_read_as_zero(&make());
    length_is_set(&make());
    ends_are_errors(&make());
    overlapping_writes_keep_their_order(&make());
    let filled = make();
    let bytes = pattern(200_000);
    filled.write_at(0, &bytes).unwrap();
    reading(&filled, &bytes);
    locks(&filled);
    flushes(&filled);
}

/// Tests a read-only file driver for the requirements of the driver trait. `make` creates a driver
/// that contains the given bytes.
///
/// # Panics
/// Panics if the driver violates a requirement.
pub fn run_read_only<D: Driver>(make: impl Fn(&[u8]) -> D) {
    for length in [0, 1, 4096, 200_000] {
        let bytes = pattern(length);
        let driver = make(&bytes);
        assert!(driver.is_read_only());
        reading(&driver, &bytes);
        let refused = |result| matches!(result, Err(DriverError::ReadOnly { .. }));
        assert!(refused(driver.write_at(0, b"x")));
        assert!(refused(driver.write_many(&[WriteRequest { offset: 0, bytes: b"x" }])));
        assert!(refused(driver.set_len(0)));
        flushes(&driver);
        assert_eq!(all(&driver), bytes);
    }
}

/// Returns varying bytes for a driver test. The period of the bytes is not a power of two.
fn pattern(length: usize) -> Vec<u8> {
    (0..=250_u8).cycle().zip(0..length).map(|(byte, at)| byte ^ at.to_le_bytes()[1]).collect()
}

fn all(driver: &dyn Driver) -> Vec<u8> {
    let mut bytes = vec![0xee; usize::try_from(driver.len().unwrap()).unwrap()];
    driver.read_at(0, &mut bytes).unwrap();
    bytes
}

fn starts_empty(driver: &dyn Driver) {
    assert_eq!(driver.len().unwrap(), 0);
    assert!(driver.is_empty().unwrap());
    assert!(!driver.is_read_only());
    assert!(!driver.name().is_empty());
    driver.read_at(0, &mut []).unwrap();
    driver.write_at(10, &[]).unwrap();
    driver.write_many(&[]).unwrap();
    driver.read_many(&mut []).unwrap();
    driver.read_parts(3, &mut [&mut [], &mut []]).unwrap();
    assert_eq!(driver.len().unwrap(), 0, "writing nothing changes nothing");
}

fn reads_what_was_written(driver: &dyn Driver) {
    driver.write_at(0, b"hello world").unwrap();
    driver.write_at(6, b"there!").unwrap();
    assert_eq!(all(driver), b"hello there!");
    let mut middle = [0; 5];
    driver.read_at(4, &mut middle).unwrap();
    assert_eq!(&middle, b"o the");
    let large = pattern(3 << 20);
    driver.write_at(5, &large).unwrap();
    assert_eq!(all(driver).get(5..), Some(large.as_slice()));
}

fn gaps_read_as_zero(driver: &dyn Driver) {
    driver.write_at(3, b"a").unwrap();
    assert_eq!(all(driver), b"\0\0\0a");
    driver.write_at(70_000, b"b").unwrap();
    let bytes = all(driver);
    assert_eq!(bytes.len(), 70_001);
    assert!(bytes.iter().enumerate().all(|(at, byte)| match at {
        3 => *byte == b'a',
        70_000 => *byte == b'b',
        _ => *byte == 0,
    }));
}

fn length_is_set(driver: &dyn Driver) {
    driver.write_at(0, b"abcdef").unwrap();
    driver.set_len(3).unwrap();
    assert_eq!(driver.len().unwrap(), 3);
    driver.set_len(5).unwrap();
    assert_eq!(all(driver), b"abc\0\0", "bytes that were cut off do not come back");
    driver.set_len(2).unwrap();
    driver.write_at(4, b"x").unwrap();
    assert_eq!(all(driver), b"ab\0\0x");
    driver.set_len(0).unwrap();
    assert!(driver.is_empty().unwrap());
}

fn ends_are_errors(driver: &dyn Driver) {
    driver.write_at(0, &[1; 10]).unwrap();
    for (offset, length) in [(10, 1), (9, 2), (0, 11), (11, 1), (1 << 40, 1), (1 << 62, 3)] {
        let error = driver.read_at(offset, &mut vec![0; length]).unwrap_err();
        let DriverError::PastEnd { offset: at, length: asked, end, .. } = error else {
            unreachable!("reading {length} at {offset} gave {error}")
        };
        assert_eq!((at, usize::try_from(asked).unwrap(), end), (offset, length, 10));
    }
    assert!(driver.read_at(u64::MAX, &mut [0; 2]).is_err());
    assert!(driver.write_at(u64::MAX, &[0; 2]).is_err());
    let (mut good, mut bad) = ([0; 2], [0; 2]);
    let mut requests = [ReadRequest { offset: 0, buf: &mut good }, ReadRequest { offset: 9, buf: &mut bad }];
    assert!(matches!(driver.read_many(&mut requests), Err(DriverError::PastEnd { offset: 9, .. })));
    let error = driver.read_parts(4, &mut [&mut [0; 3], &mut [], &mut [0; 4]]).unwrap_err();
    assert!(matches!(error, DriverError::PastEnd { offset: 4, length: 7, end: 10, .. }), "{error}");
    assert!(driver.read_parts(u64::MAX - 3, &mut [&mut [0; 2], &mut [0; 3]]).is_err());
    driver.read_at(10, &mut []).unwrap();
    driver.read_at(u64::MAX, &mut []).unwrap();
    assert_eq!(driver.len().unwrap(), 10, "reading never makes a file longer");
}

fn overlapping_writes_keep_their_order(driver: &dyn Driver) {
    let parts: [(u64, &[u8]); 6] =
        [(0, b"aaaa"), (4, b"bbbb"), (2, b"cccc"), (6, b""), (6, b"dd"), (20, b"ee")];
    let requests: Vec<WriteRequest<'_>> =
        parts.iter().map(|(offset, bytes)| WriteRequest { offset: *offset, bytes }).collect();
    driver.write_many(&requests).unwrap();
    assert_eq!(all(driver), b"aaccccdd\0\0\0\0\0\0\0\0\0\0\0\0ee");
}

fn reading(driver: &dyn Driver, bytes: &[u8]) {
    assert_eq!(driver.len().unwrap(), u64::try_from(bytes.len()).unwrap());
    assert_eq!(all(driver), bytes);
    if let Some(held) = driver.as_bytes() {
        assert_eq!(held, bytes);
    }
    many_equals_singles(driver, bytes);
    parts_equal_the_whole(driver, bytes);
    thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for length in [1, 13, 4096, 65_536] {
                    let windows = bytes.chunks(length).enumerate().skip(thread).step_by(8).take(40);
                    for (number, expected) in windows {
                        let mut buf = vec![0; expected.len()];
                        driver.read_at(u64::try_from(number * length).unwrap(), &mut buf).unwrap();
                        assert_eq!(buf, expected);
                    }
                }
            });
        }
    });
}

/// Checks that a driver's read of several buffers at once returns the bytes of single reads, in any
/// order and with overlaps.
fn many_equals_singles(driver: &dyn Driver, bytes: &[u8]) {
    let mut state = 12_345_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % bound.max(1)
    };
    for round in 0..20 {
        let mut wanted: Vec<(usize, Vec<u8>)> = (0..round * 3)
            .map(|_| {
                let start = below(bytes.len() + 1);
                let length = below((bytes.len() - start + 1).min(if round % 2 == 0 { 300 } else { 100_000 }));
                (start, vec![0xee; length])
            })
            .collect();
        let mut requests: Vec<ReadRequest<'_>> = wanted
            .iter_mut()
            .map(|(start, buf)| ReadRequest { offset: u64::try_from(*start).unwrap(), buf })
            .collect();
        driver.read_many(&mut requests).unwrap();
        for (start, buf) in wanted {
            assert_eq!(bytes.get(start..start + buf.len()), Some(buf.as_slice()));
        }
    }
}

/// Checks that a driver's read into several buffers equals one read of all bytes, also for empty
/// and for many buffers.
fn parts_equal_the_whole(driver: &dyn Driver, bytes: &[u8]) {
    for (start, lengths) in [
        (0, vec![0, 1, 0, 7, 4096, 0]),
        (1, vec![3; 5000]),
        (4095, vec![1; 2049]),
        (17, vec![100_000, 0, 5, 70_000]),
        (200, vec![]),
    ] {
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|length| vec![0xee; *length]).collect();
        let Some(expected) = bytes.get(start..start + lengths.iter().sum::<usize>()) else { continue };
        let mut parts: Vec<&mut [u8]> = all.iter_mut().map(Vec::as_mut_slice).collect();
        driver.read_parts(u64::try_from(start).unwrap(), &mut parts).unwrap();
        assert_eq!(all.concat(), expected);
    }
}

fn locks(driver: &dyn Driver) {
    for kind in [LockKind::Shared, LockKind::Exclusive, LockKind::Shared] {
        match driver.lock(kind) {
            Ok(()) | Err(DriverError::Unsupported { .. }) => {}
            Err(error) => unreachable!("cannot take a lock without conflicts: {error}"),
        }
    }
    match driver.unlock() {
        Ok(()) | Err(DriverError::Unsupported { .. }) => {}
        Err(error) => unreachable!("cannot release a lock: {error}"),
    }
}

fn flushes(driver: &dyn Driver) {
    let before = all(driver);
    driver.flush().unwrap();
    driver.sync_data().unwrap();
    assert_eq!(all(driver), before);
}
