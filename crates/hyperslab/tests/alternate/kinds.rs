//! Kinds of elements: their datatypes, their form in operations, and their form in descriptions of
//! files.

use hyperslab::datatype::{ByteOrder, EnumerationMember, StringPadding};
use hyperslab::{CharacterSet, Datatype, DatatypeClass, Value};
use serde_json::{Value as Json, json};

use crate::content::described;
use crate::numbers::Numbers;

/// Kinds whose elements have the same bytes in every file.
pub(crate) const PLAIN: [&str; 11] =
    ["u1", "i2", "i4be", "i8", "f4", "f8", "text", "opaque", "record", "array", "enum"];

/// Kinds with variable-length data or references.
pub(crate) const VARIABLE: [&str; 4] = ["vstr", "vseq", "cvar", "objref"];

/// Returns the datatype in the file. `type_of` in referee.py creates the same datatype.
pub(crate) fn datatype(kind: &str) -> Datatype {
    let little = ByteOrder::LittleEndian;
    match kind {
        "u1" => Datatype::u8(),
        "i2" => Datatype::i16(little),
        "i4be" => Datatype::i32(ByteOrder::BigEndian),
        "i8" => Datatype::i64(little),
        "f4" => Datatype::f32(little),
        "f8" => Datatype::f64(little),
        "bits" => Datatype::bitfield(2, little),
        "text" => Datatype::fixed_string(5, StringPadding::NullPadded, CharacterSet::Ascii),
        "opaque" => Datatype::opaque(7, "tag"),
        "record" => Datatype::packed([("a", Datatype::u8()), ("b", Datatype::f64(little))]),
        "array" => Datatype::array([3], Datatype::u16(little)),
        "enum" => {
            let member =
                |value: u8| EnumerationMember { name: format!("v{value}").into_bytes(), value: vec![value] };
            Datatype::enumeration(Datatype::i8(), (0..8).map(member).collect())
        }
        "vstr" => Datatype::variable_string(CharacterSet::Utf8, 8),
        "vseq" => Datatype::sequence(Datatype::i32(little), 8),
        "cvar" => Datatype::packed([("a", Datatype::i32(little)), ("s", datatype("vstr"))]),
        "objref" => Datatype::object_reference(8),
        _ => panic!("no kind is called {kind}"),
    }
}

pub(crate) fn size(kind: &str) -> usize {
    match kind {
        "u1" | "enum" => 1,
        "i2" | "bits" => 2,
        "i4be" | "f4" => 4,
        "i8" | "f8" => 8,
        "text" => 5,
        "opaque" => 7,
        "record" => 9,
        "array" => 6,
        "cvar" => 20,
        _ => 16,
    }
}

pub(crate) fn is_plain(kind: &str) -> bool {
    !VARIABLE.contains(&kind)
}

pub(crate) fn is_integer(kind: &str) -> bool {
    matches!(kind, "u1" | "i2" | "i4be" | "i8")
}

pub(crate) fn is_number(kind: &str) -> bool {
    is_integer(kind) || matches!(kind, "f4" | "f8")
}

/// Returns the datatype in the form of descriptions.
pub(crate) fn words(kind: &str) -> String {
    described(&datatype(kind))
}

/// Returns an element of the kind in the form of operations. Another function draws references.
pub(crate) fn draw(kind: &str, numbers: &mut Numbers) -> Json {
    let value = if numbers.once_in(4) { 0 } else { numbers.below(256) };
    let text = |numbers: &mut Numbers| {
        let length = if numbers.once_in(30) { numbers.below(5000) } else { numbers.below(12) };
        let letter = char::from(b'a' + (value % 26) as u8);
        let mut text: String = std::iter::repeat_n(letter, length as usize).collect();
        if numbers.once_in(9) {
            text.push('ü');
        }
        text
    };
    match kind {
        "vstr" => json!(text(numbers)),
        "vseq" => {
            let length = if numbers.once_in(40) { numbers.below(1500) } else { numbers.below(6) };
            json!((0..length).map(|at| at * value).collect::<Vec<_>>())
        }
        "cvar" => json!([value, text(numbers)]),
        "objref" => Json::Null,
        _ => json!(hex(&bytes(kind, value))),
    }
}

fn bytes(kind: &str, value: u64) -> Vec<u8> {
    let byte = value as u8;
    match kind {
        "u1" => vec![byte],
        "enum" => vec![byte % 8],
        "i2" | "bits" => (value as i16 * 3).to_le_bytes().to_vec(),
        "i4be" => (value as i32 * 7 - 700).to_be_bytes().to_vec(),
        "i8" => (value as i64 * 1_000_003).to_le_bytes().to_vec(),
        "f4" => (value as f32 * 0.5).to_le_bytes().to_vec(),
        "f8" => (value as f64 * 0.1).to_le_bytes().to_vec(),
        "text" => {
            let mut text = if value == 0 { Vec::new() } else { format!("x{byte}").into_bytes() };
            text.resize(5, 0);
            text
        }
        "record" => [&[byte][..], &(value as f64).to_le_bytes()].concat(),
        "array" => (0..3).flat_map(|at| (value as u16 * at).to_le_bytes()).collect(),
        _ => vec![byte; size(kind)],
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Converts an element from the form of operations to the form of descriptions. The function does
/// not support references.
pub(crate) fn said(kind: &str, element: &Json) -> String {
    let text = |text: &Json| format!("s{}", hex(text.as_str().unwrap().as_bytes()));
    let number = |number: &Json| hex(&(number.as_i64().unwrap() as i32).to_le_bytes());
    match kind {
        "vstr" => text(element),
        "vseq" => {
            format!("[{}]", element.as_array().unwrap().iter().map(number).collect::<Vec<_>>().join(","))
        }
        "cvar" => format!("{{{};{}}}", number(&element[0]), text(&element[1])),
        _ => element.as_str().unwrap().to_owned(),
    }
}

/// Returns an element that was never written, in the form of descriptions.
pub(crate) fn zero(kind: &str) -> String {
    match kind {
        "vstr" => "s".into(),
        "vseq" => "[]".into(),
        "cvar" => "{00000000;s}".into(),
        "objref" => "r".into(),
        _ => "00".repeat(size(kind)),
    }
}

/// Converts an element from the form of operations to a value of the library.
pub(crate) fn value(kind: &str, element: &Json) -> Value {
    let text = |text: &Json| Value::Text(text.as_str().unwrap().to_owned());
    let number = |number: &Json| Value::Integer(number.as_i64().unwrap().into());
    match kind {
        "vstr" => text(element),
        "vseq" => Value::Sequence(element.as_array().unwrap().iter().map(number).collect()),
        "cvar" => Value::Compound(vec![("a".into(), number(&element[0])), ("s".into(), text(&element[1]))]),
        _ => panic!("{kind} has no values"),
    }
}

/// Returns the number of a datatype class in the format.
pub(crate) fn class_number(class: &DatatypeClass) -> u8 {
    match class {
        DatatypeClass::FixedPoint(_) => 0,
        DatatypeClass::FloatingPoint(_) => 1,
        DatatypeClass::Time(_) => 2,
        DatatypeClass::String(_) => 3,
        DatatypeClass::Bitfield(_) => 4,
        DatatypeClass::Opaque(_) => 5,
        DatatypeClass::Compound(_) => 6,
        DatatypeClass::Reference(_) => 7,
        DatatypeClass::Enumeration(_) => 8,
        DatatypeClass::VariableLength(_) => 9,
        DatatypeClass::Array(_) => 10,
        DatatypeClass::Complex(_) => 11,
    }
}
