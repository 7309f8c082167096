//! What an index says about a chunk: the place of an ordinary one, or the place of a structured one and its metadata.

use std::fmt;

use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::btree_v2::records::{ChunkRecordContext, ChunkRecordForm, types};
use hyperslab_format::chunk_index::{ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient};
use hyperslab_format::codec::{Address, FileParams, FormatError};
use hyperslab_format::message::{ChunkIndex as IndexParameters, ChunkedLayout, FilteredChunk};

use super::{ChunkIndexKind, ChunkLocation, ChunkShape, StructuredLocation, kind};
use crate::error::{Error, Result};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ChunkLocation {}
    impl Sealed for super::StructuredLocation {}
}

/// What an index says about a chunk. Every kind of index but the oldest ones can say either.
pub trait Entry: sealed::Sealed + Copy + PartialEq + Eq + fmt::Debug + Send + Sync + 'static {
    /// The layout message of datasets with such chunks.
    type Layout: Clone + PartialEq + fmt::Debug + Send;
    /// What the entries of one index leave out, and how those of a new index are stored.
    type Rules: Copy + fmt::Debug + Send + Sync;

    /// The version of the blocks of new arrays.
    const ARRAY_VERSION: u8;
    /// True if indexes are held to rules that old writers of ordinary ones may not have kept: totals and the order of
    /// records, heads of paged blocks.
    const STRICT: bool;

    /// First byte of the chunk.
    fn address(&self) -> Address;

    /// Stored bytes of the chunk.
    fn size(&self) -> u64;

    /// Elements of a chunk along each of the `rank` dimensions.
    fn chunk(layout: &Self::Layout, rank: usize) -> &[u64];

    /// The kind of index that the layout names.
    fn kind(layout: &Self::Layout) -> ChunkIndexKind;

    /// What goes without saying in the index.
    fn rules(layout: &Self::Layout, shape: &ChunkShape) -> Self::Rules;

    /// Writes down what the layout message says about the index.
    fn note(layout: &mut Self::Layout, note: Note<Self>);

    /// Whose elements new arrays have.
    fn client(rules: &Self::Rules) -> ChunkIndexClient;

    /// The type of the records of new trees.
    fn record_type(rules: &Self::Rules) -> u8;

    /// What an element or a record of a new index stores.
    fn form(rules: &Self::Rules) -> ChunkElementForm;

    /// How the elements of an array are stored, by its header.
    ///
    /// # Errors
    /// If the array is of other chunks, or its elements have no possible size.
    fn of_array(
        rules: &Self::Rules,
        params: FileParams,
        client: ChunkIndexClient,
        element_size: u8,
    ) -> Result<ChunkElementLayout, FormatError>;

    /// How the records of a tree are stored, by its header.
    ///
    /// # Errors
    /// If the tree is of other chunks, or its records have no possible size.
    fn of_tree(
        rules: &Self::Rules,
        params: FileParams,
        rank: usize,
        header: &BTreeV2Header,
    ) -> Result<ChunkRecordContext, FormatError>;

    /// From what is stored; `plain` if that is an address and no more.
    fn from_stored(rules: &Self::Rules, plain: bool, stored: &ChunkElement<'_>) -> Self;

    /// What is to be stored; `plain` if that is an address and no more.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the index cannot say it.
    fn to_stored(&self, rules: &Self::Rules, plain: bool) -> Result<ChunkElement<'_>>;

    /// That a layout message can say it of its only chunk.
    ///
    /// # Errors
    /// [`Error::Misuse`] if not.
    fn check_single(&self, layout_has_size: bool, rules: &Self::Rules) -> Result<()> {
        self.to_stored(rules, !layout_has_size).map(drop)
    }
}

/// What changes of an index change in the layout message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note<E> {
    /// Where the index lies; undefined if there is none.
    Index(Address),
    /// The only chunk.
    Single(Option<E>),
}

/// What goes without saying in indexes of ordinary chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRules {
    /// Bytes of a chunk that passes no filter, which indexes do not repeat.
    pub bytes: u64,
    /// Bytes of the size of a chunk in a new index, if chunks pass filters.
    pub size_width: Option<usize>,
}

/// The form of records, which is that of elements but for the place.
pub(super) fn record_form(form: ChunkElementForm) -> ChunkRecordForm {
    match form {
        ChunkElementForm::Plain => ChunkRecordForm::Plain,
        ChunkElementForm::Filtered { size_width } => ChunkRecordForm::Filtered { size_width },
        ChunkElementForm::Structured { size_width, metadata_size } => {
            ChunkRecordForm::Structured { size_width, metadata_size }
        }
    }
}

/// That a chunk has a place.
pub(super) fn check_address(address: Address) -> Result<Address> {
    if address.is_defined() {
        return Ok(address);
    }
    Err(Error::Misuse("a chunk without an address".into()))
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
        if let IndexParameters::Single(Some(stored)) = &mut layout.index {
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
            "a chunk of {size} bytes with filter mask {filter_mask:#x} in an index of unfiltered chunks of \
             {expected} bytes"
        )))
    }
}
