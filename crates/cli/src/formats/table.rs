//! Tables as batches of rows: the common interface of the formats of tables.

use std::fs::File;
use std::io::{BufWriter, IntoInnerError};
use std::panic;

use anyhow::{Result, bail};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

/// An open table file: its schema, the number of rows, and a reader of the rows.
pub(crate) struct Opened {
    pub(crate) schema: SchemaRef,
    /// The number of rows that the file declares.
    pub(crate) rows: u64,
    pub(crate) batches: Batches,
}

/// An iterator over the batches of rows of a table, in order.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;

/// A writer of a table file.
pub(crate) trait TableWriter {
    /// Appends a batch of rows to the table file.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Completes the table file.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Calls a table reader, and converts a panic to an error. The table readers of some crates panic
/// on damaged files.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(work));
    panic::set_hook(hook);
    outcome.unwrap_or_else(|_| bail!("the table is damaged"))
}

/// Returns the batches of a table reader. A panic of the reader becomes an error.
pub(super) fn guarded_batches<E>(
    mut reader: impl Iterator<Item = Result<RecordBatch, E>> + 'static,
) -> Batches
where
    anyhow::Error: From<E>,
{
    Box::new(std::iter::from_fn(move || guarded(|| Ok(reader.next().transpose()?)).transpose()))
}

/// Writes the buffered bytes of a complete table file.
pub(super) fn flushed(out: BufWriter<File>) -> Result<()> {
    out.into_inner().map_err(IntoInnerError::into_error)?;
    Ok(())
}
