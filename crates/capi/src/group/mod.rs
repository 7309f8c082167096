//! Groups that C programs hold by identifiers.

pub mod links;

use std::sync::Arc;

use hyperslab::Group;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::id::{self, Entry};

/// An open group to which an identifier refers.
#[derive(Debug)]
pub struct GroupHandle {
    /// The open group of hyperslab.
    pub group: Group,
    /// The file and the name of the group.
    pub location: Location,
}

/// Returns the open group to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a group.
pub fn find(id: hid_t) -> Outcome<Arc<GroupHandle>> {
    match id::find(id) {
        Some(Entry::Group(group)) => Ok(group),
        _ => Err(Failure::bad_type("not a group")),
    }
}
