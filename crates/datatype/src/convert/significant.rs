//! Fast loops that convert from n-bit integers: integers that use some of the bits of a machine
//! word.

use std::sync::Arc;

use super::Result;
use super::kernel::Kernel;
use super::native;
use super::rules::{Conversions, Planned};
use crate::{ByteOrder, Datatype, DatatypeClass};

/// The number of elements that the conversion from n-bit integers (integers that use some of the
/// bits of an element) handles in one block. The bytes of a block fit in the processor's
/// first-level cache.
const BLOCK_ELEMENTS: usize = 512;

/// A conversion kernel for source elements in which only some bits are significant. Extracts the
/// significant bits as machine integers of the source's size, and converts these integers.
#[derive(Debug)]
struct Significant {
    size: usize,
    take: fn(&[u8], &mut [u8], Shifts),
    shifts: Shifts,
    /// The conversion from the machine's integer; `None` if the destination has this type.
    then: Option<native::Checked>,
    destination_size: usize,
}

/// The two shifts that extract the significant bits of a number from its machine word. The left
/// shift drops higher bits, and the right shift then drops lower bits.
#[derive(Debug, Clone, Copy)]
struct Shifts {
    up: u32,
    down: u32,
}

macro_rules! take {
    ($name:ident, $word:ty, $value:ty) => {
        fn $name<const BIG: bool>(source: &[u8], values: &mut [u8], shifts: Shifts) {
            let elements = source.as_chunks::<{ size_of::<$word>() }>().0;
            let values = values.as_chunks_mut::<{ size_of::<$word>() }>().0;
            for (from, to) in elements.iter().zip(values) {
                let word = if BIG { <$word>::from_be_bytes(*from) } else { <$word>::from_le_bytes(*from) };
                // As the type `value`, so that the right shift copies the sign of signed integers.
                let value = <$value>::from_le_bytes(word.wrapping_shl(shifts.up).to_le_bytes());
                *to = value.wrapping_shr(shifts.down).to_le_bytes();
            }
        }
    };
}

take!(take_u8, u8, u8);
take!(take_u16, u16, u16);
take!(take_u32, u32, u32);
take!(take_u64, u64, u64);
take!(take_i8, u8, i8);
take!(take_i16, u16, i16);
take!(take_i32, u32, i32);
take!(take_i64, u64, i64);

impl Kernel for Significant {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let Some(then) = &self.then else {
            (self.take)(source, destination, self.shifts);
            return Ok(());
        };
        let mut values = [0; BLOCK_ELEMENTS * 8];
        let parts = source.chunks(BLOCK_ELEMENTS * self.size);
        for (from, to) in parts.zip(destination.chunks_mut(BLOCK_ELEMENTS * self.destination_size)) {
            // An integer has at most 8 bytes.
            let values = values.split_at_mut(from.len()).0;
            (self.take)(from, values, self.shifts);
            then.run(values, to);
        }
        Ok(())
    }
}

pub(super) fn rule(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let DatatypeClass::FixedPoint(fixed) = &source.class else { return Ok(None) };
    let Some(bits) = source.size.checked_mul(8) else { return Ok(None) };
    let (offset, precision) = (u32::from(fixed.bit_offset), u32::from(fixed.precision));
    let Some(up) = bits.checked_sub(offset + precision).filter(|_| precision > 0) else {
        return Ok(None);
    };
    if conversions.exceptions().handles_numbers() {
        return Ok(None);
    }
    let big = fixed.order == ByteOrder::BigEndian;
    macro_rules! of {
        ($take:ident) => {
            if big { $take::<true> } else { $take::<false> }
        };
    }
    let take: fn(&[u8], &mut [u8], Shifts) = match (source.size, fixed.signed) {
        (1, false) => of!(take_u8),
        (2, false) => of!(take_u16),
        (4, false) => of!(take_u32),
        (8, false) => of!(take_u64),
        (1, true) => of!(take_i8),
        (2, true) => of!(take_i16),
        (4, true) => of!(take_i32),
        (8, true) => of!(take_i64),
        _ => return Ok(None),
    };
    let (Some(size), Some(destination_size), Ok(length)) =
        (super::size_of(source), super::size_of(destination), u16::try_from(source.size))
    else {
        return Ok(None);
    };
    let whole = Datatype::integer(length, fixed.signed, ByteOrder::LittleEndian);
    let is_whole = destination.size == source.size
        && matches!(&destination.class, DatatypeClass::FixedPoint(to)
            if to.bit_offset == 0 && u32::from(to.precision) == bits && to.signed == fixed.signed
                && (to.order == ByteOrder::LittleEndian || destination.size == 1));
    let then = if is_whole { None } else { native::Checked::new(&whole, destination) };
    if then.is_none() && !is_whole {
        return Ok(None);
    }
    let shifts = Shifts { up, down: bits - precision };
    Ok(Some(Arc::new(Significant { size, take, shifts, then, destination_size })))
}
