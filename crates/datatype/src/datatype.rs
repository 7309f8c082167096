//! The datatype: a size and a class with its properties.

use crate::{
    Bitfield, CharacterSet, Compound, Enumeration, FixedPoint, FixedString, FloatingPoint, StringPadding,
    Time,
};

/// The type of the elements of a dataset or attribute, as the file stores them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Datatype {
    /// Bytes of one element in the file.
    pub size: u32,
    /// The class and its properties.
    pub class: DatatypeClass,
}

/// The eleven classes of the format, and complex numbers of HDF5 2.0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DatatypeClass {
    /// Class 0: integers.
    FixedPoint(FixedPoint),
    /// Class 1: floating-point numbers.
    FloatingPoint(FloatingPoint),
    /// Class 2: time.
    Time(Time),
    /// Class 3: strings of fixed length.
    String(FixedString),
    /// Class 4: bit fields.
    Bitfield(Bitfield),
    /// Class 5: bytes with a tag.
    Opaque(Opaque),
    /// Class 6: records.
    Compound(Compound),
    /// Class 7: references to objects, regions and attributes.
    Reference(Reference),
    /// Class 8: named values.
    Enumeration(Enumeration),
    /// Class 9: sequences and strings of variable length.
    VariableLength(VariableLength),
    /// Class 10: arrays of fixed shape.
    Array(Array),
    /// Class 11: complex numbers.
    Complex(Complex),
}

/// Bytes that the library does not interpret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// What the bytes are, in the writer's words.
    pub tag: Vec<u8>,
}

/// What a reference points at, and how it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// An object, by its header's address.
    Object1,
    /// A region of a dataset, by an element of a global heap.
    DatasetRegion1,
    /// The standard reference (H5T_STD_REF) that may point at an object, a region or an attribute.
    Object2,
    /// A region, in the standard encoding.
    DatasetRegion2,
    /// An attribute, in the standard encoding.
    Attribute,
}

/// A reference type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// What it points at.
    pub kind: ReferenceKind,
    /// Version of the standard encoding; 0 for the two old kinds.
    pub version: u8,
}

/// Whether a variable-length type is a sequence or a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableLengthKind {
    /// Any number of elements of the base type.
    Sequence,
    /// Text.
    String {
        /// How the text ends.
        padding: StringPadding,
        /// How the text is encoded.
        charset: CharacterSet,
    },
}

/// A sequence or string of variable length, stored in a global heap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariableLength {
    /// Sequence or string.
    pub kind: VariableLengthKind,
    /// The type of the items; a byte-sized type for strings.
    pub base: Box<Datatype>,
}

/// An array of fixed shape as one element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Array {
    /// The shape, slowest dimension first.
    pub dims: Vec<u32>,
    /// The type of the items.
    pub base: Box<Datatype>,
}

/// A complex number: real part, then imaginary part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Complex {
    /// The type of each part.
    pub base: Box<Datatype>,
}
