//! Descriptions of datatypes in metadata.

use hyperslab::datatype::{
    ByteOrder, Enumeration, FloatOrder, StringPadding, VariableLength, VariableLengthKind,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass, H5Type};
use serde_json::{Map, Value, json};

use super::numpy::Dtype;

/// Returns the description of a datatype.
pub(super) fn describe(datatype: &Datatype) -> Value {
    let mut description = Map::new();
    add_to(&mut description, datatype);
    Value::Object(description)
}

fn add_to(description: &mut Map<String, Value>, datatype: &Datatype) {
    let dtype =
        Dtype::of(datatype).map_or_else(|| json!(format!("|V{}", datatype.size)), |dtype| dtype.json());
    description.insert("class".into(), json!(class(datatype)));
    description.insert("dtype".into(), dtype);
    description.insert("size".into(), json!(datatype.memory_size().unwrap_or(datatype.size)));
    let mut add = |name: &str, value: Value| drop(description.insert(name.into(), value));
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => {
            add("order", order(number.order));
            add("sign", json!(u8::from(number.signed)));
        }
        DatatypeClass::FloatingPoint(number) => add(
            "order",
            match number.order {
                FloatOrder::LittleEndian => json!(0),
                FloatOrder::BigEndian => json!(1),
                FloatOrder::Vax => json!(2),
            },
        ),
        DatatypeClass::Bitfield(bits) => add("order", order(bits.order)),
        DatatypeClass::String(text) => {
            add("cset", charset(text.charset));
            add("strpad", padding(text.padding));
            add("vlen", json!(false));
        }
        DatatypeClass::Opaque(opaque) => add("tag", json!(String::from_utf8_lossy(&opaque.tag))),
        DatatypeClass::VariableLength(variable) => add_variable(&mut add, variable),
        DatatypeClass::Enumeration(enumeration) => {
            add("members", members(enumeration));
            add("base", describe(&enumeration.base));
        }
        DatatypeClass::Compound(compound) => {
            let member = |member: &hyperslab::datatype::Member| {
                let mut description = Map::new();
                description.insert("name".into(), json!(String::from_utf8_lossy(&member.name)));
                add_to(&mut description, &member.datatype);
                Value::Object(description)
            };
            add("members", Value::Array(compound.members.iter().map(member).collect()));
        }
        DatatypeClass::Array(array) => {
            add("dims", json!(array.dims));
            add("base", describe(&array.base));
        }
        DatatypeClass::Time(_) | DatatypeClass::Reference(_) | DatatypeClass::Complex(_) => {}
    }
}

/// Returns the number that libhdf5 has for the class of a datatype.
fn class(datatype: &Datatype) -> u8 {
    match &datatype.class {
        DatatypeClass::FixedPoint(_) => 0,
        DatatypeClass::FloatingPoint(_) => 1,
        DatatypeClass::Time(_) => 2,
        DatatypeClass::String(_) => 3,
        DatatypeClass::Bitfield(_) => 4,
        DatatypeClass::Opaque(_) => 5,
        DatatypeClass::Compound(_) => 6,
        DatatypeClass::Reference(_) => 7,
        DatatypeClass::Enumeration(_) => 8,
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { .. } => 3,
            VariableLengthKind::Sequence => 9,
        },
        DatatypeClass::Array(_) => 10,
        DatatypeClass::Complex(_) => 11,
    }
}

fn add_variable(add: &mut impl FnMut(&str, Value), variable: &VariableLength) {
    match variable.kind {
        VariableLengthKind::String { padding: kind, charset: set } => {
            add("cset", charset(set));
            add("strpad", padding(kind));
            add("vlen", json!(true));
        }
        VariableLengthKind::Sequence => add("base", describe(&variable.base)),
    }
}

fn order(order: ByteOrder) -> Value {
    json!(u8::from(order == ByteOrder::BigEndian))
}

fn charset(charset: CharacterSet) -> Value {
    json!(u8::from(charset == CharacterSet::Utf8))
}

fn padding(padding: StringPadding) -> Value {
    match padding {
        StringPadding::NullTerminated => json!(0),
        StringPadding::NullPadded => json!(1),
        StringPadding::SpacePadded => json!(2),
    }
}

/// Returns the names and integers of an enumeration.
fn members(enumeration: &Enumeration) -> Value {
    let signed = match &enumeration.base.class {
        DatatypeClass::FixedPoint(number) => number.signed,
        _ => false,
    };
    let value = |bytes: &[u8]| {
        if signed {
            json!(integer::<i64>(&enumeration.base, bytes))
        } else {
            json!(integer::<u64>(&enumeration.base, bytes))
        }
    };
    let member = |member: &hyperslab::datatype::EnumerationMember| {
        (String::from_utf8_lossy(&member.name).into_owned(), value(&member.value))
    };
    Value::Object(enumeration.members.iter().map(member).collect())
}

/// Returns a stored integer; `None` if it is none.
fn integer<T: H5Type>(base: &Datatype, bytes: &[u8]) -> Option<T> {
    let conversion = hyperslab::datatype::convert::Conversion::new(base, &T::datatype()).ok()?;
    let mut value = vec![0; T::SIZE];
    conversion.convert(bytes, &mut value, 1).ok()?;
    T::decode(&value)
}
