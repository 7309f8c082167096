//! Reading elements.

use std::borrow::Cow;

use hyperslab_engine::{Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, ArrayD, Dimension};

use super::Dataset;
use super::data::{self, ArrayDataMut};
use super::elements::{Elements, Planned, Wanted};
#[cfg(feature = "ndarray")]
use super::{array, check_rank};
use crate::datatype::convert::Conversions;
use crate::{H5Type, Hyperslab, IntoSelection, Selection, Stored};

impl Dataset {
    /// Reads the selected elements into an array of the selection's shape; see [`IntoSelection`] for the selections.
    ///
    /// `D` is the type of the array's dimension: `Ix1`, `Ix2`, … if the number of
    /// dimensions is known, else `IxDyn`. The type of the variable may give both parameters.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{Array1, File, Ix1, IxDyn, s};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let year = temperature.read::<f32, IxDyn>(..)?;
    /// let mornings = temperature.read::<f32, Ix1>(s![6..;24])?;
    /// let first: Array1<f64> = temperature.read(..3)?;
    /// assert_eq!((year.len(), mornings.len(), first.len()), (8760, 365, 3));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection reaches out of the dataset, or has another number
    /// of dimensions than `D`; an error if the elements' type cannot be converted to `T`, or they cannot be read.
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self, selection: impl IntoSelection) -> Result<Array<T, D>> {
        self.read_planned(selection, |conversions| conversions.plan(self.datatype(), &T::datatype()))
    }

    /// Reads the selected elements, converted as planned, into an array.
    #[cfg(feature = "ndarray")]
    pub(super) fn read_planned<T: H5Type, D: Dimension>(
        &self,
        selection: impl IntoSelection,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Array<T, D>> {
        let size = size_of::<T>().max(T::SIZE);
        let wanted = self.prepare(selection, size).map_err(|error| self.context(error))?;
        let shape = wanted.memory_shape()?;
        check_rank::<D>(&shape).map_err(|error| self.context(error))?;
        array(&shape, self.read_wanted(wanted, plan)?)
    }

    /// Reads the selected elements into a vector, in the order of the selection: points in their own, all others in C
    /// order. Blocks that overlap count once.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, Points};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let points = Points::from_rows([[700], [3], [8000]]);
    /// assert_eq!(temperature.read_raw::<f64>(&points)?.len(), 3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn read_raw<T: H5Type>(&self, selection: impl IntoSelection) -> Result<Vec<T>> {
        self.read_raw_planned(selection, |conversions| conversions.plan(self.datatype(), &T::datatype()))
    }

    /// Reads the selected elements, converted as planned, into a vector.
    pub(super) fn read_raw_planned<T: H5Type>(
        &self,
        selection: impl IntoSelection,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Vec<T>> {
        let wanted = self.prepare(selection, size_of::<T>().max(T::SIZE));
        self.read_wanted(wanted.map_err(|error| self.context(error))?, plan)
    }

    fn read_wanted<T: H5Type>(
        &self,
        wanted: Wanted<'_>,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Vec<T>> {
        let count = wanted.count;
        let elements = Elements::new(self, wanted, plan).map_err(|error| self.context(error))?;
        T::read_vec(count, |out| elements.put(out, true)).map_err(|error| self.context(error))
    }

    /// Reads the selected elements into memory that the caller holds: a slice, a vector, or an array or view of ndarray
    /// of any memory layout. Its shape is that of the selection, or one of both has a single dimension and as many
    /// elements. Arrays in standard layout are read without a copy.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{Array1, Array2, File, s};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let mut year = vec![0.0_f32; 8760];
    /// temperature.read_into(.., &mut year)?;
    /// let mut days = Array2::<f32>::zeros((365, 24));
    /// temperature.read_into(.., &mut days)?;
    /// let mut mornings = Array1::<f32>::zeros(365);
    /// temperature.read_into(s![6..;24], &mut mornings)?;
    /// assert_eq!((days[[1, 6]], mornings[1]), (year[30], year[30]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the memory has another
    /// shape. Its contents are not defined after an error.
    pub fn read_into<A: ArrayDataMut + ?Sized>(
        &self,
        selection: impl IntoSelection,
        values: &mut A,
    ) -> Result<()> {
        let memory = <A::Element as H5Type>::datatype();
        self.read_into_planned(selection, values, |conversions| conversions.plan(self.datatype(), &memory))
    }

    /// Reads the selected elements, converted as planned, into memory of as many elements.
    pub(super) fn read_into_planned<A: ArrayDataMut + ?Sized>(
        &self,
        selection: impl IntoSelection,
        values: &mut A,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<()> {
        let wanted = self.prepare(selection, 0).map_err(|error| self.context(error))?;
        let count = wanted.count;
        if !data::fits(wanted.shape(), count as u64, &values.dims()) {
            let dims = values.dims();
            let message = match wanted.shape() {
                Some(shape) => format!("an array of the shape {dims:?} for elements of the shape {shape:?}"),
                None => format!("an array of the shape {dims:?} for {count} elements"),
            };
            return Err(self.context(Error::Misuse(message)));
        }
        let elements = Elements::new(self, wanted, plan).map_err(|error| self.context(error))?;
        if let Some(values) = values.contiguous() {
            let read = <A::Element as H5Type>::read_slice(values, |out| elements.put(out, false));
            return read.map_err(|error| self.context(error));
        }
        let read = <A::Element as H5Type>::read_vec(count, |out| elements.put(out, true));
        values.assign(read.map_err(|error| self.context(error))?);
        Ok(())
    }

    /// Reads the only selected element.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// assert_eq!(temperature.read_scalar::<f64>(700)?, temperature.read_raw::<f64>(..)?[700]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection has
    /// another number of elements than one.
    pub fn read_scalar<T: H5Type>(&self, selection: impl IntoSelection) -> Result<T> {
        match self.read_raw::<T>(selection)?.as_slice() {
            [value] => Ok(*value),
            values => {
                let message = format!("it has {} elements instead of one", values.len());
                Err(self.context(Error::Misuse(message)))
            }
        }
    }

    /// Reads the selected elements as text: strings of fixed or variable length.
    ///
    /// # Errors
    /// The errors of [`read_stored`](Self::read_stored), and an error if the elements are no strings.
    #[cfg(feature = "ndarray")]
    pub fn read_strings(&self, selection: impl IntoSelection) -> Result<ArrayD<String>> {
        let (shape, stored) = self.read_shaped(selection)?;
        array(&shape, stored.strings().map_err(|error| self.context(error))?)
    }

    /// Reads the selected elements as vectors: sequences of variable length.
    ///
    /// # Errors
    /// The errors of [`read_stored`](Self::read_stored), and an error if the elements are no sequences, or their items
    /// cannot be converted to `T`.
    #[cfg(feature = "ndarray")]
    pub fn read_sequences<T: H5Type>(&self, selection: impl IntoSelection) -> Result<ArrayD<Vec<T>>> {
        let (shape, stored) = self.read_shaped(selection)?;
        array(&shape, stored.sequences().map_err(|error| self.context(error))?)
    }

    /// Reads the selected elements as stored, before any conversion, in the order of the selection: points in their own,
    /// all others in C order. Blocks that overlap count once.
    ///
    /// # Errors
    /// An error if the selection reaches out of the dataset, or the elements are damaged or stored in a way that is not
    /// supported.
    pub fn read_stored(&self, selection: impl IntoSelection) -> Result<Stored> {
        self.read_shaped(selection).map(|(_, stored)| stored)
    }

    /// Reads the selected elements as stored, with their shape.
    pub(super) fn read_shaped(&self, selection: impl IntoSelection) -> Result<(Vec<usize>, Stored)> {
        let size = self.datatype().size as usize;
        let wanted = self.prepare(selection, size).map_err(|error| self.context(error))?;
        let stored = wanted.stored(self).map_err(|error| self.context(error))?;
        Ok((wanted.memory_shape()?, stored))
    }

    /// Returns a selection each of whose elements counts once.
    pub(super) fn without_overlaps<'a>(&self, selection: Cow<'a, Selection>) -> Result<Cow<'a, Selection>> {
        Ok(match selection {
            Cow::Owned(irregular @ Selection::Hyperslab(Hyperslab::Irregular { .. })) => {
                Cow::Owned(irregular.simplified().map_err(|error| self.context(error.into()))?)
            }
            Cow::Borrowed(irregular @ Selection::Hyperslab(Hyperslab::Irregular { .. })) => {
                Cow::Owned(irregular.clone().simplified().map_err(|error| self.context(error.into()))?)
            }
            selection => selection,
        })
    }
}
