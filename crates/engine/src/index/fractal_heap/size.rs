//! The size of a fractal heap in the file.

use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{FractalHeapHeader, FractalHeapIndirectBlock};
use hyperslab_format::free_space::FreeSpaceHeader;

use super::FractalHeap;
use crate::error::{Error, Result};
use crate::index::VisitedBlocks;
use crate::index::btree_v2::BTreeV2;
use crate::store::Store;

impl FractalHeap {
    /// Returns the size of the fractal heap in the file in bytes: its header, its blocks, its huge
    /// objects with their B-tree, and its free-space manager. Direct blocks count with their sizes
    /// before the filters.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn bytes(&self, store: &Store) -> Result<u64> {
        let params = store.params();
        let header = &self.header;
        let own = to_u64(FractalHeapHeader::size(&self.changed_context(params)?.header));
        let indirect = match header.root_rows {
            0 => 0,
            rows => self.indirect_bytes(store, rows.into())?,
        };
        let huge_index = match header.huge_btree {
            address if address.is_defined() => BTreeV2::open(store, address)?.bytes(store)?,
            _ => 0,
        };
        let free_space = match header.free_space_manager {
            address if address.is_defined() => {
                let manager: Arc<FreeSpaceHeader> = store.shared(address, &params)?;
                let list = if manager.list.is_defined() { manager.list_allocated } else { 0 };
                to_u64(FreeSpaceHeader::size(&params)).checked_add(list)
            }
            _ => Some(0),
        };
        let stated = header.allocated_size.checked_add(header.huge_size);
        let all = [stated, free_space, own.checked_add(indirect), Some(huge_index)];
        all.into_iter().try_fold(0_u64, |sum, part| sum.checked_add(part?)).ok_or_else(|| {
            let (name, expected) = (FractalHeapHeader::NAME, "sizes inside the file");
            Error::corrupt(name, "statistics", expected, header.allocated_size).at(self.address)
        })
    }

    /// Returns the size of all indirect blocks of the fractal heap. The root block has `rows` rows.
    fn indirect_bytes(&self, store: &Store, rows: u32) -> Result<u64> {
        let mut guard = VisitedBlocks::new(store, FractalHeapIndirectBlock::NAME);
        let mut pending: Vec<(Address, u32)> = vec![(self.header.root, rows)];
        let mut bytes = 0;
        while let Some((address, rows)) = pending.pop() {
            guard.enter(address)?;
            let context = self.indirect_context(store, rows);
            let node: Arc<FractalHeapIndirectBlock> = store.shared(address, &context)?;
            bytes += to_u64(FractalHeapIndirectBlock::size(&context));
            for (number, child) in node.children.iter().enumerate().filter(|(_, child)| child.is_defined()) {
                let entry = self.table.entry(number);
                if !entry.direct {
                    pending.push((*child, self.rows_below(entry.block_size, rows, *child)?));
                }
            }
        }
        Ok(bytes)
    }
}
