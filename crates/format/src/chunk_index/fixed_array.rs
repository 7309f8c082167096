//! Fixed array (File Format Specification, section VII.C): a chunk index for a dataset whose
//! largest number of chunks is known.
//!
//! ```text
//! header
//! byte  0   signature "FAHD"
//!       4   version 0; 1 with structured chunks
//!       5   client ID
//!       6   entry size
//!       7   page bits               a page has 2^(page bits) elements
//!       8   number of entries (L)
//!     8+L   data block address (O)
//!   8+L+O   checksum (4)
//!
//! data block
//! byte  0   signature "FADB"
//!       4   version, as in the header
//!       5   client ID
//!       6   header address (O)
//!           if the elements fit in one page: elements, checksum (4)
//!           otherwise: bitmap of initialised pages (bit 7 of byte 0 is page 0), checksum (4),
//!           then the pages: elements, checksum (4) each; the last page has the remaining elements
//! ```

use super::ChunkIndexClient;
use crate::codec::{Address, CHECKSUM_SIZE, FileParams, FormatError, Reader, Result, Structure, Writer};

const HEADER_SIGNATURE: &[u8; 4] = b"FAHD";
const BLOCK_SIGNATURE: &[u8; 4] = b"FADB";

/// The header of a fixed array: a chunk index of fixed size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArrayHeader {
    /// Version: 0, or 1 with structured chunks.
    pub version: u8,
    /// Client of the array, which determines the fields of the elements.
    pub client: ChunkIndexClient,
    /// Size of an element in bytes.
    pub element_size: u8,
    /// Binary logarithm of the number of elements in a page.
    pub page_bits: u8,
    /// Number of elements.
    pub elements: u64,
    /// Address of the data block.
    pub data_block: Address,
}

impl Structure for FixedArrayHeader {
    const NAME: &'static str = "fixed array header";
    type Context = FileParams;

    fn size(params: &FileParams) -> usize {
        12 + params.length_width() + params.offset_width()
    }

    fn decode(bytes: &[u8], params: &FileParams) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(HEADER_SIGNATURE)?;
        let header = Self {
            version: reader.version(&[0, 1])?,
            client: ChunkIndexClient(reader.u8("client ID")?),
            element_size: reader.u8("entry size")?,
            page_bits: reader.u8("page bits")?,
            elements: reader.length(*params, "maximum number of entries")?,
            data_block: reader.offset(*params, "data block address")?,
        };
        reader.checksum()?;
        reader.finish()?;
        Ok(header)
    }

    fn encode(&self, params: &FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(HEADER_SIGNATURE);
        writer.u8(self.version);
        writer.u8(self.client.0);
        writer.u8(self.element_size);
        writer.u8(self.page_bits);
        writer.length(*params, self.elements, "maximum number of entries");
        writer.offset(*params, self.data_block, "data block address");
        writer.checksum();
        writer.finish()
    }
}

/// The sizes of a fixed array's data block and pages, derived from the header. The decoder and the
/// encoder of the data block take these sizes as parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedArrayLayout {
    params: FileParams,
    header: Address,
    client: ChunkIndexClient,
    element_size: usize,
    elements: usize,
    page_elements: usize,
}

impl FixedArrayLayout {
    /// Computes the layout of the data block of the fixed array with its header at `address`.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the array has no elements or exceeds the address space.
    pub fn new(header: &FixedArrayHeader, address: Address, params: FileParams) -> Result<Self> {
        let corrupt = |field, expected: &str, got: u64| {
            Err(FormatError::corrupt(FixedArrayHeader::NAME, field, expected, got))
        };
        if header.element_size == 0 {
            return corrupt("entry size", "at least 1", 0);
        }
        let Some(page_elements) = 1_usize.checked_shl(header.page_bits.into()) else {
            return corrupt("page bits", "fewer bits than a memory address", header.page_bits.into());
        };
        let element_size = usize::from(header.element_size);
        // The whole block, with a checksum for each element, must be addressable. After this check,
        // no sum or product of the sizes of its parts overflows.
        let elements = usize::try_from(header.elements).ok().filter(|elements| {
            *elements > 0 && elements.checked_mul(element_size + 2 * CHECKSUM_SIZE).is_some()
        });
        let Some(elements) = elements else {
            return corrupt(
                "maximum number of entries",
                "at least 1, within the address space",
                header.elements,
            );
        };
        Ok(Self { params, header: address, client: header.client, element_size, elements, page_elements })
    }

    /// Returns the number of chunk entries of the fixed array.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the number of pages of the fixed array's data block. Returns 0 if the data block
    /// itself holds the chunk entries.
    pub fn pages(&self) -> usize {
        if self.elements > self.page_elements { self.elements.div_ceil(self.page_elements) } else { 0 }
    }

    fn prefix_size(&self) -> usize {
        6 + self.params.offset_width()
    }

    /// Returns the size of the fixed array's data block without its pages, in bytes.
    pub fn block_size(&self) -> usize {
        self.prefix_size() + self.body_size() + CHECKSUM_SIZE
    }

    /// Returns the size in bytes of the body of a fixed array's data block. The body is the page
    /// bitmap if the block has pages, otherwise the chunk entries.
    fn body_size(&self) -> usize {
        match self.pages() {
            0 => self.elements * self.element_size,
            pages => pages.div_ceil(8),
        }
    }

    /// Returns the allocated size of the fixed array's data block and its pages, in bytes.
    pub fn total_size(&self) -> usize {
        let pages = match self.pages() {
            0 => 0,
            pages => {
                let elements = self.elements * self.element_size;
                elements + pages * CHECKSUM_SIZE
            }
        };
        self.block_size() + pages
    }

    /// Returns the page of a fixed array that holds the chunk entry with the number `element`, and
    /// the entry's position in the page. In a data block without pages, returns page 0 and
    /// `element`.
    pub fn locate(&self, element: usize) -> (usize, usize) {
        if self.pages() == 0 {
            (0, element)
        } else {
            (element / self.page_elements, element % self.page_elements)
        }
    }

    /// Returns the offset of a page in bytes from the start of the fixed array's data block. In a
    /// block without pages, returns the end of the block.
    pub fn page_offset(&self, page: usize) -> usize {
        if self.pages() == 0 {
            return self.block_size();
        }
        let full = self.page_elements * self.element_size + CHECKSUM_SIZE;
        self.block_size() + page * full
    }

    /// Returns the layout parameters, for decoding and encoding, of a page of the fixed array, or
    /// `None` if no page has this number.
    pub fn page(&self, page: usize) -> Option<ArrayPageContext> {
        if page >= self.pages() {
            return None;
        }
        let before = page.checked_mul(self.page_elements)?;
        let elements = self.elements.checked_sub(before)?.min(self.page_elements);
        Some(ArrayPageContext { elements, element_size: self.element_size })
    }
}

/// The data block of a fixed array (a chunk index): the chunk entries, or the bitmap of a block
/// with pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArrayDataBlock {
    /// Version: 0, or 1 with structured chunks.
    pub version: u8,
    /// Bitmap of the initialised pages, most significant bit first; empty in a block without pages.
    pub page_bitmap: Vec<u8>,
    /// Concatenated bytes of the elements; empty in a block with pages.
    pub elements: Vec<u8>,
}

impl Structure for FixedArrayDataBlock {
    const NAME: &'static str = "fixed array data block";
    type Context = FixedArrayLayout;

    fn size(layout: &FixedArrayLayout) -> usize {
        layout.block_size()
    }

    fn decode(bytes: &[u8], layout: &FixedArrayLayout) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(BLOCK_SIGNATURE)?;
        let version = read_owner(&mut reader, layout.params, layout.client, layout.header)?;
        let body = layout.body_size();
        let (page_bitmap, elements) = match layout.pages() {
            0 => (Vec::new(), reader.take(body, "elements")?.to_vec()),
            _ => (reader.take(body, "page bitmap")?.to_vec(), Vec::new()),
        };
        reader.checksum()?;
        Ok(Self { version, page_bitmap, elements })
    }

    fn encode(&self, layout: &FixedArrayLayout) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(BLOCK_SIGNATURE);
        write_owner(&mut writer, layout.params, self.version, layout.client, layout.header);
        writer.bytes(&self.page_bitmap);
        writer.bytes(&self.elements);
        writer.checksum();
        if writer.len() != layout.block_size() || self.page_bitmap.is_empty() != (layout.pages() == 0) {
            writer.fail("elements", format_args!("{} bytes", self.elements.len()));
        }
        writer.finish()
    }
}

impl FixedArrayDataBlock {
    /// Returns true if a page of the fixed array was ever written. The bytes of other pages have no
    /// meaning.
    pub fn is_initialised(&self, page: usize) -> bool {
        bit(&self.page_bitmap, page)
    }

    /// Marks a page of the fixed array's data block as written.
    pub fn set_initialised(&mut self, page: usize) {
        set_bit(&mut self.page_bitmap, page);
    }
}

/// Returns one bit of the page bitmap of a fixed or extensible array. `index` counts from the most
/// significant bit of the first byte.
pub(super) fn bit(bytes: &[u8], index: usize) -> bool {
    bytes.get(index / 8).is_some_and(|byte| byte & (0x80 >> (index % 8)) != 0)
}

/// Sets one bit of the page bitmap of a fixed or extensible array. `index` counts from the most
/// significant bit of the first byte.
pub(super) fn set_bit(bytes: &mut [u8], index: usize) {
    if let Some(byte) = bytes.get_mut(index / 8) {
        *byte |= 0x80 >> (index % 8);
    }
}

/// Reads the version of a block of a fixed or extensible array, and the fields that identify the
/// block's owner: the client ID and the header address. Checks these two fields, and returns the
/// version.
pub(super) fn read_owner(
    reader: &mut Reader<'_>,
    params: FileParams,
    client: ChunkIndexClient,
    header: Address,
) -> Result<u8> {
    let version = reader.version(&[0, 1])?;
    let got = reader.u8("client ID")?;
    if got != client.0 {
        return Err(reader.corrupt("client ID", format!("the header's {}", client.0), got));
    }
    let owner = reader.offset(params, "header address")?;
    if owner != header {
        return Err(reader.corrupt("header address", header.to_string(), owner));
    }
    Ok(version)
}

/// Writes the version of a block of a fixed or extensible array, and the fields that identify the
/// owner of the block: the client ID and the header address.
pub(super) fn write_owner(
    writer: &mut Writer,
    params: FileParams,
    version: u8,
    client: ChunkIndexClient,
    header: Address,
) {
    writer.u8(version);
    writer.u8(client.0);
    writer.offset(params, header, "header address");
}

/// The layout of a page in a data block of a fixed or extensible array, for decoding and encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayPageContext {
    /// Number of elements in the page.
    pub elements: usize,
    /// Size of an element in bytes.
    pub element_size: usize,
}

/// A page in a data block of a fixed or extensible array: the chunk entries and a checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayPage {
    /// Concatenated bytes of the elements.
    pub elements: Vec<u8>,
}

impl Structure for ArrayPage {
    const NAME: &'static str = "data block page";
    type Context = ArrayPageContext;

    fn size(context: &ArrayPageContext) -> usize {
        context.elements * context.element_size + CHECKSUM_SIZE
    }

    fn decode(bytes: &[u8], context: &ArrayPageContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let elements = reader.take(context.elements * context.element_size, "elements")?;
        reader.checksum()?;
        Ok(Self { elements: elements.to_vec() })
    }

    fn encode(&self, context: &ArrayPageContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(&self.elements);
        writer.checksum();
        if writer.len() != Self::size(context) {
            writer.fail("elements", format_args!("{} bytes", self.elements.len()));
        }
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };
    const ADDRESS: Address = Address::new(0x1000);

    fn header(elements: u64, page_bits: u8) -> FixedArrayHeader {
        FixedArrayHeader {
            version: 0,
            client: ChunkIndexClient::CHUNKS,
            element_size: 4,
            page_bits,
            elements,
            data_block: Address::new(0x2000),
        }
    }

    fn sealed(body: &[u8]) -> Vec<u8> {
        [body, &checksum(body).to_le_bytes()].concat()
    }

    #[test]
    fn header_bytes() {
        let bytes = sealed(b"FAHD\x00\x00\x04\x0a\x05\x00\x00\x20\x00\x00");
        assert_eq!(FixedArrayHeader::decode(&bytes, &PARAMS).unwrap(), header(5, 10));
        assert_eq!(header(5, 10).encode(&PARAMS).unwrap(), bytes);
        assert_eq!(FixedArrayHeader::size(&PARAMS), bytes.len());
    }

    #[test]
    fn without_pages() {
        let layout = FixedArrayLayout::new(&header(2, 1), ADDRESS, PARAMS).unwrap();
        assert_eq!((layout.pages(), layout.total_size(), layout.locate(1)), (0, 22, (0, 1)));
        let bytes = sealed(b"FADB\x00\x00\x00\x10\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff");
        let block = FixedArrayDataBlock::decode(&bytes, &layout).unwrap();
        assert_eq!(block.elements, [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(block.encode(&layout).unwrap(), bytes);
        let other = FixedArrayLayout { header: Address::new(1), ..layout };
        assert!(FixedArrayDataBlock::decode(&bytes, &other).is_err());
    }

    #[test]
    fn with_pages() {
        // Five elements in pages of two: three pages, the last with one element.
        let layout = FixedArrayLayout::new(&header(5, 1), ADDRESS, PARAMS).unwrap();
        assert_eq!((layout.pages(), layout.block_size(), layout.total_size()), (3, 15, 15 + 12 + 12 + 8));
        assert_eq!((layout.page_offset(0), layout.page_offset(2), layout.locate(4)), (15, 39, (2, 0)));
        let bytes = sealed(b"FADB\x00\x00\x00\x10\x00\x00\xa0");
        let mut block = FixedArrayDataBlock::decode(&bytes, &layout).unwrap();
        assert_eq!([0, 1, 2, 9].map(|page| block.is_initialised(page)), [true, false, true, false]);
        assert_eq!(block.encode(&layout).unwrap(), bytes);
        block.set_initialised(1);
        assert_eq!(block.page_bitmap, [0xe0]);
        let context = layout.page(2).unwrap();
        assert_eq!((context.elements, layout.page(3)), (1, None));
        let page = sealed(&[1, 2, 3, 4]);
        assert_eq!(ArrayPage::decode(&page, &context).unwrap().elements, [1, 2, 3, 4]);
        assert_eq!(ArrayPage { elements: vec![1, 2, 3, 4] }.encode(&context).unwrap(), page);
        assert!(ArrayPage { elements: vec![1] }.encode(&context).is_err());
    }

    #[test]
    fn impossible_headers() {
        for bad in [
            header(0, 10),
            header(u64::MAX, 10),
            header(5, 64),
            FixedArrayHeader { element_size: 0, ..header(5, 10) },
        ] {
            assert!(FixedArrayLayout::new(&bad, ADDRESS, PARAMS).is_err());
        }
    }

    proptest! {
        #[test]
        fn header_round_trip(version in 0_u8..2, bytes: [u8; 3], elements: u64, block: u32) {
            let header = FixedArrayHeader {
                version,
                client: ChunkIndexClient(bytes[0]),
                element_size: bytes[1],
                page_bits: bytes[2],
                elements,
                data_block: Address::new(block.into()),
            };
            let image = header.encode(&FileParams::DEFAULT).unwrap();
            prop_assert_eq!(FixedArrayHeader::decode(&image, &FileParams::DEFAULT).unwrap(), header);
        }

        #[test]
        fn block_round_trip(elements in 1_u64..200, page_bits in 0_u8..9, byte: u8) {
            let layout = FixedArrayLayout::new(&header(elements, page_bits), ADDRESS, PARAMS).unwrap();
            let (bitmap, inline) = match layout.pages() {
                0 => (0, layout.elements() * 4),
                pages => (pages.div_ceil(8), 0),
            };
            let block = FixedArrayDataBlock { version: 0, page_bitmap: vec![byte; bitmap], elements: vec![byte; inline] };
            let image = block.encode(&layout).unwrap();
            prop_assert_eq!(image.len(), FixedArrayDataBlock::size(&layout));
            prop_assert_eq!(FixedArrayDataBlock::decode(&image, &layout).unwrap(), block);
            let pages: usize = (0..layout.pages()).map(|page| ArrayPage::size(&layout.page(page).unwrap())).sum();
            prop_assert_eq!(layout.total_size(), layout.block_size() + pages);
            for page in 0..layout.pages() {
                let context = layout.page(page).unwrap();
                let page = ArrayPage { elements: vec![byte; context.elements * 4] };
                prop_assert_eq!(ArrayPage::decode(&page.encode(&context).unwrap(), &context).unwrap(), page);
            }
        }

        #[test]
        fn damaged(damage in damage(), elements in 1_u64..40) {
            let header = header(elements, 3);
            damage.inflict(&header.encode(&PARAMS).unwrap(), |bytes| {
                if let Ok(header) = FixedArrayHeader::decode(bytes, &PARAMS)
                    && let Ok(layout) = FixedArrayLayout::new(&header, ADDRESS, PARAMS)
                {
                    let _ = (layout.total_size(), layout.page(3), layout.page_offset(layout.pages()));
                    drop(FixedArrayDataBlock::decode(bytes, &layout));
                }
            });
            let layout = FixedArrayLayout::new(&header, ADDRESS, PARAMS).unwrap();
            let mut bytes = b"FADB\x00\x00\x00\x10\x00\x00".to_vec();
            bytes.resize(layout.block_size(), 0);
            damage.inflict(&bytes, |bytes| drop(FixedArrayDataBlock::decode(bytes, &layout)));
        }
    }
}
