//! References to objects, of both interfaces.

use crate::ctypes::{H5P_DEFAULT, H5R_OBJECT, hid_t};
use crate::failure::{Outcome, check, truth};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, Text};
use crate::sys;

/// The interface of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// References of 8 bytes (`hobj_ref_t`).
    Old,
    /// References of 64 bytes (`H5R_ref_t`).
    New,
}

impl Kind {
    /// Returns the kind of a datatype of references.
    ///
    /// # Errors
    /// Fails if the datatype is not valid.
    pub fn of(datatype: hid_t) -> Outcome<Self> {
        Ok(if truth(sys::H5Tequal(datatype, sys::H5T_STD_REF_g))? { Self::New } else { Self::Old })
    }

    /// Returns the number of bytes of a reference in memory.
    pub fn size(self) -> usize {
        match self {
            Self::Old => 8,
            Self::New => 64,
        }
    }

    /// Returns the datatype of references.
    pub fn datatype(self) -> hid_t {
        match self {
            Self::Old => sys::H5T_STD_REF_OBJ_g,
            Self::New => sys::H5T_STD_REF_g,
        }
    }
}

/// A reference to an object that this library has made.
#[derive(Debug)]
pub struct Reference {
    kind: Kind,
    bytes: Vec<u8>,
}

impl Reference {
    /// Creates a reference to an open object.
    ///
    /// # Errors
    /// Fails if the object is not valid.
    pub fn to(object: hid_t, kind: Kind) -> Outcome<Self> {
        let mut bytes = vec![0; kind.size()];
        let (itself, buffer) = (Text::of(c"."), Buffer::to(&mut bytes));
        check(match kind {
            Kind::Old => sys::H5Rcreate(buffer, object, itself, H5R_OBJECT, -1),
            Kind::New => sys::H5Rcreate_object(object, itself, H5P_DEFAULT, buffer),
        })?;
        Ok(Self { kind, bytes })
    }

    /// Returns the bytes of the reference in memory. They are valid as long as the reference.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether bytes in memory refer to the same object.
    pub fn is(&self, other: &[u8]) -> bool {
        match self.kind {
            Kind::Old => self.bytes == other,
            Kind::New => sys::H5Requal(Data::to(&self.bytes), Data::to(other)) > 0,
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.kind == Kind::New {
            sys::H5Rdestroy(Buffer::to(&mut self.bytes));
        }
    }
}

/// Opens the object to which bytes in memory refer. `near` is an object of the same file.
///
/// # Errors
/// Fails if the object does not exist any more.
pub fn open(kind: Kind, near: hid_t, bytes: &[u8]) -> Outcome<Id> {
    Id::own(match kind {
        Kind::Old => sys::H5Rdereference2(near, H5P_DEFAULT, H5R_OBJECT, Data::to(bytes)),
        Kind::New => sys::H5Ropen_object(Data::to(bytes), H5P_DEFAULT, H5P_DEFAULT),
    })
}
