//! Symbol table node (File Format Specification, section III.B): the links of a symbol table group.
//! Symbol table nodes are the leaves of the group's version 1 B-tree.
//!
//! ```text
//! byte  0   signature "SNOD"
//!       4   version 1
//!       5   reserved
//!       6   number of symbols (2)
//!       8   symbol table entries, sorted by name; space for 2K of them, undefined after the last
//! ```

use crate::codec::{FileParams, Reader, Result, Structure, Writer};
use crate::symbol_table_entry::SymbolTableEntry;

const SIGNATURE: &[u8; 4] = b"SNOD";
const VERSION: u8 = 1;
const PREFIX_SIZE: usize = 8;

/// Parameters that determine the layout of a symbol table node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolTableNodeContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// "Group Leaf Node K" of the superblock: a node holds up to 2K entries.
    pub leaf_k: u16,
}

impl SymbolTableNodeContext {
    /// Returns the largest number of links in one symbol table node of a group.
    pub fn capacity(&self) -> usize {
        usize::from(self.leaf_k) * 2
    }
}

/// A symbol table node: some of a group's links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolTableNode {
    /// Entries, sorted by name.
    pub entries: Vec<SymbolTableEntry>,
}

impl Structure for SymbolTableNode {
    const NAME: &'static str = "symbol table node";
    type Context = SymbolTableNodeContext;

    fn size(context: &SymbolTableNodeContext) -> usize {
        let entries = context.capacity() * SymbolTableEntry::size(&context.params);
        entries + PREFIX_SIZE
    }

    fn decode(bytes: &[u8], context: &SymbolTableNodeContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        reader.skip(1, "reserved")?;
        let count = reader.u16("number of symbols")?;
        if usize::from(count) > context.capacity() {
            let maximum = format!("at most 2K = {}", context.capacity());
            return Err(reader.corrupt("number of symbols", maximum, count));
        }
        let entry_size = SymbolTableEntry::size(&context.params);
        let count = reader.count(count.into(), entry_size, "number of symbols")?;
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            entries.push(SymbolTableEntry::read(&mut reader, context.params)?);
        }
        Ok(Self { entries })
    }

    fn encode(&self, context: &SymbolTableNodeContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.zeros(1);
        writer.narrow_u16(self.entries.len(), "number of symbols");
        for entry in &self.entries {
            entry.write(&mut writer, context.params);
        }
        writer.pad_to(Self::size(context), "number of symbols");
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Address;
    use crate::mutation::damage;
    use crate::symbol_table_entry::{SymbolTableCache, tests::entry};
    use proptest::prelude::*;

    const CONTEXT: SymbolTableNodeContext =
        SymbolTableNodeContext { params: FileParams { size_of_offsets: 2, size_of_lengths: 2 }, leaf_k: 1 };

    fn one_link() -> Vec<u8> {
        let mut bytes = b"SNOD\x01\x00\x01\x00".to_vec();
        bytes.extend([16, 0, 0x50, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0; 16 + 28]);
        bytes
    }

    #[test]
    fn one_entry_of_two() {
        let bytes = one_link();
        assert_eq!(SymbolTableNode::size(&CONTEXT), bytes.len());
        let node = SymbolTableNode::decode(&bytes, &CONTEXT).unwrap();
        let entry = SymbolTableEntry {
            name_offset: 16,
            header: Address::new(0x350),
            cache: SymbolTableCache::Nothing,
        };
        assert_eq!(node.entries, [entry]);
        assert_eq!(node.encode(&CONTEXT).unwrap(), bytes);
    }

    #[test]
    fn refusals() {
        let mut bytes = one_link();
        bytes[4] = 2;
        let error = SymbolTableNode::decode(&bytes, &CONTEXT).unwrap_err().to_string();
        assert_eq!(error, "symbol table node: version 2 is not supported");
        let mut bytes = one_link();
        bytes[6] = 3;
        let error = SymbolTableNode::decode(&bytes, &CONTEXT).unwrap_err().to_string();
        assert!(error.contains("at most 2K = 2, got 3"), "{error}");
        let entry = SymbolTableNode::decode(&one_link(), &CONTEXT).unwrap().entries.remove(0);
        let full = SymbolTableNode { entries: vec![entry; 3] };
        assert!(full.encode(&CONTEXT).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(entries in prop::collection::vec(entry(), 0..8)) {
            let context = SymbolTableNodeContext { params: FileParams::DEFAULT, leaf_k: 4 };
            let node = SymbolTableNode { entries };
            let bytes = node.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), SymbolTableNode::size(&context));
            prop_assert_eq!(SymbolTableNode::decode(&bytes, &context).unwrap(), node);
        }

        #[test]
        fn damaged(entries in prop::collection::vec(entry(), 0..8), damage in damage()) {
            let context = SymbolTableNodeContext { params: FileParams::DEFAULT, leaf_k: 4 };
            let bytes = SymbolTableNode { entries }.encode(&context).unwrap();
            damage.inflict(&bytes, |bytes| drop(SymbolTableNode::decode(bytes, &context)));
        }
    }
}
