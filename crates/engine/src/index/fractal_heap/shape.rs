//! Arithmetic on the doubling table of one heap and on the bytes that objects can take in its
//! blocks.
//!
//! The functions take rows and entries of tables that the heap can have. All blocks of such a table
//! lie below 2^64, so that no sum overflows. An overflow is an internal error.

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{FormatError, Result};
use hyperslab_format::fractal_heap::{DoublingTable, DoublingTableEntry};

/// The geometry of a fractal heap: the doubling table, and the size of the prefix of direct blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) table: DoublingTable,
    /// Bytes of each direct block before the first object. Smaller than the smallest direct block.
    pub(super) prefix: u64,
}

/// Two totals for the missing blocks (not created yet) of a fractal heap's indirect block: the
/// number of their free sections, and their bytes. A free-space manager counts one free section for
/// each row of direct blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RowSections {
    pub(super) count: u64,
    /// The sum over all sections of the object bytes of one block of the row.
    pub(super) space: u64,
}

impl RowSections {
    /// Adds the totals `other`, multiplied by `times`, to these totals of the free sections for
    /// missing fractal heap blocks.
    fn add(&mut self, other: Self, times: u64) -> Result<()> {
        self.count = add_product(self.count, other.count, times)?;
        self.space = add_product(self.space, other.space, times)?;
        Ok(())
    }
}

fn overflow() -> FormatError {
    FormatError::internal("doubling table of a fractal heap", "all blocks lie below 2^64")
}

fn add_product(sum: u64, factor: u64, times: u64) -> Result<u64> {
    factor.checked_mul(times).and_then(|product| sum.checked_add(product)).ok_or_else(overflow)
}

impl Shape {
    /// Returns the number of bytes for heap objects in a fractal heap's direct block of `size`
    /// bytes.
    pub(super) fn object_bytes(&self, size: u64) -> u64 {
        // `FractalHeap::with_header` refuses blocks that are not larger than the prefix.
        size - self.prefix
    }

    /// Returns the number of bytes for heap objects in one direct block of the row `row` of a
    /// fractal heap's doubling table.
    pub(super) fn row_object_bytes(&self, row: u32) -> u64 {
        self.object_bytes(self.table.row_block_size(row))
    }

    /// Returns the number of bytes for heap objects in the largest direct block of a fractal heap.
    pub(super) fn max_object_bytes(&self) -> u64 {
        self.object_bytes(self.table.max_direct_size())
    }

    /// Returns the size in bytes of the smallest direct block of a fractal heap that can hold a
    /// heap object of `length` bytes.
    pub(super) fn block_for(&self, length: u64) -> Option<u64> {
        let size = length.checked_add(self.prefix)?.checked_next_power_of_two()?;
        Some(size.max(self.table.row_block_size(0))).filter(|size| *size <= self.table.max_direct_size())
    }

    /// Returns the number of bytes of a fractal heap's address space that an indirect block of
    /// `rows` rows covers.
    pub(super) fn covered(&self, rows: u32) -> u64 {
        if rows == 0 { 0 } else { self.table.row_offset(rows) }
    }

    /// Returns the number of rows of the child indirect blocks in the row `row` of a fractal heap's
    /// doubling table.
    fn rows_of_child(&self, row: u32) -> u32 {
        self.table.rows_for(self.table.row_block_size(row))
    }

    /// Returns the total number of bytes for heap objects below a fractal heap's indirect block of
    /// `rows` rows, if all its direct blocks exist.
    pub(super) fn capacity(&self, rows: u32) -> Result<u64> {
        let mut capacity = 0;
        // The capacities of indirect blocks of 0, 1, 2, … rows.
        let mut capacities = vec![capacity];
        for row in 0..rows {
            let block = if row < self.table.max_direct_rows() {
                self.row_object_bytes(row)
            } else {
                *capacities.get(self.rows_of_child(row) as usize).ok_or_else(overflow)?
            };
            capacity = add_product(capacity, block, self.table.width())?;
            capacities.push(capacity);
        }
        Ok(capacity)
    }

    /// Returns the totals of the free sections of a fractal heap's indirect block of `rows` rows,
    /// if all its child blocks are missing.
    fn all_missing(&self, rows: u32) -> Result<RowSections> {
        let mut sections = RowSections::default();
        // The sections of indirect blocks of 0, 1, 2, … rows.
        let mut by_rows = vec![sections];
        for row in 0..rows {
            if row < self.table.max_direct_rows() {
                sections.add(RowSections { count: 1, space: self.row_object_bytes(row) }, 1)?;
            } else {
                let below = *by_rows.get(self.rows_of_child(row) as usize).ok_or_else(overflow)?;
                sections.add(below, self.table.width())?;
            }
            by_rows.push(sections);
        }
        Ok(sections)
    }

    /// Divides `count` entries of a fractal heap's indirect block, from the entry `first` on, into
    /// rows. Returns the first entry of each row and the number of entries in the row.
    fn by_rows(&self, first: usize, count: usize) -> Result<impl Iterator<Item = (DoublingTableEntry, u64)>> {
        let (table, end) = (self.table, first.checked_add(count).ok_or_else(overflow)?);
        let width = to_usize(table.width())?;
        let mut number = first;
        Ok(std::iter::from_fn(move || {
            if number >= end {
                return None;
            }
            let entry = table.entry(number);
            let in_row = (width - number % width).min(end - number);
            number += in_row;
            Some((entry, to_u64(in_row)))
        }))
    }

    /// Returns the totals of the free sections for `count` missing blocks (not created yet). They
    /// begin at the entry `first` of a fractal heap's indirect block.
    pub(super) fn missing(&self, first: usize, count: usize) -> Result<RowSections> {
        let mut sections = RowSections::default();
        for (entry, in_row) in self.by_rows(first, count)? {
            if entry.direct {
                sections.add(RowSections { count: 1, space: self.row_object_bytes(entry.row) }, 1)?;
            } else {
                sections.add(self.all_missing(self.table.rows_for(entry.block_size))?, in_row)?;
            }
        }
        Ok(sections)
    }

    /// Returns the number of bytes for heap objects in the first of several missing blocks of a
    /// fractal heap. The missing blocks begin at the entry `first` of an indirect block. If this
    /// entry is for an indirect block, returns the number for the smallest direct block.
    pub(super) fn first_object_bytes(&self, first: usize) -> u64 {
        let entry = self.table.entry(first);
        self.row_object_bytes(if entry.direct { entry.row } else { 0 })
    }

    /// Returns the size of the largest direct block among the blocks below an entry of a fractal
    /// heap's indirect block. The entry covers `size` bytes of the heap's address space.
    fn largest_below(&self, size: u64) -> u64 {
        let rows = self.table.rows_for(size).min(self.table.max_direct_rows());
        rows.checked_sub(1).map_or(0, |row| self.table.row_block_size(row))
    }

    /// Returns the first direct block of at least `least` bytes that begins at or after the offset
    /// `from`. Searches a fractal heap's doubling table of `rows` rows at `base`. Returns the
    /// block's offset in the heap's address space and its size.
    pub(super) fn first_block(&self, base: u64, rows: u32, from: u64, least: u64) -> Option<(u64, u64)> {
        let next_row = |row: u32| usize::try_from(u64::from(row + 1) * self.table.width()).ok();
        let mut number = match from.checked_sub(base) {
            Some(inside) => self.table.locate(inside).number(&self.table),
            None => 0,
        };
        loop {
            let entry = self.table.entry(number);
            if entry.row >= rows {
                return None;
            }
            let start = base.checked_add(entry.block_offset)?;
            let largest = if entry.direct { entry.block_size } else { self.largest_below(entry.block_size) };
            if largest < least {
                number = next_row(entry.row)?;
                continue;
            }
            if entry.direct {
                if start >= from {
                    return Some((start, entry.block_size));
                }
            } else {
                let below = self.table.rows_for(entry.block_size);
                if let Some(found) = self.first_block(start, below.min(entry.row), from, least) {
                    return Some(found);
                }
            }
            number = number.checked_add(1)?;
        }
    }

    /// Returns the offset and the size of a missing direct block (not created yet) of a fractal
    /// heap: the smallest one of at least `least` bytes. Searches the `count` entries from the
    /// entry `first` on of the indirect block at the offset `base`.
    pub(super) fn smallest_missing(
        &self,
        base: u64,
        first: usize,
        count: usize,
        least: u64,
    ) -> Result<Option<(u64, u64)>> {
        let mut best: Option<(u64, u64)> = None;
        for (entry, _) in self.by_rows(first, count)? {
            let start = base.checked_add(entry.block_offset).ok_or_else(overflow)?;
            let found = if entry.direct {
                (entry.block_size >= least).then_some((start, entry.block_size))
            } else {
                let below = self.table.rows_for(entry.block_size).min(entry.row);
                self.first_block(start, below, start, least)
            };
            if let Some((_, size)) = found
                && best.is_none_or(|(_, smallest)| size < smallest)
            {
                best = found;
                if size == least {
                    break;
                }
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::fractal_heap::FractalHeapCreation;
    use hyperslab_format::codec::FileParams;

    fn links() -> Shape {
        let header = FractalHeapCreation::LINKS.header(FileParams::DEFAULT);
        Shape { table: DoublingTable::new(&header).unwrap(), prefix: 21 }
    }

    #[test]
    fn capacities_are_sums_over_all_blocks() {
        let shape = links();
        assert_eq!([0, 1, 2].map(|rows| shape.capacity(rows).unwrap()), [0, 4 * 491, 8 * 491]);
        // libhdf5 states 243391 free bytes for a heap of 8 rows and 9 objects of 2009 bytes.
        assert_eq!(shape.capacity(8).unwrap() - 9 * 2009, 243_391);
        assert_eq!((shape.covered(0), shape.covered(1), shape.covered(8)), (0, 2048, 262_144));
    }

    #[test]
    fn missing_blocks_are_counted_by_rows() {
        let shape = links();
        // Counts of a manager of libhdf5 for 12 and 15 skipped blocks.
        assert_eq!(shape.missing(0, 12).unwrap(), RowSections { count: 3, space: 491 + 491 + 1003 });
        assert_eq!(shape.missing(1, 15).unwrap(), RowSections { count: 4, space: 491 + 491 + 1003 + 2027 });
        let below = RowSections { count: 7, space: 2 * 491 + 1003 + 2027 + 4075 + 8171 + 16363 };
        assert_eq!(shape.missing(36, 1).unwrap(), below);
        assert_eq!(shape.missing(35, 2).unwrap(), RowSections { count: 8, space: below.space + 65515 });
        assert_eq!(shape.missing(36, 2).unwrap(), RowSections { count: 14, space: 2 * below.space });
    }

    #[test]
    fn the_first_block_that_is_large_enough() {
        let shape = links();
        let rows = shape.table.max_root_rows();
        assert_eq!(shape.first_block(0, rows, 0, 512), Some((0, 512)));
        assert_eq!(shape.first_block(0, rows, 512, 512), Some((512, 512)));
        assert_eq!(shape.first_block(0, rows, 512, 2048), Some((8192, 2048)));
        // The first indirect block has no direct blocks of 32 KiB. The blocks of the next row have.
        assert_eq!(shape.first_block(0, rows, 524_288, 512), Some((524_288, 512)));
        assert_eq!(shape.first_block(0, rows, 524_288, 32768), Some((1_048_576 + 131_072, 32768)));
        assert_eq!(shape.first_block(0, rows, 0, 131_072), None);
        assert_eq!(shape.first_block(0, rows, 1 << 32, 512), None);
        assert_eq!(
            (shape.block_for(491), shape.block_for(492), shape.block_for(65515)),
            (Some(512), Some(1024), Some(65536))
        );
        assert_eq!(shape.block_for(65516), None);
    }
}
