//! Bogus message, an unknown message for tests (section IV.A.2.j).
//!
//! ```text
//! size  field
//! 4     bogus value = 0xdeadbeef
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The bogus message of an object header, which carries no information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bogus;

impl Bogus {
    /// The fixed value that the bogus message stores.
    pub const VALUE: u32 = 0xdead_beef;
}

impl Message<'_> for Bogus {
    const TYPE: MessageType = MessageType::BOGUS;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let value = r.u32("bogus value")?;
        if value == Self::VALUE {
            return Ok(Self);
        }
        Err(r.corrupt("bogus value", "0xdeadbeef", format_args!("{value:#010x}")))
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u32(Self::VALUE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::assert_laws;

    #[test]
    fn holds_its_value() {
        assert_eq!(assert_laws!(Bogus, Bogus, FileParams::DEFAULT), [0xef, 0xbe, 0xad, 0xde]);
        assert!(Bogus::decode(&[0; 4], FileParams::DEFAULT).is_err());
    }
}
