//! Creation of property lists with given property values.

use std::sync::Arc;

use parking_lot::RwLock;

use super::{PropertyList, Settings};
use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::id::{self, Entry};

/// Returns a new property list with the given properties and the class to which the identifier
/// `class` refers.
///
/// # Errors
/// Fails if `class` does not refer to a property list class.
pub fn list(class: hid_t, settings: Settings) -> Outcome<PropertyList> {
    match id::find(class) {
        Some(Entry::PropertyClass(class)) => {
            let list = PropertyList::new(class);
            *list.settings.write() = settings;
            Ok(list)
        }
        _ => Err(Failure::new(codes::PLIST, codes::BADTYPE, "not a property list class")),
    }
}

/// Registers a new property list with the given properties and the class to which the identifier
/// `class` refers. Returns the identifier of the list.
///
/// # Errors
/// Fails if `class` does not refer to a property list class.
pub fn register(class: hid_t, settings: Settings) -> Outcome<hid_t> {
    Ok(id::register(Entry::PropertyList(Arc::new(list(class, settings)?))))
}

/// Returns a copy of the values of the library's properties in a property list.
pub fn settings(list: &RwLock<Settings>) -> Settings {
    list.read().clone()
}
