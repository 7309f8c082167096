//! Bits of a JPEG-LS scan (T.87, A.1). The most significant bit of a byte comes first; the byte
//! after a byte 255 has only 7 bits.

/// A reader of the bits of a JPEG-LS scan. The reader stops at the next marker.
#[derive(Debug)]
pub(super) struct BitSource<'a> {
    rest: &'a [u8],
    /// The buffered bits. The next bits are the high `held` bits; the bits below them are zero.
    buffer: u64,
    held: u32,
    after_full: bool,
}

const FULL_BYTE: u8 = 0xff;

/// The maximum number of bits that one call of the JPEG-LS bit reader or writer transfers.
const MAX_BITS_PER_CALL: u32 = 32;

impl<'a> BitSource<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, buffer: 0, held: 0, after_full: false }
    }

    /// Returns the rest of a JPEG-LS image, which begins with the next marker. The caller has read
    /// all bits of the scan except the padding of the last byte.
    pub(super) fn rest(self) -> &'a [u8] {
        let marker = |pair: &[u8]| matches!(pair, [FULL_BYTE, next] if *next >= 0x80);
        let at = self.rest.windows(2).position(marker).unwrap_or(self.rest.len());
        self.rest.get(at..).unwrap_or_default()
    }

    #[inline]
    fn fill(&mut self) {
        while self.held <= 32 {
            if !self.after_full
                && let Some((word, rest)) = self.rest.split_first_chunk::<4>()
                && !word.contains(&FULL_BYTE)
            {
                self.buffer |= u64::from(u32::from_be_bytes(*word)) << (32 - self.held);
                self.held += 32;
                self.rest = rest;
                continue;
            }
            let [byte, rest @ ..] = self.rest else { return };
            // A byte 255 is the start of a marker if the next byte is 128 or more.
            if *byte == FULL_BYTE && rest.first().is_none_or(|next| *next >= 0x80) {
                return;
            }
            let bits = if self.after_full { 7 } else { 8 };
            self.buffer |= u64::from(*byte) << (64 - bits) >> self.held;
            self.held += bits;
            self.after_full = *byte == FULL_BYTE;
            self.rest = rest;
        }
    }

    #[inline]
    fn drop(&mut self, count: u32) {
        self.buffer <<= count;
        self.held -= count;
    }

    /// Reads the next `count` bits of the JPEG-LS scan; `count` is at most 32.
    #[inline]
    pub(super) fn get(&mut self, count: u32) -> Option<i64> {
        debug_assert!(count <= MAX_BITS_PER_CALL, "bits are read at most 32 at a time");
        if self.held < count {
            self.fill();
            if self.held < count {
                return None;
            }
        }
        if count == 0 {
            return Some(0);
        }
        let bits = self.buffer >> (64 - count);
        self.drop(count);
        i64::try_from(bits).ok()
    }

    /// Reads a unary number from a JPEG-LS scan: zero bits and a final one bit. Returns the number
    /// of zero bits, or [`None`] if it exceeds `maximum`.
    #[inline]
    pub(super) fn get_unary(&mut self, maximum: u32) -> Option<u32> {
        let mut zeros = 0;
        loop {
            let run = self.buffer.leading_zeros();
            if run < self.held {
                self.drop(run);
                self.drop(1);
                zeros += run;
                return (zeros <= maximum).then_some(zeros);
            }
            zeros += self.held;
            self.buffer = 0;
            self.held = 0;
            self.fill();
            if self.held == 0 || zeros > maximum {
                return None;
            }
        }
    }
}

/// A writer that appends bits to a JPEG-LS scan.
#[derive(Debug)]
pub(super) struct BitSink<'a> {
    output: &'a mut Vec<u8>,
    /// The buffered bits, in the low `held` bits.
    buffer: u64,
    held: u32,
    after_full: bool,
}

impl<'a> BitSink<'a> {
    pub(super) fn new(output: &'a mut Vec<u8>) -> Self {
        Self { output, buffer: 0, held: 0, after_full: false }
    }

    /// Appends the low `count` bits of `value` to the JPEG-LS scan; `count` is at most 32.
    #[inline]
    pub(super) fn put(&mut self, value: i64, count: u32) {
        debug_assert!(count <= MAX_BITS_PER_CALL, "bits are written at most 32 at a time");
        let value = value.cast_unsigned() & !(u64::MAX << count);
        self.buffer = self.buffer << count | value;
        self.held += count;
        loop {
            let bits = if self.after_full { 7 } else { 8 };
            if self.held < bits {
                return;
            }
            self.held -= bits;
            let [byte, ..] = (self.buffer >> self.held & !(u64::MAX << bits)).to_le_bytes();
            self.output.push(byte);
            self.after_full = byte == FULL_BYTE;
        }
    }

    /// Appends `count` zero bits and a one bit to the JPEG-LS scan.
    pub(super) fn put_unary(&mut self, count: u32) {
        let mut count = count;
        while count >= MAX_BITS_PER_CALL {
            self.put(0, 31);
            count -= 31;
        }
        self.put(1, count + 1);
    }

    /// Pads the last byte of the JPEG-LS scan with zero bits. The last byte is never 255.
    pub(super) fn finish(mut self) {
        if self.held > 0 {
            self.put(0, if self.after_full { 7 } else { 8 } - self.held);
        }
        if self.after_full {
            self.put(0, 7);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_come_back(
            values in proptest::collection::vec((prop_oneof![Just(u32::MAX), any::<u32>()], 0..=32_u32, 0..70_u32), 0..60),
        ) {
            let mut bytes = Vec::new();
            let mut sink = BitSink::new(&mut bytes);
            for (value, count, zeros) in &values {
                sink.put(i64::from(*value), *count);
                sink.put_unary(*zeros);
            }
            sink.finish();
            prop_assert!(!bytes.windows(2).any(|pair| pair[0] == FULL_BYTE && pair[1] >= 0x80));
            prop_assert!(bytes.last() != Some(&FULL_BYTE));
            bytes.extend([FULL_BYTE, 0xd9]);
            let mut source = BitSource::new(&bytes);
            for (value, count, zeros) in &values {
                let value = i64::from(*value) & !(-1 << count);
                prop_assert_eq!(source.get(*count), Some(value));
                prop_assert_eq!(source.get_unary(*zeros), Some(*zeros));
            }
            prop_assert_eq!(source.get(9), None);
            prop_assert_eq!(source.rest(), &[FULL_BYTE, 0xd9][..]);
        }
    }
}
