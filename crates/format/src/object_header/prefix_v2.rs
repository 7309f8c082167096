//! Object header prefix, version 2 (section IV.A.1.b).
//!
//! ```text
//! off  size field
//! 0    4    signature "OHDR"
//! 4    1    version = 2
//! 5    1    flags
//! 6    16   access, modification, change, birth time (u32 seconds each; only if flags bit 5)
//! ..   4    maximum compact, minimum dense attributes (u16 each; only if flags bit 4)
//! ..   1-8  size of chunk 0 (1 << (flags & 3) bytes): bytes of messages and gap in the first chunk
//! ..        messages, gap
//! ..   4    checksum of all bytes from the signature on
//! ```

use bitflags::bitflags;

use crate::codec::{CHECKSUM_SIZE, Reader, Result, Writer};

const NAME: &str = "object header (version 2)";

bitflags! {
    /// The flags of a version 2 object header.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct HeaderFlags: u8 {
        /// A mask of two bits in the flags of a version 2 object header. The bits state the width
        /// of the "size of chunk 0" field: 1, 2, 4 or 8 bytes.
        const CHUNK0_SIZE_WIDTH = 0b11;
        /// A flag of a version 2 object header: the object tracks the creation order of attributes.
        const ATTRIBUTE_ORDER_TRACKED = 1 << 2;
        /// A flag of a version 2 object header: the object indexes the creation order of
        /// attributes.
        const ATTRIBUTE_ORDER_INDEXED = 1 << 3;
        /// A flag of a version 2 object header: the header stores the thresholds between compact
        /// and dense attributes.
        const PHASE_CHANGE_STORED = 1 << 4;
        /// A flag of a version 2 object header: the header stores the four times of the object.
        const TIMES_STORED = 1 << 5;
    }
}

/// The four times of an object in its header, in seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectTimes {
    /// Time of the last access.
    pub access: u32,
    /// Time of the last change of the object's data.
    pub modification: u32,
    /// Time of the last change of the object's metadata.
    pub change: u32,
    /// Time of creation.
    pub birth: u32,
}

/// The thresholds at which an object's attributes move between compact and dense storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributePhaseChange {
    /// Largest number of attributes in compact storage.
    pub max_compact: u16,
    /// Smallest number of attributes in dense storage.
    pub min_dense: u16,
}

impl Default for AttributePhaseChange {
    fn default() -> Self {
        Self { max_compact: 8, min_dense: 6 }
    }
}

/// The prefix of a version 2 object header: the fields before the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixV2 {
    /// Flags that state which fields are stored, and their widths.
    pub flags: HeaderFlags,
    /// Times of the object, if stored.
    pub times: Option<ObjectTimes>,
    /// Attribute phase change values, if stored.
    pub phase_change: Option<AttributePhaseChange>,
    /// Size of messages and gap in the first chunk, in bytes.
    pub chunk0_size: u64,
}

impl PrefixV2 {
    /// Signature of a version 2 object header.
    pub const SIGNATURE: &'static [u8; 4] = b"OHDR";
    /// Size of the longest prefix of a version 2 object header in bytes.
    pub const MAX_SIZE: usize = 34;

    /// Returns the size of this prefix of a version 2 object header in bytes.
    pub fn size(&self) -> usize {
        let times = if self.flags.contains(HeaderFlags::TIMES_STORED) { 16 } else { 0 };
        let phase = if self.flags.contains(HeaderFlags::PHASE_CHANGE_STORED) { 4 } else { 0 };
        6 + times + phase + self.chunk0_width()
    }

    /// Returns the total size in bytes of chunk 0 (the first block) of a version 2 object header,
    /// with prefix and checksum. Returns `None` if the size exceeds 64 bits.
    pub fn chunk0_total(&self) -> Option<u64> {
        self.chunk0_size.checked_add((self.size() + CHECKSUM_SIZE) as u64)
    }

    fn chunk0_width(&self) -> usize {
        1 << (self.flags & HeaderFlags::CHUNK0_SIZE_WIDTH).bits()
    }

    /// Decodes the prefix of a version 2 object header at the start of `bytes`. Ignores later
    /// bytes, including the checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(NAME, bytes);
        r.signature(Self::SIGNATURE)?;
        r.version(&[2])?;
        let bits = r.u8("flags")?;
        let flags = HeaderFlags::from_bits(bits)
            .ok_or_else(|| r.corrupt("flags", "bits 0 to 5 only", format_args!("{bits:#04x}")))?;
        let times = flags.contains(HeaderFlags::TIMES_STORED).then(|| decode_times(&mut r)).transpose()?;
        let phase_change = flags
            .contains(HeaderFlags::PHASE_CHANGE_STORED)
            .then(|| decode_phase_change(&mut r))
            .transpose()?;
        let mut prefix = Self { flags, times, phase_change, chunk0_size: 0 };
        prefix.chunk0_size = r.uint(prefix.chunk0_width(), "size of chunk 0")?;
        Ok(prefix)
    }

    /// Verifies the checksum of the whole first block of a version 2 object header. Returns the
    /// bytes of its messages, with the unused bytes after them.
    pub fn messages<'a>(&self, chunk: &'a [u8]) -> Result<&'a [u8]> {
        let mut r = Reader::new(NAME, chunk);
        r.skip(self.size(), "prefix")?;
        r.trailing_checksum()?;
        Ok(r.take_rest())
    }

    /// Writes the prefix of a version 2 object header with the fields that the flags require.
    pub fn encode(&self, w: &mut Writer) {
        w.bytes(Self::SIGNATURE);
        w.u8(2);
        w.u8(self.flags.bits());
        if self.flags.contains(HeaderFlags::TIMES_STORED) {
            let times = self.times.unwrap_or_else(|| {
                w.fail("times", "no times (the flags require times)");
                ObjectTimes::default()
            });
            for time in [times.access, times.modification, times.change, times.birth] {
                w.u32(time);
            }
        }
        if self.flags.contains(HeaderFlags::PHASE_CHANGE_STORED) {
            let phase = self.phase_change.unwrap_or_else(|| {
                w.fail("phase change", "no values (the flags require values)");
                AttributePhaseChange::default()
            });
            w.u16(phase.max_compact);
            w.u16(phase.min_dense);
        }
        w.uint(self.chunk0_width(), self.chunk0_size, "size of chunk 0");
    }
}

fn decode_times(r: &mut Reader<'_>) -> Result<ObjectTimes> {
    Ok(ObjectTimes {
        access: r.u32("access time")?,
        modification: r.u32("modification time")?,
        change: r.u32("change time")?,
        birth: r.u32("birth time")?,
    })
}

fn decode_phase_change(r: &mut Reader<'_>) -> Result<AttributePhaseChange> {
    let max_compact = r.u16("maximum number of compact attributes")?;
    let min_dense = r.u16("minimum number of dense attributes")?;
    if max_compact < min_dense {
        return Err(r.corrupt(
            "minimum number of dense attributes",
            format!("at most {max_compact}"),
            min_dense,
        ));
    }
    Ok(AttributePhaseChange { max_compact, min_dense })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AttributePhaseChange, HeaderFlags, ObjectTimes, PrefixV2};
    use crate::codec::Writer;

    fn prefixes() -> impl Strategy<Value = PrefixV2> {
        (0_u8..64, any::<[u32; 4]>(), any::<(u16, u16)>(), any::<u64>()).prop_map(
            |(bits, t, (a, b), size)| {
                let flags = HeaderFlags::from_bits(bits).unwrap();
                let width = 8 << (bits & 3);
                PrefixV2 {
                    flags,
                    times: flags.contains(HeaderFlags::TIMES_STORED).then_some(ObjectTimes {
                        access: t[0],
                        modification: t[1],
                        change: t[2],
                        birth: t[3],
                    }),
                    phase_change: flags
                        .contains(HeaderFlags::PHASE_CHANGE_STORED)
                        .then_some(AttributePhaseChange { max_compact: a.max(b), min_dense: a.min(b) }),
                    chunk0_size: if width == 64 { size } else { size & ((1 << width) - 1) },
                }
            },
        )
    }

    proptest! {
        #[test]
        fn decodes_what_it_encodes(prefix in prefixes()) {
            let mut w = Writer::new("test");
            prefix.encode(&mut w);
            let bytes = w.finish().unwrap();
            prop_assert_eq!(bytes.len(), prefix.size());
            prop_assert_eq!(PrefixV2::decode(&bytes).unwrap(), prefix);
        }
    }

    #[test]
    fn a_wrong_checksum_is_refused() {
        let prefix =
            PrefixV2 { flags: HeaderFlags::empty(), times: None, phase_change: None, chunk0_size: 3 };
        let mut w = Writer::new("test");
        prefix.encode(&mut w);
        w.bytes(&[9, 8, 7]);
        w.checksum();
        let mut bytes = w.finish().unwrap();
        assert_eq!(prefix.messages(&bytes).unwrap(), [9, 8, 7]);
        bytes[7] ^= 1;
        assert!(prefix.messages(&bytes).unwrap_err().to_string().contains("checksum"));
    }

    #[test]
    fn a_flag_without_its_fields_is_not_written_as_zeros() {
        for flag in [HeaderFlags::TIMES_STORED, HeaderFlags::PHASE_CHANGE_STORED] {
            let mut writer = Writer::new("test");
            PrefixV2 { flags: flag, times: None, phase_change: None, chunk0_size: 3 }.encode(&mut writer);
            let error = writer.finish().unwrap_err().to_string();
            assert!(error.contains("(the flags require"), "{error}");
        }
    }
}
