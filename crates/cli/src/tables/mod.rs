//! The conversion of Parquet and Arrow tables to and from datasets.

mod arrays;
mod elements;
mod export;
mod import;
mod types;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;
use arrow_schema::SchemaRef;

use crate::formats::table::{Opened, TableWriter};
use crate::formats::{arrow, parquet};

pub(crate) use self::export::export;
pub(crate) use self::import::{Import, import};

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    /// Arrow's file format, also called Feather.
    Arrow,
}

impl Kind {
    /// Returns the format for the extension of a path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            _ => None,
        }
    }

    fn open(self, path: &Path) -> Result<Opened> {
        match self {
            Self::Parquet => parquet::open(path),
            Self::Arrow => arrow::open(path),
        }
    }

    fn writer(self, out: BufWriter<File>, schema: &SchemaRef) -> Result<Box<dyn TableWriter>> {
        Ok(match self {
            Self::Parquet => Box::new(parquet::Writer::new(out, schema)?),
            Self::Arrow => Box::new(arrow::Writer::new(out, schema)?),
        })
    }
}
