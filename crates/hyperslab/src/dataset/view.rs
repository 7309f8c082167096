//! Array views of elements of a file that is held in memory.

use ndarray::ArrayViewD;

use super::Dataset;
use crate::H5Type;

impl Dataset {
    /// Returns an array view of all elements of the dataset without a copy, if the file is held in
    /// memory. Otherwise, returns `None`.
    ///
    /// All of these conditions must hold:
    ///
    /// - The dataset is contiguous, and the datatype is that of `T` in this machine's byte order.
    /// - The file is open for reading only, and is held in memory or mapped into it
    ///   ([`FileDriver::Mmap`](crate::FileDriver::Mmap),
    ///   [`FileDriver::Core`](crate::FileDriver::Core),
    ///   [`File::from_bytes`](crate::File::from_bytes)).
    /// - The elements are aligned in memory as `T` requires.
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
    /// // A view does not convert elements.
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
}
