//! The properties of a new dataset that filters use.

use hyperslab_datatype::{Array, ByteOrder, Datatype, DatatypeClass, FloatOrder};

use crate::{FilterError, FilterId, Result};

/// The fill value of a new dataset, as filters see it: undefined, zero by default, or the bytes of
/// an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DatasetFill<'a> {
    /// No fill value: elements that were never written may have any value.
    Undefined,
    /// The default fill value, zero.
    #[default]
    Default,
    /// The bytes of one element, in the datatype of the file.
    Element(&'a [u8]),
}

/// The properties of a new dataset (datatype, chunk shape and fill value) from which filters
/// compute their parameters.
#[derive(Debug, Clone, Copy)]
pub struct DatasetFacts<'a> {
    /// The datatype of the elements.
    pub datatype: &'a Datatype,
    /// The dimensions of a chunk in elements; the fastest-varying dimension is last.
    pub chunk: &'a [u64],
    /// The value of elements that were never written.
    pub fill: DatasetFill<'a>,
}

/// The bit layout of the numbers in the elements of a new dataset. Filters compute their client
/// data from this layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atom {
    /// The number of significant bits.
    pub(crate) precision: u32,
    /// The position of the lowest significant bit.
    pub(crate) offset: u32,
    /// The byte order; [`None`] for bytes without an order and for the byte order of the VAX.
    pub(crate) order: Option<ByteOrder>,
}

impl<'a> DatasetFacts<'a> {
    /// Creates the properties of a new dataset with elements of `datatype` and chunks of the shape
    /// `chunk`, and with the default fill value.
    pub fn new(datatype: &'a Datatype, chunk: &'a [u64]) -> Self {
        Self { datatype, chunk, fill: DatasetFill::Default }
    }

    /// Replaces the fill value in the properties of a new dataset.
    #[must_use]
    pub fn with_fill(self, fill: DatasetFill<'a>) -> Self {
        Self { fill, ..self }
    }

    /// Returns the number of elements of a chunk of the new dataset, or [`None`] if the number
    /// overflows.
    pub fn elements(&self) -> Option<u64> {
        self.chunk.iter().try_fold(1_u64, |count, size| count.checked_mul(*size))
    }

    /// Returns the size of a chunk of the new dataset in bytes, or [`None`] if the size overflows.
    pub fn chunk_bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(u64::from(self.datatype.size))
    }

    /// Returns the size in bytes of an element of a new dataset. For an array datatype, returns the
    /// size of the base type.
    pub(crate) fn item_size(&self) -> u32 {
        match &self.datatype.class {
            DatatypeClass::Array(Array { base, .. }) => base.size,
            _ => self.datatype.size,
        }
    }

    /// Returns the number of elements of a chunk in 32 bits, for the client data of a filter.
    pub(crate) fn elements_for(&self, id: FilterId) -> Result<u32> {
        let elements = self.elements().and_then(|elements| u32::try_from(elements).ok());
        elements.ok_or_else(|| FilterError::refused(id, "the chunk must have fewer than 2^32 elements"))
    }

    /// Returns the size of a chunk in bytes as a 32-bit number, for the client data of a filter.
    pub(crate) fn chunk_bytes_for(&self, id: FilterId) -> Result<u32> {
        let bytes = self.chunk_bytes().and_then(|bytes| u32::try_from(bytes).ok());
        bytes.ok_or_else(|| FilterError::refused(id, "the chunk must have fewer than 4 GiB"))
    }
}

/// Returns the byte order of a floating-point datatype for a filter. Returns [`None`] for the byte
/// order of the VAX.
pub(crate) fn float_order(order: FloatOrder) -> Option<ByteOrder> {
    match order {
        FloatOrder::LittleEndian => Some(ByteOrder::LittleEndian),
        FloatOrder::BigEndian => Some(ByteOrder::BigEndian),
        FloatOrder::Vax => None,
    }
}

/// Returns the bit layout of the numbers in an element of a datatype. Looks inside arrays,
/// enumerations, sequences and complex numbers. Returns [`None`] for compounds.
pub(crate) fn atom(datatype: &Datatype) -> Option<Atom> {
    let whole = datatype.size.saturating_mul(8);
    let bytes = Atom { precision: whole, offset: 0, order: None };
    let with = |precision: u16, offset: u16, order| {
        Some(Atom { precision: u32::from(precision), offset: u32::from(offset), order })
    };
    match &datatype.class {
        DatatypeClass::FixedPoint(number) => with(number.precision, number.bit_offset, Some(number.order)),
        DatatypeClass::FloatingPoint(number) => {
            with(number.precision, number.bit_offset, float_order(number.order))
        }
        DatatypeClass::Bitfield(bits) => with(bits.precision, bits.bit_offset, Some(bits.order)),
        DatatypeClass::Time(time) => with(time.precision, 0, Some(time.order)),
        DatatypeClass::String(_) | DatatypeClass::Opaque(_) | DatatypeClass::Reference(_) => Some(bytes),
        DatatypeClass::Array(array) => atom(&array.base),
        DatatypeClass::Enumeration(enumeration) => atom(&enumeration.base),
        DatatypeClass::VariableLength(variable) => atom(&variable.base),
        DatatypeClass::Complex(complex) => atom(&complex.base),
        DatatypeClass::Compound(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_datatype::ByteOrder::LittleEndian;

    #[test]
    fn chunks_are_measured() {
        let pairs = Datatype::array([2], Datatype::i16(LittleEndian));
        let facts = DatasetFacts::new(&pairs, &[3, 5]);
        assert_eq!((facts.elements(), facts.chunk_bytes(), facts.item_size()), (Some(15), Some(60), 2));
        let large = DatasetFacts::new(&pairs, &[1 << 40, 1 << 40]);
        assert_eq!((large.elements(), large.chunk_bytes()), (None, None));
        assert!(large.elements_for(FilterId::NBIT).is_err() && large.chunk_bytes_for(FilterId::LZF).is_err());
        let bytes = DatasetFacts::new(&pairs, &[1 << 30]);
        assert_eq!(bytes.elements_for(FilterId::NBIT), Ok(1 << 30));
        assert!(bytes.chunk_bytes_for(FilterId::LZF).is_err());
    }

    #[test]
    fn atoms_are_found_inside() {
        let integers = Datatype::sequence(Datatype::array([2, 3], Datatype::i16(LittleEndian)), 8);
        let atom_of = |precision, order| Some(Atom { precision, offset: 0, order });
        assert_eq!(atom(&integers), atom_of(16, Some(LittleEndian)));
        assert_eq!(atom(&Datatype::vax_f32()), atom_of(32, None));
        assert_eq!(atom(&Datatype::packed([("x", integers)])), None);
    }
}
