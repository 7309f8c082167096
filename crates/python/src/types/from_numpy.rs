//! HDF5 datatypes of NumPy dtypes.

use hyperslab::datatype::{ByteOrder, EnumerationMember, Member, StringPadding};
use hyperslab::{CharacterSet, Datatype};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};

use super::to_numpy::dtype_class;
use crate::reference;

/// The size of addresses in new datatypes, in bytes. A file with other addresses gets its own size
/// when the datatype is stored.
pub(crate) const OFFSET_BYTES: u8 = 8;

/// Returns the HDF5 datatype that stores elements of a NumPy dtype. Metadata of the dtype select
/// datatypes that NumPy lacks.
///
/// # Errors
/// Returns a `TypeError` if HDF5 has no datatype for the dtype.
pub(crate) fn from_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let kind: char = dtype.getattr("kind")?.extract()?;
    let metadata = dtype.getattr("metadata")?;
    let metadata = metadata.cast::<PyMapping>().ok();
    if let Some(metadata) = &metadata
        && let Some(datatype) = from_metadata(dtype, kind, metadata)?
    {
        return Ok(datatype);
    }
    let size: u32 = dtype.getattr("itemsize")?.extract()?;
    let order = byte_order(dtype)?;
    Ok(match kind {
        'b' => Datatype::bool(),
        'i' => Datatype::integer(small(size)?, true, order),
        'u' => Datatype::integer(small(size)?, false, order),
        'f' => float(size, order)?,
        'c' => Datatype::complex_compound(float(size / 2, order)?),
        'S' => fixed_string(size, CharacterSet::Ascii)?,
        'T' => Datatype::variable_string(CharacterSet::Utf8, OFFSET_BYTES),
        'V' => void(dtype, size)?,
        'O' => {
            let text = format!("Object dtype {} has no native HDF5 equivalent", dtype.repr()?);
            return Err(PyTypeError::new_err(text));
        }
        _ => return Err(PyTypeError::new_err(format!("No conversion path for dtype: {}", dtype.repr()?))),
    })
}

use pyo3::types::PyMapping;

/// Returns the datatype that the metadata of a dtype select; `None` if the metadata have no meaning
/// here.
fn from_metadata(
    dtype: &Bound<'_, PyAny>,
    kind: char,
    metadata: &Bound<'_, PyMapping>,
) -> PyResult<Option<Datatype>> {
    let get = |key: &str| metadata.get_item(key).ok().filter(|value| !value.is_none());
    if let Some(encoding) = get("h5py_encoding").filter(|_| kind == 'S') {
        let charset =
            if encoding.extract::<String>()? == "utf-8" { CharacterSet::Utf8 } else { CharacterSet::Ascii };
        return Ok(Some(fixed_string(dtype.getattr("itemsize")?.extract()?, charset)?));
    }
    if let Some(base) = get("vlen").filter(|_| kind == 'O') {
        return variable(&base).map(Some);
    }
    if let Some(names) = get("enum").filter(|_| matches!(kind, 'i' | 'u')) {
        return enumeration(dtype, &names).map(Some);
    }
    if let Some(class) = get("ref").filter(|_| kind == 'O') {
        return reference_of(&class).map(Some);
    }
    if get("h5py_opaque").is_some() {
        let name: String = dtype.getattr("descr")?.get_item(0)?.get_item(1)?.extract()?;
        let size = dtype.getattr("itemsize")?.extract()?;
        return Ok(Some(Datatype::opaque(size, format!("NUMPY:{name}").into_bytes())));
    }
    Ok(None)
}

fn byte_order(dtype: &Bound<'_, PyAny>) -> PyResult<ByteOrder> {
    let order: char = dtype.getattr("byteorder")?.extract()?;
    Ok(match order {
        '<' => ByteOrder::LittleEndian,
        '>' => ByteOrder::BigEndian,
        _ => ByteOrder::NATIVE,
    })
}

fn small(size: u32) -> PyResult<u16> {
    Ok(u16::try_from(size)?)
}

fn float(size: u32, order: ByteOrder) -> PyResult<Datatype> {
    match size {
        2 => Ok(Datatype::f16(order)),
        4 => Ok(Datatype::f32(order)),
        8 => Ok(Datatype::f64(order)),
        // The extended floats of x86-64, in 16 bytes.
        16 if cfg!(target_arch = "x86_64") && order == ByteOrder::LittleEndian => Ok(Datatype::x87(16)),
        16 if cfg!(target_arch = "aarch64") => Ok(Datatype::f128(order)),
        _ => Err(PyTypeError::new_err(format!("no datatype for floats of {size} bytes in this byte order"))),
    }
}

fn fixed_string(size: u32, charset: CharacterSet) -> PyResult<Datatype> {
    if size == 0 {
        return Err(PyValueError::new_err("Size must be positive (a string of 0 bytes has no datatype)"));
    }
    Ok(Datatype::fixed_string(size, StringPadding::NullPadded, charset))
}

/// Returns the datatype of a dtype of the kind `V`: a compound, an array or opaque bytes.
fn void(dtype: &Bound<'_, PyAny>, size: u32) -> PyResult<Datatype> {
    let subdtype = dtype.getattr("subdtype")?;
    if !subdtype.is_none() {
        let (base, dims): (Bound<'_, PyAny>, Vec<u32>) = subdtype.extract()?;
        return Ok(Datatype::array(dims, from_dtype(&base)?));
    }
    let names = dtype.getattr("names")?;
    if names.is_none() {
        return Ok(Datatype::opaque(size, Vec::new()));
    }
    let fields = dtype.getattr("fields")?;
    let mut members = Vec::new();
    // Objects have their own size in memory, so the offsets of the file differ from those of NumPy.
    let has_objects: bool = dtype.getattr("hasobject")?.extract()?;
    let mut end = 0_u32;
    for name in names.extract::<Vec<String>>()? {
        let field = fields.get_item(&name)?;
        let datatype = from_dtype(&field.get_item(0)?)?;
        let offset = if has_objects { end } else { field.get_item(1)?.extract()? };
        end = end
            .checked_add(datatype.size)
            .ok_or_else(|| PyValueError::new_err("the compound is too large"))?;
        members.push(Member { name: name.into_bytes(), offset, datatype });
    }
    if members.is_empty() {
        return Err(PyTypeError::new_err("a compound datatype needs a member"));
    }
    Ok(Datatype::compound(if has_objects { end } else { size }, members))
}

/// Returns the datatype of variable length whose items the metadata value `base` describes.
fn variable(base: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let py = base.py();
    if base.is(py.get_type::<PyString>()) {
        return Ok(Datatype::variable_string(CharacterSet::Utf8, OFFSET_BYTES));
    }
    if base.is(py.get_type::<PyBytes>()) {
        return Ok(Datatype::variable_string(CharacterSet::Ascii, OFFSET_BYTES));
    }
    let base = dtype_class(py)?.call1((base,))?;
    Ok(Datatype::sequence(from_dtype(&base)?, OFFSET_BYTES))
}

fn reference_of(class: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let class = class.cast::<PyType>()?;
    if class.is_subclass_of::<reference::Reference>()? {
        return Ok(Datatype::object_reference(OFFSET_BYTES));
    }
    if class.is_subclass_of::<reference::RegionReference>()? {
        return Ok(Datatype::region_reference(OFFSET_BYTES));
    }
    Err(PyTypeError::new_err(format!("Unknown reference type {}", class.repr()?)))
}

fn enumeration(dtype: &Bound<'_, PyAny>, names: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let plain = dtype_class(dtype.py())?.call1((dtype.getattr("str")?,))?;
    let base = from_dtype(&plain)?;
    let big = byte_order(dtype)? == ByteOrder::BigEndian;
    let size = base.size as usize;
    let mut members = Vec::new();
    for (name, value) in names.cast::<PyDict>()?.iter() {
        let value: i128 = value.extract()?;
        let bytes = value.to_le_bytes();
        let bytes =
            bytes.get(..size).ok_or_else(|| PyTypeError::new_err("the integers of an enum are too large"))?;
        let mut bytes = bytes.to_vec();
        if big {
            bytes.reverse();
        }
        members.push(EnumerationMember { name: name.extract::<String>()?.into_bytes(), value: bytes });
    }
    Ok(Datatype::enumeration(base, members))
}
