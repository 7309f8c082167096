//! The export of datasets as tables: each member of a compound, or each dataset of a group, is a
//! column.

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use hyperslab::{Column, Dataset, File, Object, ObjectKind, Region, Selection};
use hyperslab_exact::{product, sum, to_usize};

use super::Kind;
use super::arrays::{array, field, fields, lists};
use crate::interrupted::new_file_for;
use crate::values::paths::Paths;

/// The size of a batch of rows, in bytes, unless a single row is larger.
const BATCH_BYTES: u64 = 16 << 20;

/// Writes an object as a table.
pub(crate) fn export(file: &File, object: Object, out: &Path, kind: Kind) -> Result<()> {
    let table = Table::of(file, object)?;
    let schema = table.schema()?;
    // The file appears complete or not at all.
    let made = new_file_for(out, "")?;
    let mut writer = kind.writer(BufWriter::new(made.reopen()?), &schema)?;
    let batch_rows = (BATCH_BYTES / table.row_bytes.max(1)).max(1);
    let mut start = 0;
    while start < table.rows {
        let count = batch_rows.min(table.rows - start);
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), table.read(start, count)?)?)?;
        start += count;
    }
    writer.finish()?;
    made.persist(out).with_context(|| format!("cannot write `{}`", out.display()))?;
    Ok(())
}

/// Datasets of the same length.
struct Table {
    datasets: Vec<(String, Dataset)>,
    rows: u64,
    row_bytes: u64,
    paths: Paths,
}

impl Table {
    fn of(file: &File, object: Object) -> Result<Self> {
        let name =
            object.name().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("values").to_owned();
        let mut datasets = Vec::new();
        match object.kind() {
            Some(ObjectKind::Dataset) => datasets.push((name, object.into_dataset()?)),
            Some(ObjectKind::Group) => {
                let group = object.into_group()?;
                for name in group.member_names()? {
                    let object = group.object(&name)?;
                    if object.kind() == Some(ObjectKind::Dataset) {
                        datasets.push((name, object.into_dataset()?));
                    }
                }
            }
            _ => bail!("`{}` is neither a dataset nor a group", object.name()),
        }
        let rows = |dataset: &Dataset| dataset.dataspace().dims().first().copied().unwrap_or(1);
        let Some(first) = datasets.first().map(|(_, dataset)| rows(dataset)) else {
            bail!("the group has no datasets to export as columns");
        };
        if let Some((name, other)) = datasets.iter().find(|(_, dataset)| rows(dataset) != first) {
            bail!(
                "the columns of a table must have the same length: `{name}` has {} rows, the first column has {first}",
                rows(other)
            );
        }
        let mut row_bytes = 0_u64;
        for (_, dataset) in &datasets {
            let space = dataset.dataspace();
            let inner = space.dims().iter().copied().skip(1);
            let bytes = product("size of a row", inner.chain([dataset.datatype().size.into()]))?;
            row_bytes = sum("size of a row", [row_bytes, bytes])?;
        }
        Ok(Self { datasets, rows: first, row_bytes, paths: Paths::new(file) })
    }

    /// Returns the schema, from a read of no rows.
    fn schema(&self) -> Result<SchemaRef> {
        let mut all = Vec::new();
        for (name, dataset) in &self.datasets {
            let stored = dataset.read_stored(&Selection::None)?;
            all.extend(self.columns(name, dataset, stored.column()?, 0)?.into_iter().map(|(field, _)| field));
        }
        Ok(Arc::new(Schema::new(all)))
    }

    /// Reads rows, column by column.
    fn read(&self, start: u64, count: u64) -> Result<Vec<ArrayRef>> {
        let mut all = Vec::new();
        for (name, dataset) in &self.datasets {
            let mut dims = dataset.dataspace().dims().to_vec();
            let selection = match dims.first_mut() {
                None => Selection::All,
                Some(rows) => {
                    *rows = count;
                    let mut first = vec![0; dims.len()];
                    first.first_mut().into_iter().for_each(|first| *first = start);
                    Selection::region(&Region::new(&first, &dims)?)
                }
            };
            let column = dataset.read_stored(&selection)?.column()?;
            let columns = self.columns(name, dataset, column, to_usize(count)?)?;
            all.extend(columns.into_iter().map(|(_, array)| array));
        }
        Ok(all)
    }

    /// Returns the columns of a dataset: the members of its records, or one column.
    fn columns(
        &self,
        name: &str,
        dataset: &Dataset,
        column: Column,
        count: usize,
    ) -> Result<Vec<(Field, ArrayRef)>> {
        let space = dataset.dataspace();
        let rest = space.dims().get(1..).unwrap_or(&[]);
        if let (Column::Compound(_), [], [_]) = (&column, rest, self.datasets.as_slice()) {
            let Column::Compound(members) = column else { bail!("the column is not a compound") };
            let (fields, arrays) = fields(members, &self.paths)?;
            return Ok(fields.iter().map(|field| field.as_ref().clone()).zip(arrays).collect());
        }
        let shape: Vec<usize> = rest.iter().map(|size| to_usize(*size)).collect::<Result<_, _>>()?;
        let array = lists(array(column, &self.paths)?, &shape, count)?;
        Ok(vec![(field(name, &array), array)])
    }
}
