//! Property list classes and property lists.

pub mod callbacks;
pub mod classes;
pub mod driver_choice;
pub mod encoding;
mod encoding_access;
mod encoding_cache;
pub mod filter_entry;
pub mod image;
pub mod make;
pub mod metadata_cache;
pub mod names;
pub mod settings;
pub mod transfer;
pub mod user;

use std::sync::Arc;

use parking_lot::RwLock;

pub use classes::PropertyClass;
pub use settings::Settings;

use crate::ctypes::{H5P_DEFAULT, hid_t};
use crate::error::{Failure, Outcome};
use crate::id::{self, Entry};
use settings::{
    DatasetAccess, DatasetCreate, FileAccess, FileCreate, FileMount, GroupCreate, LinkAccess, LinkCreate,
    ObjectCopy, ObjectCreate, StringCreate, Transfer,
};

/// A property list with the properties of the library and the properties that the user added.
#[derive(Debug)]
pub struct PropertyList {
    /// The class of the property list.
    pub class: Arc<PropertyClass>,
    /// The values of the library's properties.
    pub settings: RwLock<Settings>,
    /// The properties that the user added, with their values.
    pub user: RwLock<user::Properties>,
}

impl PropertyList {
    /// Returns a property list of the given class with the default values of the library's
    /// properties and without properties of the user.
    pub fn new(class: Arc<PropertyClass>) -> Self {
        let settings = RwLock::new(class.library.defaults());
        Self { class, settings, user: RwLock::default() }
    }
}

/// Returns the property list to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a property list.
pub fn find(id: hid_t) -> Outcome<Arc<PropertyList>> {
    match id::find(id) {
        Some(Entry::PropertyList(list)) => Ok(list),
        _ => Err(Failure::bad_type("not a property list")),
    }
}

/// Checks the class of a property list. The identifier must be `H5P_DEFAULT`, or the class of its
/// list must be equal to the class of the identifier `class` or descend from it. `subject` names
/// the list in the error.
///
/// # Errors
/// Fails with a bad type if the identifier refers to anything else.
pub fn require_class(id: hid_t, class: hid_t, subject: &str) -> Outcome<()> {
    if id == H5P_DEFAULT {
        return Ok(());
    }
    match (id::find(id), id::find(class)) {
        (Some(Entry::PropertyList(list)), Some(Entry::PropertyClass(class))) if list.class.is_a(&class) => {
            Ok(())
        }
        _ => Err(Failure::bad_type(format!("not a {subject}"))),
    }
}

/// Defines two functions for the properties of a class: one returns a copy, and the other changes
/// the properties. The first function returns the default values for `H5P_DEFAULT`.
macro_rules! access {
    ($($read:ident $change:ident $name:literal: $type:ty {$($pattern:pat => $part:expr),* $(,)?})*) => {$(
        #[doc = concat!("Returns a copy of a list's properties for ", $name, ", or the default values for `H5P_DEFAULT`.")]
        ///
        /// # Errors
        /// Fails with a bad type if the identifier does not refer to a list with these properties.
        pub fn $read(id: hid_t) -> Outcome<$type> {
            if id == H5P_DEFAULT {
                return Ok(<$type>::default());
            }
            match &*find(id)?.settings.read() {
                $($pattern => Ok($part.clone()),)*
                _ => Err(Failure::bad_type(concat!("not a property list for ", $name))),
            }
        }

        #[doc = concat!("Calls `change` with the properties of a list for ", $name, ".")]
        ///
        /// # Errors
        /// Fails with a bad type if the identifier does not refer to a list with these properties.
        /// Returns the errors of `change`.
        pub fn $change<T>(id: hid_t, change: impl FnOnce(&mut $type) -> Outcome<T>) -> Outcome<T> {
            match &mut *find(id)?.settings.write() {
                $($pattern => change($part),)*
                _ => Err(Failure::bad_type(concat!("not a property list for ", $name))),
            }
        }
    )*};
}

access! {
    object_create change_object_create "new objects": ObjectCreate {
        Settings::ObjectCreate(it) => it,
        Settings::FileCreate(FileCreate { group: GroupCreate { object: it, .. }, .. }) => it,
        Settings::GroupCreate(GroupCreate { object: it, .. }) => it,
        Settings::DatasetCreate(DatasetCreate { object: it, .. }) => it,
    }
    group_create change_group_create "new groups": GroupCreate {
        Settings::FileCreate(FileCreate { group: it, .. }) => it,
        Settings::GroupCreate(it) => it,
    }
    file_create change_file_create "new files": FileCreate {
        Settings::FileCreate(it) => it,
    }
    file_access change_file_access "access to files": FileAccess {
        Settings::FileAccess(it) => it,
    }
    file_mount change_file_mount "mounts of files": FileMount {
        Settings::FileMount(it) => it,
    }
    dataset_create change_dataset_create "new datasets": DatasetCreate {
        Settings::DatasetCreate(it) => it,
    }
    dataset_access change_dataset_access "access to datasets": DatasetAccess {
        Settings::DatasetAccess(it) => it,
    }
    link_access change_link_access "access by links": LinkAccess {
        Settings::LinkAccess(it) => it,
        Settings::DatasetAccess(DatasetAccess { link: it, .. }) => it,
    }
    link_create change_link_create "new links": LinkCreate {
        Settings::LinkCreate(it) => it,
    }
    string_create change_string_create "new names": StringCreate {
        Settings::StringCreate(it) => it,
        Settings::LinkCreate(LinkCreate { name: it, .. }) => it,
    }
    transfer change_transfer "transfers of elements": Transfer {
        Settings::Transfer(it) => it,
    }
    object_copy change_object_copy "copies of objects": ObjectCopy {
        Settings::ObjectCopy(it) => it,
    }
}
