//! The storage options (chunks and filters) of datasets that an import creates.

use anyhow::{Result, bail};
use hyperslab::DatasetBuilder;
use hyperslab::filter::FilterSpec;

/// The chunk shape and the filters of the datasets that a command creates.
#[derive(Debug)]
pub(crate) struct Storage<'a> {
    pub(crate) chunks: Option<&'a [u64]>,
    pub(crate) filters: Vec<FilterSpec>,
}

impl Storage<'_> {
    /// Adds chunks and filters to the builder of a dataset of `rank` dimensions. Scalar datasets
    /// get no filters.
    pub(crate) fn apply(&self, mut builder: DatasetBuilder, rank: usize) -> Result<DatasetBuilder> {
        if let Some(chunk) = self.chunks {
            if chunk.len() != rank {
                bail!("the chunk shape has {} dimensions, but the dataset has {rank}", chunk.len());
            }
            builder = builder.chunks(chunk);
        }
        if rank > 0 {
            for filter in &self.filters {
                builder = builder.filter(filter.clone());
            }
        }
        Ok(builder)
    }
}
