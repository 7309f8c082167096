//! Reading into a part of an array, and writing from a part of an array.

use std::borrow::Cow;
use std::ops::Range;

use hyperslab_dataspace::LinearRun;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::{product, to_u64, to_usize};

use super::Dataset;
use crate::rearrangement::Rearrangement;
use crate::{H5Type, IntoSelection, Selection};

impl Dataset {
    /// Reads the selected elements of the dataset into a part of an array in memory. `values`
    /// contains the elements of the array, which has the shape `dims`, in C order. The selection
    /// `part` selects the part.
    ///
    /// The other elements of the array keep their values. Both selections must have the same number
    /// of elements, and may have different shapes. The elements are paired in the order of each
    /// selection.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// // Two days, as the first columns of an array of 24 by 4.
    /// let mut array = [f32::NAN; 24 * 4];
    /// temperature.read_into_part(..48, &mut array, &[24, 4], (.., ..2))?;
    /// assert_eq!(array.iter().filter(|value| value.is_nan()).count(), 48);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_into`](Self::read_into), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selections differ in the number of
    /// elements, or if `values` has another length than an array of the shape `dims`.
    pub fn read_into_part<T: H5Type>(
        &self,
        selection: impl IntoSelection,
        values: &mut [T],
        dims: &[u64],
        part: impl IntoSelection,
    ) -> Result<()> {
        let (part, order) = self.array_part(values.len(), dims, part)?;
        let mut runs = part.linear_runs(dims).map_err(|error| self.context(error.into()))?;
        let first = runs.next();
        let second = runs.next();
        if second.is_none() && order.is_none() {
            let indexes = first.as_ref().map_or(Ok(0..0), run_indexes)?;
            return self.read_into(selection, values.get_mut(indexes).ok_or_else(outside_array)?);
        }
        let mut read = self.read_raw::<T>(selection)?;
        if let Some(order) = &order {
            read = order.packed(&read).map_err(|error| self.context(error))?.into_owned();
        }
        let wanted = part.element_count(dims).map_err(|error| self.context(error.into()))?;
        if wanted != to_u64(read.len()) {
            let message = format!("{} elements are selected in the file, {wanted} in memory", read.len());
            return Err(self.context(Error::Misuse(message)));
        }
        let mut rest = read.as_slice();
        for run in first.into_iter().chain(second).chain(runs) {
            let to = values.get_mut(run_indexes(&run)?).ok_or_else(outside_array)?;
            let (elements, following) = rest.split_at_checked(to.len()).ok_or_else(outside_array)?;
            to.copy_from_slice(elements);
            rest = following;
        }
        Ok(())
    }

    /// Writes a part of an array in memory to the selected elements of the dataset. `values`
    /// contains the elements of the array, which has the shape `dims`, in C order. The selection
    /// `part` selects the part.
    ///
    /// Both selections must have the same number of elements, which are paired in the order of each
    /// selection.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[3]).create()?;
    /// // The middle column.
    /// dataset.write_from_part(.., &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[3, 3], (.., 1))?;
    /// assert_eq!(dataset.read_raw::<i32>(..)?, [2, 5, 8]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` has another length than an array
    /// of the shape `dims`.
    pub fn write_from_part<T: H5Type>(
        &self,
        selection: impl IntoSelection,
        values: &[T],
        dims: &[u64],
        part: impl IntoSelection,
    ) -> Result<()> {
        let (part, order) = self.array_part(values.len(), dims, part)?;
        let mut packed = Vec::new();
        for run in part.linear_runs(dims).map_err(|error| self.context(error.into()))? {
            packed.extend_from_slice(values.get(run_indexes(&run)?).ok_or_else(outside_array)?);
        }
        if let Some(order) = &order {
            packed = order.unpacked(&packed).map_err(|error| self.context(error))?;
        }
        self.write(selection, &packed)
    }

    /// Returns the selection `part` of elements of an array in memory, and their order unless it is
    /// the order of the selection. Checks first that `length` elements fill an array of the shape
    /// `dims`.
    fn array_part<'a>(
        &self,
        length: usize,
        dims: &[u64],
        part: impl IntoSelection + 'a,
    ) -> Result<(Cow<'a, Selection>, Option<Box<Rearrangement>>)> {
        if product("number of elements", dims.iter().copied()) != Ok(to_u64(length)) {
            let message = format!("a slice of {length} elements for an array of the shape {dims:?}");
            return Err(self.context(Error::Misuse(message)));
        }
        let part = part.into_selection(dims).map_err(|error| self.context(error))?.into_parts();
        let selection =
            if part.is_disjoint { part.selection } else { self.without_overlaps(part.selection)? };
        Ok((selection, part.rearrangement))
    }
}

/// Returns the indexes that the elements of a run have in an array in memory.
pub(crate) fn run_indexes(run: &LinearRun) -> Result<Range<usize>> {
    let (start, length) = (to_usize(run.offset)?, to_usize(run.length)?);
    Ok(start..start.checked_add(length).ok_or_else(outside_array)?)
}

pub(crate) fn outside_array() -> Error {
    Error::internal("part of an array", "the runs of a selection lie in the array")
}
