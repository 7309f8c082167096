//! The writer of sparse matrices to groups: compressed rows in the format of AnnData.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::{Dataset, Group, Region};
use hyperslab_exact::{sum, to_u64};

use crate::entries::{Batch, Element, RowPointers, Sink, index_bytes, index_element};

/// The number of elements of a chunk in a stored matrix without the argument `--chunks`.
const DEFAULT_CHUNK_ELEMENTS: u64 = 1 << 16;

/// The chunk size and the filters for the arrays of a matrix in a group.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// The number of elements of a chunk. `None` is [`DEFAULT_CHUNK_ELEMENTS`].
    pub(crate) chunk: Option<u64>,
    pub(crate) filters: Vec<FilterSpec>,
}

/// A receiver of matrix entries that writes them to a group in compressed rows.
pub(crate) struct Writer<'a> {
    parent: &'a Group,
    path: &'a str,
    stored: Stored,
    folder: PathBuf,
    made: Option<Made>,
}

struct Made {
    group: Group,
    element: Element,
    index: Element,
    data: Grown,
    indices: Grown,
    pointers: RowPointers,
}

impl<'a> Writer<'a> {
    /// Creates a group for a matrix at `path` of `parent`. The group must not exist. Temporary
    /// files go to `folder`.
    pub(crate) fn new(parent: &'a Group, path: &'a str, stored: Stored, folder: PathBuf) -> Self {
        Self { parent, path, stored, folder, made: None }
    }

    fn array(&self, group: &Group, name: &str, element: Element) -> Result<Grown> {
        let builder = group.new_dataset(name).datatype(element.datatype()).shape(&[0]).unlimited();
        let chunk = self.stored.chunk.unwrap_or(DEFAULT_CHUNK_ELEMENTS);
        let filters = self.stored.filters.iter().cloned();
        let dataset = filters.fold(builder.chunks(&[chunk]), hyperslab::DatasetBuilder::filter).create()?;
        Ok(Grown { dataset, element, len: 0 })
    }
}

impl Sink for Writer<'_> {
    fn begin(&mut self, shape: &[u64], element: Element) -> Result<()> {
        let [rows, columns] = *shape else {
            bail!("a matrix in compressed rows must have two dimensions, not {}", shape.len());
        };
        let sizes = [i64::try_from(rows)?, i64::try_from(columns)?];
        let pointers = RowPointers::new(rows, &self.folder)?;
        let group = self.parent.create_group(self.path)?;
        group.set_attribute("encoding-type", "csr_matrix")?;
        group.set_attribute("encoding-version", "0.1.0")?;
        group.set_attribute("shape", sizes)?;
        let index = index_element(columns);
        let data = self.array(&group, "data", element)?;
        let indices = self.array(&group, "indices", index)?;
        self.made = Some(Made { group, element, index, data, indices, pointers });
        Ok(())
    }

    fn put(&mut self, batch: &Batch) -> Result<()> {
        let made = self
            .made
            .as_mut()
            .context("the group of the matrix was not created before its entries were written")?;
        let mut columns = Vec::new();
        for (at, _) in batch.entries(2, made.element.size()) {
            let [row, column] = at else { bail!("an entry of the matrix does not have two coordinates") };
            made.pointers.add(*row)?;
            columns.push(*column);
        }
        made.indices.append(&index_bytes(&columns, made.index)?)?;
        made.data.append(&batch.values)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let mut made = self
            .made
            .take()
            .context("the group of the matrix was not created before its entries were written")?;
        made.pointers.end()?;
        let element = made.pointers.element();
        let mut pointers = self.array(&made.group, "indptr", element)?;
        made.pointers.for_each(element, |bytes| pointers.append(bytes))
    }
}

/// A one-dimensional dataset of a matrix that grows with each write.
struct Grown {
    dataset: Dataset,
    element: Element,
    len: u64,
}

impl Grown {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let count = to_u64(bytes.len() / self.element.size());
        if count == 0 {
            return Ok(());
        }
        let start = self.len;
        self.len = sum("number of entries", [start, count])?;
        self.dataset.resize(&[self.len])?;
        let region = Region::new(&[start], &[count])?;
        Ok(self.dataset.write_bytes(&region, &self.element.datatype(), bytes)?)
    }
}
