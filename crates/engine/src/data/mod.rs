//! The raw data path: from a dataset's description and a selection of elements to the elements' bytes.

mod byte_runs;
pub mod chunk_index;
mod chunked;
mod compact;
mod contiguous;
mod external;
mod reference;
mod variable;
pub mod virtual_;

pub use chunked::ChunkedSource;
pub use compact::CompactSource;
pub use contiguous::ContiguousSource;
pub use external::{ExternalSource, OpenRaw, Piece};
pub use reference::ReferenceTarget;
pub use variable::VariableLengthValue;

use hyperslab_dataspace::{DataspaceError, Selection};

use crate::error::{Error, Result};
use crate::store::Store;

/// Elements of a dataset, as the file stores them.
pub trait Source: Send + Sync + std::fmt::Debug {
    /// Reads the selected elements, one after the other in the order of the selection, into `out`, which holds
    /// zeros. Elements that were never written get the fill value.
    fn read(&self, store: &Store, selection: &Selection, out: &mut [u8]) -> Result<()>;
}

/// What elements without storage read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    element: Option<Vec<u8>>,
}

impl Fill {
    /// Zeros.
    pub const ZERO: Self = Self { element: None };

    /// Copies of this element.
    pub fn element(element: &[u8]) -> Self {
        Self { element: element.iter().any(|byte| *byte != 0).then(|| element.to_vec()) }
    }

    /// Fills a buffer that holds zeros.
    pub(crate) fn apply(&self, out: &mut [u8]) {
        if let Some(element) = &self.element {
            hyperslab_dataspace::fill(out, element);
        }
    }
}

/// Bytes of `elements` elements, if they can be in memory.
pub(crate) fn byte_count(elements: u64, element_size: usize, what: &'static str) -> Result<usize> {
    let bytes = elements.checked_mul(element_size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| Error::Limit { what: format!("{what}: bytes"), got: u64::MAX, limit: u64::MAX })
}

impl From<DataspaceError> for Error {
    fn from(error: DataspaceError) -> Self {
        Self::Misuse(error.to_string())
    }
}
