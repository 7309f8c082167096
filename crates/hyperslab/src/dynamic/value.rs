//! Single values of any datatype.

use num_complex::Complex;

use crate::Reference;

/// A dynamic value: an element of any datatype.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A boolean.
    Bool(bool),
    /// An integer, or the bits of a bitfield.
    Integer(i128),
    /// A floating-point number. Numbers of more than 64 bits are rounded.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
    /// Text.
    Text(String),
    /// Bytes that hyperslab does not interpret: opaque data, text that is not UTF-8, times,
    /// integers of more than 64 bits.
    Bytes(Vec<u8>),
    /// A value of an enumeration.
    Enumeration {
        /// The name of the member; `None` if no member has this integer.
        name: Option<String>,
        /// The integer value.
        value: i128,
    },
    /// A compound: the name and the value of each member.
    Compound(Vec<(String, Value)>),
    /// An array as an element: its shape, and its items in C order.
    Array(Vec<usize>, Vec<Value>),
    /// A sequence of variable length.
    Sequence(Vec<Value>),
    /// A reference.
    Reference(Reference),
}
