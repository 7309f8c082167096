//! What can go wrong when elements are converted.

use crate::Datatype;

/// The result of planning or running a conversion.
pub type Result<T, E = ConvertError> = std::result::Result<T, E>;

/// Why elements cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// There is no conversion between these types.
    #[error("there is no conversion from {from} to {to}")]
    Unsupported {
        /// The source type.
        from: Box<Datatype>,
        /// The destination type.
        to: Box<Datatype>,
    },
    /// A buffer does not hold as many elements as asked for.
    #[error("the {which} buffer has {got} bytes instead of {count} elements of {element} bytes")]
    Buffer {
        /// "source" or "destination".
        which: &'static str,
        /// Elements asked for.
        count: usize,
        /// Bytes of an element.
        element: usize,
        /// Bytes of the buffer.
        got: usize,
    },
    /// An element is no value of the type.
    #[error("element {index} is no {datatype}: its bytes are {bytes:02x?}")]
    Value {
        /// Position of the element.
        index: usize,
        /// The type it should have.
        datatype: Box<Datatype>,
        /// The bytes it has.
        bytes: Vec<u8>,
    },
}

impl ConvertError {
    /// There is no conversion between these types.
    pub fn unsupported(from: &Datatype, to: &Datatype) -> Self {
        Self::Unsupported { from: Box::new(from.clone()), to: Box::new(to.clone()) }
    }
}
