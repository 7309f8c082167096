//! Reading on over damage: what cannot be read is noted and passed over.

use std::collections::HashSet;
use std::error::Error as _;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_format::codec::Address;

use super::Store;
use crate::error::{Error, Result};

/// A part of a file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Damage {
    /// The structure, in the specification's words, where one is at fault.
    pub structure: Option<&'static str>,
    /// Where it lies.
    pub address: Option<u64>,
    /// What is wrong.
    pub why: String,
}

impl Damage {
    /// What an error says.
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
            // Writing to a string does not fail.
            let _ = write!(why, ": {error}");
            source = error.source();
        }
        Self { structure, address, why }
    }
}

/// What was found damaged, and which raw data was read, of a file that is being salvaged.
#[derive(Debug, Default)]
pub(crate) struct Salvaging {
    damages: Mutex<Damages>,
    raw: Mutex<Vec<(u64, u64)>>,
}

/// Damages in the order in which they were found, each once.
#[derive(Debug, Default)]
struct Damages {
    noted: Vec<Damage>,
    known: HashSet<Damage>,
}

impl Store {
    /// Returns whether damage is passed over.
    pub fn is_salvaging(&self) -> bool {
        self.salvaging.is_some()
    }

    /// A result; if it is an error and the file is being salvaged, the error is noted, and there is none.
    ///
    /// # Errors
    /// The result's own, where the file is not being salvaged.
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

    /// What was noted since the last call, each once.
    pub fn take_damages(&self) -> Vec<Damage> {
        let Some(salvaging) = &self.salvaging else { return Vec::new() };
        std::mem::take(&mut *salvaging.damages.lock().unwrap_or_else(PoisonError::into_inner)).noted
    }

    /// The ranges of addresses, both ends in order, that raw data was read from.
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

    /// Notes that there is raw data.
    pub(super) fn note_raw(&self, address: Address, length: usize) {
        let range = address.get().and_then(|start| Some((start, start.checked_add(length as u64)?)));
        if let (Some(salvaging), Some((start, end))) = (&self.salvaging, range) {
            salvaging.raw.lock().unwrap_or_else(PoisonError::into_inner).push((start, end));
        }
    }
}

impl Salvaging {
    pub(super) fn new(yes: bool) -> Option<Arc<Self>> {
        yes.then(Arc::default)
    }

    pub(super) fn note(&self, damage: Damage) {
        let mut damages = self.damages.lock().unwrap_or_else(PoisonError::into_inner);
        if damages.known.insert(damage.clone()) {
            damages.noted.push(damage);
        }
    }
}
