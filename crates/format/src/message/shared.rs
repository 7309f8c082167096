//! Shared message reference: the body of a message with the "shared" flag (section IV.A.2, "Layout:
//! Shared Message").
//!
//! ```text
//! version 1                            version 2            version 3
//! size  field                          size  field          size  field
//! 1     version = 1                    1     version = 2    1     version = 3
//! 1     type                           1     type           1     type: 1 heap, 2 committed
//! 6     reserved (zero)                O     address        8|O   heap ID, or address
//! L     name offset, ignored
//! O     address of the object header
//! 24    ignored
//! ```
//!
//! Version 1 stores a whole symbol table entry, of which only the address has a meaning. The
//! specification shows only the address, but libhdf5 does not read such a reference. Before version
//! 3 the type byte has no meaning, and the body is always in another object's header. The byte is 0
//! or, in version 2 from HDF5 1.8 on, 2.

use super::MessageType;
use crate::codec::{Address, FileParams, Reader, Result, Writer};

const NAME: &str = "shared message";
/// Number of bytes after the address in a reference to a shared message, in version 1 of the
/// reference. This version has the form of a symbol table entry.
const BYTES_AFTER_ADDRESS: usize = 24;

/// A reference to the body of a shared object header message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedReference {
    /// Version of the reference: 1, 2 or 3.
    pub version: u8,
    /// Location of the body.
    pub location: SharedLocation,
}

/// The location of a shared message's body: an object header or the heap of shared messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SharedLocation {
    /// The shared message heap of this message type: the 8-byte ID of an object in the fractal
    /// heap.
    Heap([u8; 8]),
    /// The object header at this address: the first message of the same type, such as the datatype
    /// of a committed datatype.
    Committed(Address),
}

impl SharedReference {
    /// Creates a reference to a committed datatype, in place of a datatype message. Uses the
    /// version that HDF5 1.8 and later write.
    pub const fn committed(header: Address) -> Self {
        Self { version: 3, location: SharedLocation::Committed(header) }
    }

    /// Creates a reference to a message in the shared message heap, with the heap ID `id`.
    pub const fn heap(id: [u8; 8]) -> Self {
        Self { version: 3, location: SharedLocation::Heap(id) }
    }

    /// Decodes the reference to a shared message from the body of a message of any type with the
    /// "shared" flag. Bytes after the reference are accepted.
    ///
    /// # Errors
    /// Returns `Unsupported` for an unknown version or location type, and `Corrupt` for missing
    /// bytes.
    pub fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        Self::decode_prefix(&mut Reader::new(NAME, bytes), params)
    }

    /// Decodes a reference to a shared message at the reader's position, as in attribute messages.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode).
    pub fn decode_prefix(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let version = r.version(&[1, 2, 3])?;
        let kind = r.u8("type")?;
        if version == 1 {
            r.skip(6, "reserved")?;
            r.skip(params.length_width(), "name offset")?;
        }
        let location = match (version, kind) {
            (3, 1) => SharedLocation::Heap(r.array("location")?),
            (3, 2) | (1 | 2, _) => SharedLocation::Committed(r.offset(params, "address")?),
            _ => return Err(r.unsupported(format!("a shared message of type {kind}"))),
        };
        Ok(Self { version, location })
    }

    /// Writes the reference to a shared message to the writer `w`.
    pub fn encode(&self, params: FileParams, w: &mut Writer) {
        if !(1..=3).contains(&self.version) {
            w.fail("version", self.version);
        }
        w.u8(self.version);
        w.u8(match self.location {
            SharedLocation::Heap(_) => 1,
            SharedLocation::Committed(_) if self.version == 1 => 0,
            SharedLocation::Committed(_) => 2,
        });
        if self.version == 1 {
            w.zeros(6);
            w.zeros(params.length_width());
        }
        match self.location {
            SharedLocation::Heap(id) => {
                if self.version != 3 {
                    w.fail("location", "a heap ID before version 3");
                }
                w.bytes(&id);
            }
            SharedLocation::Committed(address) => w.offset(params, address, "address"),
        }
        if self.version == 1 {
            w.zeros(BYTES_AFTER_ADDRESS);
        }
    }

    /// Encodes the reference to a shared message to bytes.
    ///
    /// # Errors
    /// Returns `Encode` if a value does not fit its field.
    pub fn to_bytes(&self, params: FileParams) -> Result<Vec<u8>> {
        let mut w = Writer::new(NAME);
        self.encode(params, &mut w);
        w.finish()
    }
}

impl MessageType {
    /// Returns true if object header messages of this type may be shared: dataspaces, datatypes,
    /// fill values, filter pipelines and attributes.
    pub const fn is_shareable(self) -> bool {
        matches!(
            self,
            Self::DATASPACE
                | Self::DATATYPE
                | Self::FILL_VALUE_OLD
                | Self::FILL_VALUE
                | Self::FILTER_PIPELINE
                | Self::ATTRIBUTE
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };

    #[test]
    fn each_version() {
        let committed =
            |version| SharedReference { version, location: SharedLocation::Committed(Address::new(0x320)) };
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 3, 0, 0];
        bytes.extend([0; 24]);
        assert_eq!(assert_laws!(SharedReference, committed(1), SMALL), bytes);
        bytes[8] = 0x77;
        assert_eq!(SharedReference::decode(&bytes, SMALL).unwrap(), committed(1));
        assert_eq!(assert_laws!(SharedReference, committed(2), SMALL), [2, 2, 0x20, 3, 0, 0]);
        assert_eq!(SharedReference::decode(&[2, 0, 0x20, 3, 0, 0], SMALL).unwrap(), committed(2));
        assert_eq!(assert_laws!(SharedReference, committed(3), SMALL), [3, 2, 0x20, 3, 0, 0]);
        let heap = SharedReference::heap([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(assert_laws!(SharedReference, heap, SMALL), [3, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn refuses_what_is_not_shared() {
        assert!(SharedReference::decode(&[3, 0, 0, 0, 0, 0], SMALL).is_err());
        assert!(SharedReference::decode(&[0, 0, 0, 0, 0, 0], SMALL).is_err());
        let early_heap = SharedReference { version: 2, location: SharedLocation::Heap([0; 8]) };
        assert!(early_heap.to_bytes(SMALL).is_err());
    }

    proptest! {
        #[test]
        fn laws(params in params(), address in addresses(), version in 1_u8..4, bytes in bodies()) {
            let location = SharedLocation::Committed(address);
            assert_laws!(SharedReference, SharedReference { version, location }, params);
            assert_survives!(SharedReference, &bytes, params);
        }
    }
}
