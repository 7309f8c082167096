//! The import of tables as datasets: compounds with a member for each column, or a dataset for each
//! column.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use hyperslab::{Dataset, Datatype, Region, Selection};
use hyperslab_exact::{sum, to_u64};

use super::Kind;
use super::elements::{Elements, elements, joined, value_of};
use super::types::{Element, of_fields, units};
use super::values::{rows, values};
use crate::formats::csv;
use crate::formats::new_object::NewObject;
use crate::formats::nulls::{self, Nulls, mask_of, masked};
use crate::formats::record::packed;
use crate::formats::storage::Storage;
use crate::formats::table::Opened;

/// The largest size in bytes of the padded texts of a batch of rows. Each text has the length of
/// the longest text. Larger batches are divided.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// The source of the rows of a table. The rows are read more than once.
enum Source {
    File(Kind, PathBuf),
    Csv(csv::Table),
}

/// A table to import with known datatypes.
pub(crate) struct Import {
    source: Source,
    pub(super) schema: SchemaRef,
    pub(super) rows: u64,
    pub(super) members: Vec<(String, Element)>,
    /// The representation of the missing values of each column.
    pub(super) nulls: Vec<Nulls>,
}

impl Import {
    /// Opens a table file, infers the datatypes, and reads all rows to count missing values.
    /// Returns an error if HDF5 has no type for a column. `null` is the value that replaces missing
    /// values.
    pub(crate) fn open(path: &Path, kind: Kind, null: Option<String>) -> Result<Self> {
        Self::of(Source::File(kind, path.to_owned()), null)
    }

    /// Returns a CSV file as a table to import, as `open` does for a table file.
    pub(crate) fn of_csv(table: csv::Table, null: Option<String>) -> Result<Self> {
        Self::of(Source::Csv(table), null)
    }

    fn of(source: Source, null: Option<String>) -> Result<Self> {
        let opened = source.rows()?;
        let members = of_fields(opened.schema.fields())?;
        if members.is_empty() {
            bail!("the input table has no columns");
        }
        let mut found = vec![(false, false); members.len()];
        let mut rows = 0_u64;
        for batch in opened.batches {
            let batch = batch?;
            rows = sum("number of rows", [rows, to_u64(batch.num_rows())])?;
            for ((missing, has_nan), column) in found.iter_mut().zip(batch.columns()) {
                *missing |= column.logical_null_count() > 0;
                *has_nan |= holds_nan(column);
            }
        }
        let mut all = Vec::new();
        for ((name, element), (missing, has_nan)) in members.iter().zip(found) {
            all.push(match (missing, &null) {
                (false, _) => Nulls::Absent,
                (true, Some(value)) => {
                    check_value(element, value).with_context(|| format!("column `{name}`"))?;
                    Nulls::Value(value.clone())
                }
                (true, None) if element.is_float() && !has_nan => Nulls::Nan,
                (true, None) => Nulls::Mask,
            });
        }
        let table = Self { source, schema: opened.schema, rows, members, nulls: all };
        table.masked()?;
        Ok(table)
    }

    /// Opens the table again, to read its rows from the start.
    pub(super) fn opened(&self) -> Result<Opened> {
        self.source.rows()
    }

    /// Returns the names of the table columns that get a mask of missing values.
    fn masked(&self) -> Result<Vec<String>> {
        masked(self.members.iter().zip(&self.nulls).map(|((name, _), nulls)| (name.as_str(), nulls)))
    }
}

impl Source {
    fn rows(&self) -> Result<Opened> {
        match self {
            Self::File(kind, path) => kind.open(path),
            Self::Csv(table) => table.batches(),
        }
    }
}

/// Checks that the replacement for missing values has the type of a table column.
fn check_value(element: &Element, value: &str) -> Result<()> {
    match element {
        Element::Plain(datatype) => value_of(datatype, value).map(drop),
        Element::Bool => value_of(&Datatype::bool(), value).map(drop),
        Element::Text => Ok(()),
        Element::Array(..) | Element::Record(_) | Element::List(_) => {
            bail!(
                "this column of lists or records has missing values, which --null cannot replace; import \
                 without --null"
            )
        }
    }
}

/// Returns true if a floating-point table column contains NaN as a value that is not missing.
fn holds_nan(column: &dyn Array) -> bool {
    match column.data_type() {
        DataType::Float16 => column.as_primitive::<Float16Type>().iter().flatten().any(half::f16::is_nan),
        DataType::Float32 => column.as_primitive::<Float32Type>().iter().flatten().any(f32::is_nan),
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().flatten().any(f64::is_nan),
        _ => false,
    }
}

/// Imports a table as a dataset of compounds, or as a group of columns.
pub(super) fn import(
    table: &Import,
    new: &NewObject<'_>,
    is_group: bool,
    storage: &Storage<'_>,
) -> Result<()> {
    let target = if is_group { columns_of(table, new, storage)? } else { records_of(table, new, storage)? };
    let opened = table.opened()?;
    let mut start = 0_u64;
    for batch in opened.batches {
        for batch in cut(&batch?) {
            let region = Region::new(&[start], &[to_u64(batch.num_rows())])?;
            target.write(table, &batch, &Selection::region(&region))?;
            start = sum("number of rows", [start, to_u64(batch.num_rows())])?;
        }
    }
    if start != table.rows || opened.rows != table.rows {
        bail!("the input table states {} rows, but has {start}", opened.rows);
    }
    Ok(())
}

/// The datasets to which the rows of a table are written.
enum Target {
    Records(Dataset),
    /// A dataset for each column, with its mask.
    Columns(Vec<(Dataset, Option<Dataset>)>),
}

/// Creates a dataset of compounds with a member for each column.
fn records_of(table: &Import, new: &NewObject<'_>, storage: &Storage<'_>) -> Result<Target> {
    let offsets = new.file.info().size_of_offsets;
    let masked = table.masked()?;
    let members = table.members.iter().map(|(name, element)| Ok((name.clone(), element.stored(offsets)?)));
    let masks = masked.iter().map(|name| Ok((mask_of(name), Datatype::bool())));
    let members = members.chain(masks).collect::<Result<Vec<_>>>()?;
    let datatype = packed(members.iter().map(|(name, datatype)| Ok((name.as_str(), datatype.clone()))))?;
    let dataset = storage.apply(new.dataset().datatype(datatype).shape(&[table.rows]), 1)?.create()?;
    if let Some(list) = nulls::attribute(&masked) {
        dataset.set_attribute(nulls::ATTRIBUTE, &list)?;
    }
    for field in table.schema.fields() {
        if let Some(units) = units(field.data_type()) {
            dataset.set_attribute(&format!("{}_units", field.name()), units.as_str())?;
        }
    }
    Ok(Target::Records(dataset))
}

/// Creates a group with a dataset for each table column, and a dataset for each mask of missing
/// values.
fn columns_of(table: &Import, new: &NewObject<'_>, storage: &Storage<'_>) -> Result<Target> {
    let offsets = new.file.info().size_of_offsets;
    let masked = table.masked()?;
    let group = new.group()?;
    if let Some(list) = nulls::attribute(&masked) {
        group.set_attribute(nulls::ATTRIBUTE, &list)?;
    }
    let dataset = |name: &str, datatype: Datatype| -> Result<Dataset> {
        let builder = group.new_dataset(&name.replace('/', "_")).datatype(datatype);
        Ok(storage.apply(builder.shape(&[table.rows]), 1)?.create()?)
    };
    let mut all = Vec::new();
    let columns = table.members.iter().zip(&table.nulls).zip(table.schema.fields());
    for (((name, element), nulls), field) in columns {
        let values = dataset(name, element.stored(offsets)?)?;
        if let Some(units) = units(field.data_type()) {
            values.set_attribute("units", units.as_str())?;
        }
        let mask = (*nulls == Nulls::Mask).then(|| dataset(&mask_of(name), Datatype::bool()));
        all.push((values, mask.transpose()?));
    }
    Ok(Target::Columns(all))
}

impl Target {
    /// Writes a batch of rows to the datasets of the table.
    fn write(&self, table: &Import, batch: &RecordBatch, rows: &Selection) -> Result<()> {
        match self {
            Self::Records(dataset) => write_records(dataset, table, batch, rows),
            Self::Columns(datasets) => {
                let columns = table.members.iter().zip(&table.nulls).zip(batch.columns());
                for ((((name, element), nulls), column), (dataset, mask)) in columns.zip(datasets) {
                    let named = || format!("column `{name}`");
                    if element.has_lists() {
                        let values = values(element, column, nulls).with_context(named)?;
                        dataset.write_values(rows, &values)?;
                    } else {
                        let values = elements(element, column, nulls).with_context(named)?;
                        dataset.write_bytes(rows, &values.datatype, &values.bytes)?;
                    }
                    if let Some(mask) = mask {
                        mask.write_stored(rows, &missing(column))?;
                    }
                }
                Ok(())
            }
        }
    }
}

fn write_records(dataset: &Dataset, table: &Import, batch: &RecordBatch, selected: &Selection) -> Result<()> {
    let nulls: Vec<&Nulls> = table.nulls.iter().collect();
    let masks = || {
        let columns = table.members.iter().zip(&table.nulls).zip(batch.columns());
        columns
            .filter(|((_, nulls), _)| **nulls == Nulls::Mask)
            .map(|(((name, _), _), column)| (mask_of(name), missing(column)))
    };
    if table.members.iter().any(|(_, element)| element.has_lists()) {
        let mut all = rows(&table.members, batch.columns(), &nulls, batch.num_rows())?;
        for (name, mask) in masks() {
            for (row, is_missing) in all.iter_mut().zip(mask) {
                if let hyperslab::Value::Compound(members) = row {
                    members.push((name.clone(), hyperslab::Value::Bool(is_missing != 0)));
                }
            }
        }
        return Ok(dataset.write_values(selected, &all)?);
    }
    let masks: Vec<(String, Vec<u8>)> = masks().collect();
    let mut parts: Vec<(&str, Elements)> = Vec::new();
    for (((name, element), column), nulls) in table.members.iter().zip(batch.columns()).zip(nulls) {
        let part = elements(element, column, nulls).with_context(|| format!("column `{name}`"))?;
        parts.push((name, part));
    }
    for (name, bytes) in &masks {
        parts.push((name, Elements { datatype: Datatype::bool(), bytes: bytes.clone() }));
    }
    let all = joined(&parts, batch.num_rows())?;
    Ok(dataset.write_bytes(selected, &all.datatype, &all.bytes)?)
}

/// Returns the mask of a table column: 1 for each missing value, and 0 for each other value.
pub(super) fn missing(column: &dyn Array) -> Vec<u8> {
    match column.logical_nulls() {
        Some(nulls) => nulls.iter().map(|is_valid| u8::from(!is_valid)).collect(),
        None => vec![0; column.len()],
    }
}

/// Divides a batch of rows into halves until each part is small enough. In memory, each text takes
/// the length of the longest text of its part.
pub(super) fn cut(batch: &RecordBatch) -> Vec<RecordBatch> {
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

/// Returns the length of the longest text of a table column, in bytes.
fn longest(column: &dyn Array) -> usize {
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
