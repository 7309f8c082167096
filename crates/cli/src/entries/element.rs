//! The number types of matrix values.

use std::io::Write as _;

use anyhow::{Result, bail};
use hyperslab::datatype::{ByteOrder, DatatypeClass};
use hyperslab::{Datatype, H5Type};

use crate::typed::TypeName;

/// The number type of matrix values. In memory, values have the native byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    /// Complex numbers with two parts of 4 bytes.
    C64,
    /// Complex numbers with two parts of 8 bytes.
    C128,
}

/// Evaluates an expression for the number type of the element or of its parts.
macro_rules! with_number {
    ($element:expr, $type:ident => $work:expr) => {
        match $element {
            Element::Bool | Element::U8 => {
                type $type = u8;
                $work
            }
            Element::I8 => {
                type $type = i8;
                $work
            }
            Element::I16 => {
                type $type = i16;
                $work
            }
            Element::I32 => {
                type $type = i32;
                $work
            }
            Element::I64 => {
                type $type = i64;
                $work
            }
            Element::U16 => {
                type $type = u16;
                $work
            }
            Element::U32 => {
                type $type = u32;
                $work
            }
            Element::U64 => {
                type $type = u64;
                $work
            }
            Element::F32 | Element::C64 => {
                type $type = f32;
                $work
            }
            Element::F64 | Element::C128 => {
                type $type = f64;
                $work
            }
        }
    };
}

/// A Rust number type for matrix values. Its values can be summed and printed.
trait Number: H5Type {
    fn plus(self, other: Self) -> Option<Self>;
    fn print(self, line: &mut Vec<u8>);
}

macro_rules! number {
    ($($type:ty: $plus:expr, $format:literal;)*) => {$(
        impl Number for $type {
            fn plus(self, other: Self) -> Option<Self> {
                let plus: fn($type, $type) -> Option<$type> = $plus;
                plus(self, other)
            }

            fn print(self, line: &mut Vec<u8>) {
                // Writing to memory does not fail.
                let _ = write!(line, $format, self);
            }
        }
    )*};
}

number! {
    u8: u8::checked_add, "{}";
    u16: u16::checked_add, "{}";
    u32: u32::checked_add, "{}";
    u64: u64::checked_add, "{}";
    i8: i8::checked_add, "{}";
    i16: i16::checked_add, "{}";
    i32: i32::checked_add, "{}";
    i64: i64::checked_add, "{}";
    // The shortest digits that identify the number, with an exponent if that is shorter.
    f32: |a, b| Some(a + b), "{:?}";
    f64: |a, b| Some(a + b), "{:?}";
}

impl Element {
    /// Returns the number type of a matrix whose values have the given datatype.
    pub(crate) fn of(datatype: &Datatype) -> Result<Self> {
        let found = match &datatype.class {
            _ if datatype.is_bool() => Some(Self::Bool),
            DatatypeClass::FixedPoint(fixed) => match (datatype.size, fixed.signed) {
                (1, true) => Some(Self::I8),
                (2, true) => Some(Self::I16),
                (4, true) => Some(Self::I32),
                (8, true) => Some(Self::I64),
                (1, false) => Some(Self::U8),
                (2, false) => Some(Self::U16),
                (4, false) => Some(Self::U32),
                (8, false) => Some(Self::U64),
                _ => None,
            },
            DatatypeClass::FloatingPoint(_) => float(datatype, Self::F32, Self::F64),
            _ => datatype.complex_part().and_then(|part| float(part, Self::C64, Self::C128)),
        };
        let Some(found) = found else {
            bail!("values of type {datatype} cannot be stored in a sparse matrix of numbers")
        };
        Ok(found)
    }

    /// Returns the number type of matrix values with the given name.
    pub(crate) fn named(name: TypeName) -> Result<Self> {
        Ok(match name {
            TypeName::I8 => Self::I8,
            TypeName::I16 => Self::I16,
            TypeName::I32 => Self::I32,
            TypeName::I64 => Self::I64,
            TypeName::U8 => Self::U8,
            TypeName::U16 => Self::U16,
            TypeName::U32 => Self::U32,
            TypeName::U64 => Self::U64,
            TypeName::F32 => Self::F32,
            TypeName::F64 => Self::F64,
            TypeName::Bool => Self::Bool,
            TypeName::Str => bail!("the text of a string cannot be a value of a matrix of numbers"),
        })
    }

    /// Returns the datatype of this matrix number type in memory.
    pub(crate) fn datatype(self) -> Datatype {
        match self {
            Self::Bool => Datatype::bool(),
            Self::C64 => Datatype::complex_compound(Datatype::f32(ByteOrder::NATIVE)),
            Self::C128 => Datatype::complex_compound(Datatype::f64(ByteOrder::NATIVE)),
            real => with_number!(real, T => T::datatype()),
        }
    }

    /// Returns the size of a matrix value in bytes.
    pub(crate) fn size(self) -> usize {
        let part = with_number!(self, T => size_of::<T>());
        if self.is_complex() { 2 * part } else { part }
    }

    pub(crate) fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// Returns true if matrix values have an integer type or the boolean type.
    pub(crate) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64 | Self::C64 | Self::C128)
    }

    /// Returns true if the matrix value is zero.
    pub(crate) fn is_zero(self, value: &[u8]) -> bool {
        with_number!(self, T => {
            value.chunks_exact(size_of::<T>()).all(|part| T::decode(part).is_some_and(|part| part == T::default()))
        })
    }

    /// Adds a matrix value to `sum`. Returns `None` on overflow.
    pub(crate) fn add(self, sum: &mut [u8], value: &[u8]) -> Option<()> {
        if self == Self::Bool {
            for (sum, value) in sum.iter_mut().zip(value) {
                *sum |= *value;
            }
            return Some(());
        }
        with_number!(self, T => {
            for (sum, value) in sum.chunks_exact_mut(size_of::<T>()).zip(value.chunks_exact(size_of::<T>())) {
                T::decode(sum)?.plus(T::decode(value)?)?.encode(sum);
            }
        });
        Some(())
    }

    /// Appends a matrix value to a line as text. A blank separates the parts of complex numbers.
    pub(crate) fn print(self, value: &[u8], line: &mut Vec<u8>) {
        with_number!(self, T => {
            for (number, part) in value.chunks_exact(size_of::<T>()).enumerate() {
                if number > 0 {
                    line.push(b' ');
                }
                if let Some(part) = T::decode(part) {
                    part.print(line);
                }
            }
        });
    }
}

fn float(datatype: &Datatype, single: Element, double: Element) -> Option<Element> {
    match datatype.size {
        1..=4 => Some(single),
        8 => Some(double),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Element; 13] = [
        Element::Bool,
        Element::I8,
        Element::I16,
        Element::I32,
        Element::I64,
        Element::U8,
        Element::U16,
        Element::U32,
        Element::U64,
        Element::F32,
        Element::F64,
        Element::C64,
        Element::C128,
    ];

    #[test]
    fn elements_are_those_of_their_datatypes() {
        for element in ALL {
            let datatype = element.datatype();
            assert_eq!(datatype.size as usize, element.size(), "{element:?}");
            assert_eq!(Element::of(&datatype).unwrap(), element);
        }
        let half = Datatype::f16(ByteOrder::BigEndian);
        assert_eq!(Element::of(&half).unwrap(), Element::F32);
        assert!(Element::of(&Datatype::f128(ByteOrder::NATIVE)).is_err());
        assert!(Element::of(&Datatype::opaque(4, "x")).is_err());
    }

    fn sum<T: H5Type>(element: Element, a: T, b: T) -> Option<T> {
        let mut sum = T::to_bytes(&[a]).into_owned();
        element.add(&mut sum, &T::to_bytes(&[b]))?;
        T::decode(&sum)
    }

    #[test]
    fn values_are_summed() {
        assert_eq!(sum(Element::I8, 100_i8, 27), Some(127));
        assert_eq!(sum(Element::I8, 100_i8, 28), None);
        assert_eq!(sum(Element::F64, 0.5, 0.25), Some(0.75));
        assert_eq!(sum(Element::Bool, true, true), Some(true));
        assert_eq!(sum(Element::C64, [1.0_f32, 2.0], [0.5, -2.0]), Some([1.5, 0.0]));
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let text = |element: Element, value: &[u8]| {
            let mut line = Vec::new();
            element.print(value, &mut line);
            String::from_utf8(line).unwrap()
        };
        assert_eq!(text(Element::F32, &f32::to_bytes(&[0.1])), "0.1");
        assert_eq!(text(Element::F64, &f64::to_bytes(&[1e300])), "1e300");
        assert_eq!(text(Element::I16, &i16::to_bytes(&[-7])), "-7");
        assert_eq!(text(Element::C128, &f64::to_bytes(&[1.5, -0.0])), "1.5 -0.0");
        assert_eq!(text(Element::Bool, &[1]), "1");
    }
}
