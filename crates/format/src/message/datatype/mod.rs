//! Datatype message (File Format Specification, section IV.A.2.d; message type 0x0003).
//!
//! ```text
//! off size field
//! 0   1    bits 0-3 class, bits 4-7 version (1-5)
//! 1   3    class bit field
//! 4   4    size of one element in bytes (never 0)
//! 8   ..   properties of the class, see the submodules
//! ```
//!
//! The version determines how compounds, enumerations and arrays lay out their properties: versions
//! 1 and 2 pad names, later versions do not. From version 3 on, floating-point numbers may have the
//! VAX bit. Version 4 adds the revised references, version 5 adds complex numbers (class 11). Every
//! version may hold every class.

use hyperslab_datatype::{Datatype, DatatypeClass, FloatOrder, ReferenceKind};

use crate::codec::{FileParams, FormatError, Limits, Reader, Result, Writer};

mod compound;
mod enumeration;
mod nested;
mod numeric;
mod text;

/// Name of the datatype message in errors.
pub(crate) const NAME: &str = "Datatype message";
/// Newest version of the datatype message.
const LATEST_VERSION: u8 = 5;
/// First version of the datatype message with compact compounds: names have no padding, and offsets
/// of members have the smallest width.
const PACKED_VERSION: u8 = 3;
/// Size in bytes of the prefix of a datatype message. The properties of the datatype's class
/// follow.
const PREFIX_SIZE: usize = 8;

/// The datatype message: a datatype as stored in an object header, an attribute or a committed
/// datatype.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DatatypeMessage {
    /// Version of the outermost datatype. For encoding, the lowest version to use: nested datatypes
    /// that need a newer version use the newer version.
    pub version: u8,
    /// Datatype of the message.
    pub datatype: Datatype,
}

/// The class number of a datatype, stored in the low four bits of a datatype message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClassNumber(u8);

impl ClassNumber {
    const FIXED_POINT: Self = Self(0);
    const FLOATING_POINT: Self = Self(1);
    const TIME: Self = Self(2);
    const STRING: Self = Self(3);
    const BITFIELD: Self = Self(4);
    const OPAQUE: Self = Self(5);
    const COMPOUND: Self = Self(6);
    const REFERENCE: Self = Self(7);
    const ENUMERATION: Self = Self(8);
    const VARIABLE_LENGTH: Self = Self(9);
    const ARRAY: Self = Self(10);
    const COMPLEX: Self = Self(11);

    fn of(class: &DatatypeClass) -> Self {
        match class {
            DatatypeClass::FixedPoint(_) => Self::FIXED_POINT,
            DatatypeClass::FloatingPoint(_) => Self::FLOATING_POINT,
            DatatypeClass::Time(_) => Self::TIME,
            DatatypeClass::String(_) => Self::STRING,
            DatatypeClass::Bitfield(_) => Self::BITFIELD,
            DatatypeClass::Opaque(_) => Self::OPAQUE,
            DatatypeClass::Compound(_) => Self::COMPOUND,
            DatatypeClass::Reference(_) => Self::REFERENCE,
            DatatypeClass::Enumeration(_) => Self::ENUMERATION,
            DatatypeClass::VariableLength(_) => Self::VARIABLE_LENGTH,
            DatatypeClass::Array(_) => Self::ARRAY,
            DatatypeClass::Complex(_) => Self::COMPLEX,
        }
    }
}

/// The decoded first eight bytes of a datatype in a datatype message, and the nesting depth of the
/// datatype.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    version: u8,
    class: ClassNumber,
    /// Class bit field (24 bits).
    flags: u32,
    /// Size of an element in bytes.
    size: u32,
    /// Nesting depth: 1 for the outermost datatype.
    depth: usize,
    params: FileParams,
}

impl Prefix {
    fn bit(&self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    /// Returns four bits of a datatype message's class bit field. The lowest of these bits is the
    /// bit `shift`.
    fn nibble(&self, shift: u32) -> u8 {
        (self.flags >> shift & 0xf) as u8
    }

    /// Returns the number of members of a compound or enumeration datatype. A datatype message
    /// stores it in the low 16 bits of the class bit field.
    fn member_count(&self) -> u64 {
        u64::from(self.flags & 0xffff)
    }
}

/// A decoded datatype of a datatype message. Also holds the version and the size field of the
/// message, which the decoder of an enclosing datatype (such as a compound) needs.
#[derive(Debug)]
struct Decoded {
    version: u8,
    /// Size field of the datatype. Offsets of members in a compound are checked with this size. It
    /// differs from `datatype.size` if the field does not state the element size in the file.
    stored_size: u32,
    datatype: Datatype,
}

impl DatatypeMessage {
    /// Creates the datatype message of `datatype` in the oldest version of the message that can
    /// store the datatype.
    pub fn new(datatype: Datatype) -> Self {
        Self { version: minimum_version(&datatype), datatype }
    }

    /// Decodes a datatype message from `bytes`. Bytes after the message are ignored: object headers
    /// of version 1 pad messages to eight bytes.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`], [`FormatError::Unsupported`], or [`FormatError::Limit`]
    /// for too deep nesting.
    pub fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        Self::decode_prefix(&mut Reader::new(NAME, bytes), params)
    }

    /// Decodes a datatype message at the reader's position, inside another message, and takes
    /// exactly the bytes of the datatype.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode).
    pub fn decode_prefix(reader: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let decoded = decode_at(reader, params, 1)?;
        Ok(Self { version: decoded.version, datatype: decoded.datatype })
    }

    /// Encodes the datatype message without padding. The writer `w` records an error for values
    /// that do not fit.
    pub fn encode(&self, _params: FileParams, w: &mut Writer) {
        if self.version > LATEST_VERSION {
            w.fail("version", self.version);
            return;
        }
        // Unless the message asks for a newer version, nested datatypes keep their own oldest
        // versions.
        let lowest = if self.version > minimum_version(&self.datatype) { self.version } else { 1 };
        encode_at(&self.datatype, lowest, w);
    }

    /// Encodes the datatype message without padding, with the version `lowest` or a later one for
    /// the datatype and all nested datatypes.
    pub fn encode_from(&self, lowest: u8, w: &mut Writer) {
        encode_at(&self.datatype, lowest, w);
    }
}

/// Returns the oldest version of the datatype message that can store a datatype with all nested
/// datatypes.
pub fn minimum_version(datatype: &Datatype) -> u8 {
    match &datatype.class {
        DatatypeClass::FloatingPoint(float) if float.order == FloatOrder::Vax => 3,
        DatatypeClass::Reference(reference) => match reference.kind {
            ReferenceKind::Object1 | ReferenceKind::DatasetRegion1 => 1,
            _ => 4,
        },
        DatatypeClass::Compound(compound) => {
            compound.members.iter().map(|member| minimum_version(&member.datatype)).max().unwrap_or(1)
        }
        DatatypeClass::Enumeration(enumeration) => minimum_version(&enumeration.base),
        DatatypeClass::VariableLength(variable) => minimum_version(&variable.base),
        DatatypeClass::Array(array) => minimum_version(&array.base).max(2),
        DatatypeClass::Complex(_) => 5,
        _ => 1,
    }
}

fn decode_at(r: &mut Reader<'_>, params: FileParams, depth: usize) -> Result<Decoded> {
    if depth > Limits::MAX_DATATYPE_DEPTH {
        return Err(FormatError::Limit {
            structure: r.structure(),
            subject: "depth of nested datatypes",
            got: depth as u64,
            limit: Limits::MAX_DATATYPE_DEPTH as u64,
        });
    }
    let class_and_version = r.u8("class and version")?;
    let version = class_and_version >> 4;
    if !(1..=LATEST_VERSION).contains(&version) {
        return Err(r.unsupported(format!("datatype version {version}")));
    }
    let [a, b, c] = r.array("class bit field")?;
    let prefix = Prefix {
        version,
        class: ClassNumber(class_and_version & 0xf),
        flags: u32::from_le_bytes([a, b, c, 0]),
        size: r.u32("size")?,
        depth,
        params,
    };
    if prefix.size == 0 {
        return Err(r.corrupt("size", "at least 1", 0));
    }
    let datatype = decode_class(r, &prefix)?;
    Ok(Decoded { version, stored_size: prefix.size, datatype })
}

fn decode_class(r: &mut Reader<'_>, prefix: &Prefix) -> Result<Datatype> {
    let class = match prefix.class {
        ClassNumber::FIXED_POINT => numeric::decode_fixed_point(r, prefix)?,
        ClassNumber::FLOATING_POINT => numeric::decode_floating_point(r, prefix)?,
        ClassNumber::TIME => numeric::decode_time(r, prefix)?,
        ClassNumber::STRING => text::decode_string(r, prefix)?,
        ClassNumber::BITFIELD => numeric::decode_bitfield(r, prefix)?,
        ClassNumber::OPAQUE => text::decode_opaque(r, prefix)?,
        ClassNumber::COMPOUND => compound::decode(r, prefix)?,
        ClassNumber::REFERENCE => nested::decode_reference(r, prefix)?,
        ClassNumber::ENUMERATION => enumeration::decode(r, prefix)?,
        ClassNumber::VARIABLE_LENGTH => return nested::decode_variable_length(r, prefix),
        ClassNumber::ARRAY => return nested::decode_array(r, prefix),
        ClassNumber::COMPLEX => nested::decode_complex(r, prefix)?,
        ClassNumber(other) => return Err(r.unsupported(format!("datatype class {other}"))),
    };
    Ok(Datatype { size: prefix.size, class })
}

/// Encodes a datatype as a datatype message. Selects the lowest version that is at least `lowest`
/// and can represent the datatype.
fn encode_at(datatype: &Datatype, lowest: u8, w: &mut Writer) {
    let version = lowest.max(minimum_version(datatype));
    if datatype.size == 0 {
        w.fail("size", 0);
    }
    let start = Start { version, class: ClassNumber::of(&datatype.class), size: datatype.size, lowest };
    match &datatype.class {
        DatatypeClass::FixedPoint(fixed) => numeric::encode_fixed_point(fixed, start, w),
        DatatypeClass::FloatingPoint(float) => numeric::encode_floating_point(float, start, w),
        DatatypeClass::Time(time) => numeric::encode_time(time, start, w),
        DatatypeClass::String(string) => text::encode_string(*string, start, w),
        DatatypeClass::Bitfield(bits) => numeric::encode_bitfield(bits, start, w),
        DatatypeClass::Opaque(opaque) => text::encode_opaque(opaque, start, w),
        DatatypeClass::Compound(compound) => compound::encode(compound, start, w),
        DatatypeClass::Reference(reference) => nested::encode_reference(*reference, start, w),
        DatatypeClass::Enumeration(enumeration) => enumeration::encode(enumeration, start, w),
        DatatypeClass::VariableLength(variable) => nested::encode_variable_length(variable, start, w),
        DatatypeClass::Array(array) => nested::encode_array(array, start, w),
        DatatypeClass::Complex(complex) => nested::encode_complex(complex, start, w),
    }
}

/// The fields of a datatype message's prefix, without the class bit field. The class of the
/// datatype determines the class bit field.
#[derive(Debug, Clone, Copy)]
struct Start {
    version: u8,
    class: ClassNumber,
    size: u32,
    /// Lowest version for the nested datatypes.
    lowest: u8,
}

impl Start {
    /// Writes the prefix of a datatype message. `flags` is the class bit field.
    fn write(self, flags: u32, w: &mut Writer) {
        w.u8(self.version << 4 | self.class.0);
        w.uint(3, u64::from(flags), "class bit field");
        w.u32(self.size);
    }
}

/// Reads the name of a compound or enumeration member from a datatype message. A zero byte ends the
/// name. Before version 3, further zero bytes follow up to a multiple of eight.
fn decode_name(r: &mut Reader<'_>, version: u8) -> Result<Vec<u8>> {
    let name = r.until_nul("member name")?;
    if version < PACKED_VERSION {
        r.skip(name_padding(name.len()), "member name padding")?;
    }
    Ok(name.to_vec())
}

fn encode_name(name: &[u8], version: u8, w: &mut Writer) {
    w.text_nul(name, "member name");
    if version < PACKED_VERSION {
        w.zeros(name_padding(name.len()));
    }
}

/// Returns the number of padding bytes after a member name and its terminating zero byte in a
/// datatype message. `length` is the length of the name.
fn name_padding(length: usize) -> usize {
    7 - length % 8
}

#[cfg(test)]
mod tests;
