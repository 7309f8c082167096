//! The fill value of a dataset.

use hyperslab_dataspace::fill;

/// The fill value of a dataset: the value of elements that were never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillElement {
    element: Option<Vec<u8>>,
}

impl FillElement {
    /// The fill value of a dataset in which all bytes are zero.
    pub const ZERO: Self = Self { element: None };

    /// Creates a fill value whose bytes are those of `element`.
    pub fn element(element: &[u8]) -> Self {
        Self { element: element.iter().any(|byte| *byte != 0).then(|| element.to_vec()) }
    }

    /// Returns whether all bytes of a dataset's fill value are zeros.
    pub fn is_zero(&self) -> bool {
        self.element.is_none()
    }

    /// Writes the fill value to all elements of the buffer `out`. Overwrites all bytes of the
    /// buffer.
    pub fn write(&self, out: &mut [u8]) {
        match &self.element {
            Some(element) => fill(out, element),
            None => out.fill(0),
        }
    }
}
