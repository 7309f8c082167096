//! Dataspaces that C programs hold by identifiers: an extent and a selection.

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

/// A dataspace of the C interface: an extent (the dimensions) with a selection and the selection's
/// offset.
#[derive(Debug, Clone, PartialEq)]
pub struct CSpace {
    /// The extent of the dataspace.
    pub extent: Dataspace,
    /// The selection of the dataspace, before its offset is applied.
    pub selection: Selection,
    /// The offset of the selection in each dimension; empty for a zero offset.
    pub offset: Vec<i64>,
}

impl CSpace {
    /// Returns a dataspace of the given dimensions whose selection is all elements.
    pub fn all(extent: Dataspace) -> Self {
        Self { extent, selection: Selection::All, offset: Vec::new() }
    }

    /// Sets the dimensions of the dataspace and resets the selection's offset. If the rank changes,
    /// the selection becomes the selection of all elements.
    pub fn set_extent(&mut self, extent: Dataspace) {
        if extent.rank() != self.extent.rank() && self.selection != Selection::None {
            self.selection = Selection::All;
        }
        self.extent = extent;
        self.offset = Vec::new();
    }
}

/// Returns the extent of a new simple dataspace without dimensions. The program adds dimensions
/// later.
pub fn empty_extent() -> Dataspace {
    Dataspace::simple(&[])
}

/// Checks that the extent of a simple dataspace has dimensions.
///
/// # Errors
/// Fails with a bad value for a simple extent whose dimensions were never set.
pub fn require_extent(extent: &Dataspace) -> Outcome<()> {
    if matches!(extent, Dataspace::Simple(simple) if simple.dims.is_empty()) {
        return Err(Failure::bad_value("the dataspace has no extent"));
    }
    Ok(())
}

/// Returns the number of elements of a dataspace's extent, or `None` if the number does not fit in
/// 64 bits. A simple dataspace without dimensions has 0 elements.
pub fn elements(extent: &Dataspace) -> Option<u64> {
    match extent {
        Dataspace::Simple(simple) if simple.dims.is_empty() => Some(0),
        _ => extent.element_count(),
    }
}

/// A handle of an open dataspace to which an identifier refers.
#[derive(Debug)]
pub struct SpaceHandle(pub RwLock<CSpace>);

/// An iterator over the runs (ranges of contiguous elements) that a dataspace selects
/// (`H5Ssel_iter_create`).
#[derive(Debug)]
pub struct SelectionIterator {
    /// The size of an element in bytes.
    pub element_size: u64,
    /// The remaining runs in reverse order, each with its offset and length in bytes.
    pub runs: Mutex<Vec<(u64, u64)>>,
}

/// Returns the handle of the open dataspace to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a dataspace.
pub fn find(id: hid_t) -> Outcome<Arc<SpaceHandle>> {
    match id::find(id) {
        Some(Entry::Dataspace(space)) => Ok(space),
        _ => Err(Failure::bad_type("not a dataspace")),
    }
}

/// Returns a copy of the dataspace to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a dataspace.
pub fn copy_of(id: hid_t) -> Outcome<CSpace> {
    Ok(find(id)?.0.read().clone())
}

/// Registers a dataspace and returns the dataspace's new identifier.
pub fn register(space: CSpace) -> hid_t {
    id::register(Entry::Dataspace(Arc::new(SpaceHandle(RwLock::new(space)))))
}
