//! The doubling table of one heap together with what fits into its blocks.

use hyperslab_format::fractal_heap::{DoublingTable, DoublingTableEntry};

/// The table, and the bytes of each direct block that no object can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) table: DoublingTable,
    pub(super) prefix: u64,
}

/// Missing blocks of an indirect block, as free-space managers count them: a section for each row of direct blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RowSections {
    pub(super) count: u64,
    /// The sum of what fits into one block of each row.
    pub(super) space: u64,
}

impl RowSections {
    fn add(&mut self, other: Self, times: u64) {
        self.count = self.count.saturating_add(other.count.saturating_mul(times));
        self.space = self.space.saturating_add(other.space.saturating_mul(times));
    }
}

impl Shape {
    /// Bytes for objects in a direct block of that size.
    pub(super) fn room(&self, size: u64) -> u64 {
        size.saturating_sub(self.prefix)
    }

    /// The same for a row of direct blocks.
    pub(super) fn row_room(&self, row: u32) -> u64 {
        self.room(self.table.row_block_size(row))
    }

    /// Bytes for objects in the largest direct block.
    pub(super) fn largest_room(&self) -> u64 {
        self.room(self.table.max_direct_size())
    }

    /// The size of the smallest direct block that an object of `length` bytes fits into.
    pub(super) fn block_for(&self, length: u64) -> Option<u64> {
        let size = length.checked_add(self.prefix)?.checked_next_power_of_two()?;
        Some(size.max(self.table.row_block_size(0))).filter(|size| *size <= self.table.max_direct_size())
    }

    /// Bytes that an indirect block of `rows` rows covers.
    pub(super) fn covered(&self, rows: u32) -> u64 {
        if rows == 0 { 0 } else { self.table.row_offset(rows) }
    }

    /// Bytes for objects in all direct blocks that an indirect block of `rows` rows can have below it.
    pub(super) fn capacity(&self, rows: u32) -> u64 {
        let mut by_rows = vec![0_u64];
        for row in 0..rows {
            let block = if row < self.table.max_direct_rows() {
                self.row_room(row)
            } else {
                let below = self.table.rows_for(self.table.row_block_size(row));
                by_rows.get(below as usize).copied().unwrap_or(u64::MAX)
            };
            let before = by_rows.last().copied().unwrap_or(0);
            by_rows.push(before.saturating_add(block.saturating_mul(self.table.width())));
        }
        by_rows.last().copied().unwrap_or(0)
    }

    /// The sections of an indirect block of `rows` rows that misses all its blocks.
    fn all_missing(&self, rows: u32) -> RowSections {
        let mut by_rows = vec![RowSections::default()];
        for row in 0..rows {
            let mut sections = by_rows.last().copied().unwrap_or_default();
            if row < self.table.max_direct_rows() {
                sections.add(RowSections { count: 1, space: self.row_room(row) }, 1);
            } else {
                let below = self.table.rows_for(self.table.row_block_size(row));
                sections.add(by_rows.get(below as usize).copied().unwrap_or_default(), self.table.width());
            }
            by_rows.push(sections);
        }
        by_rows.last().copied().unwrap_or_default()
    }

    /// The first of `count` entries from `first` on, and of those behind it in each further row; with their number
    /// in the row.
    fn by_rows(&self, first: usize, count: usize) -> impl Iterator<Item = (DoublingTableEntry, u64)> {
        let (table, end) = (self.table, first.saturating_add(count));
        let mut number = first;
        std::iter::from_fn(move || {
            if number >= end {
                return None;
            }
            let entry = table.entry(number);
            let in_row = table.width().saturating_sub(entry.column).max(1);
            let step = usize::try_from(in_row).unwrap_or(usize::MAX).min(end.saturating_sub(number));
            number = number.saturating_add(step);
            Some((entry, step as u64))
        })
    }

    /// The sections of `count` missing blocks from the entry `first` of an indirect block on.
    pub(super) fn missing(&self, first: usize, count: usize) -> RowSections {
        let mut sections = RowSections::default();
        for (entry, in_row) in self.by_rows(first, count) {
            if entry.direct {
                sections.add(RowSections { count: 1, space: self.row_room(entry.row) }, 1);
            } else {
                sections.add(self.all_missing(self.table.rows_for(entry.block_size)), in_row);
            }
        }
        sections
    }

    /// What fits into a block of the first row of those sections.
    pub(super) fn first_room(&self, first: usize) -> u64 {
        let entry = self.table.entry(first);
        self.row_room(if entry.direct { entry.row } else { 0 })
    }

    /// The size of the largest direct block below an entry that covers `size` bytes.
    fn largest_below(&self, size: u64) -> u64 {
        let rows = self.table.rows_for(size).min(self.table.max_direct_rows());
        rows.checked_sub(1).map_or(0, |row| self.table.row_block_size(row))
    }

    /// The first direct block of at least `least` bytes at `from` or behind it in a table of `rows` rows that begins
    /// at `base`: its offset in the heap's address space, and its size.
    pub(super) fn first_block(&self, base: u64, rows: u32, from: u64, least: u64) -> Option<(u64, u64)> {
        let next_row = |row: u32| usize::try_from(u64::from(row.saturating_add(1)) * self.table.width()).ok();
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

    /// The smallest direct block of at least `least` bytes among `count` missing ones from the entry `first` of the
    /// table at `base` on: its offset and size.
    pub(super) fn smallest_missing(
        &self,
        base: u64,
        first: usize,
        count: usize,
        least: u64,
    ) -> Option<(u64, u64)> {
        let mut best: Option<(u64, u64)> = None;
        for (entry, _) in self.by_rows(first, count) {
            let start = base.saturating_add(entry.block_offset);
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
        best
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
        assert_eq!((shape.capacity(0), shape.capacity(1), shape.capacity(2)), (0, 4 * 491, 8 * 491));
        // libhdf5 states 243391 free bytes for a heap of 8 rows and 9 objects of 2009 bytes.
        assert_eq!(shape.capacity(8) - 9 * 2009, 243_391);
        assert_eq!((shape.covered(0), shape.covered(1), shape.covered(8)), (0, 2048, 262_144));
    }

    #[test]
    fn missing_blocks_are_counted_by_rows() {
        let shape = links();
        // As a manager of libhdf5 counts 12 and 15 blocks skipped.
        assert_eq!(shape.missing(0, 12), RowSections { count: 3, space: 491 + 491 + 1003 });
        assert_eq!(shape.missing(1, 15), RowSections { count: 4, space: 491 + 491 + 1003 + 2027 });
        let below = RowSections { count: 7, space: 2 * 491 + 1003 + 2027 + 4075 + 8171 + 16363 };
        assert_eq!(shape.missing(36, 1), below);
        assert_eq!(shape.missing(35, 2), RowSections { count: 8, space: below.space + 65515 });
        assert_eq!(shape.missing(36, 2), RowSections { count: 14, space: 2 * below.space });
    }

    #[test]
    fn the_first_block_that_is_large_enough() {
        let shape = links();
        let rows = shape.table.max_root_rows();
        assert_eq!(shape.first_block(0, rows, 0, 512), Some((0, 512)));
        assert_eq!(shape.first_block(0, rows, 512, 512), Some((512, 512)));
        assert_eq!(shape.first_block(0, rows, 512, 2048), Some((8192, 2048)));
        // The first indirect block has no direct ones of 32 KiB, those of the next row have.
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
