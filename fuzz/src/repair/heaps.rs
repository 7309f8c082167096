//! Fractal heaps.

use hyperslab_format::codec::{Address, Structure};
use hyperslab_format::fractal_heap::{DoublingTable, FractalHeapHeader, FractalHeapIndirectBlock};

use super::{Kind, Repair};

/// A block of a heap that is still to be sealed.
enum Block {
    Direct(Address, u64),
    /// With its rows.
    Indirect(Address, u32),
}

impl Repair<'_> {
    pub(super) fn heap(&mut self, start: usize) -> Option<()> {
        let prefix = self.file.get(start..start.checked_add(FractalHeapHeader::PREFIX_SIZE)?)?;
        let context = FractalHeapHeader::stored_context(prefix, self.params).ok()?;
        let header: FractalHeapHeader = self.block(Kind::HeapHeader, start, &context)?;
        let table = DoublingTable::new(&header).ok()?;
        let owner = self.address(start);
        let mut pending = vec![match header.root_rows {
            0 => Block::Direct(header.root, header.starting_block_size),
            rows => Block::Indirect(header.root, rows.into()),
        }];
        while let Some(block) = pending.pop() {
            match block {
                // Filters hide the checksum.
                Block::Direct(..) if header.filters.is_some() => {}
                Block::Direct(address, size) => {
                    let _ = self.direct_block(&table, owner, address, size);
                }
                Block::Indirect(address, rows) => {
                    pending.extend(self.indirect_block(&table, owner, address, rows).unwrap_or_default());
                }
            }
        }
        Some(())
    }

    fn direct_block(
        &mut self,
        table: &DoublingTable,
        owner: Address,
        address: Address,
        size: u64,
    ) -> Option<()> {
        let start = self.place(address)?;
        let context = table.direct_block(self.params, owner, size).ok()?;
        if !context.checksum {
            return None;
        }
        let place = start.checked_add(context.prefix_size())?.checked_sub(4)?;
        self.seal_at(Kind::HeapDirect, start, context.size, place)
    }

    /// Seals an indirect block and returns its children.
    fn indirect_block(
        &mut self,
        table: &DoublingTable,
        owner: Address,
        address: Address,
        rows: u32,
    ) -> Option<Vec<Block>> {
        let start = self.place(address)?;
        let context = table.indirect_block(self.params, owner, rows);
        let length = FractalHeapIndirectBlock::size(&context);
        self.seal(Kind::HeapIndirect, start, length)?;
        let bytes = self.file.get(start..start.checked_add(length)?)?;
        let block = FractalHeapIndirectBlock::decode(bytes, &context).ok()?;
        let children = block.children.iter().enumerate().filter(|(_, child)| child.is_defined());
        let children = children.map(|(number, child)| {
            let entry = table.entry(number);
            if entry.direct {
                Block::Direct(*child, entry.block_size)
            } else {
                Block::Indirect(*child, table.rows_for(entry.block_size))
            }
        });
        Some(children.collect())
    }
}
