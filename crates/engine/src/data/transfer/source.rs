//! The trait of all datasets from which reads take elements.

use hyperslab_dataspace::Selection;

use super::{ReadContext, ReadTarget};
use crate::error::Result;

/// A trait of datasets from which reads take elements, as the file stores the elements.
pub trait Source: Send + Sync + std::fmt::Debug {
    /// Reads the selected elements of a dataset into the read target, in the order of the
    /// selection. Elements that were never written get the fill value.
    ///
    /// # Errors
    /// Returns errors of damaged chunks, filters, conversions and the driver.
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut ReadTarget<'_>) -> Result<()>;
}
