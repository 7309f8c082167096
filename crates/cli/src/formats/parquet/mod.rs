//! The reader and the writer of Apache Parquet tables.

mod thrift;
mod zstd;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::formats::table::{Opened, TableWriter, flushed, guarded, guarded_batches};

/// The number of rows in a batch of a Parquet table.
const BATCH_ROWS: usize = 8192;

/// Opens a Parquet file as a table.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    guarded(|| {
        let mut file = File::open(path)?;
        let options = ArrowReaderOptions::new();
        let mut metadata = ArrowReaderMetadata::load(&file, options.clone())?;
        if let Some((plain, rewritten)) = zstd::without_zstd(&mut file, metadata.metadata())? {
            file = plain;
            metadata = ArrowReaderMetadata::try_new(rewritten, options)?;
        }
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let builder = builder.with_batch_size(BATCH_ROWS);
        let schema = Arc::clone(builder.schema());
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows())?;
        Ok(Opened { schema, rows, batches: guarded_batches(builder.build()?) })
    })
}

/// A writer of tables to Parquet files, compressed by Snappy.
pub(crate) struct Writer(ArrowWriter<BufWriter<File>>);

impl Writer {
    pub(crate) fn new(out: BufWriter<File>, schema: &SchemaRef) -> Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        Ok(Self(ArrowWriter::try_new(out, Arc::clone(schema), Some(properties))?))
    }
}

impl TableWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(batch)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        flushed(self.0.into_inner()?)
    }
}
