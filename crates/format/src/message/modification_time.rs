//! Object modification time message (section IV.A.2.s).
//!
//! ```text
//! size  field
//! 1     version = 1
//! 3     reserved (zero)
//! 4     seconds after the Unix epoch
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The modification time message: the time of an object's last modification, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModificationTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: u32,
}

impl Message<'_> for ModificationTime {
    const TYPE: MessageType = MessageType::MODIFICATION_TIME;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[1])?;
        r.skip(3, "reserved")?;
        Ok(Self { seconds: r.u32("seconds after UNIX epoch")? })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(1);
        w.zeros(3);
        w.u32(self.seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let time = ModificationTime { seconds: 0x4030_2010 };
        assert_eq!(
            assert_laws!(ModificationTime, time, FileParams::DEFAULT),
            [1, 0, 0, 0, 0x10, 0x20, 0x30, 0x40]
        );
        assert!(ModificationTime::decode(&[0; 8], FileParams::DEFAULT).is_err());
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(ModificationTime, &bytes, FileParams::DEFAULT);
        }
    }
}
