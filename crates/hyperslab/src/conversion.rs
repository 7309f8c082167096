//! The default conversions between the file and memory.

use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;

use crate::datatype::convert::{Conversion, Conversions, ConvertError, ExceptionKind, Exceptions};
use crate::{Datatype, H5Type};

/// Returns the default conversions between datatypes: those of libhdf5, and conversions of strings
/// between character sets and from variable to fixed length.
///
/// If the target enumeration lacks a name, the conversion returns an error, because any other value
/// would be wrong.
pub(crate) fn defaults() -> Conversions {
    Conversions::default().across_charsets().with_exceptions(Exceptions::error_on(&[ExceptionKind::NoName]))
}

/// Returns datatype conversions that read variable-length data from the heap of `file`.
pub(crate) fn with_heap(conversions: Conversions, file: &Arc<OpenFile>) -> Conversions {
    conversions.with_source_heap(Arc::clone(file) as _)
}

/// Plans the conversion of stored elements to values of a Rust type. If the stored datatype lacks a
/// member of the Rust type, returns an error.
pub(crate) fn to_rust<T: H5Type>(
    conversions: &Conversions,
    source: &Datatype,
) -> Result<Conversion, ConvertError> {
    conversions.clone().with_every_member().plan(source, &T::datatype())
}
