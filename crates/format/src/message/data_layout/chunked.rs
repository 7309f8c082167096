//! Chunked storage (layout class 2 of the data layout message, section IV.A.2.i).
//!
//! ```text
//! version 3                            versions 4 and 5
//! size  field                          size  field
//! 1     dimensionality (D)             1     flags: bit 0 edge chunks are not filtered,
//! O     address of the v1 B-tree                    bit 1 the single chunk is filtered
//! D x 4 dimension sizes                1     dimensionality (D)
//!                                      1     bytes of a dimension size (E), 1 to 8
//!                                      D x E dimension sizes
//!                                      1     chunk indexing type
//!                                      ..    indexing type information
//!                                      O     address
//! ```
//! The last dimension size is the size of an element in bytes; D is the rank plus one.
//!
//! Indexing type information:
//! ```text
//! 1 single chunk      L size, 4 filter mask (if flags bit 1)
//! 2 implicit          nothing
//! 3 fixed array       1 page bits
//! 4 extensible array  1 max bits, 1 index elements, 1 min pointers, 1 min elements, 1 page bits
//! 5 v2 B-tree         4 node size, 1 split percent, 1 merge percent
//! ```
//! One sentence of the specification ties the information of a single chunk to flags bit 0. Actual
//! files use bit 1.

use hyperslab_dataspace::Dims;

use super::{ArrayDims, MAX_DIMENSIONALITY, decode_dimensionality};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

bitflags::bitflags! {
    /// The flags of chunked storage in data layout messages of versions 4 and 5.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ChunkFlags: u8 {
        /// A flag in a data layout message: chunks that extend beyond the dimensions of the dataset
        /// are stored without filters.
        const DO_NOT_FILTER_EDGE_CHUNKS = 1 << 0;
        /// A flag in a data layout message: the dataset's single chunk is filtered.
        const SINGLE_INDEX_WITH_FILTER = 1 << 1;
    }
}

/// The properties of chunked storage: raw data in chunks of equal size.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChunkedLayout {
    /// Number of elements of a chunk along each dimension of the dataset; never 0.
    pub dims: Dims,
    /// Size of an element in bytes.
    pub element_size: u64,
    /// Flags; empty before version 4.
    pub flags: ChunkFlags,
    /// Width of a stored dimension size in bytes: 4 before version 4, later the smallest width that
    /// fits.
    pub dimension_width: u8,
    /// Type and parameters of the chunk index.
    pub index: ChunkIndexParameters,
    /// Address of the index, of the single chunk, or of the first implicitly indexed chunk;
    /// undefined while nothing is stored.
    pub address: Address,
}

/// The chunk index of a dataset, with the parameters that the data layout message stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkIndexParameters {
    /// Version 1 B-tree: the only index before version 4, and not allowed from version 4 on.
    BTreeV1,
    /// Exactly one chunk. `Some` if the chunk is filtered, as the flags state.
    Single(Option<FilteredChunk>),
    /// Consecutive chunks without filters, at addresses that follow from their numbers.
    Implicit,
    /// Fixed array, for a dataset that cannot grow.
    FixedArray(FixedArrayParameters),
    /// Extensible array, for a dataset with one unlimited dimension.
    ExtensibleArray(ExtensibleArrayParameters),
    /// Version 2 B-tree, for a dataset with several unlimited dimensions.
    BTreeV2(BTreeV2Parameters),
}

/// The entry of a filtered chunk in a chunk index: size and filter mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FilteredChunk {
    /// Stored size of the chunk in bytes.
    pub size: u64,
    /// Filter mask: bit i is set if filter i of the pipeline was skipped.
    pub filter_mask: u32,
}

/// Creation parameters of a fixed array (a chunk index).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedArrayParameters {
    /// Binary logarithm of the number of elements in a page of the data block.
    pub page_bits: u8,
}

impl FixedArrayParameters {
    /// The parameters of a fixed array (a chunk index) that libhdf5 uses by default.
    pub const DEFAULT: Self = Self { page_bits: 10 };
}

/// Creation parameters of an extensible array (a chunk index).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExtensibleArrayParameters {
    /// Number of bits of the largest number of elements.
    pub max_bits: u8,
    /// Number of elements in the index block.
    pub index_elements: u8,
    /// Smallest number of data block pointers in a secondary block.
    pub min_pointers: u8,
    /// Smallest number of elements in a data block.
    pub min_elements: u8,
    /// Binary logarithm of the number of elements in a page of a data block.
    pub page_bits: u8,
}

impl ExtensibleArrayParameters {
    /// The parameters of an extensible array (a chunk index) that libhdf5 uses by default.
    pub const DEFAULT: Self =
        Self { max_bits: 32, index_elements: 4, min_pointers: 4, min_elements: 16, page_bits: 10 };
}

/// Creation parameters of a version 2 B-tree as a chunk index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BTreeV2Parameters {
    /// Size of a node in bytes.
    pub node_size: u32,
    /// Fill percentage above which a node is split.
    pub split_percent: u8,
    /// Fill percentage below which a node is merged.
    pub merge_percent: u8,
}

impl BTreeV2Parameters {
    /// The parameters of a version 2 B-tree that libhdf5 uses by default as a chunk index.
    pub const DEFAULT: Self = Self { node_size: 2048, split_percent: 100, merge_percent: 40 };
}

impl ChunkIndexParameters {
    /// Returns the chunk indexing type of data layout messages of versions 4 and 5, or 0 for the
    /// version 1 B-tree.
    pub const fn index_type(&self) -> u8 {
        match self {
            Self::BTreeV1 => 0,
            Self::Single(_) => SINGLE,
            Self::Implicit => IMPLICIT,
            Self::FixedArray(_) => FIXED_ARRAY,
            Self::ExtensibleArray(_) => EXTENSIBLE_ARRAY,
            Self::BTreeV2(_) => BTREE_V2,
        }
    }
}

pub(super) const SINGLE: u8 = 1;
pub(super) const IMPLICIT: u8 = 2;
pub(super) const FIXED_ARRAY: u8 = 3;
pub(super) const EXTENSIBLE_ARRAY: u8 = 4;
pub(super) const BTREE_V2: u8 = 5;

impl ChunkedLayout {
    /// Returns true if chunks at the edges of the dataset are stored without filters. Such chunks
    /// extend beyond the dimensions of the dataset. For a single chunk without filters, ignores the
    /// flag in the message, like libhdf5.
    pub fn leaves_edges_unfiltered(&self) -> bool {
        self.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS)
            && !matches!(self.index, ChunkIndexParameters::Single(None))
    }

    /// Returns the smallest [`dimension_width`](Self::dimension_width), in data layout messages of
    /// versions 4 and 5, that fits all dimension sizes of a chunk.
    pub fn width_for(dims: &[u64], element_size: u64) -> u8 {
        let largest = dims.iter().copied().fold(element_size, u64::max);
        (largest.max(1).ilog2() / 8 + 1).min(8) as u8
    }

    /// Creates the properties of chunked storage with a version 1 B-tree, for data layout messages
    /// before version 4.
    pub(super) fn before_version_4(r: &Reader<'_>, address: Address, dims: &[u32]) -> Result<Self> {
        if dims.len() < 2 {
            return Err(r.corrupt("dimensionality", "at least 2 for chunks", dims.len()));
        }
        let dims = dims.iter().map(|dim| u64::from(*dim)).collect();
        let (dims, element_size) = split_element_size(r, dims)?;
        let flags = ChunkFlags::empty();
        Ok(Self {
            dims,
            element_size,
            flags,
            dimension_width: 4,
            index: ChunkIndexParameters::BTreeV1,
            address,
        })
    }

    /// Returns the dimension sizes of chunks as stored in data layout messages before version 4.
    pub(super) fn dims_before_version_4(&self, w: &mut Writer) -> ArrayDims {
        self.check(w);
        if self.index != ChunkIndexParameters::BTreeV1 {
            w.fail("chunk indexing type", format_args!("{} before version 4", self.index.index_type()));
        }
        if !self.flags.is_empty() {
            w.fail("flags", "flags before version 4");
        }
        if self.dimension_width != 4 {
            w.fail("dimension size encoded length", self.dimension_width);
        }
        let sizes = self.dims.iter().copied().chain([self.element_size]);
        sizes
            .map(|size| {
                let narrow = u32::try_from(size);
                if narrow.is_err() {
                    w.fail("dimension size", size);
                }
                // Placeholder: a failed writer returns only the error.
                narrow.unwrap_or(0)
            })
            .collect()
    }

    pub(super) fn decode_version_3(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let dimensionality = decode_dimensionality(r, 2)?;
        let address = r.offset(params, "address")?;
        let mut dims = ArrayDims::new();
        for _ in 0..dimensionality {
            dims.push(r.u32("dimension size")?);
        }
        Self::before_version_4(r, address, &dims)
    }

    pub(super) fn encode_version_3(&self, params: FileParams, w: &mut Writer) {
        let dims = self.dims_before_version_4(w);
        w.narrow_u8(dims.len(), "dimensionality");
        w.offset(params, self.address, "address");
        for dim in dims {
            w.u32(dim);
        }
    }

    pub(super) fn decode_version_4(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let flags = decode_flags(r)?;
        let (dimension_width, dims) = decode_dims(r, 2)?;
        let (dims, element_size) = split_element_size(r, dims)?;
        let index = match r.u8("chunk indexing type")? {
            0 => return Err(r.corrupt("chunk indexing type", "1 to 5", 0)),
            SINGLE if flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER) => {
                ChunkIndexParameters::Single(Some(FilteredChunk {
                    size: r.length(params, "size of filtered chunk")?,
                    filter_mask: r.u32("filters for chunk")?,
                }))
            }
            SINGLE => ChunkIndexParameters::Single(None),
            IMPLICIT => ChunkIndexParameters::Implicit,
            FIXED_ARRAY => ChunkIndexParameters::FixedArray(FixedArrayParameters::decode(r)?),
            EXTENSIBLE_ARRAY => ChunkIndexParameters::ExtensibleArray(ExtensibleArrayParameters::decode(r)?),
            BTREE_V2 => ChunkIndexParameters::BTreeV2(BTreeV2Parameters::decode(r)?),
            other => return Err(r.unsupported(format!("chunk indexing type {other}"))),
        };
        let address = r.offset(params, "address")?;
        Ok(Self { dims, element_size, flags, dimension_width, index, address })
    }

    pub(super) fn encode_version_4(&self, params: FileParams, w: &mut Writer) {
        self.check(w);
        w.u8(self.flags.bits());
        let sizes: Dims = self.dims.iter().copied().chain([self.element_size]).collect();
        encode_dims(self.dimension_width, &sizes, w);
        w.u8(self.index.index_type());
        match self.index {
            ChunkIndexParameters::BTreeV1 => w.fail("chunk indexing type", "a v1 B-tree from version 4 on"),
            ChunkIndexParameters::Single(filtered) => {
                if filtered.is_some() != self.flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER) {
                    w.fail("flags", format_args!("{:?} for {filtered:?}", self.flags));
                }
                if let Some(chunk) = filtered {
                    w.length(params, chunk.size, "size of filtered chunk");
                    w.u32(chunk.filter_mask);
                }
            }
            ChunkIndexParameters::Implicit => {}
            ChunkIndexParameters::FixedArray(array) => array.encode(w),
            ChunkIndexParameters::ExtensibleArray(array) => array.encode(w),
            ChunkIndexParameters::BTreeV2(tree) => tree.encode(w),
        }
        w.offset(params, self.address, "address");
    }

    /// Records an error for chunk dimensions or sizes that no version of the data layout message
    /// can store.
    fn check(&self, w: &mut Writer) {
        if self.dims.is_empty() || self.dims.len() >= MAX_DIMENSIONALITY {
            w.fail("dimensionality", self.dims.len());
        }
        if self.dims.contains(&0) || self.element_size == 0 {
            w.fail("dimension size", 0);
        }
    }
}

/// Reads the flags of chunked storage from a data layout message.
pub(super) fn decode_flags(r: &mut Reader<'_>) -> Result<ChunkFlags> {
    let flags = r.u8("flags")?;
    ChunkFlags::from_bits(flags)
        .ok_or_else(|| r.corrupt("flags", "bits 0 and 1 only", format_args!("{flags:#04x}")))
}

/// Reads three parts of a data layout message: the dimensionality of chunks, the width of a
/// dimension size, and the dimension sizes. A dimension size of 0 is an error.
pub(super) fn decode_dims(r: &mut Reader<'_>, least: usize) -> Result<(u8, Dims)> {
    let dimensionality = decode_dimensionality(r, least)?;
    let width = r.u8("dimension size encoded length")?;
    if !(1..=8).contains(&width) {
        return Err(r.corrupt("dimension size encoded length", "1 to 8", width));
    }
    let mut dims = Dims::new();
    for _ in 0..dimensionality {
        dims.push(r.uint(width.into(), "dimension size")?);
    }
    check_dims(r, &dims)?;
    Ok((width, dims))
}

/// Writes three parts of a data layout message: the dimensionality of chunks, the width of a
/// dimension size, and the dimension sizes.
pub(super) fn encode_dims(width: u8, dims: &[u64], w: &mut Writer) {
    if !(1..=8).contains(&width) {
        w.fail("dimension size encoded length", width);
    }
    w.narrow_u8(dims.len(), "dimensionality");
    w.u8(width);
    for dim in dims {
        w.uint(width.into(), *dim, "dimension size");
    }
}

fn check_dims(r: &Reader<'_>, dims: &[u64]) -> Result<()> {
    match dims.iter().find(|dim| **dim == 0) {
        Some(_) => Err(r.corrupt("dimension size", "at least 1", 0)),
        None => Ok(()),
    }
}

/// Splits the dimension sizes of a chunk in a data layout message. The last of these numbers is the
/// size of an element. Returns the other numbers and the size of an element.
fn split_element_size(r: &Reader<'_>, mut dims: Dims) -> Result<(Dims, u64)> {
    check_dims(r, &dims)?;
    match dims.pop() {
        Some(element_size) => Ok((dims, element_size)),
        None => Err(r.corrupt("dimensionality", "at least 2 for chunks", 0)),
    }
}

/// Reads one byte of chunk index parameters from a data layout message. The byte must not be 0.
fn parameter(r: &mut Reader<'_>, field: &'static str) -> Result<u8> {
    match r.u8(field)? {
        0 => Err(r.corrupt(field, "at least 1", 0)),
        value => Ok(value),
    }
}

/// Writes one byte of chunk index parameters to a data layout message. The byte must not be 0.
fn write_parameter(w: &mut Writer, value: u8, field: &'static str) {
    if value == 0 {
        w.fail(field, value);
    }
    w.u8(value);
}

impl FixedArrayParameters {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { page_bits: parameter(r, "page bits")? })
    }

    pub(super) fn encode(self, w: &mut Writer) {
        write_parameter(w, self.page_bits, "page bits");
    }
}

impl ExtensibleArrayParameters {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            max_bits: parameter(r, "max bits")?,
            index_elements: parameter(r, "index elements")?,
            min_pointers: parameter(r, "min pointers")?,
            min_elements: parameter(r, "min elements")?,
            page_bits: parameter(r, "page bits")?,
        })
    }

    pub(super) fn encode(self, w: &mut Writer) {
        write_parameter(w, self.max_bits, "max bits");
        write_parameter(w, self.index_elements, "index elements");
        write_parameter(w, self.min_pointers, "min pointers");
        write_parameter(w, self.min_elements, "min elements");
        write_parameter(w, self.page_bits, "page bits");
    }
}

impl BTreeV2Parameters {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self> {
        let node_size = r.u32("node size")?;
        if node_size == 0 {
            return Err(r.corrupt("node size", "at least 1", 0));
        }
        let mut percent = |field| match r.u8(field)? {
            value @ 1..=100 => Ok(value),
            other => Err(r.corrupt(field, "1 to 100", other)),
        };
        Ok(Self {
            node_size,
            split_percent: percent("split percent")?,
            merge_percent: percent("merge percent")?,
        })
    }

    pub(super) fn encode(self, w: &mut Writer) {
        if self.node_size == 0 {
            w.fail("node size", 0);
        }
        w.u32(self.node_size);
        for (value, field) in [(self.split_percent, "split percent"), (self.merge_percent, "merge percent")] {
            if value > 100 {
                w.fail(field, value);
            }
            write_parameter(w, value, field);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, lengths, params};
    use crate::message::{DataLayout, Layout, Message};
    use proptest::prelude::*;
    use smallvec::smallvec;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    fn chunked(version: u8, index: ChunkIndexParameters) -> DataLayout {
        let flags = match index {
            ChunkIndexParameters::Single(Some(_)) => ChunkFlags::SINGLE_INDEX_WITH_FILTER,
            _ => ChunkFlags::empty(),
        };
        let layout = Layout::Chunked(ChunkedLayout {
            dims: smallvec![6, 300],
            element_size: 4,
            flags,
            dimension_width: if version < 4 { 4 } else { 2 },
            index,
            address: Address::new(0x320),
        });
        DataLayout { version, layout }
    }

    #[test]
    fn version_1_and_3() {
        let dims = [6, 0, 0, 0, 0x2c, 1, 0, 0, 4, 0, 0, 0];
        let bytes = assert_laws!(DataLayout, chunked(1, ChunkIndexParameters::BTreeV1), SMALL);
        assert_eq!(bytes, [&[1, 3, 2, 0, 0, 0, 0, 0, 0x20, 3, 0, 0][..], &dims].concat());
        let bytes = assert_laws!(DataLayout, chunked(3, ChunkIndexParameters::BTreeV1), SMALL);
        assert_eq!(bytes, [&[3, 2, 3, 0x20, 3, 0, 0][..], &dims].concat());
    }

    #[test]
    fn each_index() {
        let filtered = FilteredChunk { size: 24, filter_mask: 1 };
        for (index, flags, information) in [
            (ChunkIndexParameters::Single(None), 0, &[1][..]),
            (ChunkIndexParameters::Single(Some(filtered)), 2, &[1, 24, 0, 1, 0, 0, 0]),
            (ChunkIndexParameters::Implicit, 0, &[2]),
            (ChunkIndexParameters::FixedArray(FixedArrayParameters::DEFAULT), 0, &[3, 10]),
            (
                ChunkIndexParameters::ExtensibleArray(ExtensibleArrayParameters::DEFAULT),
                0,
                &[4, 32, 4, 4, 16, 10],
            ),
            (ChunkIndexParameters::BTreeV2(BTreeV2Parameters::DEFAULT), 0, &[5, 0, 8, 0, 0, 100, 40]),
        ] {
            for version in [4, 5] {
                let bytes = assert_laws!(DataLayout, chunked(version, index), SMALL);
                let dims = [6, 0, 0x2c, 1, 4, 0];
                let head = [version, 2, flags, 3, 2];
                assert_eq!(bytes, [&head[..], &dims, information, &[0x20, 3, 0, 0]].concat());
            }
        }
    }

    #[test]
    fn refuses_contradictions() {
        let decode = |bytes: &[u8]| DataLayout::decode(bytes, SMALL);
        assert!(decode(&[3, 2, 1, 0, 0, 0, 0, 4, 0, 0, 0]).is_err(), "element size only");
        assert!(decode(&[3, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]).is_err(), "dimension of 0");
        assert!(decode(&[4, 2, 4, 2, 1, 6, 4, 2, 0, 0, 0, 0]).is_err(), "flags");
        assert!(decode(&[4, 2, 0, 2, 0, 2, 0, 0, 0, 0]).is_err(), "width of a dimension");
        assert!(decode(&[4, 2, 0, 2, 9, 2, 0, 0, 0, 0]).is_err(), "width of a dimension");
        assert!(decode(&[4, 2, 0, 2, 1, 6, 4, 0, 0, 0, 0, 0]).is_err(), "v1 B-tree");
        assert!(decode(&[4, 2, 0, 2, 1, 6, 4, 6, 0, 0, 0, 0]).is_err(), "unknown index");
        assert!(decode(&[4, 2, 0, 2, 1, 6, 4, 3, 0, 0, 0, 0, 0]).is_err(), "page bits");
        assert!(decode(&[4, 2, 0, 2, 1, 6, 4, 5, 1, 0, 0, 0, 101, 40, 0, 0, 0, 0]).is_err(), "percent");
        assert!(chunked(4, ChunkIndexParameters::BTreeV1).to_bytes(SMALL).is_err());
        assert!(chunked(3, ChunkIndexParameters::Implicit).to_bytes(SMALL).is_err());
    }

    #[test]
    fn widths() {
        assert_eq!(ChunkedLayout::width_for(&[1, 255], 4), 1);
        assert_eq!(ChunkedLayout::width_for(&[1, 256], 4), 2);
        assert_eq!(ChunkedLayout::width_for(&[1 << 33], 1), 5);
        assert_eq!(ChunkedLayout::width_for(&[u64::MAX], 1), 8);
    }

    fn indexes() -> impl Strategy<Value = ChunkIndexParameters> {
        prop_oneof![
            Just(ChunkIndexParameters::Single(None)),
            (lengths(), any::<u32>()).prop_map(|(size, filter_mask)| ChunkIndexParameters::Single(Some(
                FilteredChunk { size, filter_mask }
            ))),
            Just(ChunkIndexParameters::Implicit),
            (1_u8..)
                .prop_map(|page_bits| ChunkIndexParameters::FixedArray(FixedArrayParameters { page_bits })),
            prop::array::uniform5(1_u8..).prop_map(|[a, b, c, d, e]| {
                ChunkIndexParameters::ExtensibleArray(ExtensibleArrayParameters {
                    max_bits: a,
                    index_elements: b,
                    min_pointers: c,
                    min_elements: d,
                    page_bits: e,
                })
            }),
            (1_u32.., 1_u8..=100, 1_u8..=100).prop_map(|(node_size, split_percent, merge_percent)| {
                ChunkIndexParameters::BTreeV2(BTreeV2Parameters { node_size, split_percent, merge_percent })
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn laws(
            params in params(),
            dims in prop::collection::vec(1_u64..=u64::from(u32::MAX), 1..=32),
            element_size in 1_u64..=u64::from(u32::MAX),
            index in indexes(),
            edges in any::<bool>(),
            address in addresses(),
            old in 1_u8..4,
        ) {
            let dims = Dims::from(dims);
            let mut flags = ChunkFlags::empty();
            flags.set(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS, edges);
            flags.set(ChunkFlags::SINGLE_INDEX_WITH_FILTER, matches!(index, ChunkIndexParameters::Single(Some(_))));
            let layout = ChunkedLayout {
                dimension_width: ChunkedLayout::width_for(&dims, element_size),
                dims, element_size, flags, index, address,
            };
            assert_laws!(DataLayout, DataLayout { version: 4, layout: Layout::Chunked(layout.clone()) }, params);
            let flags = ChunkFlags::empty();
            let layout = ChunkedLayout { dimension_width: 4, flags, index: ChunkIndexParameters::BTreeV1, ..layout };
            assert_laws!(DataLayout, DataLayout { version: old, layout: Layout::Chunked(layout) }, params);
        }
    }
}
