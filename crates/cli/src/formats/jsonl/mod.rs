//! JSON lines: tables with an object in each line.

mod kinds;

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, RecordBatch};
use arrow_json::writer::LineDelimited;
use arrow_json::{ReaderBuilder, WriterBuilder};
use arrow_schema::{DataType, Schema, SchemaRef};
use hyperslab_exact::to_u64;
use serde_json::Value;

use self::kinds::Kind;
use super::table::{Opened, TableWriter, flushed, guarded_batches};

/// The number of rows in a batch of a JSON lines file.
const BATCH_ROWS: usize = 8192;

/// The largest size of a line in a JSON lines file, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Opens a JSON lines file as a table. Reads the whole file once to infer the types of the columns.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    let (schema, rows) = inferred(path)?;
    let reader = ReaderBuilder::new(Arc::clone(&schema)).with_batch_size(BATCH_ROWS);
    let reader = reader.build(BufReader::new(File::open(path)?))?;
    Ok(Opened { schema, rows, batches: guarded_batches(reader) })
}

/// Infers the schema of a JSON lines table, and counts its rows.
fn inferred(path: &Path) -> Result<(SchemaRef, u64)> {
    let mut input = BufReader::new(File::open(path)?);
    let (mut kind, mut rows, mut number) = (Kind::Object(Vec::new()), 0_u64, 0_u64);
    let mut line = String::new();
    loop {
        line.clear();
        number += 1;
        let count = input.by_ref().take(MAX_LINE_BYTES).read_line(&mut line);
        if count.with_context(|| format!("line {number}"))? == 0 {
            break;
        }
        if to_u64(line.len()) >= MAX_LINE_BYTES {
            bail!("line {number} of the JSON lines has {MAX_LINE_BYTES} bytes or more");
        }
        if line.trim().is_empty() {
            continue;
        }
        let row: Value = serde_json::from_str(&line).with_context(|| format!("line {number}"))?;
        if !row.is_object() {
            bail!("line {number}: a line must be a JSON object, such as {{\"a\": 1}}");
        }
        kind = kind.with(&row).with_context(|| format!("line {number}"))?;
        rows += 1;
    }
    let DataType::Struct(fields) = kind.data_type() else {
        bail!("the rows of the table are not JSON objects")
    };
    Ok((Arc::new(Schema::new(fields)), rows))
}

/// A writer of JSON lines files.
pub(crate) struct Writer(arrow_json::Writer<BufWriter<File>, LineDelimited>);

impl Writer {
    pub(crate) fn new(out: BufWriter<File>) -> Self {
        Self(WriterBuilder::new().with_explicit_nulls(true).build(out))
    }
}

impl TableWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            if has_infinity(column) {
                bail!("column `{}` has infinite numbers, which JSON cannot represent", field.name());
            }
        }
        Ok(self.0.write(batch)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        flushed(self.0.into_inner())
    }
}

/// Returns true if an array contains an infinite number, which JSON cannot represent. NaN becomes
/// null, as in pandas.
fn has_infinity(array: &dyn Array) -> bool {
    match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().iter().flatten().any(half::f16::is_infinite),
        DataType::Float32 => array.as_primitive::<Float32Type>().iter().flatten().any(f32::is_infinite),
        DataType::Float64 => array.as_primitive::<Float64Type>().iter().flatten().any(f64::is_infinite),
        DataType::Struct(_) => array.as_struct().columns().iter().any(|column| has_infinity(column)),
        DataType::FixedSizeList(..) => has_infinity(array.as_fixed_size_list().values()),
        DataType::List(_) => has_infinity(array.as_list::<i32>().values()),
        DataType::LargeList(_) => has_infinity(array.as_list::<i64>().values()),
        _ => false,
    }
}
