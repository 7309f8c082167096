//! A disk in memory for tests of crashes and failures.
//!
//! It shows every state in which the end of a process or a loss of power may leave the files, and
//! makes operations fail on request. Nothing depends on clocks or chance: equal seeds yield equal
//! states.
//!
//! ```
//! use hyperslab_vfd::simulated::{Crash, SimulatedDisk};
//! use hyperslab_vfd::Driver;
//!
//! let disk = SimulatedDisk::new();
//! let file = disk.file("data");
//! file.write_at(0, b"old")?;
//! file.sync_data()?;
//! file.write_at(0, b"new")?;
//! let history = disk.history();
//! let mut replay = history.replay();
//! replay.go_to(history.len());
//! assert_eq!(replay.crash(Crash::ProcessEnd, 0)["data"], b"new");
//! let survived = |seed| replay.crash(Crash::PowerLoss, seed)["data"].clone();
//! assert!((0..50).any(|seed| survived(seed) == b"old"));
//! assert!((0..50).any(|seed| survived(seed) == b"new"));
//! # Ok::<(), hyperslab_vfd::DriverError>(())
//! ```

mod crash;
mod fault;
mod file;
mod history;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crash::{Crash, Replay};
pub use fault::{Fault, FaultKind};
pub use history::{History, Operation};

use hyperslab_exact::{to_u64, to_usize};

use crate::{Driver, DriverError, Result, SideFile};
use fault::{Faults, Outcome};
use file::{SimulatedFile, SimulatedSideFile};

/// The contents of all files of a simulated disk by their names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The number of bytes that a simulated disk writes atomically.
const SECTOR_BYTES_U64: u64 = SECTOR_BYTES as u64;
const SECTOR_BYTES: usize = 512;

/// The largest length of a file on a simulated disk. The limit prevents faulty tests from using all
/// memory.
const MAX_FILE_BYTES: u64 = 1 << 32;

/// A simulated disk: named files in memory, with a history of all operations. Clones refer to the
/// same disk.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The content of each file. Removed files are kept, since they may still be open.
    contents: Vec<Vec<u8>>,
    names: BTreeMap<String, usize>,
    history: History,
    faults: Faults,
}

impl SimulatedDisk {
    /// Creates a simulated disk without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a simulated disk with files whose contents are already durable.
    pub fn holding(files: Files) -> Self {
        let names = files.keys().cloned().enumerate().map(|(number, name)| (name, number)).collect();
        let history = History::new(files.clone());
        let contents = files.into_values().collect();
        Self { state: Arc::new(Mutex::new(State { contents, names, history, ..State::default() })) }
    }

    /// Creates a simulated disk in the state after all operations of a history. The disk is for a
    /// second process that starts after the first process ended. Unsynced operations remain
    /// unsynced.
    pub fn after(history: History) -> Self {
        let mut replay = history.replay();
        replay.go_to(history.len());
        let (contents, names) = replay.now();
        Self { state: Arc::new(Mutex::new(State { contents, names, history, ..State::default() })) }
    }

    /// Opens a file of the simulated disk. Creates the file if it does not exist.
    pub fn file(&self, name: &str) -> Arc<dyn Driver> {
        let mut state = self.lock();
        let number = state.names.get(name).copied().unwrap_or_else(|| state.make(name));
        Arc::new(SimulatedFile::new(self.clone(), number, name, false))
    }

    /// Returns the side file `name` of the simulated disk: a file beside an HDF5 file, such as its
    /// journal. The side file need not exist.
    pub fn side_file(&self, name: &str) -> Arc<dyn SideFile> {
        Arc::new(SimulatedSideFile::new(self.clone(), name))
    }

    /// Returns the current contents of all files of the simulated disk.
    pub fn files(&self) -> Files {
        let state = self.lock();
        let content = |number: &usize| state.contents.get(*number).cloned();
        let with_content = |(name, number): (&String, &usize)| Some((name.clone(), content(number)?));
        state.names.iter().filter_map(with_content).collect()
    }

    /// Returns the history of all operations on the simulated disk so far.
    pub fn history(&self) -> History {
        self.lock().history.clone()
    }

    /// Returns the number of operations on the simulated disk so far.
    pub fn operations(&self) -> usize {
        self.lock().history.len()
    }

    /// Plans the failure of a later operation on the simulated disk. Replaces an earlier plan.
    pub fn fail(&self, fault: Fault) {
        self.lock().faults.plan(Some(fault));
    }

    /// Cancels the planned failures of the simulated disk.
    pub fn clear_faults(&self) {
        self.lock().faults.plan(None);
    }

    /// Returns the number of failed operations on the simulated disk.
    pub fn failures(&self) -> usize {
        self.lock().faults.failures()
    }

    /// Sets the largest total length of all files of the simulated disk. Existing files keep their
    /// length, even if the total is larger.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.lock().faults.capacity = bytes;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn length(&self, number: usize) -> u64 {
        self.contents.get(number).map_or(0, |content| content.len() as u64)
    }

    /// Creates an empty file on the simulated disk, and records the creation in the history.
    /// Returns the number of the file.
    fn make(&mut self, name: &str) -> usize {
        let number = self.contents.len();
        self.contents.push(Vec::new());
        self.names.insert(name.to_owned(), number);
        self.history.push(Operation::Create { file: number, name: name.into() });
        number
    }

    /// Creates the file `name` on the simulated disk, and syncs the folder.
    fn create(&mut self, name: &str) -> Result<usize> {
        self.check_fault(name, "make")?;
        if self.names.contains_key(name) {
            return Err(failed(name, "make", io::ErrorKind::AlreadyExists.into()));
        }
        Ok(self.make(name))
    }

    /// Sets a side file (such as a journal) of the simulated disk aside: renames it, because it
    /// does not belong to its HDF5 file. Syncs the folder, and returns the new name.
    fn set_aside(&mut self, name: &str) -> Result<String> {
        self.check_fault(name, "rename")?;
        let Some(number) = self.names.remove(name) else {
            return Err(failed(name, "rename", io::ErrorKind::NotFound.into()));
        };
        let free = (1_u64..).map(|number| format!("{name}.stale-{number}"));
        let Some(new) = free.into_iter().find(|new| !self.names.contains_key(new)) else {
            return Err(DriverError::internal(name, "a name is free"));
        };
        self.history.push(Operation::Remove { file: number, name: name.into() });
        self.names.insert(new.clone(), number);
        self.history.push(Operation::Create { file: number, name: new.as_str().into() });
        Ok(new)
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        let Some(number) = self.names.get(name).copied() else { return Ok(()) };
        self.check_fault(name, "remove")?;
        self.names.remove(name);
        self.history.push(Operation::Remove { file: number, name: name.into() });
        Ok(())
    }

    fn sync(&mut self, number: usize, name: &str) -> Result<()> {
        self.check_fault(name, "sync")?;
        self.history.push(Operation::Sync { file: number });
        Ok(())
    }

    /// Checks if the next operation on the simulated disk is planned to fail, and then returns an
    /// error. A planned partial failure also becomes a complete failure.
    fn check_fault(&mut self, name: &str, operation: &'static str) -> Result<()> {
        match self.faults.next() {
            Outcome::Good => Ok(()),
            Outcome::Bad(error) | Outcome::Part(error) => Err(failed(name, operation, error)),
        }
    }

    /// Returns the largest length that a file of the simulated disk may have. The limit is never
    /// less than the current length of the file.
    fn max_length(&self, number: usize) -> u64 {
        let Some(capacity) = self.faults.capacity else { return MAX_FILE_BYTES };
        let others = self.names.values().filter(|other| **other != number);
        let taken: u64 = others.map(|other| self.length(*other)).sum();
        // Saturates: the capacity may have been lowered below the length of the files.
        capacity.saturating_sub(taken).max(self.length(number))
    }

    fn write(&mut self, number: usize, name: &str, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = end_of(name, offset, bytes.len() as u64)?;
        let mut count = bytes.len();
        let mut problem = match self.faults.next() {
            Outcome::Good => None,
            Outcome::Bad(error) => {
                count = 0;
                Some(error)
            }
            Outcome::Part(error) => {
                let half = offset + bytes.len() as u64 / 2;
                // Only whole sectors are written: no sector if the first half ends in the sector in
                // which it begins.
                count = to_usize((half - half % SECTOR_BYTES_U64).max(offset) - offset)?;
                Some(error)
            }
        };
        let max_length = self.max_length(number);
        if end > max_length {
            let fits = max_length.max(offset) - offset;
            count = to_usize(fits.min(to_u64(count)))?;
            problem.get_or_insert_with(|| self.faults.full());
        }
        let done = bytes.get(..count).unwrap_or(bytes);
        if !done.is_empty() {
            if let Some(content) = self.contents.get_mut(number) {
                history::put(content, offset, done);
            }
            self.history.push(Operation::Write { file: number, offset, bytes: done.into() });
        }
        problem.map_or(Ok(()), |error| Err(failed(name, "write", error)))
    }

    fn set_len(&mut self, number: usize, name: &str, len: u64) -> Result<()> {
        end_of(name, 0, len)?;
        self.check_fault(name, "set the length")?;
        if len > self.max_length(number) {
            return Err(failed(name, "set the length", self.faults.full()));
        }
        if let Some(content) = self.contents.get_mut(number) {
            history::resize(content, len);
        }
        self.history.push(Operation::SetLen { file: number, len });
        Ok(())
    }
}

fn end_of(name: &str, offset: u64, length: u64) -> Result<u64> {
    let end = offset.checked_add(length).filter(|end| *end <= MAX_FILE_BYTES);
    end.ok_or_else(|| DriverError::TooLarge { name: name.to_owned(), offset, length })
}

fn failed(name: &str, operation: &'static str, error: io::Error) -> DriverError {
    DriverError::io(name, operation, error)
}

#[cfg(test)]
mod tests;
