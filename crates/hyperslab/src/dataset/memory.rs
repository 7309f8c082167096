//! Reading into a part of an array, and writing from one.

use hyperslab_engine::{Error, Result};

use super::{Dataset, to_usize};
use crate::{H5Type, Selection};

impl Dataset {
    /// The selected elements into the selected places of an array of the shape `dims` in C order, whose other
    /// elements stay as they are. The two selections have the same number of elements, which go in the order of each;
    /// their shapes may differ.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, Hyperslab, Region, RegularHyperslab, Selection};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// // Two days, as the first columns of an array of 24 by 4.
    /// let days = Selection::region(&Region::new(&[0], &[48]).map_err(hyperslab::Error::from)?);
    /// let mut array = [f32::NAN; 24 * 4];
    /// let columns = Selection::region(&Region::new(&[0, 0], &[24, 2]).map_err(hyperslab::Error::from)?);
    /// temperature.read_into_part(&days, &mut array, &[24, 4], &columns)?;
    /// assert_eq!(array.iter().filter(|value| value.is_nan()).count(), 48);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into), if the numbers of elements differ, or if `values` has another length than
    /// an array of that shape.
    pub fn read_into_part<T: H5Type>(
        &self,
        selection: &Selection,
        values: &mut [T],
        dims: &[u64],
        places: &Selection,
    ) -> Result<()> {
        let misuse = |message: String| self.context(Error::Misuse(message));
        let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        if elements != Some(values.len() as u64) {
            return Err(misuse(format!("a slice of {} for an array of the shape {dims:?}", values.len())));
        }
        let places = self.without_overlaps(places)?;
        let mut runs = places.linear_runs(dims).map_err(|error| self.context(error.into()))?;
        let first = runs.next();
        let Some(second) = runs.next() else {
            let run = first.map_or(0..0, |run| run.offset..run.offset.saturating_add(run.length));
            let run = to_usize(run.start)?..to_usize(run.end)?;
            return self.read_into(selection, values.get_mut(run).unwrap_or_default());
        };
        let read = self.read_selection::<T>(selection)?;
        let wanted = places.element_count(dims).map_err(|error| self.context(error.into()))?;
        if wanted != read.len() as u64 {
            return Err(misuse(format!("{} elements are selected for {wanted} places", read.len())));
        }
        let mut rest = read.as_slice();
        for run in first.into_iter().chain([second]).chain(runs) {
            let (start, length) = (to_usize(run.offset)?, to_usize(run.length)?);
            let to = values.get_mut(start..start.saturating_add(length)).unwrap_or_default();
            let (now, behind) = rest.split_at_checked(to.len()).unwrap_or((rest, &[]));
            to.copy_from_slice(now);
            rest = behind;
        }
        Ok(())
    }

    /// Writes a part of an array to the selected elements of the dataset. `values` are the elements of an array of the
    /// shape `dims` in C order, and `places` selects the part. Both selections have the same number of elements and pair
    /// them in C order.
    ///
    /// ```
    /// use hyperslab::{Region, Selection};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[3]).create()?;
    /// // The middle column.
    /// let column = Selection::region(&Region::new(&[0, 1], &[3, 1]).map_err(hyperslab::Error::from)?);
    /// dataset.write_from_part(&Selection::All, &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[3, 3], &column)?;
    /// assert_eq!(dataset.read_raw::<i32>()?, [2, 5, 8]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`write_selection`](Self::write_selection), and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` does not have
    /// the length of an array of that shape.
    pub fn write_from_part<T: H5Type>(
        &self,
        selection: &Selection,
        values: &[T],
        dims: &[u64],
        places: &Selection,
    ) -> Result<()> {
        let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        if elements != Some(values.len() as u64) {
            let message = format!("a slice of {} for an array of the shape {dims:?}", values.len());
            return Err(self.context(Error::Misuse(message)));
        }
        let places = self.without_overlaps(places)?;
        let mut packed = Vec::new();
        for run in places.linear_runs(dims).map_err(|error| self.context(error.into()))? {
            let start = to_usize(run.offset)?;
            let part = values.get(start..).and_then(|rest| rest.get(..to_usize(run.length).ok()?));
            packed.extend_from_slice(part.unwrap_or_default());
        }
        self.write_selection(selection, &packed)
    }
}
