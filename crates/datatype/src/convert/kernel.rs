//! The trait of the code that converts elements, and its simplest implementations.

use super::compound::ElementPart;
use super::strided::{Strided, StridedMut, run_packed};
use super::{ConvertError, Result};

/// A converter of contiguous elements from one datatype to another.
///
/// Source and destination hold the same number of whole elements. Their types were given when the
/// kernel was created.
pub trait Kernel: std::fmt::Debug + Send + Sync {
    /// Converts all elements of `source` to the destination datatype of the kernel, and writes the
    /// results to `destination`.
    ///
    /// # Errors
    /// An error for an element that cannot be converted.
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()>;

    /// Returns whether the conversion kernel only copies bytes.
    fn is_copy(&self) -> bool {
        false
    }

    /// Converts elements of `source` into `destination`. Other bytes may lie between the elements.
    /// The bytes between the destination elements remain unchanged.
    ///
    /// The element sizes are the sizes of the kernel's types, or multiples of them (arrays).
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    fn run_strided(&self, source: Strided<'_>, destination: StridedMut<'_>) -> Result<()> {
        run_packed(self, source, destination)
    }

    /// Returns the parts of an element that this conversion kernel converts separately, so that the
    /// kernel of an enclosing compound can convert the parts itself. Returns `None` unless an
    /// element of the given sizes is a single compound value.
    fn parts(&self, source_size: usize, destination_size: usize) -> Option<&[ElementPart]> {
        let _ = (source_size, destination_size);
        None
    }
}

/// A conversion kernel that copies elements between equal datatypes.
#[derive(Debug)]
pub(super) struct Copy;

impl Kernel for Copy {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        if source.len() != destination.len() {
            let (subject, invariant) = ("copy of elements", "equal types have equal sizes");
            return Err(ConvertError::Internal { subject, invariant });
        }
        destination.copy_from_slice(source);
        Ok(())
    }

    fn is_copy(&self) -> bool {
        true
    }

    fn run_strided(&self, source: Strided<'_>, mut destination: StridedMut<'_>) -> Result<()> {
        destination.copy_from(&source);
        Ok(())
    }
}

/// A conversion kernel that passes all elements at once to one function.
#[derive(Debug)]
pub(super) struct Loop(pub(super) fn(&[u8], &mut [u8]));

impl Kernel for Loop {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        (self.0)(source, destination);
        Ok(())
    }
}

/// A conversion kernel that passes each element to a function.
#[derive(Debug)]
pub(super) struct Each<F> {
    pub(super) source_size: usize,
    pub(super) destination_size: usize,
    pub(super) each: F,
}

/// A conversion of single elements between two datatypes. The implementing type holds values that
/// are computed once, in planning.
pub(super) trait Element: std::fmt::Debug + Send + Sync {
    /// The scratch memory of a conversion of single elements. The conversion of the next element
    /// reuses it.
    type Scratch: Default;

    /// Converts the element `source` to the destination datatype, and writes the result to
    /// `destination`.
    fn convert(&self, source: &[u8], destination: &mut [u8], scratch: &mut Self::Scratch);
}

impl<F: Element> Kernel for Each<F> {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let mut scratch = F::Scratch::default();
        let sources = source.chunks_exact(self.source_size);
        for (from, to) in sources.zip(destination.chunks_exact_mut(self.destination_size)) {
            self.each.convert(from, to, &mut scratch);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_between_different_lengths_is_an_internal_error() {
        for to in [&mut [0; 2][..], &mut [0; 4]] {
            assert!(matches!(Copy.run(&[1, 2, 3], to), Err(ConvertError::Internal { .. })));
            assert!(to.iter().all(|byte| *byte == 0));
        }
    }
}
