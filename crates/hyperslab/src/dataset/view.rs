//! Reading into arrays that the caller holds, and looking at those that the file holds.

use hyperslab_engine::{Error, Result};
use ndarray::{ArrayViewD, ArrayViewMut, Dimension};

use super::{Dataset, to_usize};
use crate::slice::{self, Slice};
use crate::{H5Type, Selection};

impl Dataset {
    /// All elements where they lie, without a copy: those of a contiguous or compact dataset whose type is that of `T` in this
    /// machine's byte order, in a file that is open for reading only and whole in memory or mapped into it
    /// ([`FileDriver::Mmap`](crate::FileDriver::Mmap), [`FileDriver::Core`](crate::FileDriver::Core),
    /// [`File::from_bytes`](crate::File::from_bytes)). `None` for all others, and where the elements lie across the boundaries
    /// that values of `T` have in memory.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("hyperslab-view-{}.h5", std::process::id()));
    /// use hyperslab::{File, FileDriver, FileOptions, OpenOptions};
    /// let file = FileOptions::new().create(&path)?;
    /// file.new_dataset("a").write(&ndarray::arr2(&[[1.5_f64, 2.5], [3.5, 4.5]]))?;
    /// file.close()?;
    /// let file = OpenOptions::new().driver(FileDriver::Mmap).open(&path)?;
    /// let dataset = file.dataset("a")?;
    /// let view = dataset.view::<f64>().unwrap();
    /// assert_eq!((view.shape(), view[[1, 0]]), ([2, 2].as_slice(), 3.5));
    /// // Of another type nothing can be seen; it has to be read.
    /// assert!(dataset.view::<f32>().is_none());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn view<T: H5Type>(&self) -> Option<ArrayViewD<'_, T>> {
        if *self.datatype() != T::datatype() {
            return None;
        }
        let shape: Option<Vec<usize>> =
            self.dataspace().dims().iter().map(|size| usize::try_from(*size).ok()).collect();
        ArrayViewD::from_shape(shape?, T::view(self.stored_view()?)?).ok()
    }

    /// The selected elements into a view of an array, whatever its memory layout: in C order of the view's own
    /// shape, which may be another than that of the selection. A view in standard layout is read into straight.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, Selection};
    /// use ndarray::Array2;
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let mut days = Array2::<f32>::zeros((365, 24));
    /// temperature.read_into_view(&Selection::All, days.view_mut())?;
    /// assert!(days.iter().any(|value| *value != 0.0));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_into_view<T: H5Type, D: Dimension>(
        &self,
        selection: &Selection,
        mut view: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        if let Some(values) = view.as_slice_mut() {
            return self.read_into(selection, values);
        }
        let count = self.open()?.selected(selection)?;
        if to_usize(count)? != view.len() {
            let message = format!("{count} elements are selected for a view of {}", view.len());
            return Err(self.context(Error::Misuse(message)));
        }
        for (to, from) in view.iter_mut().zip(self.read_selection(selection)?) {
            *to = from;
        }
        Ok(())
    }

    /// The elements of a slice, which [`s!`](crate::s) makes, into a view of the slice's shape.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, s};
    /// use ndarray::Array1;
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let mut mornings = Array1::<f32>::zeros(365);
    /// temperature.read_slice_into(s![6..;24], mornings.view_mut())?;
    /// assert_eq!(mornings.into_dyn(), temperature.read_slice::<f32>(s![6..;24])?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_slice`](Self::read_slice), and if the view has another shape.
    pub fn read_slice_into<T: H5Type, D: Dimension>(
        &self,
        slices: impl AsRef<[Slice]>,
        view: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        let (selection, shape) = slice::selection(slices.as_ref(), self.dataspace().dims())
            .map_err(|error| self.context(error))?;
        if !shape.iter().copied().eq(view.shape().iter().map(|size| *size as u64)) {
            let message = format!("a slice of shape {shape:?} for a view of shape {:?}", view.shape());
            return Err(self.context(Error::Misuse(message)));
        }
        self.read_into_view(&selection, view)
    }
}
