//! The objects to which identifiers refer.

use std::ffi::c_int;
use std::sync::Arc;

use super::user::UserObject;
use crate::attribute::AttributeHandle;
use crate::ctypes::IdKind;
use crate::dataset::DatasetHandle;
use crate::datatype::TypeHandle;
use crate::driver::DriverHandle;
use crate::error::message::{ErrorClass, ErrorMessage, SavedStack};
use crate::file::FileHandle;
use crate::group::GroupHandle;
use crate::plist::{PropertyClass, PropertyList};
use crate::space::{SelectionIterator, SpaceHandle};

/// The resource, such as a file, dataset or property list, to which an identifier refers.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say the kinds of objects")]
pub enum Entry {
    File(Arc<FileHandle>),
    Group(Arc<GroupHandle>),
    Datatype(Arc<TypeHandle>),
    Dataspace(Arc<SpaceHandle>),
    Dataset(Arc<DatasetHandle>),
    Attribute(Arc<AttributeHandle>),
    Driver(Arc<DriverHandle>),
    /// A virtual object layer connector, represented by its name.
    Connector(&'static str),
    PropertyClass(Arc<PropertyClass>),
    PropertyList(Arc<PropertyList>),
    ErrorClass(Arc<ErrorClass>),
    ErrorMessage(Arc<ErrorMessage>),
    ErrorStack(Arc<SavedStack>),
    SelectionIterator(Arc<SelectionIterator>),
    EventSet(Arc<crate::h5es::EventSet>),
    User(UserObject),
}

impl Entry {
    /// Returns the number of the identifier kind for this resource (`H5I_type_t`).
    pub fn kind(&self) -> c_int {
        let kind = match self {
            Self::File(_) => IdKind::File,
            Self::Group(_) => IdKind::Group,
            Self::Datatype(_) => IdKind::Datatype,
            Self::Dataspace(_) => IdKind::Dataspace,
            Self::Dataset(_) => IdKind::Dataset,
            Self::Attribute(_) => IdKind::Attribute,
            Self::Driver(_) => IdKind::Driver,
            Self::Connector(_) => IdKind::Connector,
            Self::PropertyClass(_) => IdKind::PropertyClass,
            Self::PropertyList(_) => IdKind::PropertyList,
            Self::ErrorClass(_) => IdKind::ErrorClass,
            Self::ErrorMessage(_) => IdKind::ErrorMessage,
            Self::ErrorStack(_) => IdKind::ErrorStack,
            Self::SelectionIterator(_) => IdKind::SelectionIterator,
            Self::EventSet(_) => IdKind::EventSet,
            Self::User(object) => return object.kind,
        };
        kind as c_int
    }
}
