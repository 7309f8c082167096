//! Reading the defined elements of sparse datasets.

use std::borrow::Cow;
use std::sync::Arc;

use hyperslab_dataspace::Block;
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::elements::ForeignHeap;
use hyperslab_engine::ops::sparse::{Slab, StructuredSource};
use hyperslab_engine::store::parallel::prelude::*;
use hyperslab_engine::{Error, Result};

use super::SparseView;
use crate::datatype::convert::Conversions;
use crate::{H5Type, Hyperslab, IntoSelection, Points, Region, Selection, Stored};

/// Defined elements: their coordinates and their values, in C order.
pub type Defined<T> = (Points, Vec<T>);

/// The defined elements of some rows of a dataset.
#[derive(Debug, Clone)]
pub struct DefinedBlock<T> {
    /// First row: coordinate along dimension 0.
    pub start: u64,
    /// Number of rows.
    pub rows: u64,
    /// Coordinates, in C order; those along dimension 0 count from the start of the dataset.
    pub points: Points,
    /// Their values.
    pub values: Vec<T>,
}

impl<'a> SparseView<'a> {
    /// The defined elements of a selection, in C order: coordinates and values. In datasets that are not sparse all
    /// elements are defined.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f64>().shape(&[1000, 1000]).sparse(&[100, 100]).create()?;
    /// a.write((99..101, 7..9), &[1.0, 2.0, 3.0, 4.0])?;
    /// let (points, values) = a.sparse().read::<f64>((100, ..))?;
    /// assert_eq!((points.coordinates, values), (vec![100, 7, 100, 8], vec![3.0, 4.0]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the selection reaches out of the dataset, for damaged chunks, and if values cannot be converted.
    pub fn read<T: H5Type>(&self, selection: impl IntoSelection) -> Result<Defined<T>> {
        let (points, stored) = self.read_stored(selection)?;
        let plan = stored
            .conversions(Conversions::clone(self.dataset.conversions()))
            .plan(self.dataset.datatype(), &T::datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let count = stored.len();
        let values = T::read_vec(count, |out| Ok::<(), Error>(plan.convert(stored.bytes(), out, count)?));
        Ok((points, values.map_err(|error| self.dataset.context(error))?))
    }

    /// As [`read`](Self::read), of values as the file stores them.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_stored(&self, selection: impl IntoSelection) -> Result<(Points, Stored)> {
        let selected = self.dataset.resolve(selection)?;
        let selection = selected.selection();
        let rank = self.dataset.ndim();
        if !self.dataset.is_sparse() {
            return self.all_as_defined(selection);
        }
        let mut points = Points { rank, coordinates: Vec::new() };
        let mut values = Vec::new();
        let foreign = self.for_each_slabs(selection, &mut |source, slabs| {
            let parts = shared(self.dataset.object().file(), &slabs, |slab| slab.collect(&source.form));
            for part in parts {
                let (coordinates, bytes) = part?;
                points.coordinates.extend(coordinates);
                values.extend(bytes);
            }
            Ok(())
        })?;
        let stored =
            Stored::new(Arc::clone(self.dataset.object().file()), self.dataset.datatype().clone(), values);
        Ok((points, stored.with_foreign(foreign)))
    }

    fn all_as_defined(&self, selection: &Selection) -> Result<(Points, Stored)> {
        let dims = self.dataset.dataspace().dims().to_vec();
        let selection = &in_c_order(selection);
        let ordered = hyperslab_dataspace::Ordered::new(selection, &dims)
            .map_err(|error| self.dataset.context(error.into()))?;
        let mut points = Points { rank: dims.len(), coordinates: Vec::new() };
        let limit = self.dataset.object().file().container.store.limits().result_bytes;
        let numbers = ordered.len().saturating_mul(dims.len() as u64);
        let length = usize::try_from(numbers).ok().filter(|_| numbers.saturating_mul(8) <= limit);
        if length.is_none_or(|length| points.coordinates.try_reserve_exact(length).is_err()) {
            let what = "coordinates of defined elements: bytes".into();
            return Err(self.dataset.context(Error::Limit { what, got: numbers.saturating_mul(8), limit }));
        }
        for position in 0..ordered.len() {
            if let Some((at, _)) = ordered.at(position) {
                points.coordinates.extend(at);
            }
        }
        Ok((points, self.dataset.read_stored(&**selection)?))
    }

    /// Gives the defined elements of a selection, some chunk rows at a time, to `visit`.
    pub(crate) fn for_each_slabs(
        &self,
        selection: &Selection,
        visit: &mut dyn FnMut(&StructuredSource, Vec<Slab>) -> Result<()>,
    ) -> Result<Arc<ForeignHeap>> {
        let file = self.dataset.object().file();
        let foreign = Arc::new(ForeignHeap::new(file.container.store.limits().result_bytes));
        let (open, _reading) = self.dataset.current()?;
        let mut read = || {
            let Some(source) = open.structured_chunks(file)? else {
                return Err(Error::Misuse("it is not in structured chunks".into()));
            };
            source.for_each_defined(file.read_context(), selection, Some(&foreign), &mut |slabs| {
                visit(&source, slabs)
            })
        };
        read().map_err(|error| self.dataset.context(error))?;
        Ok(foreign)
    }

    /// Which elements of a selection are defined.
    ///
    /// ```
    /// use hyperslab::{Region, Selection};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<u8>().shape(&[30, 30]).sparse(&[10, 10]).create()?;
    /// assert_eq!(a.sparse().defined(..)?, Selection::None);
    /// a.write(Region::new(&[5, 5], &[10, 3])?, &[1_u8; 30])?;
    /// assert_eq!(a.sparse().defined(..)?.element_count(&[30, 30])?, 30);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn defined(&self, selection: impl IntoSelection) -> Result<Selection> {
        let selected = self.dataset.resolve(selection)?;
        let selection = selected.selection();
        if !self.dataset.is_sparse() {
            return Ok(selection.clone());
        }
        let (rank, mut count) = (self.dataset.ndim(), 0_u64);
        let mut blocks: Vec<Block> = Vec::new();
        self.for_each_slabs(selection, &mut |_, slabs| {
            for part in slabs.iter().flat_map(|slab| &slab.parts) {
                count = count.saturating_add(part.set().len());
                blocks.extend(part.set().blocks().into_iter().map(|block| moved(block, &part.origin)));
            }
            Ok(())
        })?;
        if count == 0 {
            return Ok(Selection::None);
        }
        if count == self.dataset.size()? {
            return Ok(Selection::All);
        }
        if count == blocks.len() as u64 {
            blocks.sort_unstable_by(|one, other| one.start.cmp(&other.start));
            let coordinates = blocks.iter().flat_map(|block| block.start.iter().copied()).collect();
            return Ok(Selection::Points(Points { rank, coordinates }));
        }
        Ok(Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }))
    }

    /// The number of defined elements; of all elements if the dataset is not sparse. Mostly the index of the chunks tells.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn defined_count(&self) -> Result<u64> {
        if !self.dataset.is_sparse() {
            return self.dataset.size();
        }
        let file = self.dataset.object().file();
        let (open, _reading) = self.dataset.current()?;
        let count = || {
            let mut count = 0_u64;
            if let Some(source) = open.structured_chunks(file)? {
                source.for_each_chunk(&file.container.store, &mut |scaled, location| {
                    count =
                        count.saturating_add(source.count_defined(file.read_context(), scaled, &location)?);
                    Ok(())
                })?;
            }
            Ok(count)
        };
        count().map_err(|error| self.dataset.context(error))
    }

    /// The share of elements that are defined, from 0 to 1; 0 if there are no elements.
    ///
    /// # Errors
    /// As [`defined_count`](Self::defined_count).
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn density(&self) -> Result<f64> {
        let all = self.dataset.size()?;
        Ok(if all == 0 { 0.0 } else { self.defined_count()? as f64 / all as f64 })
    }

    /// The defined elements, some rows (coordinates along dimension 0) at a time: as many as chunks are high, and `rows` at
    /// least. Memory holds one block.
    ///
    /// ```
    /// use hyperslab::Points;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f32>().shape(&[1000, 50]).sparse(&[100, 50]).create()?;
    /// a.sparse().write(&Points::from_rows([[7, 1], [950, 2]]), &[1.0, 2.0])?;
    /// let mut sum = 0.0;
    /// for block in a.sparse().rows::<f32>(300) {
    ///     sum += block?.values.iter().sum::<f32>();
    /// }
    /// assert_eq!(sum, 3.0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn rows<T: H5Type>(self, rows: u64) -> impl Iterator<Item = Result<DefinedBlock<T>>> + 'a {
        let dims = self.dataset.dataspace().dims().to_vec();
        let height = self.chunking().and_then(|chunks| chunks.shape.first().copied()).unwrap_or(1).max(1);
        let step = rows.max(1).div_ceil(height).saturating_mul(height);
        let end = dims.first().copied().unwrap_or(0);
        let mut start = 0;
        std::iter::from_fn(move || {
            if start >= end {
                return None;
            }
            let first = start;
            let rows = step.min(end - first);
            start = first.saturating_add(rows);
            let mut region = Region::whole(&dims);
            if let (Some(at), Some(count)) = (region.start.first_mut(), region.count.first_mut()) {
                (*at, *count) = (first, rows);
            }
            let block = self.read::<T>(&region);
            Some(block.map(|(points, values)| DefinedBlock { start: first, rows, points, values }))
        })
    }
}

/// Points have an order of their own, and may be there twice.
fn in_c_order(selection: &Selection) -> Cow<'_, Selection> {
    let Selection::Points(points) = selection else { return Cow::Borrowed(selection) };
    let mut places: Vec<&[u64]> = points.coordinates.chunks_exact(points.rank.max(1)).collect();
    places.sort_unstable();
    places.dedup();
    Cow::Owned(Selection::Points(Points { rank: points.rank, coordinates: places.concat() }))
}

fn moved(block: Block, origin: &[u64]) -> Block {
    let add =
        |corner: &[u64]| corner.iter().zip(origin).map(|(at, origin)| at.saturating_add(*origin)).collect();
    Block { start: add(&block.start), end: add(&block.end) }
}

/// What `work` makes of each slab, on all threads; the caller holds the file.
pub(super) fn shared<T: Send>(file: &OpenFile, slabs: &[Slab], work: impl Fn(&Slab) -> T + Sync) -> Vec<T> {
    let store = &file.container.store;
    if store.may_share() {
        store.share(|| slabs.par_iter().map(&work).collect())
    } else {
        slabs.iter().map(work).collect()
    }
}
