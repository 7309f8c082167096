//! SWMR reading: another program may write the file at the same time. Caches keep nothing from one
//! read to the next, the file may grow at any time, and a block that may be half written is read
//! again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Store;
use super::superblock::find_superblock;
use crate::error::{ErrorKind, Result};

/// Largest number of repeated reads by a SWMR reader of a block that seems corrupt.
const MAX_RETRIES: u32 = 100;

/// Largest pause before a repeated read of a SWMR reader, in microseconds.
const MAX_PAUSE_MICROS: u64 = 1000;

/// The state of a file that is open as a SWMR reader. The state is the number of repeated reads.
#[derive(Debug, Default)]
pub(super) struct SwmrReader {
    retries: AtomicU64,
}

/// Calls a function with which a SWMR reader reads a block. If the block seems corrupt, repeats the
/// call, because a writer may be writing the block.
fn attempt<T>(reader: &SwmrReader, read: &dyn Fn() -> Result<T>) -> Result<T> {
    let mut outcome = read();
    for number in 0..MAX_RETRIES {
        match &outcome {
            Err(error) if error.kind() == ErrorKind::Corrupt => {}
            _ => break,
        }
        let pause = 1_u64.checked_shl(number).map_or(MAX_PAUSE_MICROS, |pause| pause.min(MAX_PAUSE_MICROS));
        std::thread::sleep(Duration::from_micros(pause));
        reader.retries.fetch_add(1, Ordering::Relaxed);
        outcome = read();
    }
    outcome
}

impl Store {
    /// Returns whether this process reads the file as a SWMR reader, while another program may
    /// write it.
    pub fn is_swmr_reader(&self) -> bool {
        self.sharing.swmr_reader.is_some()
    }

    /// Returns the number of reads that a SWMR reader has repeated because a block of the file
    /// seemed corrupt.
    pub fn retries(&self) -> u64 {
        self.sharing.swmr_reader.as_ref().map_or(0, |reader| reader.retries.load(Ordering::Relaxed))
    }

    /// Calls a function that reads a block of metadata. If the call fails while a SWMR writer may
    /// be writing the block, repeats it at most a hundred times.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn attempt<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        match &self.sharing.swmr_reader {
            Some(reader) => attempt(reader, &read),
            None => read(),
        }
    }

    /// Reads the length and the superblock of the file again, if the file is open as a SWMR reader.
    /// Increases the generation of the file, so that the callers read their metadata again.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the file has no superblock, and I/O errors.
    pub(crate) fn refresh(&self) -> Result<()> {
        if !self.is_swmr_reader() {
            return Ok(());
        }
        let length = self.backing.update_length()?;
        let (_, superblock) = self.attempt(|| find_superblock(&*self.backing.driver, length))?;
        *self.superblock.write() = superblock;
        self.write_state.next_generation();
        Ok(())
    }
}

/// Calls the read function `read`. If the call fails in a SWMR reader, repeats it, because another
/// program may be writing the file.
pub(super) fn with_retries<T>(is_swmr_reader: bool, read: impl Fn() -> Result<T>) -> Result<T> {
    if is_swmr_reader { attempt(&SwmrReader::default(), &read) } else { read() }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::error::Error;

    /// Reads a block whose first `torn` reads fail. Returns the number of reads, the outcome, and
    /// the counted retries.
    fn read(torn: u32, error: impl Fn() -> Error) -> (u32, Result<u32>, u64) {
        let (reader, reads) = (SwmrReader::default(), Cell::new(0));
        let outcome = attempt(&reader, &|| {
            reads.set(reads.get() + 1);
            if reads.get() > torn { Ok(reads.get()) } else { Err(error()) }
        });
        (reads.get(), outcome, reader.retries.into_inner())
    }

    #[test]
    fn torn_blocks_are_read_again_and_damaged_ones_not_for_ever() {
        let torn = || Error::corrupt("block", "checksum", "that of its bytes", "another");
        let (reads, outcome, retries) = read(3, torn);
        assert_eq!((reads, outcome.unwrap(), retries), (4, 4, 3));
        let (reads, outcome, retries) = read(u32::MAX, torn);
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!((reads, retries), (MAX_RETRIES + 1, u64::from(MAX_RETRIES)));
        let (reads, outcome, retries) = read(1, || Error::unsupported("this"));
        assert_eq!((reads, outcome.unwrap_err().kind(), retries), (1, ErrorKind::Unsupported, 0));
    }
}
