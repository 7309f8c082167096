//! Conversion of numbers of any layout: each number is decoded to an exact value, which is then
//! encoded.

use std::sync::Arc;

use super::bits::{self, Limbs};
use super::fixed::FixedFrame;
use super::float::{FloatFrame, split};
use super::kernel::{Each, Element, Kernel};
use super::rules::{Conversions, Planned};
use super::{Exception, ExceptionKind, Exceptions, Result, native, size_of};
use crate::{Datatype, DatatypeClass};

/// An integer of any size in memory during a conversion: sign and magnitude.
#[derive(Debug, Default)]
pub(super) struct Integer {
    pub(super) negative: bool,
    pub(super) magnitude: Limbs,
}

/// A floating-point number of any format in memory during a conversion: sign and magnitude.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) magnitude: Magnitude,
}

/// The absolute value of a floating-point number during a conversion.
#[derive(Debug, Clone, Copy)]
pub(super) enum Magnitude {
    Zero,
    /// The value `significand` times two to the power `exponent`. If `sticky` is set, the exact
    /// value is slightly larger.
    Finite {
        significand: u128,
        exponent: i64,
        sticky: bool,
    },
    Infinite,
    /// A NaN. The payload is the mantissa below the leading bit, aligned to the top of 128 bits.
    NotANumber {
        payload: u128,
    },
}

/// The layout of an integer or a floating-point number in an element of its datatype.
#[derive(Debug)]
enum Layout {
    Fixed(FixedFrame),
    Float(FloatFrame),
}

impl Layout {
    /// Returns the layout of numbers in elements of a datatype. Returns `None` for datatypes that
    /// are not numbers, and for invalid layouts.
    fn new(datatype: &Datatype) -> Option<Self> {
        match &datatype.class {
            DatatypeClass::FixedPoint(fixed) => FixedFrame::new(datatype, fixed).map(Self::Fixed),
            DatatypeClass::FloatingPoint(float) => FloatFrame::new(datatype, float).map(Self::Float),
            _ => None,
        }
    }
}

/// A conversion of numbers between any two datatypes of numbers, one number at a time.
#[derive(Debug)]
struct AnyNumber {
    from: Layout,
    to: Layout,
}

type Scratch = (Integer, Limbs);

impl Element for AnyNumber {
    type Scratch = Scratch;

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

/// Converts an integer of any size to a floating-point number. The significand gets the top bits of
/// the integer. `sticky` is set if any of the bits below is set.
fn from_integer(integer: &Integer) -> Number {
    let length = bits::bit_length(&integer.magnitude);
    // `dropped` is the number of bits below the top 128 bits.
    let dropped = length.max(128) - 128;
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

impl AnyNumber {
    /// Returns the kind of conversion exception for the number in the element `source`. Returns
    /// `None` if the destination datatype can represent the number.
    fn exception(&self, source: &[u8], (integer, limbs): &mut Scratch) -> Option<ExceptionKind> {
        match (&self.from, &self.to) {
            (Layout::Fixed(from), Layout::Fixed(to)) => {
                from.read(source, integer, limbs);
                to.range_exception(integer)
            }
            (Layout::Fixed(from), Layout::Float(to)) => {
                from.read(source, integer, limbs);
                let length = bits::bit_length(&integer.magnitude);
                let digits = length - bits::trailing_zeros(&integer.magnitude);
                to.range_exception(&from_integer(integer))
                    .or((digits > to.digits()).then_some(ExceptionKind::Precision))
            }
            (Layout::Float(from), Layout::Float(to)) => to.range_exception(&from.read(source, limbs)),
            (Layout::Float(from), Layout::Fixed(to)) => {
                to_integer_exception(&from.read(source, limbs), to, integer)
            }
        }
    }
}

/// Returns the kind of conversion exception for a floating-point number that the integer datatype
/// cannot represent. Returns `None` for other numbers.
fn to_integer_exception(number: &Number, to: &FixedFrame, integer: &mut Integer) -> Option<ExceptionKind> {
    let (low, high) = (Some(ExceptionKind::RangeLow), Some(ExceptionKind::RangeHigh));
    let (significand, exponent, sticky) = match (number.magnitude, number.negative) {
        (Magnitude::Zero, _) => return None,
        (Magnitude::Infinite, false) => return Some(ExceptionKind::PositiveInfinity),
        (Magnitude::Infinite, true) => return Some(ExceptionKind::NegativeInfinity),
        (Magnitude::NotANumber { .. }, _) => return Some(ExceptionKind::NotANumber),
        (Magnitude::Finite { significand, exponent, sticky }, _) => (significand, exponent, sticky),
    };
    if !to_integer(number, to.precision(), integer) {
        return if number.negative { low } else { high };
    }
    if let Some(kind) = to.range_exception(integer) {
        return Some(kind);
    }
    let cut = exponent < 0 && i64::from(significand.trailing_zeros()) < -exponent;
    if !cut && !sticky {
        return None;
    }
    // At the limit of the range, a fraction makes the value out of range.
    match to.is_limit(integer) {
        true if number.negative => low,
        true => high,
        false => Some(ExceptionKind::Truncate),
    }
}

/// A conversion kernel that converts numbers and handles exceptions.
#[derive(Debug)]
struct WithExceptions {
    numbers: Each<AnyNumber>,
    from: Datatype,
    to: Datatype,
    exceptions: Exceptions,
    /// The fast loop for these types, with its check for exceptions.
    fast: Option<native::Checked>,
}

/// The number of elements that the fast conversion loop for numbers converts in one block.
const BLOCK_ELEMENTS: usize = 512;

impl WithExceptions {
    /// Converts the numbers of `source` one by one into `destination`, and handles exceptions.
    fn run_each(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let mut scratch = Scratch::default();
        let (from_size, to_size) = (self.numbers.source_size, self.numbers.destination_size);
        let sources = source.chunks_exact(from_size);
        for (at, (from, to)) in sources.zip(destination.chunks_exact_mut(to_size)).enumerate() {
            if let Some(kind) = self.numbers.each.exception(from, &mut scratch) {
                let exception = Exception { kind, from: &self.from, to: &self.to, source: from };
                let here = |_| at * from_size;
                if self.exceptions.handle(&exception, to).map_err(|error| error.map_index(here))? {
                    continue;
                }
            }
            self.numbers.each.convert(from, to, &mut scratch);
        }
        Ok(())
    }
}

impl Kernel for WithExceptions {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let Some(fast) = &self.fast else { return self.run_each(source, destination) };
        let (from_size, to_size) = (self.numbers.source_size, self.numbers.destination_size);
        let sources = source.chunks(from_size * BLOCK_ELEMENTS);
        let destinations = destination.chunks_mut(to_size * BLOCK_ELEMENTS);
        for (block, (from, to)) in sources.zip(destinations).enumerate() {
            if fast.is_exact(from) {
                fast.run(from, to);
                continue;
            }
            let before = block * BLOCK_ELEMENTS * from_size;
            self.run_each(from, to).map_err(|error| error.map_index(|at| at + before))?;
        }
        Ok(())
    }
}

/// Truncates a floating-point number towards zero to an integer. If the result certainly needs more
/// than `precision` bits, returns false.
fn to_integer(number: &Number, precision: u32, integer: &mut Integer) -> bool {
    integer.negative = number.negative;
    let (significand, exponent) = match number.magnitude {
        Magnitude::Infinite => return false,
        Magnitude::Zero | Magnitude::NotANumber { .. } => (0, 0),
        Magnitude::Finite { significand, exponent, .. } => (significand, exponent),
    };
    let length = i64::from(128 - significand.leading_zeros());
    if exponent + length > i64::from(precision) + 1 {
        return false;
    }
    bits::zero(&mut integer.magnitude, precision + 128);
    // The integer part of the number has at most `precision` + 1 bits.
    let Ok(shift) = u32::try_from(exponent.max(0)) else { return false };
    // Shifting by 128 clears all bits.
    let right = exponent.min(0).unsigned_abs().min(128) as u32;
    let value = significand.checked_shr(right).unwrap_or(0);
    bits::copy(&split(value), 0, &mut integer.magnitude, shift, 128);
    true
}

pub(super) fn rule(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let plan = || {
        let each = AnyNumber { from: Layout::new(source)?, to: Layout::new(destination)? };
        let (source_size, destination_size) = (size_of(source)?, size_of(destination)?);
        Some(Each { source_size, destination_size, each })
    };
    let Some(numbers) = plan() else { return Ok(None) };
    let exceptions = conversions.exceptions();
    if !exceptions.handles_numbers() {
        return Ok(Some(Arc::new(numbers)));
    }
    let (from, to, exceptions) = (source.clone(), destination.clone(), exceptions.clone());
    let fast = native::Checked::new(source, destination);
    Ok(Some(Arc::new(WithExceptions { numbers, from, to, exceptions, fast })))
}
