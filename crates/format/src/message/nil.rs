//! NIL message: unused space in an object header (section IV.A.2.a).
//!
//! ```text
//! size  field
//! any   ignored
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Result, Writer};

/// The NIL message: unused bytes of an object header. The bytes have no meaning, but encoding
/// preserves them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nil<'a> {
    /// Unused bytes.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> for Nil<'a> {
    const TYPE: MessageType = MessageType::NIL;

    fn decode(bytes: &'a [u8], _params: FileParams) -> Result<Self> {
        Ok(Self { bytes })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.bytes(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_it_ignores() {
        let nil = Nil::decode(&[1, 2, 3], FileParams::DEFAULT).unwrap();
        assert_eq!(nil.to_bytes(FileParams::DEFAULT).unwrap(), [1, 2, 3]);
    }
}
