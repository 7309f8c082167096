//! An object lives until its last handle is closed.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report"
)]

mod callbacks;
mod crashed;
mod history;
mod lives;
mod removed;
mod stale;
mod threads;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use hyperslab::vfd::{Core, Driver as _};
use hyperslab::{File, FileOptions, FileSpace, FileSpaceStrategy};

/// The storage of a file's bytes.
type Medium = Arc<Core>;

/// Returns the options of a file that records all its free space.
fn options() -> FileOptions {
    let strategy = FileSpaceStrategy::FreeSpaceAndAggregators;
    FileOptions::new().file_space(FileSpace { strategy, persist: true, threshold: 1, page_size: 4096 })
}

/// Creates a file in memory that records all its free space.
fn new_file() -> (File, Medium) {
    let medium = Arc::new(Core::from_vec("handles", Vec::new()));
    (options().create_driver(medium.clone()).unwrap(), medium)
}

fn bytes_of(medium: &Medium) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(medium.len().unwrap()).unwrap()];
    medium.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Checks that the closed file on the medium is sound, and that no byte and no heap object of the
/// file is leaked. Returns the bytes of the file.
fn sound(medium: &Medium) -> Vec<u8> {
    let report = hyperslab_check::check(medium.clone(), &Default::default()).unwrap();
    assert_eq!((report.faults, report.unchecked), (0, 0), "{:#?}", report.findings);
    assert_eq!(report.leaked, [], "{:#?}", report.usage);
    assert_eq!(report.leaked_heap_objects.blocks, 0, "{:#?}", report.findings);
    bytes_of(medium)
}

/// Runs a function on a separate thread. Fails if the function does not end in time.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    ended.recv_timeout(Duration::from_secs(120)).expect("it failed, or waits for itself")
}

/// Returns the number in an environment variable.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |number| number.parse().expect("a number"))
}

/// A generator of pseudo-random numbers (xorshift64*).
#[derive(Debug)]
struct Random(u64);

impl Random {
    /// Returns a number below `end`, or 0 if there is none.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).checked_rem(end).unwrap_or(0)
    }
}
