//! Comma-separated values as batches of rows, for the forms of tables that need more than one
//! column at a time.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::columns::Column;
use super::read::{Table, field};
use crate::formats::nulls::Nulls;
use crate::formats::table::Opened;
use crate::typed::{TypeName, truth};

impl Table {
    /// Returns the CSV table as batches of rows. Empty fields are missing values, except in columns
    /// of text.
    pub(crate) fn batches(&self) -> Result<Opened> {
        let fields =
            self.columns.iter().map(|column| Field::new(&column.name, data_type(column.kind()), true));
        let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let mut reader = self.reader()?;
        let (table, with) = (self.clone(), Arc::clone(&schema));
        let mut next = move || -> Result<Option<RecordBatch>> {
            let Some((_, records)) = reader.next(&table)? else { return Ok(None) };
            let arrays = table.columns.iter().enumerate().map(|(number, column)| {
                array(column, &records, number).with_context(|| format!("column `{}`", column.name))
            });
            Ok(Some(RecordBatch::try_new(Arc::clone(&with), arrays.collect::<Result<_>>()?)?))
        };
        let batches = Box::new(std::iter::from_fn(move || next().transpose()));
        Ok(Opened { schema, rows: self.records, batches })
    }
}

fn data_type(kind: TypeName) -> DataType {
    match kind {
        TypeName::I64 => DataType::Int64,
        TypeName::U64 => DataType::UInt64,
        TypeName::F64 => DataType::Float64,
        TypeName::Bool => DataType::Boolean,
        _ => DataType::Utf8,
    }
}

/// Converts the fields of a CSV column to an Arrow array.
fn array(column: &Column, records: &[Vec<String>], number: usize) -> Result<ArrayRef> {
    let values = records.iter().map(|record| field(record, number));
    Ok(match data_type(column.kind()) {
        DataType::Int64 => Arc::new(numbers::<i64>(values)?.into_iter().collect::<Int64Array>()),
        DataType::UInt64 => Arc::new(numbers::<u64>(values)?.into_iter().collect::<UInt64Array>()),
        DataType::Float64 => {
            // A data frame has no mask for floating-point numbers.
            let missing = (column.nulls() == Nulls::Mask).then_some(f64::NAN);
            let numbers = numbers::<f64>(values)?.into_iter().map(|number| number.or(missing));
            Arc::new(numbers.collect::<Float64Array>())
        }
        DataType::Boolean => {
            let truths = values.map(|value| match (value.is_empty(), truth(value)) {
                (true, _) => Ok(None),
                (false, None) => bail!("the CSV field `{value}` is not a truth value"),
                (false, found) => Ok(found),
            });
            Arc::new(truths.collect::<Result<BooleanArray>>()?)
        }
        _ => Arc::new(StringArray::from_iter_values(values)),
    })
}

/// Parses the fields of a CSV column as numbers. An empty field is a missing number.
fn numbers<'v, T: std::str::FromStr>(values: impl Iterator<Item = &'v str>) -> Result<Vec<Option<T>>> {
    let number = |value: &str| match value.trim() {
        "" if value.is_empty() => Ok(None),
        text => text
            .parse()
            .ok()
            .map(Some)
            .with_context(|| format!("`{value}` is not a number that fits the type of the column")),
    };
    values.map(number).collect()
}
