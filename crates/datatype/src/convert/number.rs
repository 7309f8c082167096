//! Numbers of any layout: read to a value that holds them exactly, written from it.

use std::sync::Arc;

use super::bits::{self, Limbs};
use super::fixed::FixedFrame;
use super::float::{FloatFrame, split};
use super::kernel::{Each, Element};
use super::rules::{Conversions, Planned};
use super::{Result, size_of};
use crate::{Datatype, DatatypeClass};

/// An integer of any length.
#[derive(Debug, Default)]
pub(super) struct Integer {
    pub(super) negative: bool,
    pub(super) magnitude: Limbs,
}

/// A floating-point number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) magnitude: Magnitude,
}

/// A floating-point number without its sign.
#[derive(Debug, Clone, Copy)]
pub(super) enum Magnitude {
    Zero,
    /// `significand` times two to the power `exponent`, and a little more if `sticky`.
    Finite {
        significand: u128,
        exponent: i64,
        sticky: bool,
    },
    Infinite,
    /// The mantissa below the leading bit, from the top of 128 bits down.
    NotANumber {
        payload: u128,
    },
}

/// A layout of numbers.
#[derive(Debug)]
enum Layout {
    Fixed(FixedFrame),
    Float(FloatFrame),
}

impl Layout {
    fn new(datatype: &Datatype) -> Option<Self> {
        match &datatype.class {
            DatatypeClass::FixedPoint(fixed) => FixedFrame::new(datatype, fixed).map(Self::Fixed),
            DatatypeClass::FloatingPoint(float) => FloatFrame::new(datatype, float).map(Self::Float),
            _ => None,
        }
    }
}

/// Converts a number between two layouts.
#[derive(Debug)]
struct AnyNumber {
    from: Layout,
    to: Layout,
}

impl Element for AnyNumber {
    type Scratch = (Integer, Limbs);

    fn convert(&self, source: &[u8], destination: &mut [u8], (integer, limbs): &mut Self::Scratch) {
        match (&self.from, &self.to) {
            (Layout::Fixed(from), Layout::Fixed(to)) => {
                from.read(source, integer, limbs);
                to.write(integer, destination, limbs);
            }
            (Layout::Fixed(from), Layout::Float(to)) => {
                from.read(source, integer, limbs);
                to.write(&from_integer(integer), destination, limbs);
            }
            (Layout::Float(from), Layout::Float(to)) => {
                let number = from.read(source, limbs);
                to.write(&number, destination, limbs);
            }
            (Layout::Float(from), Layout::Fixed(to)) => {
                let number = from.read(source, limbs);
                if to_integer(&number, to.precision(), integer) {
                    to.write(integer, destination, limbs);
                } else {
                    to.write_limit(number.negative, destination, limbs);
                }
            }
        }
    }
}

/// The top bits of an integer and whether there are more below.
fn from_integer(integer: &Integer) -> Number {
    let length = bits::bit_length(&integer.magnitude);
    let dropped = length.saturating_sub(128);
    let low = bits::get(&integer.magnitude, dropped, 64);
    let high = bits::get(&integer.magnitude, dropped + 64, 64);
    let significand = u128::from(high) << 64 | u128::from(low);
    let sticky =
        (0..dropped).step_by(64).any(|at| bits::get(&integer.magnitude, at, (dropped - at).min(64)) != 0);
    let magnitude = match significand {
        0 => Magnitude::Zero,
        _ => Magnitude::Finite { significand, exponent: i64::from(dropped), sticky },
    };
    Number { negative: integer.negative, magnitude }
}

/// Cuts a number towards zero. Gives `false` if its magnitude surely passes `precision` bits.
fn to_integer(number: &Number, precision: u32, integer: &mut Integer) -> bool {
    integer.negative = number.negative;
    let (significand, exponent) = match number.magnitude {
        Magnitude::Infinite => return false,
        Magnitude::Zero | Magnitude::NotANumber { .. } => (0, 0),
        Magnitude::Finite { significand, exponent, .. } => (significand, exponent),
    };
    let length = i64::from(128 - significand.leading_zeros());
    if exponent.saturating_add(length) > i64::from(precision) + 1 {
        return false;
    }
    bits::zero(&mut integer.magnitude, precision + 128);
    let left = u32::try_from(exponent).unwrap_or(0);
    let right = u32::try_from(exponent.min(0).unsigned_abs()).unwrap_or(u32::MAX);
    let value = significand.checked_shr(right).unwrap_or(0);
    bits::copy(&split(value), 0, &mut integer.magnitude, left, 128);
    true
}

pub(super) fn rule(source: &Datatype, destination: &Datatype, _: &Conversions) -> Result<Planned> {
    let plan = || {
        let each = AnyNumber { from: Layout::new(source)?, to: Layout::new(destination)? };
        let (source_size, destination_size) = (size_of(source)?, size_of(destination)?);
        Some(Each { source_size, destination_size, each })
    };
    Ok(plan().map(|kernel| Arc::new(kernel) as _))
}
