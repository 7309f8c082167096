//! Raw Snappy streams, without frames.

#[cfg(feature = "snappy")]
#[path = "snap.rs"]
mod codec;

#[cfg(not(feature = "snappy"))]
#[path = "absent.rs"]
mod codec;

pub(crate) use codec::{decode, encode};
