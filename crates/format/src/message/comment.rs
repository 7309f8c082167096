//! Object comment message (section IV.A.2.n).
//!
//! ```text
//! size  field
//! n     comment, ending with a zero byte
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The comment message of an object. The specification requires ASCII; this type accepts any bytes
/// except zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Comment<'a> {
    /// Text without the terminating zero byte.
    pub text: &'a [u8],
}

impl<'a> Message<'a> for Comment<'a> {
    const TYPE: MessageType = MessageType::COMMENT;

    fn decode(bytes: &'a [u8], _params: FileParams) -> Result<Self> {
        Ok(Self { text: Reader::new(Self::TYPE.name(), bytes).until_nul("comment")? })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.text_nul(self.text, "comment");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn ends_at_the_zero_byte() {
        let comment = Comment::decode(b"hello\0\0\0", FileParams::DEFAULT).unwrap();
        assert_eq!(comment.text, b"hello");
        assert_eq!(assert_laws!(Comment, comment, FileParams::DEFAULT), b"hello\0");
        assert!(Comment::decode(b"hello", FileParams::DEFAULT).is_err());
        assert!(Comment { text: b"a\0b" }.to_bytes(FileParams::DEFAULT).is_err());
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(Comment, &bytes, FileParams::DEFAULT);
        }
    }
}
