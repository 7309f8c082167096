//! The only way to take bytes of a structure: a cursor that knows its end and its structure's name.

use super::{Address, CHECKSUM_SIZE, FileParams, FormatError, Result, checksum};

/// A cursor over the bytes of one structure. Every method that takes bytes names the field it takes
/// them for, so that a missing byte says which field of which structure is cut off.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    structure: &'static str,
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of `bytes`, which hold the structure of that name.
    #[inline]
    pub fn new(structure: &'static str, bytes: &'a [u8]) -> Self {
        Self { structure, all: bytes, rest: bytes }
    }

    /// The structure's name.
    pub fn structure(&self) -> &'static str {
        self.structure
    }

    /// Bytes not yet taken.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether all bytes are taken.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes taken so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.all.len() - self.rest.len()
    }

    /// The bytes not yet taken, without taking them.
    pub fn peek_rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The bytes taken so far.
    pub fn taken(&self) -> &'a [u8] {
        self.all.split_at(self.position()).0
    }

    /// A [`FormatError::Corrupt`] about `field` of this structure.
    pub fn corrupt(
        &self,
        field: &'static str,
        expected: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> FormatError {
        FormatError::corrupt(self.structure, field, expected, got)
    }

    /// A [`FormatError::Unsupported`] about this structure.
    pub fn unsupported(&self, what: impl Into<String>) -> FormatError {
        FormatError::unsupported(self.structure, what)
    }

    fn missing(&self, field: &'static str, wanted: usize) -> FormatError {
        self.corrupt(field, format!("{wanted} bytes"), format_args!("{} before the end", self.rest.len()))
    }

    /// Takes `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize, field: &'static str) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(count) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(self.missing(field, count)),
        }
    }

    /// Takes `count` bytes, where the count is a number of the file.
    pub fn take_u64(&mut self, count: u64, field: &'static str) -> Result<&'a [u8]> {
        match usize::try_from(count) {
            Ok(count) => self.take(count, field),
            Err(_) => Err(self.missing(field, usize::MAX)),
        }
    }

    /// Takes all that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Takes `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(self.missing(field, N)),
        }
    }

    /// Takes one byte.
    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// Takes a little-endian 16-bit integer.
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16> {
        self.array(field).map(u16::from_le_bytes)
    }

    /// Takes a little-endian 32-bit integer.
    #[inline]
    pub fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.array(field).map(u32::from_le_bytes)
    }

    /// Takes a little-endian 64-bit integer.
    #[inline]
    pub fn u64(&mut self, field: &'static str) -> Result<u64> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// Takes a little-endian unsigned integer of `width` bytes. Wider than 8 bytes, the upper ones must be zero.
    #[inline]
    pub fn uint(&mut self, width: usize, field: &'static str) -> Result<u64> {
        match width {
            8 => return self.u64(field),
            4 => return self.u32(field).map(u64::from),
            2 => return self.u16(field).map(u64::from),
            1 => return self.u8(field).map(u64::from),
            0 => return Ok(0),
            _ => {}
        }
        // Eight bytes at once, of which the upper ones belong to what follows.
        if let Some((word, _)) = self.rest.split_first_chunk::<8>()
            && width < 8
        {
            self.rest = self.rest.split_at(width).1;
            return Ok(u64::from_le_bytes(*word) & (u64::MAX >> (64 - 8 * width)));
        }
        self.uint_by_bytes(width, field)
    }

    fn uint_by_bytes(&mut self, width: usize, field: &'static str) -> Result<u64> {
        let bytes = self.take(width, field)?;
        let (low, high) = bytes.split_at(width.min(8));
        if high.iter().any(|byte| *byte != 0) {
            return Err(self.corrupt(field, "a value of at most 64 bits", "a larger one"));
        }
        let mut word = [0_u8; 8];
        for (to, from) in word.iter_mut().zip(low) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(word))
    }

    /// Takes a length: `size_of_lengths` bytes.
    #[inline]
    pub fn length(&mut self, params: FileParams, field: &'static str) -> Result<u64> {
        self.uint(params.length_width(), field)
    }

    /// Takes a length of which all ones means "undefined" or "unlimited".
    pub fn length_or_undefined(&mut self, params: FileParams, field: &'static str) -> Result<Option<u64>> {
        self.all_ones_or_uint(params.length_width(), field)
    }

    /// Takes an address: `size_of_offsets` bytes, all ones for the undefined address.
    #[inline]
    pub fn offset(&mut self, params: FileParams, field: &'static str) -> Result<Address> {
        Ok(self.all_ones_or_uint(params.offset_width(), field)?.map_or(Address::UNDEFINED, Address::new))
    }

    #[inline]
    fn all_ones_or_uint(&mut self, width: usize, field: &'static str) -> Result<Option<u64>> {
        if width == 8 {
            return Ok(Some(self.u64(field)?).filter(|value| *value != u64::MAX));
        }
        if self.rest.get(..width).is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0xff)) {
            self.take(width, field)?;
            return Ok(None);
        }
        self.uint(width, field).map(Some)
    }

    /// Takes and checks a signature.
    #[inline]
    pub fn signature(&mut self, expected: &'static [u8; 4]) -> Result<()> {
        let got: [u8; 4] = self.array("signature")?;
        if &got == expected {
            return Ok(());
        }
        let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
        Err(self.corrupt("signature", format!("\"{}\"", show(expected)), format_args!("\"{}\"", show(&got))))
    }

    /// Takes a version byte that must be one of `known`; another one is unsupported, not corrupt.
    #[inline]
    pub fn version(&mut self, known: &[u8]) -> Result<u8> {
        let version = self.u8("version")?;
        if known.contains(&version) {
            return Ok(version);
        }
        Err(self.unsupported(format!("version {version}")))
    }

    /// Skips `count` bytes whose content does not matter.
    #[inline]
    pub fn skip(&mut self, count: usize, field: &'static str) -> Result<()> {
        self.take(count, field).map(drop)
    }

    /// Takes the bytes before the next zero byte, and that byte.
    pub fn until_nul(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let Some(end) = self.rest.iter().position(|byte| *byte == 0) else {
            return Err(self.corrupt(field, "a terminating zero byte", "none"));
        };
        let text = self.take(end, field)?;
        self.skip(1, field)?;
        Ok(text)
    }

    /// A count of the file, checked against the bytes left: each item takes at least `item_size` bytes
    /// (at least 1), so that the count can size an allocation.
    pub fn count(&self, count: u64, item_size: usize, field: &'static str) -> Result<usize> {
        let possible = self.rest.len().checked_div(item_size.max(1)).unwrap_or(0);
        match usize::try_from(count) {
            Ok(count) if count <= possible => Ok(count),
            _ => Err(self.corrupt(field, format!("at most {possible} items in the bytes there are"), count)),
        }
    }

    /// A reader of the next `length` bytes as a structure of its own; this reader goes on behind them.
    pub fn sub(&mut self, length: usize, structure: &'static str) -> Result<Reader<'a>> {
        Ok(Reader::new(structure, self.take(length, structure)?))
    }

    /// Takes the metadata checksum and compares it with the bytes taken so far.
    #[inline]
    pub fn checksum(&mut self) -> Result<()> {
        let computed = checksum(self.taken());
        let stored = self.u32("checksum")?;
        if stored == computed {
            return Ok(());
        }
        Err(self.corrupt("checksum", format!("{computed:#010x}"), format_args!("{stored:#010x}")))
    }

    /// Checks the metadata checksum in the last four bytes of all bytes, and leaves them out of what follows.
    pub fn trailing_checksum(&mut self) -> Result<()> {
        let position = self.position();
        let parts = self.all.split_last_chunk::<CHECKSUM_SIZE>().filter(|(body, _)| body.len() >= position);
        let Some((body, stored)) = parts else {
            return Err(self.missing("checksum", CHECKSUM_SIZE));
        };
        let stored = u32::from_le_bytes(*stored);
        let computed = checksum(body);
        if stored != computed {
            return Err(self.corrupt(
                "checksum",
                format!("{computed:#010x}"),
                format_args!("{stored:#010x}"),
            ));
        }
        self.rest = body.split_at(position).1;
        self.all = body;
        Ok(())
    }

    /// Ends the structure: bytes left over are an error.
    #[inline]
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.corrupt("end", "no further bytes", format_args!("{} more", self.rest.len())))
    }
}
