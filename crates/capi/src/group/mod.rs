//! Groups with identifiers.

pub mod links;

use std::sync::Arc;

use hyperslab::Group;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::id::{self, Entry};

/// A group with an identifier.
#[derive(Debug)]
pub struct GroupHandle {
    /// The group.
    pub group: Group,
    /// The place of the group.
    pub location: Location,
}

/// Returns the group of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<Arc<GroupHandle>> {
    match id::find(id) {
        Some(Entry::Group(group)) => Ok(group),
        _ => Err(Failure::bad_type("not a group")),
    }
}
