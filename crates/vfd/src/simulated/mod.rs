//! A disk in memory on which crashes and failures can be tried out. A tool for tests of those who write: it shows every state in which
//! the end of a process or a loss of power may leave the files, and fails when it is told to. Nothing depends on clocks or chance: the
//! same seed gives the same state.
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
//! assert!((0..50).any(|seed| survived(seed) == b"old") && (0..50).any(|seed| survived(seed) == b"new"));
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

/// Files by their names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What a disk writes at once: of a sector, all is written or nothing.
const SECTOR: u64 = SECTOR_BYTES as u64;
const SECTOR_BYTES: usize = 512;

/// Files longer than this are refused, rather than let a mistake take all memory.
const MOST: u64 = 1 << 32;

/// Some named files in memory. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// What each file holds, those that were removed as well: handles of them may be open.
    contents: Vec<Vec<u8>>,
    names: BTreeMap<String, usize>,
    history: History,
    faults: Faults,
}

impl SimulatedDisk {
    /// A disk without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a disk that holds files which survive everything.
    pub fn holding(files: Files) -> Self {
        let names = files.keys().cloned().enumerate().map(|(number, name)| (name, number)).collect();
        let history = History::new(files.clone());
        let contents = files.into_values().collect();
        Self { state: Arc::new(Mutex::new(State { contents, names, history, ..State::default() })) }
    }

    /// A disk on which all that was done: where another process goes on after the end of one. What was not synced is still not.
    pub fn going_on(history: History) -> Self {
        let mut replay = history.replay();
        replay.go_to(history.len());
        let (contents, names) = replay.now();
        Self { state: Arc::new(Mutex::new(State { contents, names, history, ..State::default() })) }
    }

    /// A file, made if it is not there.
    pub fn file(&self, name: &str) -> Arc<dyn Driver> {
        let mut state = self.lock();
        let number = state.names.get(name).copied().unwrap_or_else(|| state.make(name));
        Arc::new(SimulatedFile::new(self.clone(), number, name, false))
    }

    /// A file that is there at some times only.
    pub fn side_file(&self, name: &str) -> Arc<dyn SideFile> {
        Arc::new(SimulatedSideFile::new(self.clone(), name))
    }

    /// What the files hold now.
    pub fn files(&self) -> Files {
        let state = self.lock();
        let content = |number: &usize| state.contents.get(*number).cloned();
        let with_content = |(name, number): (&String, &usize)| Some((name.clone(), content(number)?));
        state.names.iter().filter_map(with_content).collect()
    }

    /// Everything that was done up to now.
    pub fn history(&self) -> History {
        self.lock().history.clone()
    }

    /// The number of operations up to now.
    pub fn operations(&self) -> usize {
        self.lock().history.len()
    }

    /// Lets an operation fail, in place of what was to fail before.
    pub fn fail(&self, fault: Fault) {
        self.lock().faults.plan(Some(fault));
    }

    /// Lets nothing fail any more.
    pub fn mend(&self) {
        self.lock().faults.plan(None);
    }

    /// How many operations have failed.
    pub fn failures(&self) -> usize {
        self.lock().faults.failures()
    }

    /// How many bytes all files together may have; what is longer already stays.
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

    /// A new file.
    fn make(&mut self, name: &str) -> usize {
        let number = self.contents.len();
        self.contents.push(Vec::new());
        self.names.insert(name.to_owned(), number);
        self.history.push(Operation::Create { file: number, name: name.into() });
        number
    }

    /// Makes the file of that name, and syncs the folder.
    fn create(&mut self, name: &str) -> Result<usize> {
        self.refuse(name, "make")?;
        if self.names.contains_key(name) {
            return Err(failed(name, "make", io::ErrorKind::AlreadyExists.into()));
        }
        Ok(self.make(name))
    }

    /// Gives the file of that name another name, and syncs the folder.
    fn set_aside(&mut self, name: &str) -> Result<String> {
        self.refuse(name, "rename")?;
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
        self.refuse(name, "remove")?;
        self.names.remove(name);
        self.history.push(Operation::Remove { file: number, name: name.into() });
        Ok(())
    }

    fn sync(&mut self, number: usize, name: &str) -> Result<()> {
        self.refuse(name, "sync")?;
        self.history.push(Operation::Sync { file: number });
        Ok(())
    }

    /// Fails if the next operation is to fail, and cannot be done in part.
    fn refuse(&mut self, name: &str, operation: &'static str) -> Result<()> {
        match self.faults.next() {
            Outcome::Good => Ok(()),
            Outcome::Bad(error) | Outcome::Part(error) => Err(failed(name, operation, error)),
        }
    }

    /// How long a file may become: no longer than it is, if the disk is full.
    fn room(&self, number: usize) -> u64 {
        let Some(capacity) = self.faults.capacity else { return MOST };
        let others = self.names.values().filter(|other| **other != number);
        let taken: u64 = others.map(|other| self.length(*other)).sum();
        // Saturates: the files may already hold more than the disk, whose capacity can be lowered.
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
                // Whole sectors only: none if the first half ends in the sector in which it begins.
                count = to_usize((half - half % SECTOR).max(offset) - offset)?;
                Some(error)
            }
        };
        let room = self.room(number);
        if end > room {
            let fits = room.max(offset) - offset;
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
        self.refuse(name, "set the length")?;
        if len > self.room(number) {
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
    let end = offset.checked_add(length).filter(|end| *end <= MOST);
    end.ok_or_else(|| DriverError::TooLarge { name: name.to_owned(), offset, length })
}

fn failed(name: &str, operation: &'static str, error: io::Error) -> DriverError {
    DriverError::io(name, operation, error)
}

#[cfg(test)]
mod tests;
