//! What can go wrong when elements are converted.

use std::sync::Arc;

use super::{Conversion, Exception, ExceptionKind};
use crate::{ByteOrder, Datatype, DatatypeClass};

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
    /// The destination cannot hold a value as it is, and [`Exceptions`](super::Exceptions) says that this is an
    /// error.
    #[error("element {index}: {} is {kind} of {to}", value_text(.from, .bytes))]
    Exception {
        /// Position of the element in the source buffer. For a [`Kernel`](super::Kernel): its position in bytes.
        index: usize,
        /// Why.
        kind: ExceptionKind,
        /// The type of the value, which may be a part of the element.
        from: Box<Datatype>,
        /// The type it should get.
        to: Box<Datatype>,
        /// The value.
        bytes: Vec<u8>,
    },
    /// An invariant of this crate does not hold. The elements and the types are not the cause.
    #[error("internal error: {what}: {invariant} does not hold; please report it")]
    Internal {
        /// The step of the conversion.
        what: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// Memory has no room for so many elements.
    #[error("memory has no room for {count} elements of {element} bytes")]
    Memory {
        /// Elements asked for.
        count: usize,
        /// Bytes of an element.
        element: usize,
    },
    /// The contents of an element of variable length cannot be read or written.
    #[error(transparent)]
    Heap(HeapError),
}

/// What the heap reports that holds the contents of elements of variable length.
#[derive(Debug, Clone)]
pub struct HeapError(pub Arc<dyn std::error::Error + Send + Sync>);

impl HeapError {
    /// Wraps an error.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl PartialEq for HeapError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HeapError {}

impl std::fmt::Display for HeapError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for HeapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl ConvertError {
    /// There is no conversion between these types.
    pub fn unsupported(from: &Datatype, to: &Datatype) -> Self {
        Self::Unsupported { from: Box::new(from.clone()), to: Box::new(to.clone()) }
    }

    /// An exception of the first element.
    pub(super) fn exception(exception: &Exception<'_>) -> Self {
        Self::Exception {
            index: 0,
            kind: exception.kind,
            from: Box::new(exception.from.clone()),
            to: Box::new(exception.to.clone()),
            bytes: exception.source.to_vec(),
        }
    }

    /// The same exception at another place; other errors stay as they are.
    pub(super) fn moved(mut self, by: impl FnOnce(usize) -> usize) -> Self {
        if let Self::Exception { index, .. } = &mut self {
            *index = by(*index);
        }
        self
    }
}

/// A number for people to read; bytes where it is none.
fn value_text(datatype: &Datatype, bytes: &[u8]) -> String {
    let plain = |to: &Datatype| {
        let mut out = [0; 8];
        let conversion = Conversion::new(datatype, to).ok()?;
        conversion.convert(bytes, out.get_mut(..conversion.destination_size())?, 1).ok()?;
        Some(out)
    };
    let (signed, unsigned) = (Datatype::i64(ByteOrder::LittleEndian), Datatype::u64(ByteOrder::LittleEndian));
    let text = match &datatype.class {
        DatatypeClass::FixedPoint(fixed) if fixed.precision > 64 => None,
        DatatypeClass::FixedPoint(fixed) if fixed.signed => {
            plain(&signed).map(|out| i64::from_le_bytes(out).to_string())
        }
        DatatypeClass::FixedPoint(_) => plain(&unsigned).map(|out| u64::from_le_bytes(out).to_string()),
        DatatypeClass::FloatingPoint(_) => {
            plain(&Datatype::f64(ByteOrder::LittleEndian)).map(|out| f64::from_le_bytes(out).to_string())
        }
        _ => None,
    };
    text.unwrap_or_else(|| format!("{bytes:02x?}"))
}
