//! Identifiers that are closed automatically.

use crate::ctypes::hid_t;
use crate::failure::{Outcome, check};
use crate::sys;

/// An identifier that this library owns. It loses its reference when the value is dropped.
#[derive(Debug)]
pub struct Id(hid_t);

impl Id {
    /// Returns the owner of an identifier that a function of `libhdf5.so` has just returned.
    ///
    /// # Errors
    /// Fails if the identifier is negative.
    pub fn own(id: hid_t) -> Outcome<Self> {
        check(id).map(Self)
    }

    /// Returns the number of the identifier.
    pub fn get(&self) -> hid_t {
        self.0
    }

    /// Returns the number of the identifier for the caller, who closes it.
    pub fn release(self) -> hid_t {
        let id = self.0;
        std::mem::forget(self);
        id
    }

    /// Closes the identifier.
    ///
    /// # Errors
    /// Fails if the object cannot be closed, for example because its data cannot be written.
    pub fn close(self) -> Outcome<()> {
        check(sys::H5Idec_ref(self.release())).map(drop)
    }
}

impl Drop for Id {
    fn drop(&mut self) {
        sys::H5Idec_ref(self.0);
    }
}
