//! The import of tables as data frames in the format of AnnData, which pandas users read with
//! `anndata.io.read_elem`.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use hyperslab::datatype::{ByteOrder, DatatypeClass};
use hyperslab::{CharacterSet, Dataset, Datatype, Group, Region, Scalar, Selection};
use hyperslab_exact::{sum, to_u64};

use super::elements::{elements, texts};
use super::import::{Import, cut, missing};
use super::types::{Element, units};
use crate::formats::new_object::NewObject;
use crate::formats::nulls::Nulls;
use crate::formats::storage::Storage;

/// The name of the column in which pandas stores an unnamed index.
const PANDAS_INDEX: &str = "__index_level_0__";
/// The name of an unnamed index in AnnData.
const INDEX: &str = "_index";

/// The number of rows of a generated data frame index that the program writes at once.
const INDEX_ROWS: u64 = 1 << 16;

/// A column of a data frame with its datasets.
enum Part {
    /// Values, and their mask.
    Values(Dataset, Option<Dataset>),
    Categories(Dataset, HashMap<String, i64>),
}

/// Creates a data frame of AnnData from a table.
pub(crate) fn import(table: &Import, new: &NewObject<'_>, storage: &Storage<'_>) -> Result<()> {
    let frame = new.group()?;
    encode(&frame, "dataframe", "0.2.0")?;
    let names: Vec<&str> = table.members.iter().map(|(name, _)| name.as_str()).collect();
    let index = names.iter().copied().find(|name| [INDEX, PANDAS_INDEX].contains(name));
    let order: Vec<&str> = names.iter().copied().filter(|name| Some(*name) != index).collect();
    frame.set_attribute("column-order", &order)?;
    frame.set_attribute("_index", INDEX)?;
    if index.is_none() {
        numbered(&frame, table.rows, storage)?;
    }
    let categories = categories(table)?;
    let maker = Maker { frame: &frame, table, storage, offsets: new.file.info().size_of_offsets };
    let parts = (0..table.members.len()).map(|number| maker.part(number, index, &categories));
    let parts = parts.collect::<Result<Vec<Part>>>()?;
    let mut start = 0_u64;
    for batch in table.opened()?.batches {
        for batch in cut(&batch?) {
            let region = Region::new(&[start], &[to_u64(batch.num_rows())])?;
            write(table, &parts, &batch, &Selection::region(&region))?;
            start = sum("number of rows", [start, to_u64(batch.num_rows())])?;
        }
    }
    if start != table.rows {
        bail!("the table changed during the import: it had {} rows, and now has {start}", table.rows);
    }
    Ok(())
}

/// Sets the attributes that state the AnnData encoding of an object.
fn encode(object: &hyperslab::Object, encoding: &str, version: &str) -> Result<()> {
    object.set_attribute("encoding-type", encoding)?;
    Ok(object.set_attribute("encoding-version", version)?)
}

/// Creates an index column of row numbers, as AnnData does for a table without an index.
fn numbered(frame: &Group, rows: u64, storage: &Storage<'_>) -> Result<()> {
    let builder = frame.new_dataset(INDEX).datatype(Datatype::variable_string(CharacterSet::Utf8, 8));
    let dataset = storage.apply(builder.shape(&[rows]), 1)?.create()?;
    encode(&dataset, "string-array", "0.2.0")?;
    let mut start = 0;
    while start < rows {
        let count = INDEX_ROWS.min(rows - start);
        let texts: Vec<String> = (start..start + count).map(|row| row.to_string()).collect();
        dataset.write_strings(&Region::new(&[start], &[count])?, &texts)?;
        start += count;
    }
    Ok(())
}

/// Returns the distinct values of each dictionary column, in the order of their first appearance,
/// and `None` for each other column.
fn categories(table: &Import) -> Result<Vec<Option<Vec<String>>>> {
    let is_category = |data: &DataType| matches!(data, DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View));
    let mut all: Vec<Option<Vec<String>>> = Vec::new();
    for field in table.schema.fields() {
        all.push(is_category(field.data_type()).then(Vec::new));
    }
    if all.iter().all(Option::is_none) {
        return Ok(all);
    }
    let mut known: Vec<HashSet<String>> = vec![HashSet::new(); all.len()];
    for batch in table.opened()?.batches {
        let batch = batch?;
        for ((found, known), column) in all.iter_mut().zip(&mut known).zip(batch.columns()) {
            let Some(found) = found else { continue };
            for text in texts(column.as_any_dictionary().values(), &Nulls::Mask)? {
                if known.insert(text.to_owned()) {
                    found.push(text.to_owned());
                }
            }
        }
    }
    Ok(all)
}

/// A builder of the columns of an imported data frame.
struct Maker<'a> {
    frame: &'a Group,
    table: &'a Import,
    storage: &'a Storage<'a>,
    offsets: u8,
}

impl Maker<'_> {
    fn dataset(&self, group: &Group, name: &str, datatype: Datatype, encoding: &str) -> Result<Dataset> {
        let builder = group.new_dataset(name).datatype(datatype).shape(&[self.table.rows]);
        let dataset = self.storage.apply(builder, 1)?.create()?;
        encode(&dataset, encoding, "0.2.0")?;
        Ok(dataset)
    }

    /// Creates the datasets of the data frame column with the given number.
    fn part(&self, number: usize, index: Option<&str>, categories: &[Option<Vec<String>>]) -> Result<Part> {
        let ((name, element), nulls) = self
            .table
            .members
            .get(number)
            .zip(self.table.nulls.get(number))
            .context("a column is missing")?;
        let stored_name =
            if Some(name.as_str()) == index { INDEX.to_owned() } else { name.replace('/', "_") };
        let field = self.table.schema.fields().get(number).context("a column is missing")?;
        if let Some(Some(categories)) = categories.get(number) {
            let is_ordered = field.dict_is_ordered() == Some(true);
            return self.categories(&stored_name, categories, is_ordered);
        }
        let datatype = element.stored(self.offsets)?;
        let encoding = if *element == Element::Text { "string-array" } else { "array" };
        let values = if *nulls == Nulls::Mask {
            let kind = match element {
                Element::Bool => "nullable-boolean",
                Element::Text => "nullable-string-array",
                Element::Plain(datatype) if matches!(datatype.class, DatatypeClass::FixedPoint(_)) => {
                    "nullable-integer"
                }
                _ => bail!(
                    "values of the column `{name}` are missing, and AnnData has no encoding for missing \
                     values of this type"
                ),
            };
            let group = self.frame.create_group(&stored_name)?;
            encode(&group, kind, "0.1.0")?;
            let values = self.dataset(&group, "values", datatype, encoding)?;
            Part::Values(values, Some(self.dataset(&group, "mask", Datatype::bool(), "array")?))
        } else {
            if element.has_lists() {
                bail!("the column `{name}` has lists, and AnnData has no encoding for lists");
            }
            Part::Values(self.dataset(self.frame, &stored_name, datatype, encoding)?, None)
        };
        if let (Part::Values(dataset, _), Some(units)) = (&values, units(field.data_type())) {
            dataset.set_attribute("units", units.as_str())?;
        }
        Ok(values)
    }

    fn categories(&self, name: &str, categories: &[String], is_ordered: bool) -> Result<Part> {
        let group = self.frame.create_group(name)?;
        encode(&group, "categorical", "0.2.0")?;
        group.set_attribute("ordered", Scalar(is_ordered))?;
        let order = ByteOrder::LittleEndian;
        let datatype = match categories.len() {
            0..=0x7f => Datatype::i8(),
            0x80..=0x7fff => Datatype::i16(order),
            _ => Datatype::i32(order),
        };
        let codes = self.dataset(&group, "codes", datatype, "array")?;
        let texts = group.new_dataset("categories").write_strings(categories)?;
        encode(&texts, "string-array", "0.2.0")?;
        let numbers = categories.iter().zip(0_i64..).map(|(text, number)| (text.clone(), number)).collect();
        Ok(Part::Categories(codes, numbers))
    }
}

/// Writes a batch of rows to the columns of the data frame.
fn write(table: &Import, parts: &[Part], batch: &RecordBatch, rows: &Selection) -> Result<()> {
    let columns = table.members.iter().zip(&table.nulls).zip(batch.columns()).zip(parts);
    for ((((name, element), nulls), column), part) in columns {
        match part {
            Part::Values(values, mask) => {
                let found = elements(element, column, nulls).with_context(|| format!("column `{name}`"))?;
                values.write_bytes(rows, &found.datatype, &found.bytes)?;
                if let Some(mask) = mask {
                    mask.write_stored(rows, &missing(column))?;
                }
            }
            Part::Categories(codes, numbers) => {
                codes.write(rows, &numbers_of(column, numbers)?)?;
            }
        }
    }
    Ok(())
}

/// Returns the category number of each row of a dictionary column. The number of a missing value is
/// -1.
fn numbers_of(column: &ArrayRef, numbers: &HashMap<String, i64>) -> Result<Vec<i64>> {
    let dictionary = column.as_any_dictionary();
    let names = texts(dictionary.values(), &Nulls::Mask)?;
    let keys = dictionary.normalized_keys();
    let missing = column.logical_nulls();
    let mut found = Vec::with_capacity(keys.len());
    for (row, key) in keys.into_iter().enumerate() {
        if missing.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            found.push(-1);
            continue;
        }
        let name = names.get(key).context("a category number exceeds the number of categories")?;
        found.push(*numbers.get(*name).context("the table changed while it was read")?);
    }
    Ok(found)
}
