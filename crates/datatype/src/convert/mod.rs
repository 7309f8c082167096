//! Conversion of elements between datatypes.
//!
//! A [`Conversion`] is planned once for a pair of types and then run over any number of elements. Planning asks a
//! list of rules, one per pair of classes, each of which gives a [`Kernel`] or passes; [`Conversions`] puts a
//! caller's own rules before the built-in ones. Rules for compounds, arrays, enumerations and complex numbers plan
//! their parts through the same list.
//!
//! Numbers are clamped to the destination's range (NaN becomes 0), floating-point numbers are cut towards zero to
//! integers, and whatever becomes a floating-point number is rounded to the nearest, ties to even; too large ones
//! become infinite. [`Exceptions`] ask for errors instead, or for a function to decide. Members that a compound does not find by name in its source, and padding marked
//! [`Padding::Background`](crate::Padding::Background), keep what the destination buffer held before.

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

pub use compound::Part;
pub use error::{ConvertError, HeapError, Result};
pub use exception::{Exception, ExceptionKind, Exceptions, Response};
pub use kernel::Kernel;
pub use rules::{Conversions, Rule};
pub use strided::{Strided, StridedMut};
pub use variable::{VariableArena, VariableSink, VariableSource};

/// A planned conversion from one datatype to another.
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
    /// Plans the conversion with the built-in rules.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if there is none, naming the parts of the types that do not convert.
    pub fn new(source: &Datatype, destination: &Datatype) -> Result<Self> {
        Conversions::default().plan(source, destination)
    }

    /// Bytes of a source element.
    pub fn source_size(&self) -> usize {
        self.source_size
    }

    /// Bytes of a destination element.
    pub fn destination_size(&self) -> usize {
        self.destination_size
    }

    /// Whether converting only copies bytes, so that the caller may as well read into place.
    pub fn is_no_op(&self) -> bool {
        self.kernel.is_copy()
    }

    /// Converts `count` elements.
    ///
    /// # Errors
    /// [`ConvertError::Buffer`] if a buffer does not hold just `count` elements, and what a caller's own kernel
    /// reports.
    pub fn convert(&self, source: &[u8], destination: &mut [u8], count: usize) -> Result<()> {
        check_buffer("source", source.len(), self.source_size, count)?;
        check_buffer("destination", destination.len(), self.destination_size, count)?;
        if count == 0 {
            return Ok(());
        }
        let index = |at: usize| at.checked_div(self.source_size).unwrap_or(0);
        self.kernel.run(source, destination).map_err(|error| error.moved(index))
    }
}

fn check_buffer(which: &'static str, got: usize, element: usize, count: usize) -> Result<()> {
    if element.checked_mul(count) == Some(got) {
        return Ok(());
    }
    Err(ConvertError::Buffer { which, count, element, got })
}

/// A datatype's size in memory terms.
fn size_of(datatype: &Datatype) -> Option<usize> {
    usize::try_from(datatype.size).ok().filter(|size| *size > 0)
}

#[cfg(test)]
mod tests;
