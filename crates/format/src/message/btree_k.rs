//! B-tree 'K' values message of the superblock extension (section IV.A.2.t).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 2     indexed storage internal node K
//! 2     group internal node K
//! 2     group leaf node K
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The ranks of version 1 B-trees: half the number of entries in a full node, for each kind of
/// tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BTreeK {
    /// K of the internal nodes of chunk B-trees.
    pub chunk_internal: u16,
    /// K of the internal nodes of group B-trees.
    pub group_internal: u16,
    /// K of the symbol table nodes of groups.
    pub group_leaf: u16,
}

impl BTreeK {
    /// The ranks of version 1 B-trees in a file that states no ranks.
    pub const DEFAULT: Self = Self { chunk_internal: 32, group_internal: 16, group_leaf: 4 };
}

impl Message<'_> for BTreeK {
    const TYPE: MessageType = MessageType::BTREE_K;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        Ok(Self {
            chunk_internal: r.u16("indexed storage internal node K")?,
            group_internal: r.u16("group internal node K")?,
            group_leaf: r.u16("group leaf node K")?,
        })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(0);
        w.u16(self.chunk_internal);
        w.u16(self.group_internal);
        w.u16(self.group_leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let k = BTreeK { chunk_internal: 64, group_internal: 0x0102, group_leaf: 3 };
        assert_eq!(assert_laws!(BTreeK, k, FileParams::DEFAULT), [0, 64, 0, 2, 1, 3, 0]);
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(BTreeK, &bytes, FileParams::DEFAULT);
        }
    }
}
