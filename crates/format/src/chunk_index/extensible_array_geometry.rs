//! Arithmetic that finds the block of an extensible array's element (File Format Specification,
//! section VII.D, which does not state the formulas).
//!
//! ```text
//! elements 0 … E-1                in the index block
//! then secondary blocks s = 0 … S-1, with S = 1 + max nelmts bits - log2(M):
//!     data blocks                 2^(s/2)
//!     elements of a data block    M * 2^((s+1)/2)
//!     first element               E + M * (2^s - 1)
//! ```
//! M is the number of elements in the smallest data block. Secondary blocks 0 … 2*log2(P)-1 are not
//! stored: the index block refers directly to their 2*(P-1) data blocks. Data blocks with more
//! elements than a page are paged; their secondary block holds the bitmap of initialised pages.

use hyperslab_exact::{to_u64, to_usize};

use super::ExtensibleArrayHeader;
use crate::codec::{CHECKSUM_SIZE, FormatError, Result, Structure};

/// The numbers and sizes of the blocks of one extensible array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensibleArrayGeometry {
    index_block_elements: u8,
    min_bits: u32,
    max_bits: u32,
    secondary_blocks: u32,
    pointer_bits: u32,
    inline_secondary_blocks: u32,
    page_bits: u32,
}

/// The shape of one secondary block of an extensible array: its data blocks and their chunk
/// entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondaryBlockShape {
    /// Number of data blocks in the secondary block.
    pub data_blocks: u64,
    /// Number of elements in each data block.
    pub data_block_elements: u64,
    /// Index of the first element, not counting the elements of the index block. The secondary
    /// block stores this number as its block offset.
    pub first_element: u64,
    /// Number of the array's data blocks before this secondary block.
    pub first_data_block: u64,
    /// Number of pages in each data block; 0 if the data blocks are not paged.
    pub pages: u64,
}

/// The location of a chunk's entry in an extensible array: the block, and the position in the
/// block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementLocation {
    /// The element lies in the index block.
    IndexBlock {
        /// Position of the element in the index block.
        element: u64,
    },
    /// The element lies in a data block that the index block refers to directly.
    DataBlock {
        /// Position of the data block's address in the index block.
        data_block: u64,
        /// Position of the element in the data block.
        element: u64,
        /// Number of elements in the data block.
        elements: u64,
        /// Block offset that the data block stores.
        block_offset: u64,
    },
    /// The element lies in a data block of a secondary block.
    SecondaryBlock {
        /// Number of the secondary block, as an argument of
        /// [`ExtensibleArrayGeometry::secondary_block`].
        secondary_block: u32,
        /// Position of the secondary block's address in the index block.
        pointer: u32,
        /// Position of the data block's address in the secondary block.
        data_block: u64,
        /// Position of the element in the data block, counted across all pages.
        element: u64,
        /// Block offset that the data block stores.
        block_offset: u64,
        /// Page that holds the element, in a paged data block.
        page: Option<u64>,
    },
}

impl SecondaryBlockShape {
    /// Returns the size in bytes of the page bitmap in a secondary block of an extensible array.
    /// The bitmap marks initialised pages.
    pub(super) fn bitmap_bytes(&self) -> u64 {
        self.pages.div_ceil(8) * self.data_blocks
    }
}

impl ExtensibleArrayGeometry {
    /// Computes the geometry of an extensible array from the header `header`.
    ///
    /// # Errors
    /// Returns an error if a parameter is not a power of two where the format requires one, if
    /// parameters contradict each other, or if a block exceeds the address space.
    pub fn new(header: &ExtensibleArrayHeader) -> Result<Self> {
        let corrupt = |field, expected: &str, got: u8| {
            FormatError::corrupt(ExtensibleArrayHeader::NAME, field, expected, got)
        };
        let bits = |field, value: u8| {
            let bits = value.is_power_of_two().then(|| value.trailing_zeros());
            bits.ok_or_else(|| corrupt(field, "a power of two", value))
        };
        let min_bits = bits("minimum number of elements in a data block", header.min_data_block_elements)?;
        let pointer_bits = bits(
            "minimum number of data block pointers of a secondary block",
            header.min_secondary_block_pointers,
        )?;
        let max_bits = u32::from(header.max_elements_bits);
        if max_bits > 64 || max_bits < min_bits {
            return Err(corrupt(
                "bits of the maximum number of elements",
                "at least the bits of the smallest data block, at most 64",
                header.max_elements_bits,
            ));
        }
        let secondary_blocks = 1 + max_bits - min_bits;
        let inline_secondary_blocks = 2 * pointer_bits;
        if inline_secondary_blocks > secondary_blocks {
            let got = header.min_secondary_block_pointers;
            return Err(corrupt(
                "minimum number of data block pointers of a secondary block",
                "a number that fits the largest number of elements",
                got,
            ));
        }
        let page_bits = u32::from(header.page_bits);
        // Data blocks of the index block cannot be paged: the index block stores no page bitmap.
        if page_bits > 63 || page_bits < min_bits + pointer_bits {
            let expected = "a page at least as large as the data blocks of the index block, below 2^64";
            return Err(corrupt(
                "bits of the maximum number of elements in a data block page",
                expected,
                header.page_bits,
            ));
        }
        if header.element_size == 0 {
            return Err(corrupt("element size", "at least 1", 0));
        }
        let geometry = Self {
            index_block_elements: header.index_block_elements,
            min_bits,
            max_bits,
            secondary_blocks,
            pointer_bits,
            inline_secondary_blocks,
            page_bits,
        };
        geometry.check_addressable(header)?;
        Ok(geometry)
    }

    /// Checks that each block of the extensible array fits in memory. The largest blocks belong to
    /// the last secondary block. A data block has at most 2^36 chunk entries. A secondary block has
    /// at most 2^32 addresses and a bitmap of at most 2^61 bytes. After this check, no sum or
    /// product of block sizes exceeds 64 bits.
    fn check_addressable(&self, header: &ExtensibleArrayHeader) -> Result<()> {
        let last = self.secondary_block(self.secondary_blocks - 1);
        let addresses = last.data_blocks * u64::from(u8::MAX);
        let elements = last.data_block_elements * u64::from(header.element_size);
        let fixed = u64::from(u16::MAX);
        to_usize(addresses + last.bitmap_bytes() + fixed)?;
        to_usize(elements + last.pages * to_u64(CHECKSUM_SIZE) + fixed)?;
        Ok(())
    }

    /// Returns the width in bytes of the field in which each block of an extensible array stores
    /// its offset.
    pub fn offset_width(&self) -> usize {
        self.max_bits.div_ceil(8) as usize
    }

    /// Returns the number of chunk entries in the extensible array's index block.
    pub fn index_block_elements(&self) -> usize {
        self.index_block_elements.into()
    }

    /// Returns the number of data block addresses in the extensible array's index block.
    pub fn index_block_data_blocks(&self) -> usize {
        ((1 << self.pointer_bits) - 1) * 2
    }

    /// Returns the number of secondary block addresses in the extensible array's index block.
    pub fn index_block_secondary_blocks(&self) -> usize {
        (self.secondary_blocks - self.inline_secondary_blocks) as usize
    }

    /// Returns the number of the first secondary block that an extensible array stores in the file.
    /// In place of secondary blocks with lower numbers, the index block holds the addresses of
    /// their data blocks.
    pub fn first_secondary_block(&self) -> u32 {
        self.inline_secondary_blocks
    }

    /// Returns the number of chunk entries in a page of the extensible array's paged data blocks.
    pub fn page_elements(&self) -> u64 {
        1 << self.page_bits
    }

    /// Returns the shape of the secondary block with the number `number` of an extensible array.
    /// The shape is also defined for secondary blocks that the file does not store. An array has
    /// `max_elements_bits - log2(M) + 1` secondary blocks.
    pub fn secondary_block(&self, number: u32) -> SecondaryBlockShape {
        // `number` is at most 64, so all values below fit 64 bits.
        let data_blocks = 1_u64 << (number / 2);
        let data_block_elements = 1_u64 << (self.min_bits + number.div_ceil(2));
        // Earlier secondary blocks have 1 + 1 + 2 + 2 + 4 + 4 + … data blocks.
        let before = (data_blocks - 1) * 2;
        let first_data_block = before + if number % 2 == 1 { data_blocks } else { 0 };
        // 2^number - 1, also for a `number` of 64.
        let smallest_before = u64::MAX.checked_shr(64 - number).unwrap_or(0);
        let paged = data_block_elements > self.page_elements();
        SecondaryBlockShape {
            data_blocks,
            data_block_elements,
            first_element: smallest_before << self.min_bits,
            first_data_block,
            pages: if paged { data_block_elements / self.page_elements() } else { 0 },
        }
    }

    /// Returns the location of the chunk entry with the number `index` in the extensible array.
    /// Returns `None` if the number is too large for any extensible array with this header.
    pub fn locate(&self, index: u64) -> Option<ElementLocation> {
        let Some(rest) = index.checked_sub(self.index_block_elements.into()) else {
            return Some(ElementLocation::IndexBlock { element: index });
        };
        let number = ((rest >> self.min_bits).checked_add(1)?).ilog2();
        if number >= self.secondary_blocks {
            return None;
        }
        let shape = self.secondary_block(number);
        let within = rest.checked_sub(shape.first_element)?;
        let (data_block, element) = (within / shape.data_block_elements, within % shape.data_block_elements);
        let offset = |block: u64| shape.first_element + block * shape.data_block_elements;
        let Some(pointer) = number.checked_sub(self.inline_secondary_blocks) else {
            let data_block = shape.first_data_block + data_block;
            // libhdf5 adds up all data blocks of the index block here, not only the data blocks of
            // this secondary block.
            let block_offset = offset(data_block);
            let elements = shape.data_block_elements;
            return Some(ElementLocation::DataBlock { data_block, element, elements, block_offset });
        };
        Some(ElementLocation::SecondaryBlock {
            secondary_block: number,
            pointer,
            data_block,
            element,
            block_offset: offset(data_block),
            page: (shape.pages > 0).then(|| element >> self.page_bits),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::extensible_array_header::tests::default_header;
    use super::*;

    #[test]
    fn default_geometry() {
        let geometry = ExtensibleArrayGeometry::new(&default_header()).unwrap();
        assert_eq!((geometry.index_block_elements(), geometry.index_block_data_blocks()), (4, 6));
        assert_eq!((geometry.index_block_secondary_blocks(), geometry.offset_width()), (25, 4));
        let shape = geometry.secondary_block(5);
        let expected = SecondaryBlockShape {
            data_blocks: 4,
            data_block_elements: 128,
            first_element: 496,
            first_data_block: 10,
            pages: 0,
        };
        assert_eq!(shape, expected);
        // Data blocks of 2048 elements have two pages.
        assert_eq!(
            (geometry.secondary_block(13).data_block_elements, geometry.secondary_block(13).pages),
            (2048, 2)
        );
        assert_eq!(geometry.secondary_block(12).pages, 0);
    }

    #[test]
    fn a_walk_over_all_blocks() {
        let geometry = ExtensibleArrayGeometry::new(&default_header()).unwrap();
        assert_eq!(geometry.locate(3), Some(ElementLocation::IndexBlock { element: 3 }));
        let mut index = 4;
        let mut data_blocks = 0;
        for number in 0..18 {
            let shape = geometry.secondary_block(number);
            assert_eq!((shape.first_element, shape.first_data_block), (index - 4, data_blocks));
            for block in 0..shape.data_blocks {
                for element in [0, shape.data_block_elements - 1] {
                    match geometry.locate(index + element).unwrap() {
                        ElementLocation::DataBlock { data_block, element: at, elements, .. } => {
                            assert!(number < 4);
                            assert_eq!(
                                (data_block, at, elements),
                                (data_blocks, element, shape.data_block_elements)
                            );
                        }
                        ElementLocation::SecondaryBlock {
                            secondary_block,
                            pointer,
                            data_block,
                            element: at,
                            block_offset,
                            page,
                        } => {
                            assert_eq!(
                                (secondary_block, pointer, data_block, at),
                                (number, number - 4, block, element)
                            );
                            assert_eq!(block_offset, index - 4);
                            assert_eq!(page, (shape.pages > 0).then_some(element / 1024));
                        }
                        ElementLocation::IndexBlock { .. } => panic!("in the index block"),
                    }
                }
                index += shape.data_block_elements;
                data_blocks += 1;
            }
        }
    }

    #[test]
    fn the_end() {
        let geometry = ExtensibleArrayGeometry::new(&default_header()).unwrap();
        let end = 4 + 16 * ((1_u64 << 29) - 1);
        assert!(geometry.locate(end - 1).is_some());
        assert_eq!(geometry.locate(end), None);
        assert_eq!(geometry.locate(u64::MAX), None);
    }

    #[test]
    fn refusals() {
        let refuse = |change: fn(&mut ExtensibleArrayHeader)| {
            let mut header = default_header();
            change(&mut header);
            assert!(ExtensibleArrayGeometry::new(&header).is_err());
        };
        refuse(|h| h.min_data_block_elements = 0);
        refuse(|h| h.min_data_block_elements = 3);
        refuse(|h| h.min_secondary_block_pointers = 5);
        refuse(|h| h.max_elements_bits = 65);
        refuse(|h| h.max_elements_bits = 3);
        refuse(|h| h.max_elements_bits = 5);
        refuse(|h| h.page_bits = 4);
        refuse(|h| h.page_bits = 64);
        refuse(|h| h.element_size = 0);
    }
}
