//! Tables as datasets: records with a member for each column, or a dataset for each column.

use std::fs::File as FsFile;
use std::io::BufReader;
use std::panic;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_schema::SchemaRef;
use hyperslab::{Dataset, DatasetBuilder, File, Region, Selection};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::Kind;
use super::elements::{elements, records};
use super::types::{Element, of_fields, record, units};

/// Rows of a batch.
const AT_ONCE: usize = 8192;
/// Bytes that text of one batch may take when each is as long as the longest; longer batches are cut.
const TEXT: usize = 64 << 20;

/// Does something with a table. The readers of tables panic on some damaged ones; that becomes an error here.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let said = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(work));
    panic::set_hook(said);
    outcome.unwrap_or_else(|_| bail!("the table is damaged"))
}

/// A table on its way into a file.
pub(crate) struct Import {
    schema: SchemaRef,
    rows: u64,
    batches: Batches,
    members: Vec<(String, Element)>,
}

enum Batches {
    Parquet(ParquetRecordBatchReader),
    Arrow(FileReader<BufReader<FsFile>>),
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Parquet(reader) => guarded(|| Ok(reader.next().transpose()?)).transpose(),
            Self::Arrow(reader) => guarded(|| Ok(reader.next().transpose()?)).transpose(),
        }
    }
}

impl Import {
    /// Opens a table, and sees that there are types for its columns.
    pub(crate) fn open(path: &Path, kind: Kind) -> Result<Self> {
        guarded(|| Self::opened(path, kind))
    }

    fn opened(path: &Path, kind: Kind) -> Result<Self> {
        let input = FsFile::open(path)?;
        let (schema, rows, batches) = match kind {
            Kind::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(input)?.with_batch_size(AT_ONCE);
                let schema = std::sync::Arc::clone(builder.schema());
                let rows = u64::try_from(builder.metadata().file_metadata().num_rows())?;
                (schema, rows, Batches::Parquet(builder.build()?))
            }
            Kind::Arrow => {
                // Its header does not say how many rows there are.
                let mut rows = 0_u64;
                for batch in FileReader::try_new(BufReader::new(input.try_clone()?), None)? {
                    rows = rows.saturating_add(u64::try_from(batch?.num_rows())?);
                }
                let reader = FileReader::try_new(BufReader::new(FsFile::open(path)?), None)?;
                (reader.schema(), rows, Batches::Arrow(reader))
            }
        };
        let members = of_fields(schema.fields())?;
        if members.is_empty() {
            bail!("there are no columns");
        }
        Ok(Self { schema, rows, batches, members })
    }
}

/// Writes a table into a file: as records, or as a dataset for each column.
pub(crate) fn import(
    table: Import,
    file: &File,
    path: &str,
    columns: bool,
    storage: impl Fn(DatasetBuilder) -> Result<DatasetBuilder>,
) -> Result<()> {
    let offsets = file.info().size_of_offsets;
    let rows = [table.rows];
    let mut parts: Vec<(Vec<(String, Element)>, Dataset)> = Vec::new();
    if columns {
        let group = file.create_group(path)?;
        for (name, element) in &table.members {
            let builder = group.new_dataset(&name.replace('/', "_")).datatype(element.stored(offsets)?);
            let dataset = storage(builder.shape(&rows))?.create()?;
            parts.push((vec![(name.clone(), element.clone())], dataset));
        }
    } else {
        let stored = table.members.iter().map(|(name, element)| Ok((name, element.stored(offsets)?)));
        let datatype = record(stored)?;
        let dataset = storage(file.new_dataset(path).datatype(datatype).shape(&rows))?.create()?;
        parts.push((table.members.clone(), dataset));
    }
    for (number, field) in table.schema.fields().iter().enumerate() {
        if let Some(units) = units(field.data_type()) {
            let of_column = if columns { "units".to_owned() } else { format!("{}_units", field.name()) };
            let holder = if columns { parts.get(number) } else { parts.first() };
            holder.context("a column is missing")?.1.set_attr(&of_column, units.as_str())?;
        }
    }
    let mut start = 0_u64;
    for batch in table.batches {
        for batch in cut(&batch?) {
            write(&batch, &parts, columns, start)?;
            start = start.saturating_add(u64::try_from(batch.num_rows())?);
        }
    }
    if start != table.rows {
        bail!("the table says that it has {} rows, and has {start}", table.rows);
    }
    Ok(())
}

/// Writes a batch of rows, from that one on.
fn write(
    batch: &RecordBatch,
    parts: &[(Vec<(String, Element)>, Dataset)],
    columns: bool,
    start: u64,
) -> Result<()> {
    let region = Region::new(&[start], &[u64::try_from(batch.num_rows())?])?;
    let selection = Selection::region(&region);
    if let (false, [(members, dataset)]) = (columns, parts) {
        let rows = records(members, batch.columns(), batch.num_rows())?;
        dataset.write_bytes(&selection, &rows.datatype, &rows.bytes)?;
        return Ok(());
    }
    for ((members, dataset), column) in parts.iter().zip(batch.columns()) {
        for (name, element) in members {
            let values = elements(element, column).with_context(|| format!("column `{name}`"))?;
            dataset.write_bytes(&selection, &values.datatype, &values.bytes)?;
        }
    }
    Ok(())
}

/// The batch, or halves of it while its text would take too much room: in memory, each text is as long as the longest.
fn cut(batch: &RecordBatch) -> Vec<RecordBatch> {
    let widest = |batch: &RecordBatch| {
        let longest = batch.columns().iter().map(|column| longest(column)).max().unwrap_or(0);
        longest.saturating_mul(batch.num_rows())
    };
    let mut whole = vec![batch.clone()];
    let mut small = Vec::new();
    while let Some(batch) = whole.pop() {
        let rows = batch.num_rows();
        if rows < 2 || widest(&batch) <= TEXT {
            small.push(batch);
        } else {
            whole.push(batch.slice(rows / 2, rows - rows / 2));
            whole.push(batch.slice(0, rows / 2));
        }
    }
    small
}

/// Bytes of the longest text of a column.
fn longest(column: &dyn arrow_array::Array) -> usize {
    use arrow_array::cast::AsArray as _;
    use arrow_schema::DataType;
    let length = |text: Option<&str>| text.map_or(0, str::len);
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().map(length).max(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(length).max(),
        DataType::Utf8View => column.as_string_view().iter().map(length).max(),
        DataType::Dictionary(..) => Some(longest(column.as_any_dictionary().values())),
        DataType::Struct(_) => column.as_struct().columns().iter().map(|column| longest(column)).max(),
        _ => None,
    }
    .unwrap_or(0)
}
