//! The file format of Apache Arrow, also called Feather.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::Result;
use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use hyperslab_exact::{sum, to_u64};

use super::table::{Opened, TableWriter, flushed, guarded, guarded_batches};

/// Opens an Arrow file as a table. Reads the whole table once to count the rows, because the footer
/// does not state their number.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    guarded(|| {
        let mut rows = 0_u64;
        for batch in reader(path)? {
            rows = sum("number of rows", [rows, to_u64(batch?.num_rows())])?;
        }
        let reader = reader(path)?;
        Ok(Opened { schema: reader.schema(), rows, batches: guarded_batches(reader) })
    })
}

fn reader(path: &Path) -> Result<FileReader<BufReader<File>>> {
    Ok(FileReader::try_new(BufReader::new(File::open(path)?), None)?)
}

/// A writer of tables to Arrow files.
pub(crate) struct Writer(FileWriter<BufWriter<File>>);

impl Writer {
    pub(crate) fn new(out: BufWriter<File>, schema: &SchemaRef) -> Result<Self> {
        Ok(Self(FileWriter::try_new(out, schema)?))
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
