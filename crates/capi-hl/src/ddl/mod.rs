//! The data description language of datatypes.

pub mod names;
pub mod parse;
pub mod scan;
pub mod write;
