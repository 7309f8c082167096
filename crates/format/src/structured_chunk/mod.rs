//! Structured chunks: which elements of a chunk are defined, and their values.

mod defined;

pub use defined::{DecodedDefined, DefinedEncoding, decode_defined, encode_defined};
