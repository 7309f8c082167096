//! Single values of any type.

use num_complex::Complex;

use crate::Reference;

/// One element of any type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A boolean.
    Bool(bool),
    /// An integer, or the bits of a bit field.
    Integer(i128),
    /// A floating-point number; what is longer than 64 bits is rounded.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
    /// Text.
    Text(String),
    /// Bytes that have no other meaning here: opaque ones, text that is not UTF-8, times, integers of more than
    /// 64 bits.
    Bytes(Vec<u8>),
    /// A value of an enumeration.
    Enumeration {
        /// Its name, if it has one.
        name: Option<String>,
        /// The integer.
        value: i128,
    },
    /// A record, by the names of its members.
    Compound(Vec<(String, Value)>),
    /// An array in an element: its shape, and its items in C order.
    Array(Vec<usize>, Vec<Value>),
    /// A sequence of variable length.
    Sequence(Vec<Value>),
    /// A reference.
    Reference(Reference),
}
