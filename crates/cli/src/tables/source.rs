//! The objects that are exported as a table: a dataset, or the members of a group.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray};
use arrow_schema::{Field, Schema, SchemaRef};
use hyperslab::{Attribute, Column, Dataset, File, Group, IxDyn, Object, ObjectKind, Region, Selection};
use hyperslab_exact::{product, sum, to_usize};

use super::arrays::{array, field, fields, lists};
use super::{ExportOptions, categories};
use crate::formats::nulls;
use crate::values::paths::Paths;

/// The attribute that states the encoding of an AnnData group.
const ENCODING: &str = "encoding-type";

/// A table to export: datasets of the same length as columns.
pub(super) struct Table {
    columns: Vec<(String, Source)>,
    rows: u64,
    row_bytes: u64,
    /// The names of the columns with a mask.
    masked: Vec<String>,
    /// The categories of members of a compound.
    categories: Vec<(String, ArrayRef)>,
    paths: Paths,
    options: ExportOptions,
    /// The members of the group that are no columns, with the reasons.
    unsupported: Vec<(String, String)>,
}

/// The datasets from which the export reads one table column.
enum Source {
    Plain(Dataset),
    /// Values, and a mask that is true where a value is missing.
    Masked(Dataset, Dataset),
    /// The numbers of categories, and the categories. A negative number is a missing value.
    Categories(Dataset, ArrayRef),
}

impl Source {
    /// Returns the dataset with the values of an exported table column, or with its category
    /// numbers. The dataset has an element for each row.
    fn values(&self) -> &Dataset {
        match self {
            Self::Plain(values) | Self::Masked(values, _) | Self::Categories(values, _) => values,
        }
    }
}

impl Table {
    /// Returns the table of a dataset or of a group.
    pub(super) fn of(file: &File, object: Object, options: ExportOptions) -> Result<Self> {
        let name =
            object.name().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("values").to_owned();
        let mut table = Self {
            columns: Vec::new(),
            rows: 0,
            row_bytes: 0,
            masked: Vec::new(),
            categories: Vec::new(),
            paths: Paths::new(file),
            options,
            unsupported: Vec::new(),
        };
        match object.kind() {
            Some(ObjectKind::Dataset) => {
                let dataset = object.into_dataset()?;
                table.masked = strings(dataset.attributes()?, nulls::ATTRIBUTE)?;
                table.categories = categories::of_records(file, &dataset, &table.paths)?;
                table.columns.push((name, Source::Plain(dataset)));
            }
            Some(ObjectKind::Group) => {
                let group = object.into_group()?;
                table.masked = strings(group.attributes()?, nulls::ATTRIBUTE)?;
                for name in ordered(&group)? {
                    match source(file, &group, &name, &table.paths)? {
                        Ok(source) => table.columns.push((name, source)),
                        Err(reason) => table.unsupported.push((name, reason)),
                    }
                }
            }
            _ => bail!("`{}` is neither a dataset nor a group", object.name()),
        }
        check_supported(&table.unsupported, options.skip)?;
        table.measured()
    }

    /// Measures the exported table: sets the number of rows and the size of a row. Returns an error
    /// if columns differ in length.
    fn measured(mut self) -> Result<Self> {
        let rows = |source: &Source| source.values().dataspace().dims().first().copied().unwrap_or(1);
        let Some(first) = self.columns.first().map(|(_, source)| rows(source)) else {
            bail!("the group has no datasets to export as columns");
        };
        if let Some((name, other)) = self.columns.iter().find(|(_, source)| rows(source) != first) {
            bail!(
                "all columns of a table must have the same length: `{name}` has {} rows, but the first \
                 column has {first}",
                rows(other)
            );
        }
        self.rows = first;
        for (_, source) in &self.columns {
            let values = source.values();
            let space = values.dataspace();
            let inner = space.dims().iter().copied().skip(1);
            let bytes = product("size of a row", inner.chain([values.datatype().size.into()]))?;
            self.row_bytes = sum("size of a row", [self.row_bytes, bytes])?;
        }
        Ok(self)
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the size in bytes of a row of the exported table in the HDF5 file.
    pub(super) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Returns the schema of the exported columns, and for each column a flag that is true if the
    /// format supports it. If a column is unsupported, returns an error unless the options skip
    /// such columns. Reads no rows.
    pub(super) fn schema(&self) -> Result<(SchemaRef, Vec<bool>)> {
        let mut unsupported = self.unsupported.clone();
        let (mut fields, mut held) = (Vec::new(), Vec::new());
        for (field, _) in self.read_columns(0, 0)? {
            let is_held = self.options.kind.holds(field.data_type());
            held.push(is_held);
            if is_held {
                fields.push(field);
            } else {
                let reason = format!("elements of the type {}", field.data_type());
                unsupported.push((field.name().clone(), reason));
            }
        }
        check_supported(&unsupported, self.options.skip)?;
        if fields.is_empty() {
            bail!("the group has no datasets to export as columns");
        }
        Ok((Arc::new(Schema::new(fields)), held))
    }

    /// Reads a range of rows of the exported table, column by column.
    pub(super) fn read(&self, start: u64, count: u64) -> Result<Vec<ArrayRef>> {
        Ok(self.read_columns(start, count)?.into_iter().map(|(_, array)| array).collect())
    }

    fn read_columns(&self, start: u64, count: u64) -> Result<Vec<(Field, ArrayRef)>> {
        let mut all = Vec::new();
        for (name, source) in &self.columns {
            let column = read(source.values(), start, count)?;
            let mut columns = self.columns_of(name, source.values(), column, to_usize(count)?)?;
            if let Some((_, array)) = columns.first_mut() {
                match source {
                    Source::Plain(_) => {}
                    Source::Masked(_, mask) => {
                        let mask = read(mask, start, count)?;
                        *array = without_masked(array, &booleans(mask)?)?;
                    }
                    Source::Categories(_, categories) => *array = categorized(array, categories)?,
                }
            }
            all.extend(columns.into_iter().map(|(renamed, array)| (field(renamed.name(), &array), array)));
        }
        for (name, categories) in &self.categories {
            if let Some((named, array)) = all.iter_mut().find(|(field, _)| field.name() == name) {
                *array = categorized(array, categories)?;
                *named = field(name, array);
            }
        }
        self.apply_masks(all)
    }

    /// Replaces each value of the exported table by null if its mask is true, and removes the mask
    /// columns.
    fn apply_masks(&self, mut columns: Vec<(Field, ArrayRef)>) -> Result<Vec<(Field, ArrayRef)>> {
        for name in &self.masked {
            let mask = nulls::mask_of(name);
            let column = |name: &str| columns.iter().position(|(field, _)| field.name() == name);
            let Some(values) = column(name) else { continue };
            let Some(at) = column(&mask) else {
                bail!(
                    "the attribute `{}` names the column `{name}`, which has no mask `{mask}`",
                    nulls::ATTRIBUTE
                );
            };
            let is_mask = columns.get(at).is_some_and(|(_, array)| array.as_boolean_opt().is_some());
            if !is_mask {
                bail!("the mask `{mask}` does not have truth values");
            }
            let (_, mask) = columns.remove(at);
            let values = if values > at { values - 1 } else { values };
            let (_, array) = columns.get_mut(values).context("a column is missing")?;
            *array = without_masked(array, mask.as_boolean())?;
        }
        Ok(columns)
    }

    /// Returns the table columns for a dataset: one for each member of its compound elements, or a
    /// single column.
    fn columns_of(
        &self,
        name: &str,
        dataset: &Dataset,
        column: Column,
        count: usize,
    ) -> Result<Vec<(Field, ArrayRef)>> {
        let space = dataset.dataspace();
        let rest = space.dims().get(1..).unwrap_or(&[]);
        if let (Column::Compound(_), [], [_]) = (&column, rest, self.columns.as_slice()) {
            let Column::Compound(members) = column else {
                bail!("the only column of the table is not a compound: it has no members")
            };
            let (fields, arrays) = fields(members, &self.paths)?;
            return Ok(fields.iter().map(|field| field.as_ref().clone()).zip(arrays).collect());
        }
        let shape: Vec<usize> = rest.iter().map(|size| to_usize(*size)).collect::<Result<_, _>>()?;
        let array = lists(array(column, &self.paths)?, &shape, count)?;
        Ok(vec![(field(name, &array), array)])
    }
}

/// Returns an error if some members of the exported group cannot become columns, unless the options
/// skip such members.
fn check_supported(unsupported: &[(String, String)], skip: bool) -> Result<()> {
    if unsupported.is_empty() || skip {
        return Ok(());
    }
    let named: Vec<String> =
        unsupported.iter().map(|(name, reason)| format!("`{name}` ({reason})")).collect();
    bail!(
        "these members of the group cannot become columns: {}; --skip-unsupported omits them",
        named.join(", ")
    )
}

/// Reads a range of rows of a dataset as an Arrow array.
fn read(dataset: &Dataset, start: u64, count: u64) -> Result<Column> {
    let mut dims = dataset.dataspace().dims().to_vec();
    let selection = match dims.first_mut() {
        None => Selection::All,
        Some(_) if count == 0 => Selection::None,
        Some(rows) => {
            *rows = count;
            let mut first = vec![0; dims.len()];
            first.first_mut().into_iter().for_each(|first| *first = start);
            Selection::region(&Region::new(&first, &dims)?)
        }
    };
    Ok(dataset.read_stored(&selection)?.column()?)
}

/// Returns the names of a group's members. The index and the columns come first, in the order that
/// pandas and AnnData store. The remaining members follow.
fn ordered(group: &Group) -> Result<Vec<String>> {
    let members = group.member_names()?;
    let mut names = strings(group.attributes()?, "_index")?;
    names.extend(strings(group.attributes()?, "column-order")?);
    names.retain(|name| members.contains(name));
    let members = members.into_iter().filter(|member| member != categories::GROUP);
    for member in members {
        if !names.contains(&member) {
            names.push(member);
        }
    }
    Ok(names)
}

/// Returns the texts of an attribute. Returns an empty list if the attribute does not exist or is
/// not text.
pub(super) fn strings(attributes: Vec<Attribute>, name: &str) -> Result<Vec<String>> {
    let Some(attribute) = attributes.into_iter().find(|attribute| attribute.name() == name) else {
        return Ok(Vec::new());
    };
    let is_text = attribute.datatype()?.is_string();
    if !is_text {
        return Ok(Vec::new());
    }
    Ok(attribute.read_strings::<IxDyn>()?.into_iter().collect())
}

/// Returns a member of a group as a table column, or the reason why the member cannot be a column.
fn source(file: &File, group: &Group, name: &str, paths: &Paths) -> Result<Result<Source, String>> {
    let object = group.object(name)?;
    match object.kind() {
        Some(ObjectKind::Dataset) => {
            let dataset = object.into_dataset()?;
            Ok(Ok(
                match categories::of_column(file, &dataset, paths).with_context(|| format!("`{name}`"))? {
                    Some(categories) => Source::Categories(dataset, categories),
                    None => Source::Plain(dataset),
                },
            ))
        }
        Some(ObjectKind::Group) => encoded(&object.into_group()?, paths),
        _ => Ok(Err("neither a dataset nor a group".into())),
    }
}

/// Returns a group that has an AnnData encoding as a table column.
fn encoded(group: &Group, paths: &Paths) -> Result<Result<Source, String>> {
    let encoding = strings(group.attributes()?, ENCODING)?.into_iter().next();
    Ok(match encoding.as_deref() {
        Some("categorical") => {
            let categories = group.dataset("categories")?.read_stored(&Selection::All)?.column()?;
            Ok(Source::Categories(group.dataset("codes")?, array(categories, paths)?))
        }
        Some("nullable-integer" | "nullable-boolean" | "nullable-string-array") => {
            Ok(Source::Masked(group.dataset("values")?, group.dataset("mask")?))
        }
        Some(other) => Err(format!("a group with the encoding `{other}`")),
        None => Err("a group".into()),
    })
}

fn booleans(column: Column) -> Result<BooleanArray> {
    match column {
        Column::Bool(values) => Ok(BooleanArray::from(values)),
        _ => bail!("a mask does not have truth values"),
    }
}

/// Returns an array in which null replaces each value whose mask is true.
fn without_masked(values: &ArrayRef, mask: &BooleanArray) -> Result<ArrayRef> {
    Ok(arrow_select::nullif::nullif(values, mask)?)
}

/// Returns a dictionary array of Arrow, which maps category numbers to categories.
fn categorized(numbers: &ArrayRef, categories: &ArrayRef) -> Result<ArrayRef> {
    use arrow_array::types::{Int8Type, Int16Type, Int64Type};
    use arrow_schema::DataType;
    let wide: Vec<i64> = match numbers.data_type() {
        DataType::Int8 => {
            numbers.as_primitive::<Int8Type>().values().iter().map(|code| (*code).into()).collect()
        }
        DataType::Int16 => {
            numbers.as_primitive::<Int16Type>().values().iter().map(|code| (*code).into()).collect()
        }
        DataType::Int32 => {
            numbers.as_primitive::<Int32Type>().values().iter().map(|code| (*code).into()).collect()
        }
        DataType::Int64 => numbers.as_primitive::<Int64Type>().values().to_vec(),
        other => bail!("the numbers of categories have the type {other}"),
    };
    let key = |code: i64| -> Result<Option<i32>> {
        // Negative numbers are missing values.
        if code < 0 { Ok(None) } else { Ok(Some(i32::try_from(code)?)) }
    };
    let keys: PrimitiveArray<Int32Type> = wide.into_iter().map(key).collect::<Result<_>>()?;
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(categories))?))
}
