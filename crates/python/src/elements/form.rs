//! The form of elements in an array and in the intermediate buffer.

use hyperslab::datatype::{self, ByteOrder, Member, StringPadding, VariableLengthKind};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::arena::DESCRIPTOR_BYTES;
use super::memory::POINTER_BYTES;
use crate::types::{from_dtype, to_dtype};

/// The form of elements of one dtype whose file datatype is known.
#[derive(Debug)]
pub(crate) struct Form {
    /// The datatype of the elements in the buffer of a façade read or write.
    pub(crate) memory: Datatype,
    /// The size of an element in the array, in bytes.
    pub(crate) size: usize,
    pub(crate) kind: Kind,
}

/// The parts of an element that differ between the array and the buffer.
#[derive(Debug)]
pub(crate) enum Kind {
    /// An element with the same bytes in both.
    Plain,
    /// A text of variable length: an object in the array, a descriptor in the buffer. The object is
    /// a `str` if there is a treatment of bytes that are not UTF-8, else `bytes`.
    Text { errors: Option<String> },
    /// A text in the packed form of NumPy's `StringDType`; a descriptor in the buffer.
    NumpyText,
    /// A sequence: an array object in the array, a descriptor in the buffer.
    Sequence { item: Box<Form>, dtype: Py<PyAny> },
    /// A reference: an object in the array, the stored form in the buffer.
    Reference(datatype::Reference),
    /// Members of a compound.
    Members(Vec<Part>),
    /// The items of an array datatype.
    Items(Box<Form>),
}

/// One member of a compound.
#[derive(Debug)]
pub(crate) struct Part {
    /// The offset in the buffer, in bytes.
    pub(crate) in_buffer: usize,
    /// The offset in the array, in bytes.
    pub(crate) in_array: usize,
    pub(crate) form: Form,
}

impl Form {
    /// Returns `true` if elements have the same bytes in the array as in the buffer.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.kind, Kind::Plain)
    }

    /// Creates the form of elements with the dtype `dtype` in memory and the datatype `datatype` in
    /// the file.
    ///
    /// # Errors
    /// Returns a `TypeError` if the two have no conversion.
    pub(crate) fn new(dtype: &Bound<'_, PyAny>, datatype: &Datatype) -> PyResult<Self> {
        let size: usize = dtype.getattr("itemsize")?.extract()?;
        let kind: char = dtype.getattr("kind")?.extract()?;
        match &datatype.class {
            DatatypeClass::Compound(compound) if kind == 'V' && datatype.complex_part().is_none() => {
                let names = dtype.getattr("names")?;
                if names.is_none() {
                    return Err(no_conversion(dtype, datatype));
                }
                Self::compound(dtype, &names.extract::<Vec<String>>()?, compound, size)
            }
            DatatypeClass::Array(array) if kind == 'V' => {
                let subdtype = dtype.getattr("subdtype")?;
                if subdtype.is_none() {
                    return Err(no_conversion(dtype, datatype));
                }
                let (base, dims): (Bound<'_, PyAny>, Vec<u32>) = subdtype.extract()?;
                let item = Self::new(&base, &array.base)?;
                let memory = Datatype::array(dims, item.memory.clone());
                let kind = if item.is_plain() { Kind::Plain } else { Kind::Items(Box::new(item)) };
                Ok(Self { memory, size, kind })
            }
            DatatypeClass::Reference(reference) if kind == 'O' => {
                Ok(Self { memory: datatype.clone(), size: POINTER_BYTES, kind: Kind::Reference(*reference) })
            }
            _ if kind == 'O' => Self::object(dtype, datatype),
            _ if kind == 'T' => match charset_of(datatype) {
                Some(charset) => {
                    Ok(Self { memory: Datatype::variable_string(charset, 8), size, kind: Kind::NumpyText })
                }
                None => Err(no_conversion(dtype, datatype)),
            },
            _ => Ok(Self { memory: plain(dtype, kind, datatype)?, size, kind: Kind::Plain }),
        }
    }

    /// Creates the form of texts as `str` objects. `errors` is the treatment of bytes that are not
    /// UTF-8, as for `bytes.decode`.
    pub(crate) fn texts(datatype: &Datatype, errors: &str) -> PyResult<Self> {
        let Some(charset) = charset_of(datatype) else {
            let text = "dset.asstr() can only be used on datasets with an HDF5 string datatype";
            return Err(PyTypeError::new_err(text));
        };
        let memory = Datatype::variable_string(charset, 8);
        Ok(Self { memory, size: POINTER_BYTES, kind: Kind::Text { errors: Some(errors.to_owned()) } })
    }

    /// Creates the form of the elements of an array. If the elements in the file are arrays
    /// themselves, their items can be the last dimensions of the array.
    pub(crate) fn of_array(array: &Bound<'_, PyAny>, datatype: &Datatype) -> PyResult<Self> {
        let dtype = array.getattr("dtype")?;
        let DatatypeClass::Array(items) = &datatype.class else { return Self::new(&dtype, datatype) };
        if !dtype.getattr("subdtype")?.is_none() {
            return Self::new(&dtype, datatype);
        }
        let dims = pyo3::types::PyTuple::new(array.py(), &items.dims)?;
        let whole = crate::types::dtype_class(array.py())?.call1(((dtype, dims),))?;
        Self::new(&whole, datatype)
    }

    /// Creates the form of elements that are texts or sequences as objects.
    fn object(dtype: &Bound<'_, PyAny>, datatype: &Datatype) -> PyResult<Self> {
        if let Some(charset) = charset_of(datatype) {
            let memory = Datatype::variable_string(charset, 8);
            return Ok(Self { memory, size: POINTER_BYTES, kind: Kind::Text { errors: None } });
        }
        let DatatypeClass::VariableLength(variable) = &datatype.class else {
            return Err(no_conversion(dtype, datatype));
        };
        let item_dtype = match dtype.getattr("metadata")?.get_item("vlen") {
            Ok(base) => crate::types::dtype_class(dtype.py())?.call1((base,))?,
            Err(_) => to_dtype(dtype.py(), &variable.base)?,
        };
        let item = Self::new(&item_dtype, &variable.base)?;
        let memory = Datatype::sequence(item.memory.clone(), 8);
        let kind = Kind::Sequence { item: Box::new(item), dtype: item_dtype.unbind() };
        Ok(Self { memory, size: POINTER_BYTES, kind })
    }

    fn compound(
        dtype: &Bound<'_, PyAny>,
        names: &[String],
        compound: &datatype::Compound,
        size: usize,
    ) -> PyResult<Self> {
        let fields = dtype.getattr("fields")?;
        let mut parts = Vec::with_capacity(names.len());
        let mut members = Vec::with_capacity(names.len());
        let mut in_buffer = 0_u32;
        for name in names {
            let member = compound.members.iter().find(|member| member.name == name.as_bytes());
            let member = member.ok_or_else(|| {
                PyValueError::new_err(format!("Field {name} does not appear in this type."))
            })?;
            let field = fields.get_item(name)?;
            let form = Self::new(&field.get_item(0)?, &member.datatype)?;
            members.push(Member {
                name: member.name.clone(),
                offset: in_buffer,
                datatype: form.memory.clone(),
            });
            let bytes = form.memory.size;
            parts.push(Part { in_buffer: in_buffer as usize, in_array: field.get_item(1)?.extract()?, form });
            in_buffer = in_buffer
                .checked_add(bytes)
                .ok_or_else(|| PyValueError::new_err("the compound is too large"))?;
        }
        if parts.iter().all(|part| part.form.is_plain()) {
            for (member, part) in members.iter_mut().zip(&parts) {
                member.offset = u32::try_from(part.in_array)?;
            }
            let memory = Datatype::compound(u32::try_from(size)?, members);
            return Ok(Self { memory, size, kind: Kind::Plain });
        }
        Ok(Self { memory: Datatype::compound(in_buffer, members), size, kind: Kind::Members(parts) })
    }
}

/// Returns the error for a dtype and a datatype without conversion.
fn no_conversion(dtype: &Bound<'_, PyAny>, datatype: &Datatype) -> PyErr {
    PyTypeError::new_err(format!(
        "No conversion path between the dtype {dtype} and the HDF5 datatype {datatype}"
    ))
}

/// Returns the character set of a string datatype; `None` for other datatypes.
fn charset_of(datatype: &Datatype) -> Option<CharacterSet> {
    match &datatype.class {
        DatatypeClass::String(text) => Some(text.charset),
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { charset, .. } => Some(charset),
            VariableLengthKind::Sequence => None,
        },
        _ => None,
    }
}

/// Returns the datatype in memory of a dtype without objects.
fn plain(dtype: &Bound<'_, PyAny>, kind: char, datatype: &Datatype) -> PyResult<Datatype> {
    let size: u32 = dtype.getattr("itemsize")?.extract()?;
    if let Some(charset) = charset_of(datatype).filter(|_| kind == 'S' && size > 0) {
        return Ok(Datatype::fixed_string(size, StringPadding::NullPadded, charset));
    }
    match &datatype.class {
        DatatypeClass::Opaque(_) if size == datatype.size && matches!(kind, 'V' | 'M' | 'm') => {
            Ok(datatype.clone())
        }
        DatatypeClass::Bitfield(_) if kind == 'u' => {
            let big = dtype.getattr("byteorder")?.extract::<char>()? == '>';
            let order = if big { ByteOrder::BigEndian } else { ByteOrder::NATIVE };
            Ok(Datatype::bitfield(u16::try_from(size)?, order))
        }
        DatatypeClass::Complex(_) if kind == 'c' => {
            let compound = from_dtype(dtype)?;
            Ok(compound
                .complex_part()
                .map_or_else(|| compound.clone(), |part| Datatype::complex(part.clone())))
        }
        _ => from_dtype(dtype),
    }
}

const _: () =
    assert!(DESCRIPTOR_BYTES == 16, "the descriptors of variable-length datatypes with 8-byte addresses");
