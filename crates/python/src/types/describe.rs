//! Descriptions of datatypes as Python dicts.

use hyperslab::datatype::{
    Bitfield, ByteOrder, FixedPoint, FloatOrder, FloatingPoint, Normalization, Padding, Reference,
    ReferenceKind, StringPadding, VariableLengthKind,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::Type;
use super::to_numpy::{integer_value, text_of};

/// Returns the name of the class of a datatype, as `Type.class_name` documents.
pub(super) fn class_name(datatype: &Datatype) -> &'static str {
    match &datatype.class {
        DatatypeClass::FixedPoint(_) => "integer",
        DatatypeClass::FloatingPoint(_) => "float",
        DatatypeClass::Time(_) => "time",
        DatatypeClass::String(_) => "string",
        DatatypeClass::Bitfield(_) => "bitfield",
        DatatypeClass::Opaque(_) => "opaque",
        DatatypeClass::Compound(_) => "compound",
        DatatypeClass::Reference(_) => "reference",
        DatatypeClass::Enumeration(_) => "enum",
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::Sequence => "vlen",
            VariableLengthKind::String { .. } => "string",
        },
        DatatypeClass::Array(_) => "array",
        DatatypeClass::Complex(_) => "complex",
    }
}

/// Returns all properties of a datatype, as `Type.describe` documents.
pub(super) fn describe<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("class", class_name(datatype))?;
    dict.set_item("size", datatype.size)?;
    let child = |datatype: &Datatype| Py::new(py, Type { datatype: datatype.clone() });
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => integer(&dict, number)?,
        DatatypeClass::FloatingPoint(number) => float(&dict, number)?,
        DatatypeClass::Time(time) => dict.set_item("order", order(time.order))?,
        DatatypeClass::String(text) => string(&dict, false, text.charset, text.padding)?,
        DatatypeClass::Bitfield(Bitfield { order: byte_order, bit_offset, precision, .. }) => {
            dict.set_item("order", order(*byte_order))?;
            dict.set_item("offset", *bit_offset)?;
            dict.set_item("precision", *precision)?;
        }
        DatatypeClass::Opaque(opaque) => dict.set_item("tag", PyBytes::new(py, &opaque.tag))?,
        DatatypeClass::Compound(compound) => {
            let members = compound.members.iter();
            let members = members.map(|m| Ok((text_of(&m.name), m.offset, child(&m.datatype)?)));
            dict.set_item("members", members.collect::<PyResult<Vec<_>>>()?)?;
        }
        DatatypeClass::Reference(reference) => dict.set_item("kind", reference_kind(*reference))?,
        DatatypeClass::Enumeration(enumeration) => {
            dict.set_item("base", child(&enumeration.base)?)?;
            let members = enumeration.members.iter();
            let members =
                members.map(|m| Ok((text_of(&m.name), integer_value(&enumeration.base, &m.value)?)));
            dict.set_item("members", members.collect::<PyResult<Vec<_>>>()?)?;
        }
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::Sequence => dict.set_item("base", child(&variable.base)?)?,
            VariableLengthKind::String { padding, charset } => string(&dict, true, charset, padding)?,
        },
        DatatypeClass::Array(array) => {
            dict.set_item("base", child(&array.base)?)?;
            dict.set_item("dims", array.dims.clone())?;
        }
        DatatypeClass::Complex(complex) => dict.set_item("base", child(&complex.base)?)?,
    }
    Ok(dict)
}

fn order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "<",
        ByteOrder::BigEndian => ">",
    }
}

/// Returns the name of the value of padding bits.
fn padding(padding: Padding) -> &'static str {
    match padding {
        Padding::Zero => "zero",
        Padding::One => "one",
        Padding::Background => "background",
    }
}

fn reference_kind(reference: Reference) -> &'static str {
    match reference.kind {
        ReferenceKind::Object1 | ReferenceKind::Object2 => "object",
        ReferenceKind::DatasetRegion1 | ReferenceKind::DatasetRegion2 => "region",
        ReferenceKind::Attribute => "attribute",
    }
}

fn integer(dict: &Bound<'_, PyDict>, number: &FixedPoint) -> PyResult<()> {
    dict.set_item("order", order(number.order))?;
    dict.set_item("signed", number.signed)?;
    dict.set_item("precision", number.precision)?;
    dict.set_item("offset", number.bit_offset)?;
    dict.set_item("pad", (padding(number.low_pad), padding(number.high_pad)))
}

fn float(dict: &Bound<'_, PyDict>, number: &FloatingPoint) -> PyResult<()> {
    let order = match number.order {
        FloatOrder::LittleEndian => "<",
        FloatOrder::BigEndian => ">",
        FloatOrder::Vax => "vax",
    };
    let norm = match number.normalization {
        Normalization::None => "none",
        Normalization::MsbSet => "msbset",
        Normalization::Implied => "implied",
    };
    dict.set_item("order", order)?;
    dict.set_item("precision", number.precision)?;
    dict.set_item("offset", number.bit_offset)?;
    dict.set_item("sign", number.sign_location)?;
    dict.set_item("exponent", (number.exponent_location, number.exponent_size))?;
    dict.set_item("mantissa", (number.mantissa_location, number.mantissa_size))?;
    dict.set_item("bias", number.exponent_bias)?;
    dict.set_item("norm", norm)?;
    dict.set_item("pad", (padding(number.low_pad), padding(number.high_pad)))
}

fn string(
    dict: &Bound<'_, PyDict>,
    variable: bool,
    charset: CharacterSet,
    padding: StringPadding,
) -> PyResult<()> {
    let charset = match charset {
        CharacterSet::Ascii => "ascii",
        CharacterSet::Utf8 => "utf-8",
    };
    let padding = match padding {
        StringPadding::NullTerminated => "null-terminated",
        StringPadding::NullPadded => "null-padded",
        StringPadding::SpacePadded => "space-padded",
    };
    dict.set_item("variable", variable)?;
    dict.set_item("charset", charset)?;
    dict.set_item("padding", padding)
}
