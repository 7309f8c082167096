//! File drivers: the drivers of the library and the drivers that users register.

pub mod class;
pub mod handle;
pub mod plain;
pub mod user;

use std::ffi::c_void;
use std::sync::Arc;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::id::{self, Entry, register_as};
use crate::symbols as s;
pub use class::H5FD_class_t;

/// A file driver to which an identifier refers.
#[derive(Debug)]
pub enum DriverHandle {
    /// A driver that the library provides.
    Library {
        /// The predefined identifier of the driver.
        id: hid_t,
        /// The name of the driver.
        name: &'static str,
    },
    /// A driver that a user registered.
    User(user::UserDriver),
}

impl DriverHandle {
    /// Returns the identifier of the file driver.
    pub fn id(&self) -> hid_t {
        match self {
            Self::Library { id, .. } => *id,
            Self::User(driver) => driver.id(),
        }
    }
}

/// The configuration of a user's driver in a file access list, as a block of memory that the driver
/// copied.
#[derive(Debug, Clone)]
pub struct UserInfo(pub Arc<user::InfoBlock>);

/// The identifiers and names of the file drivers that the library contains.
const LIBRARY: &[(hid_t, &str)] = &[
    (s::CORE_DRIVER, "core"),
    (s::FAMILY_DRIVER, "family"),
    (s::LOG_DRIVER, "log"),
    (s::MULTI_DRIVER, "multi"),
    (s::ONION_DRIVER, "onion"),
    (s::SEC2_DRIVER, "sec2"),
    (s::SPLITTER_DRIVER, "splitter"),
    (s::STDIO_DRIVER, "stdio"),
];

/// Registers the library's file drivers under their predefined identifiers.
pub fn register() {
    for (id, name) in LIBRARY {
        register_as(*id, Entry::Driver(Arc::new(DriverHandle::Library { id: *id, name })));
    }
}

/// Returns the file driver to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a file driver.
pub fn find(id: hid_t) -> Outcome<Arc<DriverHandle>> {
    match id::find(id) {
        Some(Entry::Driver(driver)) => Ok(driver),
        _ => Err(Failure::bad_type("not a file driver")),
    }
}

/// A pointer to the configuration of a file driver, which the library does not interpret.
pub type Opaque = *const c_void;

/// Returns the registered file driver with the given name, and its identifier.
pub fn by_name(name: &[u8]) -> Option<(hid_t, Arc<DriverHandle>)> {
    all().into_iter().find(|(_, driver)| match &**driver {
        DriverHandle::Library { name: own, .. } => own.as_bytes() == name,
        DriverHandle::User(user) => crate::memory::text_of(user.class.name) == name,
    })
}

/// Returns the registered file driver with the given number (`H5FD_class_value_t`), and its
/// identifier.
pub fn by_value(value: std::ffi::c_int) -> Option<(hid_t, Arc<DriverHandle>)> {
    all().into_iter().find(|(_, driver)| match &**driver {
        DriverHandle::Library { id, .. } => VALUES.contains(&(*id, value)),
        DriverHandle::User(user) => user.class.number() == Some(value),
    })
}

/// The identifiers and numbers (`H5FD_class_value_t`) of the file drivers that the library
/// contains.
const VALUES: &[(hid_t, std::ffi::c_int)] = &[
    (s::SEC2_DRIVER, 0),
    (s::CORE_DRIVER, 1),
    (s::LOG_DRIVER, 2),
    (s::FAMILY_DRIVER, 3),
    (s::MULTI_DRIVER, 4),
    (s::STDIO_DRIVER, 5),
    (s::SPLITTER_DRIVER, 6),
    (s::ONION_DRIVER, 10),
];

/// Returns all registered file drivers with their identifiers.
fn all() -> Vec<(hid_t, Arc<DriverHandle>)> {
    let library = LIBRARY.iter().map(|(id, _)| *id);
    let users = id::list(crate::ctypes::IdKind::Driver as std::ffi::c_int).into_iter().map(|(id, _)| id);
    library.chain(users).filter_map(|id| Some((id, find(id).ok()?))).collect()
}

/// Returns the identifier of the library's file driver with the given name.
pub fn library_id(name: &[u8]) -> Option<hid_t> {
    LIBRARY.iter().find(|(_, known)| known.as_bytes() == name).map(|(id, _)| *id)
}
