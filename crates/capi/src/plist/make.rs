//! New property lists with given properties.

use std::sync::Arc;

use parking_lot::RwLock;

use super::{PropertyList, Settings};
use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::id::{self, Entry};

/// Returns a list of the class with the identifier `class`, with these properties.
///
/// # Errors
/// Fails if the identifier is not a class.
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

/// Returns the identifier of a new list of the class with the identifier `class`, with these
/// properties.
///
/// # Errors
/// Fails if the identifier is not a class.
pub fn register(class: hid_t, settings: Settings) -> Outcome<hid_t> {
    Ok(id::register(Entry::PropertyList(Arc::new(list(class, settings)?))))
}

/// Returns a copy of the properties of a list.
pub fn settings(list: &RwLock<Settings>) -> Settings {
    list.read().clone()
}
