//! Salvage: errors are recorded, and the damaged parts of a file are skipped.

use std::collections::HashSet;
use std::error::Error as _;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_exact::to_u64;
use hyperslab_format::codec::Address;

use super::Store;
use crate::error::{Error, Result};

/// A damage of a file: a part of the file that a salvage could not read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Damage {
    /// The name of the damaged structure in the specification, if known.
    pub structure: Option<&'static str>,
    /// The address of the damaged structure, if known.
    pub address: Option<u64>,
    /// The message of the error.
    pub why: String,
}

impl Damage {
    /// Creates the description of the file damage that an error reports.
    pub fn of(error: &Error) -> Self {
        let (mut structure, mut address) = (None, None);
        let mut at = Some(error);
        while let Some(error) = at {
            match error {
                Error::Corrupt(corrupt) => {
                    (structure, address) = (Some(corrupt.structure), corrupt.address);
                }
                Error::Filter { address: chunk, .. } => (structure, address) = (Some("chunk"), chunk.get()),
                _ => {}
            }
            at = if let Error::Context { source, .. } = error { Some(source) } else { None };
        }
        let mut why = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            // A write to a string does not fail.
            let _ = write!(why, ": {error}");
            source = error.source();
        }
        Self { structure, address, why }
    }
}

/// The record that a salvage of a file keeps. It has two lists: the damage that was found, and the
/// ranges of raw data that were read.
#[derive(Debug, Default)]
pub(crate) struct Salvaging {
    damages: Mutex<Damages>,
    /// Ranges of addresses: start and end of each range.
    raw: Mutex<Vec<(u64, u64)>>,
}

/// A list of a file's damages in the order in which a salvage found them. Each damage occurs once.
#[derive(Debug, Default)]
struct Damages {
    noted: Vec<Damage>,
    known: HashSet<Damage>,
}

impl Store {
    /// Returns whether the file is open for salvage of its readable parts.
    pub fn is_salvaging(&self) -> bool {
        self.salvaging.is_some()
    }

    /// Returns the value of the result `result`. In a file that is open for salvage, records an
    /// error as damage and returns `None`.
    ///
    /// # Errors
    /// Returns the error of the result, if the file is not being salvaged.
    pub fn forgive<T>(&self, result: Result<T>) -> Result<Option<T>> {
        let Some(salvaging) = &self.salvaging else { return result.map(Some) };
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                salvaging.note(Damage::of(&error));
                Ok(None)
            }
        }
    }

    /// Returns the damages of the file that a salvage recorded since the last call, each once.
    /// Clears the list of these damages.
    pub fn take_damages(&self) -> Vec<Damage> {
        let Some(salvaging) = &self.salvaging else { return Vec::new() };
        std::mem::take(&mut *salvaging.damages.lock().unwrap_or_else(PoisonError::into_inner)).noted
    }

    /// Returns the address ranges from which a salvage has read raw data since the last call, as
    /// start and end in ascending order. Clears the list of these ranges.
    pub fn take_raw_ranges(&self) -> Vec<(u64, u64)> {
        let Some(salvaging) = &self.salvaging else { return Vec::new() };
        let mut ranges = std::mem::take(&mut *salvaging.raw.lock().unwrap_or_else(PoisonError::into_inner));
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (start, end) in ranges {
            match joined.last_mut() {
                Some((_, last)) if start <= *last => *last = end.max(*last),
                _ => joined.push((start, end)),
            }
        }
        joined
    }

    /// Records the address range of a raw data read, if the file is open for salvage.
    pub(super) fn note_raw(&self, address: Address, length: usize) {
        let Some(salvaging) = &self.salvaging else { return };
        let range = address.get().and_then(|start| Some((start, start.checked_add(to_u64(length))?)));
        if let Some(range) = range {
            salvaging.raw.lock().unwrap_or_else(PoisonError::into_inner).push(range);
        }
    }
}

impl Salvaging {
    /// Creates an empty record of the damage that a salvage finds, if `is_on` is true.
    pub(super) fn new(is_on: bool) -> Option<Arc<Self>> {
        is_on.then(Arc::default)
    }

    /// Records a damage of the file that a salvage has found.
    pub(super) fn note(&self, damage: Damage) {
        let mut damages = self.damages.lock().unwrap_or_else(PoisonError::into_inner);
        if damages.known.insert(damage.clone()) {
            damages.noted.push(damage);
        }
    }
}
