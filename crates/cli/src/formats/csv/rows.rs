//! The writer of batches of rows as comma-separated values. Missing values are empty fields.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use super::write::field;
use crate::formats::elements::without_formula;
use crate::formats::table::{TableWriter, flushed};
use crate::values::numbers::{double, single};

/// A writer of a new CSV file.
pub(crate) struct Writer {
    out: BufWriter<File>,
    has_header: bool,
    /// True if a quote precedes texts that look like formulas.
    escape_formulas: bool,
}

impl Writer {
    pub(crate) fn new(out: BufWriter<File>, escape_formulas: bool) -> Self {
        Self { out, has_header: false, escape_formulas }
    }

    /// Returns a text as a CSV field, with quotes if necessary.
    fn text(&self, text: &str) -> String {
        if self.escape_formulas { field(&without_formula(text.to_owned())) } else { field(text) }
    }

    /// Writes the column names as the first line of the CSV file.
    pub(crate) fn header<'n>(&mut self, names: impl Iterator<Item = &'n String>) -> Result<()> {
        if !std::mem::replace(&mut self.has_header, true) {
            let names: Vec<String> = names.map(|name| self.text(name)).collect();
            writeln!(self.out, "{}", names.join(","))?;
        }
        Ok(())
    }

    /// Returns the CSV field for each value of an Arrow column.
    fn fields(&self, array: &dyn Array) -> Result<Vec<String>> {
        if let DataType::Dictionary(..) = array.data_type() {
            let dictionary = array.as_any_dictionary();
            let values = self.fields(dictionary.values())?;
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let field = |(row, key)| match array.is_null(row) {
                true => Ok(String::new()),
                false => values
                    .get::<usize>(key)
                    .cloned()
                    .context("a category number exceeds the number of categories"),
            };
            return keys.map(field).collect();
        }
        Ok(match array.data_type() {
            DataType::Boolean => {
                let shown =
                    |value: Option<bool>| value.map_or("", |value| if value { "True" } else { "False" });
                array.as_boolean().iter().map(|value| shown(value).to_owned()).collect()
            }
            DataType::Utf8 => {
                let texts = array.as_string::<i32>().iter();
                texts.map(|text| text.map_or_else(String::new, |text| self.text(text))).collect()
            }
            DataType::Float16 => numbers::<Float16Type>(array, |value| single(value.to_f32())),
            DataType::Float32 => numbers::<Float32Type>(array, single),
            DataType::Float64 => numbers::<Float64Type>(array, double),
            DataType::Int8 => numbers::<Int8Type>(array, |value| value.to_string()),
            DataType::Int16 => numbers::<Int16Type>(array, |value| value.to_string()),
            DataType::Int32 => numbers::<Int32Type>(array, |value| value.to_string()),
            DataType::Int64 => numbers::<Int64Type>(array, |value| value.to_string()),
            DataType::UInt8 => numbers::<UInt8Type>(array, |value| value.to_string()),
            DataType::UInt16 => numbers::<UInt16Type>(array, |value| value.to_string()),
            DataType::UInt32 => numbers::<UInt32Type>(array, |value| value.to_string()),
            DataType::UInt64 => numbers::<UInt64Type>(array, |value| value.to_string()),
            other => bail!("a CSV field cannot represent elements of the type {other}"),
        })
    }
}

/// Returns true if a CSV field can represent values of an Arrow type.
pub(crate) fn holds(data: &DataType) -> bool {
    match data {
        DataType::Dictionary(_, values) => holds(values),
        DataType::Boolean | DataType::Utf8 | DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            true
        }
        other => other.is_integer(),
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, shown: impl Fn(T::Native) -> String) -> Vec<String> {
    array.as_primitive::<T>().iter().map(|value| value.map_or_else(String::new, &shown)).collect()
}

impl TableWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let names = batch.schema();
        self.header(names.fields().iter().map(|field| field.name()))?;
        let mut columns = Vec::new();
        for (named, column) in names.fields().iter().zip(batch.columns()) {
            let fields = self.fields(column).with_context(|| format!("column `{}`", named.name()))?;
            columns.push(fields.into_iter());
        }
        for _ in 0..batch.num_rows() {
            let record: Vec<String> = columns.iter_mut().filter_map(Iterator::next).collect();
            writeln!(self.out, "{}", record.join(","))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        flushed(self.out)
    }
}
