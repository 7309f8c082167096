//! Fast loops that convert integers to n-bit integers: integers that use some of the bits of a
//! machine word.

use std::sync::Arc;

use super::Result;
use super::kernel::Kernel;
use super::rules::{Conversions, Planned};
use super::{native, significant};
use crate::{ByteOrder, Datatype, DatatypeClass, FixedPoint, Padding};

/// The number of elements that the conversion to n-bit integers (integers that use some of the bits
/// of an element) handles in one block. The bytes of a block fit in the processor's first-level
/// cache.
const BLOCK_ELEMENTS: usize = 512;

/// A conversion kernel that packs integers into some of the bits of each destination element.
/// Converts numbers to machine integers of the destination's size, clamps these integers, and moves
/// their bits to the position in the element.
#[derive(Debug)]
struct Packed {
    /// The conversion to the machine's integer; `None` if the source already has this type.
    first: Option<Arc<dyn Kernel>>,
    source_size: usize,
    destination_size: usize,
    put: fn(&[u8], &mut [u8], BitPosition),
    position: BitPosition,
}

/// The position of an integer's bits in a machine word. Used for conversions to integers that do
/// not fill their elements.
#[derive(Debug, Clone, Copy)]
struct BitPosition {
    /// The number of bits of the word that do not belong to the integer.
    spare: u32,
    /// The number of bits below the integer.
    offset: u32,
    /// The padding bits that are 1.
    padding: u64,
}

macro_rules! put {
    ($name:ident, $value:ty, $word:ty) => {
        fn $name<const BIG: bool>(values: &[u8], destination: &mut [u8], position: BitPosition) {
            let (low, high) =
                (<$value>::MIN.wrapping_shr(position.spare), <$value>::MAX.wrapping_shr(position.spare));
            let mask = <$word>::MAX.wrapping_shr(position.spare);
            // Never saturates: the padding has as many bits as the word.
            let padding = <$word>::try_from(position.padding).unwrap_or(<$word>::MAX);
            let values = values.as_chunks::<{ size_of::<$word>() }>().0;
            let elements = destination.as_chunks_mut::<{ size_of::<$word>() }>().0;
            for (from, to) in values.iter().zip(elements) {
                let value = <$value>::from_le_bytes(*from).clamp(low, high);
                let bits = <$word>::from_le_bytes(value.to_le_bytes()) & mask;
                let word = bits.wrapping_shl(position.offset) | padding;
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
            (self.put)(source, destination, self.position);
            return Ok(());
        };
        let mut values = [0; BLOCK_ELEMENTS * 8];
        let parts = source.chunks(BLOCK_ELEMENTS * self.source_size);
        for (from, to) in parts.zip(destination.chunks_mut(BLOCK_ELEMENTS * self.destination_size)) {
            // An integer has at most 8 bytes.
            let values = values.split_at_mut(to.len()).0;
            first.run(from, values)?;
            (self.put)(values, to, self.position);
        }
        Ok(())
    }
}

impl BitPosition {
    /// Returns the position of an integer's bits in a word of `bits` bits. Returns `None` if the
    /// integer does not fit. Also returns `None` if the conversion must keep the padding of the
    /// destination.
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
    if conversions.exceptions().handles_numbers() {
        return Ok(None);
    }
    let big = fixed.order == ByteOrder::BigEndian;
    macro_rules! of {
        ($put:ident) => {
            if big { $put::<true> } else { $put::<false> }
        };
    }
    let put: fn(&[u8], &mut [u8], BitPosition) = match (destination.size, fixed.signed) {
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
    let Some(position) = BitPosition::new(fixed, destination.size * 8) else { return Ok(None) };
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
    Ok(Some(Arc::new(Packed { first, source_size, destination_size, put, position })))
}
