//! Comma-separated values.

mod columns;
mod read;
mod records;
mod write;

pub(crate) use read::{CsvOptions, Table};
pub(crate) use write::{header, write_defined, write_elements, write_records};
