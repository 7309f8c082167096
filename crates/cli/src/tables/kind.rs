//! The reader and the writer of each format of tables.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;
use arrow_schema::SchemaRef;

use super::Kind;
use crate::formats::table::{Opened, TableWriter};
use crate::formats::{arrow, jsonl, parquet};

impl Kind {
    /// Opens a table for reading.
    pub(super) fn open(self, path: &Path) -> Result<Opened> {
        match self {
            Self::Parquet => parquet::open(path),
            Self::Arrow => arrow::open(path),
            Self::JsonLines => jsonl::open(path),
        }
    }

    /// Returns the writer of a new table.
    pub(super) fn writer(self, out: BufWriter<File>, schema: &SchemaRef) -> Result<Box<dyn TableWriter>> {
        Ok(match self {
            Self::Parquet => Box::new(parquet::Writer::new(out, schema)?),
            Self::Arrow => Box::new(arrow::Writer::new(out, schema)?),
            Self::JsonLines => Box::new(jsonl::Writer::new(out)),
        })
    }
}
