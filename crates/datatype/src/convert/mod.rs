//! Conversion of elements between datatypes.
//!
//! A [`Conversion`] is planned once for a pair of datatypes, and then run on any number of
//! elements. Planning tries a list of rules, one for each pair of classes: the first rule that
//! returns a [`Kernel`] decides. [`Conversions`] tries the caller's rules before the built-in ones.
//! Rules for compounds, arrays, enumerations and complex numbers plan the conversion of their parts
//! with the same list.
//!
//! By default, integers are clamped to the range of the destination, and NaN becomes the integer 0.
//! Conversions from floating-point numbers to integers truncate towards zero. Conversions to
//! floating-point numbers round to the nearest value, ties to even; values that are too large
//! become infinite. With [`Exceptions`], a conversion fails instead, or calls a function.
//!
//! The destination buffer keeps its previous bytes in compound members that the source does not
//! have, and in padding of the kind [`Padding::Background`](crate::Padding::Background).

use std::sync::Arc;

use crate::Datatype;

mod bitfield;
mod bits;
mod compound;
mod enumeration;
mod error;
mod exception;
mod fixed;
mod float;
mod kernel;
mod native;
mod number;
mod packed;
mod rules;
mod significant;
mod strided;
mod text;
mod variable;

pub use compound::ElementPart;
pub use error::{ConvertError, HeapError, Result};
pub use exception::{Exception, ExceptionKind, Exceptions, Response};
pub use kernel::Kernel;
pub use rules::{Conversions, Rule};
pub use strided::{Strided, StridedMut};
pub use variable::{AtItems, VariableArena, VariableSink, VariableSource};

/// A planned conversion of elements from one datatype to another.
///
/// ```
/// use hyperslab_datatype::{ByteOrder, Datatype, convert::Conversion};
/// # fn main() -> Result<(), hyperslab_datatype::convert::ConvertError> {
/// let conversion = Conversion::new(&Datatype::i16(ByteOrder::BigEndian), &Datatype::u8())?;
/// let mut bytes = [0; 3];
/// conversion.convert(&[0, 7, 1, 0, 0xff, 0xff], &mut bytes, 3)?;
/// assert_eq!(bytes, [7, 255, 0]); // 7, 256 and -1, clamped
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Conversion {
    source_size: usize,
    destination_size: usize,
    kernel: Arc<dyn Kernel>,
}

impl Conversion {
    /// Plans the conversion of elements from the datatype `source` to the datatype `destination`,
    /// with the built-in rules.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no rule converts the types, or a part of them. The error
    /// names the types of that part.
    pub fn new(source: &Datatype, destination: &Datatype) -> Result<Self> {
        Conversions::default().plan(source, destination)
    }

    /// Returns the size of the conversion's source element in bytes.
    pub fn source_size(&self) -> usize {
        self.source_size
    }

    /// Returns the size of the conversion's destination element in bytes.
    pub fn destination_size(&self) -> usize {
        self.destination_size
    }

    /// Returns whether the conversion of elements only copies bytes. The caller can then read
    /// directly into the destination.
    pub fn is_no_op(&self) -> bool {
        self.kernel.is_copy()
    }

    /// Converts `count` elements from `source` to the destination datatype, into `destination`.
    ///
    /// # Errors
    /// [`ConvertError::Buffer`] if the length of a buffer is not that of `count` elements; the
    /// errors of the caller's own kernels.
    pub fn convert(&self, source: &[u8], destination: &mut [u8], count: usize) -> Result<()> {
        check_buffer("source", source.len(), self.source_size, count)?;
        check_buffer("destination", destination.len(), self.destination_size, count)?;
        if count == 0 {
            return Ok(());
        }
        let index = |at: usize| at.checked_div(self.source_size).unwrap_or(0);
        self.kernel.run(source, destination).map_err(|error| error.map_index(index))
    }
}

/// Checks that the source or destination buffer of a conversion holds exactly `count` elements.
fn check_buffer(which: &'static str, got: usize, element: usize, count: usize) -> Result<()> {
    if element.checked_mul(count) == Some(got) {
        return Ok(());
    }
    Err(ConvertError::Buffer { which, count, element, got })
}

/// Returns the size of an element of a datatype in bytes. Returns `None` if the size is 0 or does
/// not fit in memory.
fn size_of(datatype: &Datatype) -> Option<usize> {
    usize::try_from(datatype.size).ok().filter(|size| *size > 0)
}

#[cfg(test)]
mod tests;
