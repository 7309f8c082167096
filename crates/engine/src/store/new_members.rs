//! The description of the members in a new file of several members.

use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::driver_info::{
    DriverInfoBlock, DriverInfoMember, DriverInformation, FAMILY, MULTI, MultiInformation,
};
use hyperslab_format::message::{DriverInfo, Message as _};

use crate::error::{Error, Result};

/// The members of a new file, which the file describes for programs that open it later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewMembers {
    /// Members of equal size.
    Family {
        /// The size of a member in bytes.
        member_size: u64,
    },
    /// One member for each kind of data, or for several kinds.
    Multi {
        /// The kind of data whose member each kind uses: 1 superblock, 2 B-trees, 3 raw data,
        /// 4 global heaps, 5 local heaps, 6 object headers; 0 for a member of its own.
        mapping: [u8; 6],
        /// The start address and the name of the member of each kind, in which `%s` represents the
        /// name of the file. Only the members that the mapping names are used.
        members: [(u64, Vec<u8>); 6],
    },
}

impl NewMembers {
    /// Returns the driver information of a new file, and the identification of its driver.
    fn information(&self) -> ([u8; 8], DriverInformation) {
        match self {
            Self::Family { member_size } => (FAMILY, DriverInformation::Family { member_size: *member_size }),
            Self::Multi { .. } => {
                (MULTI, self.multi().map_or(DriverInformation::Other, DriverInformation::Multi))
            }
        }
    }

    /// Returns the description of the members of the multi driver.
    pub(super) fn multi(&self) -> Option<MultiInformation> {
        let Self::Multi { mapping, members } = self else { return None };
        let member = |kind: u8| {
            let (start, name) = members.get(usize::from(kind).checked_sub(1)?)?;
            Some(DriverInfoMember { start: Address::new(*start), end: Address::new(0), name: name.clone() })
        };
        let members = MultiInformation::member_types(*mapping).filter_map(member).collect();
        Some(MultiInformation { mapping: *mapping, members })
    }

    /// Returns the encoded driver information of a new file, and the identification of its driver.
    fn encoded(&self) -> Result<([u8; 8], Vec<u8>)> {
        let (identification, information) = self.information();
        let invariant = "the information of the driver has an encoding";
        let bytes = information.encode()?;
        Ok((identification, bytes.ok_or(Error::Internal { structure: "driver information", invariant })?))
    }

    /// Returns the driver information block for an old superblock.
    pub(super) fn block(&self) -> Result<(DriverInfoBlock, usize)> {
        let (identification, information) = self.encoded()?;
        let length = information.len();
        Ok((DriverInfoBlock { identification, information }, length))
    }

    /// Returns the driver info message for a superblock extension.
    pub(super) fn message(&self, params: FileParams) -> Result<Vec<u8>> {
        let (identification, information) = self.encoded()?;
        Ok(DriverInfo { identification, information }.to_bytes(params)?)
    }
}
