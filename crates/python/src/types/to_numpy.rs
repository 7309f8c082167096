//! NumPy dtypes of HDF5 datatypes.

use hyperslab::datatype::{
    ByteOrder, FixedPoint, FloatOrder, FloatingPoint, Reference, ReferenceKind, VariableLengthKind,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::reference;

/// Returns the NumPy dtype of the elements of a datatype in memory. Metadata of the dtype describe
/// datatypes that NumPy lacks.
///
/// # Errors
/// Returns a `TypeError` if NumPy has no dtype for the datatype.
pub(crate) fn to_dtype<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Bound<'py, PyAny>> {
    let size = datatype.size;
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => integer(py, size, number),
        DatatypeClass::FloatingPoint(number) => new_dtype(py, &float_name(size, number)?),
        DatatypeClass::Time(_) => Err(none("time")),
        DatatypeClass::String(text) => with_metadata(
            py,
            &format!("S{size}"),
            "h5py_encoding",
            charset(text.charset).into_pyobject(py)?.as_any(),
        ),
        DatatypeClass::Bitfield(bits) => {
            new_dtype(py, &format!("{}u{}", order(bits.order), power_of_two(size)?))
        }
        DatatypeClass::Opaque(opaque) => match opaque.tag.strip_prefix(b"NUMPY:") {
            Some(name) => {
                let yes = true.into_pyobject(py)?;
                with_metadata(py, &text_of(name), "h5py_opaque", yes.as_any())
            }
            None => new_dtype(py, &format!("V{size}")),
        },
        DatatypeClass::Compound(_) => compound(py, datatype),
        DatatypeClass::Reference(kind) => reference_dtype(py, *kind),
        DatatypeClass::Enumeration(_) if datatype.is_bool() => new_dtype(py, "?"),
        DatatypeClass::Enumeration(enumeration) => {
            let names = PyDict::new(py);
            for member in &enumeration.members {
                names.set_item(text_of(&member.name), integer_value(&enumeration.base, &member.value)?)?;
            }
            let base = to_dtype(py, &enumeration.base)?;
            with_metadata_of(&base, "enum", names.as_any())
        }
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { charset: CharacterSet::Ascii, .. } => {
                with_metadata(py, "O", "vlen", py.get_type::<PyBytes>().as_any())
            }
            VariableLengthKind::String { charset: CharacterSet::Utf8, .. } => {
                with_metadata(py, "O", "vlen", py.get_type::<PyString>().as_any())
            }
            VariableLengthKind::Sequence => with_metadata(py, "O", "vlen", &to_dtype(py, &variable.base)?),
        },
        DatatypeClass::Array(array) => {
            let dims = pyo3::types::PyTuple::new(py, &array.dims)?;
            new_dtype_of(py, (to_dtype(py, &array.base)?, dims))
        }
        DatatypeClass::Complex(complex) => complex_dtype(py, &complex.base),
    }
}

/// Returns the class `numpy.dtype`.
pub(crate) fn dtype_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "numpy", "dtype")
}

fn new_dtype<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    dtype_class(py)?.call1((name,))
}

fn new_dtype_of<'py>(py: Python<'py>, form: impl IntoPyObject<'py>) -> PyResult<Bound<'py, PyAny>> {
    dtype_class(py)?.call1((form,))
}

fn with_metadata<'py>(
    py: Python<'py>,
    name: &str,
    key: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    with_metadata_of(&new_dtype(py, name)?, key, value)
}

/// Returns a dtype like `dtype` with one metadata entry.
fn with_metadata_of<'py>(
    dtype: &Bound<'py, PyAny>,
    key: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let metadata = PyDict::new(py);
    metadata.set_item(key, value)?;
    let arguments = PyDict::new(py);
    arguments.set_item("metadata", metadata)?;
    dtype_class(py)?.call((dtype,), Some(&arguments))
}

/// Returns the error for a datatype of which NumPy has no equivalent.
fn none(subject: &str) -> PyErr {
    PyTypeError::new_err(format!("No NumPy equivalent for the HDF5 datatype class {subject} exists"))
}

/// Returns a name in a file as text. Bytes that are not UTF-8 become the replacement character.
pub(super) fn text_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn charset(charset: CharacterSet) -> &'static str {
    match charset {
        CharacterSet::Ascii => "ascii",
        CharacterSet::Utf8 => "utf-8",
    }
}

fn order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::LittleEndian => "<",
        ByteOrder::BigEndian => ">",
    }
}

/// Returns the size of the smallest NumPy integer that holds an integer of `size` bytes.
fn power_of_two(size: u32) -> PyResult<u32> {
    match size.next_power_of_two() {
        bytes @ (1 | 2 | 4 | 8) => Ok(bytes),
        _ => Err(PyTypeError::new_err(format!("NumPy has no integers of {size} bytes"))),
    }
}

fn integer<'py>(py: Python<'py>, size: u32, number: &FixedPoint) -> PyResult<Bound<'py, PyAny>> {
    let kind = if number.signed { "i" } else { "u" };
    new_dtype(py, &format!("{}{kind}{}", order(number.order), power_of_two(size)?))
}

/// Returns the name of the smallest NumPy dtype that holds all values of a floating-point datatype.
fn float_name(size: u32, number: &FloatingPoint) -> PyResult<String> {
    let order = match number.order {
        FloatOrder::LittleEndian | FloatOrder::Vax => "<",
        FloatOrder::BigEndian => ">",
    };
    // Size, bits of the exponent and the mantissa, and bias of NumPy's floats.
    const FLOATS: [(u32, u8, u8, u32); 4] =
        [(2, 5, 10, 15), (4, 8, 23, 127), (8, 11, 52, 1023), (16, 15, 112, 16383)];
    let largest = |bits: u8, bias: u32| {
        1_i64.checked_shl(bits.into()).unwrap_or(i64::MAX).saturating_sub(i64::from(bias))
    };
    let holds = |&&(bytes, exponent, mantissa, bias): &&(u32, u8, u8, u32)| {
        (bytes > 2 || size <= 2)
            && number.mantissa_size <= mantissa
            && number.exponent_bias <= bias
            && largest(number.exponent_size, number.exponent_bias) <= largest(exponent, bias)
    };
    let Some((bytes, ..)) = FLOATS.iter().find(holds) else {
        let exponent = number.exponent_size;
        return Err(PyTypeError::new_err(format!("NumPy has no floats with an exponent of {exponent} bits")));
    };
    Ok(format!("{order}f{bytes}"))
}

fn complex_dtype<'py>(py: Python<'py>, base: &Datatype) -> PyResult<Bound<'py, PyAny>> {
    let DatatypeClass::FloatingPoint(number) = &base.class else { return Err(none("complex of integers")) };
    let part = float_name(base.size, number)?;
    let (order, bytes) = part.split_at(1);
    let name = match bytes {
        "f2" | "f4" => "c8",
        "f8" => "c16",
        _ => "c32",
    };
    new_dtype(py, &format!("{order}{name}"))
}

fn compound<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Bound<'py, PyAny>> {
    // NumPy has no complex numbers of 16-bit floats: their parts stay members.
    if let Some(part) = datatype.complex_part().filter(|part| part.size > 2) {
        return complex_dtype(py, part);
    }
    let DatatypeClass::Compound(compound) = &datatype.class else { return Err(none("compound")) };
    let mut names = Vec::with_capacity(compound.members.len());
    let mut formats = Vec::with_capacity(compound.members.len());
    let mut offsets = Vec::with_capacity(compound.members.len());
    for member in &compound.members {
        names.push(text_of(&member.name));
        formats.push(to_dtype(py, &member.datatype)?);
        offsets.push(compound.memory_offset(member.offset));
    }
    let sizes = formats.iter().map(|format| format.getattr("itemsize")?.extract());
    let places = placed(offsets, &sizes.collect::<PyResult<Vec<u32>>>()?, datatype.memory_size());
    let dict = PyDict::new(py);
    dict.set_item("names", names)?;
    dict.set_item("formats", formats)?;
    // Members whose elements are larger in memory than in the file do not fit at their offsets.
    if let Some((offsets, itemsize)) = places {
        dict.set_item("offsets", offsets)?;
        dict.set_item("itemsize", itemsize)?;
    }
    new_dtype_of(py, dict)
}

/// Returns the offsets of members with `sizes` bytes and the size of the compound, if the members
/// do not overlap in memory.
fn placed(offsets: Vec<Option<u32>>, sizes: &[u32], itemsize: Option<u32>) -> Option<(Vec<u32>, u32)> {
    let (offsets, itemsize) = (offsets.into_iter().collect::<Option<Vec<u32>>>()?, itemsize?);
    let mut ranges: Vec<(u32, u32)> = offsets.iter().copied().zip(sizes.iter().copied()).collect();
    ranges.sort_unstable();
    let mut end = 0;
    for (offset, size) in ranges {
        if offset < end {
            return None;
        }
        end = offset.checked_add(size)?;
    }
    (end <= itemsize).then_some((offsets, itemsize))
}

fn reference_dtype(py: Python<'_>, kind: Reference) -> PyResult<Bound<'_, PyAny>> {
    match kind.kind {
        ReferenceKind::Object1 | ReferenceKind::Object2 => {
            with_metadata(py, "O", "ref", py.get_type::<reference::Reference>().as_any())
        }
        ReferenceKind::DatasetRegion1 | ReferenceKind::DatasetRegion2 => {
            with_metadata(py, "O", "ref", py.get_type::<reference::RegionReference>().as_any())
        }
        ReferenceKind::Attribute => Err(none("attribute reference")),
    }
}

/// Returns the value of stored bytes of an integer datatype.
pub(super) fn integer_value(base: &Datatype, bytes: &[u8]) -> PyResult<i128> {
    if let DatatypeClass::FixedPoint(FixedPoint { signed: false, .. }) = &base.class {
        return number::<u64>(base, bytes).map(i128::from);
    }
    number::<i64>(base, bytes).map(i128::from)
}

/// Converts stored bytes of an integer datatype to a Rust number.
fn number<T: hyperslab::H5Type>(base: &Datatype, bytes: &[u8]) -> PyResult<T> {
    let convert = || {
        let conversion = hyperslab::datatype::convert::Conversion::new(base, &T::datatype())?;
        let mut value = vec![0; T::SIZE];
        conversion.convert(bytes, &mut value, 1)?;
        T::from_bytes(&value)
    };
    let values = convert().map_err(|error| crate::errors::raise(error.into()))?;
    values.into_iter().next().ok_or_else(|| none("enumeration without a value"))
}
