//! Object reference count message (section IV.A.2.w).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 4     reference count
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The reference count message: the number of hard links to an object. An object with a version 2
/// header and without this message has one hard link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReferenceCount {
    /// Number of hard links.
    pub count: u32,
}

impl Message<'_> for ReferenceCount {
    const TYPE: MessageType = MessageType::REFERENCE_COUNT;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        Ok(Self { count: r.u32("reference count")? })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(0);
        w.u32(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let count = ReferenceCount { count: 3 };
        assert_eq!(assert_laws!(ReferenceCount, count, FileParams::DEFAULT), [0, 3, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(ReferenceCount, &bytes, FileParams::DEFAULT);
        }
    }
}
