//! Datatypes, their parts, and the conversion of elements between them.
//!
//! [`Datatype`] has a constructor for every class. The other types are the properties of each
//! class, for programs that inspect a datatype.

pub use hyperslab_datatype::{
    Array, Bitfield, ByteOrder, CharacterSet, Complex, Compound, Datatype, DatatypeClass, Enumeration,
    EnumerationMember, FixedPoint, FixedString, FixedText, FloatOrder, FloatingPoint, H5Type,
    InternalPadding, Member, Normalization, Opaque, Padding, Reference, ReferenceKind, StringPadding, Time,
    VariableLength, VariableLengthKind,
};

/// The conversion of elements between datatypes.
pub mod convert {
    pub use hyperslab_datatype::convert::{
        AtItems, Conversion, Conversions, ConvertError, ElementPart, Exception, ExceptionKind, Exceptions,
        HeapError, Kernel, Response, Result, Rule, Strided, StridedMut, VariableArena, VariableSink,
        VariableSource,
    };
}
