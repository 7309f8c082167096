//! Doubling table of a fractal heap. It maps offsets of the heap's address space to blocks (File
//! Format Specification, section III.G).
//!
//! ```text
//! row 0      width blocks of size S
//! row 1      width blocks of size S
//! row r      width blocks of size S * 2^(r-1), from offset width * S * 2^(r-1) on
//! ```
//! Blocks up to the maximum direct block size are direct. Later rows hold indirect blocks. Each
//! indirect block is a table of its own, with log2(size) - log2(width * S) + 1 rows for the size
//! that it covers. (The formula in the specification omits the width.)

use super::{FractalHeapDirectContext, FractalHeapHeader, FractalHeapIndirectContext};
use crate::codec::{Address, FileParams, FormatError, Result, Structure};

/// The doubling table of a fractal heap, which determines the sizes of the heap's blocks. Sizes and
/// offsets are in bytes of the heap's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoublingTable {
    width: u16,
    start_bits: u32,
    first_row_bits: u32,
    max_direct_bits: u32,
    max_heap_bits: u32,
    checksums: bool,
    filtered: bool,
}

/// The position of a child block's entry in an indirect block of a fractal heap, and the address
/// space that the child block covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoublingTableEntry {
    /// Row of the entry.
    pub row: u32,
    /// Column of the entry.
    pub column: u64,
    /// Offset of the entry's block from the start of the table.
    pub block_offset: u64,
    /// Size of the address space that the block covers, in bytes.
    pub block_size: u64,
    /// True if the block is a direct block.
    pub direct: bool,
}

impl DoublingTable {
    /// Computes the doubling table, which determines the block sizes, from a fractal heap's header.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if a size is not a power of two, or if sizes contradict
    /// each other.
    pub fn new(header: &FractalHeapHeader) -> Result<Self> {
        let bits = |field, value: u64| {
            value
                .is_power_of_two()
                .then(|| value.trailing_zeros())
                .ok_or_else(|| FormatError::corrupt(FractalHeapHeader::NAME, field, "a power of two", value))
        };
        let width = header.table_width;
        let start_bits = bits("starting block size", header.starting_block_size)?;
        let first_row_bits = start_bits + bits("table width", width.into())?;
        let max_direct_bits = bits("maximum direct block size", header.max_direct_size)?;
        let max_heap_bits = u32::from(header.max_heap_bits);
        let corrupt = |field, expected: String, got: u32| {
            Err(FormatError::corrupt(FractalHeapHeader::NAME, field, expected, got))
        };
        if max_direct_bits < start_bits {
            return corrupt("maximum direct block size", format!("at least 2^{start_bits}"), max_direct_bits);
        }
        if max_heap_bits > 64 || max_heap_bits < first_row_bits || max_heap_bits < max_direct_bits {
            let least = first_row_bits.max(max_direct_bits);
            return corrupt("maximum heap size", format!("{least} to 64 bits"), max_heap_bits);
        }
        let table = Self {
            width,
            start_bits,
            first_row_bits,
            max_direct_bits,
            max_heap_bits,
            checksums: header.has_checksums(),
            filtered: header.filters.is_some(),
        };
        if u32::from(header.root_rows) > table.max_root_rows() {
            let maximum = format!("at most {}", table.max_root_rows());
            return corrupt(
                "current number of rows in root indirect block",
                maximum,
                header.root_rows.into(),
            );
        }
        Ok(table)
    }

    /// Returns the number of columns of the fractal heap's doubling table.
    pub fn width(&self) -> u64 {
        self.width.into()
    }

    /// Returns the width in bytes of an offset in the fractal heap's address space, as blocks and
    /// managed heap IDs store it.
    pub fn offset_width(&self) -> usize {
        self.max_heap_bits.div_ceil(8) as usize
    }

    /// Returns the size of the fractal heap's largest direct block in bytes.
    pub fn max_direct_size(&self) -> u64 {
        1_u64.checked_shl(self.max_direct_bits).unwrap_or(u64::MAX)
    }

    /// Returns the largest number of rows of direct blocks in an indirect block of a fractal heap.
    /// Rows after them contain indirect blocks.
    pub fn max_direct_rows(&self) -> u32 {
        self.max_direct_bits - self.start_bits + 2
    }

    /// Returns the largest number of rows of the fractal heap's root indirect block.
    pub fn max_root_rows(&self) -> u32 {
        self.max_heap_bits - self.first_row_bits + 1
    }

    /// Returns the size in bytes of the part of the fractal heap that one block in the row `row` of
    /// the doubling table covers. Returns `u64::MAX` if the size exceeds 64 bits.
    pub fn row_block_size(&self, row: u32) -> u64 {
        let bits = self.start_bits.checked_add(row.max(1) - 1);
        bits.and_then(|bits| 1_u64.checked_shl(bits)).unwrap_or(u64::MAX)
    }

    /// Returns the offset of the row `row` from the start of the address space in a fractal heap's
    /// doubling table. Returns `u64::MAX` if the offset exceeds 64 bits.
    pub fn row_offset(&self, row: u32) -> u64 {
        match row.checked_sub(1) {
            None => 0,
            Some(doublings) => {
                let bits = self.first_row_bits.checked_add(doublings);
                bits.and_then(|bits| 1_u64.checked_shl(bits)).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns the number of rows that an indirect block of a fractal heap needs to cover `size`
    /// bytes of the heap. The block must not be the root indirect block.
    pub fn rows_for(&self, size: u64) -> u32 {
        let bits = size.max(1).ilog2();
        // A size below the size of the first row results in 0 rows.
        (bits + 1).max(self.first_row_bits) - self.first_row_bits
    }

    /// Returns two numbers of entries in a fractal heap's indirect block of `rows` rows: for direct
    /// blocks, and for indirect blocks.
    pub fn indirect_entries(&self, rows: u32) -> (usize, usize) {
        let direct = rows.min(self.max_direct_rows());
        let count = |rows: u32| rows as usize * usize::from(self.width);
        (count(direct), count(rows - direct))
    }

    /// Returns the entry of a fractal heap's indirect block for the child block that contains
    /// `offset`. The offset counts from the start of the block's address space.
    pub fn locate(&self, offset: u64) -> DoublingTableEntry {
        let row = match offset.checked_ilog2() {
            Some(bits) if bits >= self.first_row_bits => bits - self.first_row_bits + 1,
            _ => 0,
        };
        let block_size = self.row_block_size(row);
        let row_offset = self.row_offset(row);
        let column = (offset - row_offset) / block_size;
        DoublingTableEntry {
            row,
            column,
            block_offset: row_offset + column * block_size,
            block_size,
            direct: row < self.max_direct_rows(),
        }
    }

    /// Returns the entry with the number `number` of a fractal heap's indirect block, counted row
    /// by row.
    pub fn entry(&self, number: usize) -> DoublingTableEntry {
        let number = number as u64;
        // Saturates, like the sizes of rows and blocks above 64 bits.
        let row = (number / self.width()).min(0xffff_ffff) as u32;
        let (column, block_size) = (number % self.width(), self.row_block_size(row));
        // Saturates to `u64::MAX` above 64 bits, like the offsets of rows.
        let block_offset = self.row_offset(row).saturating_add(column.saturating_mul(block_size));
        DoublingTableEntry { row, column, block_offset, block_size, direct: row < self.max_direct_rows() }
    }

    /// Returns the layout parameters, for decoding and encoding, of a fractal heap's direct block
    /// of `size` bytes.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if no direct block has that size.
    pub fn direct_block(
        &self,
        params: FileParams,
        header: Address,
        size: u64,
    ) -> Result<FractalHeapDirectContext> {
        let fits = size.is_power_of_two() && size <= self.max_direct_size() && size >= self.row_block_size(0);
        match usize::try_from(size) {
            Ok(size) if fits => Ok(FractalHeapDirectContext {
                params,
                header,
                offset_width: self.offset_width(),
                checksum: self.checksums,
                size,
            }),
            _ => {
                let expected = format!("{} to {}", self.row_block_size(0), self.max_direct_size());
                Err(FormatError::corrupt("fractal heap direct block", "size", expected, size))
            }
        }
    }

    /// Returns the layout parameters, for decoding and encoding, of a fractal heap's indirect block
    /// of `rows` rows.
    pub fn indirect_block(
        &self,
        params: FileParams,
        header: Address,
        rows: u32,
    ) -> FractalHeapIndirectContext {
        let (direct, indirect) = self.indirect_entries(rows);
        let (offset_width, filtered) = (self.offset_width(), self.filtered);
        FractalHeapIndirectContext { params, header, offset_width, filtered, direct, indirect }
    }
}

impl DoublingTableEntry {
    /// Returns the number of a child block's entry in its indirect block of a fractal heap, counted
    /// row by row.
    pub fn number(&self, table: &DoublingTable) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "a table has less than 2^16 columns")]
        let column = self.column as usize;
        self.row as usize * usize::from(table.width) + column
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::link_heap;
    use super::*;

    #[test]
    fn link_heap_table() {
        let table = DoublingTable::new(&link_heap()).unwrap();
        assert_eq!((table.max_direct_rows(), table.max_root_rows(), table.offset_width()), (8, 22, 4));
        assert_eq!([0, 1, 2, 3, 7, 8].map(|r| table.row_block_size(r)), [512, 512, 1024, 2048, 32768, 65536]);
        assert_eq!([0, 1, 2, 3].map(|r| table.row_offset(r)), [0, 2048, 4096, 8192]);
        assert_eq!(table.indirect_entries(3), (12, 0));
        assert_eq!(table.indirect_entries(10), (32, 8));
        // The first indirect entry covers 64 KiB: 4 * (512 + 512 + 1024 + … + 8192), six rows.
        assert_eq!(table.rows_for(65536), 6);
        assert_eq!((0..6).map(|r| 4 * table.row_block_size(r)).sum::<u64>(), 65536);
        let end = table.locate(2047);
        assert_eq!((end.row, end.column, end.block_offset, end.direct), (0, 3, 1536, true));
        let entry = table.locate(131_072 + 65536 + 5);
        assert_eq!((entry.row, entry.column, entry.direct), (7, 2, true));
        let entry = table.locate(262_144);
        assert_eq!((entry.row, entry.column, entry.block_size, entry.direct), (8, 0, 65536, false));
    }

    #[test]
    fn locate_agrees_with_a_walk() {
        let table = DoublingTable::new(&link_heap()).unwrap();
        let mut offset = 0;
        for number in 0..60 {
            let entry = table.entry(number);
            assert_eq!((entry.block_offset, entry.number(&table)), (offset, number));
            assert_eq!(table.locate(offset), entry);
            offset += entry.block_size;
            assert_eq!(table.locate(offset - 1), entry);
        }
    }

    #[test]
    fn refusals() {
        let refuse = |change: fn(&mut FractalHeapHeader)| {
            let mut header = link_heap();
            change(&mut header);
            assert!(DoublingTable::new(&header).is_err());
        };
        refuse(|h| h.table_width = 0);
        refuse(|h| h.table_width = 3);
        refuse(|h| h.starting_block_size = 500);
        refuse(|h| h.max_direct_size = 0);
        refuse(|h| h.max_direct_size = 256);
        refuse(|h| h.max_heap_bits = 65);
        refuse(|h| h.max_heap_bits = 10);
        refuse(|h| h.root_rows = 23);
        let table = DoublingTable::new(&link_heap()).unwrap();
        assert!(table.direct_block(FileParams::DEFAULT, Address::new(0), 1024).is_ok());
        for size in [0, 256, 1000, 65536] {
            assert!(table.direct_block(FileParams::DEFAULT, Address::new(0), size).is_err());
        }
    }
}
