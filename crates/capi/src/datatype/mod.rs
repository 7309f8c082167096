//! Datatypes with identifiers.
//!
//! A type of the interface is in memory form: variable-length strings are pointers, sequences are
//! a count and a pointer, references of any kind have 64 bytes. [`form`] translates to and from the
//! form that files store.

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

/// The changes that a datatype allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeState {
    /// The datatype may be changed and closed.
    Transient,
    /// The datatype may be closed: it belongs to a dataset, an attribute or a file.
    ReadOnly,
    /// The datatype may be neither changed nor closed.
    Immutable,
}

/// A datatype.
#[derive(Debug, Clone)]
pub struct CType {
    /// The datatype, in memory form.
    pub datatype: Datatype,
    /// The changes that are allowed.
    pub state: TypeState,
    /// The committed datatype in a file, and the place of that object.
    pub committed: Option<(Arc<CommittedDatatype>, Location)>,
}

/// A datatype with an identifier.
#[derive(Debug)]
pub struct TypeHandle(pub RwLock<CType>);

impl TypeHandle {
    /// Returns a predefined datatype.
    pub fn predefined(datatype: Datatype) -> Self {
        Self(RwLock::new(CType { datatype, state: TypeState::Immutable, committed: None }))
    }

    /// Returns a datatype that may be changed.
    pub fn transient(datatype: Datatype) -> Self {
        Self(RwLock::new(CType { datatype, state: TypeState::Transient, committed: None }))
    }

    /// Returns a datatype of an object in a file, in memory form.
    pub fn of_object(datatype: Datatype) -> Self {
        Self(RwLock::new(CType { datatype, state: TypeState::Transient, committed: None }))
    }

    /// Returns a copy of the datatype in memory form.
    pub fn datatype(&self) -> Datatype {
        self.0.read().datatype.clone()
    }
}

/// Returns the datatype of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<Arc<TypeHandle>> {
    match id::find(id) {
        Some(Entry::Datatype(datatype)) => Ok(datatype),
        _ => Err(Failure::bad_type("not a datatype")),
    }
}

/// Returns a copy of the datatype of an identifier, in memory form.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn copy_of(id: hid_t) -> Outcome<Datatype> {
    Ok(find(id)?.datatype())
}

/// Returns a new identifier of a datatype that may be changed.
pub fn register(datatype: Datatype) -> hid_t {
    id::register(Entry::Datatype(Arc::new(TypeHandle::transient(datatype))))
}

/// Changes the datatype of an identifier. The function checks everything before it changes the
/// datatype.
///
/// # Errors
/// Fails with a bad type for other identifiers, and for datatypes that may not be changed.
pub fn change<T>(id: hid_t, function: impl FnOnce(&mut Datatype) -> Outcome<T>) -> Outcome<T> {
    let handle = find(id)?;
    let mut datatype = handle.0.write();
    if datatype.state != TypeState::Transient || datatype.committed.is_some() {
        return Err(Failure::arguments(codes::CANTINIT, "the datatype is read-only"));
    }
    function(&mut datatype.datatype)
}

/// Calls a function with the datatype of an identifier. The function calls nothing of the user.
///
/// # Errors
/// Fails with a bad type for other identifiers, and as the function does.
pub fn with<T>(id: hid_t, function: impl FnOnce(&Datatype) -> Outcome<T>) -> Outcome<T> {
    let handle = find(id)?;
    let datatype = handle.0.read();
    function(&datatype.datatype)
}

/// Returns the failure of an operation that the class of a datatype does not have.
pub fn unsupported() -> Failure {
    Failure::new(codes::DATATYPE, codes::UNSUPPORTED, "the class of the datatype has no such property")
}
