//! The default conversions between the file and memory.

use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;

use crate::datatype::convert::{Conversions, ExceptionKind, Exceptions};

/// Returns the default conversions: those of libhdf5, and the conversions between character sets
/// and from strings of variable to fixed length. An enumeration value whose name the other
/// enumeration lacks is an error, because any other value would be wrong.
pub(crate) fn defaults() -> Conversions {
    Conversions::default().across_charsets().with_exceptions(Exceptions::error_on(&[ExceptionKind::NoName]))
}

/// Returns `conversions` with the heap of `file` as the source of variable-length data.
pub(crate) fn with_heap(conversions: Conversions, file: &Arc<OpenFile>) -> Conversions {
    conversions.with_source_heap(Arc::clone(file) as _)
}
