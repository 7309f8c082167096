//! Writing elements, and changes of the shape.

use std::borrow::Cow;

use hyperslab_engine::ops::WriteTo;
use hyperslab_engine::ops::elements::{WriteSource, leaves_parts};
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Error, Result};

use super::Dataset;
use super::data::{self, ArrayData};
use crate::{Dataspace, Datatype, H5Type, IntoSelection, Selected, Selection};

impl Dataset {
    /// Calls `work` with the right to change the file, in which objects may be open. Errors name the dataset.
    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut Edit<'_>) -> Result<T>) -> Result<T> {
        let file = self.object.file();
        let mut edit = file.edit_deferred().map_err(|error| self.context(error))?;
        let outcome = work(&mut edit).map_err(|error| self.context(error))?;
        file.finish(edit)?;
        Ok(outcome)
    }

    /// Writes the selected elements; see [`IntoSelection`] for the selections. The array has the shape of the selection,
    /// or one of both has a single dimension and as many elements. The elements go in the order of the selection, points
    /// in their own and all others in C order, and are converted to the dataset's type.
    ///
    /// ```
    /// use hyperslab::{Points, s};
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i16>().shape(&[2, 3]).create()?;
    /// dataset.write(.., &ndarray::arr2(&[[1_u8, 2, 3], [4, 5, 6]]))?;
    /// dataset.write(s![1, ..2], &[7, 8])?;
    /// dataset.write(Points::from_rows([[0, 2], [0, 0]]), &[9.0, 10.0])?;
    /// assert_eq!(dataset.read_raw::<i64>(..)?, [10, 2, 9, 7, 8, 6]);
    /// assert!(dataset.write(.., &[1_u8, 2, 3]).is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// Elements of a virtual dataset go to the datasets that it shows, which may be virtual in turn; to all of them, if
    /// several mappings show one element. Those in other files are opened for that, as
    /// [`external_files`](crate::OpenOptions::external_files) allows, and changed on the medium when this returns: nobody
    /// else should have them open for writing. Elements of variable length and references go to sources in the same
    /// file only.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection reaches out of the dataset, if the array has another
    /// shape, if its elements cannot be converted, if the file is open for reading only, or if an element of a virtual
    /// dataset has no source, or its source is not there; nothing is written then. The errors of filters and the medium.
    pub fn write<A: ArrayData + ?Sized>(&self, selection: impl IntoSelection, array: &A) -> Result<()> {
        self.write_array(selection, array, &<A::Element as H5Type>::datatype())
    }

    /// Writes the elements of an array, which are elements of the datatype `memory`, to the selected elements.
    pub(super) fn write_array<A: ArrayData + ?Sized>(
        &self,
        selection: impl IntoSelection,
        array: &A,
        memory: &Datatype,
    ) -> Result<()> {
        let selected = self.resolve(selection)?;
        let (dims, elements) = (array.dims(), array.elements());
        let count = elements.len() as u64;
        let shape = selected.shape().filter(|shape| !data::fits(Some(shape), product(shape), &dims));
        if let Some(shape) = shape {
            let message = format!("an array of the shape {dims:?} for elements of the shape {shape:?}");
            return Err(self.context(Error::Misuse(message)));
        }
        if selected.shape().is_none() && !data::fits(None, count, &dims) {
            let message = format!("an array of the shape {dims:?} has {count} elements");
            return Err(self.context(Error::Misuse(message)));
        }
        let bytes = <A::Element as H5Type>::to_bytes(&elements);
        self.write_converted(selected.selection(), memory, &bytes)
    }

    /// Returns the elements that are selected in the dataset as it is.
    pub(crate) fn resolve<'a>(&self, selection: impl IntoSelection + 'a) -> Result<Selected<'a>> {
        let dataspace = self.dataspace();
        let selected = selection.into_selection(dataspace.dims()).map_err(|error| self.context(error))?;
        Ok(match dataspace {
            Dataspace::Null => Selected::with_shape(selected.into_parts().0, vec![0]),
            _ => selected,
        })
    }

    /// Writes the only selected element.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i16>().shape(&[2, 3]).create()?;
    /// dataset.write_scalar((1, 2), 7)?;
    /// assert_eq!(dataset.read_scalar::<i16>((1, 2))?, 7);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`write`](Self::write), and an error if the selection has another number of elements than one.
    pub fn write_scalar<T: H5Type>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        self.write(selection, &[value])
    }

    /// Writes the selected elements from bytes as the file stores them.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn write_stored(&self, selection: impl IntoSelection, bytes: &[u8]) -> Result<()> {
        let selection = self.resolve(selection)?;
        self.write_from(selection.selection(), &WriteSource::stored(bytes, self.datatype().size as usize))
    }

    pub(crate) fn write_from(&self, selection: &Selection, from: &WriteSource<'_>) -> Result<()> {
        let selection = self.without_overlaps(Cow::Borrowed(selection))?;
        let file = self.object.file();
        file.write_elements(self.write_to(), &selection, from).map_err(|error| self.context(error))
    }

    /// Returns the dataset as the engine's writes name it.
    pub(super) fn write_to(&self) -> WriteTo {
        let address = self.object.address();
        if self.is_virtual() { WriteTo::Virtual(address) } else { WriteTo::Own(address) }
    }

    /// Changes the shape. Elements that are in both shapes stay; new ones have the fill value.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[2, 2]).chunks(&[4, 4]).unlimited().fill(-1).create()?;
    /// dataset.write(.., &[1, 2, 3, 4])?;
    /// dataset.resize(&[3, 1])?;
    /// assert_eq!(dataset.read_raw::<i32>(..)?, [1, 3, -1]);
    /// dataset.resize(&[2, 2])?;
    /// assert_eq!(dataset.read_raw::<i32>(..)?, [1, -1, 3, -1]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not in chunks or cannot have that shape.
    pub fn resize(&self, dims: &[u64]) -> Result<()> {
        let file = self.object.file();
        self.change(|edit| file.resize_dataset(edit, self.object.address(), dims))
    }

    /// Makes the dataset longer along a dimension and writes the new elements.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let log = file.new_dataset("log").of::<f64>().shape(&[0]).unlimited().create()?;
    /// log.append(0, &[1.0, 2.0])?;
    /// log.append(0, &[3.0])?;
    /// assert_eq!(log.read_raw::<f64>(..)?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`resize`](Self::resize) and [`write`](Self::write); and if the array is not as large as the dataset in the
    /// other dimensions. An array of one dimension less counts as one step along `axis`.
    pub fn append<A: ArrayData + ?Sized>(&self, axis: usize, array: &A) -> Result<()> {
        let memory = <A::Element as H5Type>::datatype();
        let plan = self.conversions.plan(&memory, self.datatype());
        let plan = plan.map_err(|error| self.context(error.into()))?;
        let elements = array.elements();
        let bytes = <A::Element as H5Type>::to_bytes(&elements);
        let from = WriteSource::converted(&bytes, &plan).partial(leaves_parts(&memory, self.datatype()));
        let (file, address) = (self.object.file(), self.object.address());
        file.append_elements(address, axis, &array.dims(), &from).map_err(|error| self.context(error))
    }

    /// Extends the dataset at the front of a dimension and writes the new elements there. The element that was at
    /// coordinate 0 moves to the coordinate that equals the length of the array. If that length is a multiple of the
    /// chunk's, only the chunk index changes; otherwise the elements move.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let log = file.new_dataset("log").shape(&[2]).unlimited().chunks(&[2]).write(&[3, 4])?;
    /// log.prepend(0, &[1, 2])?;
    /// log.prepend(0, &[0])?;
    /// assert_eq!(log.read_raw::<i32>(..)?, [0, 1, 2, 3, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`append`](Self::append). [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the dataset is
    /// not chunked: external data can only be appended to, and contiguous data cannot grow. Create a chunked, `unlimited`
    /// dataset instead, and write the elements of both into it.
    pub fn prepend<A: ArrayData + ?Sized>(&self, axis: usize, array: &A) -> Result<()> {
        let memory = <A::Element as H5Type>::datatype();
        let plan = self.conversions.plan(&memory, self.datatype());
        let plan = plan.map_err(|error| self.context(error.into()))?;
        let elements = array.elements();
        let bytes = <A::Element as H5Type>::to_bytes(&elements);
        let from = WriteSource::converted(&bytes, &plan).partial(leaves_parts(&memory, self.datatype()));
        let (file, address) = (self.object.file(), self.object.address());
        self.change(|edit| file.prepend_elements(edit, address, axis, &array.dims(), &from))
    }
}

/// Returns the number of elements of a shape; the largest number for a shape of more elements than memory can hold.
fn product(shape: &[u64]) -> u64 {
    shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size)).unwrap_or(u64::MAX)
}
