//! Fill value message (section IV.A.2.f).
//!
//! ```text
//! versions 1 and 2                        version 3
//! size  field                             size  field
//! 1     version = 1 or 2                  1     version = 3
//! 1     space allocation time             1     flags: bits 0-1 space allocation time,
//! 1     fill value write time                   bits 2-3 fill value write time,
//! 1     fill value defined                      bit 4 undefined, bit 5 defined
//! 4     size (n), signed                  4     size (n) (if bit 5)
//! n     fill value                        n     fill value (if bit 5)
//! ```
//!
//! In version 2, the size and the value are present only if "fill value defined" is not 0. Version
//! 1 always has the size. If the fill value is not defined, the size has no meaning and libhdf5
//! does not read it.
//!
//! The fill value has one of three states. *Undefined*: not defined, or a negative size. *Default*:
//! defined with a size of 0 (version 3: neither bit 4 nor bit 5), which reads as zeros.
//! *User-defined*: a value.

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

const UNDEFINED: u8 = 1 << 4;
const HAS_VALUE: u8 = 1 << 5;
const ALL_FLAGS: u8 = 0b0011_1111;

/// The fill value message: the fill value of a dataset, and the times at which storage is allocated
/// and filled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FillValueMessage {
    /// Version of the message: 1, 2 or 3.
    pub version: u8,
    /// Time at which the space for raw data is allocated.
    pub allocation_time: AllocationTime,
    /// Time at which the fill value is written into the allocated space.
    pub write_time: FillWriteTime,
    /// Fill value: `None` if undefined, empty for the default (zeros), else one element of the
    /// dataset's datatype.
    pub value: Option<Vec<u8>>,
}

/// The time at which the space for a dataset's raw data is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AllocationTime(pub u8);

impl AllocationTime {
    /// The default allocation time of a dataset: early for compact, late for contiguous,
    /// incremental for chunked storage.
    pub const DEFAULT: Self = Self(0);
    /// The early allocation time: all space for raw data is allocated when the dataset is created.
    pub const EARLY: Self = Self(1);
    /// The late allocation time: all space for raw data is allocated at the dataset's first write.
    pub const LATE: Self = Self(2);
    /// The incremental allocation time: the space for each chunk of raw data is allocated at the
    /// first write to the chunk.
    pub const INCREMENTAL: Self = Self(3);
}

/// The time at which a dataset's fill value is written into allocated space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FillWriteTime(pub u8);

impl FillWriteTime {
    /// The write time of fill values for datasets whose space is filled as soon as it is allocated.
    pub const ON_ALLOCATION: Self = Self(0);
    /// The write time of fill values for datasets whose allocated space is never filled.
    pub const NEVER: Self = Self(1);
    /// The write time of fill values for datasets whose allocated space is filled only if the user
    /// has set a fill value.
    pub const IF_SET: Self = Self(2);
}

/// The state of a dataset's fill value: undefined, default or set by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FillStatus<'a> {
    /// No fill value. libhdf5 refuses to read such a dataset if no storage is allocated.
    Undefined,
    /// Default fill value: zeros.
    Default,
    /// User-defined fill value: one element of the dataset's datatype, never empty.
    UserDefined(&'a [u8]),
}

impl FillValueMessage {
    /// Returns the state of the dataset's fill value: undefined, default or set by the user.
    pub fn status(&self) -> FillStatus<'_> {
        match self.value.as_deref() {
            None => FillStatus::Undefined,
            Some([]) => FillStatus::Default,
            Some(value) => FillStatus::UserDefined(value),
        }
    }
}

impl Message<'_> for FillValueMessage {
    const TYPE: MessageType = MessageType::FILL_VALUE;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let version = r.version(&[1, 2, 3])?;
        let (allocation_time, write_time, defined) = if version == 3 {
            let flags = r.u8("flags")?;
            if flags & !ALL_FLAGS != 0 {
                return Err(r.corrupt("flags", "bits 0 to 5 only", format_args!("{flags:#04x}")));
            }
            let defined = match (flags & UNDEFINED != 0, flags & HAS_VALUE != 0) {
                (true, true) => return Err(r.corrupt("flags", "bit 4 or bit 5, not both", "both")),
                (undefined, false) => Defined::WithoutSize(!undefined),
                (false, true) => Defined::WithSize,
            };
            (flags & 0b11, flags >> 2 & 0b11, defined)
        } else {
            let allocation_time = r.u8("space allocation time")?;
            let write_time = r.u8("fill value write time")?;
            let defined = match r.u8("fill value defined")? {
                0 => Defined::WithoutSize(false),
                _ => Defined::WithSize,
            };
            (allocation_time, write_time, defined)
        };
        let value = match defined {
            Defined::WithoutSize(defined) => defined.then(Vec::new),
            Defined::WithSize => decode_value(&mut r)?,
        };
        Ok(Self {
            version,
            allocation_time: AllocationTime(allocation_time),
            write_time: FillWriteTime(write_time),
            value,
        })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        let (allocation_time, write_time) = (self.allocation_time.0, self.write_time.0);
        let value = self.value.as_deref();
        w.u8(self.version);
        match self.version {
            1 | 2 => {
                w.u8(allocation_time);
                w.u8(write_time);
                w.u8(u8::from(value.is_some()));
                if let Some(value) = value {
                    encode_value(value, w);
                } else if self.version == 1 {
                    w.zeros(4);
                }
            }
            3 => {
                if allocation_time > 3 {
                    w.fail("space allocation time", allocation_time);
                }
                if write_time > 3 {
                    w.fail("fill value write time", write_time);
                }
                let times = allocation_time & 0b11 | (write_time & 0b11) << 2;
                match value {
                    None => w.u8(times | UNDEFINED),
                    Some([]) => w.u8(times),
                    Some(value) => {
                        w.u8(times | HAS_VALUE);
                        encode_value(value, w);
                    }
                }
            }
            version => w.fail("version", version),
        }
    }
}

/// The first decoded fields of a fill value message, which state if the fill value is defined. In
/// the form `WithSize`, the size and the bytes of the fill value follow in the message.
enum Defined {
    WithoutSize(bool),
    WithSize,
}

fn decode_value(r: &mut Reader<'_>) -> Result<Option<Vec<u8>>> {
    let size = r.u32("size")?;
    match i32::try_from(size) {
        Ok(_) => Ok(Some(r.take_u64(size.into(), "fill value")?.to_vec())),
        Err(_) => Ok(None),
    }
}

fn encode_value(value: &[u8], w: &mut Writer) {
    if i32::try_from(value.len()).is_err() {
        w.fail("size", value.len());
    }
    w.narrow_u32(value.len(), "size");
    w.bytes(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> Result<FillValueMessage> {
        FillValueMessage::decode(bytes, FileParams::DEFAULT)
    }

    fn fill(version: u8, value: Option<&[u8]>) -> FillValueMessage {
        FillValueMessage {
            version,
            allocation_time: AllocationTime::LATE,
            write_time: FillWriteTime::IF_SET,
            value: value.map(<[u8]>::to_vec),
        }
    }

    #[test]
    fn the_three_states_in_each_version() {
        for (message, bytes) in [
            (fill(1, None), &[1, 2, 2, 0, 0, 0, 0, 0][..]),
            (fill(1, Some(&[])), &[1, 2, 2, 1, 0, 0, 0, 0]),
            (fill(1, Some(&[7])), &[1, 2, 2, 1, 1, 0, 0, 0, 7]),
            (fill(2, None), &[2, 2, 2, 0]),
            (fill(2, Some(&[])), &[2, 2, 2, 1, 0, 0, 0, 0]),
            (fill(2, Some(&[7])), &[2, 2, 2, 1, 1, 0, 0, 0, 7]),
            (fill(3, None), &[3, 0x1a]),
            (fill(3, Some(&[])), &[3, 0x0a]),
            (fill(3, Some(&[7])), &[3, 0x2a, 1, 0, 0, 0, 7]),
        ] {
            assert_eq!(assert_laws!(FillValueMessage, message, FileParams::DEFAULT), bytes);
            assert_eq!(decode(bytes).unwrap(), message);
        }
        assert_eq!(fill(3, None).status(), FillStatus::Undefined);
        assert_eq!(fill(3, Some(&[])).status(), FillStatus::Default);
        assert_eq!(fill(3, Some(&[7])).status(), FillStatus::UserDefined(&[7]));
    }

    #[test]
    fn a_negative_size_is_undefined() {
        assert_eq!(decode(&[2, 2, 2, 1, 0xff, 0xff, 0xff, 0xff]).unwrap(), fill(2, None));
    }

    #[test]
    fn refuses_contradictions() {
        assert!(decode(&[3, 0x3a, 0, 0, 0, 0]).is_err(), "undefined and defined");
        assert!(decode(&[3, 0x4a]).is_err(), "reserved flag");
        assert!(decode(&[2, 2, 2, 1, 9, 0, 0, 0, 7]).is_err(), "cut off");
        assert!(decode(&[4, 2, 2, 1]).is_err(), "version");
    }

    proptest! {
        #[test]
        fn laws(
            version in 1_u8..=3,
            allocation_time in 0_u8..4,
            write_time in 0_u8..4,
            value in prop::option::of(prop::collection::vec(any::<u8>(), 0..20)),
            bytes in bodies(),
        ) {
            let (allocation_time, write_time) = (AllocationTime(allocation_time), FillWriteTime(write_time));
            assert_laws!(FillValueMessage, FillValueMessage { version, allocation_time, write_time, value }, FileParams::DEFAULT);
            assert_survives!(FillValueMessage, &bytes, FileParams::DEFAULT);
        }
    }
}
