//! The reader of comma-separated values (RFC 4180). It reads a file twice: once for the types of
//! the columns, once for the values.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hyperslab::{Dataset, Datatype, Region};
use hyperslab_exact::to_u64;

use super::columns::Column;
use super::records::{Records, detect};
use crate::formats::new_object::NewObject;
use crate::formats::nulls::{self, Nulls, mask_of, masked};
use crate::formats::record::packed;
use crate::formats::storage::Storage;
use crate::typed::{TypeName, elements};

/// The number of CSV records in a batch.
const BATCH_RECORDS: usize = 8192;

/// The error message for a CSV file that another program changes during the import. The records of
/// such a file differ between the two passes.
const CHANGED: &str = "the file changed while it was read";

/// The options of a CSV import.
#[derive(Debug, Clone)]
pub(crate) struct CsvOptions {
    /// The character between fields. `None` detects the character.
    pub(crate) delimiter: Option<u8>,
    /// True if the first record has the names of the columns.
    pub(crate) header: bool,
    /// The value for missing values.
    pub(crate) null: Option<String>,
    /// True if the first column may have no name, as the index in the files of pandas. Its name
    /// becomes [`INDEX`].
    pub(crate) has_index: bool,
}

/// The name of an unnamed index column of a CSV file, as in AnnData.
pub(crate) const INDEX: &str = "_index";

/// A CSV file as a table with known columns and datatypes.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    path: PathBuf,
    delimiter: u8,
    header: bool,
    pub(super) columns: Vec<Column>,
    pub(super) records: u64,
}

/// A reader of the records of a CSV table, in batches.
pub(super) struct Batches {
    records: Records,
    /// The number of records before the next batch.
    start: u64,
    is_done: bool,
}

/// Returns a compound datatype with a member for each CSV column and a member for each mask of
/// missing values.
fn compound(
    columns: &[Column],
    masked: &[String],
    datatypes: impl Iterator<Item = Result<Datatype>>,
) -> Result<Datatype> {
    let members =
        columns.iter().zip(datatypes).map(|(column, datatype)| Ok((column.name.clone(), datatype?)));
    let masks = masked.iter().map(|column| Ok((mask_of(column), Datatype::bool())));
    let members = members.chain(masks).collect::<Result<Vec<_>>>()?;
    packed(members.iter().map(|(name, datatype)| Ok((name.as_str(), datatype.clone()))))
}

/// Returns a field of a CSV record. `Batches::next` has checked the number of fields.
pub(super) fn field(record: &[String], number: usize) -> &str {
    record.get(number).map_or("", String::as_str)
}

impl Table {
    pub(crate) fn open(path: &Path, options: &CsvOptions) -> Result<Self> {
        let delimiter = options.delimiter.map_or_else(|| detect(path), Ok)?;
        let mut records = Records::open(path, delimiter)?;
        let new = |name| Column::new(name, options.null.as_deref());
        let mut fields = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        if options.header {
            if !records.next(&mut fields)? {
                bail!("the file is empty: the line of column names is missing");
            }
            if let Some(first) = fields.first_mut().filter(|first| options.has_index && first.is_empty()) {
                INDEX.clone_into(first);
            }
            columns = fields.iter().cloned().map(new).collect();
            check_names(&columns)?;
        }
        let mut count = 0_u64;
        while records.next(&mut fields)? {
            if columns.is_empty() {
                columns = (0..fields.len()).map(|number| new(format!("column{number}"))).collect();
            }
            if fields.len() != columns.len() {
                bail!(
                    "line {} has {} fields, but the table has {} columns; --delimiter names the character between fields",
                    records.start(),
                    fields.len(),
                    columns.len()
                );
            }
            columns.iter_mut().zip(&fields).for_each(|(column, value)| column.see(value));
            count += 1;
        }
        records.check_end(path)?;
        columns.iter().try_for_each(Column::check)?;
        if options.has_index {
            // The index of a data frame is text.
            columns.iter_mut().filter(|column| column.name == INDEX).for_each(Column::make_text);
        }
        let table =
            Self { path: path.to_owned(), delimiter, header: options.header, columns, records: count };
        table.masked()?;
        Ok(table)
    }

    /// Returns messages for the user about CSV columns that are stored as text although they
    /// contain numbers.
    pub(crate) fn notes(&self) -> Vec<String> {
        let inexact = self.columns.iter().filter(|column| column.is_inexact());
        inexact
            .map(|column| {
                format!(
                    "the column `{}` has numbers that no type of 64 bits represents: it is stored as text",
                    column.name
                )
            })
            .collect()
    }

    /// Returns the names of the CSV columns that get a mask of missing values.
    fn masked(&self) -> Result<Vec<String>> {
        let nulls: Vec<(&str, Nulls)> =
            self.columns.iter().map(|column| (column.name.as_str(), column.nulls())).collect();
        masked(nulls.iter().map(|(name, nulls)| (*name, nulls)))
    }

    /// Returns a common column for all values of a CSV table, if the table has no column names and
    /// only numbers. Such a table becomes an array.
    fn matrix(&self) -> Option<Column> {
        let (first, rest) = self.columns.split_first()?;
        let whole = rest.iter().fold(first.clone(), |whole, column| whole.joined(column));
        let numbers = !self.header && self.columns.iter().all(Column::is_number) && whole.is_number();
        match whole.nulls() {
            _ if !numbers => None,
            Nulls::Mask => Some(whole.as_f64()).filter(|whole| whole.nulls() == Nulls::Nan),
            _ => Some(whole),
        }
    }

    /// Creates a dataset of compounds with a member for each CSV column. If the columns have no
    /// names and all values are numbers, creates an array of two dimensions.
    pub(crate) fn write(&self, new: &NewObject<'_>, storage: &Storage<'_>) -> Result<()> {
        if self.columns.is_empty() {
            bail!("the CSV table has no columns");
        }
        if let Some(whole) = self.matrix() {
            return self.write_matrix(new, storage, &whole);
        }
        let masked = self.masked()?;
        let stored = self.columns.iter().map(|column| column.stored(new.file));
        let datatype = compound(&self.columns, &masked, stored)?;
        let dataset = storage.apply(new.dataset().datatype(datatype).shape(&[self.records]), 1)?.create()?;
        if let Some(list) = nulls::attribute(&masked) {
            dataset.set_attribute(nulls::ATTRIBUTE, &list)?;
        }
        let columns = || self.columns.iter().enumerate();
        self.each_batch(|start, records| {
            let values = |number| records.iter().map(move |record| field(record, number));
            let types = columns().map(|(number, column)| column.in_memory(values(number)));
            let types = types.collect::<Result<Vec<Datatype>>>()?;
            let mut bytes = Vec::new();
            for record in records {
                for ((number, column), datatype) in columns().zip(&types) {
                    column.element(datatype, field(record, number), &mut bytes)?;
                }
                for (number, _) in columns().filter(|(_, column)| column.nulls() == Nulls::Mask) {
                    bytes.push(u8::from(field(record, number).is_empty()));
                }
            }
            let memory = compound(&self.columns, &masked, types.into_iter().map(Ok))?;
            let region = Region::new(&[start], &[records.len() as u64])?;
            Ok(dataset.write_bytes(&region, &memory, &bytes)?)
        })
    }

    fn write_matrix(&self, new: &NewObject<'_>, storage: &Storage<'_>, whole: &Column) -> Result<()> {
        let width = self.columns.len() as u64;
        let (datatype, _) = elements::<&str>(whole.kind(), &[])?;
        let builder = new.dataset().datatype(datatype.clone()).shape(&[self.records, width]);
        let dataset = storage.apply(builder, 2)?.create()?;
        self.each_batch(|start, records| {
            let mut bytes = Vec::new();
            records.iter().flatten().try_for_each(|value| whole.element(&datatype, value, &mut bytes))?;
            let region = Region::new(&[start, 0], &[records.len() as u64, width])?;
            Ok(dataset.write_stored(&region, &bytes)?)
        })
    }

    /// Creates a group with a dataset for each CSV column, and a dataset for each mask of missing
    /// values.
    pub(crate) fn write_columns(&self, new: &NewObject<'_>, storage: &Storage<'_>) -> Result<()> {
        let masked = self.masked()?;
        let group = new.group()?;
        if let Some(list) = nulls::attribute(&masked) {
            group.set_attribute(nulls::ATTRIBUTE, &list)?;
        }
        let dataset = |name: &str, datatype: Datatype| -> Result<Dataset> {
            let builder = group.new_dataset(&name.replace('/', "_")).datatype(datatype);
            Ok(storage.apply(builder.shape(&[self.records]), 1)?.create()?)
        };
        let mut datasets = Vec::new();
        for column in &self.columns {
            let values = dataset(&column.name, column.stored(new.file)?)?;
            let mask =
                (column.nulls() == Nulls::Mask).then(|| dataset(&mask_of(&column.name), Datatype::bool()));
            datasets.push((values, mask.transpose()?));
        }
        self.each_batch(|start, records| {
            let region = Region::new(&[start], &[records.len() as u64])?;
            for (number, (column, (dataset, mask))) in self.columns.iter().zip(&datasets).enumerate() {
                let values = || records.iter().map(|record| field(record, number));
                if let Some(mask) = mask {
                    let missing: Vec<u8> = values().map(|value| u8::from(value.is_empty())).collect();
                    mask.write_stored(&region, &missing)?;
                }
                if column.kind() == TypeName::Str {
                    let texts: Vec<&str> = values().collect();
                    dataset.write_strings(&region, &texts)?;
                    continue;
                }
                let (datatype, mut bytes) = (column.in_memory(values())?, Vec::new());
                values().try_for_each(|value| column.element(&datatype, value, &mut bytes))?;
                dataset.write_stored(&region, &bytes)?;
            }
            Ok(())
        })
    }

    /// Calls `visit` with each batch of CSV records and the number of the batch's first record.
    fn each_batch(&self, mut visit: impl FnMut(u64, &[Vec<String>]) -> Result<()>) -> Result<()> {
        let mut reader = self.reader()?;
        while let Some((start, batch)) = reader.next(self)? {
            visit(start, &batch)?;
        }
        Ok(())
    }

    /// Returns a reader that starts at the first record of the CSV file.
    pub(super) fn reader(&self) -> Result<Batches> {
        let mut records = Records::open(&self.path, self.delimiter)?;
        if self.header {
            records.next(&mut Vec::new())?;
        }
        Ok(Batches { records, start: 0, is_done: false })
    }
}

impl Batches {
    /// Returns the next batch of CSV records of `table`, and the number of the batch's first
    /// record.
    pub(super) fn next(&mut self, table: &Table) -> Result<Option<(u64, Vec<Vec<String>>)>> {
        let (start, mut batch) = (self.start, Vec::new());
        while !self.is_done && batch.len() < BATCH_RECORDS {
            let mut fields = Vec::new();
            if !self.records.next(&mut fields)? {
                self.is_done = true;
            } else if fields.len() != table.columns.len() {
                bail!("{CHANGED}");
            } else {
                batch.push(fields);
            }
        }
        self.start += to_u64(batch.len());
        if self.is_done && self.start != table.records {
            bail!("{CHANGED}");
        }
        Ok((!batch.is_empty()).then_some((start, batch)))
    }
}

/// Checks that the column names of a CSV file can be names of members: no name is empty, and all
/// names are distinct.
fn check_names(columns: &[Column]) -> Result<()> {
    for (number, column) in columns.iter().enumerate() {
        if column.name.is_empty() {
            bail!("column {number} has no name; --no-header reads the first line as values");
        }
        if columns.iter().take(number).any(|other| other.name == column.name) {
            bail!("two columns have the name `{}`", column.name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str]) -> Column {
        let mut column = Column::new("c".into(), None);
        values.iter().for_each(|value| column.see(value));
        column
    }

    #[test]
    fn columns_take_the_type_of_all_values() {
        for (values, expected, nulls) in [
            (&["1", "2"][..], TypeName::I64, Nulls::Absent),
            (&["1", "2.5"], TypeName::F64, Nulls::Absent),
            (&["1", "x"], TypeName::Str, Nulls::Absent),
            (&["true", "false"], TypeName::Bool, Nulls::Absent),
            (&["true", "1"], TypeName::Str, Nulls::Absent),
            (&["1.5", ""], TypeName::F64, Nulls::Nan),
            (&["1.5", "nan", ""], TypeName::F64, Nulls::Mask),
            (&["1", ""], TypeName::I64, Nulls::Mask),
            (&["true", ""], TypeName::Bool, Nulls::Mask),
            (&["x", ""], TypeName::Str, Nulls::Absent),
            (&["", ""], TypeName::Str, Nulls::Absent),
            (&["18446744073709551615", "1"], TypeName::U64, Nulls::Absent),
            (&["18446744073709551615", "-1"], TypeName::Str, Nulls::Absent),
            (&["18446744073709551616"], TypeName::F64, Nulls::Absent),
            (&["18446744073709551617"], TypeName::Str, Nulls::Absent),
            (&["9007199254740993", "0.5"], TypeName::Str, Nulls::Absent),
            (&["1e400"], TypeName::Str, Nulls::Absent),
            (&["-inf", "1"], TypeName::F64, Nulls::Absent),
            (&["007", "1"], TypeName::Str, Nulls::Absent),
            (&[" 1", "2 "], TypeName::I64, Nulls::Absent),
        ] {
            let column = column(values);
            assert_eq!((column.kind(), column.nulls()), (expected, nulls), "{values:?}");
        }
    }

    #[test]
    fn numbers_that_no_type_represents_are_named() {
        assert!(column(&["18446744073709551615", "-1"]).is_inexact());
        assert!(!column(&["x", "1"]).is_inexact());
        assert!(!column(&["1", "2"]).is_inexact());
    }
}
