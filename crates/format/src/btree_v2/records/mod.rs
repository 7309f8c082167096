//! Records of version 2 B-trees (File Format Specification, section III.A.2; types 12 and 13:
//! structured chunks). Type 7 is
//! [`SharedMessageRecord`](crate::shared_message::SharedMessageRecord).
//!
//! ```text
//!  1  huge object, indirect            address (O), length (L), ID (L)
//!  2  huge object, indirect, filtered  address (O), length (L), filter mask (4),
//!                                      decoded size (L), ID (L)
//!  3  huge object, direct              address (O), length (L)
//!  4  huge object, direct, filtered    address (O), length (L), filter mask (4), decoded size (L)
//!  5  link by name                     hash (4), heap ID (7)
//!  6  link by creation order           creation order (8), heap ID (7)
//!  8  attribute by name                heap ID (8), message flags (1), creation order (4),
//!                                      hash (4)
//!  9  attribute by creation order      heap ID (8), message flags (1), creation order (4)
//! 10  chunk                            address (O), scaled offsets (8 each)
//! 11  chunk, filtered                  address (O), size (s), filter mask (4),
//!                                      scaled offsets (8 each)
//! 12  structured chunk                 address (O), size (s), scaled offsets (8 each), metadata
//! 13  structured chunk, filtered       the same with longer metadata
//! ```

mod chunk;

use crate::codec::{Address, FileParams, Reader, Result, Writer};

pub use chunk::{ChunkRecord, ChunkRecordContext, ChunkRecordForm};

/// The record types that a tree's header may state.
pub mod types {
    /// Type number, in a version 2 B-tree, of test records that only libhdf5's own tests create.
    pub const TESTING: u8 = 0;
    /// Type number, in a version 2 B-tree, of records of huge fractal heap objects with indirect
    /// IDs.
    pub const HUGE_INDIRECT: u8 = 1;
    /// Type number, in a version 2 B-tree, of records of filtered huge fractal heap objects with
    /// indirect IDs.
    pub const HUGE_INDIRECT_FILTERED: u8 = 2;
    /// Type number, in a version 2 B-tree, of records of huge fractal heap objects with direct IDs.
    pub const HUGE_DIRECT: u8 = 3;
    /// Type number, in a version 2 B-tree, of records of filtered huge fractal heap objects with
    /// direct IDs.
    pub const HUGE_DIRECT_FILTERED: u8 = 4;
    /// Type number, in a version 2 B-tree, of records of links, ordered by the hash of the name.
    pub const LINK_NAME: u8 = 5;
    /// Type number, in a version 2 B-tree, of records of links, ordered by creation order.
    pub const LINK_CREATION_ORDER: u8 = 6;
    /// Type number, in a version 2 B-tree, of records of shared object header messages.
    pub const SHARED_MESSAGE: u8 = 7;
    /// Type number, in a version 2 B-tree, of records of attributes, ordered by the hash of the
    /// name.
    pub const ATTRIBUTE_NAME: u8 = 8;
    /// Type number, in a version 2 B-tree, of records of attributes, ordered by creation order.
    pub const ATTRIBUTE_CREATION_ORDER: u8 = 9;
    /// Type number, in a version 2 B-tree, of records of chunks without filters.
    pub const CHUNK: u8 = 10;
    /// Type number, in a version 2 B-tree, of records of filtered chunks.
    pub const CHUNK_FILTERED: u8 = 11;
    /// Type number, in a version 2 B-tree, of records of structured chunks without filters.
    pub const STRUCTURED_CHUNK: u8 = 12;
    /// Type number, in a version 2 B-tree, of records of filtered structured chunks.
    pub const STRUCTURED_CHUNK_FILTERED: u8 = 13;
}

/// A record of a version 2 B-tree.
pub trait BTreeV2Record: Sized {
    /// Name of the version 2 B-tree record in error messages.
    const NAME: &'static str;
    /// The type of the parameters for the layout of a version 2 B-tree record.
    type Context: Copy;

    /// Returns the size of a version 2 B-tree record in bytes.
    fn size(context: Self::Context) -> usize;

    /// Reads the fields of a version 2 B-tree record from `reader`.
    ///
    /// # Errors
    /// Returns an error if bytes are missing or contradict the format.
    fn read(reader: &mut Reader<'_>, context: Self::Context) -> Result<Self>;

    /// Writes the fields of the version 2 B-tree record to `writer`.
    fn write(&self, writer: &mut Writer, context: Self::Context);

    /// Decodes a version 2 B-tree record from `bytes`. The record must occupy all bytes.
    ///
    /// # Errors
    /// Returns an error if the record has another length or contradicts the format.
    fn decode(bytes: &[u8], context: Self::Context) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let record = Self::read(&mut reader, context)?;
        reader.finish()?;
        Ok(record)
    }

    /// Encodes the version 2 B-tree record to bytes.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`](crate::codec::FormatError::Encode) if a value does not fit
    /// its field.
    fn encode(&self, context: Self::Context) -> Result<Vec<u8>> {
        let mut writer = Writer::with_capacity(Self::NAME, 32);
        self.write(&mut writer, context);
        if writer.len() != Self::size(context) {
            writer.fail("record", writer.len());
        }
        writer.finish()
    }
}

/// A version 2 B-tree record of types 1 to 4: the address of a huge object of a fractal heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeObjectRecord {
    /// Address of the object.
    pub address: Address,
    /// Stored size of the object in bytes.
    pub length: u64,
    /// Filter information, in a heap with filters.
    pub filtered: Option<HugeObjectFiltered>,
    /// Key that the heap ID contains, in types 1 and 2; 0 in types 3 and 4.
    pub id: u64,
}

/// The filter information of a huge object of a fractal heap: filter mask and decoded size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeObjectFiltered {
    /// Filter mask: bit i is set if filter i of the pipeline was skipped.
    pub filter_mask: u32,
    /// Decoded size of the object in bytes.
    pub memory_size: u64,
}

/// The layout parameters of a version 2 B-tree record of a huge fractal heap object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeRecordContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// True for types 1 and 2: heap IDs hold only a key.
    pub indirect: bool,
    /// True for types 2 and 4: the heap has filters.
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
    /// Returns the type number of the version 2 B-tree records of huge fractal heap objects with
    /// this layout.
    pub fn record_type(self) -> u8 {
        match (self.indirect, self.filtered) {
            (true, false) => types::HUGE_INDIRECT,
            (true, true) => types::HUGE_INDIRECT_FILTERED,
            (false, false) => types::HUGE_DIRECT,
            (false, true) => types::HUGE_DIRECT_FILTERED,
        }
    }
}

/// A version 2 B-tree record of type 5: a link, ordered by the hash of the link name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkNameRecord {
    /// [`checksum`](crate::codec::checksum) of the name.
    pub hash: u32,
    /// Heap ID of the link message in the group's fractal heap.
    pub heap_id: [u8; 7],
}

impl LinkNameRecord {
    /// Returns the hash of the link name in an encoded version 2 B-tree record. Searches compare
    /// hashes first and seldom need the other fields.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`](crate::codec::FormatError::Corrupt) if bytes are missing.
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

/// A version 2 B-tree record of type 6: a link, ordered by creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkCreationOrderRecord {
    /// Creation order of the link.
    pub creation_order: i64,
    /// Heap ID of the link message in the group's fractal heap.
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

/// A version 2 B-tree record of type 8: an attribute, ordered by the hash of the attribute name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeNameRecord {
    /// Heap ID of the attribute message, in the object's fractal heap or in the file's heap of
    /// shared messages.
    pub heap_id: [u8; 8],
    /// Flags of the header message. Bit 1: the message is shared.
    pub message_flags: u8,
    /// Creation order of the attribute.
    pub creation_order: u32,
    /// [`checksum`](crate::codec::checksum) of the name.
    pub hash: u32,
}

impl AttributeNameRecord {
    /// Returns the hash of the attribute name in an encoded version 2 B-tree record. Searches
    /// compare hashes first and seldom need the other fields.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`](crate::codec::FormatError::Corrupt) if bytes are missing.
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

/// A version 2 B-tree record of type 9: an attribute, ordered by creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeCreationOrderRecord {
    /// Heap ID of the attribute message, in the object's fractal heap or in the file's heap of
    /// shared messages.
    pub heap_id: [u8; 8],
    /// Flags of the header message. Bit 1: the message is shared.
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

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use hyperslab_dataspace::Dims;
    use smallvec::SmallVec;

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
