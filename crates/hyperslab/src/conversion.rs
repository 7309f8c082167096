//! How elements of files become Rust values.

use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;

use crate::datatype::convert::{Conversions, ExceptionKind, Exceptions};

/// The conversions by which elements of a file are read: those of libhdf5, and besides from one character set to
/// the other and from strings of variable length to fixed ones. Values of enumerations whose names the destination
/// does not have are errors, so that none is taken for another.
pub(crate) fn defaults() -> Conversions {
    Conversions::default().across_charsets().with_exceptions(Exceptions::error_on(&[ExceptionKind::NoName]))
}

/// The same conversions, for elements of that file.
pub(crate) fn with_heap(conversions: Conversions, file: &Arc<OpenFile>) -> Conversions {
    conversions.with_source_heap(Arc::clone(file) as _)
}
