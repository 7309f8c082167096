//! The layouts whose elements lie side by side in C order: compact, contiguous and external.

mod compact;
mod contiguous;
mod external;
mod read;
mod write;

pub use compact::{CompactSource, write_compact};
pub use contiguous::{ContiguousSource, fill_contiguous, write_contiguous};
pub use external::{ExternalSource, OpenRaw, Piece, write_external};
pub(in crate::data) use write::{LinearTarget, are_far};
