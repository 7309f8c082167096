//! A builder of test data from named fields, with labels instead of counted offsets.

use std::collections::HashMap;

/// A builder that appends little-endian fields.
///
/// ```
/// use hyperslab_testkit::bytes::Builder;
///
/// let bytes = Builder::new()
///     .text("TREE")
///     .u8(0)
///     .gap("child", 8) // filled in below
///     .align(8)
///     .label("end")
///     .patch_with("child", |labels| labels["end"])
///     .build();
/// assert_eq!(bytes[5..13], 16u64.to_le_bytes());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    bytes: Vec<u8>,
    labels: HashMap<&'static str, u64>,
    gaps: HashMap<&'static str, (usize, usize)>,
}

impl Builder {
    /// Creates an empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends a signature or a name, without a terminator.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Appends one byte.
    #[must_use]
    pub fn u8(self, value: u8) -> Self {
        self.bytes(&[value])
    }

    /// Appends two bytes.
    #[must_use]
    pub fn u16(self, value: u16) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends four bytes.
    #[must_use]
    pub fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends eight bytes.
    #[must_use]
    pub fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends the low `size` bytes (at most 8) of a number, as a field with the size of offsets or
    /// lengths.
    #[must_use]
    pub fn uint(self, value: u64, size: usize) -> Self {
        let all = value.to_le_bytes();
        self.bytes(all.get(..size).unwrap_or(&all))
    }

    /// Appends an undefined address of `size` bytes: all ones.
    #[must_use]
    pub fn undefined(self, size: usize) -> Self {
        self.fill(0xFF, size)
    }

    /// Appends `count` zero bytes.
    #[must_use]
    pub fn zeros(self, count: usize) -> Self {
        self.fill(0, count)
    }

    /// Appends a byte `count` times.
    #[must_use]
    pub fn fill(mut self, byte: u8, count: usize) -> Self {
        self.bytes.resize(self.bytes.len() + count, byte);
        self
    }

    /// Appends zero bytes up to a multiple of `to` bytes from the start.
    #[must_use]
    pub fn align(self, to: usize) -> Self {
        let length = self.bytes.len().next_multiple_of(to.max(1));
        self.pad_to(length)
    }

    /// Appends zero bytes until the total length is `length`.
    #[must_use]
    pub fn pad_to(self, length: usize) -> Self {
        let missing = length.saturating_sub(self.bytes.len());
        self.zeros(missing)
    }

    /// Defines a label for the current position.
    #[must_use]
    pub fn label(mut self, name: &'static str) -> Self {
        self.labels.insert(name, self.bytes.len() as u64);
        self
    }

    /// Appends a gap for a number of `size` bytes, with a label. [`patch`](Self::patch) sets the
    /// number later.
    #[must_use]
    pub fn gap(mut self, name: &'static str, size: usize) -> Self {
        self.gaps.insert(name, (self.bytes.len(), size));
        self.label(name).zeros(size)
    }

    /// Sets the number at the gap `name`. Does nothing if there is no such gap.
    #[must_use]
    pub fn patch(mut self, name: &str, value: u64) -> Self {
        if let Some(&(at, size)) = self.gaps.get(name) {
            for (to, byte) in self.bytes.iter_mut().skip(at).take(size).zip(value.to_le_bytes()) {
                *to = byte;
            }
        }
        self
    }

    /// Sets the number at the gap `name` to the result of `value`, which receives the labels.
    #[must_use]
    pub fn patch_with(self, name: &str, value: impl FnOnce(&HashMap<&'static str, u64>) -> u64) -> Self {
        let value = value(&self.labels);
        self.patch(name, value)
    }

    /// Appends a checksum of all bytes from the label `from` on. Without such a label, the checksum
    /// covers all bytes.
    #[must_use]
    pub fn sealed(self, from: &str, checksum: impl FnOnce(&[u8]) -> u32) -> Self {
        let start = self.position(from).and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
        let sum = checksum(self.bytes.get(start..).unwrap_or_default());
        self.u32(sum)
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the position of a label, in bytes from the start.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<u64> {
        self.labels.get(name).copied()
    }

    /// Returns the bytes.
    #[must_use]
    pub fn build(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_little_endian_in_order() {
        let bytes = Builder::new().u8(1).u16(0x0203).u32(4).u64(5).uint(0x0102_0304, 3).undefined(2).build();
        assert_eq!(bytes, [1, 3, 2, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 0xFF, 0xFF]);
    }

    #[test]
    fn gaps_are_filled_afterwards() {
        let builder = Builder::new().text("HEAP").gap("size", 2).align(8).label("end");
        assert_eq!(builder.position("end"), Some(8));
        let bytes = builder.patch_with("size", |labels| labels["end"] - labels["size"]).build();
        assert_eq!(bytes, *b"HEAP\x04\x00\x00\x00");
    }

    #[test]
    fn a_seal_covers_what_stands_since_its_label() {
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum();
        let bytes = Builder::new().u8(9).label("start").u8(1).u8(2).sealed("start", sum).build();
        assert_eq!(bytes, [9, 1, 2, 3, 0, 0, 0]);
    }
}
