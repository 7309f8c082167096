//! The reader of comma-separated values (RFC 4180). It reads a file twice: once for the types of
//! the columns, once for the values.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::{Datatype, File, Region};
use hyperslab_exact::{to_u64, to_usize};

use crate::formats::record::packed;
use crate::formats::storage::Storage;
use crate::typed::{TypeName, elements, guess_of, memory_text, stored_text};

/// The number of records in a batch.
const BATCH_RECORDS: usize = 8192;

/// The largest size of a record, in bytes.
const MAX_RECORD_BYTES: usize = 64 << 20;

/// The error for a file with other records in the second pass.
const CHANGED: &str = "the file changed while it was read";

/// A table with known columns.
#[derive(Debug)]
pub(crate) struct Table {
    path: PathBuf,
    delimiter: char,
    header: bool,
    columns: Vec<Column>,
    records: u64,
}

/// A column: its name and its type.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    /// The type of the values so far. `None` before the first value.
    kind: Option<TypeName>,
}

impl Column {
    /// Returns the datatype in the file.
    fn datatype(&self, file: &File) -> Result<Datatype> {
        match self.kind() {
            TypeName::Str => Ok(stored_text(file)),
            kind => Ok(elements::<&str>(kind, &[])?.0),
        }
    }

    fn kind(&self) -> TypeName {
        self.kind.unwrap_or(TypeName::Str)
    }

    fn see(&mut self, value: &str) {
        let kind = guess_of(value);
        self.kind = Some(self.kind.map_or(kind, |before| both(before, kind)));
    }

    /// Returns the datatype of values in memory.
    fn in_memory<'v>(&self, values: impl Iterator<Item = &'v str>) -> Result<Datatype> {
        match self.kind() {
            TypeName::Str => memory_text(values.map(str::len).max().unwrap_or(0).max(1)),
            kind => Ok(elements::<&str>(kind, &[])?.0),
        }
    }

    /// Appends a value as an element in memory.
    fn element(&self, datatype: &Datatype, value: &str, to: &mut Vec<u8>) -> Result<()> {
        if self.kind() == TypeName::Str {
            let padding = to_usize(datatype.size.into())?.checked_sub(value.len());
            to.extend(value.as_bytes());
            to.extend(std::iter::repeat_n(0, padding.context("a text is longer than its datatype")?));
        } else {
            to.extend(elements(self.kind(), &[value])?.1);
        }
        Ok(())
    }
}

/// Returns the compound with a member for each column.
fn compound(columns: &[Column], datatypes: impl Iterator<Item = Result<Datatype>>) -> Result<Datatype> {
    packed(columns.iter().zip(datatypes).map(|(column, datatype)| Ok((column.name.as_str(), datatype?))))
}

/// Returns a field. [`Table::each_batch`] has checked the number of fields.
fn field(record: &[String], number: usize) -> &str {
    record.get(number).map_or("", String::as_str)
}

/// Returns the type that can represent the values of both types.
fn both(one: TypeName, other: TypeName) -> TypeName {
    use TypeName::{F64, I64, Str, U64};
    match (one, other) {
        _ if one == other => one,
        (I64 | U64 | F64, I64 | U64 | F64) => F64,
        _ => Str,
    }
}

impl Table {
    pub(crate) fn open(path: &Path, delimiter: char, header: bool) -> Result<Self> {
        let mut records = Records::open(path, delimiter)?;
        let mut fields = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        let new = |name| Column { name, kind: None };
        if header {
            if !records.next(&mut fields)? {
                bail!("the file is empty: the line of column names is missing");
            }
            columns = fields.iter().cloned().map(new).collect();
            for (number, column) in columns.iter().enumerate() {
                if column.name.is_empty() {
                    bail!("column {number} has no name; --no-header reads the first line as values");
                }
                if columns.iter().take(number).any(|other| other.name == column.name) {
                    bail!("two columns have the name `{}`", column.name);
                }
            }
        }
        let mut count = 0_u64;
        while records.next(&mut fields)? {
            if columns.is_empty() {
                columns = (0..fields.len()).map(|number| new(format!("column{number}"))).collect();
            }
            if fields.len() != columns.len() {
                bail!("line {}: {} fields for {} columns", records.line, fields.len(), columns.len());
            }
            columns.iter_mut().zip(&fields).for_each(|(column, value)| column.see(value));
            count += 1;
        }
        let (path, records) = (path.to_owned(), count);
        Ok(Self { path, delimiter, header, columns, records })
    }

    /// Writes a dataset of compounds with a member for each column. If the columns have no names
    /// and all values are numbers, writes an array of two dimensions.
    pub(crate) fn write(&self, file: &File, path: &str, storage: &Storage<'_>) -> Result<()> {
        let first = self.columns.first().context("there are no columns")?;
        let same = self.columns.iter().try_fold(first.kind(), |kind, column| {
            Some(both(kind, column.kind())).filter(|kind| *kind != TypeName::Str)
        });
        if let (false, Some(kind)) = (self.header, same) {
            return self.write_matrix(file, path, storage, kind);
        }
        let datatype = compound(&self.columns, self.columns.iter().map(|column| column.datatype(file)))?;
        let builder = file.new_dataset(path).datatype(datatype).shape(&[self.records]);
        let dataset = storage.apply(builder, 1)?.create()?;
        self.each_batch(|start, records| {
            let columns = || self.columns.iter().enumerate();
            let values = |number| records.iter().map(move |record| field(record, number));
            let types = columns().map(|(number, column)| column.in_memory(values(number)));
            let types = types.collect::<Result<Vec<Datatype>>>()?;
            let mut bytes = Vec::new();
            for record in records {
                for ((number, column), datatype) in columns().zip(&types) {
                    column.element(datatype, field(record, number), &mut bytes)?;
                }
            }
            let memory = compound(&self.columns, types.into_iter().map(Ok))?;
            let region = Region::new(&[start], &[records.len() as u64])?;
            Ok(dataset.write_bytes(&region, &memory, &bytes)?)
        })
    }

    fn write_matrix(&self, file: &File, path: &str, storage: &Storage<'_>, kind: TypeName) -> Result<()> {
        let width = self.columns.len() as u64;
        let (datatype, _) = elements::<&str>(kind, &[])?;
        let builder = file.new_dataset(path).datatype(datatype.clone()).shape(&[self.records, width]);
        let dataset = storage.apply(builder, 2)?.create()?;
        let whole = Column { name: String::new(), kind: Some(kind) };
        self.each_batch(|start, records| {
            let mut bytes = Vec::new();
            records.iter().flatten().try_for_each(|value| whole.element(&datatype, value, &mut bytes))?;
            let region = Region::new(&[start, 0], &[records.len() as u64, width])?;
            Ok(dataset.write_stored(&region, &bytes)?)
        })
    }

    /// Writes a group with a dataset for each column.
    pub(crate) fn write_columns(&self, file: &File, path: &str, storage: &Storage<'_>) -> Result<()> {
        let group = file.create_group(path)?;
        let mut datasets = Vec::new();
        for column in &self.columns {
            let name = column.name.replace('/', "_");
            let builder = group.new_dataset(&name).datatype(column.datatype(file)?).shape(&[self.records]);
            datasets.push(storage.apply(builder, 1)?.create()?);
        }
        self.each_batch(|start, records| {
            let region = Region::new(&[start], &[records.len() as u64])?;
            for (number, (column, dataset)) in self.columns.iter().zip(&datasets).enumerate() {
                let values = || records.iter().map(|record| field(record, number));
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

    /// Calls `visit` with batches of records and the number of the first record of each batch.
    fn each_batch(&self, mut visit: impl FnMut(u64, &[Vec<String>]) -> Result<()>) -> Result<()> {
        let mut records = Records::open(&self.path, self.delimiter)?;
        let mut fields = Vec::new();
        if self.header {
            records.next(&mut fields)?;
        }
        let mut start = 0_u64;
        let mut batch = Vec::new();
        loop {
            let more = records.next(&mut fields)?;
            if more {
                if fields.len() != self.columns.len() {
                    bail!("{CHANGED}");
                }
                batch.push(std::mem::take(&mut fields));
            }
            if batch.len() >= BATCH_RECORDS || (!more && !batch.is_empty()) {
                visit(start, &batch)?;
                start += to_u64(batch.len());
                batch.clear();
            }
            if !more && start != self.records {
                bail!("{CHANGED}");
            }
            if !more {
                return Ok(());
            }
        }
    }
}

/// A reader of the records of a file.
struct Records<R> {
    input: R,
    delimiter: char,
    /// The number of lines that were read.
    line: u64,
}

impl Records<BufReader<fs::File>> {
    fn open(path: &Path, delimiter: char) -> Result<Self> {
        if delimiter == '"' || delimiter == '\n' {
            bail!("`{}` cannot separate fields", delimiter.escape_default());
        }
        Ok(Self { input: BufReader::new(fs::File::open(path)?), delimiter, line: 0 })
    }
}

impl<R: BufRead> Records<R> {
    /// Reads the fields of the next record. Returns false at the end of the file. Skips empty
    /// lines.
    fn next(&mut self, fields: &mut Vec<String>) -> Result<bool> {
        fields.clear();
        let mut text = String::new();
        loop {
            if self.input.read_line(&mut text).with_context(|| format!("line {}", self.line))? == 0 {
                if text.is_empty() {
                    return Ok(false);
                }
                bail!("line {}: a quoted field does not end", self.line);
            }
            self.line += 1;
            if text.len() > MAX_RECORD_BYTES {
                bail!("line {}: the record has more than {MAX_RECORD_BYTES} bytes", self.line);
            }
            if self.line == 1 {
                text = text.trim_start_matches('\u{feff}').to_owned();
            }
            // A quoted field may continue in the next line.
            let ends = text.chars().filter(|character| *character == '"').count().is_multiple_of(2);
            if ends && text.trim_end_matches(['\r', '\n']).is_empty() {
                text.clear();
                continue;
            }
            if ends {
                break;
            }
        }
        let line = text.strip_suffix('\n').unwrap_or(&text);
        self.split(line.strip_suffix('\r').unwrap_or(line), fields)?;
        Ok(true)
    }

    fn split(&self, record: &str, fields: &mut Vec<String>) -> Result<()> {
        let mut field = String::new();
        let (mut quoted, mut was_quoted) = (false, false);
        let mut characters = record.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
                '"' if quoted => quoted = false,
                '"' if field.is_empty() && !was_quoted => (quoted, was_quoted) = (true, true),
                '"' => bail!("line {}: a quotation mark inside a field", self.line),
                other if other == self.delimiter && !quoted => {
                    fields.push(std::mem::take(&mut field));
                    was_quoted = false;
                }
                other => field.push(other),
            }
        }
        fields.push(field);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<Vec<String>>> {
        let mut records = Records { input: text.as_bytes(), delimiter: ',', line: 0 };
        let (mut all, mut fields) = (Vec::new(), Vec::new());
        while records.next(&mut fields)? {
            all.push(fields.clone());
        }
        Ok(all)
    }

    #[test]
    fn records_and_fields() {
        let read = records("a,b\r\n\n\"x, \"\"y\"\"\",\"two\nlines\"\n,\n").unwrap();
        assert_eq!(read, [["a", "b"], ["x, \"y\"", "two\nlines"], ["", ""]]);
        assert_eq!(records("\u{feff}a").unwrap(), [["a"]]);
        assert!(records("\"a").is_err());
        assert!(records("a\"b\"").is_err());
    }

    #[test]
    fn columns_take_the_type_of_all_values() {
        for (values, expected) in [
            (&["1", "2"][..], TypeName::I64),
            (&["1", "2.5"], TypeName::F64),
            (&["1", "x"], TypeName::Str),
            (&["true", "false"], TypeName::Bool),
            (&["true", "1"], TypeName::Str),
            (&["1.5", ""], TypeName::Str),
        ] {
            let mut column = Column { name: String::new(), kind: None };
            values.iter().for_each(|value| column.see(value));
            assert_eq!(column.kind(), expected, "{values:?}");
        }
    }
}
