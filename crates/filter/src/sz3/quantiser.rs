//! The linear quantiser of SZ3, which computes values from predictions and codes.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 1      | kind of quantiser: 2
//! 8      | maximum error e
//! 4      | code r of a value that equals its prediction
//! 8      | number n of values that could not be predicted
//! n s    | the values that could not be predicted
//! ```
//! A code c other than 0 adds 2 e (c - r) to the prediction. Code 0 takes the next value that could
//! not be predicted.

use super::bytes::Bytes;
use super::corrupt;
use super::value::Value;
use crate::Result;

/// A linear quantiser of SZ3. It converts integers to differences from the predicted value.
#[derive(Debug)]
pub(super) struct Quantiser<'a> {
    /// The maximum error.
    pub(super) bound: f64,
    radius: i32,
    unpredicted: Bytes<'a>,
}

impl<'a> Quantiser<'a> {
    /// Parses the quantiser of an SZ3 chunk for values of `size` bytes.
    pub(super) fn parse(bytes: &mut Bytes<'a>, size: usize) -> Result<Self> {
        if bytes.byte()? != 2 {
            return Err(corrupt("the kind of quantiser is unknown"));
        }
        let (bound, radius) = (bytes.real()?, bytes.int()?);
        let count = bytes.size()?;
        Ok(Self { bound, radius, unpredicted: Bytes::new(bytes.items(count, size)?) })
    }

    #[inline]
    pub(super) fn recover<V: Value>(&mut self, predicted: V, code: i32) -> Result<V> {
        if code == 0 {
            let bytes = self.unpredicted.take(V::SIZE)?;
            return V::read(bytes).ok_or_else(|| {
                corrupt("the list of values that SZ3 stores without prediction is too short")
            });
        }
        let steps = code.wrapping_sub(self.radius).wrapping_mul(2);
        Ok(V::from_real(predicted.real() + f64::from(steps) * self.bound))
    }
}
