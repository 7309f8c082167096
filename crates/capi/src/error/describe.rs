//! Conversions from errors of hyperslab to failures with HDF5 error codes.

use hyperslab::{DataspaceError, Error, ErrorKind, datatype::convert::ConvertError};

use super::{Failure, codes};
use crate::ctypes::hid_t;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (major, minor) = code(&error);
        let text = match error.io_error().and_then(std::io::Error::raw_os_error) {
            Some(number) => format!("{error}, errno = {number}"),
            None => error.to_string(),
        };
        Self::new(major, minor, text)
    }
}

impl From<DataspaceError> for Failure {
    fn from(error: DataspaceError) -> Self {
        Self::new(codes::DATASPACE, codes::BADSELECT, error.to_string())
    }
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        Self::new(codes::DATATYPE, codes::CANTCONVERT, error.to_string())
    }
}

impl From<hyperslab_exact::TooLarge> for Failure {
    fn from(error: hyperslab_exact::TooLarge) -> Self {
        Self::new(codes::RESOURCE, codes::BADSIZE, error.to_string())
    }
}

/// Returns the major and the minor error code of the C interface for an error of hyperslab.
fn code(error: &Error) -> (hid_t, hid_t) {
    match error.without_context() {
        Error::Convert(_) => (codes::DATATYPE, codes::CANTCONVERT),
        Error::Filter { .. } => (codes::PLINE, codes::CANTFILTER),
        Error::Locked { .. } => (codes::VFL, codes::CANTLOCKFILE),
        Error::NotHdf5 { .. } => (codes::FILE, codes::NOTHDF5),
        Error::Memory { .. } => (codes::RESOURCE, codes::NOSPACE),
        _ => match error.kind() {
            ErrorKind::Corrupt => (codes::OHDR, codes::CANTLOAD),
            ErrorKind::Exists => (codes::LINK, codes::EXISTS),
            ErrorKind::Io => (codes::IO, codes::READERROR),
            ErrorKind::Limit => (codes::RESOURCE, codes::BADSIZE),
            ErrorKind::Misuse => (codes::ARGS, codes::BADVALUE),
            ErrorKind::NotFound => (codes::SYM, codes::NOTFOUND),
            ErrorKind::Unsupported => (codes::FUNC, codes::UNSUPPORTED),
            _ => (codes::INTERNAL, codes::SYSTEM),
        },
    }
}
