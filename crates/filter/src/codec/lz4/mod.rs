//! LZ4 blocks.

#[cfg(feature = "lz4")]
#[path = "flex.rs"]
mod codec;

#[cfg(not(feature = "lz4"))]
#[path = "absent.rs"]
mod codec;

pub(crate) use codec::{decode, encode};
