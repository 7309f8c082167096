//! Attributes with identifiers.

pub mod list;

use std::sync::Arc;

use hyperslab::{Attribute, Object};
use parking_lot::RwLock;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::id::{self, Entry};

/// An attribute with an identifier.
#[derive(Debug)]
pub struct AttributeHandle {
    /// The object of the attribute.
    pub owner: Object,
    /// The place of the object.
    pub location: Location,
    /// The attribute. A rename replaces it.
    pub attribute: RwLock<Attribute>,
}

/// Returns the attribute of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<Arc<AttributeHandle>> {
    match id::find(id) {
        Some(Entry::Attribute(attribute)) => Ok(attribute),
        _ => Err(Failure::bad_type("not an attribute")),
    }
}
