//! Entries of chunk indexes: the location of an ordinary chunk, or the location and the metadata of
//! a structured chunk.

use std::fmt;

use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::btree_v2::records::{ChunkRecordContext, ChunkRecordForm, types};
use hyperslab_format::chunk_index::{ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient};
use hyperslab_format::codec::{Address, FileParams, FormatError};
use hyperslab_format::message::{ChunkIndexParameters, ChunkedLayout, FilteredChunk};

use super::{ChunkIndexKind, ChunkLocation, ChunkShape, StructuredLocation, kind};
use crate::error::{Error, Result};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ChunkLocation {}
    impl Sealed for super::StructuredLocation {}
}

/// A trait of the entries of a chunk index: the location of an ordinary chunk, or of a structured
/// chunk. All kinds of chunk index except the version 1 B-tree and the implicit index can hold both
/// types of entries.
pub trait Entry: sealed::Sealed + Copy + PartialEq + Eq + fmt::Debug + Send + Sync + 'static {
    /// The type of the layout message of datasets with this type of chunk entry, for ordinary
    /// chunks or for structured chunks.
    type Layout: Clone + PartialEq + fmt::Debug + Send;
    /// The type of the properties that all entries of one chunk index have in common.
    type Rules: Copy + fmt::Debug + Send + Sync;

    /// The version number of the blocks of new fixed and extensible arrays with this type of chunk
    /// entry.
    const ARRAY_VERSION: u8;
    /// True if reads of a chunk index strictly check all rules of the format. Old programs violated
    /// some rules in indexes of ordinary (not structured) chunks: the totals and the order of
    /// B-tree records, and the headers of paged blocks.
    const STRICT: bool;

    /// Returns the address of the first byte of the stored chunk that a chunk index entry
    /// describes.
    fn address(&self) -> Address;

    /// Returns the number of stored bytes of the chunk that a chunk index entry describes.
    fn size(&self) -> u64;

    /// Returns the shape of a chunk from the layout message of a dataset with `rank` dimensions.
    fn chunk(layout: &Self::Layout, rank: usize) -> &[u64];

    /// Returns the kind of chunk index that the layout message of a dataset names.
    fn kind(layout: &Self::Layout) -> ChunkIndexKind;

    /// Returns the properties that all entries of a chunk index have in common, from the layout
    /// message and the properties of the dataset.
    fn rules(layout: &Self::Layout, shape: &ChunkShape) -> Self::Rules;

    /// Writes the note `note` about the chunk index (its address, or the location of the only
    /// chunk) into the layout message of the dataset.
    fn note(layout: &mut Self::Layout, note: Note<Self>);

    /// Returns the client ID of new fixed and extensible arrays with this type of chunk entry. The
    /// client ID in the header of an array names the type of its entries.
    fn client(rules: &Self::Rules) -> ChunkIndexClient;

    /// Returns the record type of new version 2 B-trees with this type of chunk entry.
    fn record_type(rules: &Self::Rules) -> u8;

    /// Returns the form (the list of stored fields) of the chunk entries in a new chunk index. An
    /// entry is stored as an array element or as a B-tree record.
    fn form(rules: &Self::Rules) -> ChunkElementForm;

    /// Returns the form (the list of stored fields) of the elements of a fixed or extensible array
    /// of chunk entries, from the header of the array.
    ///
    /// # Errors
    /// Returns an error if the array belongs to the other type of chunks, or if the size of its
    /// elements is impossible.
    fn of_array(
        rules: &Self::Rules,
        params: FileParams,
        client: ChunkIndexClient,
        element_size: u8,
    ) -> Result<ChunkElementLayout, FormatError>;

    /// Returns the form (the list of stored fields) of the records of a version 2 B-tree of chunks,
    /// from the header of the B-tree.
    ///
    /// # Errors
    /// Returns an error if the tree belongs to the other type of chunks, or if the size of its
    /// records is impossible.
    fn of_tree(
        rules: &Self::Rules,
        params: FileParams,
        rank: usize,
        header: &BTreeV2Header,
    ) -> Result<ChunkRecordContext, FormatError>;

    /// Creates a chunk index entry from the stored fields. If `plain` is true, only the address of
    /// the chunk is stored.
    fn from_stored(rules: &Self::Rules, plain: bool, stored: &ChunkElement<'_>) -> Self;

    /// Returns the fields of a chunk index entry that the index stores. If `plain` is true, the
    /// index stores only the address of the chunk.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the index cannot represent the entry.
    fn to_stored(&self, rules: &Self::Rules, plain: bool) -> Result<ChunkElement<'_>>;

    /// Checks that a chunk index entry can be stored in the layout message, as the single chunk of
    /// a dataset.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if it cannot.
    fn check_single(&self, layout_has_size: bool, rules: &Self::Rules) -> Result<()> {
        self.to_stored(rules, !layout_has_size).map(drop)
    }
}

/// A note about the chunk index for the layout message: the address of the chunk index, or the
/// location of the only chunk. A change of the chunk index may change the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note<E> {
    /// The address of the index; undefined if there is none.
    Index(Address),
    /// The only chunk.
    Single(Option<E>),
}

/// The properties that all entries of a chunk index of ordinary (not structured) chunks have in
/// common. The entries do not store these properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRules {
    /// The number of bytes of a decoded chunk.
    pub bytes: u64,
    /// The width of the size of a chunk in a new index, if chunks are filtered.
    pub size_width: Option<usize>,
}

/// Converts the form of array elements for chunks to the form of B-tree records with the same
/// fields.
pub(super) fn record_form(form: ChunkElementForm) -> ChunkRecordForm {
    match form {
        ChunkElementForm::Plain => ChunkRecordForm::Plain,
        ChunkElementForm::Filtered { size_width } => ChunkRecordForm::Filtered { size_width },
        ChunkElementForm::Structured { size_width, metadata_size } => {
            ChunkRecordForm::Structured { size_width, metadata_size }
        }
    }
}

/// Checks that a chunk index entry contains a defined address of a chunk. Returns the address.
pub(super) fn check_address(address: Address) -> Result<Address> {
    if address.is_defined() {
        return Ok(address);
    }
    Err(Error::Misuse("the entry of the chunk has no address".into()))
}

impl Entry for ChunkLocation {
    type Layout = ChunkedLayout;
    type Rules = ChunkRules;

    const ARRAY_VERSION: u8 = 0;
    const STRICT: bool = false;

    fn address(&self) -> Address {
        self.address
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn chunk(layout: &ChunkedLayout, _rank: usize) -> &[u64] {
        &layout.dims
    }

    fn kind(layout: &ChunkedLayout) -> ChunkIndexKind {
        kind(layout)
    }

    fn rules(_layout: &ChunkedLayout, shape: &ChunkShape) -> ChunkRules {
        ChunkRules { bytes: shape.chunk_bytes, size_width: shape.size_width }
    }

    fn note(layout: &mut ChunkedLayout, note: Note<Self>) {
        let chunk = match note {
            Note::Index(address) => {
                layout.address = address;
                return;
            }
            Note::Single(chunk) => chunk,
        };
        layout.address = chunk.map_or(Address::UNDEFINED, |chunk| chunk.address);
        if let ChunkIndexParameters::Single(Some(stored)) = &mut layout.index {
            let (size, filter_mask) = chunk.map_or((0, 0), |chunk| (chunk.size, chunk.filter_mask));
            *stored = FilteredChunk { size, filter_mask };
        }
    }

    fn client(rules: &ChunkRules) -> ChunkIndexClient {
        if rules.size_width.is_some() { ChunkIndexClient::FILTERED } else { ChunkIndexClient::CHUNKS }
    }

    fn record_type(rules: &ChunkRules) -> u8 {
        if rules.size_width.is_some() { types::CHUNK_FILTERED } else { types::CHUNK }
    }

    fn form(rules: &ChunkRules) -> ChunkElementForm {
        rules
            .size_width
            .map_or(ChunkElementForm::Plain, |size_width| ChunkElementForm::Filtered { size_width })
    }

    fn of_array(
        _rules: &ChunkRules,
        params: FileParams,
        client: ChunkIndexClient,
        element_size: u8,
    ) -> Result<ChunkElementLayout, FormatError> {
        if let ChunkIndexClient::STRUCTURED | ChunkIndexClient::STRUCTURED_FILTERED = client {
            return Err(FormatError::corrupt("array of chunks", "client ID", "0 or 1", client.0));
        }
        ChunkElementLayout::of_array(params, client, element_size.into(), 0)
    }

    fn of_tree(
        _rules: &ChunkRules,
        params: FileParams,
        rank: usize,
        header: &BTreeV2Header,
    ) -> Result<ChunkRecordContext, FormatError> {
        if let types::STRUCTURED_CHUNK | types::STRUCTURED_CHUNK_FILTERED = header.record_type {
            let got = header.record_type;
            return Err(FormatError::corrupt("version 2 B-tree of chunks", "type", "10 or 11", got));
        }
        ChunkRecordContext::new(params, rank, header.record_type, header.record_size.into(), 0)
    }

    fn from_stored(rules: &ChunkRules, plain: bool, stored: &ChunkElement<'_>) -> Self {
        let size = if plain { rules.bytes } else { stored.size };
        Self { address: stored.address, size, filter_mask: stored.filter_mask }
    }

    fn to_stored(&self, rules: &ChunkRules, plain: bool) -> Result<ChunkElement<'_>> {
        let address = check_address(self.address)?;
        let &Self { size, filter_mask, .. } = self;
        if !plain {
            return Ok(ChunkElement { address, size, filter_mask, metadata: &[] });
        }
        if size == rules.bytes && filter_mask == 0 {
            return Ok(ChunkElement { address, size: 0, filter_mask: 0, metadata: &[] });
        }
        let expected = rules.bytes;
        Err(Error::Misuse(format!(
            "a chunk of {size} bytes with filter mask {filter_mask:#x} cannot be in an index of unfiltered chunks of \
             {expected} bytes"
        )))
    }
}
