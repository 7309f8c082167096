//! The conversion of elements to numbers for a comparison.

use anyhow::Result;
use hyperslab::datatype::FixedPoint;
use hyperslab::datatype::convert::Conversion;
use hyperslab::{Datatype, DatatypeClass, H5Type};

use super::rules::Number;

/// A converter of stored elements of one datatype to numbers.
#[derive(Debug)]
pub(super) struct Reader {
    conversion: Conversion,
    to: Target,
}

/// The Rust number type to which elements are converted for the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Signed,
    Unsigned,
    Single,
    Double,
}

impl Reader {
    /// Creates a converter for elements of a datatype. Returns `None` if the elements are not
    /// numbers, or are integers of more than 64 bits. Bit fields become unsigned integers.
    pub(super) fn new(datatype: &Datatype) -> Option<Self> {
        let (datatype, to) = match &datatype.class {
            DatatypeClass::FixedPoint(fixed) if datatype.size <= 8 => {
                (datatype.clone(), if fixed.signed { Target::Signed } else { Target::Unsigned })
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
                (Datatype { size: datatype.size, class: DatatypeClass::FixedPoint(fixed) }, Target::Unsigned)
            }
            DatatypeClass::FloatingPoint(_) => {
                (datatype.clone(), if datatype.size <= 4 { Target::Single } else { Target::Double })
            }
            DatatypeClass::Enumeration(names) => return Self::new(&names.base),
            _ => return None,
        };
        let wanted = match to {
            Target::Signed => i64::datatype(),
            Target::Unsigned => u64::datatype(),
            Target::Single => f32::datatype(),
            Target::Double => f64::datatype(),
        };
        Some(Self { conversion: Conversion::new(&datatype, &wanted).ok()?, to })
    }

    /// Converts stored elements to numbers for the comparison.
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
            Target::Signed => all(&self.conversion, bytes, count, |value: i64| Number::Integer(value.into())),
            Target::Unsigned => {
                all(&self.conversion, bytes, count, |value: u64| Number::Integer(value.into()))
            }
            Target::Single => all(&self.conversion, bytes, count, Number::Single),
            Target::Double => all(&self.conversion, bytes, count, Number::Double),
        }
    }

    /// Returns the size in bytes of a stored element that the converter reads.
    pub(super) fn size(&self) -> usize {
        self.conversion.source_size()
    }
}
