//! Searches for names in dense storage.

use std::cmp::Ordering;

use hyperslab_format::codec::{FormatError, checksum};

use super::super::container::Container;
use super::Dense;
use crate::error::{Error, Result};

/// A comparison of dense storage records with a name. If reading a name from the heap fails, the
/// comparison keeps the first error.
pub(super) struct ByName<'a> {
    dense: &'a Dense,
    container: &'a Container,
    name: &'a [u8],
    hash: u32,
    /// The heap ID of an entry that has the name.
    pub(super) known: Option<[u8; 8]>,
    pub(super) failure: Option<Error>,
}

impl<'a> ByName<'a> {
    pub(super) fn new(dense: &'a Dense, container: &'a Container, name: &'a [u8]) -> Self {
        Self { dense, container, name, hash: checksum(name), known: None, failure: None }
    }

    pub(super) fn compare(&mut self, record: &[u8]) -> Result<Ordering, FormatError> {
        let kind = self.dense.kind;
        let hash = kind.hash_in(record)?;
        match hash.cmp(&self.hash) {
            Ordering::Equal => {}
            other => return Ok(other),
        }
        let entry = kind.entry(record)?;
        if self.known == Some(entry.id) {
            return Ok(Ordering::Equal);
        }
        let body = self.dense.body(self.container, &entry).map_err(|error| {
            self.failure = Some(error);
            FormatError::corrupt("version 2 B-tree", "heap ID", "the heap ID of a message", "none")
        })?;
        Ok(kind.name(self.container, &body)?.as_slice().cmp(self.name))
    }

    /// Returns the result of a search with this comparison of dense storage names. If reading the
    /// heap failed, returns the first error.
    pub(super) fn outcome<T>(self, result: Result<T>) -> Result<T> {
        if result.is_err() { self.failure.map_or(result, Err) } else { result }
    }
}
