//! Comma-separated values.

#[cfg(feature = "tables")]
mod batches;
mod columns;
mod read;
mod records;
#[cfg(feature = "tables")]
pub(crate) mod rows;
mod write;

pub(crate) use read::{CsvOptions, Table};
pub(crate) use write::{header, write_defined, write_elements, write_records};
