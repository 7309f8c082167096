//! The reader and the writer of each table format.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;
use arrow_schema::{DataType, SchemaRef};

use super::{ExportOptions, Kind};
use crate::formats::table::{Opened, TableWriter};
use crate::formats::{arrow, csv, jsonl, parquet};

impl Kind {
    /// Opens a table file for reading.
    pub(super) fn open(self, path: &Path) -> Result<Opened> {
        match self {
            Self::Parquet => parquet::open(path),
            Self::Arrow => arrow::open(path),
            Self::JsonLines => jsonl::open(path),
            Self::Csv => {
                let options = csv::CsvOptions { delimiter: None, header: true, null: None, has_index: false };
                csv::Table::open(path, &options)?.batches()
            }
        }
    }

    /// Returns true if the table format supports an Arrow type.
    pub(super) fn holds(self, data: &DataType) -> bool {
        self != Self::Csv || csv::rows::holds(data)
    }
}

impl ExportOptions {
    /// Returns the writer of a new table file.
    pub(super) fn writer(self, out: BufWriter<File>, schema: &SchemaRef) -> Result<Box<dyn TableWriter>> {
        Ok(match self.kind {
            Kind::Parquet => Box::new(parquet::Writer::new(out, schema)?),
            Kind::Arrow => Box::new(arrow::Writer::new(out, schema)?),
            Kind::JsonLines => Box::new(jsonl::Writer::new(out)),
            Kind::Csv => {
                let mut writer = csv::rows::Writer::new(out, self.escape_formulas);
                writer.header(schema.fields().iter().map(|field| field.name()))?;
                Box::new(writer)
            }
        })
    }
}
