//! Conversion of stored elements to columns of dynamic values.

use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_u64;
use num_complex::Complex;

use super::{Column, NamedValues};
use crate::datatype::convert::{Conversions, Strided, StridedMut};
use crate::datatype::{
    self, Array, Bitfield, ByteOrder, Compound, Enumeration, FixedPoint, FloatingPoint, VariableLength,
    VariableLengthKind,
};
use crate::stored::ReadBudget;
use crate::{Datatype, DatatypeClass, H5Type, Reference, Stored};

impl Stored {
    /// Converts stored elements of any datatype to a column of dynamic values.
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
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if elements refer to heap data
    /// that does not exist, and [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the column would
    /// exceed [`Limits::result_bytes`](crate::Limits::result_bytes).
    pub fn column(&self) -> Result<Column> {
        let size = self.datatype().size as usize;
        let builder =
            ColumnBuilder { stored: self, conversions: Conversions::default(), budget: self.budget()? };
        builder.column(self.datatype(), Strided::new(self.bytes(), size, size))
    }

    /// Converts stored elements of a reference datatype to references.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not references,
    /// and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if a reference refers to heap data
    /// that does not exist.
    pub fn references(&self) -> Result<Vec<Reference>> {
        let DatatypeClass::Reference(kind) = &self.datatype().class else {
            return Err(Error::Misuse(format!("elements of type {} are not references", self.datatype())));
        };
        let mut references = self.budget()?.vector(self.len())?;
        for element in self.elements() {
            references.push(self.follow(*kind, element)?);
        }
        Ok(references)
    }
}

struct ColumnBuilder<'a> {
    stored: &'a Stored,
    conversions: Conversions,
    /// The memory that all columns together may take.
    budget: ReadBudget,
}

impl ColumnBuilder<'_> {
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
                let mut references = self.budget.vector(elements.len())?;
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

    /// Converts stored elements of a numeric datatype to numbers of a Rust type.
    fn numbers<T: H5Type>(&self, datatype: &Datatype, elements: Strided<'_>) -> Result<Vec<T>> {
        self.converted(datatype, &T::datatype(), elements)
    }

    fn converted<T: H5Type>(&self, from: &Datatype, to: &Datatype, elements: Strided<'_>) -> Result<Vec<T>> {
        let kernel = self.conversions.kernel(from, to)?;
        self.budget.hold(elements.len(), size_of::<T>().max(T::SIZE))?;
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
        let mut bytes = self.budget.buffer(elements.len(), elements.size())?;
        elements.iter().for_each(|element| bytes.extend_from_slice(element));
        Ok(Column::Bytes { size: elements.size(), bytes })
    }

    fn text(&self, datatype: &Datatype, elements: Strided<'_>) -> Result<Column> {
        let mut texts: Vec<Vec<u8>> = self.budget.vector(elements.len())?;
        for element in elements.iter() {
            let text = self.stored.text_of(datatype, element)?;
            self.budget.take_one(text.len())?;
            texts.push(text);
        }
        if texts.iter().any(|text| std::str::from_utf8(text).is_err()) {
            return Ok(Column::ByteText(texts));
        }
        let texts: Result<Vec<String>, _> = texts.into_iter().map(String::from_utf8).collect();
        Ok(Column::Text(texts.map_err(|_| Error::internal("column of text", "checked text is UTF-8"))?))
    }

    fn compound(&self, compound: &Compound, elements: Strided<'_>) -> Result<Column> {
        let mut members = Vec::with_capacity(compound.members.len());
        for member in &compound.members {
            let start = member.offset as usize;
            let end = start.checked_add(member.datatype.size as usize);
            let Some(end) = end.filter(|end| *end <= elements.size()) else {
                let expected = format!("an end within {} bytes", elements.size());
                let got = format!("offset {start}, size {}", member.datatype.size);
                return Err(Error::corrupt("datatype message", "compound member", expected, got));
            };
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
            let mut values = self.budget.vector(elements.len())?;
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
            let expected = "the size of the items";
            return Err(Error::corrupt("datatype message", "array size", expected, datatype.size));
        }
        self.budget.hold(elements.len(), elements.size())?;
        let packed = elements.to_packed();
        let items = Box::new(self.column(&array.base, Strided::new(&packed, item, item))?);
        let shape = array.dims.iter().map(|size| *size as usize).collect();
        Ok(Column::Array { shape, count: elements.len(), items })
    }

    fn sequences(&self, variable: &VariableLength, elements: Strided<'_>) -> Result<Column> {
        let item = variable.base.size as usize;
        let (mut all, mut ends) = (Vec::new(), self.budget.vector(elements.len())?);
        for element in elements.iter() {
            let value = self.stored.variable_length(element)?;
            let items = value.items(item)?;
            self.budget.take_one(items.len())?;
            let full = |_| Error::Memory { subject: "sequences", bytes: to_u64(items.len()) };
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

/// Returns `true` if the single-precision floating-point type represents all values of the
/// floating-point datatype.
fn fits_single(float: &FloatingPoint) -> bool {
    let implied = float.normalization == datatype::Normalization::Implied;
    let narrow = float.exponent_size <= 7 && float.exponent_bias <= 127;
    implied && float.mantissa_size <= 23 && (narrow || float.exponent_size == 8 && float.exponent_bias == 127)
}
