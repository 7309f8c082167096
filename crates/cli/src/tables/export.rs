//! The export of datasets as tables: each member of a compound, or each column of a group, is a
//! column.

use std::io::BufWriter;
use std::sync::Arc;

use anyhow::Result;
use arrow_array::RecordBatch;
use hyperslab::{File, Object};
use tempfile::NamedTempFile;

use super::ExportOptions;
use super::source::Table;
use crate::output_target::OutputTarget;

/// The size in bytes of a batch of rows in a table export. A batch has at least one row.
const BATCH_BYTES: u64 = 16 << 20;

/// Exports a dataset or group as a table.
pub(crate) fn export(
    file: &File,
    object: Object,
    output: &mut OutputTarget,
    options: ExportOptions,
) -> Result<()> {
    let table = Table::of(file, object, options)?;
    let (schema, held) = table.schema()?;
    // The writers of tables need a regular file.
    let mut made = NamedTempFile::with_prefix("hyperslab-")?;
    let mut writer = options.writer(BufWriter::new(made.reopen()?), &schema)?;
    let batch_rows = (BATCH_BYTES / table.row_bytes().max(1)).max(1);
    let mut start = 0;
    while start < table.rows() {
        let count = batch_rows.min(table.rows() - start);
        let columns = table.read(start, count)?.into_iter().zip(&held);
        let columns = columns.filter(|(_, is_held)| **is_held).map(|(column, _)| column).collect();
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
        start += count;
    }
    writer.finish()?;
    std::io::copy(&mut made, output)?;
    Ok(())
}
