//! The HDF5 datatype model, and the conversion of elements between datatypes.
//!
//! The crate does not access files; the on-disk datatype message is in `hyperslab-format`. Its API
//! has no stability promise: programs use the crate `hyperslab`.
#![forbid(unsafe_code)]

mod compound;
pub mod convert;
mod datatype;
mod display;
mod element;
mod fixed_text;
mod memory_size;
mod native;
mod numeric;
mod predicates;
mod text;

pub use compound::{Compound, Enumeration, EnumerationMember, Member};
pub use datatype::{
    Array, Complex, Datatype, DatatypeClass, Opaque, Reference, ReferenceKind, VariableLength,
    VariableLengthKind,
};
pub use element::H5Type;
pub use fixed_text::FixedText;
pub use numeric::{
    Bitfield, ByteOrder, FixedPoint, FloatOrder, FloatingPoint, InternalPadding, Normalization, Padding, Time,
};
pub use text::{CharacterSet, FixedString, StringPadding};
