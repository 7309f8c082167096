//! Raw Snappy streams, without a frame.

#[cfg(feature = "snappy")]
#[path = "snappy/snap.rs"]
mod codec;

#[cfg(not(feature = "snappy"))]
#[path = "snappy/absent.rs"]
mod codec;

pub(crate) use codec::{decode, encode};
