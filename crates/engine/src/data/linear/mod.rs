//! Layouts whose elements are contiguous in C order: compact, contiguous and external.

mod compact;
mod contiguous;
mod external;
mod read;
mod write;

pub use compact::{CompactSink, CompactSource};
pub use contiguous::{ContiguousSink, ContiguousSource};
pub use external::{ExternalFilePart, ExternalSink, ExternalSource, OpenRaw};
pub(in crate::data) use write::{LinearTarget, are_far};

use crate::error::{Error, Result};

/// Checks that the total size in bytes of an array of elements fits into 64 bits. Calculations with
/// offsets of its elements then cannot overflow.
fn check_offsets(dims: &[u64], element_size: usize) -> Result<()> {
    let factors = dims.iter().copied().chain([element_size as u64]);
    hyperslab_exact::product("size", factors).map(drop).map_err(|_| {
        Error::corrupt("dataspace", "dimensions", "a size in bytes of at most 64 bits", format!("{dims:?}"))
    })
}
