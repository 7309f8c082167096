//! Datatypes in the data description language.

use hyperslab::datatype::{
    Array, Bitfield, ByteOrder, Compound, Enumeration, FixedPoint, FloatOrder, FloatingPoint, Normalization,
    ReferenceKind, StringPadding, VariableLengthKind,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass, H5Type};

use super::super::printf;
use super::{LEVEL, quoted, spaces};

/// Returns the text of a datatype in DDL. Lines after the first one are indented by at least
/// `indent` spaces.
pub(crate) fn datatype(datatype: &Datatype, indent: usize) -> String {
    let mut text = String::new();
    write(&mut text, datatype, indent);
    text
}

fn write(out: &mut String, datatype: &Datatype, indent: usize) {
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => out.push_str(&integer(number, datatype.size)),
        DatatypeClass::FloatingPoint(number) => out.push_str(&float(datatype, number)),
        DatatypeClass::Time(_) => out.push_str("H5T_TIME: not yet implemented"),
        DatatypeClass::String(text) => {
            string(out, &datatype.size.to_string(), text.padding, text.charset, indent);
        }
        DatatypeClass::Bitfield(bits) => out.push_str(&bitfield(bits, datatype.size)),
        DatatypeClass::Opaque(opaque) => {
            out.push_str("H5T_OPAQUE {\n");
            let tag = quoted(&opaque.tag);
            out.push_str(&format!("{}OPAQUE_TAG {tag};\n{}}}", spaces(indent + LEVEL), spaces(indent)));
        }
        DatatypeClass::Compound(record) => compound(out, record, indent),
        DatatypeClass::Reference(reference) => out.push_str(match reference.kind {
            ReferenceKind::Object1 => "H5T_REFERENCE { H5T_STD_REF_OBJECT }",
            ReferenceKind::DatasetRegion1 => "H5T_REFERENCE { H5T_STD_REF_DSETREG }",
            _ => "H5T_REFERENCE { H5T_STD_REF }",
        }),
        DatatypeClass::Enumeration(names) => enumeration(out, names, indent),
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::Sequence => around(out, "H5T_VLEN { ", &variable.base, indent),
            VariableLengthKind::String { padding, charset } => {
                string(out, "H5T_VARIABLE", padding, charset, indent);
            }
        },
        DatatypeClass::Array(array) => {
            let dims: String = dims(array);
            around(out, &format!("H5T_ARRAY {{ {dims} "), &array.base, indent);
        }
        DatatypeClass::Complex(complex) => complex_number(out, &complex.base, indent),
    }
}

/// Appends the name of a complex number type. A predefined base type gives a predefined name.
fn complex_number(out: &mut String, base: &Datatype, indent: usize) {
    let mut name = String::new();
    write(&mut name, base, indent);
    match name.strip_prefix("H5T_IEEE_") {
        Some(rest) => out.push_str(&format!("H5T_COMPLEX_IEEE_{rest}")),
        None if is_long_double(base) => out.push_str("H5T_NATIVE_LDOUBLE_COMPLEX"),
        None => out.push_str(&format!("H5T_COMPLEX {{ {name} }}")),
    }
}

fn around(out: &mut String, before: &str, base: &Datatype, indent: usize) {
    out.push_str(before);
    write(out, base, indent);
    out.push_str(" }");
}

fn dims(array: &Array) -> String {
    array.dims.iter().map(|size| format!("[{size}]")).collect()
}

fn integer(number: &FixedPoint, size: u32) -> String {
    let sign = if number.signed { 'I' } else { 'U' };
    let bits = u64::from(size) * 8;
    let is_plain = number.bit_offset == 0 && u64::from(number.precision) == bits;
    if is_plain && matches!(bits, 8 | 16 | 32 | 64) {
        return format!("H5T_STD_{sign}{bits}{}", suffix(number.order));
    }
    let order = if size == 1 { "" } else { in_words(number.order) };
    let sign = if number.signed { "" } else { "unsigned " };
    format!("{bits}-bit {order}{sign}integer {}-bit precision", number.precision)
}

fn suffix(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "LE",
        ByteOrder::BigEndian => "BE",
    }
}

/// Returns the words for a byte order, with a space after them.
fn in_words(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "little-endian ",
        ByteOrder::BigEndian => "big-endian ",
    }
}

fn float(datatype: &Datatype, number: &FloatingPoint) -> String {
    let of = |standard: Datatype| match standard.class {
        DatatypeClass::FloatingPoint(standard) => {
            let same = FloatingPoint { order: number.order, ..standard };
            same == *number
        }
        _ => false,
    };
    let order = match number.order {
        FloatOrder::LittleEndian => "LE",
        FloatOrder::BigEndian => "BE",
        FloatOrder::Vax => "VAX",
    };
    let known = match datatype.size {
        2 if of(Datatype::f16(ByteOrder::LittleEndian)) => Some("IEEE_F16"),
        2 if of(Datatype::bf16(ByteOrder::LittleEndian)) => Some("FLOAT_BFLOAT16"),
        4 if of(f32::datatype()) => Some("IEEE_F32"),
        8 if of(f64::datatype()) => Some("IEEE_F64"),
        _ => None,
    };
    match (known, number.order, datatype.size) {
        // The bytes of a number of one byte have no order.
        (None, FloatOrder::LittleEndian | FloatOrder::BigEndian, 1) => match float8(number) {
            Some(name) => name.into(),
            None => format!("8-bit floating-point {}-bit precision", number.precision),
        },
        (_, FloatOrder::Vax, 4) => "H5T_VAX_F32".into(),
        (_, FloatOrder::Vax, 8) => "H5T_VAX_F64".into(),
        (Some(known), ..) => format!("H5T_{known}{order}"),
        (None, order, size) => {
            let order = match order {
                FloatOrder::LittleEndian => "little-endian",
                FloatOrder::BigEndian => "big-endian",
                FloatOrder::Vax => "mixed-endian",
            };
            let bits = u64::from(size) * 8;
            format!("{bits}-bit {order} floating-point {}-bit precision", number.precision)
        }
    }
}

/// Returns true for the type `long double` of C programs on x86-64: 80 bits in 16 bytes.
pub(crate) fn is_long_double(datatype: &Datatype) -> bool {
    let DatatypeClass::FloatingPoint(number) = &datatype.class else { return false };
    let fields = (number.mantissa_size, number.exponent_size, number.exponent_bias);
    let is_extended = number.precision == 80 && number.bit_offset == 0 && fields == (64, 15, 16_383);
    datatype.size == 16 && is_extended && number.order == FloatOrder::LittleEndian
}

/// Returns the predefined name of a floating-point type of one byte, if it has one.
pub(crate) fn float8(number: &FloatingPoint) -> Option<&'static str> {
    let is_whole = number.bit_offset == 0 && number.precision == 8 && number.sign_location == 7;
    let is_plain = number.normalization == Normalization::Implied && number.mantissa_location == 0;
    let fields = (number.exponent_location, number.exponent_size, number.mantissa_size, number.exponent_bias);
    match fields {
        _ if !is_whole || !is_plain => None,
        (3, 4, 3, 7) => Some("H5T_FLOAT_F8E4M3"),
        (2, 5, 2, 15) => Some("H5T_FLOAT_F8E5M2"),
        _ => None,
    }
}

fn bitfield(bits: &Bitfield, size: u32) -> String {
    match u64::from(size) * 8 {
        size @ (8 | 16 | 32 | 64) if u64::from(bits.precision) == size => {
            format!("H5T_STD_B{size}{}", suffix(bits.order))
        }
        _ => "undefined bitfield".into(),
    }
}

fn string(out: &mut String, size: &str, padding: StringPadding, charset: CharacterSet, indent: usize) {
    let padding = match padding {
        StringPadding::NullTerminated => "H5T_STR_NULLTERM",
        StringPadding::NullPadded => "H5T_STR_NULLPAD",
        StringPadding::SpacePadded => "H5T_STR_SPACEPAD",
    };
    let charset = match charset {
        CharacterSet::Ascii => "H5T_CSET_ASCII",
        CharacterSet::Utf8 => "H5T_CSET_UTF8",
    };
    out.push_str("H5T_STRING {\n");
    let inside = spaces(indent + LEVEL);
    for (subject, value) in [("STRSIZE", size), ("STRPAD", padding), ("CSET", charset), ("CTYPE", "H5T_C_S1")]
    {
        out.push_str(&format!("{inside}{subject} {value};\n"));
    }
    out.push_str(&format!("{}}}", spaces(indent)));
}

fn compound(out: &mut String, record: &Compound, indent: usize) {
    out.push_str("H5T_COMPOUND {\n");
    for member in &record.members {
        out.push_str(&spaces(indent + LEVEL));
        write(out, &member.datatype, indent + LEVEL);
        out.push_str(&format!(" {};\n", quoted(&member.name)));
    }
    out.push_str(&format!("{}}}", spaces(indent)));
}

fn enumeration(out: &mut String, names: &Enumeration, indent: usize) {
    out.push_str("H5T_ENUM {\n");
    let inside = spaces(indent + LEVEL);
    out.push_str(&inside);
    write(out, &names.base, indent + LEVEL);
    out.push_str(";\n");
    for member in &names.members {
        let name = quoted(&member.name);
        let value = printf::integer(&names.base, &member.value);
        out.push_str(&format!("{inside}{name:<18} {value};\n"));
    }
    out.push_str(&format!("{}}}", spaces(indent)));
}
