//! Continuation blocks of object headers (section IV.A.1, "Object Header Continuation Block").
//!
//! ```text
//! version 1: messages only
//! version 2:
//! off size field
//! 0   4    signature "OCHK"
//! 4   ..   messages, gap
//! ..  4    checksum of all bytes from the signature on
//! ```

use crate::codec::{Reader, Result, Writer};

const NAME: &str = "object header continuation block";

/// The continuation block of a version 2 object header.
#[derive(Debug, Clone, Copy)]
pub struct ContinuationBlock;

impl ContinuationBlock {
    /// Signature of a continuation block in version 2 object headers.
    pub const SIGNATURE: &'static [u8; 4] = b"OCHK";
    /// Total size in bytes of the signature and checksum of a version 2 object header's
    /// continuation block.
    pub const OVERHEAD_BYTES: usize = 8;

    /// Verifies the signature and the checksum of a version 2 object header's continuation block.
    /// Returns the bytes of the messages, with the unused bytes after them.
    pub fn messages(block: &[u8]) -> Result<&[u8]> {
        let mut r = Reader::new(NAME, block);
        r.signature(Self::SIGNATURE)?;
        r.trailing_checksum()?;
        Ok(r.take_rest())
    }

    /// Encodes a continuation block of a version 2 object header around encoded messages.
    pub fn encode(messages: &[u8]) -> Result<Vec<u8>> {
        let mut w = Writer::new(NAME);
        w.bytes(Self::SIGNATURE);
        w.bytes(messages);
        w.checksum();
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::ContinuationBlock;

    #[test]
    fn gives_back_its_messages() {
        let block = ContinuationBlock::encode(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!(block.len(), 5 + ContinuationBlock::OVERHEAD_BYTES);
        assert_eq!(ContinuationBlock::messages(&block).unwrap(), [1, 2, 3, 4, 5]);
        assert!(ContinuationBlock::messages(&block[..7]).is_err());
        assert!(ContinuationBlock::messages(b"OCHX12345678").is_err());
    }
}
