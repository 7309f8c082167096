//! From predicted values to values.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 1      | 2
//! 8      | largest error e
//! 4      | code r of a value that is as predicted
//! 8      | values n that could not be predicted
//! n s    | these values
//! ```
//! A code c other than 0 adds 2 e (c - r) to what is predicted; 0 takes the next of those values.

use super::bytes::Bytes;
use super::corrupt;
use super::value::Value;
use crate::Result;

/// What makes values of codes.
#[derive(Debug)]
pub(super) struct Quantiser<'a> {
    /// Largest error.
    pub(super) bound: f64,
    radius: i32,
    unpredicted: Bytes<'a>,
}

impl<'a> Quantiser<'a> {
    /// Reads one for values of `size` bytes.
    pub(super) fn parse(bytes: &mut Bytes<'a>, size: usize) -> Result<Self> {
        if bytes.byte()? != 2 {
            return Err(corrupt("an unknown quantiser"));
        }
        let (bound, radius) = (bytes.real()?, bytes.int()?);
        let count = bytes.size()?;
        Ok(Self { bound, radius, unpredicted: Bytes::new(bytes.items(count, size)?) })
    }

    #[inline]
    pub(super) fn recover<V: Value>(&mut self, predicted: V, code: i32) -> Result<V> {
        if code == 0 {
            let bytes = self.unpredicted.take(V::SIZE)?;
            return V::read(bytes).ok_or_else(|| corrupt("a value is missing"));
        }
        let steps = code.wrapping_sub(self.radius).wrapping_mul(2);
        Ok(V::from_real(predicted.real() + f64::from(steps) * self.bound))
    }
}
