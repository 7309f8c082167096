//! Reading the defined elements of sparse datasets.

use std::borrow::Cow;
use std::sync::Arc;

use hyperslab_dataspace::Block;
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::elements::ForeignHeap;
use hyperslab_engine::ops::sparse::{Slab, StructuredSource};
use hyperslab_engine::store::parallel::prelude::*;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_u64;

use super::SparseView;
use crate::conversion::to_rust;
use crate::datatype::convert::Conversions;
use crate::{H5Type, Hyperslab, IntoSelection, Points, Region, Selection, Stored};

/// The coordinates and the values of defined elements of a sparse dataset, in C order.
pub type Defined<T> = (Points, Vec<T>);

/// The defined elements of a block of rows of a sparse dataset.
#[derive(Debug, Clone)]
pub struct DefinedBlock<T> {
    /// The first row: the coordinate along dimension 0.
    pub start: u64,
    /// The number of rows.
    pub rows: u64,
    /// The coordinates of the elements in the dataset, in C order.
    pub points: Points,
    /// The values of the elements.
    pub values: Vec<T>,
}

impl<'a> SparseView<'a> {
    /// Reads the defined elements of a selection of the dataset: their coordinates and their
    /// values, in C order. In a dataset that is not sparse, all elements are defined.
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
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection exceeds the dataset
    /// or there is no conversion from the datatype to `T`,
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if a chunk is damaged, and
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the result exceeds
    /// [`Limits::result_bytes`](crate::Limits::result_bytes). Returns filter and I/O errors.
    pub fn read<T: H5Type>(&self, selection: impl IntoSelection) -> Result<Defined<T>> {
        let (points, stored) = self.read_stored(selection)?;
        let conversions = stored.conversions(Conversions::clone(self.dataset.conversions()));
        let plan = to_rust::<T>(&conversions, self.dataset.datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let count = stored.len();
        let values = T::read_vec(count, |out| Ok::<(), Error>(plan.convert(stored.bytes(), out, count)?));
        Ok((points, values.map_err(|error| self.dataset.context(error))?))
    }

    /// Reads the coordinates and the stored values of the defined elements of a selection of the
    /// dataset; see [`read`](Self::read).
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
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
            let parts = map_slabs(self.dataset.object().file(), &slabs, |slab| slab.collect(&source.form));
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

    /// Reads all elements of a selection of a dataset that is not sparse. Returns coordinates and
    /// stored values, as for defined elements of a sparse dataset.
    fn all_as_defined(&self, selection: &Selection) -> Result<(Points, Stored)> {
        const WHAT: &str = "coordinates of defined elements: bytes";
        let dims = self.dataset.dataspace().dims().to_vec();
        let selection = &in_c_order(selection);
        let ordered = hyperslab_dataspace::Ordered::new(selection, &dims)
            .map_err(|error| self.dataset.context(error.into()))?;
        // The product does not overflow: the rank is small, and a coordinate has 8 bytes.
        let count = self.dataset.check_result(WHAT, ordered.len(), 8 * dims.len());
        let numbers = count.map_err(|error| self.dataset.context(error))? * dims.len();
        let mut coordinates = Vec::new();
        let reserved = coordinates.try_reserve_exact(numbers);
        let full = |_| Error::Memory { subject: WHAT, bytes: 8 * to_u64(numbers) };
        reserved.map_err(|error| self.dataset.context(full(error)))?;
        for position in 0..ordered.len() {
            let at = ordered.at(position);
            let (at, _) = at.ok_or_else(|| Error::internal("selection", "its elements have positions"))?;
            coordinates.extend(at);
        }
        let points = Points { rank: dims.len(), coordinates };
        Ok((points, self.dataset.read_stored(&**selection)?))
    }

    /// Reads the defined elements of a selection of the dataset slab by slab. A slab is the row of
    /// all chunks with the same coordinate in the slowest dimension.
    ///
    /// Calls `visit` with the elements of some slabs at a time. Returns the heap that holds the
    /// variable-length data of the elements.
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
                return Err(Error::Misuse("the dataset has no structured chunks".into()));
            };
            source.for_each_defined(file.read_context(), selection, Some(&foreign), &mut |slabs| {
                visit(&source, slabs)
            })
        };
        read().map_err(|error| self.dataset.context(error))?;
        Ok(foreign)
    }

    /// Returns the defined elements among the elements that a selection of the dataset selects. The
    /// result is a selection.
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
    /// Returns the errors of [`read`](Self::read).
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
                count = added(count, part.set().len())?;
                for block in part.set().blocks() {
                    blocks.push(moved(block, &part.origin)?);
                }
            }
            Ok(())
        })?;
        if count == 0 {
            return Ok(Selection::None);
        }
        if count == self.dataset.size()? {
            return Ok(Selection::All);
        }
        if count == to_u64(blocks.len()) {
            blocks.sort_unstable_by(|one, other| one.start.cmp(&other.start));
            let coordinates = blocks.iter().flat_map(|block| block.start.iter().copied()).collect();
            return Ok(Selection::Points(Points { rank, coordinates }));
        }
        Ok(Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }))
    }

    /// Returns the number of defined elements of the dataset. In a dataset that is not sparse, all
    /// elements are defined. Usually only the chunk index is read.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
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
                    count = added(count, source.count_defined(file.read_context(), scaled, &location)?)?;
                    Ok(())
                })?;
            }
            Ok(count)
        };
        count().map_err(|error| self.dataset.context(error))
    }

    /// Returns the share of the dataset's elements that are defined, from 0 to 1; 0 if the dataset
    /// has no elements.
    ///
    /// # Errors
    /// Returns the errors of [`defined_count`](Self::defined_count).
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more precision")]
    pub fn density(&self) -> Result<f64> {
        let all = self.dataset.size()?;
        Ok(if all == 0 { 0.0 } else { self.defined_count()? as f64 / all as f64 })
    }

    /// Reads the defined elements of the dataset in blocks of at least `rows` rows (coordinates
    /// along dimension 0) and of whole chunks. Memory holds one block at a time.
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
        self.row_ranges(rows).map(move |range| {
            let (start, rows) = (range.start, range.end - range.start);
            let mut region = Region::whole(&dims);
            if let (Some(first), Some(count)) = (region.start.first_mut(), region.count.first_mut()) {
                (*first, *count) = (start, rows);
            }
            self.read::<T>(&region).map(|(points, values)| DefinedBlock { start, rows, points, values })
        })
    }
}

/// Returns the given selection in C order. In the given selection, points may have another order or
/// occur twice. In the result, each element occurs once.
fn in_c_order(selection: &Selection) -> Cow<'_, Selection> {
    let Selection::Points(points) = selection else { return Cow::Borrowed(selection) };
    let mut sorted: Vec<&[u64]> = points.coordinates.chunks_exact(points.rank.max(1)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    Cow::Owned(Selection::Points(Points { rank: points.rank, coordinates: sorted.concat() }))
}

/// Returns a block of elements, moved from coordinates in a chunk to coordinates in the dataset.
/// `origin` is the position of the chunk's first element in the dataset.
fn moved(block: Block, origin: &[u64]) -> Result<Block> {
    let outside = || Error::internal("defined elements", "coordinates lie in the dataset");
    let add = |corner: &[u64]| {
        let coordinates = corner.iter().zip(origin).map(|(at, origin)| at.checked_add(*origin));
        coordinates.collect::<Option<_>>().ok_or_else(outside)
    };
    Ok(Block { start: add(&block.start)?, end: add(&block.end)? })
}

/// Returns the sum of two numbers of defined elements, or an error if the sum overflows.
fn added(count: u64, more: u64) -> Result<u64> {
    let sum = count.checked_add(more);
    sum.ok_or_else(|| Error::corrupt("chunk index", "defined elements", "a sum of at most 64 bits", "more"))
}

/// Smallest number of defined elements for which a read of slabs uses several threads. Waking a
/// thread takes about as long as collecting this many elements.
const MIN_PARALLEL_ELEMENTS: u64 = 4096;

/// Computes `work` for each slab, concurrently if that is faster, and returns the results. A slab
/// is the row of all chunks with the same coordinate in the slowest dimension. The caller holds
/// shared access to the structure of the file.
pub(super) fn map_slabs<T: Send>(
    file: &OpenFile,
    slabs: &[Slab],
    work: impl Fn(&Slab) -> T + Sync,
) -> Vec<T> {
    let store = &file.container.store;
    let elements = || slabs.iter().fold(0, |sum, slab| sum + slab.len());
    if slabs.len() > 1 && elements() >= MIN_PARALLEL_ELEMENTS && store.may_share() {
        store.share(|| slabs.par_iter().map(&work).collect())
    } else {
        slabs.iter().map(work).collect()
    }
}
