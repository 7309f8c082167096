//! The fill value.

use hyperslab_dataspace::fill;

/// The value of elements that have no storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillElement {
    element: Option<Vec<u8>>,
}

impl FillElement {
    /// Zeros.
    pub const ZERO: Self = Self { element: None };

    /// Returns a fill value with the bytes of `element`.
    pub fn element(element: &[u8]) -> Self {
        Self { element: element.iter().any(|byte| *byte != 0).then(|| element.to_vec()) }
    }

    /// Returns whether all bytes of the fill value are zeros.
    pub fn is_zero(&self) -> bool {
        self.element.is_none()
    }

    /// Fills the buffer with the fill value. Overwrites all bytes.
    pub fn write(&self, out: &mut [u8]) {
        match &self.element {
            Some(element) => fill(out, element),
            None => out.fill(0),
        }
    }
}
