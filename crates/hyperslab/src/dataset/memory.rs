//! Reading into a part of an array, and writing from one.

use std::borrow::Cow;

use hyperslab_engine::{Error, Result};

use super::{Dataset, to_usize};
use crate::{H5Type, IntoSelection, Selection};

impl Dataset {
    /// Reads the selected elements into the selected places of an array of the shape `dims` in C order, whose other
    /// elements stay as they are. The two selections have the same number of elements, which go in the order of each;
    /// their shapes may differ.
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
    /// The errors of [`read_into`](Self::read_into), and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the numbers of
    /// elements differ, or if `values` has another length than an array of that shape.
    pub fn read_into_part<T: H5Type>(
        &self,
        selection: impl IntoSelection,
        values: &mut [T],
        dims: &[u64],
        places: impl IntoSelection,
    ) -> Result<()> {
        let places = self.places(values.len(), dims, places)?;
        let mut runs = places.linear_runs(dims).map_err(|error| self.context(error.into()))?;
        let first = runs.next();
        let Some(second) = runs.next() else {
            let run = first.map_or(0..0, |run| run.offset..run.offset.saturating_add(run.length));
            let run = to_usize(run.start)?..to_usize(run.end)?;
            return self.read_into(selection, values.get_mut(run).unwrap_or_default());
        };
        let read = self.read_raw::<T>(selection)?;
        let wanted = places.element_count(dims).map_err(|error| self.context(error.into()))?;
        if wanted != read.len() as u64 {
            let message = format!("{} elements are selected for {wanted} places", read.len());
            return Err(self.context(Error::Misuse(message)));
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
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[3]).create()?;
    /// // The middle column.
    /// dataset.write_from_part(.., &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[3, 3], (.., 1))?;
    /// assert_eq!(dataset.read_raw::<i32>(..)?, [2, 5, 8]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`write`](Self::write), and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` does not have
    /// the length of an array of that shape.
    pub fn write_from_part<T: H5Type>(
        &self,
        selection: impl IntoSelection,
        values: &[T],
        dims: &[u64],
        places: impl IntoSelection,
    ) -> Result<()> {
        let places = self.places(values.len(), dims, places)?;
        let mut packed = Vec::new();
        for run in places.linear_runs(dims).map_err(|error| self.context(error.into()))? {
            let start = to_usize(run.offset)?;
            let part = values.get(start..).and_then(|rest| rest.get(..to_usize(run.length).ok()?));
            packed.extend_from_slice(part.unwrap_or_default());
        }
        self.write(selection, &packed)
    }

    /// Returns the selected places of an array of the shape `dims` that has `length` elements.
    fn places<'a>(
        &self,
        length: usize,
        dims: &[u64],
        places: impl IntoSelection + 'a,
    ) -> Result<Cow<'a, Selection>> {
        let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        if elements != Some(length as u64) {
            let message = format!("a slice of {length} for an array of the shape {dims:?}");
            return Err(self.context(Error::Misuse(message)));
        }
        let (places, _) = places.into_selection(dims).map_err(|error| self.context(error))?.into_parts();
        self.without_overlaps(places)
    }
}
