//! Writing elements, and changing the shape.

use std::borrow::Cow;

use hyperslab_engine::ops::WriteTo;
use hyperslab_engine::ops::elements::{WriteSource, leaves_parts};
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::{product, to_u64};

use super::Dataset;
use super::data::{self, ArrayData};
use crate::{Dataspace, Datatype, H5Type, IntoSelection, Selected, Selection};

impl Dataset {
    /// Changes the file of the dataset: runs `work` with exclusive access to the file. Changed
    /// object headers may stay in memory afterwards. The context of errors names the dataset.
    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut Edit<'_>) -> Result<T>) -> Result<T> {
        let file = self.object.file();
        let mut edit = file.edit_deferred().map_err(|error| self.context(error))?;
        let outcome = work(&mut edit).map_err(|error| self.context(error))?;
        file.finish(edit)?;
        Ok(outcome)
    }

    /// Writes an array to the selected elements of the dataset, and converts its elements to the
    /// dataset's datatype; see [`IntoSelection`] for selections.
    ///
    /// The shape of the array must equal the shape of the selection; or one of the two has a single
    /// dimension, and both have the same number of elements. The elements are taken in the order of
    /// the selection: points in the order of their list, other selections in C order.
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
    /// Elements of a virtual dataset go to the source datasets, which may be virtual in turn. If
    /// several mappings show one element, all their sources are written. Sources in other files are
    /// opened as [`external_files`](crate::OpenOptions::external_files) allows, and the changes of
    /// these files are durable when `write` returns: no other program should have them open for
    /// writing. Variable-length data and references can be written only to sources in the same
    /// file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection exceeds the
    /// dataset, if the array has another shape, if there is no conversion to the datatype, if the
    /// file is open for reading only, or if an element of a virtual dataset has no source or the
    /// source does not exist; nothing is written then. Returns filter and I/O errors.
    pub fn write<A: ArrayData + ?Sized>(&self, selection: impl IntoSelection, array: &A) -> Result<()> {
        self.write_array(selection, array, &<A::Element as H5Type>::datatype())
    }

    /// Writes the elements of an array to the selected elements of the dataset. `memory` is the
    /// datatype of the array.
    pub(super) fn write_array<A: ArrayData + ?Sized>(
        &self,
        selection: impl IntoSelection,
        array: &A,
        memory: &Datatype,
    ) -> Result<()> {
        let selected = self.resolve(selection)?;
        let (dims, elements) = (array.dims(), array.elements());
        let count = to_u64(elements.len());
        let shape = selected.shape().filter(|shape| !data::fits(Some(shape), element_count(shape), &dims));
        if let Some(shape) = shape {
            let message = format!("an array of the shape {dims:?} for elements of the shape {shape:?}");
            return Err(self.context(Error::Misuse(message)));
        }
        if selected.shape().is_none() && !data::fits(None, Some(count), &dims) {
            let message = format!("an array of the shape {dims:?} has {count} elements");
            return Err(self.context(Error::Misuse(message)));
        }
        let bytes = <A::Element as H5Type>::to_bytes(&elements);
        self.write_converted(&selected, memory, &bytes)
    }

    /// Resolves a value that selects elements, such as a slice, to a selection for the current
    /// shape of the dataset.
    pub(crate) fn resolve<'a>(&self, selection: impl IntoSelection + 'a) -> Result<Selected<'a>> {
        let dataspace = self.dataspace();
        let selected = selection.into_selection(dataspace.dims()).map_err(|error| self.context(error))?;
        Ok(match dataspace {
            Dataspace::Null => Selected::with_shape(selected.into_parts().selection, vec![0]),
            _ => selected,
        })
    }

    /// Writes a single value to the one selected element of the dataset.
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
    /// Returns the errors of [`write`](Self::write), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the selection does not have exactly one
    /// element.
    pub fn write_scalar<T: H5Type>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        self.write(selection, &[value])
    }

    /// Writes bytes in the stored form to the selected elements of the dataset, without conversion.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// use hyperslab::{Datatype, datatype::ByteOrder::BigEndian};
    /// let dataset =
    /// file.new_dataset("a").datatype(Datatype::u16(BigEndian)).shape(&[2]).create()?;
    /// dataset.write_stored(.., &[0, 1, 0, 2])?;
    /// assert_eq!(dataset.read_raw::<u16>(..)?, [1, 2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_stored(&self, selection: impl IntoSelection, bytes: &[u8]) -> Result<()> {
        let (selected, size) = (self.resolve(selection)?, self.datatype().size as usize);
        let bytes = selected.packed_bytes(bytes, size).map_err(|error| self.context(error))?;
        self.write_from(&selected, &WriteSource::stored(&bytes, size))
    }

    /// Writes elements, which are in the order of the selection, to the selected elements of the
    /// dataset.
    pub(super) fn write_from(&self, selected: &Selected<'_>, from: &WriteSource<'_>) -> Result<()> {
        let selection = self.written(selected)?;
        let file = self.object.file();
        file.write_elements(self.write_to(), &selection, from).map_err(|error| self.context(error))
    }

    /// Returns the selection of the elements that a write replaces, each once.
    pub(super) fn written<'a>(&self, selected: &'a Selected<'_>) -> Result<Cow<'a, Selection>> {
        let selection = Cow::Borrowed(selected.selection());
        if selected.is_disjoint() { Ok(selection) } else { self.without_overlaps(selection) }
    }

    /// Returns the target of a write to this dataset: the address of the dataset, with a mark for
    /// virtual datasets.
    pub(super) fn write_to(&self) -> WriteTo<'_> {
        let address = self.object.address();
        if self.is_virtual() {
            WriteTo::Virtual(address, self.access.as_ref())
        } else {
            WriteTo::Own(address)
        }
    }

    /// Changes the shape of the dataset. Elements inside both shapes keep their values; new
    /// elements have the fill value.
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
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not chunked, if
    /// `dims` has another number of dimensions or exceeds the largest dimensions, or if the file is
    /// open for reading only. Returns filter and I/O errors.
    pub fn resize(&self, dims: &[u64]) -> Result<()> {
        let file = self.object.file();
        self.change(|edit| file.resize_dataset(edit, self.object.address(), dims))
    }

    /// Changes the dataset to the form that HDF5 1.8 and older can read: a layout message of
    /// version 3, and a version 1 B-tree as the chunk index. The elements and the chunks stay as
    /// they are. Other parts of the object header keep their form.
    ///
    /// ```
    /// use hyperslab::{ChunkIndexKind, Dataset, FileOptions, Layout, LibraryVersion, LibverBounds};
    /// let index = |dataset: &Dataset| match dataset.layout() {
    ///     Layout::Chunked(chunking) => Some(chunking.index),
    ///     _ => None,
    /// };
    /// let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?;
    /// let file = FileOptions::new().libver(bounds).create_in_memory()?;
    /// let dataset = file.new_dataset("a").chunks(&[2]).write(&[1, 2, 3])?;
    /// assert_eq!(index(&dataset), Some(ChunkIndexKind::FixedArray));
    /// dataset.use_old_layout()?;
    /// assert_eq!(index(&dataset), Some(ChunkIndexKind::BTreeV1));
    /// assert_eq!(dataset.read_raw::<i32>(..)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for virtual and sparse
    /// datasets and for datasets that leave the chunks at their edges unfiltered. Returns
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a stored chunk has 4 GiB or more, or if
    /// the file is open for reading only.
    pub fn use_old_layout(&self) -> Result<()> {
        let file = self.object.file();
        self.change(|edit| file.use_old_layout(edit, self.object.address()))
    }

    /// Extends the dataset at the end of the dimension `axis` and writes the elements of `array`
    /// there. An array with one dimension less than the dataset counts as one step along `axis`.
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
    /// Returns the errors of [`resize`](Self::resize) and [`write`](Self::write), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the array differs in size from the
    /// dataset in another dimension than `axis`.
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

    /// Extends the dataset at the front of the dimension `axis` and writes the elements of `array`
    /// there. The present elements move to higher coordinates, by the length of the array.
    ///
    /// If that length is a multiple of the chunk's length, only the chunk index changes; otherwise
    /// the elements are rewritten.
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
    /// Returns the errors of [`append`](Self::append), and
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the dataset is not chunked:
    /// external data grows only at the end, and contiguous data cannot grow. To prepend to such
    /// data, create a chunked, `unlimited` dataset and write the elements of both into it.
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

/// Returns the number of elements of an array of the shape `shape`; `None` if the number does not
/// fit in 64 bits.
fn element_count(shape: &[u64]) -> Option<u64> {
    product("number of elements", shape.iter().copied()).ok()
}
