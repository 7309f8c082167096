//! The bounded reader that all decoders use.

use super::{Address, CHECKSUM_SIZE, FileParams, FormatError, Result, checksum};

/// A reader of the fields of one metadata structure: a cursor over its bytes.
///
/// Every method that takes bytes also takes a field name. If bytes are missing, the error names the
/// structure and the field.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    structure: &'static str,
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes`, which hold the metadata structure named `structure`.
    #[inline]
    pub fn new(structure: &'static str, bytes: &'a [u8]) -> Self {
        Self { structure, all: bytes, rest: bytes }
    }

    /// Returns the name of the metadata structure that the reader reads.
    pub fn structure(&self) -> &'static str {
        self.structure
    }

    /// Returns the number of bytes of the metadata structure that the reader has not taken yet.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Returns true if the reader has taken all bytes of the metadata structure.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of bytes of the metadata structure that the reader has taken so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.all.len() - self.rest.len()
    }

    /// Returns the remaining bytes of the metadata structure without taking them from the reader.
    pub fn peek_rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the bytes of the metadata structure that the reader has taken so far.
    pub fn taken(&self) -> &'a [u8] {
        self.all.split_at(self.position()).0
    }

    /// Creates a [`FormatError::Corrupt`] about the field `field` of the metadata structure that
    /// the reader reads.
    pub fn corrupt(
        &self,
        field: &'static str,
        expected: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> FormatError {
        FormatError::corrupt(self.structure, field, expected, got)
    }

    /// Creates a [`FormatError::Unsupported`] about the metadata structure that the reader reads.
    pub fn unsupported(&self, subject: impl Into<String>) -> FormatError {
        FormatError::unsupported(self.structure, subject)
    }

    fn missing(&self, field: &'static str, wanted: usize) -> FormatError {
        self.corrupt(field, format!("{wanted} bytes"), format_args!("{} before the end", self.rest.len()))
    }

    /// Takes the next `count` bytes from the reader of a metadata structure.
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

    /// Takes the next `count` bytes from the reader of a metadata structure. `count` is a 64-bit
    /// number that was read from the file.
    pub fn take_u64(&mut self, count: u64, field: &'static str) -> Result<&'a [u8]> {
        match usize::try_from(count) {
            Ok(count) => self.take(count, field),
            Err(_) => Err(self.missing(field, usize::MAX)),
        }
    }

    /// Takes all remaining bytes from the reader of a metadata structure.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Takes the next `N` bytes from the reader of a metadata structure, as an array.
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

    /// Takes one byte from the reader of a metadata structure.
    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// Takes a little-endian 16-bit integer from the reader of a metadata structure.
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16> {
        self.array(field).map(u16::from_le_bytes)
    }

    /// Takes a little-endian 32-bit integer from the reader of a metadata structure.
    #[inline]
    pub fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.array(field).map(u32::from_le_bytes)
    }

    /// Takes a little-endian 64-bit integer from the reader of a metadata structure.
    #[inline]
    pub fn u64(&mut self, field: &'static str) -> Result<u64> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// Takes a little-endian unsigned integer of `width` bytes from the reader of a metadata
    /// structure. If `width` exceeds 8, the upper bytes must be zero.
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
        // Fast path: load eight bytes and mask the upper bytes, which belong to later fields.
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
            return Err(self.corrupt(field, "a value of at most 64 bits", "a larger value"));
        }
        let mut word = [0_u8; 8];
        for (to, from) in word.iter_mut().zip(low) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(word))
    }

    /// Takes a length field of `size_of_lengths` bytes from the reader of a metadata structure.
    #[inline]
    pub fn length(&mut self, params: FileParams, field: &'static str) -> Result<u64> {
        self.uint(params.length_width(), field)
    }

    /// Takes a length field from the reader of a metadata structure. If all bits are ones, the
    /// length is undefined or unlimited: returns `None`.
    pub fn length_or_undefined(&mut self, params: FileParams, field: &'static str) -> Result<Option<u64>> {
        self.all_ones_or_uint(params.length_width(), field)
    }

    /// Takes an address of `size_of_offsets` bytes from the reader of a metadata structure. All
    /// ones are the undefined address.
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

    /// Takes a signature of four bytes from the reader of a metadata structure and compares it with
    /// `expected`.
    #[inline]
    pub fn signature(&mut self, expected: &'static [u8; 4]) -> Result<()> {
        let got: [u8; 4] = self.array("signature")?;
        if &got == expected {
            return Ok(());
        }
        let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
        Err(self.corrupt("signature", format!("\"{}\"", show(expected)), format_args!("\"{}\"", show(&got))))
    }

    /// Takes the version byte from the reader of a metadata structure. Returns an "unsupported"
    /// error, not a "corrupt" error, if `known` does not contain the version.
    #[inline]
    pub fn version(&mut self, known: &[u8]) -> Result<u8> {
        let version = self.u8("version")?;
        if known.contains(&version) {
            return Ok(version);
        }
        Err(self.unsupported(format!("version {version}")))
    }

    /// Skips `count` bytes in the reader of a metadata structure. The bytes may have any content.
    #[inline]
    pub fn skip(&mut self, count: usize, field: &'static str) -> Result<()> {
        self.take(count, field).map(drop)
    }

    /// Takes bytes from the reader of a metadata structure up to and including the next zero byte.
    /// Returns the bytes before the zero byte.
    pub fn until_nul(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let Some(end) = self.rest.iter().position(|byte| *byte == 0) else {
            return Err(self.corrupt(field, "a terminating zero byte", "none"));
        };
        let text = self.take(end, field)?;
        self.skip(1, field)?;
        Ok(text)
    }

    /// Checks that the remaining bytes of the metadata structure can hold `count` items of at least
    /// `item_size` bytes. After this check, the program may allocate memory for the items.
    /// `item_size` is at least 1.
    pub fn count(&self, count: u64, item_size: usize, field: &'static str) -> Result<usize> {
        let possible = self.rest.len().checked_div(item_size.max(1)).unwrap_or(0);
        match usize::try_from(count) {
            Ok(count) if count <= possible => Ok(count),
            _ => Err(self.corrupt(field, format!("at most {possible} items in the remaining bytes"), count)),
        }
    }

    /// Takes the next `length` bytes of the metadata structure. Returns a reader of these bytes for
    /// an inner structure named `structure`.
    pub fn sub(&mut self, length: usize, structure: &'static str) -> Result<Reader<'a>> {
        Ok(Reader::new(structure, self.take(length, structure)?))
    }

    /// Takes the checksum from the reader of a metadata structure, and compares it with the
    /// checksum of the bytes taken so far.
    #[inline]
    pub fn checksum(&mut self) -> Result<()> {
        let computed = checksum(self.taken());
        let stored = self.u32("checksum")?;
        if stored == computed {
            return Ok(());
        }
        Err(self.corrupt("checksum", format!("{computed:#010x}"), format_args!("{stored:#010x}")))
    }

    /// Checks the metadata checksum in the last four bytes of the metadata structure, and removes
    /// these bytes from the reader.
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

    /// Checks that all bytes of the metadata structure were read. Returns [`FormatError::Corrupt`]
    /// if bytes remain.
    #[inline]
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.corrupt("end", "no further bytes", format_args!("{} more", self.rest.len())))
    }
}
