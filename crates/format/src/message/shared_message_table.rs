//! Shared message table message of the superblock extension (section IV.A.2.p).
//!
//! ```text
//! size  field
//! 1     version = 0
//! O     address of the shared object header message table
//! 1     number of indexes in the table
//! ```

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

/// The shared message table message: the address of the file's table of shared messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedMessageTableMessage {
    /// Address of the table.
    pub table: Address,
    /// Number of indexes in the table.
    pub index_count: u8,
}

impl Message<'_> for SharedMessageTableMessage {
    const TYPE: MessageType = MessageType::SHARED_MESSAGE_TABLE;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        Ok(Self {
            table: r.offset(params, "shared object header message table address")?,
            index_count: r.u8("number of indices")?,
        })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(0);
        w.offset(params, self.table, "shared object header message table address");
        w.u8(self.index_count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let params = FileParams { size_of_offsets: 2, size_of_lengths: 2 };
        let message = SharedMessageTableMessage { table: Address::new(0x320), index_count: 4 };
        assert_eq!(assert_laws!(SharedMessageTableMessage, message, params), [0, 0x20, 3, 4]);
    }

    proptest! {
        #[test]
        fn laws(params in params(), table in addresses(), index_count in any::<u8>(), bytes in bodies()) {
            assert_laws!(SharedMessageTableMessage, SharedMessageTableMessage { table, index_count }, params);
            assert_survives!(SharedMessageTableMessage, &bytes, params);
        }
    }
}
