//! Errors of conversions.

use std::sync::Arc;

use super::{Conversion, Exception, ExceptionKind};
use crate::{ByteOrder, Datatype, DatatypeClass, Member};

/// The result type of conversions of elements between datatypes.
pub type Result<T, E = ConvertError> = std::result::Result<T, E>;

/// An error in the planning or the run of a conversion of elements between datatypes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// No rule converts elements of these types.
    #[error("there is no conversion from {from} to {to}{}", missing_members(.from, .to))]
    Unsupported {
        /// The source type.
        from: Box<Datatype>,
        /// The destination type.
        to: Box<Datatype>,
    },
    /// The length of a buffer does not match the number of elements.
    #[error("the {which} buffer has {got} bytes instead of {count} elements of {element} bytes")]
    Buffer {
        /// The buffer: "source" or "destination".
        which: &'static str,
        /// The number of elements.
        count: usize,
        /// The size of an element in bytes.
        element: usize,
        /// The length of the buffer in bytes.
        got: usize,
    },
    /// The bytes of an element are not a valid value of its type.
    #[error("element {index} is not a valid {datatype}: its bytes are {bytes:02x?}")]
    Value {
        /// The index of the element.
        index: usize,
        /// The type of the element.
        datatype: Box<Datatype>,
        /// The bytes of the element.
        bytes: Vec<u8>,
    },
    /// The destination type cannot represent a value, and [`Exceptions`](super::Exceptions) makes
    /// this an error.
    #[error("element {index}: {} is {kind} of {to}", value_text(.from, .bytes))]
    Exception {
        /// The index of the element in the source buffer. In errors of a [`Kernel`](super::Kernel),
        /// the offset of the element in bytes.
        index: usize,
        /// The kind of the exception.
        kind: ExceptionKind,
        /// The type of the value, which may be a part of an element.
        from: Box<Datatype>,
        /// The destination type of the value.
        to: Box<Datatype>,
        /// The bytes of the value.
        bytes: Vec<u8>,
    },
    /// An invariant of this crate does not hold. The cause is a bug in hyperslab, not the elements
    /// or the types.
    #[error("internal error: {subject}: {invariant} does not hold; please report it")]
    Internal {
        /// The step of the conversion.
        subject: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// Memory does not suffice for the elements.
    #[error("not enough memory for {count} elements of {element} bytes")]
    Memory {
        /// The number of elements.
        count: usize,
        /// The size of an element in bytes.
        element: usize,
    },
    /// Variable-length data cannot be read or written.
    #[error(transparent)]
    Heap(HeapError),
}

/// An error of the heap that holds variable-length data.
#[derive(Debug, Clone)]
pub struct HeapError(pub Arc<dyn std::error::Error + Send + Sync>);

impl HeapError {
    /// Wraps an error of a heap that holds variable-length data.
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
    /// Creates the conversion error for an unsupported pair of datatypes: no rule converts elements
    /// from one to the other.
    pub fn unsupported(from: &Datatype, to: &Datatype) -> Self {
        Self::Unsupported { from: Box::new(from.clone()), to: Box::new(to.clone()) }
    }

    /// Creates the conversion error for an exception: a value that the destination datatype cannot
    /// represent. The error has the index 0, which `map_index` changes to the index of the element.
    pub(super) fn exception(exception: &Exception<'_>) -> Self {
        Self::Exception {
            index: 0,
            kind: exception.kind,
            from: Box::new(exception.from.clone()),
            to: Box::new(exception.to.clone()),
            bytes: exception.source.to_vec(),
        }
    }

    /// Changes the element index in a conversion error about a value that the destination datatype
    /// cannot represent. Returns other conversion errors unchanged.
    pub(super) fn map_index(mut self, by: impl FnOnce(usize) -> usize) -> Self {
        if let Self::Exception { index, .. } = &mut self {
            *index = by(*index);
        }
        self
    }
}

/// Returns a text for error messages with the members that the compound datatype `to` has and the
/// compound datatype `from` lacks. The text is empty for other datatypes, and if no member is
/// missing.
fn missing_members(from: &Datatype, to: &Datatype) -> String {
    let (DatatypeClass::Compound(from), DatatypeClass::Compound(to)) = (&from.class, &to.class) else {
        return String::new();
    };
    let lacks = |member: &&Member| !from.members.iter().any(|found| found.name == member.name);
    let name = |member: &Member| format!("`{}`", String::from_utf8_lossy(&member.name));
    let missing: Vec<String> = to.members.iter().filter(lacks).map(name).collect();
    match missing.as_slice() {
        [] => String::new(),
        [one] => format!(": the former has no member {one}"),
        several => format!(": the former has no members {}", several.join(", ")),
    }
}

/// Formats an element for error messages: a number in decimal, and other values as bytes.
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
