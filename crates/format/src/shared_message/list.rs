//! Shared message record list (File Format Specification, section III.I).
//!
//! ```text
//! byte  0   signature "SMLI"
//!       4   records; the index in the table states the number
//!           checksum (4), directly after the last record
//!           undefined up to the size of a list with as many records as the index's list cutoff
//! ```

use super::SharedMessageRecord;
use crate::btree_v2::records::BTreeV2Record;
use crate::codec::{CHECKSUM_SIZE, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"SMLI";

/// Parameters that determine the layout of a shared message list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageListContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Number of records in the list: the index's number of messages.
    pub records: u16,
    /// Largest number of records in the list: the index's list cutoff.
    pub capacity: u16,
}

/// An index of a file's shared messages in the form of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedMessageList {
    /// Records, in no particular order.
    pub records: Vec<SharedMessageRecord>,
}

impl Structure for SharedMessageList {
    const NAME: &'static str = "shared message record list";
    type Context = SharedMessageListContext;

    fn size(context: &SharedMessageListContext) -> usize {
        let records = usize::from(context.capacity.max(context.records));
        SIGNATURE.len() + records * SharedMessageRecord::size(context.params) + CHECKSUM_SIZE
    }

    fn decode(bytes: &[u8], context: &SharedMessageListContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        let record_size = SharedMessageRecord::size(context.params);
        let count = reader.count(context.records.into(), record_size, "number of messages")?;
        let mut records = Vec::with_capacity(count);
        for _ in 0..count {
            records.push(SharedMessageRecord::read(&mut reader, context.params)?);
        }
        reader.checksum()?;
        Ok(Self { records })
    }

    fn encode(&self, context: &SharedMessageListContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        if self.records.len() != usize::from(context.records) {
            writer.fail("number of messages", self.records.len());
        }
        writer.bytes(SIGNATURE);
        for record in &self.records {
            record.write(&mut writer, context.params);
        }
        writer.checksum();
        writer.pad_to(Self::size(context), "number of messages");
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;
    use crate::codec::{Address, checksum};
    use crate::mutation::damage;
    use crate::shared_message::SharedMessageLocation;
    use proptest::prelude::*;

    const CONTEXT: SharedMessageListContext =
        SharedMessageListContext { params: FileParams::DEFAULT, records: 1, capacity: 2 };

    #[test]
    fn one_of_two() {
        let mut bytes = b"SMLI\x01\x01\x02\x03\x04\x00\x03\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00".to_vec();
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.resize(4 + 2 * 17 + 4, 0);
        let list = SharedMessageList::decode(&bytes, &CONTEXT).unwrap();
        let location =
            SharedMessageLocation::Header { message_type: 3, index: 0, header: Address::new(0x1000) };
        assert_eq!(list.records, [SharedMessageRecord { hash: 0x0403_0201, location }]);
        assert_eq!(list.encode(&CONTEXT).unwrap(), bytes);
        bytes[9] = 1;
        assert!(SharedMessageList::decode(&bytes, &CONTEXT).is_err());
        assert!(list.encode(&SharedMessageListContext { records: 2, ..CONTEXT }).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(records in prop::collection::vec(record(), 0..8)) {
            let context = SharedMessageListContext { records: u16::try_from(records.len()).unwrap(), capacity: 8, ..CONTEXT };
            let list = SharedMessageList { records };
            let bytes = list.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), SharedMessageList::size(&context));
            prop_assert_eq!(SharedMessageList::decode(&bytes, &context).unwrap(), list);
        }

        #[test]
        fn damaged(record in record(), damage in damage()) {
            let bytes = SharedMessageList { records: vec![record] }.encode(&CONTEXT).unwrap();
            damage.inflict(&bytes[..25], |bytes| drop(SharedMessageList::decode(bytes, &CONTEXT)));
        }
    }
}
