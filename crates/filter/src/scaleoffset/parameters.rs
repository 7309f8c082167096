//! The client data of scaleoffset.

use hyperslab_datatype::{ByteOrder, Datatype, DatatypeClass};

use crate::DatasetFill;
use crate::facts::float_order;

/// The conversion of a chunk's elements to integers by the scaleoffset filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Integers are stored with this number of bits. If the number is too small, values are lost.
    Integer {
        /// The number of bits of an element; 0 for the number of bits that the values of a chunk
        /// need.
        bits: u32,
    },
    /// Floating-point numbers are rounded to this number of decimal digits.
    Decimal {
        /// The number of digits to keep after the decimal point. A negative number rounds digits
        /// before the point.
        digits: i32,
    },
}

/// The kind of numbers that the scaleoffset filter encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleOffsetNumber {
    /// An unsigned integer.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A floating-point number of IEEE 754.
    Float,
}

/// The parameters of the scaleoffset filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleOffsetParameters {
    /// The conversion of elements to integers.
    pub scale: Scale,
    /// The number of elements of a chunk.
    pub elements: u32,
    /// The kind of number of the elements.
    pub number: ScaleOffsetNumber,
    /// The size of an element in bytes: 1, 2, 4 or 8; for floating-point numbers 4 or 8.
    pub size: u32,
    /// True if the elements are big-endian.
    pub big_endian: bool,
    /// The bits of the dataset's fill value, if it has one.
    pub fill: Option<u64>,
}

/// Computes the scaleoffset parameters for the chunks of a new dataset.
pub(super) fn of_dataset(
    requested: &[u32],
    elements: u32,
    datatype: &Datatype,
    fill: DatasetFill<'_>,
) -> Result<ScaleOffsetParameters, &'static str> {
    let (scale, factor) = match requested {
        [0, digits, ..] => (Scale::Decimal { digits: digits.cast_signed() }, 0),
        [2, bits, ..] => (Scale::Integer { bits: *bits }, *bits),
        [_, _, ..] => return Err("the scale type is unknown"),
        _ => return Err("the client data lack the scale type and its factor"),
    };
    let size = datatype.size;
    let (number, order) = match (&datatype.class, scale, size) {
        (DatatypeClass::FixedPoint(number), Scale::Integer { .. }, 1 | 2 | 4 | 8) => (
            if number.signed { ScaleOffsetNumber::Signed } else { ScaleOffsetNumber::Unsigned },
            number.order,
        ),
        (DatatypeClass::FloatingPoint(number), Scale::Decimal { .. }, 4 | 8) => (
            ScaleOffsetNumber::Float,
            float_order(number.order).ok_or("the byte order of the VAX is not supported")?,
        ),
        (DatatypeClass::FixedPoint(_), Scale::Decimal { .. }, _) => {
            return Err("integers need a number of bits, not of decimal digits");
        }
        (DatatypeClass::FloatingPoint(_), Scale::Integer { .. }, _) => {
            return Err("floating-point numbers need a number of decimal digits, not of bits");
        }
        (DatatypeClass::FixedPoint(_) | DatatypeClass::FloatingPoint(_), ..) => {
            return Err("the element size is not 1, 2, 4 or 8 bytes (for floating-point numbers 4 or 8)");
        }
        _ => return Err("the elements are neither integers nor floating-point numbers"),
    };
    if factor > size.saturating_mul(8) {
        return Err("the number of bits exceeds the size of an element");
    }
    let big_endian = order == ByteOrder::BigEndian;
    let fill = match fill {
        DatasetFill::Undefined => None,
        DatasetFill::Default => Some(0),
        DatasetFill::Element(element) => Some(bits_of(element, size, big_endian)?),
    };
    Ok(ScaleOffsetParameters { scale, elements, number, size, big_endian, fill })
}

/// Returns the bytes of an element of at most 8 bytes as a 64-bit number, for the scaleoffset
/// filter.
fn bits_of(element: &[u8], size: u32, big_endian: bool) -> Result<u64, &'static str> {
    if u32::try_from(element.len()) != Ok(size) {
        return Err("the size of the fill value differs from the element size");
    }
    let shift = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    Ok(if big_endian { element.iter().fold(0, shift) } else { element.iter().rev().fold(0, shift) })
}

/// The number of client data values that libhdf5 stores for the scaleoffset filter.
const CLIENT_DATA_COUNT: usize = 20;

impl ScaleOffsetParameters {
    /// Returns the client data of the scaleoffset filter.
    pub fn client_data(&self) -> Vec<u32> {
        let (scale, factor) = match self.scale {
            Scale::Decimal { digits } => (0, digits.cast_unsigned()),
            Scale::Integer { bits } => (2, bits),
        };
        let (class, sign) = match self.number {
            ScaleOffsetNumber::Unsigned => (0, 0),
            ScaleOffsetNumber::Signed => (0, 1),
            ScaleOffsetNumber::Float => (1, 0),
        };
        let order = u32::from(self.big_endian);
        let mut data = vec![scale, factor, self.elements, class, self.size, sign, order];
        data.push(u32::from(self.fill.is_some()));
        if let Some(fill) = self.fill {
            let [low @ .., h0, h1, h2, h3] = self.extend_unsigned(fill).to_le_bytes();
            data.extend([u32::from_le_bytes(low), u32::from_le_bytes([h0, h1, h2, h3])]);
        }
        data.resize(CLIENT_DATA_COUNT, 0);
        data
    }

    pub(super) fn parse(data: &[u32]) -> Result<Self, &'static str> {
        let [scale, factor, elements, class, size, sign, order, has_fill, fill @ ..] = data else {
            return Err("the client data are missing");
        };
        if !matches!(size, 1 | 2 | 4 | 8) {
            return Err("the element size in the client data is not 1, 2, 4 or 8");
        }
        let number = match (class, sign) {
            (0, 0) => ScaleOffsetNumber::Unsigned,
            (0, 1) => ScaleOffsetNumber::Signed,
            (1, _) if *size >= 4 => ScaleOffsetNumber::Float,
            _ => return Err("the class and sign in the client data describe no supported number"),
        };
        let scale = match (number, scale) {
            (ScaleOffsetNumber::Float, 0) => Scale::Decimal { digits: factor.cast_signed() },
            (ScaleOffsetNumber::Signed | ScaleOffsetNumber::Unsigned, 2) if *factor <= 8 * size => {
                Scale::Integer { bits: *factor }
            }
            _ => return Err("the scale type in the client data is unknown or does not fit the elements"),
        };
        if *order > 1 {
            return Err("the byte order in the client data is unknown");
        }
        let mut parameters =
            Self { scale, elements: *elements, number, size: *size, big_endian: *order == 1, fill: None };
        if *has_fill != 0 {
            let high = fill.get(1).copied().unwrap_or(0);
            let [low, ..] = fill else { return Err("the fill value in the client data is missing") };
            parameters.fill = Some(parameters.extend_unsigned(u64::from(high) << 32 | u64::from(*low)));
        }
        Ok(parameters)
    }

    /// Returns true if the scaleoffset filter stores chunks unchanged, because the requested number
    /// of bits is the size of an element.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(self.scale, Scale::Integer { bits } if bits == self.bits())
    }

    /// Returns the size in bits of an element of the scaleoffset filter, before encoding.
    pub(super) fn bits(&self) -> u32 {
        8 * self.size
    }

    /// Returns the distance in bytes between decoded elements of the scaleoffset filter: the size
    /// of an element, which is not 0.
    pub(super) fn stride(&self) -> usize {
        self.size as usize
    }

    /// Returns the decoded size in bytes of a chunk of the scaleoffset filter. Returns [`None`] if
    /// the size overflows.
    pub(super) fn chunk_length(&self) -> Option<usize> {
        usize::try_from(self.elements).ok()?.checked_mul(self.stride())
    }

    /// Extends an element of the scaleoffset filter to 64 bits: with its sign for signed elements,
    /// otherwise with zeros.
    pub(super) fn extend(&self, value: u64) -> u64 {
        let above = 64 - self.bits();
        if self.number == ScaleOffsetNumber::Signed {
            ((value << above).cast_signed() >> above).cast_unsigned()
        } else {
            value << above >> above
        }
    }

    fn extend_unsigned(&self, value: u64) -> u64 {
        let above = 64 - self.bits();
        value << above >> above
    }
}
