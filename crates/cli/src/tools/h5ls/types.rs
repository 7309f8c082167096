//! Datatypes in the format of h5ls.

use hyperslab::datatype::{
    Array, ByteOrder, Compound, Enumeration, FixedPoint, FloatOrder, FloatingPoint, Normalization, Padding,
    ReferenceKind, StringPadding, VariableLengthKind,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass, H5Type};

use super::names::{Quotes, escaped};
use crate::tools::ddl::spaces;
use crate::tools::ddl::types::{float8, is_long_double};
use crate::tools::printf;

/// The number of spaces by which h5ls indents the inner lines of a datatype's text.
const INSIDE_SPACES: usize = 4;

/// The width of h5ls's column of compound member names, including quotes.
const MEMBER_COLUMNS: usize = 18;

/// The width of h5ls's column with the names of enumeration values.
const VALUE_COLUMNS: usize = 16;

/// Returns the text of a datatype for h5ls. Lines after the first one are indented by at least
/// `indent` spaces. With `native`, native types have their C names.
pub(super) fn datatype(datatype: &Datatype, native: bool, indent: usize) -> String {
    let name = if native { native_name(datatype) } else { None };
    if let Some(name) = name {
        return format!("native {name}");
    }
    let below = |base: &Datatype| self::datatype(base, native, indent + INSIDE_SPACES);
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => integer(number, datatype.size, indent),
        DatatypeClass::FloatingPoint(number) => float(datatype, number, indent),
        DatatypeClass::String(text) => string(&format!("{}-byte", datatype.size), text.padding, text.charset),
        DatatypeClass::Bitfield(bits) => {
            let order = if datatype.size > 1 { in_words(bits.order) } else { "" };
            let text = format!("{}-bit{order} bitfield", bits_of(datatype.size));
            text + &precision(
                datatype.size,
                bits.precision,
                bits.bit_offset,
                [bits.low_pad, bits.high_pad],
                indent,
            )
        }
        DatatypeClass::Opaque(opaque) => {
            let tag = escaped(&opaque.tag, Quotes::Yes);
            format!("{}-byte opaque type\n{}(tag = \"{tag}\")", datatype.size, spaces(indent))
        }
        DatatypeClass::Compound(record) => compound(record, datatype.size, native, indent),
        DatatypeClass::Reference(reference) => match reference.kind {
            ReferenceKind::Object1 => "object reference".into(),
            ReferenceKind::DatasetRegion1 => "dataset region reference".into(),
            _ => "standard reference".into(),
        },
        DatatypeClass::Enumeration(names) => enumeration(names, &below(&names.base), indent),
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::Sequence => {
                let inside = spaces(indent + INSIDE_SPACES);
                format!("variable length of\n{inside}{}", below(&variable.base))
            }
            VariableLengthKind::String { padding, charset } => string("variable-length", padding, charset),
        },
        DatatypeClass::Array(array) => format!("{} {}", dims(array), below(&array.base)),
        DatatypeClass::Complex(complex) if is_long_double(&complex.base) && native => {
            "native long double _Complex".into()
        }
        DatatypeClass::Complex(complex) => match below(&complex.base) {
            base if base.contains('\n') => {
                format!("complex number of\n{}{base}", spaces(indent + INSIDE_SPACES))
            }
            base => format!("{base} _Complex"),
        },
        DatatypeClass::Time(_) => format!("{}-byte class-2 unknown", datatype.size),
    }
}

/// Returns the C name of a datatype, if the datatype equals a C type on most machines. Otherwise
/// returns `None`.
fn native_name(datatype: &Datatype) -> Option<&'static str> {
    match &datatype.class {
        DatatypeClass::FixedPoint(_) => {
            let known = [
                (i8::datatype(), "signed char"),
                (u8::datatype(), "unsigned char"),
                (i16::datatype(), "short"),
                (u16::datatype(), "unsigned short"),
                (i32::datatype(), "int"),
                (u32::datatype(), "unsigned int"),
                (i64::datatype(), "long"),
                (u64::datatype(), "unsigned long"),
            ];
            known.into_iter().find(|(known, _)| known == datatype).map(|(_, name)| name)
        }
        DatatypeClass::FloatingPoint(_) => {
            let known = [
                (Datatype::f16(ByteOrder::LittleEndian), "_Float16"),
                (f32::datatype(), "float"),
                (f64::datatype(), "double"),
            ];
            known.into_iter().find(|(known, _)| known == datatype).map(|(_, name)| name)
        }
        DatatypeClass::Bitfield(bits) => {
            let is_whole = u64::from(bits.precision) == bits_of(datatype.size) && bits.bit_offset == 0;
            let known = [(1, "8-bit field"), (2, "16-bit field"), (4, "32-bit field"), (8, "64-bit field")];
            let found = known.into_iter().find(|(size, _)| *size == datatype.size).map(|(_, name)| name);
            found.filter(|_| is_whole && bits.order == ByteOrder::LittleEndian)
        }
        _ => None,
    }
}

fn bits_of(size: u32) -> u64 {
    u64::from(size) * 8
}

fn in_words(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => " little-endian",
        ByteOrder::BigEndian => " big-endian",
    }
}

fn integer(number: &FixedPoint, size: u32, indent: usize) -> String {
    let order = if size > 1 { in_words(number.order) } else { "" };
    let sign = if number.signed { "" } else { " unsigned" };
    let text = format!("{}-bit{order}{sign} integer", bits_of(size));
    text + &precision(size, number.precision, number.bit_offset, [number.low_pad, number.high_pad], indent)
}

/// Returns text lines about the significant bits of a number. Returns an empty text if all bits are
/// significant. The paddings are the values of the bits below and above the significant bits.
fn precision(size: u32, precision: u16, offset: u16, [low, high]: [Padding; 2], indent: usize) -> String {
    let (all, precision, offset) = (bits_of(size), u64::from(precision), u64::from(offset));
    if all == precision {
        return String::new();
    }
    let before = spaces(indent);
    let mut text =
        format!("\n{before}({precision} bit{} of precision beginning at bit {offset})", plural(precision));
    let end = precision + offset;
    // A damaged datatype may state more significant bits than it has: no bits are above these.
    let above = all.saturating_sub(end);
    let sides = [(offset, 0, low), (above, end, high)].into_iter();
    let words = sides
        .filter(|(count, ..)| *count > 0)
        .map(|(count, at, pad)| format!("{count} {} bit{} at bit {at}", padding(pad), plural(count)));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        text.push_str(&format!("\n{before}({})", words.join(", ")));
    }
    text
}

fn padding(padding: Padding) -> &'static str {
    match padding {
        Padding::Zero => "zero",
        Padding::One => "one",
        Padding::Background => "background",
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn float(datatype: &Datatype, number: &FloatingPoint, indent: usize) -> String {
    let size = datatype.size;
    let of = |standard: Datatype| match standard.class {
        DatatypeClass::FloatingPoint(standard) => {
            FloatingPoint { order: number.order, ..standard } == *number
        }
        _ => false,
    };
    let known = match size {
        1 => match float8(number) {
            Some("H5T_FLOAT_F8E4M3") => return "FP8 E4M3 8-bit float".into(),
            Some("H5T_FLOAT_F8E5M2") => return "FP8 E5M2 8-bit float".into(),
            _ => None,
        },
        2 if of(Datatype::f16(ByteOrder::LittleEndian)) => Some("IEEE"),
        2 if of(Datatype::bf16(ByteOrder::LittleEndian)) => Some("bfloat16"),
        4 if of(f32::datatype()) => Some("IEEE"),
        8 if of(f64::datatype()) => Some("IEEE"),
        _ => None,
    };
    let order = match number.order {
        FloatOrder::LittleEndian => "little-endian",
        FloatOrder::BigEndian => "big-endian",
        FloatOrder::Vax => "mixed-endian",
    };
    if let Some(known) = known
        && number.order != FloatOrder::Vax
    {
        return format!("{known} {}-bit {order} float", bits_of(size));
    }
    let before = spaces(indent);
    let mut text = match size {
        1 => "8-bit floating-point".to_owned(),
        _ => format!("{}-bit {order} floating-point", bits_of(size)),
    };
    let pads = [number.low_pad, number.high_pad];
    text.push_str(&precision(size, number.precision, number.bit_offset, pads, indent));
    let mantissa = u64::from(number.mantissa_size);
    let normalization = match number.normalization {
        Normalization::None => "no normalization",
        Normalization::MsbSet => "msb always set",
        Normalization::Implied => "msb implied",
    };
    text.push_str(&format!(
        "\n{before}(significant for {mantissa} bit{} at bit {}, {normalization})",
        plural(mantissa),
        number.mantissa_location,
    ));
    let exponent = u64::from(number.exponent_size);
    text.push_str(&format!(
        "\n{before}(exponent for {exponent} bit{} at bit {}, bias is 0x{:x})",
        plural(exponent),
        number.exponent_location,
        number.exponent_bias,
    ));
    text.push_str(&format!("\n{before}(sign bit at {})", number.sign_location));
    let fields = mantissa + exponent + 1;
    if fields < u64::from(number.precision) {
        let pad = padding(number.internal_pad);
        text.push_str(&format!("\n{before}(internal padding bits are {pad})"));
    }
    text
}

fn string(size: &str, padding: StringPadding, charset: CharacterSet) -> String {
    let padding = match padding {
        StringPadding::NullTerminated => "null-terminated",
        StringPadding::NullPadded => "null-padded",
        StringPadding::SpacePadded => "space-padded",
    };
    let charset = match charset {
        CharacterSet::Ascii => "ASCII",
        CharacterSet::Utf8 => "UTF-8",
    };
    format!("{size} {padding} {charset} string")
}

fn compound(record: &Compound, size: u32, native: bool, indent: usize) -> String {
    let mut text = String::from("struct {");
    let inside = indent + INSIDE_SPACES;
    for member in &record.members {
        let name = format!("\"{}\"", escaped(&member.name, Quotes::Yes));
        let of = datatype(&member.datatype, native, inside);
        text.push_str(&format!("\n{}{name:<MEMBER_COLUMNS$} +{:<4} {of}", spaces(inside), member.offset));
    }
    text + &format!("\n{}}} {size} byte{}", spaces(indent), plural(size.into()))
}

fn enumeration(names: &Enumeration, base: &str, indent: usize) -> String {
    let mut text = format!("enum {base} {{");
    let inside = spaces(indent + INSIDE_SPACES);
    for member in &names.members {
        let name = escaped(&member.name, Quotes::No);
        let value = printf::integer(&names.base, &member.value);
        text.push_str(&format!("\n{inside}{name:<VALUE_COLUMNS$} = {value}"));
    }
    if names.members.is_empty() {
        text.push_str(&format!("\n{inside}<empty>"));
    }
    text + &format!("\n{}}}", spaces(indent))
}

fn dims(array: &Array) -> String {
    let dims: Vec<String> = array.dims.iter().map(u32::to_string).collect();
    if dims.is_empty() { "[SCALAR]".into() } else { format!("[{}]", dims.join(",")) }
}
