//! A reader of variable-length codes, which loads up to 64 bits at once.

use hyperslab_exact::to_u64;

/// A fast reader of the bits of a filter's input. The most significant bit of each byte comes
/// first.
///
/// After a method has returned [`None`], the results of further calls are unspecified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BitWindow<'a> {
    bytes: &'a [u8],
    /// The position of the next bit.
    next: u64,
    /// The position after the last bit.
    end: u64,
}

impl<'a> BitWindow<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let end = to_u64(bytes.len()) * 8;
        Self { bytes, next: 0, end }
    }

    /// Reads the next `count` bits of a filter's input as a number; `count` is at most 32. Returns
    /// [`None`] at the end of the input bytes.
    #[inline]
    pub(crate) fn get(&mut self, count: u32) -> Option<u32> {
        let bits = self.at(self.next) >> 1 >> (63 - count);
        self.pass(u64::from(count))?;
        u32::try_from(bits).ok()
    }

    /// Reads a unary number from a filter's input: zero bits and a final one bit. Returns the
    /// number of zero bits, or [`None`] at the end of the input bytes.
    #[inline]
    pub(crate) fn get_unary(&mut self) -> Option<u32> {
        let mut zeros = 0;
        self.get_unaries(std::slice::from_mut(&mut zeros), |to, zeros| *to = zeros)?;
        Some(zeros)
    }

    /// Reads a unary number for each of `items` from a filter's input: zero bits and a final one
    /// bit. Calls `each` with the item and the number of zero bits.
    #[inline]
    pub(crate) fn get_unaries<T>(
        &mut self,
        items: &mut [T],
        mut each: impl FnMut(&mut T, u32),
    ) -> Option<()> {
        // The window is bit-reversed, so that the next bit is the lowest: `window & (window - 1)`
        // clears a one bit without knowing its position.
        let mut first = self.next;
        let mut window = self.at(first).reverse_bits();
        let mut next = first;
        for item in items {
            while window == 0 {
                first += Self::held(first);
                if first >= self.end {
                    return None;
                }
                window = self.at(first).reverse_bits();
            }
            let one = first + u64::from(window.trailing_zeros());
            each(item, u32::try_from(one - next).ok()?);
            next = one + 1;
            window &= window - 1;
        }
        self.next = next;
        Some(())
    }

    /// Reads a number of `count` bits for each of `items` from a filter's input, and calls `each`
    /// with the item and the number. `count` is from 1 to 32. Returns [`None`] at the end of the
    /// input bytes.
    #[inline]
    pub(crate) fn get_each<T>(
        &mut self,
        count: u32,
        items: &mut [T],
        each: impl Fn(&mut T, u32),
    ) -> Option<()> {
        let mut next = self.next;
        self.pass(u64::from(count).checked_mul(u64::try_from(items.len()).ok()?)?)?;
        for item in items {
            // Each load depends only on the bit position, not on the bits before.
            each(item, u32::try_from(self.at(next) >> (64 - count)).ok()?);
            next += u64::from(count);
        }
        Some(())
    }

    #[inline]
    fn pass(&mut self, count: u64) -> Option<()> {
        self.next = self.next.checked_add(count).filter(|next| *next <= self.end)?;
        Some(())
    }

    /// Returns the number of valid bits that a 64-bit window of a filter's input holds, at least
    /// 57. [`at`](Self::at) loads the window.
    #[inline]
    fn held(bit: u64) -> u64 {
        64 - bit % 8
    }

    /// Loads a window of 64 bits from a filter's input. The bit at the position `bit` becomes the
    /// highest bit. Bits beyond the input are 0.
    #[inline]
    fn at(&self, bit: u64) -> u64 {
        // Past the end of the bytes, the rest is empty.
        let rest = usize::try_from(bit / 8).ok().and_then(|at| self.bytes.get(at..));
        let rest = rest.unwrap_or(&[]);
        let window =
            rest.first_chunk().map_or_else(|| last_bytes(rest), |window| u64::from_be_bytes(*window));
        window << (bit % 8)
    }
}

/// Loads the last bytes of a filter's input, fewer than eight, as the high bytes of a 64-bit
/// window.
#[cold]
fn last_bytes(rest: &[u8]) -> u64 {
    let mut window = [0; 8];
    window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(window)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{BitReader, BitWriter};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_come_back(values in proptest::collection::vec((any::<u32>(), 0..=32_u32, 0..200_u32), 0..100)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for (value, count, zeros) in &values {
                writer.put(*value, *count);
                writer.put_unary(*zeros);
            }
            writer.finish();
            let mut reader = BitWindow::new(&bytes);
            for (value, count, zeros) in &values {
                let mask = 1_u32.checked_shl(*count).map_or(u32::MAX, |bit| bit - 1);
                prop_assert_eq!(reader.get(*count), Some(value & mask));
                prop_assert_eq!(reader.get_unary(), Some(*zeros));
            }
            prop_assert!(reader.get(8).is_none());
        }

        #[test]
        fn equals_the_reader(
            bytes in proptest::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..60),
            steps in proptest::collection::vec((1..=32_u32, 0..30_usize), 0..60),
        ) {
            let (mut window, mut reader) = (BitWindow::new(&bytes), BitReader::new(&bytes));
            for (count, several) in steps {
                let (got, expected): (Option<Vec<u32>>, Option<Vec<u32>>) = if several < 3 {
                    (window.get_unary().map(|zeros| vec![zeros]), reader.get_unary().map(|zeros| vec![zeros]))
                } else if several < 10 {
                    (window.get(count).map(|bits| vec![bits]), reader.get(count).map(|bits| vec![bits]))
                } else {
                    let mut items = vec![0; several];
                    let got = window.get_each(count, &mut items, |item, bits| *item = bits).map(|()| items);
                    (got, (0..several).map(|_| reader.get(count)).collect())
                };
                prop_assert_eq!(&got, &expected);
                // After the end of the bytes, the positions of the two readers may differ.
                if got.is_none() {
                    return Ok(());
                }
            }
        }
    }
}
