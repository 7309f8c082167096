//! Writing elements, and changes of the shape.

use hyperslab_engine::ops::WriteTo;
use hyperslab_engine::ops::elements::{WriteSource, leaves_parts};
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Error, Result};

use super::Dataset;
use super::data::ArrayData;
use crate::slice::{self, Slice};
use crate::{H5Type, Region, Selection};

impl Dataset {
    /// Calls `work` with the right to change the file, in which objects may be open. Errors name the dataset.
    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut Edit<'_>) -> Result<T>) -> Result<T> {
        let file = self.object.file();
        let mut edit = file.edit_behind().map_err(|error| self.context(error))?;
        let outcome = work(&mut edit).map_err(|error| self.context(error))?;
        file.finish(edit)?;
        Ok(outcome)
    }

    /// Writes all elements. The array has the dataset's shape; its elements are converted to the dataset's type.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i16>().shape(&[2, 3]).create()?;
    /// dataset.write(&ndarray::arr2(&[[1_u8, 2, 3], [4, 5, 6]]))?;
    /// assert_eq!(dataset.read_raw::<i64>()?, [1, 2, 3, 4, 5, 6]);
    /// assert!(dataset.write(&[1_u8, 2, 3]).is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the array has another shape, if its elements cannot be
    /// converted, or if the file is open for reading only; those of filters and the medium.
    pub fn write<A: ArrayData + ?Sized>(&self, array: &A) -> Result<()> {
        let (dims, dataspace) = (array.dims(), self.dataspace());
        if dims != dataspace.dims() {
            let message =
                format!("an array of the shape {dims:?} for a dataset of the shape {:?}", dataspace.dims());
            return Err(self.context(Error::Misuse(message)));
        }
        self.write_selection(&Selection::All, &array.elements())
    }

    /// Writes all elements, given in C order.
    ///
    /// # Errors
    /// As [`write`](Self::write), and if there is another number of elements.
    pub fn write_raw<T: H5Type>(&self, elements: &[T]) -> Result<()> {
        self.write_selection(&Selection::All, elements)
    }

    /// Writes the only element.
    ///
    /// # Errors
    /// As [`write_raw`](Self::write_raw).
    pub fn write_scalar<T: H5Type>(&self, value: T) -> Result<()> {
        self.write_raw(&[value])
    }

    /// Writes the elements of a slice, such as `s![2, ..]`.
    ///
    /// ```
    /// use hyperslab::s;
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[2, 3]).create()?;
    /// dataset.write_slice(&s![1, ..], &[7, 8, 9])?;
    /// assert_eq!(dataset.read_raw::<i32>()?, [0, 0, 0, 7, 8, 9]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`write`](Self::write), and if the slice reaches out of the dataset.
    pub fn write_slice<A: ArrayData + ?Sized>(&self, slices: &[Slice], array: &A) -> Result<()> {
        let dataspace = self.dataspace();
        let (selection, shape) =
            slice::selection(slices, dataspace.dims()).map_err(|error| self.context(error))?;
        let dims = array.dims();
        let same = dims == shape || (shape.is_empty() && dims == [1]);
        if !same {
            let message = format!("an array of the shape {dims:?} for a slice of the shape {shape:?}");
            return Err(self.context(Error::Misuse(message)));
        }
        self.write_selection(&selection, &array.elements())
    }

    /// Writes the elements of a box, given in C order.
    ///
    /// # Errors
    /// As [`write`](Self::write), and if the box reaches out of the dataset.
    pub fn write_region<T: H5Type>(&self, region: &Region, elements: &[T]) -> Result<()> {
        let dataspace = self.dataspace();
        region.check_within("the box", dataspace.dims()).map_err(|error| self.context(error.into()))?;
        let whole = dataspace.dims().is_empty();
        self.write_selection(&if whole { Selection::All } else { Selection::region(region) }, elements)
    }

    /// Writes the selected elements, given in the order of the selection: points in their own, all others in C order.
    ///
    /// ```
    /// use hyperslab::{Points, Selection};
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<f32>().shape(&[100]).create()?;
    /// let points = Selection::Points(Points { rank: 1, coordinates: vec![7, 3] });
    /// dataset.write_selection(&points, &[0.5, 1.5])?;
    /// assert_eq!(dataset.read_selection::<f32>(&points)?, [0.5, 1.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// Elements of a virtual dataset go to the datasets that it shows, which may be virtual in turn; to all of them, where
    /// several mappings show one. Those in other files are opened for that, as
    /// [`external_files`](crate::OpenOptions::external_files) allows, and changed on the medium when this returns: nobody
    /// else should have them open for writing. Elements of variable length and references go to sources in the same
    /// file only.
    ///
    /// # Errors
    /// As [`write`](Self::write), and if the selection reaches out of the dataset or has another number of elements.
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if an element of a virtual dataset has no source, or its source is
    /// not there; nothing is written then.
    pub fn write_selection<T: H5Type>(&self, selection: &Selection, elements: &[T]) -> Result<()> {
        self.write_bytes(selection, &T::datatype(), &T::to_bytes(elements))
    }

    /// As [`write_selection`](Self::write_selection), of elements as the file stores them.
    ///
    /// # Errors
    /// As [`write_selection`](Self::write_selection).
    pub fn write_stored(&self, selection: &Selection, bytes: &[u8]) -> Result<()> {
        self.write_from(selection, &WriteSource::stored(bytes, self.datatype().size as usize))
    }

    pub(crate) fn write_from(&self, selection: &Selection, from: &WriteSource<'_>) -> Result<()> {
        let selection = self.without_overlaps(selection)?;
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
    /// dataset.write_raw(&[1, 2, 3, 4])?;
    /// dataset.resize(&[3, 1])?;
    /// assert_eq!(dataset.read_raw::<i32>()?, [1, 3, -1]);
    /// dataset.resize(&[2, 2])?;
    /// assert_eq!(dataset.read_raw::<i32>()?, [1, -1, 3, -1]);
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
    /// assert_eq!(log.read_raw::<f64>()?, [1.0, 2.0, 3.0]);
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
    /// assert_eq!(log.read_raw::<i32>()?, [0, 1, 2, 3, 4]);
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
