//! The descriptions of datatypes in a digest.

use hyperslab::datatype::{
    ByteOrder, FloatOrder, Normalization, Padding, ReferenceKind, StringPadding, VariableLengthKind,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};
use serde_json::{Value, json};

use super::{hex, text};

/// Describes a datatype in JSON by its class, size and properties.
pub(super) fn datatype(datatype: &Datatype) -> Value {
    let mut value = class(datatype);
    if let Some(map) = value.as_object_mut() {
        map.insert("size".into(), json!(datatype.size));
    }
    value
}

fn class(datatype: &Datatype) -> Value {
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => json!({
            "class": "integer", "order": order(number.order),
            "sign": if number.signed { "signed" } else { "unsigned" },
            "precision": number.precision, "offset": number.bit_offset,
            "lpad": padding(number.low_pad), "mpad": padding(number.high_pad),
        }),
        DatatypeClass::FloatingPoint(_) => float(datatype),
        DatatypeClass::Time(time) => {
            json!({"class": "time", "order": order(time.order), "precision": time.precision})
        }
        DatatypeClass::String(string) => json!({
            "class": "string", "strpad": string_padding(string.padding), "cset": charset(string.charset),
        }),
        DatatypeClass::Bitfield(bits) => json!({
            "class": "bitfield", "order": order(bits.order), "precision": bits.precision,
            "offset": bits.bit_offset, "lpad": padding(bits.low_pad), "mpad": padding(bits.high_pad),
        }),
        DatatypeClass::Opaque(opaque) => json!({"class": "opaque", "tag": text(&opaque.tag)}),
        DatatypeClass::Compound(_) => compound(datatype),
        DatatypeClass::Reference(reference) => json!({
            "class": "reference",
            "kind": match reference.kind {
                ReferenceKind::Object1 => "object",
                ReferenceKind::DatasetRegion1 => "region",
                _ => "std",
            },
        }),
        DatatypeClass::Enumeration(_) => enumeration(datatype),
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::Sequence => json!({"class": "vlen", "base": self::datatype(&variable.base)}),
            VariableLengthKind::String { padding, charset } => json!({
                "class": "vlen_string", "strpad": string_padding(padding), "cset": self::charset(charset),
            }),
        },
        DatatypeClass::Array(array) => {
            json!({"class": "array", "dims": array.dims, "base": self::datatype(&array.base)})
        }
        DatatypeClass::Complex(complex) => json!({
            "class": "complex", "order": order_of(&complex.base), "base": self::datatype(&complex.base),
        }),
    }
}

fn float(datatype: &Datatype) -> Value {
    let DatatypeClass::FloatingPoint(number) = &datatype.class else { return Value::Null };
    json!({
        "class": "float",
        "order": float_order(number.order),
        "precision": number.precision, "offset": number.bit_offset,
        "sign_pos": number.sign_location,
        "exp_pos": number.exponent_location, "exp_size": number.exponent_size,
        "mant_pos": number.mantissa_location, "mant_size": number.mantissa_size,
        "ebias": number.exponent_bias,
        "norm": match number.normalization {
            Normalization::None => "none",
            Normalization::MsbSet => "msbset",
            Normalization::Implied => "implied",
        },
        "inpad": padding(number.internal_pad),
        "lpad": padding(number.low_pad), "mpad": padding(number.high_pad),
    })
}

fn compound(datatype: &Datatype) -> Value {
    let DatatypeClass::Compound(compound) = &datatype.class else { return Value::Null };
    let mut members: Vec<_> = compound.members.iter().collect();
    members.sort_by_key(|member| member.offset);
    let members: Vec<Value> = members
        .iter()
        .map(|member| {
            json!({
                "name": text(&member.name), "offset": member.offset, "type": self::datatype(&member.datatype),
            })
        })
        .collect();
    json!({"class": "compound", "members": members})
}

fn enumeration(datatype: &Datatype) -> Value {
    let DatatypeClass::Enumeration(enumeration) = &datatype.class else { return Value::Null };
    let mut members: Vec<_> = enumeration.members.iter().collect();
    members.sort_by(|a, b| a.name.cmp(&b.name));
    let members: Vec<Value> =
        members.iter().map(|member| json!([text(&member.name), hex(&member.value)])).collect();
    json!({"class": "enum", "base": self::datatype(&enumeration.base), "members": members})
}

fn order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "LE",
        ByteOrder::BigEndian => "BE",
    }
}

fn float_order(order: FloatOrder) -> &'static str {
    match order {
        FloatOrder::LittleEndian => "LE",
        FloatOrder::BigEndian => "BE",
        FloatOrder::Vax => "VAX",
    }
}

fn order_of(datatype: &Datatype) -> &'static str {
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => order(number.order),
        DatatypeClass::FloatingPoint(number) => float_order(number.order),
        _ => "none",
    }
}

fn padding(padding: Padding) -> &'static str {
    match padding {
        Padding::Zero => "zero",
        Padding::One => "one",
        Padding::Background => "background",
    }
}

fn string_padding(padding: StringPadding) -> &'static str {
    match padding {
        StringPadding::NullTerminated => "nullterm",
        StringPadding::NullPadded => "nullpad",
        StringPadding::SpacePadded => "spacepad",
    }
}

/// Returns the name of a character set in a digest.
pub(super) fn charset(charset: CharacterSet) -> &'static str {
    match charset {
        CharacterSet::Ascii => "ascii",
        CharacterSet::Utf8 => "utf8",
    }
}
