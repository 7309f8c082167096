//! The Datatype message (File Format Specification, section IV.A.2.d; message type 0x0003).
//!
//! ```text
//! off size field
//! 0   1    bits 0-3 class, bits 4-7 version (1-5)
//! 1   3    class bit field
//! 4   4    size of one element in bytes (never 0)
//! 8   ..   properties of the class, see the files beside this one
//! ```
//!
//! A version states how compounds, enumerations and arrays lay out their properties (1 and 2 pad names, 3 and
//! later do not) and, from 3 on, that the VAX bit of floating-point numbers counts. Version 4 came with the
//! revised references, version 5 with complex numbers (class 11). Every version may hold every class.

use hyperslab_datatype::{Datatype, DatatypeClass, FloatOrder, ReferenceKind};

use crate::codec::{FileParams, FormatError, Limits, Reader, Result, Writer};

mod compound;
mod enumeration;
mod nested;
mod numeric;
mod text;

/// The structure's name in errors.
pub(crate) const NAME: &str = "Datatype message";
/// Newest version of the message.
const LATEST: u8 = 5;
/// From this version on names are not padded and member offsets are as narrow as the compound allows.
const PACKED: u8 = 3;
/// Bytes before the properties.
const PREFIX_SIZE: usize = 8;

/// A datatype as an object header, an attribute or a committed type holds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DatatypeMessage {
    /// Version of the outermost datatype. When encoding, the lowest version to use: parts that need a newer
    /// one get it.
    pub version: u8,
    /// The type.
    pub datatype: Datatype,
}

/// The class number in the low four bits of a message.
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

/// What the first eight bytes say, and where the datatype stands.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    version: u8,
    class: ClassNumber,
    /// The 24 bits of the class bit field.
    flags: u32,
    /// Bytes of an element.
    size: u32,
    /// Nesting: 1 for the outermost datatype.
    depth: usize,
    params: FileParams,
}

impl Prefix {
    fn bit(&self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    /// Four bits of the class bit field, from bit `shift` on.
    fn nibble(&self, shift: u32) -> u8 {
        (self.flags >> shift & 0xf) as u8
    }

    /// The member count in the low 16 bits of compounds and enumerations.
    fn member_count(&self) -> u64 {
        u64::from(self.flags & 0xffff)
    }
}

/// A datatype with what its surroundings need to know.
#[derive(Debug)]
struct Decoded {
    version: u8,
    /// The size field, which positions inside a compound are checked against. It differs from
    /// `datatype.size` where the field is not the size that elements have in the file.
    stored_size: u32,
    datatype: Datatype,
}

impl DatatypeMessage {
    /// The message of a type, in the oldest version that can hold it.
    pub fn new(datatype: Datatype) -> Self {
        Self { version: minimum_version(&datatype), datatype }
    }

    /// Decodes a message. Bytes after it are ignored: object headers of version 1 pad to eight bytes.
    ///
    /// # Errors
    /// [`FormatError::Corrupt`], [`FormatError::Unsupported`] or [`FormatError::Limit`] (nested too deeply).
    pub fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        Self::decode_prefix(&mut Reader::new(NAME, bytes), params)
    }

    /// Decodes the datatype at the reader's place, as other messages hold it, and takes just its bytes.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    pub fn decode_prefix(reader: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let decoded = decode_at(reader, params, 1)?;
        Ok(Self { version: decoded.version, datatype: decoded.datatype })
    }

    /// Encodes the message without padding. What does not fit is remembered in `w`.
    pub fn encode(&self, _params: FileParams, w: &mut Writer) {
        if self.version > LATEST {
            w.fail("version", self.version);
            return;
        }
        // Asked for no more than needed, the types inside stay in their own oldest versions.
        let lowest = if self.version > minimum_version(&self.datatype) { self.version } else { 1 };
        encode_at(&self.datatype, lowest, w);
    }
}

/// The oldest version of the message that can hold a type and everything inside it.
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
            what: "depth of nested datatypes",
            got: depth as u64,
            limit: Limits::MAX_DATATYPE_DEPTH as u64,
        });
    }
    let class_and_version = r.u8("class and version")?;
    let version = class_and_version >> 4;
    if !(1..=LATEST).contains(&version) {
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

/// Encodes a datatype in the lowest version from `lowest` on that can hold it.
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

/// What an encoder of a class writes first, once it knows its class bit field.
#[derive(Debug, Clone, Copy)]
struct Start {
    version: u8,
    class: ClassNumber,
    size: u32,
    /// The lowest version for the types inside.
    lowest: u8,
}

impl Start {
    /// Writes the prefix with this class bit field.
    fn write(self, flags: u32, w: &mut Writer) {
        w.u8(self.version << 4 | self.class.0);
        w.uint(3, u64::from(flags), "class bit field");
        w.u32(self.size);
    }
}

/// Takes a name of a compound or enumeration member: text, a zero byte and, before version 3, zero bytes up to
/// a multiple of eight.
fn decode_name(r: &mut Reader<'_>, version: u8) -> Result<Vec<u8>> {
    let name = r.until_nul("member name")?;
    if version < PACKED {
        r.skip(name_padding(name.len()), "member name padding")?;
    }
    Ok(name.to_vec())
}

fn encode_name(name: &[u8], version: u8, w: &mut Writer) {
    w.text_nul(name, "member name");
    if version < PACKED {
        w.zeros(name_padding(name.len()));
    }
}

/// Zero bytes after a name of that length and its terminating zero byte.
fn name_padding(length: usize) -> usize {
    7 - length % 8
}

#[cfg(test)]
mod tests;
