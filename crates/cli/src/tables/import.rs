//! The import of tables as datasets: compounds with a member for each column, or a dataset for each
//! column.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use arrow_array::RecordBatch;
use hyperslab::{Dataset, File, Region, Selection};
use hyperslab_exact::{sum, to_u64};

use super::Kind;
use super::elements::{elements, records};
use super::types::{Element, of_fields, units};
use crate::formats::record::packed;
use crate::formats::storage::Storage;
use crate::formats::table::Opened;

/// The largest size of the texts of a batch, in bytes, when each text is padded to the longest one.
/// Larger batches are cut.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// A table that is open, with the types of its columns.
pub(crate) struct Import {
    opened: Opened,
    members: Vec<(String, Element)>,
}

impl Import {
    /// Opens a table. Fails if HDF5 has no type for a column.
    pub(crate) fn open(path: &Path, kind: Kind) -> Result<Self> {
        let opened = kind.open(path)?;
        let members = of_fields(opened.schema.fields())?;
        if members.is_empty() {
            bail!("the table has no columns");
        }
        Ok(Self { opened, members })
    }
}

/// Writes a table to a file: a dataset of compounds, or a dataset for each column.
pub(crate) fn import(
    table: Import,
    file: &File,
    path: &str,
    columns: bool,
    storage: &Storage<'_>,
) -> Result<()> {
    let offsets = file.info().size_of_offsets;
    let Import { opened, members: columns_of } = table;
    let rows = [opened.rows];
    let mut parts: Vec<(Vec<(String, Element)>, Dataset)> = Vec::new();
    if columns {
        let group = file.create_group(path)?;
        for (name, element) in &columns_of {
            let builder = group.new_dataset(&name.replace('/', "_")).datatype(element.stored(offsets)?);
            let dataset = storage.apply(builder.shape(&rows), 1)?.create()?;
            parts.push((vec![(name.clone(), element.clone())], dataset));
        }
    } else {
        let stored = columns_of.iter().map(|(name, element)| Ok((name.as_str(), element.stored(offsets)?)));
        let datatype = packed(stored)?;
        let dataset = storage.apply(file.new_dataset(path).datatype(datatype).shape(&rows), 1)?.create()?;
        parts.push((columns_of.clone(), dataset));
    }
    for (number, field) in opened.schema.fields().iter().enumerate() {
        if let Some(units) = units(field.data_type()) {
            let of_column = if columns { "units".to_owned() } else { format!("{}_units", field.name()) };
            let holder = if columns { parts.get(number) } else { parts.first() };
            holder.context("a column is missing")?.1.set_attribute(&of_column, units.as_str())?;
        }
    }
    let mut start = 0_u64;
    for batch in opened.batches {
        for batch in cut(&batch?) {
            write(&batch, &parts, columns, start)?;
            start = sum("number of rows", [start, to_u64(batch.num_rows())])?;
        }
    }
    if start != opened.rows {
        bail!("the table declares {} rows, but has {start}", opened.rows);
    }
    Ok(())
}

/// Writes a batch of rows from the row `start`.
fn write(
    batch: &RecordBatch,
    parts: &[(Vec<(String, Element)>, Dataset)],
    columns: bool,
    start: u64,
) -> Result<()> {
    let region = Region::new(&[start], &[to_u64(batch.num_rows())])?;
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

/// Cuts a batch into halves until the texts of each part are small enough. In memory, each text has
/// the length of the longest one.
fn cut(batch: &RecordBatch) -> Vec<RecordBatch> {
    let padded = |batch: &RecordBatch| {
        let longest = batch.columns().iter().map(|column| longest(column)).max().unwrap_or(0);
        longest.checked_mul(batch.num_rows())
    };
    let mut whole = vec![batch.clone()];
    let mut small = Vec::new();
    while let Some(batch) = whole.pop() {
        let rows = batch.num_rows();
        if rows < 2 || padded(&batch).is_some_and(|bytes| bytes <= MAX_TEXT_BYTES) {
            small.push(batch);
        } else {
            whole.push(batch.slice(rows / 2, rows - rows / 2));
            whole.push(batch.slice(0, rows / 2));
        }
    }
    small
}

/// Returns the length of the longest text of a column, in bytes.
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
