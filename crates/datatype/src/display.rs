//! Short names of datatypes, for messages: `i32`, `f64be`, `string[8] utf-8`, `compound { a: i32,
//! b: f64 }`.
//!
//! Only big-endian byte order is named. A number whose bits do not fill its bytes states the
//! position of its bits (`u12 in 2 bytes at bit 4`).

use std::fmt;

use crate::{
    Array, ByteOrder, CharacterSet, Compound, Datatype, DatatypeClass, Enumeration, FixedPoint, FixedString,
    FloatOrder, FloatingPoint, Normalization, Reference, ReferenceKind, StringPadding, VariableLength,
    VariableLengthKind,
};

/// The largest number of members in the text form of a compound or enumeration datatype. The text
/// shows "…" instead of further members.
const MAX_SHOWN_MEMBERS: usize = 16;

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.class {
            DatatypeClass::FixedPoint(fixed) => show_fixed(f, fixed, self.size),
            DatatypeClass::FloatingPoint(float) => show_float(f, float, self),
            DatatypeClass::Time(time) => write!(f, "time{}{}", time.precision, suffix(time.order, self.size)),
            DatatypeClass::String(string) => show_string(f, *string, self.size),
            DatatypeClass::Bitfield(bits) => {
                write!(f, "bits{}{}", bits.precision, suffix(bits.order, self.size))?;
                show_bit_position(f, bits.bit_offset, bits.precision, self.size)
            }
            DatatypeClass::Opaque(opaque) if opaque.tag.is_empty() => write!(f, "opaque[{}]", self.size),
            DatatypeClass::Opaque(opaque) => {
                write!(f, "opaque[{}] \"{}\"", self.size, String::from_utf8_lossy(&opaque.tag).escape_debug())
            }
            DatatypeClass::Compound(compound) => show_compound(f, compound),
            DatatypeClass::Reference(reference) => f.write_str(reference_name(*reference)),
            DatatypeClass::Enumeration(_) if self.is_bool() => f.write_str("bool"),
            DatatypeClass::Enumeration(enumeration) => show_enumeration(f, enumeration),
            DatatypeClass::VariableLength(variable) => show_variable(f, variable),
            DatatypeClass::Array(Array { dims, base }) => write!(f, "array {dims:?} of {base}"),
            DatatypeClass::Complex(complex) => write!(f, "complex {}", complex.base),
        }
    }
}

/// Returns the part of a datatype's text form that states the byte order.
fn suffix(order: ByteOrder, size: u32) -> &'static str {
    if order == ByteOrder::BigEndian && size > 1 { "be" } else { "" }
}

/// Writes the position of a number's bits to the text form of a datatype. Writes nothing if the
/// bits fill the element.
fn show_bit_position(f: &mut fmt::Formatter<'_>, offset: u16, precision: u16, size: u32) -> fmt::Result {
    if offset == 0 && u64::from(precision) == u64::from(size) * 8 {
        return Ok(());
    }
    write!(f, " in {size} bytes")?;
    if offset > 0 { write!(f, " at bit {offset}") } else { Ok(()) }
}

fn show_fixed(f: &mut fmt::Formatter<'_>, fixed: &FixedPoint, size: u32) -> fmt::Result {
    let sign = if fixed.signed { 'i' } else { 'u' };
    write!(f, "{sign}{}{}", fixed.precision, suffix(fixed.order, size))?;
    show_bit_position(f, fixed.bit_offset, fixed.precision, size)
}

fn show_float(f: &mut fmt::Formatter<'_>, float: &FloatingPoint, datatype: &Datatype) -> fmt::Result {
    let order = match float.order {
        FloatOrder::BigEndian if datatype.size > 1 => "be",
        FloatOrder::Vax => "vax",
        _ => "",
    };
    let ieee = float.order != FloatOrder::Vax && float.normalization == Normalization::Implied;
    match (float.precision, float.exponent_size, float.mantissa_size) {
        (16, 8, 7) => write!(f, "bf16{order}")?,
        (16, 5, 10) | (32, 8, 23) | (64, 11, 52) | (128, 15, 112) if ieee => {
            write!(f, "f{}{order}", float.precision)?;
        }
        (32, 8, 23) | (64, 11, 52) | (80, 15, 64) => write!(f, "f{}{order}", float.precision)?,
        (precision, exponent, mantissa) => write!(f, "f{precision}e{exponent}m{mantissa}{order}")?,
    }
    show_bit_position(f, float.bit_offset, float.precision, datatype.size)
}

fn charset_suffix(charset: CharacterSet) -> &'static str {
    match charset {
        CharacterSet::Ascii => "",
        CharacterSet::Utf8 => " utf-8",
    }
}

fn show_string(f: &mut fmt::Formatter<'_>, string: FixedString, size: u32) -> fmt::Result {
    let padding = match string.padding {
        StringPadding::NullTerminated => "",
        StringPadding::NullPadded => " null-padded",
        StringPadding::SpacePadded => " space-padded",
    };
    write!(f, "string[{size}]{}{padding}", charset_suffix(string.charset))
}

fn show_variable(f: &mut fmt::Formatter<'_>, variable: &VariableLength) -> fmt::Result {
    match variable.kind {
        VariableLengthKind::String { charset, .. } => write!(f, "vlen string{}", charset_suffix(charset)),
        VariableLengthKind::Sequence => write!(f, "vlen of {}", variable.base),
    }
}

fn reference_name(reference: Reference) -> &'static str {
    match reference.kind {
        ReferenceKind::Object1 => "object reference",
        ReferenceKind::DatasetRegion1 => "region reference",
        ReferenceKind::Object2 => "reference",
        ReferenceKind::DatasetRegion2 => "revised region reference",
        ReferenceKind::Attribute => "attribute reference",
    }
}

/// Writes the members of a compound or enumeration datatype to its text form, as `{ a, b, … }`.
fn show_members<'a, T: 'a>(
    f: &mut fmt::Formatter<'_>,
    members: &'a [T],
    mut show: impl FnMut(&mut fmt::Formatter<'_>, &'a T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("{")?;
    for (index, member) in members.iter().take(MAX_SHOWN_MEMBERS).enumerate() {
        f.write_str(if index == 0 { " " } else { ", " })?;
        show(f, member)?;
    }
    f.write_str(if members.len() > MAX_SHOWN_MEMBERS { ", … }" } else { " }" })
}

fn show_compound(f: &mut fmt::Formatter<'_>, compound: &Compound) -> fmt::Result {
    f.write_str("compound ")?;
    show_members(f, &compound.members, |f, member| {
        write!(f, "{}: {}", String::from_utf8_lossy(&member.name).escape_debug(), member.datatype)
    })
}

fn show_enumeration(f: &mut fmt::Formatter<'_>, enumeration: &Enumeration) -> fmt::Result {
    write!(f, "enum {} ", enumeration.base)?;
    show_members(f, &enumeration.members, |f, member| {
        write!(f, "{}", String::from_utf8_lossy(&member.name).escape_debug())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EnumerationMember;
    use ByteOrder::{BigEndian as BE, LittleEndian as LE};

    #[test]
    fn names() {
        let color = EnumerationMember { name: b"RED".to_vec(), value: vec![0, 1] };
        let mut odd = Datatype::u16(LE);
        if let DatatypeClass::FixedPoint(fixed) = &mut odd.class {
            (fixed.precision, fixed.bit_offset) = (12, 4);
        }
        let cases = [
            (Datatype::i32(LE), "i32"),
            (Datatype::u8(), "u8"),
            (Datatype::f64(BE), "f64be"),
            (Datatype::bf16(LE), "bf16"),
            (Datatype::vax_f32(), "f32vax"),
            (Datatype::x87(16), "f80 in 16 bytes"),
            (Datatype::f8_e4m3(), "f8e4m3"),
            (odd, "u12 in 2 bytes at bit 4"),
            (
                Datatype::fixed_string(8, StringPadding::NullPadded, CharacterSet::Utf8),
                "string[8] utf-8 null-padded",
            ),
            (Datatype::fixed_string(8, StringPadding::NullTerminated, CharacterSet::Ascii), "string[8]"),
            (Datatype::variable_string(CharacterSet::Ascii, 8), "vlen string"),
            (Datatype::sequence(Datatype::i16(LE), 8), "vlen of i16"),
            (Datatype::array([3, 4], Datatype::f32(LE)), "array [3, 4] of f32"),
            (Datatype::bool(), "bool"),
            (Datatype::enumeration(Datatype::u16(BE), vec![color]), "enum u16be { RED }"),
            (
                Datatype::packed([("a", Datatype::i32(LE)), ("b", Datatype::f64(LE))]),
                "compound { a: i32, b: f64 }",
            ),
            (Datatype::complex(Datatype::f32(LE)), "complex f32"),
            (Datatype::opaque(4, "rgb"), "opaque[4] \"rgb\""),
            (Datatype::object_reference(8), "object reference"),
        ];
        for (datatype, name) in cases {
            assert_eq!(datatype.to_string(), name);
        }
    }

    #[test]
    fn long_compounds_are_cut() {
        let many = Datatype::packed((0..40).map(|n| (format!("m{n}"), Datatype::u8())));
        assert!(many.to_string().ends_with("m15: u8, … }"));
    }
}
