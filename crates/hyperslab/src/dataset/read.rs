//! Reading elements.

use std::borrow::Cow;

use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_u64;
#[cfg(feature = "ndarray")]
use ndarray::{Array, Dimension};

use super::Dataset;
use super::data::{self, ArrayDataMut};
use super::elements::{Elements, Planned, SelectedElements};
#[cfg(feature = "ndarray")]
use super::{array, check_rank};
use crate::conversion::to_rust;
use crate::datatype::convert::Conversions;
use crate::{H5Type, Hyperslab, IntoSelection, Selection, Stored};

impl Dataset {
    /// Reads the selected elements of the dataset into an array of the selection's shape; see
    /// [`IntoSelection`] for selections.
    ///
    /// `D` is the dimension type of the array: `Ix1`, `Ix2`, … if the number of dimensions is known
    /// at compile time, else `IxDyn`. If the variable has a type, Rust infers both parameters.
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
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection exceeds the
    /// dataset, if it has another number of dimensions than `D`, or if there is no conversion from
    /// the datatype to `T`. Returns filter and I/O errors.
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self, selection: impl IntoSelection) -> Result<Array<T, D>> {
        self.read_planned(selection, |conversions| to_rust::<T>(conversions, self.datatype()))
    }

    /// Reads the selected elements of the dataset into an array, with the datatype conversion that
    /// the function `plan` returns.
    #[cfg(feature = "ndarray")]
    pub(super) fn read_planned<T: H5Type, D: Dimension>(
        &self,
        selection: impl IntoSelection,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Array<T, D>> {
        let size = size_of::<T>().max(T::SIZE);
        let selected = self.prepare(selection, size).map_err(|error| self.context(error))?;
        let shape = selected.memory_shape()?;
        check_rank::<D>(&shape).map_err(|error| self.context(error))?;
        array(&shape, self.read_selected(selected, plan)?)
    }

    /// Reads the selected elements of the dataset into a vector, in the order of the selection:
    /// points in the order of their list, other selections in C order. An element in several blocks
    /// of a hyperslab is read once.
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
    /// Returns the errors of [`read`](Self::read).
    pub fn read_raw<T: H5Type>(&self, selection: impl IntoSelection) -> Result<Vec<T>> {
        self.read_raw_planned(selection, |conversions| to_rust::<T>(conversions, self.datatype()))
    }

    /// Reads the selected elements of the dataset into a vector, with the datatype conversion that
    /// the function `plan` returns.
    pub(super) fn read_raw_planned<T: H5Type>(
        &self,
        selection: impl IntoSelection,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Vec<T>> {
        let selected = self.prepare(selection, size_of::<T>().max(T::SIZE));
        self.read_selected(selected.map_err(|error| self.context(error))?, plan)
    }

    fn read_selected<T: H5Type>(
        &self,
        selected: SelectedElements<'_>,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Vec<T>> {
        let count = selected.count;
        let elements = Elements::new(self, selected, plan).map_err(|error| self.context(error))?;
        T::read_vec(count, |out| elements.put(out, true)).map_err(|error| self.context(error))
    }

    /// Reads the selected elements of the dataset into memory of the caller: a slice, a vector, or
    /// an array or view of ndarray.
    ///
    /// The shape of `values` must equal the shape of the selection; or one of the two has a single
    /// dimension, and both have the same number of elements. The array may have any memory layout.
    /// Arrays in standard layout are read without a copy.
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
    /// Returns the errors of [`read`](Self::read), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` has another shape. After an
    /// error the elements of `values` are unspecified.
    pub fn read_into<A: ArrayDataMut + ?Sized>(
        &self,
        selection: impl IntoSelection,
        values: &mut A,
    ) -> Result<()> {
        let plan = |conversions: &Conversions| to_rust::<A::Element>(conversions, self.datatype());
        self.read_into_planned(selection, values, plan)
    }

    /// Reads the selected elements of the dataset into the caller's array `values`, with the
    /// datatype conversion that the function `plan` returns.
    pub(super) fn read_into_planned<A: ArrayDataMut + ?Sized>(
        &self,
        selection: impl IntoSelection,
        values: &mut A,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<()> {
        let selected = self.prepare(selection, 0).map_err(|error| self.context(error))?;
        let count = selected.count;
        if !data::fits(selected.shape(), Some(to_u64(count)), &values.dims()) {
            let dims = values.dims();
            let message = match selected.shape() {
                Some(shape) => format!("an array of the shape {dims:?} for elements of the shape {shape:?}"),
                None => format!("an array of the shape {dims:?} for {count} elements"),
            };
            return Err(self.context(Error::Misuse(message)));
        }
        let elements = Elements::new(self, selected, plan).map_err(|error| self.context(error))?;
        if let Some(values) = values.contiguous() {
            let read = <A::Element as H5Type>::read_slice(values, |out| elements.put(out, false));
            return read.map_err(|error| self.context(error));
        }
        let read = <A::Element as H5Type>::read_vec(count, |out| elements.put(out, true));
        values.assign(read.map_err(|error| self.context(error))?);
        Ok(())
    }

    /// Reads the single selected element of the dataset as a value of the type `T`.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// assert_eq!(temperature.read_scalar::<f64>(700)?, temperature.read_raw::<f64>(..)?[700]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection does not have exactly one
    /// element.
    pub fn read_scalar<T: H5Type>(&self, selection: impl IntoSelection) -> Result<T> {
        match self.read_raw::<T>(selection)?.as_slice() {
            [value] => Ok(*value),
            values => {
                let message = format!("{} elements are selected, but exactly one is needed", values.len());
                Err(self.context(Error::Misuse(message)))
            }
        }
    }

    /// Reads the selected elements of a dataset of strings, of fixed or variable length, as text.
    /// For the dimension type `D` see [`read`](Self::read).
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// use hyperslab::Ix1;
    /// let names = file.new_dataset("names").write_strings(&["one", "two"])?;
    /// assert_eq!(names.read_strings::<Ix1>(..)?.to_vec(), ["one", "two"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_stored`](Self::read_stored), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not strings or the
    /// selection has another number of dimensions than `D`.
    #[cfg(feature = "ndarray")]
    pub fn read_strings<D: Dimension>(&self, selection: impl IntoSelection) -> Result<Array<String, D>> {
        let (shape, stored) = self.read_shaped(selection)?;
        self.shaped(&shape, stored.strings())
    }

    /// Reads the selected elements of a dataset of variable-length sequences as vectors. For the
    /// dimension type `D` see [`read`](Self::read).
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// use hyperslab::{Array1, Datatype, H5Type};
    /// let datatype = Datatype::sequence(i32::datatype(), 8);
    /// let dataset = file.new_dataset("a").datatype(datatype).shape(&[2]).create()?;
    /// dataset.write_sequences(.., &[vec![1_i32, 2, 3], vec![]])?;
    /// let sequences: Array1<Vec<i64>> = dataset.read_sequences(..)?;
    /// assert_eq!(sequences[0], [1, 2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_stored`](Self::read_stored), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not sequences, if there
    /// is no conversion from the items to `T`, or if the selection has another number of dimensions
    /// than `D`.
    #[cfg(feature = "ndarray")]
    pub fn read_sequences<T: H5Type, D: Dimension>(
        &self,
        selection: impl IntoSelection,
    ) -> Result<Array<Vec<T>, D>> {
        let (shape, stored) = self.read_shaped(selection)?;
        self.shaped(&shape, stored.sequences())
    }

    /// Reads the selected elements of the dataset as stored, without conversion, in the order of
    /// the selection: points in the order of their list, other selections in C order. An element in
    /// several blocks of a hyperslab is read once.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// use hyperslab::{Datatype, datatype::ByteOrder::BigEndian};
    /// let dataset = file.new_dataset("a").datatype(Datatype::u16(BigEndian)).write(&[1_u16, 2])?;
    /// assert_eq!(dataset.read_stored(..)?.bytes(), [0, 1, 0, 2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection exceeds the
    /// dataset. Returns filter and I/O errors.
    pub fn read_stored(&self, selection: impl IntoSelection) -> Result<Stored> {
        self.read_shaped(selection).map(|(_, stored)| stored)
    }

    /// Reads the selected elements of the dataset in the stored form. Returns the shape of the
    /// selection and the elements.
    pub(super) fn read_shaped(&self, selection: impl IntoSelection) -> Result<(Vec<usize>, Stored)> {
        let size = self.datatype().size as usize;
        let selected = self.prepare(selection, size).map_err(|error| self.context(error))?;
        let stored = selected.stored(self).map_err(|error| self.context(error))?;
        Ok((selected.memory_shape()?, stored))
    }

    /// Returns a selection of the same elements as the given selection. Each element occurs once in
    /// the result.
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
