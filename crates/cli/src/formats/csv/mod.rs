//! Comma-separated values.

mod read;
mod write;

pub(crate) use read::Table;
pub(crate) use write::{header, write_defined, write_elements, write_records};
