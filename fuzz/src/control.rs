//! The eight bytes before a structure that say what its layout depends on.

use hyperslab_format::codec::{Address, FileParams};

/// Bytes of control before the structure.
pub const SIZE: usize = 8;

/// What the control bytes chose.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    bytes: [u8; SIZE],
}

impl Control {
    /// Takes the control bytes from the start of an input; `None` if it is too short.
    pub fn split(input: &[u8]) -> Option<(Self, &[u8])> {
        let (bytes, rest) = input.split_first_chunk::<SIZE>()?;
        Some((Self { bytes: *bytes }, rest))
    }

    /// Widths of addresses and lengths: 8 and 8 where the bytes are zero.
    pub fn params(self) -> FileParams {
        let width = |choice: u8| match choice % 8 {
            0..=3 => 8,
            4 | 5 => 4,
            6 => 2,
            _ => 16,
        };
        FileParams { size_of_offsets: width(self.bytes[0]), size_of_lengths: width(self.bytes[1]) }
    }

    /// One of the bytes that mean something else in each target, 0 to 5.
    pub fn choice(self, number: usize) -> u8 {
        self.bytes[2 + number]
    }

    /// A small count from one of those bytes: `otherwise` where it is zero.
    pub fn count(self, number: usize, otherwise: u16) -> u16 {
        match self.choice(number) {
            0 => otherwise,
            small @ 1..=200 => u16::from(small),
            large => u16::from(large) << 8,
        }
    }
}

/// The header's address that stands in the bytes of a node behind signature, version and `skip` more bytes, so
/// that the check of it does not keep the rest from being tried.
pub fn owner(node: &[u8], params: FileParams, skip: usize) -> Address {
    let mut reader = hyperslab_format::codec::Reader::new("node", node.get(5 + skip..).unwrap_or_default());
    reader.offset(params, "header address").unwrap_or(Address::UNDEFINED)
}
