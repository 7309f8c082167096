//! The datatype model: a size, and a class with its properties.

use crate::{
    Bitfield, CharacterSet, Compound, Enumeration, FixedPoint, FixedString, FloatingPoint, StringPadding,
    Time,
};

/// The type of the elements of a dataset or attribute, as stored in the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Datatype {
    /// The size of an element in bytes.
    pub size: u32,
    /// The class with its properties.
    pub class: DatatypeClass,
}

/// A class of datatypes: the eleven classes of the format, and the complex numbers of HDF5 2.0.
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
    /// Class 5: uninterpreted bytes with a tag.
    Opaque(Opaque),
    /// Class 6: records with named members.
    Compound(Compound),
    /// Class 7: references to objects, regions and attributes.
    Reference(Reference),
    /// Class 8: enumerations with named values.
    Enumeration(Enumeration),
    /// Class 9: sequences and strings of variable length.
    VariableLength(VariableLength),
    /// Class 10: arrays of fixed shape.
    Array(Array),
    /// Class 11: complex numbers.
    Complex(Complex),
}

/// An opaque datatype: each element consists of bytes without an interpretation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// A description of the bytes by the program that wrote the file.
    pub tag: Vec<u8>,
}

/// The kind of a reference datatype. It states the targets (objects, regions or attributes) and the
/// encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A reference to an object: the address of its object header.
    Object1,
    /// A reference to a region of a dataset: an index into a global heap.
    DatasetRegion1,
    /// The standard reference (H5T_STD_REF) to an object, a region or an attribute.
    Object2,
    /// A reference to a region, in the standard encoding.
    DatasetRegion2,
    /// A reference to an attribute, in the standard encoding.
    Attribute,
}

/// A reference datatype: each element refers to an object, a region of a dataset or an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The kind of object that the reference points at.
    pub kind: ReferenceKind,
    /// The version of the standard encoding; 0 for the two older kinds.
    pub version: u8,
}

/// The kind of a variable-length datatype: sequence or string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableLengthKind {
    /// Any number of elements of the base type.
    Sequence,
    /// A string.
    String {
        /// The padding of the text.
        padding: StringPadding,
        /// The character set of the text.
        charset: CharacterSet,
    },
}

/// A variable-length datatype: each element is a sequence or string, stored in a global heap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariableLength {
    /// The kind: sequence or string.
    pub kind: VariableLengthKind,
    /// The type of the items; a type of one byte for strings.
    pub base: Box<Datatype>,
}

/// An array datatype: each element is an array of fixed shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Array {
    /// The shape, slowest-varying dimension first.
    pub dims: Vec<u32>,
    /// The type of the items.
    pub base: Box<Datatype>,
}

/// A complex datatype: each element is a real part, followed by an imaginary part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Complex {
    /// The type of each part.
    pub base: Box<Datatype>,
}
