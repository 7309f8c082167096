//! Reading a file while somebody writes to it (the reading side of SWMR): nothing is kept from one read to the next, the
//! file may grow at any time, and a block that is just being written is read again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Store;
use super::open::find_superblock;
use crate::error::{Error, ErrorKind, Result};

/// How often a block that cannot be right is read again.
const ATTEMPTS: u32 = 100;

/// The longest pause before that, in microseconds.
const LONGEST_PAUSE: u64 = 1000;

/// What is known of following a writer.
#[derive(Debug, Default)]
pub(super) struct Following {
    retries: AtomicU64,
}

/// Does what reads a block, again if somebody may be in the middle of writing it.
fn attempt<T>(following: &Following, read: &dyn Fn() -> Result<T>) -> Result<T> {
    let mut outcome = read();
    for number in 0..ATTEMPTS {
        match &outcome {
            Err(error) if error.kind() == ErrorKind::Corrupt => {}
            _ => break,
        }
        let pause = 1_u64.checked_shl(number).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE);
        std::thread::sleep(Duration::from_micros(pause));
        following.retries.fetch_add(1, Ordering::Relaxed);
        outcome = read();
    }
    outcome
}

impl Store {
    /// Returns whether somebody else may write to the file while it is read.
    pub fn follows(&self) -> bool {
        self.following.is_some()
    }

    /// How often a block was read again, since its bytes were none of one instant.
    pub fn retries(&self) -> u64 {
        self.following.as_ref().map_or(0, |following| following.retries.load(Ordering::Relaxed))
    }

    /// Does what reads a block of metadata; where a writer may be in the middle of writing it, that is done again, a
    /// hundred times at most.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn attempt<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        match &self.following {
            Some(following) => attempt(following, &read),
            None => read(),
        }
    }

    /// Learns how long the file is by now.
    pub(super) fn learn_length(&self) -> Result<u64> {
        let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
        let length = self.driver.len().map_err(unknown)?;
        for known in [&self.length, &self.written, &self.touched] {
            known.fetch_max(length, Ordering::AcqRel);
        }
        Ok(self.length())
    }

    /// Takes the file as it is now, if somebody else may have changed it. Whoever knows something of it reads it again.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if there is no superblock any more.
    pub(crate) fn refresh(&self) -> Result<()> {
        if !self.follows() {
            return Ok(());
        }
        let length = self.learn_length()?;
        let (_, superblock) = self.attempt(|| find_superblock(&*self.driver, length))?;
        *self.superblock.write() = superblock;
        self.generation.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

/// Finds the superblock; of a file that somebody may be writing, with patience.
pub(super) fn with_patience<T>(follows: bool, read: impl Fn() -> Result<T>) -> Result<T> {
    if follows { attempt(&Following::default(), &read) } else { read() }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// How often a block is read that is torn so often, what comes of it, and what is counted.
    fn read(torn: u32, error: impl Fn() -> Error) -> (u32, Result<u32>, u64) {
        let (following, reads) = (Following::default(), Cell::new(0));
        let outcome = attempt(&following, &|| {
            reads.set(reads.get() + 1);
            if reads.get() > torn { Ok(reads.get()) } else { Err(error()) }
        });
        (reads.get(), outcome, following.retries.into_inner())
    }

    #[test]
    fn torn_blocks_are_read_again_and_damaged_ones_not_for_ever() {
        let torn = || Error::corrupt("block", "checksum", "that of its bytes", "another");
        let (reads, outcome, retries) = read(3, torn);
        assert_eq!((reads, outcome.unwrap(), retries), (4, 4, 3));
        let (reads, outcome, retries) = read(u32::MAX, torn);
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!((reads, retries), (ATTEMPTS + 1, u64::from(ATTEMPTS)));
        let (reads, outcome, retries) = read(1, || Error::unsupported("this"));
        assert_eq!((reads, outcome.unwrap_err().kind(), retries), (1, ErrorKind::Unsupported, 0));
    }
}
