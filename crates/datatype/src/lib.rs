//! The HDF5 datatype model, and the conversion of elements between datatypes. No stability promise: use
//! the crate `hyperslab`.
//!
//! Pure: nothing here knows files. The on-disk datatype message is in `hyperslab-format`.
#![forbid(unsafe_code)]

mod compound;
pub mod convert;
mod datatype;
mod display;
mod element;
mod fixed_text;
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
