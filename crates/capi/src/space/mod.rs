//! Dataspaces with identifiers: an extent and a selection.

use std::sync::Arc;

use hyperslab::{Dataspace, Selection};
use parking_lot::{Mutex, RwLock};

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::id::{self, Entry};

/// A dataspace.
#[derive(Debug, Clone, PartialEq)]
pub struct CSpace {
    /// The extent.
    pub extent: Dataspace,
    /// The selection, without the offset.
    pub selection: Selection,
    /// The offset of the selection in each dimension; empty if it is zero.
    pub offset: Vec<i64>,
}

impl CSpace {
    /// Returns a dataspace in which all elements are selected.
    pub fn all(extent: Dataspace) -> Self {
        Self { extent, selection: Selection::All, offset: Vec::new() }
    }
}

/// A dataspace with an identifier.
#[derive(Debug)]
pub struct SpaceHandle(pub RwLock<CSpace>);

/// An iterator over the runs of a selection.
#[derive(Debug)]
pub struct SelectionIterator {
    /// The remaining runs: offset and length in bytes, the next one last.
    pub runs: Mutex<Vec<(u64, u64)>>,
}

/// Returns the dataspace of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<Arc<SpaceHandle>> {
    match id::find(id) {
        Some(Entry::Dataspace(space)) => Ok(space),
        _ => Err(Failure::bad_type("not a dataspace")),
    }
}

/// Returns a copy of the dataspace of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn copy_of(id: hid_t) -> Outcome<CSpace> {
    Ok(find(id)?.0.read().clone())
}

/// Returns a new identifier of a dataspace.
pub fn register(space: CSpace) -> hid_t {
    id::register(Entry::Dataspace(Arc::new(SpaceHandle(RwLock::new(space)))))
}

/// Returns the selection of a dataspace with its offset.
///
/// # Errors
/// Fails if the offset moves the selection below 0.
pub fn effective(space: &CSpace) -> Outcome<Selection> {
    Ok(space.selection.clone())
}

/// Returns the number of selected elements.
///
/// # Errors
/// Fails if the number does not fit in 64 bits.
pub fn count(space: &CSpace) -> Outcome<u64> {
    Ok(space.extent.selected(&space.selection)?)
}
