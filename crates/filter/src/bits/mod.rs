//! Bit streams with the most significant bit of each byte first. The filters nbit, scaleoffset and
//! szip store packed values in such streams.

pub(crate) mod bulk;
mod window;

pub(crate) use window::BitWindow;

/// The maximum number of bits that one call of a filter's bit reader or writer transfers.
const MAX_BITS_PER_CALL: u32 = 32;

/// A writer that appends bits to a filter's byte buffer.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    output: &'a mut Vec<u8>,
    /// The buffered bits, in the low `held` bits. The bits above them are already in `output`.
    buffer: u64,
    /// The number of buffered bits, always below 32.
    held: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(output: &'a mut Vec<u8>) -> Self {
        Self { output, buffer: 0, held: 0 }
    }

    /// Appends the low `count` bits of `value` to a filter's output buffer. `count` is at most 32.
    #[inline]
    pub(crate) fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= MAX_BITS_PER_CALL, "bits are written at most 32 at a time");
        let value = u64::from(value) & !(u64::MAX << count.min(MAX_BITS_PER_CALL));
        self.buffer = self.buffer << count | value;
        self.held += count;
        if self.held >= 32 {
            self.held -= 32;
            let [_, _, _, _, word @ ..] = (self.buffer >> self.held).to_be_bytes();
            self.output.extend_from_slice(&word);
        }
    }

    /// Appends the low `count` bits of `value` to a filter's output buffer. `count` is at most 64.
    #[cfg(test)]
    pub(crate) fn put_wide(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put(low(value >> 32), count - 32);
        }
        self.put(low(value), count.min(32));
    }

    /// Appends `count` zero bits and a one bit to a filter's output buffer.
    #[inline]
    pub(crate) fn put_unary(&mut self, count: u32) {
        let mut count = count;
        while count >= 31 {
            self.put(0, 31);
            count -= 31;
        }
        self.put(1, count + 1);
    }

    /// Writes the last bits of the bit writer to the byte buffer, and pads the last byte with zero
    /// bits.
    pub(crate) fn finish(self) {
        let [_, _, _, _, word @ ..] = (self.buffer << (32 - self.held)).to_be_bytes();
        self.output.extend(word.iter().take(self.held.div_ceil(8) as usize));
    }
}

/// A simple reader of the bits of a filter's input. Tests compare the faster readers with this one.
#[cfg(test)]
#[derive(Debug, Clone)]
pub(crate) struct BitReader<'a> {
    rest: &'a [u8],
    /// The buffered bits. The next bits are the low `held` bits.
    buffer: u64,
    held: u32,
}

#[cfg(test)]
impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, buffer: 0, held: 0 }
    }

    /// Reads the next `count` bits of a filter's input as a number; `count` is at most 32. Returns
    /// [`None`] at the end of the input bytes.
    pub(crate) fn get(&mut self, count: u32) -> Option<u32> {
        debug_assert!(count <= MAX_BITS_PER_CALL, "bits are read at most 32 at a time");
        if self.held < count {
            self.refill();
            if self.held < count {
                return None;
            }
        }
        self.held -= count;
        Some(low(self.buffer >> self.held & !(u64::MAX << count.min(MAX_BITS_PER_CALL))))
    }

    /// Reads the next `count` bits of a filter's input as a number; `count` is at most 64. Returns
    /// [`None`] at the end of the input bytes.
    pub(crate) fn get_wide(&mut self, count: u32) -> Option<u64> {
        if count <= 32 {
            return self.get(count).map(u64::from);
        }
        let high = u64::from(self.get(count.min(64) - 32)?);
        Some(high << 32 | u64::from(self.get(32)?))
    }

    /// Reads a unary number from a filter's input: zero bits and a final one bit. Returns the
    /// number of zero bits.
    pub(crate) fn get_unary(&mut self) -> Option<u32> {
        let mut zeros = 0_u32;
        loop {
            if self.held == 0 {
                self.refill();
                if self.held == 0 {
                    return None;
                }
            }
            let next = self.buffer << (64 - self.held);
            let run = next.leading_zeros();
            if run < self.held {
                self.held -= run + 1;
                return zeros.checked_add(run);
            }
            zeros = zeros.checked_add(self.held)?;
            self.held = 0;
        }
    }

    /// Loads the next 32 bits of a filter's input into the buffer of the bit reader. Loads fewer
    /// bits at the end of the input. The buffer must hold fewer than 32 bits before.
    fn refill(&mut self) {
        if let Some((word, rest)) = self.rest.split_first_chunk::<4>() {
            self.buffer = self.buffer << 32 | u64::from(u32::from_be_bytes(*word));
            self.held += 32;
            self.rest = rest;
            return;
        }
        for byte in std::mem::take(&mut self.rest) {
            self.buffer = self.buffer << 8 | u64::from(*byte);
            self.held += 8;
        }
    }
}

/// Returns the low 32 bits of `value` as a 32-bit number, for tests of the bit reader.
#[cfg(test)]
fn low(value: u64) -> u32 {
    (value & 0xffff_ffff) as u32
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
