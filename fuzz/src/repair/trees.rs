//! Version 2 B-trees, and the indexes of shared messages.

use hyperslab_format::btree_v2::{BTreeV2Header, BTreeV2Internal, BTreeV2Layout};
use hyperslab_format::codec::{Address, Structure};
use hyperslab_format::message::SharedMessageTableMessage;
use hyperslab_format::shared_message::{
    SharedMessageIndexKind, SharedMessageList, SharedMessageListContext, SharedMessageTable,
    SharedMessageTableContext,
};

use super::{Kind, Repair};

impl Repair<'_> {
    pub(super) fn tree(&mut self, start: usize) -> Option<()> {
        let header: BTreeV2Header = self.block(Kind::TreeHeader, start, &{ self.params })?;
        let layout = BTreeV2Layout::new(&header, self.params).ok()?;
        let mut pending = vec![(header.depth, header.root, u64::from(header.root_records))];
        while let Some((level, address, records)) = pending.pop() {
            pending.extend(self.tree_node(&layout, level, address, records).unwrap_or_default());
        }
        Some(())
    }

    /// Seals a node and returns its children.
    fn tree_node(
        &mut self,
        layout: &BTreeV2Layout,
        level: u16,
        address: Address,
        records: u64,
    ) -> Option<Vec<(u16, Address, u64)>> {
        let start = self.place(address)?;
        let Some(below) = level.checked_sub(1) else {
            self.seal(Kind::TreeLeaf, start, layout.leaf(records).ok()?.used_size())?;
            return Some(Vec::new());
        };
        let context = layout.internal(level, records).ok()?;
        self.seal(Kind::TreeInternal, start, context.used_size())?;
        let end = start.checked_add(BTreeV2Internal::size(&context))?.min(self.file.len());
        let node = BTreeV2Internal::decode(self.file.get(start..end)?, &context).ok()?;
        Some(node.children.iter().map(|child| (below, child.address, child.records)).collect())
    }

    pub(super) fn shared_table(&mut self, message: &SharedMessageTableMessage) -> Option<()> {
        let start = self.place(message.table)?;
        let context = SharedMessageTableContext { params: self.params, indexes: message.index_count };
        let table: SharedMessageTable = self.block(Kind::SharedTable, start, &context)?;
        for index in &table.indexes {
            let (Some(start), SharedMessageIndexKind::List) = (self.place(index.index), index.kind) else {
                continue;
            };
            let (params, records) = (self.params, index.messages);
            // What the records take; the rest of the list is room.
            let used = SharedMessageListContext { params, records, capacity: records };
            let _ = self.seal(Kind::SharedList, start, SharedMessageList::size(&used));
        }
        Some(())
    }
}
