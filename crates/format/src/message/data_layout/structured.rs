//! Structured chunk storage (layout class 4 of the data layout message; sections IV.A.2.i and
//! Appendix E).
//!
//! ```text
//! size  field
//! 1     property version = 0
//! 2     structured chunk type: bit 0 sparse, bit 1 variable-length
//! 1     flags: bit 0 edge chunks are not filtered, bit 1 the single chunk is filtered
//! 1     dimensionality (D): rank + 1
//! 1     bytes of a dimension size (E)
//! D x E dimension sizes; the last is the size of an element in bytes
//! ..    composition   (at the end in the original proposal and one draft)
//! 1     chunk indexing type: 1, 3, 4 or 5 (not 2, implicit)
//! ..    indexing type information; as for chunked storage, except for a single chunk:
//!         C   chunk size
//!         ..  chunk metadata, N sections, offsets of o bytes:
//!             unfiltered (N-1) x o;  filtered (N-1) x o + N x o + N x 4
//! O     address
//! ```
//! Composition:
//! ```text
//! 1     offset size (o): 4 or 8
//! 1     number of sections (N)
//! 1     number of sections with metadata (K)
//! K     numbers of these sections, ascending
//! ```
//!
//! C is 8 for three sections, else `min(8, 1 + (floor(log2(B)) + 8) / 8)` for B bytes of a full
//! chunk. If the length of a message implies another C, the decoder uses that C.
//!
//! The byte after the dimension sizes distinguishes the two orders of fields: it is an offset size
//! of 8, or an indexing type of 1, 3 or 5. If the byte is 4, the next byte is a number of sections
//! (2 or 3) or the "max bits" of an extensible array. The fields must then fill the message, except
//! for up to seven zero bytes of padding.

use hyperslab_dataspace::Dims;
use hyperslab_exact::product;
use smallvec::SmallVec;

use super::chunked::{
    BTREE_V2, EXTENSIBLE_ARRAY, FIXED_ARRAY, IMPLICIT, SINGLE, decode_dims, decode_flags, encode_dims,
};
use super::{
    BTreeV2Parameters, ChunkFlags, ExtensibleArrayParameters, FixedArrayParameters, MAX_DIMENSIONALITY,
};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

bitflags::bitflags! {
    /// Flags that state the contents of a dataset's structured chunks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct StructuredChunkType: u16 {
        /// A flag of structured chunks: the chunks are sparse. Section 0 of a chunk lists the
        /// defined elements, and the chunk stores values only for them.
        const SPARSE = 1 << 0;
        /// A flag of structured chunks: elements have variable-length data. The last section of a
        /// chunk is a heap.
        const VARIABLE_LENGTH = 1 << 1;
    }
}

/// The order of the fields in a data layout message of structured chunks. The orders differ in the
/// position of the fields for the number and properties of a chunk's sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FieldOrder {
    /// Composition after the dimension sizes. Encoders use this order.
    #[default]
    CompositionFirst,
    /// Composition after the address, as in the original proposal. In such files, the metadata of
    /// filtered chunks may also have another order.
    CompositionLast,
}

/// The properties of raw data in structured chunks, in the data layout message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructuredChunkLayout {
    /// Position of the composition among the fields.
    pub order: FieldOrder,
    /// Contents of the chunks.
    pub chunk_type: StructuredChunkType,
    /// Flags of chunked storage.
    pub flags: ChunkFlags,
    /// Width of a stored dimension size in bytes.
    pub dimension_width: u8,
    /// Number of elements of a chunk along each dimension, then the size of an element in bytes;
    /// never 0. Some writers omit the element size, which the rank of the dataspace reveals.
    pub dims: Dims,
    /// Width of an offset in chunk metadata, in bytes: 4 or 8.
    pub offset_size: u8,
    /// Number of sections: 2 or 3.
    pub sections: u8,
    /// Numbers of the sections that end with a checksum, ascending.
    pub metadata_sections: SmallVec<[u8; 4]>,
    /// Type and parameters of the chunk index.
    pub index: StructuredIndex,
    /// Address of the index or of the single chunk; undefined while there is none.
    pub address: Address,
}

/// The chunk index of a dataset with structured chunks, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StructuredIndex {
    /// Exactly one chunk.
    Single(SingleStructuredChunk),
    /// Fixed array.
    FixedArray(FixedArrayParameters),
    /// Extensible array.
    ExtensibleArray(ExtensibleArrayParameters),
    /// Version 2 B-tree.
    BTreeV2(BTreeV2Parameters),
}

/// The entry of the only chunk of a dataset with structured chunks, which the data layout message
/// stores.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SingleStructuredChunk {
    /// Stored size of the chunk in bytes.
    pub size: u64,
    /// Width of the size field in bytes.
    pub size_width: u8,
    /// Encoded chunk metadata, [`StructuredChunkLayout::chunk_metadata_size`] bytes.
    pub metadata: Vec<u8>,
}

impl StructuredIndex {
    /// Returns the number of the chunk index type, for a data layout message of structured chunks.
    pub const fn index_type(&self) -> u8 {
        match self {
            Self::Single(_) => SINGLE,
            Self::FixedArray(_) => FIXED_ARRAY,
            Self::ExtensibleArray(_) => EXTENSIBLE_ARRAY,
            Self::BTreeV2(_) => BTREE_V2,
        }
    }
}

/// The fields of a data layout message that describe the composition of structured chunks: the
/// number of sections of a chunk, and their properties.
#[derive(Debug, Clone)]
struct Composition {
    offset_size: u8,
    sections: u8,
    metadata_sections: SmallVec<[u8; 4]>,
}

/// The first fields of a data layout message of structured chunks. Both known field orders begin
/// with these fields.
#[derive(Debug, Clone)]
struct Head {
    chunk_type: StructuredChunkType,
    flags: ChunkFlags,
    dimension_width: u8,
    dims: Dims,
}

impl StructuredChunkLayout {
    /// Returns the size in bytes of a structured chunk's metadata in its chunk index entry.
    /// `filtered` is true if the dataset has a filter pipeline.
    pub fn chunk_metadata_size(sections: u8, offset_size: u8, filtered: bool) -> usize {
        let (sections, offset) = (usize::from(sections), usize::from(offset_size));
        let offsets = (sections.max(1) - 1) * offset;
        if filtered { offsets + sections * (offset + 4) } else { offsets }
    }

    /// Returns the width in bytes of the chunk size field in new chunk index entries of structured
    /// chunks. `dims` are the dimension sizes of a chunk and the element size.
    pub fn chunk_size_width(sections: u8, dims: &[u64]) -> u8 {
        if sections == 3 {
            return 8;
        }
        // For a product of 56 bits or more, and for an overflow, the width is the largest width.
        let bytes = product("size of a chunk", dims.iter().copied()).unwrap_or(u64::MAX);
        (1 + (bytes.max(1).ilog2() + 8) / 8).min(8) as u8
    }

    pub(super) fn decode(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let version = r.u8("property version")?;
        if version != 0 {
            return Err(r.unsupported(format!("structured chunk property version {version}")));
        }
        let bits = r.u16("structured chunk type")?;
        let chunk_type = match StructuredChunkType::from_bits(bits) {
            Some(chunk_type) if !chunk_type.is_empty() => chunk_type,
            _ => return Err(r.corrupt("structured chunk type", "1, 2 or 3", format_args!("{bits:#06x}"))),
        };
        let flags = decode_flags(r)?;
        let (dimension_width, dims) = decode_dims(r, 1)?;
        let head = Head { chunk_type, flags, dimension_width, dims };
        match field_order(r)? {
            FieldOrder::CompositionFirst => head.decode_composition_first(r, params),
            FieldOrder::CompositionLast => head.decode_composition_last(r, params),
        }
    }

    pub(super) fn encode(&self, params: FileParams, w: &mut Writer) {
        self.check(w);
        w.u8(0);
        w.u16(self.chunk_type.bits());
        w.u8(self.flags.bits());
        encode_dims(self.dimension_width, &self.dims, w);
        if self.order == FieldOrder::CompositionFirst {
            self.encode_composition(w);
        }
        w.u8(self.index.index_type());
        match &self.index {
            StructuredIndex::Single(single) => {
                w.uint(single.size_width.into(), single.size, "chunk size");
                w.bytes(&single.metadata);
            }
            StructuredIndex::FixedArray(array) => array.encode(w),
            StructuredIndex::ExtensibleArray(array) => array.encode(w),
            StructuredIndex::BTreeV2(tree) => tree.encode(w),
        }
        w.offset(params, self.address, "address");
        if self.order == FieldOrder::CompositionLast {
            self.encode_composition(w);
        }
    }

    fn encode_composition(&self, w: &mut Writer) {
        w.u8(self.offset_size);
        w.u8(self.sections);
        w.narrow_u8(self.metadata_sections.len(), "number of sections with metadata");
        w.bytes(&self.metadata_sections);
    }

    /// Checks a data layout message of structured chunks before it is written. Records an error for
    /// values that a decoder would refuse.
    fn check(&self, w: &mut Writer) {
        if !(1..=MAX_DIMENSIONALITY).contains(&self.dims.len()) {
            w.fail("dimensionality", self.dims.len());
        }
        if self.dims.contains(&0) {
            w.fail("dimension size", 0);
        }
        if self.chunk_type.is_empty() || StructuredChunkType::from_bits(self.chunk_type.bits()).is_none() {
            w.fail("structured chunk type", self.chunk_type.bits());
        }
        if !matches!(self.offset_size, 4 | 8) {
            w.fail("offset size", self.offset_size);
        }
        if !sections_fit(self.chunk_type, self.sections) {
            w.fail("number of sections", self.sections);
        }
        if !is_section_list(&self.metadata_sections, self.sections) {
            w.fail("number of section with metadata", format_args!("{:?}", self.metadata_sections));
        }
        if let StructuredIndex::Single(single) = &self.index {
            let filtered = self.flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER);
            if single.metadata.len() != Self::chunk_metadata_size(self.sections, self.offset_size, filtered) {
                w.fail("structured chunk metadata", format_args!("{} bytes", single.metadata.len()));
            }
            if !(1..=8).contains(&single.size_width) {
                w.fail("chunk size", format_args!("a width of {}", single.size_width));
            }
        }
    }
}

/// Returns the order of the fields in a data layout message of structured chunks. Determines the
/// order from the bytes after the dimension sizes.
fn field_order(r: &Reader<'_>) -> Result<FieldOrder> {
    match r.peek_rest() {
        [8, ..] | [4, 2 | 3, ..] => Ok(FieldOrder::CompositionFirst),
        [SINGLE | FIXED_ARRAY | EXTENSIBLE_ARRAY | BTREE_V2, ..] => Ok(FieldOrder::CompositionLast),
        [IMPLICIT, ..] => Err(r.corrupt("chunk indexing type", "no implicit index", IMPLICIT)),
        [other, ..] => Err(r.corrupt("offset size", "4 or 8, or a chunk indexing type", other)),
        [] => Err(r.corrupt("offset size", "1 byte", "0 bytes before the end")),
    }
}

fn sections_fit(chunk_type: StructuredChunkType, sections: u8) -> bool {
    match sections {
        2 => chunk_type != StructuredChunkType::all(),
        3 => chunk_type.contains(StructuredChunkType::SPARSE),
        _ => false,
    }
}

fn is_section_list(list: &[u8], sections: u8) -> bool {
    list.is_sorted_by(|one, next| one < next) && list.iter().all(|section| *section < sections)
}

/// Checks the end of a data layout message of structured chunks. At most seven bytes may remain,
/// and all of them must be zero.
fn check_end(r: &Reader<'_>) -> Result<()> {
    let rest = r.peek_rest();
    if rest.len() < 8 && rest.iter().all(|byte| *byte == 0) {
        return Ok(());
    }
    Err(r.corrupt("end", "no further bytes", format_args!("{} more", rest.len())))
}

/// Reads an address from a data layout message of structured chunks. The value `ff..fe` also counts
/// as the undefined address, because a prototype of libhdf5 wrote it.
fn decode_address(r: &mut Reader<'_>, params: FileParams) -> Result<Address> {
    let mut probe = r.clone();
    if let [0xfe, rest @ ..] = probe.take(params.offset_width(), "address")?
        && rest.iter().all(|byte| *byte == 0xff)
    {
        *r = probe;
        return Ok(Address::UNDEFINED);
    }
    r.offset(params, "address")
}

impl Composition {
    fn decode(r: &mut Reader<'_>, chunk_type: StructuredChunkType) -> Result<Self> {
        let offset_size = r.u8("offset size")?;
        if !matches!(offset_size, 4 | 8) {
            return Err(r.corrupt("offset size", "4 or 8", offset_size));
        }
        let sections = r.u8("number of sections")?;
        if !sections_fit(chunk_type, sections) {
            let expected = format!("a number that matches structured chunk type {}", chunk_type.bits());
            return Err(r.corrupt("number of sections", expected, sections));
        }
        let count = r.u8("number of sections with metadata")?;
        let list = r.take(count.into(), "number of section with metadata")?;
        if !is_section_list(list, sections) {
            let expected = format!("ascending numbers below {sections}");
            return Err(r.corrupt("number of section with metadata", expected, format_args!("{list:?}")));
        }
        Ok(Self { offset_size, sections, metadata_sections: SmallVec::from_slice(list) })
    }
}

impl Head {
    fn filtered(&self) -> bool {
        self.flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER)
    }

    fn finish(
        self,
        order: FieldOrder,
        composition: Composition,
        index: StructuredIndex,
        address: Address,
    ) -> StructuredChunkLayout {
        let Self { chunk_type, flags, dimension_width, dims } = self;
        let Composition { offset_size, sections, metadata_sections } = composition;
        StructuredChunkLayout {
            order,
            chunk_type,
            flags,
            dimension_width,
            dims,
            offset_size,
            sections,
            metadata_sections,
            index,
            address,
        }
    }

    fn decode_composition_first(
        self,
        r: &mut Reader<'_>,
        params: FileParams,
    ) -> Result<StructuredChunkLayout> {
        let composition = Composition::decode(r, self.chunk_type)?;
        let index = match r.u8("chunk indexing type")? {
            SINGLE => {
                let Composition { sections, offset_size, .. } = composition;
                let metadata =
                    StructuredChunkLayout::chunk_metadata_size(sections, offset_size, self.filtered());
                let after_size = metadata + params.offset_width();
                let width = self.single_width(r, sections, after_size)?;
                StructuredIndex::Single(SingleStructuredChunk::decode(r, width, metadata)?)
            }
            other => decode_index(r, other)?,
        };
        let address = decode_address(r, params)?;
        check_end(r)?;
        Ok(self.finish(FieldOrder::CompositionFirst, composition, index, address))
    }

    /// Returns the width of the field for the size of a dataset's only structured chunk. Prefers
    /// the standard width. If the data layout message then has a wrong length, returns the width
    /// that fills the message exactly. `after_size` is the number of bytes after the field.
    fn single_width(&self, r: &Reader<'_>, sections: u8, after_size: usize) -> Result<u8> {
        let rule = StructuredChunkLayout::chunk_size_width(sections, &self.dims);
        let by_rule = usize::from(rule) + after_size;
        if r.peek_rest().get(by_rule..).is_some_and(|pad| pad.len() < 8 && pad.iter().all(|byte| *byte == 0))
        {
            return Ok(rule);
        }
        let exact = r.remaining().checked_sub(after_size).and_then(|width| u8::try_from(width).ok());
        exact
            .filter(|width| (1..=8).contains(width))
            .ok_or_else(|| r.corrupt("chunk size", format!("{rule} bytes"), "a message of another length"))
    }

    fn decode_composition_last(
        self,
        r: &mut Reader<'_>,
        params: FileParams,
    ) -> Result<StructuredChunkLayout> {
        let index_type = r.u8("chunk indexing type")?;
        if index_type == SINGLE {
            return self.decode_single_composition_last(r, params);
        }
        let index = decode_index(r, index_type)?;
        let address = decode_address(r, params)?;
        let composition = Composition::decode(r, self.chunk_type)?;
        check_end(r)?;
        Ok(self.finish(FieldOrder::CompositionLast, composition, index, address))
    }

    /// Decodes the data layout message of a dataset with only one structured chunk. In this
    /// message, the composition (the number and properties of the sections) comes last, and the
    /// size of earlier fields depends on it. Therefore tries each possible composition, first with
    /// the standard width of the chunk size, then with any width.
    fn decode_single_composition_last(
        self,
        r: &mut Reader<'_>,
        params: FileParams,
    ) -> Result<StructuredChunkLayout> {
        for any_width in [false, true] {
            let mut found = Vec::new();
            for (sections, offset_size) in [(2, 8), (2, 4), (3, 8), (3, 4)] {
                let rule = StructuredChunkLayout::chunk_size_width(sections, &self.dims);
                let widths = if any_width { 1..=8 } else { rule..=rule };
                for width in widths {
                    found.extend(self.try_single(r, params, (sections, offset_size), width));
                }
            }
            match found.len() {
                0 => {}
                1 => {
                    r.take_rest();
                    return found.pop().ok_or_else(|| {
                        r.corrupt("number and offset size of sections", "one valid combination", "none")
                    });
                }
                several => {
                    return Err(r.corrupt(
                        "structured chunk composition",
                        "exactly one valid combination of number and offset size",
                        several,
                    ));
                }
            }
        }
        Err(r.corrupt(
            "structured chunk composition",
            "a number and offset size of sections that match the message length",
            "none",
        ))
    }

    /// Decodes the data layout message of a single structured chunk, with the given number of
    /// sections and widths. Returns `None` if later bytes of the message contradict this number or
    /// these widths.
    fn try_single(
        &self,
        r: &Reader<'_>,
        params: FileParams,
        (sections, offset_size): (u8, u8),
        width: u8,
    ) -> Option<StructuredChunkLayout> {
        let mut r = r.clone();
        let metadata = StructuredChunkLayout::chunk_metadata_size(sections, offset_size, self.filtered());
        let single = SingleStructuredChunk::decode(&mut r, width, metadata).ok()?;
        let address = decode_address(&mut r, params).ok()?;
        let composition = Composition::decode(&mut r, self.chunk_type).ok()?;
        check_end(&r).ok()?;
        let agrees = composition.sections == sections && composition.offset_size == offset_size;
        agrees.then(|| {
            let index = StructuredIndex::Single(single);
            self.clone().finish(FieldOrder::CompositionLast, composition, index, address)
        })
    }
}

impl SingleStructuredChunk {
    fn decode(r: &mut Reader<'_>, size_width: u8, metadata: usize) -> Result<Self> {
        let size = r.uint(size_width.into(), "chunk size")?;
        Ok(Self { size, size_width, metadata: r.take(metadata, "structured chunk metadata")?.to_vec() })
    }
}

fn decode_index(r: &mut Reader<'_>, index_type: u8) -> Result<StructuredIndex> {
    match index_type {
        FIXED_ARRAY => FixedArrayParameters::decode(r).map(StructuredIndex::FixedArray),
        EXTENSIBLE_ARRAY => ExtensibleArrayParameters::decode(r).map(StructuredIndex::ExtensibleArray),
        BTREE_V2 => BTreeV2Parameters::decode(r).map(StructuredIndex::BTreeV2),
        other => Err(r.corrupt("chunk indexing type", "1, 3, 4 or 5", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, params};
    use crate::message::{DataLayout, Layout, Message};
    use proptest::prelude::*;
    use smallvec::smallvec;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };

    fn sparse(order: FieldOrder, index: StructuredIndex) -> StructuredChunkLayout {
        StructuredChunkLayout {
            order,
            chunk_type: StructuredChunkType::SPARSE,
            flags: ChunkFlags::empty(),
            dimension_width: 1,
            dims: smallvec![5, 4],
            offset_size: 8,
            sections: 2,
            metadata_sections: smallvec![0],
            index,
            address: Address::new(0x320),
        }
    }

    fn message(layout: StructuredChunkLayout) -> DataLayout {
        DataLayout { version: 5, layout: Layout::Structured(layout) }
    }

    fn single(size: u64, size_width: u8, metadata: usize) -> StructuredIndex {
        StructuredIndex::Single(SingleStructuredChunk { size, size_width, metadata: vec![9; metadata] })
    }

    const HEAD: [u8; 10] = [5, 4, 0, 1, 0, 0, 2, 1, 5, 4];
    const COMPOSITION: [u8; 4] = [8, 2, 1, 0];
    const ADDRESS: [u8; 4] = [0x20, 3, 0, 0];

    #[test]
    fn both_orders() {
        let fixed = || StructuredIndex::FixedArray(FixedArrayParameters::DEFAULT);
        let extensible = || StructuredIndex::ExtensibleArray(ExtensibleArrayParameters::DEFAULT);
        let tree = || StructuredIndex::BTreeV2(BTreeV2Parameters::DEFAULT);
        // B is 20 bytes, so a chunk size takes 1 + (4 + 8) / 8 = 2 bytes.
        let one = || single(0x30, 2, 8);
        let information: [(_, &[u8]); 4] = [
            (fixed(), &[3, 10]),
            (extensible(), &[4, 32, 4, 4, 16, 10]),
            (tree(), &[5, 0, 8, 0, 0, 100, 40]),
            (one(), &[1, 0x30, 0, 9, 9, 9, 9, 9, 9, 9, 9]),
        ];
        for (index, information) in information {
            let first = message(sparse(FieldOrder::CompositionFirst, index.clone()));
            let bytes = assert_laws!(DataLayout, first, SMALL);
            assert_eq!(bytes, [&HEAD[..], &COMPOSITION, information, &ADDRESS].concat());
            let last = message(sparse(FieldOrder::CompositionLast, index));
            let mut bytes = assert_laws!(DataLayout, last, SMALL);
            assert_eq!(bytes, [&HEAD[..], information, &ADDRESS, &COMPOSITION].concat());
            bytes.extend([0; 7]);
            assert_eq!(DataLayout::decode(&bytes, SMALL).unwrap(), last);
            bytes.push(0);
            assert!(DataLayout::decode(&bytes, SMALL).is_err());
        }
    }

    #[test]
    fn a_single_chunk_with_another_width() {
        for order in [FieldOrder::CompositionFirst, FieldOrder::CompositionLast] {
            assert_laws!(DataLayout, message(sparse(order, single(0x30, 8, 8))), SMALL);
        }
    }

    #[test]
    fn a_filtered_single_chunk_with_variable_length_data() {
        for order in [FieldOrder::CompositionFirst, FieldOrder::CompositionLast] {
            for offset_size in [4, 8] {
                let metadata = usize::from(offset_size) * 5 + 12;
                assert_eq!(StructuredChunkLayout::chunk_metadata_size(3, offset_size, true), metadata);
                let layout = StructuredChunkLayout {
                    chunk_type: StructuredChunkType::all(),
                    flags: ChunkFlags::SINGLE_INDEX_WITH_FILTER,
                    offset_size,
                    sections: 3,
                    metadata_sections: smallvec![0, 1, 2],
                    ..sparse(order, single(0x30, 8, metadata))
                };
                assert_laws!(DataLayout, message(layout), SMALL);
            }
        }
    }

    #[test]
    fn no_chunk() {
        let mut bytes = [&HEAD[..], &COMPOSITION, &[3, 10], &[0xfe, 0xff, 0xff, 0xff]].concat();
        for _ in 0..2 {
            let DataLayout { layout: Layout::Structured(layout), .. } =
                DataLayout::decode(&bytes, SMALL).unwrap()
            else {
                panic!("another class");
            };
            assert_eq!(layout.address, Address::UNDEFINED);
            bytes[16] = 0xff;
        }
    }

    #[test]
    fn refuses_contradictions() {
        let bytes = [&HEAD[..], &COMPOSITION, &[3, 10], &ADDRESS].concat();
        assert!(DataLayout::decode(&bytes, SMALL).is_ok());
        for (at, value) in [
            (0, 4),  // version
            (2, 1),  // property version
            (3, 0),  // type: no bit set
            (3, 3),  // type: needs three sections
            (3, 5),  // type: reserved bit
            (5, 4),  // flags
            (6, 0),  // dimensionality
            (7, 0),  // width
            (8, 0),  // dimension
            (10, 7), // offset size
            (10, 2), // implicit index
            (11, 1), // sections
            (11, 4), // sections
            (12, 3), // sections with metadata
            (13, 2), // section list not ascending
            (14, 2), // implicit
            (15, 0), // page bits
        ] {
            let mut bad = bytes.clone();
            bad[at] = value;
            assert!(DataLayout::decode(&bad, SMALL).is_err(), "byte {at} = {value}");
        }
    }

    #[test]
    fn chunk_size_widths() {
        for (dims, width) in [(&[1][..], 2), (&[5, 4], 2), (&[255, 1], 2), (&[256, 1], 3), (&[1 << 55, 1], 8)]
        {
            assert_eq!(StructuredChunkLayout::chunk_size_width(2, dims), width, "{dims:?}");
        }
        assert_eq!(StructuredChunkLayout::chunk_size_width(2, &[u64::MAX, u64::MAX]), 8);
        assert_eq!(StructuredChunkLayout::chunk_size_width(3, &[1]), 8);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn laws(
            params in params(),
            dims in prop::collection::vec(1_u64..1000, 1..=33),
            address in addresses(),
            last in any::<bool>(),
            wide in any::<bool>(),
            filtered in any::<bool>(),
            bytes in bodies(),
        ) {
            let order = if last { FieldOrder::CompositionLast } else { FieldOrder::CompositionFirst };
            let dims = Dims::from(dims);
            let offset_size = if wide { 8 } else { 4 };
            let metadata = StructuredChunkLayout::chunk_metadata_size(2, offset_size, filtered);
            let mut flags = ChunkFlags::empty();
            flags.set(ChunkFlags::SINGLE_INDEX_WITH_FILTER, filtered);
            let index = single(77, StructuredChunkLayout::chunk_size_width(2, &dims), metadata);
            let layout = StructuredChunkLayout {
                flags, dims, dimension_width: 2, offset_size, address, ..sparse(order, index)
            };
            assert_laws!(DataLayout, message(layout), params);
            assert_survives!(DataLayout, &[&HEAD[..], &bytes].concat(), params);
            assert_survives!(DataLayout, &[&HEAD[..], &COMPOSITION, &bytes].concat(), params);
        }
    }
}
