//! Symbol table message of a symbol table group (section IV.A.2.r).
//!
//! ```text
//! size  field
//! O     address of the version 1 B-tree of symbol table entries
//! O     address of the local heap of link names
//! ```

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

/// The symbol table message: the addresses of a symbol table group's B-tree and heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SymbolTable {
    /// Address of the version 1 B-tree over symbol table nodes.
    pub btree: Address,
    /// Address of the local heap of link names.
    pub heap: Address,
}

impl Message<'_> for SymbolTable {
    const TYPE: MessageType = MessageType::SYMBOL_TABLE;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        Ok(Self {
            btree: r.offset(params, "v1 B-tree address")?,
            heap: r.offset(params, "local heap address")?,
        })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.offset(params, self.btree, "v1 B-tree address");
        w.offset(params, self.heap, "local heap address");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let params = FileParams { size_of_offsets: 4, size_of_lengths: 8 };
        let table = SymbolTable { btree: Address::new(0x88), heap: Address::UNDEFINED };
        assert_eq!(assert_laws!(SymbolTable, table, params), [0x88, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    }

    proptest! {
        #[test]
        fn laws(params in params(), btree in addresses(), heap in addresses(), bytes in bodies()) {
            assert_laws!(SymbolTable, SymbolTable { btree, heap }, params);
            assert_survives!(SymbolTable, &bytes, params);
        }
    }
}
