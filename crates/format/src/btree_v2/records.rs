//! Records of version 2 B-trees (File Format Specification, section III.A.2; types 12 and 13: structured
//! chunks). Type 7 is [`SharedMessageRecord`](crate::shared_message::SharedMessageRecord).
//!
//! ```text
//!  1  huge object, indirect            address (O), length (L), ID (L)
//!  2  huge object, indirect, filtered  address (O), length (L), filter mask (4), size in memory (L), ID (L)
//!  3  huge object, direct              address (O), length (L)
//!  4  huge object, direct, filtered    address (O), length (L), filter mask (4), size in memory (L)
//!  5  link by name                     hash (4), heap ID (7)
//!  6  link by creation order           creation order (8), heap ID (7)
//!  8  attribute by name                heap ID (8), message flags (1), creation order (4), hash (4)
//!  9  attribute by creation order      heap ID (8), message flags (1), creation order (4)
//! 10  chunk                            address (O), scaled offsets (8 each)
//! 11  chunk, filtered                  address (O), size (s), filter mask (4), scaled offsets (8 each)
//! 12  structured chunk                 address (O), size (s), scaled offsets (8 each), metadata
//! 13  structured chunk, filtered       the same with longer metadata
//! ```

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use smallvec::SmallVec;

use crate::codec::{Address, FileParams, FormatError, Reader, Result, Writer};

/// The record types, as the header of a tree names them.
pub mod types {
    /// Made by libhdf5's own tests only.
    pub const TESTING: u8 = 0;
    /// Huge fractal heap objects, indirect.
    pub const HUGE_INDIRECT: u8 = 1;
    /// Huge fractal heap objects, indirect and filtered.
    pub const HUGE_INDIRECT_FILTERED: u8 = 2;
    /// Huge fractal heap objects, direct.
    pub const HUGE_DIRECT: u8 = 3;
    /// Huge fractal heap objects, direct and filtered.
    pub const HUGE_DIRECT_FILTERED: u8 = 4;
    /// Links by hash of name.
    pub const LINK_NAME: u8 = 5;
    /// Links by creation order.
    pub const LINK_CREATION_ORDER: u8 = 6;
    /// Shared object header messages.
    pub const SHARED_MESSAGE: u8 = 7;
    /// Attributes by hash of name.
    pub const ATTRIBUTE_NAME: u8 = 8;
    /// Attributes by creation order.
    pub const ATTRIBUTE_CREATION_ORDER: u8 = 9;
    /// Chunks.
    pub const CHUNK: u8 = 10;
    /// Filtered chunks.
    pub const CHUNK_FILTERED: u8 = 11;
    /// Structured chunks.
    pub const STRUCTURED_CHUNK: u8 = 12;
    /// Filtered structured chunks.
    pub const STRUCTURED_CHUNK_FILTERED: u8 = 13;
}

/// A record of a version 2 B-tree.
pub trait BTreeV2Record: Sized {
    /// The name as it stands in errors.
    const NAME: &'static str;
    /// What the layout depends on besides the bytes.
    type Context: Copy;

    /// Bytes of a record.
    fn size(context: Self::Context) -> usize;

    /// Reads the fields.
    ///
    /// # Errors
    /// If bytes are missing or contradict the format.
    fn read(reader: &mut Reader<'_>, context: Self::Context) -> Result<Self>;

    /// Writes the fields.
    fn write(&self, writer: &mut Writer, context: Self::Context);

    /// Decodes a record that takes all of `bytes`.
    ///
    /// # Errors
    /// If the record has another length or contradicts the format.
    fn decode(bytes: &[u8], context: Self::Context) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let record = Self::read(&mut reader, context)?;
        reader.finish()?;
        Ok(record)
    }

    /// Encodes the record.
    ///
    /// # Errors
    /// If a value does not fit its field.
    fn encode(&self, context: Self::Context) -> Result<Vec<u8>> {
        let mut writer = Writer::with_capacity(Self::NAME, 32);
        self.write(&mut writer, context);
        if writer.len() != Self::size(context) {
            writer.fail("record", writer.len());
        }
        writer.finish()
    }
}

/// Types 1 to 4: where a huge object of a fractal heap lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeObjectRecord {
    /// The object.
    pub address: Address,
    /// Bytes of the object in the file.
    pub length: u64,
    /// What filters did, in a heap with filters.
    pub filtered: Option<HugeObjectFiltered>,
    /// The key in the heap ID, where the heap ID does not say it all; in types 3 and 4 0.
    pub id: u64,
}

/// What filters did to a huge object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeObjectFiltered {
    /// Filters skipped: bit i for filter i of the pipeline.
    pub filter_mask: u32,
    /// Bytes of the object without filters.
    pub memory_size: u64,
}

/// Which of the types 1 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeRecordContext {
    /// Widths of the file.
    pub params: FileParams,
    /// Types 1 and 2: heap IDs hold a key only.
    pub indirect: bool,
    /// Types 2 and 4: the heap has filters.
    pub filtered: bool,
}

impl BTreeV2Record for HugeObjectRecord {
    const NAME: &'static str = "huge object record";
    type Context = HugeRecordContext;

    fn size(context: HugeRecordContext) -> usize {
        let length = context.params.length_width();
        let filtered = if context.filtered { 4 + length } else { 0 };
        let id = if context.indirect { length } else { 0 };
        context.params.offset_width() + length + filtered + id
    }

    fn read(reader: &mut Reader<'_>, context: HugeRecordContext) -> Result<Self> {
        let params = context.params;
        let address = reader.offset(params, "huge object address")?;
        let length = reader.length(params, "huge object length")?;
        let filtered = if context.filtered {
            Some(HugeObjectFiltered {
                filter_mask: reader.u32("filter mask")?,
                memory_size: reader.length(params, "filtered huge object memory size")?,
            })
        } else {
            None
        };
        let id = if context.indirect { reader.length(params, "huge object ID")? } else { 0 };
        Ok(Self { address, length, filtered, id })
    }

    fn write(&self, writer: &mut Writer, context: HugeRecordContext) {
        writer.offset(context.params, self.address, "huge object address");
        writer.length(context.params, self.length, "huge object length");
        if let Some(filtered) = &self.filtered {
            writer.u32(filtered.filter_mask);
            writer.length(context.params, filtered.memory_size, "filtered huge object memory size");
        }
        if context.indirect {
            writer.length(context.params, self.id, "huge object ID");
        }
    }
}

impl HugeRecordContext {
    /// The record type of a tree of such records.
    pub fn record_type(self) -> u8 {
        match (self.indirect, self.filtered) {
            (true, false) => types::HUGE_INDIRECT,
            (true, true) => types::HUGE_INDIRECT_FILTERED,
            (false, false) => types::HUGE_DIRECT,
            (false, true) => types::HUGE_DIRECT_FILTERED,
        }
    }
}

/// Type 5: a link by the hash of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkNameRecord {
    /// [`checksum`](crate::codec::checksum) of the name.
    pub hash: u32,
    /// The link message in the group's fractal heap.
    pub heap_id: [u8; 7],
}

impl LinkNameRecord {
    /// The hash alone, which nearly every comparison of a search is decided by.
    ///
    /// # Errors
    /// If bytes are missing.
    pub fn hash_in(record: &[u8]) -> Result<u32> {
        match record.first_chunk() {
            Some(hash) => Ok(u32::from_le_bytes(*hash)),
            None => Self::decode(record, ()).map(|record| record.hash),
        }
    }
}

impl BTreeV2Record for LinkNameRecord {
    const NAME: &'static str = "link name record";
    type Context = ();

    fn size((): ()) -> usize {
        11
    }

    fn read(reader: &mut Reader<'_>, (): ()) -> Result<Self> {
        Ok(Self { hash: reader.u32("hash of name")?, heap_id: reader.array("heap ID")? })
    }

    fn write(&self, writer: &mut Writer, (): ()) {
        writer.u32(self.hash);
        writer.bytes(&self.heap_id);
    }
}

/// Type 6: a link by its creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkCreationOrderRecord {
    /// Creation order of the link.
    pub creation_order: i64,
    /// The link message in the group's fractal heap.
    pub heap_id: [u8; 7],
}

impl BTreeV2Record for LinkCreationOrderRecord {
    const NAME: &'static str = "link creation order record";
    type Context = ();

    fn size((): ()) -> usize {
        15
    }

    fn read(reader: &mut Reader<'_>, (): ()) -> Result<Self> {
        let creation_order = reader.u64("creation order")?.cast_signed();
        Ok(Self { creation_order, heap_id: reader.array("heap ID")? })
    }

    fn write(&self, writer: &mut Writer, (): ()) {
        writer.u64(self.creation_order.cast_unsigned());
        writer.bytes(&self.heap_id);
    }
}

/// Type 8: an attribute by the hash of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeNameRecord {
    /// The attribute message in the object's fractal heap, or in the file's heap of shared messages.
    pub heap_id: [u8; 8],
    /// Flags of the header message; bit 1: the message is shared.
    pub message_flags: u8,
    /// Creation order of the attribute.
    pub creation_order: u32,
    /// [`checksum`](crate::codec::checksum) of the name.
    pub hash: u32,
}

impl AttributeNameRecord {
    /// The hash alone, which nearly every comparison of a search is decided by.
    ///
    /// # Errors
    /// If bytes are missing.
    pub fn hash_in(record: &[u8]) -> Result<u32> {
        match record.last_chunk() {
            Some(hash) => Ok(u32::from_le_bytes(*hash)),
            None => Self::decode(record, ()).map(|record| record.hash),
        }
    }
}

impl BTreeV2Record for AttributeNameRecord {
    const NAME: &'static str = "attribute name record";
    type Context = ();

    fn size((): ()) -> usize {
        17
    }

    fn read(reader: &mut Reader<'_>, (): ()) -> Result<Self> {
        Ok(Self {
            heap_id: reader.array("heap ID")?,
            message_flags: reader.u8("message flags")?,
            creation_order: reader.u32("creation order")?,
            hash: reader.u32("hash of name")?,
        })
    }

    fn write(&self, writer: &mut Writer, (): ()) {
        writer.bytes(&self.heap_id);
        writer.u8(self.message_flags);
        writer.u32(self.creation_order);
        writer.u32(self.hash);
    }
}

/// Type 9: an attribute by its creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeCreationOrderRecord {
    /// The attribute message in the object's fractal heap, or in the file's heap of shared messages.
    pub heap_id: [u8; 8],
    /// Flags of the header message; bit 1: the message is shared.
    pub message_flags: u8,
    /// Creation order of the attribute.
    pub creation_order: u32,
}

impl BTreeV2Record for AttributeCreationOrderRecord {
    const NAME: &'static str = "attribute creation order record";
    type Context = ();

    fn size((): ()) -> usize {
        13
    }

    fn read(reader: &mut Reader<'_>, (): ()) -> Result<Self> {
        Ok(Self {
            heap_id: reader.array("heap ID")?,
            message_flags: reader.u8("message flags")?,
            creation_order: reader.u32("creation order")?,
        })
    }

    fn write(&self, writer: &mut Writer, (): ()) {
        writer.bytes(&self.heap_id);
        writer.u8(self.message_flags);
        writer.u32(self.creation_order);
    }
}

/// Types 10 to 13: a chunk of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRecord {
    /// The chunk.
    pub address: Address,
    /// Bytes of the chunk in the file; 0 in type 10, which does not store it.
    pub size: u64,
    /// Filters skipped: bit i for filter i of the pipeline; stored in type 11 only.
    pub filter_mask: u32,
    /// The chunk's place, counted in chunks along each dimension.
    pub scaled: Dims,
    /// Structured chunk metadata (types 12 and 13), not interpreted.
    pub metadata: SmallVec<[u8; 16]>,
}

/// Which of the types 10 to 13, and its widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRecordContext {
    /// Widths of the file.
    pub params: FileParams,
    /// Dimensions of the dataset.
    pub rank: usize,
    /// What is stored besides address and place.
    pub form: ChunkRecordForm,
}

/// What a chunk record stores besides address and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkRecordForm {
    /// Type 10: nothing.
    Plain,
    /// Type 11: size and filter mask.
    Filtered {
        /// Bytes of the size field.
        size_width: usize,
    },
    /// Types 12 and 13: size and structured chunk metadata.
    Structured {
        /// Bytes of the size field.
        size_width: usize,
        /// Bytes of the metadata.
        metadata_size: usize,
    },
}

impl BTreeV2Record for ChunkRecord {
    const NAME: &'static str = "dataset chunk record";
    type Context = ChunkRecordContext;

    fn size(context: ChunkRecordContext) -> usize {
        let more = match context.form {
            ChunkRecordForm::Plain => 0,
            ChunkRecordForm::Filtered { size_width } => size_width + 4,
            ChunkRecordForm::Structured { size_width, metadata_size } => size_width + metadata_size,
        };
        context.rank * 8 + context.params.offset_width() + more
    }

    fn read(reader: &mut Reader<'_>, context: ChunkRecordContext) -> Result<Self> {
        let address = reader.offset(context.params, "address")?;
        let (size, filter_mask) = match context.form {
            ChunkRecordForm::Plain => (0, 0),
            ChunkRecordForm::Filtered { size_width } => {
                (reader.uint(size_width, "chunk size")?, reader.u32("filter mask")?)
            }
            ChunkRecordForm::Structured { size_width, .. } => (reader.uint(size_width, "chunk size")?, 0),
        };
        let words = reader.take(context.rank * 8, "scaled offset")?;
        let scaled = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let metadata = match context.form {
            ChunkRecordForm::Structured { metadata_size, .. } => {
                SmallVec::from_slice(reader.take(metadata_size, "structured chunk metadata")?)
            }
            _ => SmallVec::new(),
        };
        Ok(Self { address, size, filter_mask, scaled, metadata })
    }

    fn write(&self, writer: &mut Writer, context: ChunkRecordContext) {
        writer.offset(context.params, self.address, "address");
        match context.form {
            ChunkRecordForm::Plain => {}
            ChunkRecordForm::Filtered { size_width } => {
                writer.uint(size_width, self.size, "chunk size");
                writer.u32(self.filter_mask);
            }
            ChunkRecordForm::Structured { size_width, .. } => {
                writer.uint(size_width, self.size, "chunk size");
            }
        }
        for offset in &self.scaled {
            writer.u64(*offset);
        }
        if let ChunkRecordForm::Structured { .. } = context.form {
            writer.bytes(&self.metadata);
        }
    }
}

impl ChunkRecordContext {
    /// The context that a tree's record type and size lead to. `metadata_size` is that of structured chunks
    /// and does not matter for types 10 and 11.
    ///
    /// # Errors
    /// Another record type, or a record size that leaves no chunk size field of 1 to 8 bytes.
    pub fn new(
        params: FileParams,
        rank: usize,
        record_type: u8,
        record_size: usize,
        metadata_size: usize,
    ) -> Result<Self> {
        let fixed = rank * 8 + params.offset_width();
        let width = |rest: usize| {
            let width = record_size.checked_sub(fixed).and_then(|width| width.checked_sub(rest));
            width.filter(|width| (1..=8).contains(width)).ok_or_else(|| {
                let expected = format!("{fixed} and {rest} and a chunk size of 1 to 8 bytes");
                FormatError::corrupt(ChunkRecord::NAME, "record size", expected, record_size)
            })
        };
        let form = match record_type {
            types::CHUNK if record_size == fixed => ChunkRecordForm::Plain,
            types::CHUNK => {
                let got = record_size;
                return Err(FormatError::corrupt(ChunkRecord::NAME, "record size", fixed.to_string(), got));
            }
            types::CHUNK_FILTERED => ChunkRecordForm::Filtered { size_width: width(4)? },
            types::STRUCTURED_CHUNK | types::STRUCTURED_CHUNK_FILTERED => {
                ChunkRecordForm::Structured { size_width: width(metadata_size)?, metadata_size }
            }
            other => return Err(FormatError::corrupt(ChunkRecord::NAME, "type", "10 to 13", other)),
        };
        Ok(Self { params, rank, form })
    }

    /// Where the scaled offsets begin in a record.
    fn scaled_start(self) -> usize {
        let before = match self.form {
            ChunkRecordForm::Plain => 0,
            ChunkRecordForm::Filtered { size_width } => size_width + 4,
            ChunkRecordForm::Structured { size_width, .. } => size_width,
        };
        self.params.offset_width() + before
    }

    /// The scaled offsets of a record, without decoding the rest.
    pub fn scaled(self, record: &[u8]) -> impl Iterator<Item = u64> + '_ {
        let words = record.get(self.scaled_start()..).into_iter().flat_map(|rest| rest.as_chunks::<8>().0);
        words.take(self.rank).map(|word| u64::from_le_bytes(*word))
    }

    /// How a record compares with a place: the order of the tree.
    pub fn compare(self, record: &[u8], scaled: &[u64]) -> Ordering {
        self.scaled(record).cmp(scaled.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    fn same<R: BTreeV2Record + PartialEq + std::fmt::Debug>(record: &R, context: R::Context, bytes: &[u8]) {
        assert_eq!(R::size(context), bytes.len());
        assert_eq!(&R::decode(bytes, context).unwrap(), record);
        assert_eq!(record.encode(context).unwrap(), bytes);
        assert!(R::decode(&bytes[1..], context).is_err());
    }

    #[test]
    fn huge_objects() {
        let (address, length) = (Address::new(0x1000), 300);
        let filtered = HugeObjectFiltered { filter_mask: 1, memory_size: 1000 };
        let context = |indirect, filtered| HugeRecordContext { params: PARAMS, indirect, filtered };
        let mut record = HugeObjectRecord { address, length, filtered: None, id: 0 };
        same(&record, context(false, false), &[0, 0x10, 0, 0, 0x2c, 1]);
        record.id = 7;
        same(&record, context(true, false), &[0, 0x10, 0, 0, 0x2c, 1, 7, 0]);
        record.filtered = Some(filtered);
        same(&record, context(true, true), &[0, 0x10, 0, 0, 0x2c, 1, 1, 0, 0, 0, 0xe8, 3, 7, 0]);
        record.id = 0;
        same(&record, context(false, true), &[0, 0x10, 0, 0, 0x2c, 1, 1, 0, 0, 0, 0xe8, 3]);
        assert!(record.encode(context(false, false)).is_err());
        let types = [(true, false), (true, true), (false, false), (false, true)];
        assert_eq!(types.map(|(i, f)| context(i, f).record_type()), [1, 2, 3, 4]);
    }

    #[test]
    fn links() {
        let name = LinkNameRecord { hash: 0x0403_0201, heap_id: *b"0123456" };
        same(&name, (), b"\x01\x02\x03\x040123456");
        assert_eq!(LinkNameRecord::hash_in(b"\x01\x02\x03\x040123456").unwrap(), name.hash);
        assert!(LinkNameRecord::hash_in(b"\x01").is_err());
        let order = LinkCreationOrderRecord { creation_order: -2, heap_id: *b"0123456" };
        same(&order, (), b"\xfe\xff\xff\xff\xff\xff\xff\xff0123456");
    }

    #[test]
    fn attributes() {
        let name = AttributeNameRecord {
            heap_id: *b"01234567",
            message_flags: 2,
            creation_order: 3,
            hash: 0x0403_0201,
        };
        same(&name, (), b"01234567\x02\x03\x00\x00\x00\x01\x02\x03\x04");
        let bytes = b"01234567\x02\x03\x00\x00\x00\x01\x02\x03\x04";
        assert_eq!(AttributeNameRecord::hash_in(bytes).unwrap(), name.hash);
        assert!(AttributeNameRecord::hash_in(b"\x01").is_err());
        let order =
            AttributeCreationOrderRecord { heap_id: *b"01234567", message_flags: 0, creation_order: 3 };
        same(&order, (), b"01234567\x00\x03\x00\x00\x00");
    }

    #[test]
    fn chunks() {
        let place = [5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0];
        let mut record = ChunkRecord {
            address: Address::new(0x1000),
            size: 0,
            filter_mask: 0,
            scaled: Dims::from_slice(&[5, 6]),
            metadata: SmallVec::new(),
        };
        let plain = ChunkRecordContext::new(PARAMS, 2, 10, 20, 0).unwrap();
        let bytes = [&[0, 0x10, 0, 0][..], &place].concat();
        same(&record, plain, &bytes);
        assert_eq!(plain.compare(&bytes, &[5, 7]), Ordering::Less);
        record.size = 300;
        record.filter_mask = 2;
        let filtered = ChunkRecordContext::new(PARAMS, 2, 11, 26, 0).unwrap();
        let bytes = [&[0, 0x10, 0, 0, 0x2c, 1, 2, 0, 0, 0][..], &place].concat();
        same(&record, filtered, &bytes);
        assert_eq!(filtered.compare(&bytes, &[5, 6]), Ordering::Equal);
        record.filter_mask = 0;
        record.metadata = SmallVec::from_slice(b"12345678");
        let structured = ChunkRecordContext::new(PARAMS, 2, 12, 30, 8).unwrap();
        let bytes = [&[0, 0x10, 0, 0, 0x2c, 1][..], &place, b"12345678"].concat();
        same(&record, structured, &bytes);
        assert_eq!(structured.compare(&bytes, &[4, 9]), Ordering::Greater);
    }

    #[test]
    fn record_sizes() {
        for (record_type, size) in [(10, 21), (11, 24), (11, 33), (12, 20), (9, 20), (14, 20)] {
            assert!(
                ChunkRecordContext::new(PARAMS, 2, record_type, size, 8).is_err(),
                "{record_type} {size}"
            );
        }
    }

    proptest! {
        #[test]
        fn chunks_round_trip(
            scaled in prop::collection::vec(any::<u64>(), 1..6),
            numbers in any::<(u64, u64, u32)>(),
            metadata in prop::collection::vec(any::<u8>(), 0..60),
            record_type in 10_u8..14,
        ) {
            let (rank, metadata_size) = (scaled.len(), metadata.len());
            let size = 8 + 8 * rank + [0, 12, 8 + metadata_size, 8 + metadata_size][usize::from(record_type - 10)];
            let context = ChunkRecordContext::new(FileParams::DEFAULT, rank, record_type, size, metadata_size).unwrap();
            let record = ChunkRecord {
                address: Address::new(numbers.0),
                size: if record_type > 10 { numbers.1 } else { 0 },
                filter_mask: if record_type == 11 { numbers.2 } else { 0 },
                scaled: scaled.into(),
                metadata: if record_type > 11 { metadata.into() } else { SmallVec::new() },
            };
            let bytes = record.encode(context).unwrap();
            prop_assert_eq!(context.scaled(&bytes).collect::<Dims>(), record.scaled.clone());
            prop_assert_eq!(ChunkRecord::decode(&bytes, context).unwrap(), record);
        }

        #[test]
        fn damaged(damage in damage(), indirect: bool, filtered: bool, rank in 0_usize..40) {
            let bytes = [7_u8; 40];
            damage.inflict(&bytes, |bytes| {
                drop(HugeObjectRecord::decode(bytes, HugeRecordContext { params: PARAMS, indirect, filtered }));
                let form = ChunkRecordForm::Structured { size_width: rank, metadata_size: 3 };
                let context = ChunkRecordContext { params: PARAMS, rank, form };
                drop(ChunkRecord::decode(bytes, context));
                let _ = context.compare(bytes, &[1, 2]);
                drop(LinkNameRecord::decode(bytes, ()));
                drop(AttributeNameRecord::decode(bytes, ()));
            });
        }
    }
}
