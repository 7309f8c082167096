//! Property list classes of the library and of users.

use std::ffi::c_void;
use std::sync::Arc;

use parking_lot::RwLock;

use super::PropertyList;
use super::settings::{
    DatasetAccess, DatasetCreate, FileAccess, FileCreate, FileMount, GroupCreate, LinkAccess, LinkCreate,
    ObjectCopy, ObjectCreate, Settings, StringCreate, Transfer,
};
use super::user::Properties;
use crate::ctypes::{herr_t, hid_t};
use crate::id::{Entry, register_as};
use crate::symbols as s;

/// The C type of a user's function that is called for the creation or the close of a property list.
pub type ListFunction = unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;
/// The C type of a user's function that is called for the copy of a property list.
pub type CopyFunction = unsafe extern "C" fn(hid_t, hid_t, *mut c_void) -> herr_t;

/// The user's functions that a property list class calls when its lists are created, copied or
/// closed.
#[derive(Debug, Clone, Copy)]
pub struct ClassCallbacks {
    /// The function that the library calls after it creates a list, with the function's data.
    pub create: (Option<ListFunction>, *mut c_void),
    /// The function that the library calls after it copies a list, with the function's data.
    pub copy: (Option<CopyFunction>, *mut c_void),
    /// The function that the library calls before it closes a list, with the function's data.
    pub close: (Option<ListFunction>, *mut c_void),
}

impl Default for ClassCallbacks {
    fn default() -> Self {
        let none = std::ptr::null_mut();
        Self { create: (None, none), copy: (None, none), close: (None, none) }
    }
}

// SAFETY: the pointers are opaque to the library, which only passes them to the user's functions.
#[expect(unsafe_code, reason = "classes with opaque data of users cross threads")]
unsafe impl Send for ClassCallbacks {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "classes with opaque data of users cross threads")]
unsafe impl Sync for ClassCallbacks {}

/// The library's property list classes. A class of a user has the properties of its nearest
/// ancestor in this enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the classes")]
pub enum LibraryClass {
    Root,
    ObjectCreate,
    FileCreate,
    FileAccess,
    DatasetCreate,
    DatasetAccess,
    Transfer,
    FileMount,
    GroupCreate,
    GroupAccess,
    DatatypeCreate,
    DatatypeAccess,
    StringCreate,
    AttributeCreate,
    AttributeAccess,
    ObjectCopy,
    LinkCreate,
    LinkAccess,
    MapCreate,
    MapAccess,
    ReferenceAccess,
    ConnectorInitialize,
}

impl LibraryClass {
    /// Returns the default property values of this library class of property lists.
    pub fn defaults(self) -> Settings {
        match self {
            Self::Root | Self::ConnectorInitialize => Settings::Empty,
            Self::ObjectCreate | Self::DatatypeCreate | Self::MapCreate => {
                Settings::ObjectCreate(ObjectCreate::default())
            }
            Self::FileCreate => Settings::FileCreate(FileCreate::default()),
            Self::FileAccess | Self::ReferenceAccess => Settings::FileAccess(FileAccess::default()),
            Self::DatasetCreate => Settings::DatasetCreate(DatasetCreate::default()),
            Self::DatasetAccess => Settings::DatasetAccess(DatasetAccess::default()),
            Self::Transfer => Settings::Transfer(Transfer::default()),
            Self::FileMount => Settings::FileMount(FileMount::default()),
            Self::GroupCreate => Settings::GroupCreate(GroupCreate::default()),
            Self::StringCreate | Self::AttributeCreate => Settings::StringCreate(StringCreate::default()),
            Self::LinkCreate => Settings::LinkCreate(LinkCreate::default()),
            Self::GroupAccess
            | Self::DatatypeAccess
            | Self::AttributeAccess
            | Self::LinkAccess
            | Self::MapAccess => Settings::LinkAccess(LinkAccess::default()),
            Self::ObjectCopy => Settings::ObjectCopy(ObjectCopy::default()),
        }
    }
}

/// A property list class of the library or of a user.
#[derive(Debug)]
pub struct PropertyClass {
    /// The name of the property list class.
    pub name: Vec<u8>,
    /// The parent class; `None` for the root class.
    pub parent: Option<Arc<PropertyClass>>,
    /// The nearest class of the library: this class or an ancestor.
    pub library: LibraryClass,
    /// The properties that users registered in this class.
    pub user: RwLock<Properties>,
    /// The user's functions for the lists of this class.
    pub callbacks: ClassCallbacks,
}

impl PropertyClass {
    /// Returns whether this property list class equals `other` or descends from `other`.
    pub fn is_a(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let mut class = Some(self);
        while let Some(this) = class {
            if Arc::ptr_eq(this, other) {
                return true;
            }
            class = this.parent.as_ref();
        }
        false
    }
}

/// The library's property list classes: identifier, name, identifier of the parent, class, and
/// identifier of the default list. Parents come before their children.
const CLASSES: &[(hid_t, &str, hid_t, LibraryClass, hid_t)] = {
    use LibraryClass as L;
    &[
        (s::CLASS_ROOT, "root", 0, L::Root, 0),
        (s::CLASS_OBJECT_CREATE, "object create", s::CLASS_ROOT, L::ObjectCreate, 0),
        (s::CLASS_GROUP_CREATE, "group create", s::CLASS_OBJECT_CREATE, L::GroupCreate, s::LIST_GROUP_CREATE),
        (s::CLASS_FILE_CREATE, "file create", s::CLASS_GROUP_CREATE, L::FileCreate, s::LIST_FILE_CREATE),
        (s::CLASS_FILE_ACCESS, "file access", s::CLASS_ROOT, L::FileAccess, s::LIST_FILE_ACCESS),
        (
            s::CLASS_DATASET_CREATE,
            "dataset create",
            s::CLASS_OBJECT_CREATE,
            L::DatasetCreate,
            s::LIST_DATASET_CREATE,
        ),
        (s::CLASS_LINK_ACCESS, "link access", s::CLASS_ROOT, L::LinkAccess, s::LIST_LINK_ACCESS),
        (
            s::CLASS_DATASET_ACCESS,
            "dataset access",
            s::CLASS_LINK_ACCESS,
            L::DatasetAccess,
            s::LIST_DATASET_ACCESS,
        ),
        (s::CLASS_DATASET_XFER, "data transfer", s::CLASS_ROOT, L::Transfer, s::LIST_DATASET_XFER),
        (s::CLASS_FILE_MOUNT, "file mount", s::CLASS_ROOT, L::FileMount, s::LIST_FILE_MOUNT),
        (s::CLASS_GROUP_ACCESS, "group access", s::CLASS_LINK_ACCESS, L::GroupAccess, s::LIST_GROUP_ACCESS),
        (
            s::CLASS_DATATYPE_CREATE,
            "datatype create",
            s::CLASS_OBJECT_CREATE,
            L::DatatypeCreate,
            s::LIST_DATATYPE_CREATE,
        ),
        (
            s::CLASS_DATATYPE_ACCESS,
            "datatype access",
            s::CLASS_LINK_ACCESS,
            L::DatatypeAccess,
            s::LIST_DATATYPE_ACCESS,
        ),
        (s::CLASS_STRING_CREATE, "string create", s::CLASS_ROOT, L::StringCreate, 0),
        (
            s::CLASS_ATTRIBUTE_CREATE,
            "attribute create",
            s::CLASS_STRING_CREATE,
            L::AttributeCreate,
            s::LIST_ATTRIBUTE_CREATE,
        ),
        (
            s::CLASS_ATTRIBUTE_ACCESS,
            "attribute access",
            s::CLASS_LINK_ACCESS,
            L::AttributeAccess,
            s::LIST_ATTRIBUTE_ACCESS,
        ),
        (s::CLASS_OBJECT_COPY, "object copy", s::CLASS_ROOT, L::ObjectCopy, s::LIST_OBJECT_COPY),
        (s::CLASS_LINK_CREATE, "link create", s::CLASS_STRING_CREATE, L::LinkCreate, s::LIST_LINK_CREATE),
        (s::CLASS_MAP_CREATE, "map create", s::CLASS_OBJECT_CREATE, L::MapCreate, s::LIST_MAP_CREATE),
        (s::CLASS_MAP_ACCESS, "map access", s::CLASS_LINK_ACCESS, L::MapAccess, s::LIST_MAP_ACCESS),
        (
            s::CLASS_REFERENCE_ACCESS,
            "reference access",
            s::CLASS_FILE_ACCESS,
            L::ReferenceAccess,
            s::LIST_REFERENCE_ACCESS,
        ),
        (
            s::CLASS_VOL_INITIALIZE,
            "vol initialization",
            s::CLASS_ROOT,
            L::ConnectorInitialize,
            s::LIST_VOL_INITIALIZE,
        ),
    ]
};

/// Adds the library's property list classes and default lists to the identifier table.
pub fn register() {
    let mut made: Vec<(hid_t, Arc<PropertyClass>)> = Vec::with_capacity(CLASSES.len());
    for (id, name, parent, library, list) in CLASSES {
        let parent = made.iter().find(|(id, _)| id == parent).map(|(_, class)| Arc::clone(class));
        let class = Arc::new(PropertyClass {
            name: name.as_bytes().to_vec(),
            parent,
            library: *library,
            user: RwLock::default(),
            callbacks: ClassCallbacks::default(),
        });
        made.push((*id, Arc::clone(&class)));
        register_as(*id, Entry::PropertyClass(Arc::clone(&class)));
        if *list != 0 {
            register_as(*list, Entry::PropertyList(Arc::new(PropertyList::new(class))));
        }
    }
}
