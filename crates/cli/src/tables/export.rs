//! The export of datasets as tables: each member of a compound, or each column of a group, is a
//! column.

use std::io::BufWriter;
use std::sync::Arc;

use anyhow::Result;
use arrow_array::RecordBatch;
use hyperslab::{File, Object};
use tempfile::NamedTempFile;

use super::Kind;
use super::source::Table;
use crate::output_target::OutputTarget;

/// The size of a batch of rows, in bytes, unless a single row is larger.
const BATCH_BYTES: u64 = 16 << 20;

/// Writes an object as a table. If `skip` is set, objects that cannot be columns are skipped;
/// otherwise such an object is an error.
pub(crate) fn export(
    file: &File,
    object: Object,
    output: &mut OutputTarget,
    kind: Kind,
    skip: bool,
) -> Result<()> {
    let table = Table::of(file, object, skip)?;
    let schema = table.schema()?;
    // The writers of tables need a regular file.
    let mut made = NamedTempFile::with_prefix("hyperslab-")?;
    let mut writer = kind.writer(BufWriter::new(made.reopen()?), &schema)?;
    let batch_rows = (BATCH_BYTES / table.row_bytes().max(1)).max(1);
    let mut start = 0;
    while start < table.rows() {
        let count = batch_rows.min(table.rows() - start);
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), table.read(start, count)?)?)?;
        start += count;
    }
    writer.finish()?;
    std::io::copy(&mut made, output)?;
    Ok(())
}
