//! Object headers: prefixes of both versions, message envelopes and continuation blocks (File
//! Format Specification, section IV.A.1).

mod continuation;
mod envelope;
mod prefix_v1;
mod prefix_v2;
mod replacement;

pub use continuation::ContinuationBlock;
pub use envelope::{Envelope, EnvelopeLayout, Envelopes, write_envelope};
pub use prefix_v1::PrefixV1;
pub use prefix_v2::{AttributePhaseChange, HeaderFlags, ObjectTimes, PrefixV2};
pub use replacement::replace_body;
