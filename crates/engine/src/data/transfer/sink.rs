//! The trait of all datasets that are open for writes of elements.

use hyperslab_dataspace::Selection;
use hyperslab_format::message::Layout;

use super::{Resources, WriteSource};
use crate::error::Result;
use crate::store::Edit;

/// A trait of datasets that are open for writes of their elements. ([`Source`](super::Source) is
/// the trait for reads.)
///
/// A sink knows the shape of its dataset. Between operations, a sink keeps state such as dirty
/// chunks.
pub trait Sink: Send + std::fmt::Debug {
    /// Writes the selected elements of a dataset from the write source. The dataset has at least
    /// one element.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if the number of elements in `from` differs
    /// from the number of selected elements. Returns errors of filters, conversions and the driver.
    fn write(
        &mut self,
        writing: &mut SinkContext<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()>;

    /// Allocates the missing storage of a dataset's raw data, and writes fill values to it if the
    /// dataset requires them.
    ///
    /// # Errors
    /// Returns errors of filters and the driver.
    fn allocate(&mut self, _writing: &mut SinkContext<'_, '_>) -> Result<()> {
        Ok(())
    }

    /// Changes the shape of a dataset that is open for writes. The caller has checked that the
    /// dataset can have the new shape.
    ///
    /// # Errors
    /// Returns errors of filters and the driver.
    fn resize(&mut self, writing: &mut SinkContext<'_, '_>, dims: &[u64]) -> Result<()>;

    /// Stores the dirty chunks of a dataset and writes their locations into the chunk index.
    ///
    /// # Errors
    /// Returns errors of filters and the driver.
    fn flush(&mut self, _writing: &mut SinkContext<'_, '_>) -> Result<()> {
        Ok(())
    }

    /// Frees the file space of all elements of a dataset. The dataset is not used afterwards.
    ///
    /// # Errors
    /// Returns an error if the chunk index is damaged.
    fn free(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()>;

    /// Notes the state of a dataset's chunk index in the layout message `layout`. Returns whether
    /// the message changed.
    fn note_layout(&self, _layout: &mut Layout) -> bool {
        false
    }

    /// Returns whether a dataset that is open for writes has dirty chunks or dirty entries of the
    /// chunk index.
    fn is_dirty(&self) -> bool {
        false
    }

    /// Returns whether a dataset that is open for writes can have another shape.
    fn is_resizable(&self) -> bool {
        true
    }

    /// Declares that the caller will soon write all elements of the dataset. New storage is then
    /// allocated without fill values.
    fn expect_all(&mut self) {}
}

/// The access to the file during one operation on a dataset that is open for writes (a [`Sink`]),
/// and the layout message of the dataset.
#[derive(Debug)]
pub struct SinkContext<'w, 'e> {
    /// The right to change the file.
    pub edit: &'w mut Edit<'e>,
    /// The chunk caches.
    pub resources: &'w Resources,
    /// The layout message, with all changes since it was last written.
    pub layout: &'w mut Layout,
    /// True if the layout message must be written. The sink sets this flag.
    pub layout_changed: &'w mut bool,
}
