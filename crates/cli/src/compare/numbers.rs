//! Elements as numbers, many at once.

use anyhow::Result;
use hyperslab::datatype::FixedPoint;
use hyperslab::datatype::convert::Conversion;
use hyperslab::{Datatype, DatatypeClass, H5Type};

use super::rules::Number;

/// Reads elements of one type as numbers.
#[derive(Debug)]
pub(super) struct Reader {
    conversion: Conversion,
    to: To,
}

/// What numbers are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Signed,
    Unsigned,
    Single,
    Double,
}

impl Reader {
    /// Reads elements of that type; `None` if they are no numbers of at most 64 bits. Bit fields are numbers without a sign.
    pub(super) fn new(datatype: &Datatype) -> Option<Self> {
        let (datatype, to) = match &datatype.class {
            DatatypeClass::FixedPoint(fixed) if datatype.size <= 8 => {
                (datatype.clone(), if fixed.signed { To::Signed } else { To::Unsigned })
            }
            DatatypeClass::Bitfield(bits) if datatype.size <= 8 => {
                let fixed = FixedPoint {
                    order: bits.order,
                    low_pad: bits.low_pad,
                    high_pad: bits.high_pad,
                    signed: false,
                    bit_offset: bits.bit_offset,
                    precision: bits.precision,
                };
                (Datatype { size: datatype.size, class: DatatypeClass::FixedPoint(fixed) }, To::Unsigned)
            }
            DatatypeClass::FloatingPoint(_) => {
                (datatype.clone(), if datatype.size <= 4 { To::Single } else { To::Double })
            }
            DatatypeClass::Enumeration(names) => return Self::new(&names.base),
            _ => return None,
        };
        let wanted = match to {
            To::Signed => i64::datatype(),
            To::Unsigned => u64::datatype(),
            To::Single => f32::datatype(),
            To::Double => f64::datatype(),
        };
        Some(Self { conversion: Conversion::new(&datatype, &wanted).ok()?, to })
    }

    /// The elements as numbers.
    pub(super) fn read(&self, bytes: &[u8], count: usize) -> Result<Vec<Number>> {
        fn all<T: H5Type>(
            conversion: &Conversion,
            bytes: &[u8],
            count: usize,
            number: impl Fn(T) -> Number,
        ) -> Result<Vec<Number>> {
            let values = T::read_vec(count, |out| conversion.convert(bytes, out, count))?;
            Ok(values.into_iter().map(number).collect())
        }
        match self.to {
            To::Signed => all(&self.conversion, bytes, count, |value: i64| Number::Integer(value.into())),
            To::Unsigned => all(&self.conversion, bytes, count, |value: u64| Number::Integer(value.into())),
            To::Single => all(&self.conversion, bytes, count, Number::Single),
            To::Double => all(&self.conversion, bytes, count, Number::Double),
        }
    }

    /// Bytes of one element.
    pub(super) fn size(&self) -> usize {
        self.conversion.source_size()
    }
}
