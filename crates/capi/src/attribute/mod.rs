//! Attributes that C programs hold by identifiers.

pub mod list;

use std::sync::Arc;

use hyperslab::{Attribute, CharacterSet, CommittedDatatype, Dataspace, Datatype, Object};
use parking_lot::RwLock;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::file::traverse::Place;
use crate::id::{self, Entry};

/// An open attribute to which an identifier refers.
#[derive(Debug)]
pub struct AttributeHandle {
    /// The object to which the attribute belongs.
    pub owner: Object,
    /// The file and the name of the object to which the attribute belongs.
    pub location: Location,
    /// The attribute as it was created or as it was read.
    state: RwLock<State>,
}

/// The state of an open attribute: just created and not yet read, or read from the file.
#[derive(Debug)]
enum State {
    /// A created attribute that was not read since. A read would write the object header to the
    /// file, and most programs write the value first.
    New(Arc<NewAttribute>),
    /// An attribute that was read from the file. A rename replaces the value. All calls share one
    /// value, which keeps the decoded datatype and dataspace.
    Read(Arc<Attribute>),
}

/// The name, datatype and dataspace of a new attribute.
#[derive(Debug)]
pub struct NewAttribute {
    /// The bytes of the attribute's name.
    pub name: Vec<u8>,
    /// The character set of the attribute's name.
    pub charset: CharacterSet,
    /// The attribute's datatype, in file form.
    pub datatype: Datatype,
    /// The committed datatype that the attribute uses, if any.
    pub committed: Option<Arc<CommittedDatatype>>,
    /// The attribute's dataspace.
    pub dataspace: Dataspace,
}

impl AttributeHandle {
    /// Returns an attribute handle for an attribute that was read from the file.
    pub fn read((owner, location): Place, attribute: Attribute) -> Self {
        Self { owner, location, state: RwLock::new(State::Read(Arc::new(attribute))) }
    }

    /// Returns an attribute handle for an attribute that was just created and not yet read.
    pub fn created((owner, location): Place, new: NewAttribute) -> Self {
        Self { owner, location, state: RwLock::new(State::New(Arc::new(new))) }
    }

    /// Returns the form of the open attribute: its name, datatype and dataspace. Reads them from
    /// the file unless the attribute was just created.
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

    /// Returns hyperslab's handle of the open attribute. Reads the attribute from the file if it
    /// was just created.
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

    /// Returns the bytes of the open attribute's name.
    pub fn name(&self) -> Vec<u8> {
        match &*self.state.read() {
            State::Read(attribute) => attribute.name_bytes().to_vec(),
            State::New(new) => new.name.clone(),
        }
    }

    /// Replaces hyperslab's handle in an open attribute after the attribute was renamed.
    pub fn replace(&self, attribute: Attribute) {
        *self.state.write() = State::Read(Arc::new(attribute));
    }
}

/// Returns the open attribute to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to an attribute.
pub fn find(id: hid_t) -> Outcome<Arc<AttributeHandle>> {
    match id::find(id) {
        Some(Entry::Attribute(attribute)) => Ok(attribute),
        _ => Err(Failure::bad_type("not an attribute")),
    }
}
