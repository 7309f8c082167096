//! The layouts whose elements lie side by side in C order: compact, contiguous and external.

mod compact;
mod contiguous;
mod external;
mod read;
mod write;

pub use compact::{CompactSink, CompactSource};
pub use contiguous::{ContiguousSink, ContiguousSource};
pub use external::{ExternalSink, ExternalSource, OpenRaw, Piece};
pub(in crate::data) use write::{LinearTarget, are_far};
