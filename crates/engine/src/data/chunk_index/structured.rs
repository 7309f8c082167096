//! Chunk indexes of structured chunks: the kinds of chunk index for ordinary chunks, with longer
//! entries and stricter rules.

use std::sync::Arc;

use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::btree_v2::records::{ChunkRecordContext, types};
use hyperslab_format::chunk_index::{
    ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient, ExtensibleArrayHeader,
    FixedArrayHeader,
};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure as _};
use hyperslab_format::message::{
    BTreeV2Parameters, ChunkFlags, ExtensibleArrayParameters, SingleStructuredChunk, StructuredChunkLayout,
    StructuredIndex,
};

use super::btree_v2::BTreeV2Index;
use super::entry::{Entry, Note, check_address};
use super::extensible_array::ExtensibleArrayIndex;
use super::fixed_array::FixedArrayIndex;
use super::order::ArrayOrder;
use super::single::SingleIndex;
use super::{
    ChunkIndex, ChunkIndexKind, ChunkMetadataBytes, ChunkShape, StructuredLocation, structured_kind,
};
use crate::error::{Error, Result};
use crate::index::btree_v2::BTreeV2;
use crate::store::Store;

const LAYOUT: &str = "data layout message";

/// The properties that all entries of a chunk index of structured chunks have in common. The
/// entries do not store these properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructuredRules {
    /// The width of the size of a chunk in a new index, or in the layout message.
    pub size_width: usize,
    /// The number of bytes of chunk metadata.
    pub metadata_size: usize,
    /// True if the dataset has a filter pipeline.
    pub filtered: bool,
}

impl Entry for StructuredLocation {
    type Layout = StructuredChunkLayout;
    type Rules = StructuredRules;

    const ARRAY_VERSION: u8 = 1;
    const STRICT: bool = true;

    fn address(&self) -> Address {
        self.address
    }

    fn size(&self) -> u64 {
        self.size
    }

    /// Returns the shape of a structured chunk from the layout message. Omits the size of an
    /// element, which may follow the dimensions.
    fn chunk(layout: &StructuredChunkLayout, rank: usize) -> &[u64] {
        layout.dims.get(..rank).unwrap_or(&layout.dims)
    }

    fn kind(layout: &StructuredChunkLayout) -> ChunkIndexKind {
        structured_kind(layout)
    }

    fn rules(layout: &StructuredChunkLayout, shape: &ChunkShape) -> StructuredRules {
        let (sections, filtered) = (layout.sections, shape.size_width.is_some());
        let size_width = match &layout.index {
            StructuredIndex::Single(single) => single.size_width,
            _ => StructuredChunkLayout::chunk_size_width(sections, &[shape.chunk_bytes]),
        };
        let metadata_size =
            StructuredChunkLayout::chunk_metadata_size(sections, layout.offset_size, filtered);
        StructuredRules { size_width: size_width.into(), metadata_size, filtered }
    }

    fn note(layout: &mut StructuredChunkLayout, note: Note<Self>) {
        let chunk = match note {
            Note::Index(address) => {
                layout.address = address;
                return;
            }
            Note::Single(chunk) => chunk,
        };
        layout.address = chunk.map_or(Address::UNDEFINED, |chunk| chunk.address);
        if let StructuredIndex::Single(stored) = &mut layout.index {
            let none = ChunkMetadataBytes::zeros(stored.metadata.len());
            let (size, metadata) = chunk.map_or((0, none), |chunk| (chunk.size, chunk.metadata));
            stored.size = size;
            stored.metadata = metadata.to_vec();
        }
    }

    fn client(rules: &StructuredRules) -> ChunkIndexClient {
        if rules.filtered { ChunkIndexClient::STRUCTURED_FILTERED } else { ChunkIndexClient::STRUCTURED }
    }

    fn record_type(rules: &StructuredRules) -> u8 {
        if rules.filtered { types::STRUCTURED_CHUNK_FILTERED } else { types::STRUCTURED_CHUNK }
    }

    fn form(rules: &StructuredRules) -> ChunkElementForm {
        let &StructuredRules { size_width, metadata_size, .. } = rules;
        ChunkElementForm::Structured { size_width, metadata_size }
    }

    fn of_array(
        rules: &StructuredRules,
        params: FileParams,
        client: ChunkIndexClient,
        element_size: u8,
    ) -> Result<ChunkElementLayout, FormatError> {
        let expected = Self::client(rules);
        if client != expected {
            let expected = by_filters(expected.0, rules);
            return Err(FormatError::corrupt("array of structured chunks", "client ID", expected, client.0));
        }
        ChunkElementLayout::of_array(params, client, element_size.into(), rules.metadata_size)
    }

    fn of_tree(
        rules: &StructuredRules,
        params: FileParams,
        rank: usize,
        header: &BTreeV2Header,
    ) -> Result<ChunkRecordContext, FormatError> {
        let (got, size) = (header.record_type, header.record_size.into());
        if got != Self::record_type(rules) {
            let expected = by_filters(Self::record_type(rules), rules);
            return Err(FormatError::corrupt(BTreeV2Header::NAME, "type", expected, got));
        }
        ChunkRecordContext::new(params, rank, got, size, rules.metadata_size)
    }

    fn from_stored(_rules: &StructuredRules, _plain: bool, stored: &ChunkElement<'_>) -> Self {
        let none = ChunkMetadataBytes::zeros(0);
        let metadata = ChunkMetadataBytes::new(stored.metadata).unwrap_or(none);
        Self { address: stored.address, size: stored.size, metadata }
    }

    fn to_stored(&self, rules: &StructuredRules, _plain: bool) -> Result<ChunkElement<'_>> {
        let address = check_address(self.address)?;
        let (got, expected) = (self.metadata.len(), rules.metadata_size);
        if got != expected {
            return Err(Error::Misuse(format!(
                "the metadata of a structured chunk has {got} bytes, but its chunk index stores {expected} \
                 bytes"
            )));
        }
        Ok(ChunkElement { address, size: self.size, filter_mask: 0, metadata: &self.metadata })
    }

    fn check_single(&self, _layout_has_size: bool, rules: &StructuredRules) -> Result<()> {
        self.to_stored(rules, false)?;
        let bits = u64::BITS - self.size.leading_zeros();
        if rules.size_width >= bits.div_ceil(8) as usize {
            return Ok(());
        }
        let (size, width) = (self.size, rules.size_width);
        Err(Error::Misuse(format!("a chunk size of {size} bytes does not fit into {width} bytes")))
    }
}

fn by_filters(number: u8, rules: &StructuredRules) -> String {
    let filters = if rules.filtered { "with" } else { "without" };
    format!("{number} {filters} filters")
}

/// Returns the chunk index entry of a dataset's only structured chunk, which the layout message
/// itself describes.
pub(super) fn single(
    layout: &StructuredChunkLayout,
    stored: &SingleStructuredChunk,
) -> Option<StructuredLocation> {
    let metadata = ChunkMetadataBytes::new(&stored.metadata)?;
    let address = layout.address;
    address.is_defined().then_some(StructuredLocation { address, size: stored.size, metadata })
}

/// Opens the chunk index of structured chunks that the layout message names, for reading. Returns
/// `None` if the dataset has no stored chunk.
///
/// # Errors
/// Returns errors of reading the index's header. Returns [`Error::Corrupt`] if the header
/// contradicts the layout message, the extent or the presence of filters.
pub fn open_structured(
    store: &Store,
    layout: &StructuredChunkLayout,
    shape: &ChunkShape,
) -> Result<Option<Arc<dyn ChunkIndex<StructuredLocation>>>> {
    check(store, layout, shape)?;
    let address = layout.address;
    if !address.is_defined() {
        return Ok(None);
    }
    let rank = shape.max_dims.len();
    let rules = StructuredLocation::rules(layout, shape);
    let order = || ArrayOrder::new(StructuredLocation::chunk(layout, rank), &shape.max_dims);
    Ok(Some(match &layout.index {
        StructuredIndex::Single(stored) => Arc::new(SingleIndex { rank, location: single(layout, stored) }),
        StructuredIndex::FixedArray(_) => Arc::new(FixedArrayIndex::open(store, address, rules, order()?)?),
        StructuredIndex::ExtensibleArray(_) => {
            Arc::new(ExtensibleArrayIndex::open(store, address, rules, order()?)?)
        }
        StructuredIndex::BTreeV2(_) => Arc::new(BTreeV2Index::open(store, address, rank, rules)?),
    }))
}

/// Checks that the layout message of structured chunks, the header of the chunk index and the
/// properties of the dataset agree.
pub(super) fn check(store: &Store, layout: &StructuredChunkLayout, shape: &ChunkShape) -> Result<()> {
    let (rank, sizes) = (shape.max_dims.len(), layout.dims.len());
    if rank == 0 || (sizes != rank && Some(sizes) != rank.checked_add(1)) {
        let expected = format!("{} for {rank} dimensions", rank + 1);
        return Err(Error::corrupt(LAYOUT, "dimensionality", expected, sizes));
    }
    let filtered = shape.size_width.is_some();
    let address = layout.address;
    match &layout.index {
        StructuredIndex::Single(_) => {
            let flag = layout.flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER);
            if flag != filtered {
                let expected = if filtered { "bit 1 with filters" } else { "no bit 1 without filters" };
                return Err(Error::corrupt(LAYOUT, "flags", expected, layout.flags.bits()));
            }
            let sizes = shape.max_dims.iter().zip(&layout.dims);
            if sizes.clone().all(|(max, chunk)| max.is_some_and(|max| max <= *chunk)) {
                return Ok(());
            }
            let expected = "not a single-chunk index for a dataset of several chunks";
            Err(Error::corrupt(LAYOUT, "chunk indexing type", expected, layout.index.index_type()))
        }
        _ if !address.is_defined() => Ok(()),
        StructuredIndex::FixedArray(_) => {
            let order = ArrayOrder::new(StructuredLocation::chunk(layout, rank), &shape.max_dims)?;
            check_fixed_array(store, address, &order)
        }
        StructuredIndex::ExtensibleArray(parameters) => check_extensible_array(store, address, *parameters),
        StructuredIndex::BTreeV2(parameters) => check_tree(store, address, *parameters),
    }
}

/// A field of a chunk index header to check: its name, its value, and the value that the layout
/// message requires.
type Field = (&'static str, u64, u64);

fn agree(structure: &'static str, address: Address, fields: &[Field]) -> Result<()> {
    for (field, got, expected) in fields {
        if got != expected {
            let expected = format!("{expected}, from the layout and the extent");
            return Err(Error::corrupt(structure, field, expected, got).at(address));
        }
    }
    Ok(())
}

fn check_fixed_array(store: &Store, address: Address, order: &ArrayOrder) -> Result<()> {
    let header: Arc<FixedArrayHeader> = store.shared(address, &store.params())?;
    agree(FixedArrayHeader::NAME, address, &[("maximum number of entries", header.elements, order.count())])
}

fn check_extensible_array(
    store: &Store,
    address: Address,
    parameters: ExtensibleArrayParameters,
) -> Result<()> {
    let header: Arc<ExtensibleArrayHeader> = store.shared(address, &store.params())?;
    let fields = [
        ("bits of the maximum number of elements", header.max_elements_bits, parameters.max_bits),
        ("number of elements in the index block", header.index_block_elements, parameters.index_elements),
        (
            "minimum number of elements in a data block",
            header.min_data_block_elements,
            parameters.min_elements,
        ),
        (
            "minimum number of data block pointers of a secondary block",
            header.min_secondary_block_pointers,
            parameters.min_pointers,
        ),
        (
            "bits of the maximum number of elements in a data block page",
            header.page_bits,
            parameters.page_bits,
        ),
    ];
    agree(
        ExtensibleArrayHeader::NAME,
        address,
        &fields.map(|(field, got, of)| (field, got.into(), of.into())),
    )
}

fn check_tree(store: &Store, address: Address, parameters: BTreeV2Parameters) -> Result<()> {
    let tree = BTreeV2::open(store, address)?;
    let header = tree.header();
    let fields = [
        ("node size", header.node_size.into(), parameters.node_size.into()),
        ("split percent", header.split_percent.into(), parameters.split_percent.into()),
        ("merge percent", header.merge_percent.into(), parameters.merge_percent.into()),
    ];
    agree(BTreeV2Header::NAME, address, &fields)
}
