//! Attributes with identifiers.

pub mod list;

use std::sync::Arc;

use hyperslab::{Attribute, CharacterSet, CommittedDatatype, Dataspace, Datatype, Object};
use parking_lot::RwLock;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::file::traverse::Place;
use crate::id::{self, Entry};

/// An attribute with an identifier.
#[derive(Debug)]
pub struct AttributeHandle {
    /// The object of the attribute.
    pub owner: Object,
    /// The place of the object.
    pub location: Location,
    state: RwLock<State>,
}

/// The knowledge about an attribute.
#[derive(Debug)]
enum State {
    /// The attribute was created, and was not read since. A read would write the object header to
    /// the file, and most programs set the value next.
    New(Arc<NewAttribute>),
    /// The attribute was read. A rename replaces it. The calls share one value, which keeps the
    /// decoded datatype and dataspace.
    Read(Arc<Attribute>),
}

/// The form of a new attribute.
#[derive(Debug)]
pub struct NewAttribute {
    /// The bytes of the name.
    pub name: Vec<u8>,
    /// The character set of the name.
    pub charset: CharacterSet,
    /// The datatype in the file.
    pub datatype: Datatype,
    /// The committed datatype of the file that the attribute uses.
    pub committed: Option<Arc<CommittedDatatype>>,
    /// The dataspace.
    pub dataspace: Dataspace,
}

impl AttributeHandle {
    /// Returns a handle of an attribute that was read.
    pub fn read((owner, location): Place, attribute: Attribute) -> Self {
        Self { owner, location, state: RwLock::new(State::Read(Arc::new(attribute))) }
    }

    /// Returns a handle of an attribute that was just created.
    pub fn created((owner, location): Place, new: NewAttribute) -> Self {
        Self { owner, location, state: RwLock::new(State::New(Arc::new(new))) }
    }

    /// Returns the form of the attribute.
    ///
    /// # Errors
    /// Returns the errors of reading the attribute.
    pub fn form(&self) -> Outcome<Arc<NewAttribute>> {
        if let State::New(new) = &*self.state.read() {
            return Ok(Arc::clone(new));
        }
        let attribute = self.attribute()?;
        let committed = match attribute.committed_datatype()? {
            Some(token) => {
                let object = self.location.shared.file.root().object_at(token)?;
                Some(Arc::new(object.into_datatype()?))
            }
            None => None,
        };
        Ok(Arc::new(NewAttribute {
            name: attribute.name_bytes().to_vec(),
            charset: attribute.charset(),
            datatype: attribute.datatype()?,
            committed,
            dataspace: attribute.dataspace()?,
        }))
    }

    /// Returns the attribute.
    ///
    /// # Errors
    /// Returns the errors of reading the attribute.
    pub fn attribute(&self) -> Outcome<Arc<Attribute>> {
        let name = match &*self.state.read() {
            State::Read(attribute) => return Ok(Arc::clone(attribute)),
            State::New(new) => new.name.clone(),
        };
        let attribute = Arc::new(self.owner.attribute_named(&name)?);
        *self.state.write() = State::Read(Arc::clone(&attribute));
        Ok(attribute)
    }

    /// Returns the bytes of the name.
    pub fn name(&self) -> Vec<u8> {
        match &*self.state.read() {
            State::Read(attribute) => attribute.name_bytes().to_vec(),
            State::New(new) => new.name.clone(),
        }
    }

    /// Replaces the attribute after a rename.
    pub fn replace(&self, attribute: Attribute) {
        *self.state.write() = State::Read(Arc::new(attribute));
    }
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
