//! Dataspaces with identifiers: an extent and a selection.

mod combine;
mod measure;
mod project;
mod shape;

use std::sync::Arc;

use hyperslab::{Dataspace, Selection};
use parking_lot::{Mutex, RwLock};

pub use combine::{combine, operation};
pub use measure::{bounds, corners, count, count_anywhere, count_in, effective, intersects, is_valid, shift};
pub use project::project;
pub use shape::same_shape;

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

    /// Sets the extent. The offset becomes zero. A selection of another rank becomes the selection
    /// of all elements.
    pub fn set_extent(&mut self, extent: Dataspace) {
        if extent.rank() != self.extent.rank() && self.selection != Selection::None {
            self.selection = Selection::All;
        }
        self.extent = extent;
        self.offset = Vec::new();
    }
}

/// Returns an extent without dimensions, which the caller sets later.
pub fn empty_extent() -> Dataspace {
    Dataspace::simple(&[])
}

/// Returns an error if the extent was never set.
///
/// # Errors
/// Fails with a bad value for a simple extent without dimensions.
pub fn require_extent(extent: &Dataspace) -> Outcome<()> {
    if matches!(extent, Dataspace::Simple(simple) if simple.dims.is_empty()) {
        return Err(Failure::bad_value("the dataspace has no extent"));
    }
    Ok(())
}

/// Returns the number of elements of an extent; `None` if it does not fit in 64 bits. A simple
/// extent without dimensions has none.
pub fn elements(extent: &Dataspace) -> Option<u64> {
    match extent {
        Dataspace::Simple(simple) if simple.dims.is_empty() => Some(0),
        _ => extent.element_count(),
    }
}

/// A dataspace with an identifier.
#[derive(Debug)]
pub struct SpaceHandle(pub RwLock<CSpace>);

/// An iterator over the runs of a selection.
#[derive(Debug)]
pub struct SelectionIterator {
    /// The size of an element in bytes.
    pub element_size: u64,
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
