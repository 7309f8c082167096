//! Shared message record (File Format Specification, sections III.I and III.A.2, type 7).
//!
//! ```text
//! byte  0   message location    0 in the index's heap, 1 in an object header
//!       1   hash (4)
//!
//! in the heap                   in an object header
//!       5   reference count (4)       5   reserved
//!       9   heap ID (8)               6   message type
//!                                     7   index among the header's messages of that type (2)
//!                                     9   object header address (O)
//!           padding to the length of the longer form
//! ```

use crate::btree_v2::records::BTreeV2Record;
use crate::codec::{Address, FileParams, Reader, Result, Writer};

const IN_HEAP: u8 = 0;
const IN_HEADER: u8 = 1;
const FIXED_SIZE: usize = 9;
const HEAP_ID_SIZE: usize = 8;

/// The record of a shared message in an index of shared messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageRecord {
    /// Hash of the encoded message: [`checksum_from`](crate::codec::checksum_from) with the number
    /// of the message type as the initial value.
    pub hash: u32,
    /// Location of the message.
    pub location: SharedMessageLocation,
}

/// The location of a shared message: the shared message heap or an object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedMessageLocation {
    /// The message lies in the fractal heap of the index.
    Heap {
        /// Number of object headers that use the message.
        reference_count: u32,
        /// Heap ID of the message.
        heap_id: [u8; HEAP_ID_SIZE],
    },
    /// The message lies in the only object header that uses it.
    Header {
        /// Type of the message.
        message_type: u8,
        /// Position among the header's messages of this type, starting at 0.
        index: u16,
        /// Address of the object header.
        header: Address,
    },
}

impl BTreeV2Record for SharedMessageRecord {
    const NAME: &'static str = "shared message record";
    type Context = FileParams;

    fn size(params: FileParams) -> usize {
        FIXED_SIZE + params.offset_width().max(HEAP_ID_SIZE)
    }

    fn read(reader: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let kind = reader.u8("message location")?;
        let hash = reader.u32("hash value")?;
        let (location, used) = match kind {
            IN_HEAP => {
                let reference_count = reader.u32("reference count")?;
                let heap_id = reader.array("fractal heap ID")?;
                (SharedMessageLocation::Heap { reference_count, heap_id }, HEAP_ID_SIZE)
            }
            IN_HEADER => {
                reader.skip(1, "reserved")?;
                let message_type = reader.u8("message type")?;
                let index = reader.u16("creation index")?;
                let header = reader.offset(params, "object header address")?;
                (SharedMessageLocation::Header { message_type, index, header }, params.offset_width())
            }
            other => return Err(reader.corrupt("message location", "0 or 1", other)),
        };
        reader.skip(Self::size(params) - (FIXED_SIZE + used), "padding")?;
        Ok(Self { hash, location })
    }

    fn write(&self, writer: &mut Writer, params: FileParams) {
        let end = writer.len() + Self::size(params);
        match self.location {
            SharedMessageLocation::Heap { reference_count, heap_id } => {
                writer.u8(IN_HEAP);
                writer.u32(self.hash);
                writer.u32(reference_count);
                writer.bytes(&heap_id);
            }
            SharedMessageLocation::Header { message_type, index, header } => {
                writer.u8(IN_HEADER);
                writer.u32(self.hash);
                writer.u8(0);
                writer.u8(message_type);
                writer.u16(index);
                writer.offset(params, header, "object header address");
            }
        }
        writer.pad_to(end, "record");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const NARROW: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };

    #[test]
    fn in_the_heap() {
        let bytes = b"\x00\x01\x02\x03\x04\x05\x00\x00\x0001234567";
        let record = SharedMessageRecord::decode(bytes, NARROW).unwrap();
        let location = SharedMessageLocation::Heap { reference_count: 5, heap_id: *b"01234567" };
        assert_eq!(record, SharedMessageRecord { hash: 0x0403_0201, location });
        assert_eq!(record.encode(NARROW).unwrap(), bytes);
    }

    #[test]
    fn in_a_header() {
        let bytes = b"\x01\x01\x02\x03\x04\x00\x03\x02\x00\x00\x10\x00\x00\x00\x00\x00\x00";
        let record = SharedMessageRecord::decode(bytes, NARROW).unwrap();
        let location =
            SharedMessageLocation::Header { message_type: 3, index: 2, header: Address::new(0x1000) };
        assert_eq!(record, SharedMessageRecord { hash: 0x0403_0201, location });
        assert_eq!(record.encode(NARROW).unwrap(), bytes);
        let mut other = *bytes;
        other[0] = 2;
        assert!(SharedMessageRecord::decode(&other, NARROW).is_err());
    }

    pub(crate) fn record() -> impl Strategy<Value = SharedMessageRecord> {
        let heap = any::<(u32, [u8; 8])>()
            .prop_map(|(reference_count, heap_id)| SharedMessageLocation::Heap { reference_count, heap_id });
        let header = any::<(u8, u16, u32)>().prop_map(|(message_type, index, header)| {
            SharedMessageLocation::Header { message_type, index, header: Address::new(header.into()) }
        });
        (any::<u32>(), prop_oneof![heap, header])
            .prop_map(|(hash, location)| SharedMessageRecord { hash, location })
    }

    proptest! {
        #[test]
        fn round_trip(record in record(), wide in 0_u8..4) {
            let params = FileParams { size_of_offsets: 8 << (wide / 2), size_of_lengths: 8 };
            let bytes = record.encode(params).unwrap();
            prop_assert_eq!(SharedMessageRecord::decode(&bytes, params).unwrap(), record);
        }

        #[test]
        fn damaged(record in record(), damage in damage()) {
            damage.inflict(&record.encode(NARROW).unwrap(), |bytes| drop(SharedMessageRecord::decode(bytes, NARROW)));
        }
    }
}
