//! The view of a dataset with the methods of sparse storage.

use crate::Dataset;

/// A view of a dataset as sparse storage: its defined elements, its structured chunks, and its
/// elements as compressed matrices; made by [`Dataset::sparse`].
///
/// Every dataset has this view. In a dataset that is not sparse, all elements are defined, and
/// methods that need structured chunks return [`ErrorKind::Misuse`](crate::ErrorKind::Misuse).
///
/// ```
/// use hyperslab::Points;
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// let counts = file.new_dataset("counts").of::<u32>().shape(&[1000, 1000]).sparse(&[100, 100]).create()?;
/// counts.sparse().write(&Points::from_rows([[0, 5], [999, 1]]), &[12, 34])?;
/// let (points, values) = counts.sparse().read::<u32>((.., ..10))?;
/// assert_eq!((points, values), (Points::from_rows([[0, 5], [999, 1]]), vec![12, 34]));
/// assert_eq!(counts.sparse().defined_count()?, 2);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SparseView<'a> {
    pub(super) dataset: &'a Dataset,
}

impl Dataset {
    /// Returns a view of the dataset with the methods of sparse storage.
    pub fn sparse(&self) -> SparseView<'_> {
        SparseView { dataset: self }
    }
}
