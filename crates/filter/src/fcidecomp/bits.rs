//! Bits of a scan (T.87, A.1): the most significant one of a byte first; the byte behind 255 has 7.

/// Takes bits up to the next marker.
#[derive(Debug)]
pub(super) struct BitSource<'a> {
    rest: &'a [u8],
    /// Its high `held` bits come next; those below are zeros.
    waiting: u64,
    held: u32,
    after_full: bool,
}

const FULL: u8 = 0xff;

/// Most bits that are taken or put at once.
const MOST: u32 = 32;

impl<'a> BitSource<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, waiting: 0, held: 0, after_full: false }
    }

    /// What follows, from the next marker on, if all bits but those that fill up a byte have been taken.
    pub(super) fn rest(self) -> &'a [u8] {
        let marker = |pair: &[u8]| matches!(pair, [FULL, next] if *next >= 0x80);
        let at = self.rest.windows(2).position(marker).unwrap_or(self.rest.len());
        self.rest.get(at..).unwrap_or_default()
    }

    #[inline]
    fn fill(&mut self) {
        while self.held <= 32 {
            if !self.after_full
                && let Some((word, rest)) = self.rest.split_first_chunk::<4>()
                && !word.contains(&FULL)
            {
                self.waiting |= u64::from(u32::from_be_bytes(*word)) << (32 - self.held);
                self.held += 32;
                self.rest = rest;
                continue;
            }
            let [byte, rest @ ..] = self.rest else { return };
            // What looks like a full byte may be a marker.
            if *byte == FULL && rest.first().is_none_or(|next| *next >= 0x80) {
                return;
            }
            let bits = if self.after_full { 7 } else { 8 };
            self.waiting |= u64::from(*byte) << (64 - bits) >> self.held;
            self.held += bits;
            self.after_full = *byte == FULL;
            self.rest = rest;
        }
    }

    #[inline]
    fn drop(&mut self, count: u32) {
        self.waiting <<= count;
        self.held -= count;
    }

    /// The next `count` bits, 32 at most.
    #[inline]
    pub(super) fn get(&mut self, count: u32) -> Option<i64> {
        debug_assert!(count <= MOST, "bits are read in portions");
        if self.held < count {
            self.fill();
            if self.held < count {
                return None;
            }
        }
        if count == 0 {
            return Some(0);
        }
        let bits = self.waiting >> (64 - count);
        self.drop(count);
        i64::try_from(bits).ok()
    }

    /// How many zeros stand before the next one, which is taken as well: `most` at most.
    #[inline]
    pub(super) fn get_unary(&mut self, most: u32) -> Option<u32> {
        let mut zeros = 0;
        loop {
            let run = self.waiting.leading_zeros();
            if run < self.held {
                self.drop(run);
                self.drop(1);
                zeros += run;
                return (zeros <= most).then_some(zeros);
            }
            zeros += self.held;
            self.waiting = 0;
            self.held = 0;
            self.fill();
            if self.held == 0 || zeros > most {
                return None;
            }
        }
    }
}

/// Appends bits.
#[derive(Debug)]
pub(super) struct BitSink<'a> {
    output: &'a mut Vec<u8>,
    /// Its low `held` bits wait.
    waiting: u64,
    held: u32,
    after_full: bool,
}

impl<'a> BitSink<'a> {
    pub(super) fn new(output: &'a mut Vec<u8>) -> Self {
        Self { output, waiting: 0, held: 0, after_full: false }
    }

    /// Appends the low `count` bits of `value`, 32 at most.
    #[inline]
    pub(super) fn put(&mut self, value: i64, count: u32) {
        debug_assert!(count <= MOST, "bits are written in portions");
        let value = value.cast_unsigned() & !(u64::MAX << count);
        self.waiting = self.waiting << count | value;
        self.held += count;
        loop {
            let bits = if self.after_full { 7 } else { 8 };
            if self.held < bits {
                return;
            }
            self.held -= bits;
            let [byte, ..] = (self.waiting >> self.held & !(u64::MAX << bits)).to_le_bytes();
            self.output.push(byte);
            self.after_full = byte == FULL;
        }
    }

    /// Appends `count` zeros and a one.
    pub(super) fn put_unary(&mut self, count: u32) {
        let mut count = count;
        while count >= MOST {
            self.put(0, 31);
            count -= 31;
        }
        self.put(1, count + 1);
    }

    /// Fills up the last byte, which is not 255.
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
            prop_assert!(!bytes.windows(2).any(|pair| pair[0] == FULL && pair[1] >= 0x80));
            prop_assert!(bytes.last() != Some(&FULL));
            bytes.extend([FULL, 0xd9]);
            let mut source = BitSource::new(&bytes);
            for (value, count, zeros) in &values {
                let value = i64::from(*value) & !(-1 << count);
                prop_assert_eq!(source.get(*count), Some(value));
                prop_assert_eq!(source.get_unary(*zeros), Some(*zeros));
            }
            prop_assert_eq!(source.get(9), None);
            prop_assert_eq!(source.rest(), &[FULL, 0xd9][..]);
        }
    }
}
