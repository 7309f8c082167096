//! Dense arrays as sparse datasets: only what differs from the fill value is defined.

use hyperslab_engine::{Error, Result};
use ndarray::{ArrayBase, ArrayViewD, Axis, Data, Dimension, Slice};

use super::SparseView;
use crate::datatype::convert::Conversions;
use crate::{H5Type, Points};

/// Elements of an array that are looked through at once, if a row of chunks is not more.
const BLOCK: usize = 1 << 22;

impl SparseView<'_> {
    /// Writes an array of the dataset's shape, and defines only the elements that differ from the fill value; all others
    /// are undefined then. It goes through in blocks of rows of chunks. In a dataset that is not sparse this is
    /// [`Dataset::write`](crate::Dataset::write).
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
    /// As [`Dataset::write`](crate::Dataset::write).
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
        if !array.shape().iter().map(|size| *size as u64).eq(dims.iter().copied()) {
            let what =
                format!("an array of the shape {:?} for a dataset of the shape {dims:?}", array.shape());
            return Err(self.dataset.context(Error::Misuse(what)));
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
        let rows = array.shape().first().copied().unwrap_or(0);
        let height =
            chunking.shape.first().and_then(|height| usize::try_from(*height).ok()).unwrap_or(1).max(1);
        let in_chunks = (array.len() / rows.max(1)).saturating_mul(height).max(1);
        let step = (BLOCK / in_chunks).max(1).saturating_mul(height);
        for first in (0..rows).step_by(step) {
            let end = first.saturating_add(step).min(rows);
            let block = array.slice_axis(Axis(0), Slice::from(first..end));
            let (points, values) = differing(&block, first as u64, &fill);
            if !values.is_empty() {
                self.write(&points, &values)?;
            }
        }
        Ok(())
    }

    /// The fill value as one of the type `T`.
    fn fill_as<T: H5Type>(&self) -> Result<T> {
        let stored = self.dataset.stored_fill_value()?;
        let zeros = vec![0; self.dataset.datatype().size as usize];
        let bytes = if stored.bytes().is_empty() { zeros.as_slice() } else { stored.bytes() };
        let plan =
            Conversions::clone(self.dataset.conversions()).plan(self.dataset.datatype(), &T::datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let fill = T::read_vec(1, |out| Ok::<(), Error>(plan.convert(bytes, out, 1)?));
        let fill = fill.map_err(|error| self.dataset.context(error))?.into_iter().next();
        fill.ok_or_else(|| self.dataset.context(Error::Misuse("the fill value is not one element".into())))
    }
}

/// The elements of a block that differ from the fill value, in C order.
fn differing<T: H5Type + PartialEq>(block: &ArrayViewD<'_, T>, first: u64, fill: &T) -> (Points, Vec<T>) {
    let rank = block.ndim();
    let mut points = Points { rank, coordinates: Vec::new() };
    let mut values = Vec::new();
    let differs = |one: &T, other: &T| one != other;
    // A fill value that is not a number differs from itself; so do all others then, and only they are like it.
    let no_number = differs(fill, fill);
    let mut at = vec![0_u64; rank];
    if let Some(row) = at.first_mut() {
        *row = first;
    }
    for line in block.rows() {
        for (column, value) in (0_u64..).zip(line) {
            if differs(value, fill) && !(no_number && differs(value, value)) {
                if let Some(last) = at.last_mut().filter(|_| rank > 1) {
                    *last = column;
                } else if let Some(last) = at.last_mut() {
                    *last = first.saturating_add(column);
                }
                points.coordinates.extend_from_slice(&at);
                values.push(*value);
            }
        }
        step(&mut at, block.shape(), first);
    }
    (points, values)
}

/// The coordinates of the next line along the last dimension.
fn step(at: &mut [u64], shape: &[usize], first: u64) {
    let lines = at.len().saturating_sub(1);
    for (dimension, (place, size)) in at.iter_mut().zip(shape).enumerate().take(lines).rev() {
        let start = if dimension == 0 { first } else { 0 };
        *place = place.saturating_add(1);
        if *place < start.saturating_add(*size as u64) {
            return;
        }
        *place = start;
    }
}
