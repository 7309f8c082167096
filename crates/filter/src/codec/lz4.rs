//! LZ4 blocks.

#[cfg(feature = "lz4")]
#[path = "lz4/flex.rs"]
mod codec;

#[cfg(not(feature = "lz4"))]
#[path = "lz4/absent.rs"]
mod codec;

pub(crate) use codec::{decode, encode};
