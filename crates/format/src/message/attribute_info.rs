//! Attribute info message (section IV.A.2.v).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 1     flags: bit 0 creation order is tracked, bit 1 creation order is indexed
//! 2     maximum creation index (if tracked)
//! O     address of the fractal heap of dense attributes
//! O     address of the version 2 B-tree of names
//! O     address of the version 2 B-tree of creation order (if indexed)
//! ```

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

const TRACKED: u8 = 1 << 0;
const INDEXED: u8 = 1 << 1;

/// The attribute info message: the storage of an object's attributes, and the tracking of creation
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeInfo {
    /// Largest creation order value used so far; `Some` if creation order is tracked.
    pub max_creation_index: Option<u16>,
    /// Address of the fractal heap of dense attributes; undefined for compact storage.
    pub fractal_heap: Address,
    /// Address of the B-tree that indexes dense attributes by name.
    pub name_index: Address,
    /// Address of the B-tree that indexes dense attributes by creation order; `Some` if creation
    /// order is indexed.
    pub creation_order_index: Option<Address>,
}

impl AttributeInfo {
    /// The attribute info message of an object with no attributes in dense storage. The object does
    /// not track the creation order of attributes.
    pub const EMPTY: Self = Self {
        max_creation_index: None,
        fractal_heap: Address::UNDEFINED,
        name_index: Address::UNDEFINED,
        creation_order_index: None,
    };

    /// Returns true if the attributes of the object are in dense storage.
    pub const fn is_dense(&self) -> bool {
        self.fractal_heap.is_defined()
    }
}

impl Message<'_> for AttributeInfo {
    const TYPE: MessageType = MessageType::ATTRIBUTE_INFO;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        let flags = r.u8("flags")?;
        if flags & !(TRACKED | INDEXED) != 0 {
            return Err(r.corrupt("flags", "bits 0 and 1 only", format_args!("{flags:#04x}")));
        }
        Ok(Self {
            max_creation_index: match flags & TRACKED {
                0 => None,
                _ => Some(r.u16("maximum creation index")?),
            },
            fractal_heap: r.offset(params, "fractal heap address")?,
            name_index: r.offset(params, "attribute name v2 B-tree address")?,
            creation_order_index: match flags & INDEXED {
                0 => None,
                _ => Some(r.offset(params, "attribute creation order v2 B-tree address")?),
            },
        })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(0);
        let tracked = self.max_creation_index.map_or(0, |_| TRACKED);
        w.u8(tracked | self.creation_order_index.map_or(0, |_| INDEXED));
        if let Some(index) = self.max_creation_index {
            w.u16(index);
        }
        w.offset(params, self.fractal_heap, "fractal heap address");
        w.offset(params, self.name_index, "attribute name v2 B-tree address");
        if let Some(index) = self.creation_order_index {
            w.offset(params, index, "attribute creation order v2 B-tree address");
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
    fn bytes() {
        assert_eq!(assert_laws!(AttributeInfo, AttributeInfo::EMPTY, SMALL), [0, 0, 0xff, 0xff, 0xff, 0xff]);
        let info = AttributeInfo {
            max_creation_index: Some(9),
            fractal_heap: Address::new(0x10),
            name_index: Address::new(0x20),
            creation_order_index: Some(Address::new(0x30)),
        };
        assert!(info.is_dense());
        assert_eq!(assert_laws!(AttributeInfo, info, SMALL), [0, 3, 9, 0, 0x10, 0, 0x20, 0, 0x30, 0]);
        assert!(AttributeInfo::decode(&[0, 8, 0, 0, 0, 0], SMALL).is_err());
    }

    proptest! {
        #[test]
        fn laws(
            params in params(),
            max_creation_index in any::<Option<u16>>(),
            fractal_heap in addresses(),
            name_index in addresses(),
            creation_order_index in prop::option::of(addresses()),
            bytes in bodies(),
        ) {
            let info = AttributeInfo { max_creation_index, fractal_heap, name_index, creation_order_index };
            assert_laws!(AttributeInfo, info, params);
            assert_survives!(AttributeInfo, &bytes, params);
        }
    }
}
