//! Fast loops for the number types of the machine, in both byte orders.

use std::sync::Arc;

use half::{bf16, f16};

use super::Result;
use super::kernel::Loop;
use super::rules::{Conversions, Planned};
use crate::{ByteOrder, Datatype, DatatypeClass, FloatOrder, FloatingPoint, Normalization};

/// The number types of this machine, such as `i16` or `f64`, for fast conversion loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

/// Returns the number type of this machine with the same layout as a datatype, and the byte order
/// of the datatype. Returns `None` if there is no such number type.
fn kind_of(datatype: &Datatype) -> Option<(Kind, ByteOrder)> {
    match &datatype.class {
        DatatypeClass::FixedPoint(fixed)
            if fixed.bit_offset == 0 && datatype.size.checked_mul(8) == Some(fixed.precision.into()) =>
        {
            let kind = match (fixed.precision, fixed.signed) {
                (8, false) => Kind::U8,
                (16, false) => Kind::U16,
                (32, false) => Kind::U32,
                (64, false) => Kind::U64,
                (8, true) => Kind::I8,
                (16, true) => Kind::I16,
                (32, true) => Kind::I32,
                (64, true) => Kind::I64,
                _ => return None,
            };
            Some((kind, fixed.order))
        }
        DatatypeClass::FloatingPoint(float) => {
            let order = match float.order {
                FloatOrder::LittleEndian => ByteOrder::LittleEndian,
                FloatOrder::BigEndian => ByteOrder::BigEndian,
                FloatOrder::Vax => return None,
            };
            Some((float_kind(datatype.size, float)?, order))
        }
        _ => None,
    }
}

/// Returns the number type of this machine with the same layout as a floating-point datatype.
fn float_kind(size: u32, float: &FloatingPoint) -> Option<Kind> {
    let simple = float.normalization == Normalization::Implied
        && float.bit_offset == 0
        && size.checked_mul(8) == Some(float.precision.into())
        && float.mantissa_location == 0
        && float.exponent_location == float.mantissa_size
        && u16::from(float.sign_location) + 1 == float.precision;
    match (simple, float.precision, float.exponent_size, float.mantissa_size, float.exponent_bias) {
        (true, 16, 5, 10, 15) => Some(Kind::F16),
        (true, 16, 8, 7, 127) => Some(Kind::Bf16),
        (true, 32, 8, 23, 127) => Some(Kind::F32),
        (true, 64, 11, 52, 1023) => Some(Kind::F64),
        _ => None,
    }
}

/// A number type of this machine whose values are encoded as bytes of an element.
trait Scalar: Sized {
    type Bytes;
    fn elements(bytes: &[u8]) -> &[Self::Bytes];
    fn elements_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn load<const BIG: bool>(bytes: &Self::Bytes) -> Self;
    fn store<const BIG: bool>(self, bytes: &mut Self::Bytes);
}

macro_rules! scalar {
    ($($type:ty),*) => {$(
        impl Scalar for $type {
            type Bytes = [u8; size_of::<$type>()];

            fn elements(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }

            fn elements_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut().0
            }

            #[inline]
            fn load<const BIG: bool>(bytes: &Self::Bytes) -> Self {
                if BIG { Self::from_be_bytes(*bytes) } else { Self::from_le_bytes(*bytes) }
            }

            #[inline]
            fn store<const BIG: bool>(self, bytes: &mut Self::Bytes) {
                *bytes = if BIG { self.to_be_bytes() } else { self.to_le_bytes() };
            }
        }
    )*};
}

scalar!(u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64);

/// A conversion from one number type of this machine to another.
trait To<D>: Copy {
    /// Converts a number to another number type of this machine. Clamps or rounds the number if
    /// necessary.
    fn to(self) -> D;

    /// Returns whether the conversion of a number to another number type of this machine raises no
    /// exception. Rounding of floating-point numbers is no exception.
    fn is_exact(self) -> bool;
}

macro_rules! integers {
    ($($from:ty: $negative:expr),*) => {$(
        integers!(@to $from, $negative, u8, u16, u32, u64, i8, i16, i32, i64);
    )*};
    (@to $from:ty, $negative:expr, $($to:ty),*) => {$(
        impl To<$to> for $from {
            #[inline]
            fn to(self) -> $to {
                let negative: fn($from) -> bool = $negative;
                // Saturates: a value out of range becomes the nearest one, as in libhdf5.
                <$to>::try_from(self).unwrap_or(if negative(self) { <$to>::MIN } else { <$to>::MAX })
            }

            #[inline]
            fn is_exact(self) -> bool {
                <$to>::try_from(self).is_ok()
            }
        }
    )*};
}

integers!(u8: |_| false, u16: |_| false, u32: |_| false, u64: |_| false,
    i8: |n| n < 0, i16: |n| n < 0, i32: |n| n < 0, i64: |n| n < 0);

macro_rules! integer_to_float {
    ($($from:ty: $magnitude:expr),*) => {$(
        integer_to_float!(@to $from, $magnitude, f32, f64);
    )*};
    (@to $from:ty, $magnitude:expr, $($to:ty),*) => {$(
        impl To<$to> for $from {
            #[inline]
            fn to(self) -> $to {
                self as $to
            }

            #[inline]
            fn is_exact(self) -> bool {
                let magnitude = $magnitude(self);
                let digits = <$from>::BITS - magnitude.leading_zeros();
                <$from>::BITS <= <$to>::MANTISSA_DIGITS
                    || digits <= <$to>::MANTISSA_DIGITS + magnitude.trailing_zeros()
            }
        }
    )*};
}

integer_to_float!(u8: |n| n, u16: |n| n, u32: |n| n, u64: |n| n,
    i8: i8::unsigned_abs, i16: i16::unsigned_abs, i32: i32::unsigned_abs, i64: i64::unsigned_abs);

macro_rules! float_to_integer {
    (@exact $from:ty, $to:ty) => {
        #[inline]
        fn is_exact(self) -> bool {
            // Both limits are zero or powers of two, which have exact floating-point values. For
            // NaN the comparisons are false.
            let beyond = ((<$to>::MAX / 2 + 1) as $from) * 2.0;
            let back = To::<$to>::to(self) as $from;
            self >= <$to>::MIN as $from && self < beyond && back == self
        }
    };
    ($from:ty, signed: $($signed:ty),*; unsigned: $($unsigned:ty),*) => {
        $(
            impl To<$signed> for $from {
                float_to_integer!(@exact $from, $signed);

                #[inline]
                #[expect(clippy::cast_possible_truncation, reason = "`as` clamps, and NaN becomes 0, as intended")]
                fn to(self) -> $signed {
                    self as $signed
                }
            }
        )*
        $(
            impl To<$unsigned> for $from {
                float_to_integer!(@exact $from, $unsigned);

                #[inline]
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "`as` clamps, and NaN becomes 0, as intended"
                )]
                fn to(self) -> $unsigned {
                    self as $unsigned
                }
            }
        )*
    };
}

float_to_integer!(f32, signed: i8, i16, i32, i64; unsigned: u8, u16, u32, u64);
float_to_integer!(f64, signed: i8, i16, i32, i64; unsigned: u8, u16, u32, u64);

macro_rules! float_to_float {
    ($($from:ty => $to:ty: $convert:expr;)*) => {$(
        impl To<$to> for $from {
            #[inline]
            fn to(self) -> $to {
                let convert: fn($from) -> $to = $convert;
                convert(self)
            }

            #[inline]
            fn is_exact(self) -> bool {
                !self.is_finite() || To::<$to>::to(self).is_finite()
            }
        }
    )*};
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is intended")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Rounds a number to single precision. If the result is not exact, sets its last bit (round to
/// odd). A second rounding to a shorter type then gives the same value as a direct rounding.
fn narrow_to_odd(value: f64) -> f32 {
    let near = narrow(value);
    let back = f64::from(near);
    if back == value || value.is_nan() {
        return near;
    }
    let away = back.abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(away)) | 1)
}

float_to_float! {
    f16 => f32: f16::to_f32;
    f16 => f64: f16::to_f64;
    bf16 => f32: bf16::to_f32;
    bf16 => f64: bf16::to_f64;
    f32 => f64: f64::from;
    f32 => f16: f16::from_f32;
    f32 => bf16: bf16::from_f32;
    f64 => f32: narrow;
    f64 => f16: |value| f16::from_f32(narrow_to_odd(value));
    f64 => bf16: |value| bf16::from_f32(narrow_to_odd(value));
}

/// Converts all elements of `source` from one number type of this machine to another, and writes
/// the results to `destination`.
fn run<S: Scalar + To<D>, D: Scalar, const S_BIG: bool, const D_BIG: bool>(
    source: &[u8],
    destination: &mut [u8],
) {
    for (from, to) in S::elements(source).iter().zip(D::elements_mut(destination)) {
        S::load::<S_BIG>(from).to().store::<D_BIG>(to);
    }
}

/// Returns whether the conversion between two number types of this machine raises no exception for
/// any element of `source`.
fn all_exact<S: Scalar + To<D>, D: Scalar, const S_BIG: bool>(source: &[u8]) -> bool {
    S::elements(source).iter().fold(true, |exact, from| exact & S::load::<S_BIG>(from).is_exact())
}

/// A pair of loops for the conversion between two number types of this machine. One loop converts
/// elements, and the other loop checks for exceptions.
#[derive(Debug)]
pub(super) struct Checked {
    run: fn(&[u8], &mut [u8]),
    all_exact: fn(&[u8]) -> bool,
}

impl Checked {
    /// Returns the fast conversion loops for two datatypes. Returns `None` if a datatype is no
    /// number type of this machine, or if no fast loop exists.
    pub(super) fn new(source: &Datatype, destination: &Datatype) -> Option<Self> {
        let ((from, from_order), (to, to_order)) = (kind_of(source)?, kind_of(destination)?);
        Some(maker(from, to)?(from_order, to_order))
    }

    /// Returns whether the conversion loop between number types raises no exception for any element
    /// of `source`.
    pub(super) fn is_exact(&self, source: &[u8]) -> bool {
        (self.all_exact)(source)
    }

    /// Converts all elements of `source` to the destination's number type, into `destination`.
    /// Clamps or rounds them if necessary.
    pub(super) fn run(&self, source: &[u8], destination: &mut [u8]) {
        (self.run)(source, destination);
    }
}

/// Returns the conversion loops for two number types of this machine, in the given byte orders.
fn pair<S: Scalar + To<D>, D: Scalar>(source: ByteOrder, destination: ByteOrder) -> Checked {
    use ByteOrder::{BigEndian, LittleEndian};
    let run = match (source, destination) {
        (LittleEndian, LittleEndian) => run::<S, D, false, false>,
        (LittleEndian, BigEndian) => run::<S, D, false, true>,
        (BigEndian, LittleEndian) => run::<S, D, true, false>,
        (BigEndian, BigEndian) => run::<S, D, true, true>,
    };
    let all_exact = match source {
        LittleEndian => all_exact::<S, D, false>,
        BigEndian => all_exact::<S, D, true>,
    };
    Checked { run, all_exact }
}

/// A function that returns conversion loops for given byte orders. Each function belongs to a pair
/// of number types of this machine.
type Maker = fn(ByteOrder, ByteOrder) -> Checked;

macro_rules! makers {
    ($from:ty: $($kind:ident $to:ty),*) => {
        |to: Kind| -> Option<Maker> {
            match to {
                $(Kind::$kind => Some(pair::<$from, $to>),)*
                _ => None,
            }
        }
    };
}

/// Returns the function that makes conversion loops for a pair of number types of this machine.
/// Returns `None` if there is no fast loop for the pair.
fn maker(from: Kind, to: Kind) -> Option<Maker> {
    macro_rules! integer {
        ($from:ty) => {
            makers!($from: U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F32 f32, F64 f64)
        };
    }
    let row: fn(Kind) -> Option<Maker> = match from {
        Kind::U8 => integer!(u8),
        Kind::U16 => integer!(u16),
        Kind::U32 => integer!(u32),
        Kind::U64 => integer!(u64),
        Kind::I8 => integer!(i8),
        Kind::I16 => integer!(i16),
        Kind::I32 => integer!(i32),
        Kind::I64 => integer!(i64),
        Kind::F16 => makers!(f16: F32 f32, F64 f64),
        Kind::Bf16 => makers!(bf16: F32 f32, F64 f64),
        Kind::F32 => makers!(f32: U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64,
            F16 f16, Bf16 bf16, F64 f64),
        Kind::F64 => {
            makers!(f64: U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64,
                F16 f16, Bf16 bf16, F32 f32)
        }
    };
    row(to)
}

/// Copies the elements of `source` to `destination`, and reverses the bytes of each element. This
/// converts numbers to the other byte order.
fn swap<T, const N: usize>(source: &[u8], destination: &mut [u8])
where
    T: Scalar<Bytes = [u8; N]>,
{
    for (from, to) in T::elements(source).iter().zip(T::elements_mut(destination)) {
        T::load::<false>(from).store::<true>(to);
    }
}

pub(super) fn rule(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let (Some((from, from_order)), Some((to, to_order))) = (kind_of(source), kind_of(destination)) else {
        return Ok(None);
    };
    if from == to {
        return Ok(match source.size {
            _ if from_order == to_order => Some(Arc::new(super::kernel::Copy)),
            1 => Some(Arc::new(super::kernel::Copy)),
            2 => Some(Arc::new(Loop(swap::<u16, 2>))),
            4 => Some(Arc::new(Loop(swap::<u32, 4>))),
            8 => Some(Arc::new(Loop(swap::<u64, 8>))),
            _ => None,
        });
    }
    if conversions.exceptions().handles_numbers() {
        return Ok(None);
    }
    Ok(maker(from, to).map(|maker| Arc::new(Loop(maker(from_order, to_order).run)) as _))
}
