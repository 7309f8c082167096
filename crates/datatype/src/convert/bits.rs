//! Elements as sequences of bits, least significant bit first, independent of the byte order.

use smallvec::SmallVec;

use crate::{FloatOrder, Padding};

/// The bits of a number during a conversion, in words of 64 bits (limbs), least significant limb
/// first.
pub(super) type Limbs = SmallVec<[u64; 3]>;

/// Returns a mask of the low `count` bits of a 64-bit word. If `count` exceeds 64, the mask has all
/// bits.
pub(super) fn mask(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// Splits the position of a bit in a number into two parts: the index of the 64-bit limb, and the
/// position within the limb.
fn limb_and_shift(position: u32) -> (usize, u32) {
    ((position / 64) as usize, position % 64)
}

/// Returns `count` (at most 64) bits of a number in 64-bit limbs. The first bit is at `position`.
/// Bits beyond the limbs are zero.
pub(super) fn get(limbs: &[u64], position: u32, count: u32) -> u64 {
    let (index, shift) = limb_and_shift(position);
    let low = limbs.get(index).copied().unwrap_or(0) >> shift;
    let high = if shift == 0 { 0 } else { limbs.get(index + 1).copied().unwrap_or(0) << (64 - shift) };
    (low | high) & mask(count)
}

/// Overwrites `count` (at most 64) bits of a number in 64-bit limbs by the low bits of `value`. The
/// first bit is at `position`. Bits beyond the limbs are ignored.
pub(super) fn set(limbs: &mut [u64], position: u32, count: u32, value: u64) {
    let (index, shift) = limb_and_shift(position);
    let (value, mask) = (value & mask(count), mask(count));
    if let Some(limb) = limbs.get_mut(index) {
        *limb = *limb & !(mask << shift) | value << shift;
    }
    if shift > 0
        && let Some(limb) = limbs.get_mut(index + 1)
    {
        *limb = *limb & !(mask >> (64 - shift)) | value >> (64 - shift);
    }
}

/// Copies `count` bits from the bit `from_position` of one number to the bit `to_position` of
/// another. Both numbers are in 64-bit limbs.
pub(super) fn copy(from: &[u64], from_position: u32, to: &mut [u64], to_position: u32, count: u32) {
    for done in (0..count).step_by(64) {
        let chunk = (count - done).min(64);
        set(to, to_position + done, chunk, get(from, from_position + done, chunk));
    }
}

/// Sets the bits `start..end` of a number in 64-bit limbs to 1.
pub(super) fn fill(limbs: &mut [u64], start: u32, end: u32) {
    for position in (start..end).step_by(64) {
        set(limbs, position, (end - position).min(64), u64::MAX);
    }
}

/// Returns one more than the position of the highest set bit of a number in 64-bit limbs; 0 if no
/// bit is set.
pub(super) fn bit_length(limbs: &[u64]) -> u32 {
    let highest = (0_u32..).zip(limbs).filter(|(_, limb)| **limb != 0).last();
    highest.map_or(0, |(index, limb)| index * 64 + (64 - limb.leading_zeros()))
}

/// Returns the number of zero bits below the lowest set bit of a number in 64-bit limbs; 0 if no
/// bit is set.
pub(super) fn trailing_zeros(limbs: &[u64]) -> u32 {
    let lowest = (0_u32..).zip(limbs).find(|(_, limb)| **limb != 0);
    lowest.map_or(0, |(index, limb)| index * 64 + limb.trailing_zeros())
}

/// Replaces a number in 64-bit limbs by its two's complement.
pub(super) fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        let (value, overflow) = (!*limb).overflowing_add(u64::from(carry));
        *limb = value;
        carry = overflow;
    }
}

/// Resizes the 64-bit limbs of a number for `bits` bits, and clears all bits.
pub(super) fn zero(limbs: &mut Limbs, bits: u32) {
    limbs.clear();
    limbs.resize(bits.div_ceil(64) as usize, 0);
}

/// The byte order of a number in an element of a dataset, and the padding bits around the number.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    order: FloatOrder,
    /// The number of limbs that contain the fields and the padding below them.
    limbs: u32,
    /// The padding bits that are 1, within the limbs.
    padding: Limbs,
    /// The bits of the destination that are kept, within the limbs; `None` if the element has no
    /// such padding.
    background: Option<Limbs>,
    /// The padding of the bytes above the limbs.
    high: Padding,
}

impl Frame {
    /// Creates the description of byte order and padding for a number in an element of `size`
    /// bytes. `end` is the position after the highest bit of the number.
    ///
    /// `pads` are ranges of padding; the last one extends to the end of the element. A field that
    /// overlaps a range is written over it. Returns `None` if the byte order is impossible for the
    /// size.
    pub(super) fn new(
        order: FloatOrder,
        size: usize,
        end: u32,
        pads: &[(u32, u32, Padding)],
    ) -> Option<Self> {
        if order == FloatOrder::Vax && !size.is_multiple_of(2) {
            return None;
        }
        let bits = end.div_ceil(64) * 64;
        let (mut padding, mut background) = (Limbs::new(), Limbs::new());
        zero(&mut padding, bits);
        zero(&mut background, bits);
        for (start, end, pad) in pads {
            match pad {
                Padding::Zero => {}
                Padding::One => fill(&mut padding, *start, (*end).min(bits)),
                Padding::Background => fill(&mut background, *start, (*end).min(bits)),
            }
        }
        let high = pads.last().map_or(Padding::Zero, |(_, _, pad)| *pad);
        let keeps = pads.iter().any(|(start, end, pad)| *pad == Padding::Background && start < end);
        Some(Self { order, limbs: bits / 64, padding, background: keeps.then_some(background), high })
    }

    /// Loads a number from the bytes of an element into 64-bit limbs. Bits above the number are not
    /// loaded.
    pub(super) fn load(&self, bytes: &[u8], limbs: &mut Limbs) {
        zero(limbs, self.limbs * 64);
        match self.order {
            FloatOrder::LittleEndian => load_from(bytes.iter(), limbs),
            FloatOrder::BigEndian => load_from(bytes.iter().rev(), limbs),
            FloatOrder::Vax => load_from(bytes.rchunks(2).flatten(), limbs),
        }
    }

    /// Initializes the limbs of a number with the padding of its datatype, or with bits of the
    /// destination element that must not change. The bits of the number are set later.
    pub(super) fn start(&self, bytes: &[u8], limbs: &mut Limbs) {
        let Some(background) = &self.background else {
            limbs.clone_from(&self.padding);
            return;
        };
        self.load(bytes, limbs);
        for ((limb, keep), pad) in limbs.iter_mut().zip(background).zip(&self.padding) {
            *limb = *limb & keep | pad;
        }
    }

    /// Writes the bits of a number from 64-bit limbs to the destination element. Also writes the
    /// padding bits above the number.
    pub(super) fn store(&self, limbs: &[u64], bytes: &mut [u8]) {
        match self.order {
            FloatOrder::LittleEndian => self.store_to(limbs, bytes.iter_mut()),
            FloatOrder::BigEndian => self.store_to(limbs, bytes.iter_mut().rev()),
            FloatOrder::Vax => self.store_to(limbs, bytes.rchunks_mut(2).flatten()),
        }
    }

    fn store_to<'a>(&self, limbs: &[u64], mut bytes: impl Iterator<Item = &'a mut u8>) {
        for limb in limbs {
            for (value, byte) in limb.to_le_bytes().into_iter().zip(&mut bytes) {
                *byte = value;
            }
        }
        match self.high {
            Padding::Zero => bytes.for_each(|byte| *byte = 0),
            Padding::One => bytes.for_each(|byte| *byte = 0xff),
            Padding::Background => {}
        }
    }
}

fn load_from<'a>(mut bytes: impl Iterator<Item = &'a u8>, limbs: &mut [u64]) {
    for limb in limbs {
        let mut word = [0_u8; 8];
        for (to, from) in word.iter_mut().zip(&mut bytes) {
            *to = *from;
        }
        *limb = u64::from_le_bytes(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_across_limbs() {
        let mut limbs = [0_u64; 2];
        set(&mut limbs, 60, 8, 0xab);
        assert_eq!(limbs, [0xb << 60, 0xa]);
        assert_eq!(get(&limbs, 60, 8), 0xab);
        assert_eq!(get(&limbs, 120, 64), 0);
        fill(&mut limbs, 0, 128);
        assert_eq!(limbs, [u64::MAX; 2]);
        assert_eq!(bit_length(&limbs), 128);
        negate(&mut limbs);
        assert_eq!(limbs, [1, 0]);
    }

    #[test]
    fn byte_orders() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let cases = [
            (FloatOrder::LittleEndian, 0x0807_0605_0403_0201),
            (FloatOrder::BigEndian, 0x0304_0506_0708_090a),
            (FloatOrder::Vax, 0x0403_0605_0807_0a09),
        ];
        for (order, low) in cases {
            let frame = Frame::new(order, 10, 80, &[]).unwrap();
            let (mut limbs, mut back) = (Limbs::new(), [0; 10]);
            frame.load(&bytes, &mut limbs);
            assert_eq!(limbs[0], low, "{order:?}");
            frame.store(&limbs, &mut back);
            assert_eq!(back, bytes);
        }
        assert!(Frame::new(FloatOrder::Vax, 3, 24, &[]).is_none());
    }
}
