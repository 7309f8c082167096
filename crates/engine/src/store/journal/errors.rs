//! I/O errors of the journal's file.

use hyperslab_vfd::DriverError;

use crate::error::Error;

pub(super) fn unwritable(source: DriverError) -> Error {
    Error::Io { action: "cannot write the journal".into(), source }
}

pub(super) fn unreadable(source: DriverError) -> Error {
    Error::Io { action: "cannot read the journal".into(), source }
}
