//! Writer of the bytes of one metadata structure. If a value does not fit its field, the end of the
//! encoding returns an error.

use super::{Address, FileParams, FormatError, Result, checksum};

/// Initial capacity, in bytes, of the buffer for an encoded metadata structure. Most structures and
/// messages fit.
const TYPICAL_BYTES: usize = 128;

/// A writer of the fields of one metadata structure: a buffer that collects its bytes.
///
/// The writer records a value that is too wide for its field, and [`finish`](Self::finish) returns
/// the error. Encoders therefore need no error handling for each field.
#[derive(Debug)]
pub struct Writer {
    structure: &'static str,
    bytes: Vec<u8>,
    error: Option<FormatError>,
}

impl Writer {
    /// Creates a writer of the metadata structure named `structure`.
    pub fn new(structure: &'static str) -> Self {
        Self { structure, bytes: Vec::with_capacity(TYPICAL_BYTES), error: None }
    }

    /// Creates a writer of a metadata structure with an initial capacity of `bytes`.
    pub fn with_capacity(structure: &'static str, bytes: usize) -> Self {
        Self { structure, bytes: Vec::with_capacity(bytes), error: None }
    }

    /// Returns the number of bytes of the metadata structure that the writer has written so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if the writer has not written any bytes of the metadata structure yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Records an error: a field of the metadata structure cannot hold the value `got`.
    /// [`finish`](Self::finish) returns the first recorded error.
    pub fn fail(&mut self, field: &'static str, got: impl std::fmt::Display) {
        let structure = self.structure;
        self.error.get_or_insert_with(|| FormatError::Encode { structure, field, got: got.to_string() });
    }

    /// Appends `bytes` unchanged to the encoded metadata structure.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends one byte to the encoded metadata structure.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends a little-endian 16-bit integer to the encoded metadata structure.
    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a little-endian 32-bit integer to the encoded metadata structure.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a little-endian 64-bit integer to the encoded metadata structure.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends `value` as a little-endian integer of `width` bytes to the encoded metadata
    /// structure.
    #[inline]
    pub fn uint(&mut self, width: usize, value: u64, field: &'static str) {
        if width == 8 {
            return self.u64(value);
        }
        let (low, bits) = (width.min(8), 8 * width.min(8));
        if bits < 64 && value >> bits != 0 {
            self.fail(field, value);
        }
        let le = value.to_le_bytes();
        self.bytes(le.split_at(low).0);
        self.zeros(width - low);
    }

    /// Appends a value that must fit one byte to the encoded metadata structure.
    #[inline]
    pub fn narrow_u8(&mut self, value: usize, field: &'static str) {
        self.uint(1, value as u64, field);
    }

    /// Appends a value that must fit two bytes to the encoded metadata structure.
    #[inline]
    pub fn narrow_u16(&mut self, value: usize, field: &'static str) {
        self.uint(2, value as u64, field);
    }

    /// Appends a value that must fit four bytes to the encoded metadata structure.
    #[inline]
    pub fn narrow_u32(&mut self, value: usize, field: &'static str) {
        self.uint(4, value as u64, field);
    }

    /// Appends a length field of `size_of_lengths` bytes to the encoded metadata structure.
    #[inline]
    pub fn length(&mut self, params: FileParams, value: u64, field: &'static str) {
        self.uint(params.length_width(), value, field);
    }

    /// Appends a length field to the encoded metadata structure. For `None`, all bits are ones.
    pub fn length_or_undefined(&mut self, params: FileParams, value: Option<u64>, field: &'static str) {
        match value {
            Some(value) => self.length(params, value, field),
            None => self.fill(0xff, params.length_width()),
        }
    }

    /// Appends an address of `size_of_offsets` bytes to the encoded metadata structure. For the
    /// undefined address, all bits are ones.
    #[inline]
    pub fn offset(&mut self, params: FileParams, address: Address, field: &'static str) {
        match address.get() {
            Some(offset) => self.uint(params.offset_width(), offset, field),
            None => self.fill(0xff, params.offset_width()),
        }
    }

    /// Appends `count` zero bytes to the encoded metadata structure.
    #[inline]
    pub fn zeros(&mut self, count: usize) {
        self.fill(0, count);
    }

    /// Appends `count` bytes of the value `value` to the encoded metadata structure.
    #[inline]
    pub fn fill(&mut self, value: u8, count: usize) {
        self.bytes.resize(self.bytes.len() + count, value);
    }

    /// Appends zero bytes until the metadata structure is `length` bytes long. Records an error if
    /// the structure is already longer.
    #[inline]
    pub fn pad_to(&mut self, length: usize, field: &'static str) {
        match length.checked_sub(self.bytes.len()) {
            Some(count) => self.zeros(count),
            None => self.fail(field, self.bytes.len()),
        }
    }

    /// Appends text and a zero byte to the encoded metadata structure.
    pub fn text_nul(&mut self, text: &[u8], field: &'static str) {
        if text.contains(&0) {
            self.fail(field, "text with a zero byte inside");
        }
        self.bytes(text);
        self.u8(0);
    }

    /// Appends the metadata checksum of all bytes written so far to the encoded metadata structure.
    pub fn checksum(&mut self) {
        let sum = checksum(&self.bytes);
        self.u32(sum);
    }

    /// Returns the written bytes of the metadata structure, or the first recorded error.
    pub fn finish(self) -> Result<Vec<u8>> {
        match self.error {
            None => Ok(self.bytes),
            Some(error) => Err(error),
        }
    }
}
