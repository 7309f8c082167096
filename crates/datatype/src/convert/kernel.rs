//! What runs over elements, and the simplest kinds of it.

use super::compound::Part;
use super::strided::{Strided, StridedMut, run_packed};
use super::{ConvertError, Result};

/// Converts elements that lie one after the other.
///
/// Both buffers hold the same number of whole elements of the types that the kernel was made for.
pub trait Kernel: std::fmt::Debug + Send + Sync {
    /// Converts every element of `source` into `destination`.
    ///
    /// # Errors
    /// Whatever makes an element impossible to convert; the built-in kernels always convert.
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()>;

    /// Whether this only copies bytes.
    fn is_copy(&self) -> bool {
        false
    }

    /// As [`run`](Self::run), for elements with other bytes between them, which are not touched. The sizes are
    /// those of the types that the kernel was made for, or whole multiples of them (arrays).
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    fn run_strided(&self, source: Strided<'_>, destination: StridedMut<'_>) -> Result<()> {
        run_packed(self, source, destination)
    }

    /// The parts that are converted, each on its own, if elements of these sizes are records of such: then a
    /// record around them takes them as its own.
    fn parts(&self, source_size: usize, destination_size: usize) -> Option<&[Part]> {
        let _ = (source_size, destination_size);
        None
    }
}

/// Copies elements of equal types.
#[derive(Debug)]
pub(super) struct Copy;

impl Kernel for Copy {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        if source.len() != destination.len() {
            let (what, invariant) = ("copy of elements", "equal types have equal sizes");
            return Err(ConvertError::Internal { what, invariant });
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

/// Runs a loop over all elements, made for its pair of types.
#[derive(Debug)]
pub(super) struct Loop(pub(super) fn(&[u8], &mut [u8]));

impl Kernel for Loop {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        (self.0)(source, destination);
        Ok(())
    }
}

/// Runs a function on one element after the other.
#[derive(Debug)]
pub(super) struct Each<F> {
    pub(super) source_size: usize,
    pub(super) destination_size: usize,
    pub(super) each: F,
}

/// A function on one element, with what it prepared at planning.
pub(super) trait Element: std::fmt::Debug + Send + Sync {
    /// Room that the function needs for its work and that may be used again for the next element.
    type Scratch: Default;

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
