//! External data files message (section IV.A.2.h).
//!
//! ```text
//! size  field
//! 1     version = 1
//! 3     reserved (zero)
//! 2     allocated slots
//! 2     used slots (n)
//! O     address of the local heap of file names
//! n x   slot: L offset of the name in the heap, L offset in the file, L bytes reserved in the file
//! ```
//!
//! A slot size of all ones means unlimited; only the last slot may be unlimited. Decoders drop
//! allocated slots that are not used.

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

/// The external files message: the external files that hold the raw data of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExternalFilesMessage {
    /// Address of the local heap with the file names.
    pub heap: Address,
    /// Pieces of the data, in order.
    pub slots: Vec<ExternalFileSlot>,
}

/// A slot of an external files message: a piece of a dataset's raw data in an external file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExternalFileSlot {
    /// Offset of the file name in the local heap, in bytes.
    pub name_offset: u64,
    /// Offset of the piece in the file, in bytes.
    pub offset: u64,
    /// Size of the piece in bytes; `None` if unlimited.
    pub size: Option<u64>,
}

impl Message<'_> for ExternalFilesMessage {
    const TYPE: MessageType = MessageType::EXTERNAL_FILES;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[1])?;
        r.skip(3, "reserved")?;
        let allocated = r.u16("allocated slots")?;
        if allocated == 0 {
            return Err(r.corrupt("allocated slots", "at least 1", allocated));
        }
        let used = r.u16("used slots")?;
        if used > allocated {
            return Err(r.corrupt("used slots", format!("at most {allocated} (the allocated slots)"), used));
        }
        let heap = r.offset(params, "heap address")?;
        if !heap.is_defined() {
            return Err(r.corrupt("heap address", "a defined address", heap));
        }
        let count = r.count(used.into(), params.length_width() * 3, "used slots")?;
        let mut slots = Vec::with_capacity(count);
        for _ in 0..count {
            slots.push(ExternalFileSlot {
                name_offset: r.length(params, "name offset in local heap")?,
                offset: r.length(params, "offset in external data file")?,
                size: r.length_or_undefined(params, "data size in external file")?,
            });
        }
        Ok(Self { heap, slots })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(1);
        w.zeros(3);
        if !self.heap.is_defined() {
            w.fail("heap address", self.heap);
        }
        w.narrow_u16(self.slots.len().max(1), "allocated slots");
        w.narrow_u16(self.slots.len(), "used slots");
        w.offset(params, self.heap, "heap address");
        for slot in &self.slots {
            w.length(params, slot.name_offset, "name offset in local heap");
            w.length(params, slot.offset, "offset in external data file");
            w.length_or_undefined(params, slot.size, "data size in external file");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies, lengths, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    #[test]
    fn bytes() {
        let files = ExternalFilesMessage {
            heap: Address::new(0x320),
            slots: vec![
                ExternalFileSlot { name_offset: 8, offset: 0, size: Some(100) },
                ExternalFileSlot { name_offset: 16, offset: 4, size: None },
            ],
        };
        assert_eq!(
            assert_laws!(ExternalFilesMessage, files, SMALL),
            [1, 0, 0, 0, 2, 0, 2, 0, 0x20, 3, 0, 0, 8, 0, 0, 0, 100, 0, 16, 0, 4, 0, 0xff, 0xff]
        );
    }

    #[test]
    fn refuses_contradictions() {
        let message = |allocated, used| [1, 0, 0, 0, allocated, 0, used, 0, 0, 0, 0, 0, 8, 0, 0, 0, 9, 0];
        assert!(ExternalFilesMessage::decode(&message(1, 1), SMALL).is_ok());
        assert!(ExternalFilesMessage::decode(&message(0, 0), SMALL).is_err());
        assert!(ExternalFilesMessage::decode(&message(1, 2), SMALL).is_err());
        assert!(ExternalFilesMessage::decode(&message(2, 2), SMALL).is_err());
    }

    proptest! {
        #[test]
        fn laws(
            params in params(),
            heap in 0_u64..0xffff,
            slots in prop::collection::vec((lengths(), lengths(), prop::option::of(lengths())), 0..5),
            bytes in bodies(),
        ) {
            let slots = slots.into_iter()
                .map(|(name_offset, offset, size)| ExternalFileSlot { name_offset, offset, size })
                .collect();
            assert_laws!(ExternalFilesMessage, ExternalFilesMessage { heap: Address::new(heap), slots }, params);
            assert_survives!(ExternalFilesMessage, &bytes, params);
        }
    }
}
