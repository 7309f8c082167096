//! Object header prefix, version 1 (section IV.A.1.a).
//!
//! ```text
//! off size field
//! 0   1    version = 1
//! 1   1    reserved
//! 2   2    total number of header messages (in all chunks, including NIL messages)
//! 4   4    object reference count
//! 8   4    object header size: bytes of messages in the first chunk
//! 12  4    padding to a multiple of 8
//! ```

use crate::codec::{Reader, Result, Writer};

const NAME: &str = "object header (version 1)";

/// The prefix of a version 1 object header: the fields before the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixV1 {
    /// Number of messages in all chunks of the header.
    pub message_count: u16,
    /// Number of hard links to the object.
    pub reference_count: u32,
    /// Size of the messages in the first chunk, in bytes.
    pub chunk0_size: u32,
}

impl PrefixV1 {
    /// Size of the version 1 object header prefix with its padding, in bytes.
    pub const SIZE: usize = 16;

    /// Decodes the prefix of a version 1 object header at the start of `bytes` and ignores later
    /// bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(NAME, bytes);
        r.version(&[1])?;
        r.skip(1, "reserved")?;
        let message_count = r.u16("total number of header messages")?;
        let reference_count = r.u32("object reference count")?;
        let chunk0_size = r.u32("object header size")?;
        Ok(Self { message_count, reference_count, chunk0_size })
    }

    /// Writes the prefix of a version 1 object header with its padding.
    pub fn encode(&self, w: &mut Writer) {
        w.u8(1);
        w.zeros(1);
        w.u16(self.message_count);
        w.u32(self.reference_count);
        w.u32(self.chunk0_size);
        w.zeros(4);
    }
}

#[cfg(test)]
mod tests {
    use super::PrefixV1;
    use crate::codec::{FormatError, Writer};

    #[test]
    fn decodes_hand_made_bytes() {
        let bytes = [1, 0, 3, 0, 2, 0, 0, 0, 0x18, 1, 0, 0, 0, 0, 0, 0];
        let prefix = PrefixV1::decode(&bytes).unwrap();
        assert_eq!(prefix, PrefixV1 { message_count: 3, reference_count: 2, chunk0_size: 0x118 });
        let mut w = Writer::new("test");
        prefix.encode(&mut w);
        assert_eq!(w.finish().unwrap(), bytes);
    }

    #[test]
    fn names_the_missing_field_and_the_unknown_version() {
        let cut = PrefixV1::decode(&[1, 0, 3, 0, 2, 0]).unwrap_err();
        assert!(cut.to_string().contains("object reference count"), "{cut}");
        assert!(matches!(PrefixV1::decode(&[7; 16]), Err(FormatError::Unsupported { .. })));
    }
}
