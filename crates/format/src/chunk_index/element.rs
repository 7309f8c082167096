//! Elements of fixed and extensible arrays (File Format Specification, sections VII.C and VII.D).
//!
//! ```text
//! client 0, chunks                       address (O)
//! client 1, filtered chunks              address (O), size (s), filter mask (4)
//! client 2, structured chunks            address (O), size (s), metadata
//! client 3, filtered structured chunks   the same with longer metadata
//! ```
//! An unset element has the undefined address, followed by zeros.

use crate::codec::{Address, FileParams, FormatError, Reader, Result, Writer};

const NAME: &str = "chunk index element";

/// The client ID of a fixed or extensible array (a chunk index). The ID determines the fields of
/// the entries in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkIndexClient(pub u8);

impl ChunkIndexClient {
    /// Client ID, in an extensible or fixed array, of entries for chunks without filters.
    pub const CHUNKS: Self = Self(0);
    /// Client ID, in an extensible or fixed array, of entries for filtered chunks.
    pub const FILTERED: Self = Self(1);
    /// Client ID, in an extensible or fixed array, of entries for unfiltered structured chunks
    /// (chunks of sparse datasets, and of datasets with variable-length elements).
    pub const STRUCTURED: Self = Self(2);
    /// Client ID, in an extensible or fixed array, of entries for filtered structured chunks.
    pub const STRUCTURED_FILTERED: Self = Self(3);
}

/// An entry of a fixed or extensible array (a chunk index). Each entry describes a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkElement<'a> {
    /// Address of the chunk; undefined if there is no chunk.
    pub address: Address,
    /// Stored size of the chunk in bytes; 0 for client 0, which has no size field.
    pub size: u64,
    /// Filter mask: bit i is set if filter i of the pipeline was skipped. Only client 1 stores the
    /// mask.
    pub filter_mask: u32,
    /// Structured chunk metadata (clients 2 and 3) as raw bytes.
    pub metadata: &'a [u8],
}

/// The fields of a chunk's entry in a fixed or extensible array besides the address of the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkElementForm {
    /// No further fields.
    Plain,
    /// Size and filter mask.
    Filtered {
        /// Width of the size field in bytes.
        size_width: usize,
    },
    /// Size and structured chunk metadata.
    Structured {
        /// Width of the size field in bytes.
        size_width: usize,
        /// Size of the metadata in bytes.
        metadata_size: usize,
    },
}

/// The layout of the chunk entries of one fixed or extensible array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkElementLayout {
    params: FileParams,
    form: ChunkElementForm,
}

impl ChunkElementLayout {
    /// Creates the layout of the chunk entries of a fixed or extensible array. `form` states the
    /// fields of an entry.
    pub fn new(params: FileParams, form: ChunkElementForm) -> Self {
        Self { params, form }
    }

    /// Derives the layout of the chunk entries from the header of a fixed or extensible array. The
    /// size of an entry determines the width of the chunk size field.
    ///
    /// `metadata_size` is the metadata size of structured chunks in bytes; clients 0 and 1 ignore
    /// it.
    ///
    /// # Errors
    /// Returns [`FormatError::Unsupported`] for an unknown client, and [`FormatError::Corrupt`] if
    /// the element size leaves no chunk size field of 1 to 8 bytes.
    pub fn of_array(
        params: FileParams,
        client: ChunkIndexClient,
        element_size: usize,
        metadata_size: usize,
    ) -> Result<Self> {
        let fixed = params.offset_width();
        let width = |rest: usize| {
            let width = element_size.checked_sub(fixed).and_then(|width| width.checked_sub(rest));
            width.filter(|width| (1..=8).contains(width)).ok_or_else(|| {
                let expected = format!("{fixed} + {rest} + a chunk size field of 1 to 8 bytes");
                FormatError::corrupt(NAME, "element size", expected, element_size)
            })
        };
        let form = match client {
            ChunkIndexClient::CHUNKS if element_size == fixed => ChunkElementForm::Plain,
            ChunkIndexClient::CHUNKS => {
                return Err(FormatError::corrupt(NAME, "element size", fixed.to_string(), element_size));
            }
            ChunkIndexClient::FILTERED => ChunkElementForm::Filtered { size_width: width(4)? },
            ChunkIndexClient::STRUCTURED | ChunkIndexClient::STRUCTURED_FILTERED => {
                ChunkElementForm::Structured { size_width: width(metadata_size)?, metadata_size }
            }
            ChunkIndexClient(other) => {
                return Err(FormatError::unsupported(NAME, format!("client ID {other}")));
            }
        };
        Ok(Self { params, form })
    }

    /// Returns the fields of a chunk's entry in a fixed or extensible array besides the address of
    /// the chunk.
    pub fn form(&self) -> ChunkElementForm {
        self.form
    }

    /// Returns the size in bytes of a chunk's entry in a fixed or extensible array.
    pub fn size(&self) -> usize {
        let more = match self.form {
            ChunkElementForm::Plain => 0,
            ChunkElementForm::Filtered { size_width } => size_width + 4,
            ChunkElementForm::Structured { size_width, metadata_size } => size_width + metadata_size,
        };
        self.params.offset_width() + more
    }

    /// Decodes a chunk's entry in a fixed or extensible array from the start of `bytes`.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if bytes are missing.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Result<ChunkElement<'a>> {
        let mut reader = Reader::new(NAME, bytes);
        let address = reader.offset(self.params, "address")?;
        Ok(match self.form {
            ChunkElementForm::Plain => ChunkElement { address, size: 0, filter_mask: 0, metadata: &[] },
            ChunkElementForm::Filtered { size_width } => {
                let size = reader.uint(size_width, "chunk size")?;
                ChunkElement { address, size, filter_mask: reader.u32("filter mask")?, metadata: &[] }
            }
            ChunkElementForm::Structured { size_width, metadata_size } => {
                let size = reader.uint(size_width, "chunk size")?;
                let metadata = reader.take(metadata_size, "structured chunk metadata")?;
                ChunkElement { address, size, filter_mask: 0, metadata }
            }
        })
    }

    /// Decodes one chunk entry of a fixed or extensible array. `elements` contains consecutive
    /// entries, and `index` is the number of the entry.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if `index` is out of range.
    pub fn get<'a>(&self, elements: &'a [u8], index: usize) -> Result<ChunkElement<'a>> {
        let bytes = index.checked_mul(self.size()).and_then(|start| elements.get(start..));
        let Some(bytes) = bytes else { return Err(self.out_of_range(elements, index)) };
        self.decode(bytes)
    }

    #[cold]
    fn out_of_range(&self, elements: &[u8], index: usize) -> FormatError {
        let count = elements.len() / self.size();
        FormatError::corrupt(NAME, "element", format!("a number below {count}"), index)
    }

    /// Returns an iterator over the consecutive chunk entries of a fixed or extensible array in
    /// `elements`.
    pub fn iter<'a>(&self, elements: &'a [u8]) -> impl Iterator<Item = Result<ChunkElement<'a>>> {
        let layout = *self;
        elements.chunks_exact(layout.size().max(1)).map(move |bytes| layout.decode(bytes))
    }

    /// Returns an iterator over the chunk addresses in consecutive entries of a fixed or extensible
    /// array. Returns `None` if the entries have other fields, or addresses that do not take 8
    /// bytes.
    #[inline]
    pub fn addresses<'a>(&self, elements: &'a [u8]) -> Option<impl Iterator<Item = Address> + use<'a>> {
        let is_address = self.form == ChunkElementForm::Plain && self.params.offset_width() == 8;
        // The undefined address has all bits set.
        let addresses = elements.as_chunks().0.iter().map(|bytes| Address::new(u64::from_le_bytes(*bytes)));
        is_address.then_some(addresses)
    }

    /// Encodes a chunk's entry in a fixed or extensible array to bytes.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if a value does not fit its field.
    pub fn encode(&self, element: &ChunkElement<'_>) -> Result<Vec<u8>> {
        let mut writer = Writer::new(NAME);
        writer.offset(self.params, element.address, "address");
        match self.form {
            ChunkElementForm::Plain => {}
            ChunkElementForm::Filtered { size_width } => {
                writer.uint(size_width, element.size, "chunk size");
                writer.u32(element.filter_mask);
            }
            ChunkElementForm::Structured { size_width, metadata_size } => {
                writer.uint(size_width, element.size, "chunk size");
                if element.address.is_defined() && element.metadata.len() != metadata_size {
                    writer.fail("structured chunk metadata", element.metadata.len());
                }
                writer.bytes(element.metadata);
            }
        }
        writer.pad_to(self.size(), "element");
        writer.finish()
    }

    /// Replaces one chunk entry of a fixed or extensible array. `elements` contains consecutive
    /// entries, and `index` is the number of the entry.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if `index` is out of range or a value does not fit its
    /// field.
    pub fn set(&self, elements: &mut [u8], index: usize, element: &ChunkElement<'_>) -> Result<()> {
        if self.set_plain(elements, index, element.address).is_some() {
            return Ok(());
        }
        let image = self.encode(element)?;
        let target = index
            .checked_mul(self.size())
            .and_then(|start| elements.get_mut(start..)?.get_mut(..image.len()));
        let Some(target) = target else {
            return Err(FormatError::Encode { structure: NAME, field: "element", got: index.to_string() });
        };
        target.copy_from_slice(&image);
        Ok(())
    }

    /// Writes a plain chunk entry of a fixed or extensible array: an entry that consists of an
    /// address only. Returns `None` if the entries of the array have other fields, or if the
    /// address or `index` is out of range.
    fn set_plain(&self, elements: &mut [u8], index: usize, address: Address) -> Option<()> {
        let width = self.params.offset_width();
        let bytes = address.raw().to_le_bytes();
        let (low, high) = bytes.split_at_checked(width).filter(|_| self.form == ChunkElementForm::Plain)?;
        if address.is_defined() && high.iter().any(|byte| *byte != 0) {
            return None;
        }
        let start = index.checked_mul(width)?;
        elements.get_mut(start..)?.get_mut(..width)?.copy_from_slice(low);
        Some(())
    }

    /// Returns the encoded bytes of `count` unset entries of a fixed or extensible array, which
    /// describe no chunk.
    pub fn unset(&self, count: usize) -> Vec<u8> {
        let mut one = vec![0; self.size()];
        for byte in one.iter_mut().take(self.params.offset_width()) {
            *byte = 0xff;
        }
        one.repeat(count)
    }
}

impl ChunkElement<'_> {
    /// An unset entry of a fixed or extensible array (a chunk index), which describes no chunk.
    pub const UNSET: ChunkElement<'static> =
        ChunkElement { address: Address::UNDEFINED, size: 0, filter_mask: 0, metadata: &[] };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };

    fn layout(client: u8, size: usize) -> ChunkElementLayout {
        ChunkElementLayout::of_array(PARAMS, ChunkIndexClient(client), size, 8).unwrap()
    }

    fn same(layout: ChunkElementLayout, element: &ChunkElement<'_>, bytes: &[u8]) {
        assert_eq!(layout.size(), bytes.len());
        assert_eq!(&layout.decode(bytes).unwrap(), element);
        assert_eq!(layout.encode(element).unwrap(), bytes);
        assert!(layout.decode(&bytes[1..]).is_err());
    }

    #[test]
    fn each_client() {
        let mut element =
            ChunkElement { address: Address::new(0x1000), size: 0, filter_mask: 0, metadata: &[] };
        same(layout(0, 4), &element, &[0, 0x10, 0, 0]);
        element.size = 300;
        element.filter_mask = 5;
        same(layout(1, 10), &element, &[0, 0x10, 0, 0, 0x2c, 1, 5, 0, 0, 0]);
        element.filter_mask = 0;
        element.metadata = b"12345678";
        same(layout(2, 14), &element, b"\x00\x10\x00\x00\x2c\x0112345678");
        same(
            layout(3, 14),
            &ChunkElement { metadata: &[0; 8], ..ChunkElement::UNSET },
            &layout(3, 14).unset(1),
        );
        assert_eq!(layout(3, 14).encode(&ChunkElement::UNSET).unwrap(), layout(3, 14).unset(1));
        for (client, size) in [(0, 5), (1, 8), (1, 17), (2, 12), (4, 4)] {
            assert!(ChunkElementLayout::of_array(PARAMS, ChunkIndexClient(client), size, 8).is_err());
        }
    }

    #[test]
    fn side_by_side() {
        let layout = layout(1, 10);
        let mut elements = layout.unset(3);
        let element = ChunkElement { address: Address::new(7), size: 9, filter_mask: 1, metadata: &[] };
        layout.set(&mut elements, 1, &element).unwrap();
        assert!(layout.set(&mut elements, 3, &element).is_err());
        assert_eq!(layout.get(&elements, 1), Ok(element));
        assert!(layout.get(&elements, 3).is_err());
        assert!(layout.get(&elements, usize::MAX).is_err());
        let all: Vec<_> =
            layout.iter(&elements).map(|element| element.unwrap().address.is_defined()).collect();
        assert_eq!(all, [false, true, false]);
    }

    #[test]
    fn addresses_alone() {
        let params = FileParams { size_of_offsets: 8, size_of_lengths: 8 };
        let layout = ChunkElementLayout::new(params, ChunkElementForm::Plain);
        let mut elements = layout.unset(3);
        let element = ChunkElement { address: Address::new(0x1234), ..ChunkElement::UNSET };
        layout.set(&mut elements, 1, &element).unwrap();
        let addresses: Vec<Address> = layout.addresses(&elements).unwrap().collect();
        let decoded = layout.iter(&elements).map(|element| element.unwrap().address);
        assert_eq!(addresses, decoded.collect::<Vec<_>>());
        assert_eq!(addresses, [Address::UNDEFINED, Address::new(0x1234), Address::UNDEFINED]);
        let filtered = ChunkElementLayout::new(params, ChunkElementForm::Filtered { size_width: 4 });
        assert!(filtered.addresses(&elements).is_none());
        assert!(self::layout(0, 4).addresses(&elements).is_none());
    }

    proptest! {
        #[test]
        fn round_trip(client in 0_u8..4, address: u32, size: u16, filter_mask: u32, metadata: [u8; 8]) {
            let layout = layout(client, [4, 10, 14, 14][usize::from(client)]);
            let element = ChunkElement {
                address: Address::new(u64::from(address) / 2),
                size: if client > 0 { size.into() } else { 0 },
                filter_mask: if client == 1 { filter_mask } else { 0 },
                metadata: if client > 1 { &metadata } else { &[] },
            };
            let bytes = layout.encode(&element).unwrap();
            prop_assert_eq!(layout.decode(&bytes).unwrap(), element);
        }

        #[test]
        fn any_bytes(client in 0_u8..5, size in 0_usize..40, metadata in 0_usize..40, bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(layout) = ChunkElementLayout::of_array(PARAMS, ChunkIndexClient(client), size, metadata) {
                for index in [0, 1, 7] {
                    let _ = layout.get(&bytes, index);
                }
                prop_assert!(layout.iter(&bytes).all(|element| element.is_ok()));
            }
        }
    }
}
