//! Registration of the predefined objects: datatypes, property list classes and lists, errors,
//! drivers.

use std::sync::Arc;

use super::{Entry, constant, register_as};
use crate::ctypes::IdKind;
use crate::error::codes;
use crate::error::message::{ErrorClass, ErrorMessage};
use crate::error::stack::text;

/// Adds all predefined datatypes, property lists, drivers and error messages to the identifier
/// table.
pub fn register() {
    errors();
    crate::symbols::datatypes::register();
    crate::plist::classes::register();
    crate::driver::register();
    register_as(crate::symbols::NATIVE_CONNECTOR, Entry::Connector("native"));
}

/// Adds the library's error class and error messages to the identifier table.
fn errors() {
    let class = Arc::new(ErrorClass {
        name: text(b"HDF5"),
        library: text(b"HDF5"),
        version: text(crate::h5::VERSION_TEXT.as_bytes()),
    });
    register_as(constant(IdKind::ErrorClass, 1), Entry::ErrorClass(Arc::clone(&class)));
    for (list, is_major) in [(codes::MAJOR, true), (codes::MINOR, false)] {
        for (id, message) in list {
            let message =
                ErrorMessage { class: Arc::clone(&class), is_major, text: text(message.as_bytes()) };
            register_as(*id, Entry::ErrorMessage(Arc::new(message)));
        }
    }
}
