//! The description of a new dataset from its builder: layout, filters with their parameters, fill
//! value.

use hyperslab_engine::ops::datasets::{FillDescription, StoredFillValue};
use hyperslab_engine::ops::objects;
use hyperslab_engine::ops::{NewDataset, NewLayout};
use hyperslab_engine::{Address, Error, Result};
use hyperslab_filter::{DatasetFacts, DatasetFill, Pipeline};

use super::{DatasetBuilder, NewFill, Storage};
use crate::datatype::convert::Conversions;
use crate::sparse::{Section, SectionFacts};
use crate::{Dataspace, Datatype};

/// The target size of a chunk of a new dataset, in bytes. The constant applies if hyperslab chooses
/// the chunk shape.
const CHUNK_BYTES: u64 = 1 << 20;

/// The smallest target size of a chunk of a new dataset, in bytes. The constant applies if
/// hyperslab chooses the chunk shape.
const MIN_CHUNK_BYTES: u64 = 16 << 10;

impl DatasetBuilder {
    pub(super) fn describe(self) -> Result<NewDataset> {
        let missing =
            |subject: &str| Error::Misuse(format!("the dataset has no {subject}: set one with `{subject}`"));
        let datatype = self.datatype.clone().ok_or_else(|| missing("datatype"))?;
        let dataspace = self.dataspace(&|| missing("shape"))?;
        let layout = self.layout(&dataspace, &datatype)?;
        let fill = FillDescription {
            value: self.fill_value(&datatype)?,
            write_time: self.fill_time,
            allocation_time: self.allocation_time,
        };
        let section_pipelines = self.section_pipelines(&layout, &datatype, &fill.value)?;
        let pipeline = match &layout {
            NewLayout::Structured { .. } => Pipeline::default(),
            _ => self.pipeline(&layout, &datatype, &fill.value)?,
        };
        let header = if self.times { self.header.with_times(objects::now()) } else { self.header };
        let committed = self.committed.as_ref().map(|datatype| datatype.address());
        Ok(NewDataset { datatype, committed, dataspace, layout, pipeline, section_pipelines, fill, header })
    }

    fn dataspace(&self, missing: &dyn Fn() -> Error) -> Result<Dataspace> {
        if self.null {
            return Ok(Dataspace::Null);
        }
        let dims = self.dims.as_ref().ok_or_else(missing)?;
        if dims.is_empty() {
            return Ok(Dataspace::Scalar);
        }
        let max_dims = match &self.max_dims {
            Some(max_dims) => Some(max_dims.clone()),
            None => self.unlimited.then(|| vec![None; dims.len()]),
        };
        match max_dims {
            Some(max_dims) => Ok(Dataspace::extendible(dims, &max_dims)?),
            None => Ok(Dataspace::simple(dims)),
        }
    }

    fn layout(&self, dataspace: &Dataspace, datatype: &Datatype) -> Result<NewLayout> {
        let chunked = |chunk: &[u64]| NewLayout::Chunked {
            chunk: chunk.iter().copied().collect(),
            edges_unfiltered: self.edges_unfiltered,
        };
        Ok(match &self.storage {
            Storage::Compact => NewLayout::Compact,
            Storage::Contiguous => NewLayout::Contiguous,
            Storage::External(pieces) => NewLayout::External(pieces.clone()),
            Storage::Virtual(_) => NewLayout::Virtual { heap: Address::UNDEFINED, index: 0 },
            Storage::Chunks(chunk) => chunked(chunk),
            Storage::Structured { chunk, sparse } => {
                let chunk = match chunk {
                    Some(chunk) => chunk.clone(),
                    None => self.sparse.chunk_for(dataspace)?,
                };
                NewLayout::Structured {
                    chunk: chunk.into(),
                    sparse: *sparse,
                    edges_unfiltered: self.edges_unfiltered,
                    encoding: Some(self.sparse.encoding),
                }
            }
            Storage::Any if self.filters.is_empty() && !dataspace.is_extendible() => NewLayout::Contiguous,
            Storage::Any | Storage::AutoChunks => chunked(&auto_chunk(dataspace, u64::from(datatype.size))?),
        })
    }

    /// Returns the filter pipeline of each section of the structured chunks of a new dataset: the
    /// filters of all sections, followed by the filters of the section.
    fn section_pipelines(
        &self,
        layout: &NewLayout,
        datatype: &Datatype,
        fill: &StoredFillValue,
    ) -> Result<Vec<Pipeline>> {
        let NewLayout::Structured { chunk, sparse, .. } = layout else {
            return match self.sparse.has_filters() {
                true => Err(Error::Misuse("section filters require structured chunks".into())),
                false => Ok(Vec::new()),
            };
        };
        let facts = SectionFacts { datatype, chunk, sparse: *sparse, encoding: self.sparse.encoding, fill };
        let filters =
            |section: Section| self.filters.iter().chain(self.sparse.filters(section)).cloned().collect();
        facts
            .pipelines(&filters, &self.group.file().container.store.filters())
            .map_err(|error| Error::Misuse(error.to_string()))
    }

    /// Returns the filter pipeline of a new dataset's chunks, with filter parameters derived from
    /// the datatype and the chunk shape.
    fn pipeline(&self, layout: &NewLayout, datatype: &Datatype, fill: &StoredFillValue) -> Result<Pipeline> {
        let NewLayout::Chunked { chunk, .. } = layout else {
            return match self.filters.is_empty() {
                true => Ok(Pipeline::default()),
                false => Err(Error::Misuse("filters require chunks: set a chunk shape".into())),
            };
        };
        let fill = match fill {
            StoredFillValue::Undefined => DatasetFill::Undefined,
            StoredFillValue::Default => DatasetFill::Default,
            StoredFillValue::User(element) => DatasetFill::Element(element),
        };
        let facts = DatasetFacts::new(datatype, chunk).with_fill(fill);
        let store = &self.group.file().container.store;
        Pipeline::for_dataset(&self.filters, &facts, &store.filters())
            .map_err(|error| Error::Misuse(error.to_string()))
    }

    fn fill_value(&self, datatype: &Datatype) -> Result<StoredFillValue> {
        Ok(match &self.fill {
            NewFill::Default => StoredFillValue::Default,
            NewFill::Undefined => StoredFillValue::Undefined,
            NewFill::Stored(element) => StoredFillValue::User(element.clone()),
            NewFill::Value(memory, value) => {
                let plan = Conversions::default().plan(memory, datatype)?;
                let mut element = vec![0; datatype.size as usize];
                plan.convert(value, &mut element, 1)?;
                StoredFillValue::User(element)
            }
        })
    }
}

/// Returns the shape of chunks of at most `CHUNK_BYTES` bytes for a new dataset. The longest
/// dimension is halved until the chunk is small enough. A dimension of size 0 counts as 1, an
/// unlimited dimension as at least 1024.
pub(crate) fn auto_chunk(dataspace: &Dataspace, element_size: u64) -> Result<Vec<u64>> {
    if !matches!(dataspace, Dataspace::Simple(_)) {
        return Err(Error::Misuse("a scalar or null dataspace cannot be stored in chunks".into()));
    }
    let maximum = dataspace.max_dims();
    let open = |dimension: usize| maximum.get(dimension).is_some_and(Option::is_none);
    let mut chunk: Vec<u64> = dataspace
        .dims()
        .iter()
        .enumerate()
        .map(|(dimension, size)| if open(dimension) { (*size).max(1024) } else { (*size).max(1) })
        .collect();
    // Saturates, because the product is only compared with the target.
    let bytes =
        |chunk: &[u64]| chunk.iter().fold(element_size.max(1), |product, size| product.saturating_mul(*size));
    // The target is a 64th of the dataset: small datasets get few chunks, and large datasets get
    // enough chunks for concurrent reads.
    let target = (bytes(&chunk) / 64).clamp(MIN_CHUNK_BYTES, CHUNK_BYTES);
    while bytes(&chunk) > target {
        let Some(longest) = chunk.iter_mut().max().filter(|size| **size > 1) else { break };
        *longest = longest.div_ceil(2);
    }
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_neither_small_nor_large() {
        let chunk = |dims: &[u64], size| auto_chunk(&Dataspace::simple(dims), size).unwrap();
        assert_eq!(chunk(&[10], 8), [10]);
        assert_eq!(chunk(&[0], 8), [1]);
        assert_eq!(chunk(&[1 << 30], 8), [1 << 17]);
        assert_eq!(chunk(&[4096, 4096], 8), [512, 256]);
        assert_eq!(chunk(&[1, 1], 1 << 30), [1, 1]);
        let growing = Dataspace::extendible(&[0, 100], &[None, Some(100)]).unwrap();
        assert_eq!(auto_chunk(&growing, 4).unwrap(), [64, 50]);
        assert!(auto_chunk(&Dataspace::Scalar, 4).is_err());
    }
}
