//! Columns from elements as the file stores them.

use hyperslab_engine::{Error, Result};
use num_complex::Complex;

use super::{Column, NamedValues};
use crate::datatype::convert::{Conversions, Strided, StridedMut};
use crate::datatype::{
    self, Array, Bitfield, ByteOrder, Compound, Enumeration, FixedPoint, FloatingPoint, VariableLength,
    VariableLengthKind,
};
use crate::stored::Room;
use crate::{Datatype, DatatypeClass, H5Type, Reference, Stored};

impl Stored {
    /// The elements by their type, whatever it is.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{Column, File};
    /// let column = File::open(path)?.dataset("series/temperature")?.read_stored(..)?.column()?;
    /// assert!(matches!(column, Column::F32(_) | Column::F64(_)));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If elements lead out of their heap, or to more bytes than
    /// [`Limits::result_bytes`](crate::Limits::result_bytes).
    pub fn column(&self) -> Result<Column> {
        let size = self.datatype().size as usize;
        let build = Build { stored: self, conversions: Conversions::default(), room: self.room()? };
        build.column(self.datatype(), Strided::new(self.bytes(), size, size))
    }

    /// The elements as references.
    ///
    /// # Errors
    /// If they are no references, or lead out of their heap.
    pub fn references(&self) -> Result<Vec<Reference>> {
        let DatatypeClass::Reference(kind) = &self.datatype().class else {
            return Err(Error::Misuse(format!("elements of type {} are no references", self.datatype())));
        };
        let mut references = self.room()?.vector(self.len())?;
        for element in self.elements() {
            references.push(self.follow(*kind, element)?);
        }
        Ok(references)
    }
}

struct Build<'a> {
    stored: &'a Stored,
    conversions: Conversions,
    /// What all columns together may hold.
    room: Room,
}

impl Build<'_> {
    fn column(&self, datatype: &Datatype, elements: Strided<'_>) -> Result<Column> {
        if datatype.size == 0 {
            return Err(Error::corrupt("datatype message", "size", "at least 1", 0));
        }
        if let Some(part) = datatype.complex_part() {
            return if as_float(part).is_some_and(fits_single) {
                self.numbers::<Complex<f32>>(datatype, elements).map(Column::Complex32)
            } else {
                self.numbers::<Complex<f64>>(datatype, elements).map(Column::Complex64)
            };
        }
        match &datatype.class {
            DatatypeClass::FixedPoint(fixed) => self.integers(datatype, fixed, elements),
            DatatypeClass::FloatingPoint(float) => self.floats(datatype, float, elements),
            DatatypeClass::Bitfield(bits) => self.bits(datatype, bits, elements),
            DatatypeClass::Time(_) | DatatypeClass::Opaque(_) | DatatypeClass::Complex(_) => {
                self.bytes(elements)
            }
            DatatypeClass::String(_) => self.text(datatype, elements),
            DatatypeClass::Compound(compound) => self.compound(compound, elements),
            DatatypeClass::Reference(kind) => {
                let mut references = self.room.vector(elements.len())?;
                for element in elements.iter() {
                    references.push(self.stored.follow(*kind, element)?);
                }
                Ok(Column::Reference(references))
            }
            DatatypeClass::Enumeration(enumeration) => self.enumeration(datatype, enumeration, elements),
            DatatypeClass::VariableLength(variable) => match variable.kind {
                VariableLengthKind::String { .. } => self.text(datatype, elements),
                VariableLengthKind::Sequence => self.sequences(variable, elements),
            },
            DatatypeClass::Array(array) => self.arrays(datatype, array, elements),
        }
    }

    /// Elements converted to a Rust type.
    fn numbers<T: H5Type>(&self, datatype: &Datatype, elements: Strided<'_>) -> Result<Vec<T>> {
        self.converted(datatype, &T::datatype(), elements)
    }

    fn converted<T: H5Type>(&self, from: &Datatype, to: &Datatype, elements: Strided<'_>) -> Result<Vec<T>> {
        let kernel = self.conversions.kernel(from, to)?;
        self.room.hold(elements.len(), size_of::<T>().max(T::SIZE))?;
        T::read_vec(elements.len(), |out| {
            Ok(kernel.run_strided(elements, StridedMut::new(out, T::SIZE, T::SIZE))?)
        })
    }

    fn integers(&self, datatype: &Datatype, fixed: &FixedPoint, elements: Strided<'_>) -> Result<Column> {
        Ok(match (fixed.precision, fixed.signed) {
            (..=8, false) => Column::U8(self.numbers(datatype, elements)?),
            (..=16, false) => Column::U16(self.numbers(datatype, elements)?),
            (..=32, false) => Column::U32(self.numbers(datatype, elements)?),
            (..=64, false) => Column::U64(self.numbers(datatype, elements)?),
            (..=8, true) => Column::I8(self.numbers(datatype, elements)?),
            (..=16, true) => Column::I16(self.numbers(datatype, elements)?),
            (..=32, true) => Column::I32(self.numbers(datatype, elements)?),
            (..=64, true) => Column::I64(self.numbers(datatype, elements)?),
            _ => self.bytes(elements)?,
        })
    }

    fn floats(&self, datatype: &Datatype, float: &FloatingPoint, elements: Strided<'_>) -> Result<Column> {
        Ok(match (float.exponent_size, float.mantissa_size) {
            (..=5, ..=10) if float.exponent_bias == 15 => Column::F16(self.numbers(datatype, elements)?),
            (8, ..=7) if float.exponent_bias == 127 => Column::Bf16(self.numbers(datatype, elements)?),
            _ if fits_single(float) => Column::F32(self.numbers(datatype, elements)?),
            _ => Column::F64(self.numbers(datatype, elements)?),
        })
    }

    fn bits(&self, datatype: &Datatype, bits: &Bitfield, elements: Strided<'_>) -> Result<Column> {
        let native = |bytes| Datatype::bitfield(bytes, ByteOrder::NATIVE);
        Ok(match bits.precision {
            ..=8 => Column::U8(self.converted(datatype, &native(1), elements)?),
            9..=16 => Column::U16(self.converted(datatype, &native(2), elements)?),
            17..=32 => Column::U32(self.converted(datatype, &native(4), elements)?),
            33..=64 => Column::U64(self.converted(datatype, &native(8), elements)?),
            _ => self.bytes(elements)?,
        })
    }

    fn bytes(&self, elements: Strided<'_>) -> Result<Column> {
        let mut bytes = self.room.vector(elements.len().saturating_mul(elements.size()))?;
        elements.iter().for_each(|element| bytes.extend_from_slice(element));
        Ok(Column::Bytes { size: elements.size(), bytes })
    }

    fn text(&self, datatype: &Datatype, elements: Strided<'_>) -> Result<Column> {
        let mut all: Vec<Vec<u8>> = self.room.vector(elements.len())?;
        for element in elements.iter() {
            let text = self.stored.text_of(datatype, element)?;
            self.room.take_one(text.len())?;
            all.push(text);
        }
        if all.iter().any(|text| std::str::from_utf8(text).is_err()) {
            return Ok(Column::ByteText(all));
        }
        let texts = all.into_iter().map(|text| String::from_utf8(text).unwrap_or_default());
        Ok(Column::Text(texts.collect()))
    }

    fn compound(&self, compound: &Compound, elements: Strided<'_>) -> Result<Column> {
        let mut members = Vec::with_capacity(compound.members.len());
        for member in &compound.members {
            let start = member.offset as usize;
            let end = start.saturating_add(member.datatype.size as usize);
            if end > elements.size() {
                let expected = format!("at most {} bytes", elements.size());
                return Err(Error::corrupt("datatype message", "compound member", expected, end));
            }
            let column = self.column(&member.datatype, elements.part(&(start..end)))?;
            members.push((lossy(&member.name), column));
        }
        Ok(Column::Compound(members))
    }

    fn enumeration(
        &self,
        datatype: &Datatype,
        enumeration: &Enumeration,
        elements: Strided<'_>,
    ) -> Result<Column> {
        if datatype.is_bool() && elements.iter().all(|element| matches!(element, [0 | 1])) {
            let mut values = self.room.vector(elements.len())?;
            values.extend(elements.iter().map(|element| element == [1]));
            return Ok(Column::Bool(values));
        }
        let base = &enumeration.base;
        let mut names = Vec::with_capacity(enumeration.members.len());
        for member in &enumeration.members {
            let size = member.value.len();
            let value = self.column(base, Strided::new(&member.value, size, size))?.get(0);
            let Some(super::Value::Integer(value)) = value else { return self.bytes(elements) };
            names.push((lossy(&member.name), value));
        }
        let values = self.column(base, elements)?;
        Ok(Column::Enumeration(Box::new(NamedValues { values, names })))
    }

    fn arrays(&self, datatype: &Datatype, array: &Array, elements: Strided<'_>) -> Result<Column> {
        let item = array.base.size as usize;
        let whole = datatype.array_len().and_then(|items| items.checked_mul(item));
        if item == 0 || whole != Some(datatype.size as usize) {
            return Err(Error::corrupt("datatype message", "array size", "that of its items", datatype.size));
        }
        self.room.hold(elements.len(), elements.size())?;
        let packed = elements.to_packed();
        let items = Box::new(self.column(&array.base, Strided::new(&packed, item, item))?);
        let shape = array.dims.iter().map(|size| *size as usize).collect();
        Ok(Column::Array { shape, count: elements.len(), items })
    }

    fn sequences(&self, variable: &VariableLength, elements: Strided<'_>) -> Result<Column> {
        let item = variable.base.size as usize;
        let (mut all, mut ends) = (Vec::new(), self.room.vector(elements.len())?);
        for element in elements.iter() {
            let value = self.stored.variable_length(element)?;
            let items = value.items(item)?;
            self.room.take_one(items.len())?;
            let full = |_| Error::Memory { what: "sequences", bytes: items.len() as u64 };
            all.try_reserve(items.len()).map_err(full)?;
            all.extend_from_slice(items);
            ends.push(all.len().checked_div(item).unwrap_or(0));
        }
        let items = Box::new(self.column(&variable.base, Strided::new(&all, item, item))?);
        Ok(Column::Sequence { ends, items })
    }
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn as_float(datatype: &Datatype) -> Option<&FloatingPoint> {
    match &datatype.class {
        DatatypeClass::FloatingPoint(float) => Some(float),
        _ => None,
    }
}

/// Returns whether single precision holds all values.
fn fits_single(float: &FloatingPoint) -> bool {
    let implied = float.normalization == datatype::Normalization::Implied;
    let narrow = float.exponent_size <= 7 && float.exponent_bias <= 127;
    implied && float.mantissa_size <= 23 && (narrow || float.exponent_size == 8 && float.exponent_bias == 127)
}
