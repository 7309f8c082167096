//! Blocks of an extensible array (File Format Specification, section VII.D). Pages are
//! [`ArrayPage`](super::ArrayPage)s.
//!
//! ```text
//! every block
//! byte  0   signature "EAIB" index, "EASB" secondary, "EADB" data block
//!       4   version 0; 1 with structured chunks
//!       5   client ID
//!       6   header address (O)
//!
//! index block        elements, addresses of data blocks (O each),
//!                    addresses of secondary blocks (O each), checksum (4)
//! secondary block    block offset (bits of the array, in whole bytes),
//!                    bitmap of initialised pages, whole bytes per data block (if they are paged),
//!                    addresses of data blocks (O each), checksum (4)
//! data block         block offset, elements (not if paged), checksum (4); pages follow
//! ```
//! The size of a secondary block's bitmap counts whole bytes per data block. The bits themselves
//! are consecutive: the first bit of a data block directly follows the last bit of the data block
//! before.

use super::fixed_array::{ArrayPageContext, bit, read_owner, set_bit, write_owner};
use super::{ChunkIndexClient, ExtensibleArrayGeometry, ExtensibleArrayHeader, SecondaryBlockShape};
use crate::codec::{Address, CHECKSUM_SIZE, FileParams, FormatError, Reader, Result, Structure, Writer};

const INDEX_SIGNATURE: &[u8; 4] = b"EAIB";
const SECONDARY_SIGNATURE: &[u8; 4] = b"EASB";
const DATA_SIGNATURE: &[u8; 4] = b"EADB";

/// Parameters that determine the layout of an extensible array block: the number of chunk entries,
/// addresses and pages. Created by [`index_block`](Self::index_block),
/// [`secondary_block`](Self::secondary_block) and [`data_block`](Self::data_block).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensibleArrayBlockContext {
    params: FileParams,
    header: Address,
    client: ChunkIndexClient,
    element_size: usize,
    offset_width: usize,
    elements: usize,
    bitmap_size: usize,
    data_blocks: usize,
    secondary_blocks: usize,
    pages: usize,
    page_elements: usize,
}

/// Converts a count or size in a block of an extensible array to `usize`.
/// [`ExtensibleArrayGeometry::new`] has checked that the value fits.
#[expect(clippy::cast_possible_truncation, reason = "the geometry has checked the largest block")]
fn checked_usize(value: u64) -> usize {
    debug_assert!(usize::try_from(value).is_ok(), "{value}");
    value as usize
}

impl ExtensibleArrayBlockContext {
    fn new(header: &ExtensibleArrayHeader, address: Address, params: FileParams) -> Self {
        Self {
            params,
            header: address,
            client: header.client,
            element_size: header.element_size.into(),
            offset_width: 0,
            elements: 0,
            bitmap_size: 0,
            data_blocks: 0,
            secondary_blocks: 0,
            pages: 0,
            page_elements: 0,
        }
    }

    /// Returns the layout parameters, for decoding and encoding, of the index block of the
    /// extensible array with its header at `address`.
    pub fn index_block(
        header: &ExtensibleArrayHeader,
        geometry: &ExtensibleArrayGeometry,
        address: Address,
        params: FileParams,
    ) -> Self {
        Self {
            elements: geometry.index_block_elements(),
            data_blocks: geometry.index_block_data_blocks(),
            secondary_blocks: geometry.index_block_secondary_blocks(),
            ..Self::new(header, address, params)
        }
    }

    /// Returns the sizes of the fields of an extensible array's secondary block, for decoding and
    /// encoding. `shape` states the numbers of pages and addresses in the block.
    pub fn secondary_block(
        header: &ExtensibleArrayHeader,
        geometry: &ExtensibleArrayGeometry,
        shape: &SecondaryBlockShape,
        address: Address,
        params: FileParams,
    ) -> Self {
        Self {
            offset_width: geometry.offset_width(),
            data_blocks: checked_usize(shape.data_blocks),
            bitmap_size: checked_usize(shape.bitmap_bytes()),
            pages: checked_usize(shape.pages),
            ..Self::new(header, address, params)
        }
    }

    /// Returns the layout parameters, for decoding and encoding, of an extensible array's data
    /// block with `elements` chunk entries.
    pub fn data_block(
        header: &ExtensibleArrayHeader,
        geometry: &ExtensibleArrayGeometry,
        elements: u64,
        address: Address,
        params: FileParams,
    ) -> Self {
        let page_elements = geometry.page_elements();
        let paged = elements > page_elements;
        Self {
            offset_width: geometry.offset_width(),
            elements: if paged { 0 } else { checked_usize(elements) },
            pages: if paged { checked_usize(elements / page_elements) } else { 0 },
            page_elements: if paged { checked_usize(page_elements) } else { 0 },
            ..Self::new(header, address, params)
        }
    }

    fn elements_size(&self) -> usize {
        self.elements * self.element_size
    }

    fn size(&self) -> usize {
        let addresses = self.data_blocks + self.secondary_blocks;
        addresses * self.params.offset_width()
            + self.elements_size()
            + self.bitmap_size
            + 6
            + self.params.offset_width()
            + self.offset_width
            + CHECKSUM_SIZE
    }

    /// Returns the number of pages of an extensible array's data block. For a secondary block,
    /// returns the number for each of its data blocks. Returns 0 if data blocks are not paged.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Returns the layout parameters, for decoding and encoding, of a page of an extensible array's
    /// paged data block.
    pub fn page(&self) -> ArrayPageContext {
        ArrayPageContext { elements: self.page_elements, element_size: self.element_size }
    }

    /// Returns the offset of a page in bytes from the start of the extensible array's data block.
    pub fn page_offset(&self, page: usize) -> usize {
        let full = self.page_elements * self.element_size + CHECKSUM_SIZE;
        self.size() + page * full
    }

    /// Returns the allocated size of an extensible array's data block: the block and its pages, in
    /// bytes.
    pub fn total_size(&self) -> usize {
        self.page_offset(self.pages)
    }

    fn read_addresses(
        &self,
        reader: &mut Reader<'_>,
        count: usize,
        field: &'static str,
    ) -> Result<Vec<Address>> {
        let count = reader.count(count as u64, self.params.offset_width(), field)?;
        let mut addresses = Vec::with_capacity(count);
        for _ in 0..count {
            addresses.push(reader.offset(self.params, field)?);
        }
        Ok(addresses)
    }

    fn finish(&self, mut writer: Writer) -> Result<Vec<u8>> {
        writer.checksum();
        if writer.len() != self.size() {
            writer.fail("elements and addresses", format_args!("{} bytes of {}", writer.len(), self.size()));
        }
        writer.finish()
    }

    fn start(&self, structure: &'static str, signature: &[u8; 4], version: u8) -> Writer {
        let mut writer = Writer::new(structure);
        writer.bytes(signature);
        write_owner(&mut writer, self.params, version, self.client, self.header);
        writer
    }
}

/// The index block of an extensible array: the first chunk entries, and the addresses of all other
/// blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensibleArrayIndexBlock {
    /// Version: 0, or 1 with structured chunks.
    pub version: u8,
    /// Concatenated bytes of the first elements of the array.
    pub elements: Vec<u8>,
    /// Addresses of the data blocks that the index block refers to directly.
    pub data_blocks: Vec<Address>,
    /// Addresses of the secondary blocks.
    pub secondary_blocks: Vec<Address>,
}

impl Structure for ExtensibleArrayIndexBlock {
    const NAME: &'static str = "extensible array index block";
    type Context = ExtensibleArrayBlockContext;

    fn size(context: &ExtensibleArrayBlockContext) -> usize {
        context.size()
    }

    fn decode(bytes: &[u8], context: &ExtensibleArrayBlockContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(INDEX_SIGNATURE)?;
        let version = read_owner(&mut reader, context.params, context.client, context.header)?;
        let elements = reader.take(context.elements_size(), "elements")?.to_vec();
        let data_blocks = context.read_addresses(&mut reader, context.data_blocks, "data block addresses")?;
        let secondary_blocks =
            context.read_addresses(&mut reader, context.secondary_blocks, "secondary block addresses")?;
        reader.checksum()?;
        reader.finish()?;
        Ok(Self { version, elements, data_blocks, secondary_blocks })
    }

    fn encode(&self, context: &ExtensibleArrayBlockContext) -> Result<Vec<u8>> {
        let mut writer = context.start(Self::NAME, INDEX_SIGNATURE, self.version);
        writer.bytes(&self.elements);
        for address in self.data_blocks.iter().chain(&self.secondary_blocks) {
            writer.offset(context.params, *address, "block address");
        }
        if self.data_blocks.len() != context.data_blocks {
            writer.fail("data block addresses", self.data_blocks.len());
        }
        context.finish(writer)
    }
}

/// A secondary block of an extensible array: the addresses of data blocks of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensibleArraySecondaryBlock {
    /// Version: 0, or 1 with structured chunks.
    pub version: u8,
    /// Index of the block's first element, not counting the elements of the index block.
    pub block_offset: u64,
    /// Bitmap of the initialised pages of all data blocks; empty if the data blocks are not paged.
    pub page_bitmap: Vec<u8>,
    /// Addresses of the data blocks.
    pub data_blocks: Vec<Address>,
}

impl Structure for ExtensibleArraySecondaryBlock {
    const NAME: &'static str = "extensible array secondary block";
    type Context = ExtensibleArrayBlockContext;

    fn size(context: &ExtensibleArrayBlockContext) -> usize {
        context.size()
    }

    fn decode(bytes: &[u8], context: &ExtensibleArrayBlockContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SECONDARY_SIGNATURE)?;
        let version = read_owner(&mut reader, context.params, context.client, context.header)?;
        let block_offset = reader.uint(context.offset_width, "block offset")?;
        let page_bitmap = reader.take(context.bitmap_size, "page bitmap")?.to_vec();
        let data_blocks = context.read_addresses(&mut reader, context.data_blocks, "data block addresses")?;
        reader.checksum()?;
        reader.finish()?;
        Ok(Self { version, block_offset, page_bitmap, data_blocks })
    }

    fn encode(&self, context: &ExtensibleArrayBlockContext) -> Result<Vec<u8>> {
        let mut writer = context.start(Self::NAME, SECONDARY_SIGNATURE, self.version);
        writer.uint(context.offset_width, self.block_offset, "block offset");
        writer.bytes(&self.page_bitmap);
        for address in &self.data_blocks {
            writer.offset(context.params, *address, "data block address");
        }
        if self.data_blocks.len() != context.data_blocks {
            writer.fail("data block addresses", self.data_blocks.len());
        }
        context.finish(writer)
    }
}

impl ExtensibleArraySecondaryBlock {
    /// Creates a secondary block of an extensible array without data blocks.
    pub fn new(version: u8, block_offset: u64, context: &ExtensibleArrayBlockContext) -> Self {
        Self {
            version,
            block_offset,
            page_bitmap: vec![0; context.bitmap_size],
            data_blocks: vec![Address::UNDEFINED; context.data_blocks],
        }
    }

    /// Returns true if a page of an extensible array's data block was ever written. The bytes of
    /// other pages have no meaning.
    pub fn is_initialised(
        &self,
        data_block: usize,
        page: usize,
        context: &ExtensibleArrayBlockContext,
    ) -> bool {
        bit(&self.page_bitmap, data_block * context.pages + page)
    }

    /// Marks a page of an extensible array's data block as written.
    pub fn set_initialised(&mut self, data_block: usize, page: usize, context: &ExtensibleArrayBlockContext) {
        set_bit(&mut self.page_bitmap, data_block * context.pages + page);
    }
}

/// A data block of an extensible array: the chunk entries, or the prefix of a block with pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensibleArrayDataBlock {
    /// Version: 0, or 1 with structured chunks.
    pub version: u8,
    /// Index of the block's first element, not counting the elements of the index block. Unreliable
    /// in data blocks that the index block refers to directly.
    pub block_offset: u64,
    /// Concatenated bytes of the elements; empty in a paged block.
    pub elements: Vec<u8>,
}

impl Structure for ExtensibleArrayDataBlock {
    const NAME: &'static str = "extensible array data block";
    type Context = ExtensibleArrayBlockContext;

    fn size(context: &ExtensibleArrayBlockContext) -> usize {
        context.size()
    }

    fn decode(bytes: &[u8], context: &ExtensibleArrayBlockContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(DATA_SIGNATURE)?;
        let version = read_owner(&mut reader, context.params, context.client, context.header)?;
        let block_offset = reader.uint(context.offset_width, "block offset")?;
        let elements = reader.take(context.elements_size(), "elements")?.to_vec();
        reader.checksum()?;
        Ok(Self { version, block_offset, elements })
    }

    fn encode(&self, context: &ExtensibleArrayBlockContext) -> Result<Vec<u8>> {
        let mut writer = context.start(Self::NAME, DATA_SIGNATURE, self.version);
        writer.uint(context.offset_width, self.block_offset, "block offset");
        writer.bytes(&self.elements);
        context.finish(writer)
    }
}

impl ExtensibleArrayDataBlock {
    /// Checks the block offset in a data block of an extensible array. Two values are valid: the
    /// number of the block's first chunk entry, which the specification requires, and `expected`,
    /// which libhdf5 stores instead in data blocks whose addresses are in the index block.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the block offset has another value.
    pub fn check_offset(&self, expected: u64, first_element: u64) -> Result<()> {
        if self.block_offset == expected || self.block_offset == first_element {
            return Ok(());
        }
        Err(FormatError::corrupt(Self::NAME, "block offset", expected.to_string(), self.block_offset))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ArrayPage;
    use super::super::extensible_array_header::tests::default_header;
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };
    const ADDRESS: Address = Address::new(0x1000);

    /// Returns an array with two elements in the index block, data blocks of one element and more,
    /// and pages of two elements.
    fn small() -> (ExtensibleArrayHeader, ExtensibleArrayGeometry) {
        let header = ExtensibleArrayHeader {
            max_elements_bits: 6,
            index_block_elements: 2,
            min_data_block_elements: 1,
            min_secondary_block_pointers: 2,
            page_bits: 1,
            ..default_header()
        };
        let geometry = ExtensibleArrayGeometry::new(&header).unwrap();
        (header, geometry)
    }

    fn sealed(body: &[u8]) -> Vec<u8> {
        [body, &checksum(body).to_le_bytes()].concat()
    }

    #[test]
    fn index_block() {
        let (header, geometry) = small();
        let context = ExtensibleArrayBlockContext::index_block(&header, &geometry, ADDRESS, PARAMS);
        let mut body = b"EAIB\x00\x00\x00\x10\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00".to_vec();
        body.extend([3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        body.extend([5, 0, 0, 0]);
        body.extend([0xff; 16]);
        let bytes = sealed(&body);
        assert_eq!(ExtensibleArrayIndexBlock::size(&context), bytes.len());
        let block = ExtensibleArrayIndexBlock::decode(&bytes, &context).unwrap();
        assert_eq!(block.elements, [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(block.data_blocks, [Address::new(3), Address::UNDEFINED]);
        assert_eq!((block.secondary_blocks.len(), block.secondary_blocks[0]), (5, Address::new(5)));
        assert_eq!(block.encode(&context).unwrap(), bytes);
    }

    #[test]
    fn secondary_block() {
        // Secondary block 3: two data blocks of four elements, each with two pages.
        let (header, geometry) = small();
        let shape = geometry.secondary_block(3);
        assert_eq!((shape.data_blocks, shape.data_block_elements, shape.pages), (2, 4, 2));
        let context =
            ExtensibleArrayBlockContext::secondary_block(&header, &geometry, &shape, ADDRESS, PARAMS);
        let bytes = sealed(b"EASB\x00\x00\x00\x10\x00\x00\x07\x90\x00\x01\x00\x00\x00\x02\x00\x00\x00");
        assert_eq!(ExtensibleArraySecondaryBlock::size(&context), bytes.len());
        let mut block = ExtensibleArraySecondaryBlock::decode(&bytes, &context).unwrap();
        assert_eq!((block.block_offset, shape.first_element), (7, 7));
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert_eq!(places.map(|(b, p)| block.is_initialised(b, p, &context)), [true, false, false, true]);
        assert_eq!(block.encode(&context).unwrap(), bytes);
        block.set_initialised(1, 0, &context);
        assert_eq!(block.page_bitmap, [0xb0, 0]);
    }

    #[test]
    fn data_blocks() {
        let (header, geometry) = small();
        let context = ExtensibleArrayBlockContext::data_block(&header, &geometry, 2, ADDRESS, PARAMS);
        let bytes = sealed(b"EADB\x00\x00\x00\x10\x00\x00\x01\x01\x00\x00\x00\x02\x00\x00\x00");
        let block = ExtensibleArrayDataBlock::decode(&bytes, &context).unwrap();
        assert_eq!((block.block_offset, block.elements.len(), context.total_size()), (1, 8, bytes.len()));
        assert_eq!(block.encode(&context).unwrap(), bytes);
        assert!(block.check_offset(3, 1).is_ok() && block.check_offset(3, 2).is_err());
        let paged = ExtensibleArrayBlockContext::data_block(&header, &geometry, 4, ADDRESS, PARAMS);
        let bytes = sealed(b"EADB\x00\x00\x00\x10\x00\x00\x07");
        let block = ExtensibleArrayDataBlock::decode(&bytes, &paged).unwrap();
        assert_eq!((block.elements.len(), paged.pages(), paged.page().elements), (0, 2, 2));
        assert_eq!((paged.page_offset(0), paged.page_offset(1), paged.total_size()), (15, 27, 39));
        assert_eq!(ArrayPage::size(&paged.page()), 12);
        assert_eq!(block.encode(&paged).unwrap(), bytes);
        let other = ExtensibleArrayBlockContext { client: ChunkIndexClient::FILTERED, ..paged };
        assert!(ExtensibleArrayDataBlock::decode(&bytes, &other).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(number in 2_u32..7, byte in 0_u8..255, version in 0_u8..2) {
            let (header, geometry) = small();
            let shape = geometry.secondary_block(number);
            let context = ExtensibleArrayBlockContext::secondary_block(&header, &geometry, &shape, ADDRESS, PARAMS);
            let mut block = ExtensibleArraySecondaryBlock::new(version, shape.first_element, &context);
            block.page_bitmap.fill(byte);
            block.data_blocks[0] = Address::new(byte.into());
            let bytes = block.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), ExtensibleArraySecondaryBlock::size(&context));
            prop_assert_eq!(ExtensibleArraySecondaryBlock::decode(&bytes, &context).unwrap(), block);

            let context = ExtensibleArrayBlockContext::data_block(&header, &geometry, shape.data_block_elements, ADDRESS, PARAMS);
            let block = ExtensibleArrayDataBlock { version, block_offset: 5, elements: vec![byte; context.elements_size()] };
            let bytes = block.encode(&context).unwrap();
            prop_assert_eq!(ExtensibleArrayDataBlock::decode(&bytes, &context).unwrap(), block);

            let context = ExtensibleArrayBlockContext::index_block(&header, &geometry, ADDRESS, PARAMS);
            let block = ExtensibleArrayIndexBlock {
                version,
                elements: vec![byte; 8],
                data_blocks: vec![Address::new(byte.into()); 2],
                secondary_blocks: vec![Address::UNDEFINED; 5],
            };
            let bytes = block.encode(&context).unwrap();
            prop_assert_eq!(ExtensibleArrayIndexBlock::decode(&bytes, &context).unwrap(), block);
        }

        #[test]
        fn damaged(damage in damage(), number in 0_u32..=32, elements in 0_u64..1 << 40) {
            let (header, geometry) = small();
            let index = ExtensibleArrayBlockContext::index_block(&header, &geometry, ADDRESS, PARAMS);
            let shape = geometry.secondary_block(number);
            let secondary = ExtensibleArrayBlockContext::secondary_block(&header, &geometry, &shape, ADDRESS, PARAMS);
            let data = ExtensibleArrayBlockContext::data_block(&header, &geometry, elements, ADDRESS, PARAMS);
            let mut bytes = b"EASB\x00\x00\x00\x10\x00\x00".to_vec();
            bytes.resize(60, 0);
            for signature in [INDEX_SIGNATURE, SECONDARY_SIGNATURE, DATA_SIGNATURE] {
                bytes[..4].copy_from_slice(signature);
                damage.inflict(&bytes, |bytes| {
                    drop(ExtensibleArrayIndexBlock::decode(bytes, &index));
                    drop(ExtensibleArraySecondaryBlock::decode(bytes, &secondary));
                    drop(ExtensibleArrayDataBlock::decode(bytes, &data));
                });
            }
            let _ = (data.total_size(), data.page_offset(data.pages()));
        }
    }
}
