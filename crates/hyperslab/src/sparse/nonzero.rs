//! Dense arrays written to sparse datasets: only elements that differ from the fill value become
//! defined.

use hyperslab_engine::{Error, Result};
use hyperslab_exact::{to_u64, to_usize};
use ndarray::{ArrayBase, ArrayViewD, Axis, Data, Dimension, Slice};

use super::SparseView;
use crate::conversion::to_rust;
use crate::{H5Type, Points};

/// The number of elements of an array that one step compares with the fill value. A step covers at
/// least the chunks with one common coordinate in the slowest dimension.
const BLOCK_ELEMENTS: usize = 1 << 22;

impl SparseView<'_> {
    /// Writes an array of the dataset's shape to the dataset. Only the elements that differ from
    /// the fill value become defined.
    ///
    /// Memory holds one block of rows of chunks at a time. For a dataset that is not sparse, this
    /// method calls [`Dataset::write`](crate::Dataset::write).
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f32>().shape(&[2, 3]).sparse(&[2, 2]).create()?;
    /// a.sparse().write_nonzero(&ndarray::arr2(&[[0.0_f32, 1.5, 0.0], [0.0, 0.0, 2.5]]))?;
    /// assert_eq!(a.sparse().defined_count()?, 2);
    /// assert_eq!(a.read_raw::<f32>(..)?, [0.0, 1.5, 0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::write`](crate::Dataset::write).
    pub fn write_nonzero<T, S, D>(&self, array: &ArrayBase<S, D>) -> Result<()>
    where
        T: H5Type + PartialEq,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let Some(chunking) = self.chunking().filter(|chunking| chunking.sparse) else {
            return self.dataset.write(.., array);
        };
        let dims = self.dataset.dataspace().dims().to_vec();
        if !array.shape().iter().copied().map(to_u64).eq(dims.iter().copied()) {
            let got = array.shape();
            let message = format!("an array of the shape {got:?} for a dataset of the shape {dims:?}");
            return Err(self.dataset.context(Error::Misuse(message)));
        }
        let fill = self.fill_as::<T>()?;
        self.dataset
            .conversions()
            .plan(&T::datatype(), self.dataset.datatype())
            .map_err(|error| self.dataset.context(error.into()))?;
        if self.defined_count()? > 0 {
            self.erase(..)?;
        }
        let array = array.view().into_dyn();
        let (Some(rows), Some(height)) = (array.shape().first().copied(), chunking.shape.first().copied())
        else {
            return Err(Error::internal("sparse dataset", "structured chunks have dimensions"));
        };
        if array.is_empty() {
            return Ok(());
        }
        // The height is limited to 1 to `rows`, so that no product below exceeds the size of the
        // array or `BLOCK_ELEMENTS`.
        let height = to_usize(height.clamp(1, to_u64(rows)))?;
        let chunk_row_elements = array.len() / rows * height;
        let step = (BLOCK_ELEMENTS / chunk_row_elements).max(1) * height;
        for first in (0..rows).step_by(step) {
            let end = (first + step).min(rows);
            let block = array.slice_axis(Axis(0), Slice::from(first..end));
            let (points, values) = differing(&block, to_u64(first), &fill);
            if !values.is_empty() {
                self.write(&points, &values)?;
            }
        }
        Ok(())
    }

    /// Returns the fill value of the dataset as a value of the type `T`.
    fn fill_as<T: H5Type>(&self) -> Result<T> {
        let stored = self.dataset.stored_fill_value()?;
        let zeros = vec![0; self.dataset.datatype().size as usize];
        let bytes = if stored.bytes().is_empty() { zeros.as_slice() } else { stored.bytes() };
        let plan = to_rust::<T>(self.dataset.conversions(), self.dataset.datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let fill = T::read_vec(1, |out| Ok::<(), Error>(plan.convert(bytes, out, 1)?));
        let fill = fill.map_err(|error| self.dataset.context(error))?.into_iter().next();
        fill.ok_or_else(|| Error::internal("fill value", "the conversion of an element returns an element"))
    }
}

/// Returns the elements of a block of an array that differ from the fill value: their coordinates
/// and their values, in C order. `first` is the coordinate of the first row of the block.
fn differing<T: H5Type + PartialEq>(block: &ArrayViewD<'_, T>, first: u64, fill: &T) -> (Points, Vec<T>) {
    let rank = block.ndim();
    let mut points = Points { rank, coordinates: Vec::new() };
    let mut values = Vec::new();
    let differs = |one: &T, other: &T| one != other;
    // A NaN fill value differs from itself. Only NaN elements count as equal to such a fill
    // value.
    let fill_is_nan = differs(fill, fill);
    let mut at = vec![0_u64; rank];
    if let Some(row) = at.first_mut() {
        *row = first;
    }
    for line in block.rows() {
        for (column, value) in (0_u64..).zip(line) {
            if differs(value, fill) && !(fill_is_nan && differs(value, value)) {
                if let Some(last) = at.last_mut().filter(|_| rank > 1) {
                    *last = column;
                } else if let Some(last) = at.last_mut() {
                    *last = first + column;
                }
                points.coordinates.extend_from_slice(&at);
                values.push(*value);
            }
        }
        next_line(&mut at, block.shape(), first);
    }
    (points, values)
}

/// Advances the coordinates `at` in a block of an array to the next line along the last dimension.
/// The coordinates of the first dimension begin at `first`.
fn next_line(at: &mut [u64], shape: &[usize], first: u64) {
    let Some((_, lines)) = at.split_last_mut() else { return };
    for (dimension, (coordinate, size)) in lines.iter_mut().zip(shape).enumerate().rev() {
        let start = if dimension == 0 { first } else { 0 };
        *coordinate += 1;
        if *coordinate < start + to_u64(*size) {
            return;
        }
        *coordinate = start;
    }
}
