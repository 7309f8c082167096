//! Writing and erasing elements of sparse datasets.

use hyperslab_engine::ops::elements::WriteSource;
use hyperslab_engine::ops::sparse::{PointCoordinates, StructuredWriter};
use hyperslab_engine::{Error, Result};

use super::SparseView;
use super::heap_elements::HeapElements;
use crate::datatype::convert::VariableArena;
use crate::{Datatype, H5Type, IntoSelection, Points};

impl SparseView<'_> {
    /// Writes values to the dataset's elements at the coordinates `points`. In a sparse dataset
    /// these elements become defined, even if they equal the fill value. Points may come in any
    /// order; of equal points the last value is written.
    ///
    /// ```
    /// use hyperslab::Points;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f32>().shape(&[1000, 1000]).sparse(&[100, 100]).create()?;
    /// a.sparse().write(&Points::from_rows([[999, 1], [0, 5]]), &[1.5, 0.0])?;
    /// let (points, values) = a.sparse().read::<f32>(..)?;
    /// assert_eq!((points.coordinates, values), (vec![0, 5, 999, 1], vec![0.0, 1.5]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a point lies outside the dataset,
    /// if the number of values is not the number of points, or if there is no conversion to the
    /// datatype; nothing is written then. Returns filter and I/O errors.
    pub fn write<T: H5Type>(&self, points: &Points, values: &[T]) -> Result<()> {
        self.write_bytes(points, &T::datatype(), &T::to_bytes(values))
    }

    /// Writes bytes of elements of the datatype `memory` to the dataset's elements at the
    /// coordinates `points`; see [`write`](Self::write).
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_bytes(&self, points: &Points, memory: &Datatype, bytes: &[u8]) -> Result<()> {
        if points.rank != self.dataset.ndim() {
            let (got, rank) = (points.rank, self.dataset.ndim());
            return Err(self.dataset.context(Error::Misuse(format!(
                "the points have {got} dimensions, but the dataset has {rank}"
            ))));
        }
        if !self.dataset.is_structured() {
            return self.dataset.write_bytes(points, memory, bytes);
        }
        self.write_coordinates(None, points, memory, bytes)
    }

    /// Writes strings of fixed or variable length to the dataset's elements at the coordinates
    /// `points`; see [`write`](Self::write).
    ///
    /// ```
    /// use hyperslab::{CharacterSet, Datatype, Points};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    /// let notes = file.new_dataset("notes").datatype(text).shape(&[1_000_000]).sparse(&[10_000]).create()?;
    /// notes.sparse().write_strings(&Points::from_rows([[5], [70_000]]), &["five", "more"])?;
    /// assert_eq!(notes.sparse().read_stored(..)?.1.strings()?, ["five", "more"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not strings.
    pub fn write_strings<S: AsRef<str>>(&self, points: &Points, texts: &[S]) -> Result<()> {
        if !self.dataset.is_structured() || !self.dataset.datatype().is_variable_string() {
            return self.dataset.write_strings(points, texts);
        }
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_ref().as_bytes()).collect();
        let contents = self.dataset.text_elements(&texts)?;
        self.write_heap_elements(points, &contents)
    }

    /// Writes variable-length sequences to the dataset's elements at the coordinates `points`; see
    /// [`write`](Self::write).
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not sequences.
    pub fn write_sequences<T: H5Type, S: AsRef<[T]>>(&self, points: &Points, sequences: &[S]) -> Result<()> {
        let arena = VariableArena::default();
        let bytes = self.dataset.sequence_descriptors(sequences, &arena)?;
        let memory = Datatype::sequence(T::datatype(), 8);
        let contents = self.dataset.converted_elements(&memory, &bytes, Some(std::sync::Arc::new(arena)))?;
        self.write_heap_elements(points, &contents)
    }

    fn write_heap_elements(&self, points: &Points, contents: &HeapElements) -> Result<()> {
        self.change_chunks(None, Some(contents), |writer, writing| {
            writer.write_points(writing, points, &contents.write_source())
        })
    }

    /// Writes bytes of elements of the datatype `memory` to the dataset's elements at the
    /// coordinates `points`. If `dims` is given, first changes the shape of the dataset to `dims`.
    pub(crate) fn write_coordinates<C: PointCoordinates>(
        &self,
        dims: Option<&[u64]>,
        points: &C,
        memory: &Datatype,
        bytes: &[u8],
    ) -> Result<()> {
        if self.dataset.datatype().is_variable_length() {
            let contents = self.dataset.converted_elements(memory, bytes, None)?;
            return self.change_chunks(dims, Some(&contents), |writer, writing| {
                writer.write_points(writing, points, &contents.write_source())
            });
        }
        let plan = self.dataset.conversions().plan(memory, self.dataset.datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let partial = hyperslab_engine::ops::elements::leaves_parts(memory, self.dataset.datatype());
        let from = WriteSource::converted(bytes, &plan).partial(partial);
        self.change_chunks(dims, None, |writer, writing| writer.write_points(writing, points, &from))
    }

    /// Changes the dataset's structured chunks: calls `work` with a writer of the chunks. If `dims`
    /// is given, first changes the shape of the dataset to `dims`. No flush separates the two
    /// changes.
    pub(super) fn change_chunks<T>(
        &self,
        dims: Option<&[u64]>,
        contents: Option<&HeapElements>,
        work: impl FnOnce(
            &mut StructuredWriter,
            &mut hyperslab_engine::ops::sparse::StructuredWriting<'_, '_>,
        ) -> Result<T>,
    ) -> Result<T> {
        let (file, address) = (self.dataset.object().file(), self.dataset.object().address());
        let heap = contents.map(HeapElements::heap);
        self.dataset.change(|edit| {
            dims.map_or(Ok(()), |dims| file.resize_dataset(edit, address, dims))?;
            file.change_structured(edit, address, heap, work)
        })
    }

    /// Makes the selected elements of the dataset undefined: they read as the fill value and take
    /// no space in the file.
    ///
    /// ```
    /// use hyperslab::Points;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<i32>().shape(&[100]).sparse(&[50]).fill(-1).create()?;
    /// a.sparse().write(&Points::from_rows([[3], [4], [80]]), &[30, 40, 800])?;
    /// a.sparse().erase(4..94)?;
    /// assert_eq!(a.sparse().defined_count()?, 1);
    /// assert_eq!(a.read_raw::<i32>(3..5)?, [30, -1]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not sparse or the
    /// selection exceeds the dataset. Returns filter and I/O errors.
    pub fn erase(&self, selection: impl IntoSelection) -> Result<()> {
        let selected = self.dataset.resolve(selection)?;
        if !self.dataset.is_structured() {
            return Err(self.dataset.context(Error::Misuse(
                "only elements of sparse datasets can be made undefined, and this dataset is not sparse"
                    .into(),
            )));
        }
        self.change_chunks(None, None, |writer, writing| writer.erase(writing, selected.selection()))
    }

    /// Extends the dataset at the end of the dimension `axis` by `length`, and writes values to
    /// elements of the new part. The coordinates of `points` along `axis` count from the start of
    /// the new part.
    ///
    /// A detector, for instance, appends its frames along dimension 0 with chunks of size 1 along
    /// this dimension, so that no stored chunk changes.
    ///
    /// ```
    /// use hyperslab::Points;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let new = file.new_dataset("frames").of::<u16>().shape(&[0, 512, 512]).max_shape(&[None, Some(512), Some(512)]);
    /// let frames = new.sparse(&[1, 512, 512]).create()?;
    /// for photons in [[3_u64, 4], [500, 12]] {
    ///     frames.sparse().append(0, 1, &Points::from_rows([[0, photons[0], photons[1]]]), &[1_u16])?;
    /// }
    /// let (points, _) = frames.sparse().read::<u16>(..)?;
    /// assert_eq!(points.coordinates, [0, 3, 4, 1, 500, 12]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::resize`](crate::Dataset::resize) and
    /// [`write`](Self::write). The dataset keeps its shape if a point lies outside the new part.
    pub fn append<T: H5Type>(&self, axis: usize, length: u64, points: &Points, values: &[T]) -> Result<()> {
        let mut dims = self.dataset.dataspace().dims().to_vec();
        let rank = dims.len();
        let Some(before) = dims.get(axis).copied() else {
            return Err(self
                .dataset
                .context(Error::Misuse(format!("the sparse dataset has no dimension {axis}"))));
        };
        let Some(after) = before.checked_add(length) else {
            let message =
                format!("{before} and {length} elements along dimension {axis} do not fit in 64 bits");
            return Err(self.dataset.context(Error::Misuse(message)));
        };
        let mut moved = points.clone();
        for (number, point) in moved.coordinates.chunks_exact_mut(points.rank.max(1)).enumerate() {
            let inside = point.len() == rank
                && point
                    .iter()
                    .zip(&dims)
                    .enumerate()
                    .all(|(dimension, (at, size))| *at < if dimension == axis { length } else { *size });
            if !inside {
                let message = format!("point {number}, {point:?}, lies outside the new part");
                return Err(self.dataset.context(Error::Misuse(message)));
            }
            if let Some(at) = point.get_mut(axis) {
                // The sum is less than `after`, because the coordinate is less than `length`.
                *at += before;
            }
        }
        if values.len().checked_mul(rank) != Some(moved.coordinates.len()) {
            let subject = format!(
                "{} values for {} coordinates of {rank} dimensions",
                values.len(),
                moved.coordinates.len()
            );
            return Err(self.dataset.context(Error::Misuse(subject)));
        }
        if let Some(size) = dims.get_mut(axis) {
            *size = after;
        }
        if values.is_empty() || !self.dataset.is_structured() {
            self.dataset.resize(&dims)?;
            return if values.is_empty() { Ok(()) } else { self.write(&moved, values) };
        }
        self.write_coordinates(Some(&dims), &moved, &T::datatype(), &T::to_bytes(values))
    }
}
