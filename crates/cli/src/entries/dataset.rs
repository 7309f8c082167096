//! Sparse datasets as sources and receivers of matrix entries.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::convert::Conversion;
use hyperslab::filter::FilterSpec;
use hyperslab::{Dataset, DatasetBuilder, FileOptions, Group, Points, Region, SelectionEncoding};

use super::batch::{Batch, Order, Sink, Source};
use super::element::Element;

/// A source of matrix entries that reads the defined elements of a sparse dataset. A batch covers
/// rows of chunks.
pub(crate) struct Defined {
    dataset: Dataset,
    element: Element,
    conversion: Conversion,
    shape: Vec<u64>,
    count: u64,
    /// The number of rows in a chunk, and the next row.
    height: u64,
    row: u64,
}

impl Defined {
    /// Returns a dataset as a source of matrix entries. Returns `None` if the dataset is not
    /// sparse.
    pub(crate) fn of(dataset: &Dataset) -> Result<Option<Self>> {
        let Some(chunking) = dataset.sparse().chunking().filter(|chunking| chunking.sparse) else {
            return Ok(None);
        };
        let element = Element::of(dataset.datatype())?;
        Ok(Some(Self {
            element,
            conversion: Conversion::new(dataset.datatype(), &element.datatype())?,
            shape: dataset.dataspace().dims().to_vec(),
            count: dataset.sparse().defined_count()?,
            height: chunking.shape.first().copied().unwrap_or(1).max(1),
            row: 0,
            dataset: dataset.clone(),
        }))
    }

    /// Reads the defined elements of the next rows of the sparse dataset into the batch.
    fn rows(&mut self, end: u64, batch: &mut Batch) -> Result<()> {
        let (mut start, mut count) = (vec![0; self.shape.len()], self.shape.clone());
        if let (Some(start), Some(count)) = (start.first_mut(), count.first_mut()) {
            // The caller has checked that rows are left.
            *start = self.row;
            *count = self.height.min(end - self.row);
            self.row += *count;
        }
        let region = Region::new(&start, &count)?;
        let (points, stored) = self.dataset.sparse().read_stored(&region)?;
        let bytes = stored
            .len()
            .checked_mul(self.element.size())
            .context("a batch of matrix entries does not fit in memory")?;
        batch.values.resize(bytes, 0);
        self.conversion.convert(stored.bytes(), &mut batch.values, stored.len())?;
        batch.coordinates = points.coordinates;
        Ok(())
    }
}

impl Source for Defined {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> Element {
        self.element
    }

    fn count(&self) -> Option<u64> {
        Some(self.count)
    }

    fn order(&self) -> Order {
        Order::Bands(self.height)
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        let end = if self.shape.contains(&0) { 0 } else { self.shape.first().copied().unwrap_or(0) };
        while self.row < end && batch.is_empty() {
            self.rows(end, batch)?;
        }
        Ok(!batch.is_empty())
    }
}

/// A receiver of matrix entries that writes them to a new sparse dataset.
pub(crate) struct Writer<'a> {
    parent: &'a Group,
    path: &'a str,
    chunk: Vec<u64>,
    filters: Vec<FilterSpec>,
    encoding: SelectionEncoding,
    made: Option<(Dataset, Element)>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        parent: &'a Group,
        path: &'a str,
        chunk: Vec<u64>,
        filters: Vec<FilterSpec>,
        encoding: SelectionEncoding,
    ) -> Self {
        Self { parent, path, chunk, filters, encoding, made: None }
    }
}

impl Sink for Writer<'_> {
    fn begin(&mut self, shape: &[u64], element: Element) -> Result<()> {
        let builder = self.parent.new_dataset(self.path).datatype(element.datatype()).shape(shape);
        let filters = self.filters.iter().cloned();
        let dataset = filters.fold(builder.sparse(&self.chunk), DatasetBuilder::filter);
        let dataset = dataset.selection_encoding(self.encoding).create()?;
        self.made = Some((dataset, element));
        Ok(())
    }

    fn put(&mut self, batch: &Batch) -> Result<()> {
        let (dataset, element) = self.made.as_ref().context("the dataset is not created yet")?;
        let points = Points { rank: self.chunk.len(), coordinates: batch.coordinates.clone() };
        Ok(dataset.sparse().write_bytes(&points, &element.datatype(), &batch.values)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Returns a chunk shape for a sparse dataset with about the given number of matrix entries.
pub(crate) fn chunk_for(shape: &[u64], element: Element, entries: Option<u64>) -> Result<Vec<u64>> {
    if shape.contains(&0) {
        return Ok(vec![1; shape.len()]);
    }
    // The library chooses the shape for a temporary dataset.
    let file = FileOptions::new().create_in_memory()?;
    let mut builder = file.new_dataset("a").datatype(element.datatype()).shape(shape).sparse_auto();
    if let Some(entries) = entries.filter(|entries| *entries > 0) {
        builder = builder.density(density(shape, entries));
    }
    let Some(chunking) = builder.create()?.sparse().chunking() else {
        bail!("no chunk shape could be chosen for the sparse dataset; name one with --chunks")
    };
    Ok(chunking.shape)
}

/// Returns the share of the matrix elements that are defined.
#[expect(clippy::cast_precision_loss, reason = "the share is an estimate")]
fn density(shape: &[u64], entries: u64) -> f64 {
    let positions: f64 = shape.iter().map(|size| *size as f64).product();
    (entries as f64 / positions).min(1.0)
}
