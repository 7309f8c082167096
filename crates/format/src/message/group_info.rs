//! Group info message of a group in the format of HDF5 1.8 and later (section IV.A.2.k).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 1     flags: bit 0 link phase change values follow, bit 1 estimates follow
//! 2     link phase change: maximum compact value (if bit 0)
//! 2     link phase change: minimum dense value (if bit 0)
//! 2     estimated number of entries (if bit 1)
//! 2     estimated link name length of entries (if bit 1)
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

const PHASE_CHANGE: u8 = 1 << 0;
const ESTIMATES: u8 = 1 << 1;

/// The group info message: the creation parameters of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GroupInfo {
    /// Thresholds between compact and dense storage; `None` for [`LinkPhaseChange::DEFAULT`].
    pub phase_change: Option<LinkPhaseChange>,
    /// Expected links; `None` for [`EstimatedEntries::DEFAULT`].
    pub estimated: Option<EstimatedEntries>,
}

/// The thresholds at which a group's links move between compact and dense storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkPhaseChange {
    /// Largest number of links in compact storage.
    pub max_compact: u16,
    /// Smallest number of links in dense storage.
    pub min_dense: u16,
}

impl LinkPhaseChange {
    /// The default thresholds at which a group's links move between compact and dense storage.
    pub const DEFAULT: Self = Self { max_compact: 8, min_dense: 6 };
}

/// The expected number and name length of a group's links. The estimates determine the size of a
/// new object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EstimatedEntries {
    /// Expected number of links.
    pub count: u16,
    /// Expected length of a link name in bytes.
    pub name_length: u16,
}

impl EstimatedEntries {
    /// The default estimates of the number and name length of a group's links.
    pub const DEFAULT: Self = Self { count: 4, name_length: 8 };
}

impl Message<'_> for GroupInfo {
    const TYPE: MessageType = MessageType::GROUP_INFO;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        let flags = r.u8("flags")?;
        if flags & !(PHASE_CHANGE | ESTIMATES) != 0 {
            return Err(r.corrupt("flags", "bits 0 and 1 only", format_args!("{flags:#04x}")));
        }
        let mut info = Self::default();
        if flags & PHASE_CHANGE != 0 {
            info.phase_change = Some(LinkPhaseChange {
                max_compact: r.u16("maximum compact value")?,
                min_dense: r.u16("minimum dense value")?,
            });
        }
        if flags & ESTIMATES != 0 {
            info.estimated = Some(EstimatedEntries {
                count: r.u16("estimated number of entries")?,
                name_length: r.u16("estimated link name length of entries")?,
            });
        }
        Ok(info)
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(0);
        w.u8(self.phase_change.map_or(0, |_| PHASE_CHANGE) | self.estimated.map_or(0, |_| ESTIMATES));
        if let Some(phase) = self.phase_change {
            w.u16(phase.max_compact);
            w.u16(phase.min_dense);
        }
        if let Some(estimated) = self.estimated {
            w.u16(estimated.count);
            w.u16(estimated.name_length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        assert_eq!(assert_laws!(GroupInfo, GroupInfo::default(), FileParams::DEFAULT), [0, 0]);
        let info = GroupInfo {
            phase_change: Some(LinkPhaseChange { max_compact: 2, min_dense: 1 }),
            estimated: Some(EstimatedEntries { count: 0x0102, name_length: 7 }),
        };
        assert_eq!(assert_laws!(GroupInfo, info, FileParams::DEFAULT), [0, 3, 2, 0, 1, 0, 2, 1, 7, 0]);
        assert!(GroupInfo::decode(&[0, 4], FileParams::DEFAULT).is_err());
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(GroupInfo, &bytes, FileParams::DEFAULT);
        }
    }
}
