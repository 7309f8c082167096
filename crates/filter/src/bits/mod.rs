//! Bits in a row, the most significant one of a byte first: what nbit, scaleoffset and szip pack their values into.

pub(crate) mod bulk;
mod window;

pub(crate) use window::BitWindow;

/// Most bits that one call gives or takes.
const MOST: u32 = 32;

/// Appends bits to bytes.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    output: &'a mut Vec<u8>,
    /// The bits that wait, in its low `held` bits; what stands above them has been written.
    waiting: u64,
    /// Below 32.
    held: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(output: &'a mut Vec<u8>) -> Self {
        Self { output, waiting: 0, held: 0 }
    }

    /// Appends the low `count` bits of `value`, 32 at most.
    #[inline]
    pub(crate) fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= MOST, "bits are written in portions");
        let value = u64::from(value) & !(u64::MAX << count.min(MOST));
        self.waiting = self.waiting << count | value;
        self.held += count;
        if self.held >= 32 {
            self.held -= 32;
            let [_, _, _, _, word @ ..] = (self.waiting >> self.held).to_be_bytes();
            self.output.extend_from_slice(&word);
        }
    }

    /// Appends the low `count` bits of `value`, 64 at most.
    #[cfg(test)]
    pub(crate) fn put_wide(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put(low(value >> 32), count - 32);
        }
        self.put(low(value), count.min(32));
    }

    /// Appends `count` zeros and a one.
    #[inline]
    pub(crate) fn put_unary(&mut self, count: u32) {
        let mut count = count;
        while count >= 31 {
            self.put(0, 31);
            count -= 31;
        }
        self.put(1, count + 1);
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(self) {
        let [_, _, _, _, word @ ..] = (self.waiting << (32 - self.held)).to_be_bytes();
        let whole = usize::try_from(self.held.div_ceil(8)).unwrap_or(0);
        self.output.extend(word.iter().take(whole));
    }
}

/// Takes bits from bytes: what tests hold quicker ways against.
#[cfg(test)]
#[derive(Debug, Clone)]
pub(crate) struct BitReader<'a> {
    rest: &'a [u8],
    /// Its low `held` bits come next.
    waiting: u64,
    held: u32,
}

#[cfg(test)]
impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, waiting: 0, held: 0 }
    }

    /// The next `count` bits, 32 at most, or [`None`] behind the end.
    pub(crate) fn get(&mut self, count: u32) -> Option<u32> {
        debug_assert!(count <= MOST, "bits are read in portions");
        if self.held < count {
            self.refill();
            if self.held < count {
                return None;
            }
        }
        self.held -= count;
        Some(low(self.waiting >> self.held & !(u64::MAX << count.min(MOST))))
    }

    /// The next `count` bits, 64 at most, or [`None`] behind the end.
    pub(crate) fn get_wide(&mut self, count: u32) -> Option<u64> {
        if count <= 32 {
            return self.get(count).map(u64::from);
        }
        let high = u64::from(self.get(count.min(64) - 32)?);
        Some(high << 32 | u64::from(self.get(32)?))
    }

    /// How many zeros stand before the next one, which is taken as well.
    pub(crate) fn get_unary(&mut self) -> Option<u32> {
        let mut zeros = 0_u32;
        loop {
            if self.held == 0 {
                self.refill();
                if self.held == 0 {
                    return None;
                }
            }
            let next = self.waiting << (64 - self.held);
            let run = next.leading_zeros();
            if run < self.held {
                self.held -= run + 1;
                return zeros.checked_add(run);
            }
            zeros = zeros.checked_add(self.held)?;
            self.held = 0;
        }
    }

    /// Makes 32 bits ready, or as many as there are; to be called with fewer than 32.
    fn refill(&mut self) {
        if let Some((word, rest)) = self.rest.split_first_chunk::<4>() {
            self.waiting = self.waiting << 32 | u64::from(u32::from_be_bytes(*word));
            self.held += 32;
            self.rest = rest;
            return;
        }
        for byte in std::mem::take(&mut self.rest) {
            self.waiting = self.waiting << 8 | u64::from(*byte);
            self.held += 8;
        }
    }
}

/// The low half.
#[cfg(test)]
fn low(value: u64) -> u32 {
    u32::try_from(value & 0xffff_ffff).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_bit_is_the_most_significant() {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        writer.put(1, 1);
        writer.put(0xffff_fff2, 3);
        writer.put_unary(6);
        writer.finish();
        assert_eq!(bytes, [0b1010_0000, 0b0010_0000]);
        let mut reader = BitReader::new(&bytes);
        assert_eq!(reader.get(4), Some(0b1010));
        assert_eq!(reader.get_unary(), Some(6));
        assert_eq!((reader.get(5), reader.get(1)), (Some(0), None));
    }

    proptest! {
        #[test]
        fn values_come_back(values in proptest::collection::vec((any::<u64>(), 0..=64_u32, 0..200_u32), 0..100)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for (value, count, zeros) in &values {
                writer.put_wide(*value, *count);
                writer.put_unary(*zeros);
            }
            writer.finish();
            let total: u32 = values.iter().map(|(_, count, zeros)| count + zeros + 1).sum();
            prop_assert_eq!(bytes.len(), usize::try_from(total.div_ceil(8)).unwrap());
            let mut reader = BitReader::new(&bytes);
            for (value, count, zeros) in &values {
                let mask = 1_u64.checked_shl(*count).map_or(u64::MAX, |bit| bit - 1);
                prop_assert_eq!(reader.get_wide(*count), Some(value & mask));
                prop_assert_eq!(reader.get_unary(), Some(*zeros));
            }
            prop_assert!(reader.get(8).is_none());
        }
    }
}
