//! Datatype classes 7, 9, 10 and 11: references, variable-length types, arrays, complex numbers.
//!
//! ```text
//! class bit field                                     properties
//! 7 reference   bits 0-3 kind (0 object, 1 region,    none
//!               2-4 revised object, region,
//!               attribute), 4-7 version of the
//!               revised encoding (1; kinds 2-4 only)
//! 9 variable    bits 0-3 kind (0 sequence, 1 string)  .. base datatype
//!   length      strings: 4-7 padding, 8-11 charset
//! 10 array      none                                  1 dimensionality (at most 32),
//!                                                     3 reserved (versions 1 and 2 only),
//!                                                     4 for each dimension size, slowest first,
//!                                                     4 for each permutation index (1 and 2 only),
//!                                                     .. base datatype
//! 11 complex    bit 0 homogeneous (1), bits 1-2 form  .. datatype of each part
//!               (0 rectangular)
//! ```

use hyperslab_datatype::{
    Array, Complex, Datatype, DatatypeClass, Reference, ReferenceKind, VariableLength, VariableLengthKind,
};

use super::text::{charset_from, charset_number, padding_from, padding_number};
use super::{PACKED_VERSION, Prefix, Start, decode_at, encode_at};
use crate::codec::{FileParams, Limits, Reader, Result, Writer};

/// The only version number for the encoding of revised references in a datatype message.
const REVISED_ENCODING_VERSION: u8 = 1;
/// The class bit field of a complex number datatype in a datatype message. It states that the parts
/// have one datatype (homogeneous) and are real and imaginary (rectangular).
const COMPLEX_RECTANGULAR: u32 = 1;

pub(super) fn decode_reference(r: &Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let kind = match prefix.nibble(0) {
        0 => ReferenceKind::Object1,
        1 => ReferenceKind::DatasetRegion1,
        2 => ReferenceKind::Object2,
        3 => ReferenceKind::DatasetRegion2,
        4 => ReferenceKind::Attribute,
        other => return Err(r.unsupported(format!("reference type {other}"))),
    };
    let version = match kind {
        ReferenceKind::Object1 | ReferenceKind::DatasetRegion1 => 0,
        _ => prefix.nibble(4),
    };
    if version > 0 && version != REVISED_ENCODING_VERSION || version == 0 && prefix.nibble(0) > 1 {
        return Err(r.unsupported(format!("reference encoding version {version}")));
    }
    Ok(DatatypeClass::Reference(Reference { kind, version }))
}

pub(super) fn encode_reference(reference: Reference, start: Start, w: &mut Writer) {
    let (kind, version) = match reference.kind {
        ReferenceKind::Object1 => (0, 0),
        ReferenceKind::DatasetRegion1 => (1, 0),
        ReferenceKind::Object2 => (2, REVISED_ENCODING_VERSION),
        ReferenceKind::DatasetRegion2 => (3, REVISED_ENCODING_VERSION),
        ReferenceKind::Attribute => (4, REVISED_ENCODING_VERSION),
    };
    if reference.version != version {
        w.fail("reference encoding version", reference.version);
    }
    start.write(kind | u32::from(version) << 4, w);
}

/// Returns the size in bytes of a variable-length element in a file: a length, the address of a
/// global heap collection, and the number of an object.
fn heap_element_size(prefix: &Prefix) -> u32 {
    if prefix.params == FileParams::MEMORY {
        return prefix.size;
    }
    8 + u32::from(prefix.params.size_of_offsets)
}

pub(super) fn decode_variable_length(r: &mut Reader<'_>, prefix: &Prefix) -> Result<Datatype> {
    let kind = match prefix.nibble(0) {
        0 => VariableLengthKind::Sequence,
        1 => VariableLengthKind::String {
            padding: padding_from(prefix.nibble(4), r)?,
            charset: charset_from(prefix.nibble(8), r)?,
        },
        other => return Err(r.unsupported(format!("variable-length type {other}"))),
    };
    let mut base = Box::new(decode_at(r, prefix.params, prefix.depth + 1)?.datatype);
    if let DatatypeClass::Reference(Reference { version: REVISED_ENCODING_VERSION, .. }) = base.class
        && prefix.params != FileParams::MEMORY
    {
        // The size field of libhdf5 states the size of a reference in the memory of libhdf5.
        // Elements in the file have this size.
        base.size = 10 + u32::from(prefix.params.size_of_offsets);
    }
    let class = DatatypeClass::VariableLength(VariableLength { kind, base });
    Ok(Datatype { size: heap_element_size(prefix), class })
}

pub(super) fn encode_variable_length(variable: &VariableLength, start: Start, w: &mut Writer) {
    let flags = match variable.kind {
        VariableLengthKind::Sequence => 0,
        VariableLengthKind::String { padding, charset } => {
            1 | padding_number(padding) << 4 | charset_number(charset) << 8
        }
    };
    start.write(flags, w);
    encode_at(&variable.base, start.lowest, w);
}

pub(super) fn decode_array(r: &mut Reader<'_>, prefix: &Prefix) -> Result<Datatype> {
    let rank = usize::from(r.u8("dimensionality")?);
    if rank > Limits::MAX_RANK {
        return Err(r.corrupt("dimensionality", "at most 32", rank));
    }
    if prefix.version < PACKED_VERSION {
        r.skip(3, "reserved")?;
    }
    let mut dims = Vec::with_capacity(rank);
    for _ in 0..rank {
        dims.push(r.u32("dimension size")?);
    }
    if prefix.version < PACKED_VERSION {
        r.skip(4 * rank, "permutation indices")?;
    }
    let base = decode_at(r, prefix.params, prefix.depth + 1)?;
    let size = match array_size(&dims, base.datatype.size) {
        Some(size) if base.stored_size != base.datatype.size => size,
        _ => prefix.size,
    };
    let class = DatatypeClass::Array(Array { dims, base: Box::new(base.datatype) });
    Ok(Datatype { size, class })
}

fn array_size(dims: &[u32], base: u32) -> Option<u32> {
    dims.iter().try_fold(base, |size, dim| size.checked_mul(*dim)).filter(|size| *size > 0)
}

pub(super) fn encode_array(array: &Array, start: Start, w: &mut Writer) {
    start.write(0, w);
    match u8::try_from(array.dims.len()) {
        Ok(rank) if array.dims.len() <= Limits::MAX_RANK => w.u8(rank),
        _ => w.fail("dimensionality", array.dims.len()),
    }
    if start.version < PACKED_VERSION {
        w.zeros(3);
    }
    for dim in &array.dims {
        w.u32(*dim);
    }
    if start.version < PACKED_VERSION {
        for (index, _) in array.dims.iter().enumerate() {
            w.narrow_u32(index, "permutation index");
        }
    }
    encode_at(&array.base, start.lowest, w);
}

pub(super) fn decode_complex(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    if prefix.flags != COMPLEX_RECTANGULAR {
        return Err(r.unsupported(format!("complex numbers with class bit field {:#x}", prefix.flags)));
    }
    let base = Box::new(decode_at(r, prefix.params, prefix.depth + 1)?.datatype);
    Ok(DatatypeClass::Complex(Complex { base }))
}

pub(super) fn encode_complex(complex: &Complex, start: Start, w: &mut Writer) {
    start.write(COMPLEX_RECTANGULAR, w);
    encode_at(&complex.base, start.lowest, w);
}
