//! Fast loops for integers that go into some of the bits of a machine word, as n-bit data do.

use std::sync::Arc;

use super::Result;
use super::kernel::Kernel;
use super::rules::{Conversions, Planned};
use super::{native, significant};
use crate::{ByteOrder, Datatype, DatatypeClass, FixedPoint, Padding};

/// Elements that are put together at once: they stay in the fastest cache.
const BLOCK: usize = 512;

/// Converts to the machine's integer of the destination's size, then puts the nearest value that there is room for
/// into its bits.
#[derive(Debug)]
struct Packed {
    /// Nothing is to be done first where the source is that integer.
    first: Option<Arc<dyn Kernel>>,
    source_size: usize,
    destination_size: usize,
    put: fn(&[u8], &mut [u8], Place),
    place: Place,
}

/// Where the bits of an integer go in its word.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Bits of the word that are not the integer's.
    spare: u32,
    /// Bits below it.
    offset: u32,
    /// The spare bits that are one.
    padding: u64,
}

macro_rules! put {
    ($name:ident, $value:ty, $word:ty) => {
        fn $name<const BIG: bool>(values: &[u8], destination: &mut [u8], place: Place) {
            let (low, high) =
                (<$value>::MIN.wrapping_shr(place.spare), <$value>::MAX.wrapping_shr(place.spare));
            let mask = <$word>::MAX.wrapping_shr(place.spare);
            // Saturates in no case: the padding has as many bits as the word.
            let padding = <$word>::try_from(place.padding).unwrap_or(<$word>::MAX);
            let values = values.as_chunks::<{ size_of::<$word>() }>().0;
            let elements = destination.as_chunks_mut::<{ size_of::<$word>() }>().0;
            for (from, to) in values.iter().zip(elements) {
                let value = <$value>::from_le_bytes(*from).clamp(low, high);
                let bits = <$word>::from_le_bytes(value.to_le_bytes()) & mask;
                let word = bits.wrapping_shl(place.offset) | padding;
                *to = if BIG { word.to_be_bytes() } else { word.to_le_bytes() };
            }
        }
    };
}

put!(put_u8, u8, u8);
put!(put_u16, u16, u16);
put!(put_u32, u32, u32);
put!(put_u64, u64, u64);
put!(put_i8, i8, u8);
put!(put_i16, i16, u16);
put!(put_i32, i32, u32);
put!(put_i64, i64, u64);

impl Kernel for Packed {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let Some(first) = &self.first else {
            (self.put)(source, destination, self.place);
            return Ok(());
        };
        let mut values = [0; BLOCK * 8];
        let parts = source.chunks(BLOCK * self.source_size);
        for (from, to) in parts.zip(destination.chunks_mut(BLOCK * self.destination_size)) {
            // At most 8 bytes for each of the elements of a block.
            let values = values.split_at_mut(to.len()).0;
            first.run(from, values)?;
            (self.put)(values, to, self.place);
        }
        Ok(())
    }
}

impl Place {
    /// Where the bits of an integer are in a word of `bits`. `None` if the type contradicts itself, or if spare bits
    /// keep what was there before.
    fn new(fixed: &FixedPoint, bits: u32) -> Option<Self> {
        let (offset, precision) = (u32::from(fixed.bit_offset), u32::from(fixed.precision));
        let above = bits.checked_sub(offset.checked_add(precision)?).filter(|_| precision > 0)?;
        let pad = |pad: Padding, count: u32| match pad {
            _ if count == 0 => Some(0),
            Padding::Zero => Some(0),
            Padding::One => Some(1_u64.checked_shl(count)?.wrapping_sub(1)),
            Padding::Background => None,
        };
        let high = pad(fixed.high_pad, above)?.wrapping_shl(bits - above);
        Some(Self { spare: bits - precision, offset, padding: pad(fixed.low_pad, offset)? | high })
    }
}

pub(super) fn rule(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let DatatypeClass::FixedPoint(fixed) = &destination.class else { return Ok(None) };
    if conversions.exceptions().asks_about_numbers() {
        return Ok(None);
    }
    let big = fixed.order == ByteOrder::BigEndian;
    macro_rules! of {
        ($put:ident) => {
            if big { $put::<true> } else { $put::<false> }
        };
    }
    let put: fn(&[u8], &mut [u8], Place) = match (destination.size, fixed.signed) {
        (1, false) => of!(put_u8),
        (2, false) => of!(put_u16),
        (4, false) => of!(put_u32),
        (8, false) => of!(put_u64),
        (1, true) => of!(put_i8),
        (2, true) => of!(put_i16),
        (4, true) => of!(put_i32),
        (8, true) => of!(put_i64),
        _ => return Ok(None),
    };
    let Some(place) = Place::new(fixed, destination.size * 8) else { return Ok(None) };
    let (Some(source_size), Some(destination_size)) = (super::size_of(source), super::size_of(destination))
    else {
        return Ok(None);
    };
    let Ok(length) = u16::try_from(destination_size) else { return Ok(None) };
    let whole = Datatype::integer(length, fixed.signed, ByteOrder::LittleEndian);
    let first = if *source == whole {
        None
    } else {
        let first = match native::rule(source, &whole, conversions)? {
            None => significant::rule(source, &whole, conversions)?,
            planned => planned,
        };
        let Some(first) = first else { return Ok(None) };
        Some(first)
    };
    Ok(Some(Arc::new(Packed { first, source_size, destination_size, put, place })))
}
