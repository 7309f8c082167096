//! Datatypes that C programs hold by identifiers.
//!
//! The C interface uses datatypes in memory form: a variable-length string is a pointer, a sequence
//! is a count and a pointer, and a reference of any kind has 64 bytes. The module [`form`] converts
//! between the memory form and the file form.

pub mod class;
pub mod form;
pub mod length;

use std::sync::Arc;

pub use class::equal;
use hyperslab::{CommittedDatatype, Datatype};
use parking_lot::RwLock;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::file::Location;
use crate::id::{self, Entry};

/// The permitted operations on an open datatype: changing and closing, only closing, or neither of
/// these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeState {
    /// A datatype that the program may change and close.
    Transient,
    /// A datatype of a dataset, an attribute or a file, which the program may close but not change.
    ReadOnly,
    /// A datatype that the program may neither change nor close.
    Immutable,
}

/// A datatype of the C interface with its permitted operations and its committed datatype, if any.
#[derive(Debug, Clone)]
pub struct CType {
    /// The datatype in memory form.
    pub datatype: Datatype,
    /// The operations that the datatype permits.
    pub state: TypeState,
    /// The committed datatype in a file with its location; `None` if the datatype is not committed.
    pub committed: Option<(Arc<CommittedDatatype>, Location)>,
}

/// An open datatype to which an identifier refers.
#[derive(Debug)]
pub struct TypeHandle(pub RwLock<CType>);

impl TypeHandle {
    /// Returns a datatype handle for a predefined datatype, which can be neither changed nor
    /// closed.
    pub fn predefined(datatype: Datatype) -> Self {
        Self(RwLock::new(CType { datatype, state: TypeState::Immutable, committed: None }))
    }

    /// Returns a datatype handle for a datatype that the program may change.
    pub fn transient(datatype: Datatype) -> Self {
        Self(RwLock::new(CType { datatype, state: TypeState::Transient, committed: None }))
    }

    /// Returns a copy of the datatype that the handle holds, in memory form.
    pub fn datatype(&self) -> Datatype {
        self.0.read().datatype.clone()
    }
}

/// Returns the open datatype to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a datatype.
pub fn find(id: hid_t) -> Outcome<Arc<TypeHandle>> {
    match id::find(id) {
        Some(Entry::Datatype(datatype)) => Ok(datatype),
        _ => Err(Failure::bad_type("not a datatype")),
    }
}

/// Returns a copy of the datatype to which an identifier refers, in memory form.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a datatype.
pub fn copy_of(id: hid_t) -> Outcome<Datatype> {
    Ok(find(id)?.datatype())
}

/// Registers a datatype that the program may change, and returns the datatype's new identifier.
pub fn register(datatype: Datatype) -> hid_t {
    id::register(Entry::Datatype(Arc::new(TypeHandle::transient(datatype))))
}

/// Calls `function` to change the datatype to which the identifier `id` refers. `function` must
/// check all arguments before it changes the datatype.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a datatype, or if the datatype is
/// read-only.
pub fn change<T>(id: hid_t, function: impl FnOnce(&mut Datatype) -> Outcome<T>) -> Outcome<T> {
    let handle = find(id)?;
    let mut datatype = handle.0.write();
    if datatype.state != TypeState::Transient || datatype.committed.is_some() {
        return Err(Failure::arguments(codes::CANTINIT, "the datatype is read-only"));
    }
    function(&mut datatype.datatype)
}

/// Calls `function` with the datatype to which the identifier `id` refers. `function` must not call
/// callbacks of the user.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a datatype. Returns the errors of
/// `function`.
pub fn with<T>(id: hid_t, function: impl FnOnce(&Datatype) -> Outcome<T>) -> Outcome<T> {
    let handle = find(id)?;
    let datatype = handle.0.read();
    function(&datatype.datatype)
}

/// Returns the failure for a property that the class of a datatype does not have.
pub fn unsupported() -> Failure {
    Failure::new(codes::DATATYPE, codes::UNSUPPORTED, "datatypes of this class do not have this property")
}
