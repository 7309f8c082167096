//! Comparison of a fractal heap's header with the heap's blocks and the objects in use.

use hyperslab_format::codec::Address;
use hyperslab_format::fractal_heap::{DoublingTable, FractalHeapHeader};
use hyperslab_format::free_space::{FreeSpaceClient, FreeSpaceSectionKind};

use crate::file::{Checker, to_usize};
use crate::file_space;
use crate::fractal_heap::{Heap, NAME};
use crate::totals::{add, end_of, start_of};

const HEADER: &str = "fractal heap header";

impl Heap {
    /// Compares the statistics in the fractal heap's header with the results of the walk. All users
    /// of the heap must be checked before.
    pub(crate) fn finish(mut self, checker: &mut Checker) {
        self.managed.sort_unstable();
        for pair in self.managed.windows(2) {
            if let [(one, length), (next, _)] = pair
                && end_of(*one, *length) > *next
            {
                let text = format!("objects at offsets {one:#x} and {next:#x} overlap");
                checker.fault(NAME, self.address, text);
            }
        }
        if self.blocks.complete {
            self.blocks_against_header(checker);
        }
        if self.complete {
            self.objects_against_header(checker);
        }
        checker.in_heap(|checker| self.free_sections(checker));
    }

    fn blocks_against_header(&self, checker: &mut Checker) {
        let allocated = self.blocks.direct.iter().fold(0, |sum, block| end_of(sum, block.size));
        let address = self.address;
        let stated = self.header.allocated_size;
        total(checker, address, "bytes of direct blocks", stated, allocated, stated < allocated);
        let managed = managed_size(&self.header, &self.table);
        checker.same(HEADER, address, "bytes of address space", self.header.managed_size, managed);
        let end = self.blocks.direct.last().map_or(0, |block| end_of(block.offset, block.size));
        if self.header.root_rows > 0 && self.header.iterator_offset < end {
            let text = format!(
                "the next block begins at offset {:#x}, but the last block ends at {end:#x}",
                self.header.iterator_offset
            );
            checker.fault(HEADER, address, text);
        }
    }

    fn objects_against_header(&self, checker: &mut Checker) {
        let (header, address) = (&self.header, self.address);
        let sum = |lengths: &mut dyn Iterator<Item = u64>| lengths.fold(0, end_of);
        let objects = self.managed.len() as u64;
        checker.same(HEADER, address, "managed objects", header.managed_objects, objects);
        checker.same(HEADER, address, "tiny objects", header.tiny_objects, self.tiny.len() as u64);
        let tiny = sum(&mut self.tiny.iter().copied());
        checker.same(HEADER, address, "bytes of tiny objects", header.tiny_size, tiny);
        checker.same(HEADER, address, "huge objects", header.huge_objects, self.huge.len() as u64);
        let huge = sum(&mut self
            .huge
            .values()
            .map(|(record, _)| record.filtered.map_or(record.length, |filtered| filtered.memory_size)));
        checker.same(HEADER, address, "bytes of huge objects", header.huge_size, huge);
        let unused = self.huge.values().filter(|(_, used)| !used).count();
        if unused > 0 {
            checker.fault(
                NAME,
                address,
                format!(
                    "the fractal heap has {unused} huge objects that no attribute, link or message refers to"
                ),
            );
        }
        if !self.blocks.complete {
            return;
        }
        let taken = sum(&mut self.managed.iter().map(|(_, length)| *length));
        let free = capacity(header, &self.table, self.prefix()).saturating_sub(taken);
        let stated = header.free_space;
        total(checker, address, "free bytes in managed blocks", stated, free, stated > free);
    }

    /// Returns the number of bytes before the objects of a direct block of the fractal heap.
    fn prefix(&self) -> u64 {
        self.blocks.direct.first().map_or(0, |block| block.prefix as u64)
    }

    /// Walks the fractal heap's free-space manager, and checks that every byte of a direct block
    /// belongs to an object or to a free-space section.
    fn free_sections(&self, checker: &mut Checker) {
        let address = self.header.free_space_manager;
        if !address.is_defined() {
            return self.check_block_coverage(checker, &[]);
        }
        let width = self.table.offset_width();
        let walked = file_space::walk(checker, address, FreeSpaceClient::FRACTAL_HEAP, width);
        let Some((_, Some(sections))) = walked else { return };
        let single = |kind: &FreeSpaceSectionKind| *kind == FreeSpaceSectionKind::SINGLE;
        let mut free: Vec<(u64, u64)> = sections
            .iter()
            .filter(|section| single(&section.kind))
            .map(|section| (section.offset, section.size))
            .collect();
        free.sort_unstable();
        for (offset, size) in &free {
            if self.blocks.complete && self.blocks.find(*offset).is_none() {
                let text =
                    format!("no direct block holds the free section of {size} bytes at offset {offset:#x}");
                checker.fault(NAME, self.address, text);
            }
        }
        self.check_block_coverage(checker, &free);
    }

    /// Checks that objects and free-space sections together fill the direct blocks of the fractal
    /// heap without gaps.
    fn check_block_coverage(&self, checker: &mut Checker, free: &[(u64, u64)]) {
        if !self.complete || !self.blocks.complete {
            return;
        }
        let mut parts: Vec<(u64, u64)> = self.managed.iter().chain(free).copied().collect();
        parts.sort_unstable();
        let mut parts = parts.into_iter().peekable();
        for block in &self.blocks.direct {
            let end = end_of(block.offset, block.size);
            let mut at = end_of(block.offset, block.prefix as u64);
            while let Some((offset, length)) = parts.next_if(|(offset, _)| *offset < end) {
                if offset != at {
                    let problem = if offset < at { "overlap" } else { "leave a gap" };
                    let text = format!("objects and free sections {problem} at offset {:#x}", offset.min(at));
                    checker.fault(NAME, self.address, text);
                }
                at = at.max(end_of(offset, length));
            }
            if at != end {
                let text = format!("no object and no free section from offset {at:#x} to {end:#x}");
                checker.fault(NAME, self.address, text);
            }
        }
    }
}

/// Compares a total that the fractal heap's header states with the total that the check has found.
/// Records a difference as a remark if `lost` is true, otherwise as a fault.
///
/// `lost` is true for a difference that libhdf5 itself can cause. It occurs when libhdf5 replaces
/// an attribute that is the only object of a direct block. No reader needs these totals.
fn total(checker: &mut Checker, address: Address, problem: &str, stated: u64, found: u64, lost: bool) {
    if lost {
        checker.remark(HEADER, address, format!("{problem}: {stated} stated, {found} found"));
    } else {
        checker.same(HEADER, address, problem, stated, found);
    }
}

/// Returns the size in bytes of the address range of managed objects that the root block of the
/// fractal heap covers.
fn managed_size(header: &FractalHeapHeader, table: &DoublingTable) -> u64 {
    match (header.root == Address::UNDEFINED, header.root_rows) {
        (true, _) => 0,
        (false, 0) => header.starting_block_size,
        (false, rows) => table.row_offset(rows.into()),
    }
}

/// Returns the capacity of the fractal heap for objects: the number of bytes, without prefixes, in
/// all direct blocks that the root block can reach.
fn capacity(header: &FractalHeapHeader, table: &DoublingTable, prefix: u64) -> u64 {
    match (header.root == Address::UNDEFINED, header.root_rows) {
        (true, _) => 0,
        (false, 0) => header.starting_block_size.saturating_sub(prefix),
        (false, rows) => table_capacity(table, rows.into(), prefix),
    }
}

/// Returns the number of bytes for objects in all blocks below one doubling table of a fractal
/// heap. The table has `rows` rows. The recursion ends, because child tables have fewer rows than
/// their parent, and no table has more than 64 rows.
fn table_capacity(table: &DoublingTable, rows: u32, prefix: u64) -> u64 {
    let mut below: Vec<u64> = Vec::new();
    let mut total = 0_u64;
    for row in 0..rows {
        let size = table.row_block_size(row);
        let one = if row < table.max_direct_rows() {
            size.saturating_sub(prefix)
        } else {
            // Tables of fewer rows were counted in earlier iterations, as sums of rows.
            let rows = to_usize(table.rows_for(size).into());
            below.get(rows.wrapping_sub(1)).copied().unwrap_or(0)
        };
        add(&mut total, start_of(one, table.width()));
        below.push(total);
    }
    total
}
