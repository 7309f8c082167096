//! Rust types that can be elements.

use std::borrow::Cow;

use half::{bf16, f16};
use num_complex::Complex;

use crate::convert::ConvertError;
use crate::{ByteOrder, Datatype, DatatypeClass};

/// A Rust type whose values can be elements of datasets and attributes.
///
/// [`datatype`](Self::datatype) describes the layout of a value in memory. Reading and writing
/// convert between this datatype and the datatype in the file.
///
/// For types without padding for which every bit pattern is valid, slices can be viewed as bytes.
/// Files are then read directly into them. Values of other types are encoded and decoded one by
/// one. The derive macro of the crate `hyperslab` implements this trait for compounds and
/// enumerations.
///
/// ```
/// use hyperslab_datatype::H5Type;
/// let values = <i32 as H5Type>::read_vec(2, |bytes| {
///     bytes.fill(0xff);
///     Ok::<_, hyperslab_datatype::convert::ConvertError>(())
/// });
/// assert_eq!(values, Ok(vec![-1, -1]));
/// ```
pub trait H5Type: Copy + Send + Sync + 'static {
    /// The size in bytes of an element that holds a value of the Rust type.
    const SIZE: usize;

    /// Returns the datatype of elements that hold values of the Rust type in this machine's memory.
    fn datatype() -> Datatype;

    /// Decodes an element to a value of the Rust type. Returns `None` if the bytes are no valid
    /// value.
    fn decode(element: &[u8]) -> Option<Self>;

    /// Encodes a value of the Rust type as an element of its datatype.
    fn encode(&self, element: &mut [u8]);

    /// Returns the value of the Rust type whose bytes are all zero. Returns `None` if the type does
    /// not allow a view of its slices as bytes.
    fn zero() -> Option<Self> {
        None
    }

    /// Returns the bytes of a slice of values of the Rust type, without a copy. Returns `None`
    /// unless the values have the layout of elements.
    fn as_bytes(values: &[Self]) -> Option<&[u8]> {
        let _ = values;
        None
    }

    /// Returns the bytes of a slice of values of the Rust type for writing, without a copy. Returns
    /// `None` unless every bit pattern is a valid value.
    fn as_bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
        let _ = values;
        None
    }

    /// Returns the bytes of elements as values of the Rust type, without a copy.
    ///
    /// Returns `None` unless every bit pattern is valid, the bytes are aligned for the type, and
    /// they form whole elements.
    ///
    /// ```
    /// use hyperslab_datatype::H5Type;
    /// let values = [1_u32, 2, 3];
    /// let bytes = u32::to_bytes(&values);
    /// assert_eq!(u32::view(&bytes), Some(values.as_slice()));
    /// // Seven bytes are no whole number of elements.
    /// assert_eq!(u32::view(&bytes[..7]), None);
    /// ```
    fn view(bytes: &[u8]) -> Option<&[Self]> {
        let _ = bytes;
        None
    }

    /// Decodes the elements in `bytes` to values of the Rust type.
    ///
    /// # Errors
    /// [`ConvertError::Value`] for the first element whose bytes are no valid value;
    /// [`ConvertError::Buffer`] if `bytes` is no whole number of elements.
    fn from_bytes(bytes: &[u8]) -> Result<Vec<Self>, ConvertError> {
        let size = Self::SIZE.max(1);
        if !bytes.len().is_multiple_of(size) {
            let count = bytes.len().checked_div(size).unwrap_or(0);
            return Err(ConvertError::Buffer { which: "source", count, element: size, got: bytes.len() });
        }
        let mut values = Vec::with_capacity(bytes.len().checked_div(size).unwrap_or(0));
        for (index, element) in bytes.chunks_exact(size).enumerate() {
            let Some(value) = Self::decode(element) else {
                let (datatype, bytes) = (Box::new(Self::datatype()), element.to_vec());
                return Err(ConvertError::Value { index, datatype, bytes });
            };
            values.push(value);
        }
        Ok(values)
    }

    /// Returns values of the Rust type as the bytes of elements, borrowed if possible.
    fn to_bytes(values: &[Self]) -> Cow<'_, [u8]> {
        if let Some(bytes) = Self::as_bytes(values) {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = vec![0; Self::SIZE * values.len()];
        for (value, element) in values.iter().zip(bytes.chunks_exact_mut(Self::SIZE.max(1))) {
            value.encode(element);
        }
        Cow::Owned(bytes)
    }

    /// Returns a vector of `count` values of the Rust type. The function `fill` writes the bytes of
    /// the values, which are zero before.
    ///
    /// Types that can be viewed as bytes need no second copy. The caller limits the memory that
    /// `count` requires.
    ///
    /// # Errors
    /// The errors of `fill`; [`ConvertError::Value`] for bytes that are no valid value;
    /// [`ConvertError::Memory`] if memory does not suffice.
    fn read_vec<E: From<ConvertError>>(
        count: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        let full = || ConvertError::Memory { count, element: size_of::<Self>().max(Self::SIZE) };
        // `try_reserve_exact` reports a lack of memory as an error. `vec!` then obtains zeroed
        // memory without writing to it.
        Vec::<Self>::new().try_reserve_exact(count).map_err(|_| full())?;
        if let Some(zero) = Self::zero() {
            let mut values = vec![zero; count];
            if let Some(bytes) = Self::as_bytes_mut(&mut values) {
                fill(bytes)?;
                return Ok(values);
            }
        }
        let length = Self::SIZE.checked_mul(count).ok_or_else(full)?;
        Vec::<u8>::new().try_reserve_exact(length).map_err(|_| full())?;
        let mut bytes = vec![0; length];
        fill(&mut bytes)?;
        Ok(Self::from_bytes(&bytes)?)
    }

    /// Overwrites a slice of values of the Rust type. The function `fill` writes the bytes of the
    /// values, as in [`read_vec`](Self::read_vec).
    ///
    /// # Errors
    /// The errors of `fill`, and [`ConvertError::Value`] for bytes that are no valid value. On an
    /// error, the values of types that can be viewed as bytes may be overwritten in part; values of
    /// other types are unchanged.
    fn read_slice<E: From<ConvertError>>(
        values: &mut [Self],
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(bytes) = Self::as_bytes_mut(values) {
            return fill(bytes);
        }
        let mut bytes = Self::to_bytes(values).into_owned();
        fill(&mut bytes)?;
        for (to, from) in values.iter_mut().zip(Self::from_bytes(&bytes)?) {
            *to = from;
        }
        Ok(())
    }
}

/// Implements `H5Type` for types for which every bit pattern is valid.
macro_rules! plain {
    ($($type:ty => $datatype:expr;)*) => {$(
        impl H5Type for $type {
            const SIZE: usize = size_of::<$type>();

            fn datatype() -> Datatype {
                $datatype
            }

            #[inline]
            fn decode(element: &[u8]) -> Option<Self> {
                bytemuck::try_pod_read_unaligned(element).ok()
            }

            #[inline]
            fn encode(&self, element: &mut [u8]) {
                let bytes = bytemuck::bytes_of(self);
                for (to, from) in element.iter_mut().zip(bytes) {
                    *to = *from;
                }
            }

            fn zero() -> Option<Self> {
                Some(bytemuck::Zeroable::zeroed())
            }

            fn as_bytes(values: &[Self]) -> Option<&[u8]> {
                Some(bytemuck::cast_slice(values))
            }

            fn as_bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(values))
            }

            fn view(bytes: &[u8]) -> Option<&[Self]> {
                bytemuck::try_cast_slice(bytes).ok()
            }
        }
    )*};
}

plain! {
    u8 => Datatype::u8();
    u16 => Datatype::u16(ByteOrder::NATIVE);
    u32 => Datatype::u32(ByteOrder::NATIVE);
    u64 => Datatype::u64(ByteOrder::NATIVE);
    i8 => Datatype::i8();
    i16 => Datatype::i16(ByteOrder::NATIVE);
    i32 => Datatype::i32(ByteOrder::NATIVE);
    i64 => Datatype::i64(ByteOrder::NATIVE);
    f16 => Datatype::f16(ByteOrder::NATIVE);
    bf16 => Datatype::bf16(ByteOrder::NATIVE);
    f32 => Datatype::f32(ByteOrder::NATIVE);
    f64 => Datatype::f64(ByteOrder::NATIVE);
    // The compound form, which every library can read. Complex numbers of the complex class convert
    // to it.
    Complex<f32> => Datatype::complex_compound(Datatype::f32(ByteOrder::NATIVE));
    Complex<f64> => Datatype::complex_compound(Datatype::f64(ByteOrder::NATIVE));
}

impl H5Type for bool {
    const SIZE: usize = 1;

    fn datatype() -> Datatype {
        Datatype::bool()
    }

    #[inline]
    fn decode(element: &[u8]) -> Option<Self> {
        match element {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    fn encode(&self, element: &mut [u8]) {
        element.fill(u8::from(*self));
    }
}

/// Arrays of fixed shape. An array of arrays becomes one array of higher rank.
///
/// ```
/// use hyperslab_datatype::H5Type;
/// assert_eq!(<[[f32; 3]; 2]>::datatype().to_string(), "array [2, 3] of f32");
/// ```
impl<T: H5Type, const N: usize> H5Type for [T; N] {
    const SIZE: usize = T::SIZE * N;

    fn datatype() -> Datatype {
        const { assert!(N <= u32::MAX as usize, "a dimension of an array must fit in 32 bits") };
        #[expect(clippy::cast_possible_truncation, reason = "checked when the program is compiled")]
        let length = N as u32;
        match T::datatype() {
            Datatype { class: DatatypeClass::Array(inner), .. } => {
                let dims: Vec<u32> = std::iter::once(length).chain(inner.dims).collect();
                Datatype::array(dims, *inner.base)
            }
            item => Datatype::array([length], item),
        }
    }

    #[inline]
    fn decode(element: &[u8]) -> Option<Self> {
        let items = element.chunks_exact(T::SIZE.max(1));
        let mut values = [T::decode(items.clone().next()?)?; N];
        for (value, item) in values.iter_mut().zip(items) {
            *value = T::decode(item)?;
        }
        Some(values)
    }

    fn encode(&self, element: &mut [u8]) {
        for (value, item) in self.iter().zip(element.chunks_exact_mut(T::SIZE.max(1))) {
            value.encode(item);
        }
    }

    fn zero() -> Option<Self> {
        T::zero().map(|zero| [zero; N])
    }

    fn as_bytes(values: &[Self]) -> Option<&[u8]> {
        T::as_bytes(values.as_flattened())
    }

    fn as_bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
        T::as_bytes_mut(values.as_flattened_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::Conversion;

    fn round_trip<T: H5Type + PartialEq + std::fmt::Debug>(values: &[T]) {
        let bytes = T::to_bytes(values).into_owned();
        assert_eq!(T::SIZE, usize::try_from(T::datatype().size).unwrap());
        assert_eq!(bytes.len(), values.len() * T::SIZE);
        assert_eq!(T::from_bytes(&bytes).unwrap(), values);
        let filled = T::read_vec(values.len(), |buffer| {
            buffer.copy_from_slice(&bytes);
            Ok::<_, ConvertError>(())
        });
        assert_eq!(filled.unwrap(), values);
        let mut encoded = vec![0xee; bytes.len() / values.len()];
        values[0].encode(&mut encoded);
        assert_eq!(encoded, bytes[..encoded.len()]);
    }

    #[test]
    fn every_type_comes_back() {
        round_trip(&[1_u8, 255]);
        round_trip(&[-1_i16, 300]);
        round_trip(&[u64::MAX, 1]);
        round_trip(&[f16::from_f32(1.5), f16::NEG_INFINITY]);
        round_trip(&[bf16::from_f32(-2.0)]);
        round_trip(&[1.5_f64, -0.0]);
        round_trip(&[Complex::new(1.0_f32, -2.0)]);
        round_trip(&[Complex::new(1.0_f64, -2.0)]);
        round_trip(&[true, false]);
        round_trip(&[[1_i16, -2], [3, 4]]);
        round_trip(&[[[true, false, true], [false; 3]]]);
    }

    #[test]
    fn bytes_lie_as_the_datatype_says() {
        let values = [258_i32, -1];
        let conversion = Conversion::new(&i32::datatype(), &Datatype::i32(ByteOrder::BigEndian)).unwrap();
        let mut big = [0; 8];
        conversion.convert(&i32::to_bytes(&values), &mut big, 2).unwrap();
        assert_eq!(big, [0, 0, 1, 2, 0xff, 0xff, 0xff, 0xff]);
        assert!(matches!(i32::to_bytes(&values), Cow::Borrowed(_)));
    }

    #[test]
    fn booleans_are_checked() {
        let got = bool::from_bytes(&[1, 0, 2]);
        assert!(matches!(got, Err(ConvertError::Value { index: 2, .. })));
        let mut values = [false; 2];
        let fill = |bytes: &mut [u8]| {
            assert_eq!(bytes, [0, 0]);
            bytes.copy_from_slice(&[0, 1]);
            Ok::<_, ConvertError>(())
        };
        bool::read_slice(&mut values, fill).unwrap();
        assert_eq!(values, [false, true]);
    }

    #[test]
    fn bytes_must_be_whole_elements() {
        assert!(matches!(u32::from_bytes(&[0; 5]), Err(ConvertError::Buffer { .. })));
    }
}
