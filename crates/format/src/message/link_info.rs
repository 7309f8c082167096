//! Link info message of a group in the format of HDF5 1.8 and later (section IV.A.2.c).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 1     flags: bit 0 creation order is tracked, bit 1 creation order is indexed
//! 8     maximum creation index (if tracked)
//! O     address of the fractal heap of dense links
//! O     address of the version 2 B-tree of names
//! O     address of the version 2 B-tree of creation order (if indexed)
//! ```

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

const TRACKED: u8 = 1 << 0;
const INDEXED: u8 = 1 << 1;

/// The link info message: the storage of a group's links, and the tracking of creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkInfo {
    /// Largest creation order value used so far, at most `i64::MAX`; `Some` if creation order is
    /// tracked.
    pub max_creation_index: Option<u64>,
    /// Address of the fractal heap of dense links; undefined for compact storage.
    pub fractal_heap: Address,
    /// Address of the B-tree that indexes dense links by name.
    pub name_index: Address,
    /// Address of the B-tree that indexes dense links by creation order; `Some` if creation order
    /// is indexed.
    pub creation_order_index: Option<Address>,
}

impl LinkInfo {
    /// The link info message of a group with no links in dense storage. The group does not track
    /// the creation order of links.
    pub const EMPTY: Self = Self {
        max_creation_index: None,
        fractal_heap: Address::UNDEFINED,
        name_index: Address::UNDEFINED,
        creation_order_index: None,
    };

    /// Returns true if the links of the group are in dense storage.
    pub const fn is_dense(&self) -> bool {
        self.fractal_heap.is_defined()
    }
}

impl Message<'_> for LinkInfo {
    const TYPE: MessageType = MessageType::LINK_INFO;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        let flags = r.u8("flags")?;
        if flags & !(TRACKED | INDEXED) != 0 {
            return Err(r.corrupt("flags", "bits 0 and 1 only", format_args!("{flags:#04x}")));
        }
        let max_creation_index = match flags & TRACKED {
            0 => None,
            _ => Some(r.u64("maximum creation index")?),
        };
        if let Some(index) = max_creation_index.filter(|index| i64::try_from(*index).is_err()) {
            return Err(r.corrupt("maximum creation index", "at most 2^63 - 1", index));
        }
        Ok(Self {
            max_creation_index,
            fractal_heap: r.offset(params, "fractal heap address")?,
            name_index: r.offset(params, "address of v2 B-tree for name index")?,
            creation_order_index: match flags & INDEXED {
                0 => None,
                _ => Some(r.offset(params, "address of v2 B-tree for creation order index")?),
            },
        })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(0);
        let tracked = self.max_creation_index.map_or(0, |_| TRACKED);
        w.u8(tracked | self.creation_order_index.map_or(0, |_| INDEXED));
        if let Some(index) = self.max_creation_index {
            if i64::try_from(index).is_err() {
                w.fail("maximum creation index", index);
            }
            w.u64(index);
        }
        w.offset(params, self.fractal_heap, "fractal heap address");
        w.offset(params, self.name_index, "address of v2 B-tree for name index");
        if let Some(index) = self.creation_order_index {
            w.offset(params, index, "address of v2 B-tree for creation order index");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 2, size_of_lengths: 2 };

    #[test]
    fn compact_without_order() {
        assert_eq!(assert_laws!(LinkInfo, LinkInfo::EMPTY, SMALL), [0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert!(!LinkInfo::EMPTY.is_dense());
    }

    #[test]
    fn dense_with_order() {
        let info = LinkInfo {
            max_creation_index: Some(9),
            fractal_heap: Address::new(0x10),
            name_index: Address::new(0x20),
            creation_order_index: Some(Address::new(0x30)),
        };
        assert_eq!(
            assert_laws!(LinkInfo, info, SMALL),
            [0, 3, 9, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0x20, 0, 0x30, 0]
        );
    }

    #[test]
    fn refuses_unknown_flags_and_negative_order() {
        assert!(LinkInfo::decode(&[0, 4, 0, 0, 0, 0], SMALL).is_err());
        assert!(LinkInfo::decode(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0], SMALL).is_err());
    }

    proptest! {
        #[test]
        fn laws(
            params in params(),
            max_creation_index in prop::option::of(0..=u64::MAX >> 1),
            fractal_heap in addresses(),
            name_index in addresses(),
            creation_order_index in prop::option::of(addresses()),
            bytes in bodies(),
        ) {
            let info = LinkInfo { max_creation_index, fractal_heap, name_index, creation_order_index };
            assert_laws!(LinkInfo, info, params);
            assert_survives!(LinkInfo, &bytes, params);
        }
    }
}
