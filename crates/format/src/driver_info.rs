//! Driver information block of superblock versions 0 and 1, and the driver information that
//! libhdf5's drivers store in the block (section II.B).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 3     reserved (zero)
//! 4     driver information size (n)
//! 8     driver identification, ASCII
//! n     driver information
//! ```
//!
//! Driver information of the multi driver, `NCSAmult` (M members):
//! ```text
//! 6     member mapping: for superblock, B-tree, raw data, global heap, local heap and object
//!       header data, the type (1 to 6) whose member file stores this type; 0: its own
//! 2     reserved (zero)
//! M x   8 virtual address at which the member starts, 8 end of its address space
//! M x   name pattern and a zero byte, padded with zero bytes to a multiple of 8
//! ```
//! Driver information of the family driver, `NCSAfami`:
//! ```text
//! 8     size of a member file
//! ```

use crate::codec::{Address, FileParams, Reader, Result, Structure, Writer};

/// Identification of the multi driver in the driver information block of the superblock.
pub const MULTI: [u8; 8] = *b"NCSAmult";
/// Identification of the family driver in the driver information block of the superblock.
pub const FAMILY: [u8; 8] = *b"NCSAfami";

/// The driver information block of superblock versions 0 and 1, which describes the member files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DriverInfoBlock {
    /// Identification of the driver, such as `NCSAfami`.
    pub identification: [u8; 8],
    /// Driver information as raw bytes.
    pub information: Vec<u8>,
}

impl DriverInfoBlock {
    /// Size of the driver information block's fields before the driver information, in bytes.
    pub const PREFIX_SIZE: usize = 16;

    /// Returns the size of the whole driver information block in bytes. `prefix` holds the first
    /// [`PREFIX_SIZE`](Self::PREFIX_SIZE) bytes of the block.
    ///
    /// # Errors
    /// Returns `Corrupt` for missing bytes and `Unsupported` for an unknown version.
    pub fn size_of_block(prefix: &[u8]) -> Result<u64> {
        let mut r = Reader::new(Self::NAME, prefix);
        r.version(&[0])?;
        r.skip(3, "reserved")?;
        Ok(u64::from(r.u32("driver information size")?) + Self::PREFIX_SIZE as u64)
    }
}

impl Structure for DriverInfoBlock {
    const NAME: &'static str = "driver information block";
    /// The size of the driver information in bytes. The size determines the layout of the driver
    /// information block.
    type Context = usize;

    fn size(information: &usize) -> usize {
        Self::PREFIX_SIZE + *information
    }

    fn decode(bytes: &[u8], _information: &usize) -> Result<Self> {
        let mut r = Reader::new(Self::NAME, bytes);
        r.version(&[0])?;
        r.skip(3, "reserved")?;
        let size = r.u32("driver information size")?;
        let identification = r.array("driver identification")?;
        let information = r.take_u64(size.into(), "driver information")?.to_vec();
        r.finish()?;
        Ok(Self { identification, information })
    }

    fn encode(&self, _information: &usize) -> Result<Vec<u8>> {
        let mut w = Writer::new(Self::NAME);
        w.u8(0);
        w.zeros(3);
        w.narrow_u32(self.information.len(), "driver information size");
        w.bytes(&self.identification);
        w.bytes(&self.information);
        w.finish()
    }
}

/// The decoded driver information of a superblock, for the multi driver, the family driver or
/// another driver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DriverInformation {
    /// Multi driver: one member file for each type of data or for several types.
    Multi(MultiInformation),
    /// Family driver: member files of equal size.
    Family {
        /// Size of each member file in bytes.
        member_size: u64,
    },
    /// A driver that libhdf5 does not provide.
    Other,
}

/// The layout of a file of the multi driver: the member files, and their kinds of data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MultiInformation {
    /// The member file of each type of data: superblock, B-tree, raw data, global heap, local heap
    /// and object header. A number from 1 to 6 is a type of data in this order: both types share
    /// one member file. 0 means a member file of its own.
    pub mapping: [u8; 6],
    /// The member files, in the order of the first type of data mapped to each.
    pub members: Vec<DriverInfoMember>,
}

/// One member file of the multi driver in the driver information.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DriverInfoMember {
    /// Address at which the member file starts.
    pub start: Address,
    /// End of allocation of the member file, counted from its start.
    pub end: Address,
    /// File name without the zero byte. `%s` stands for the name of the HDF5 file.
    pub name: Vec<u8>,
}

impl MultiInformation {
    /// Returns the types of data (1 to 6) that the member files of the multi driver hold: one type
    /// for each member file, in the stored order of the members.
    pub fn member_types(mapping: [u8; 6]) -> impl Iterator<Item = u8> {
        let mut seen = [false; 7];
        (1_u8..).zip(mapping).filter_map(move |(own, mapped)| {
            let kind = if mapped == 0 { own } else { mapped };
            let seen = seen.get_mut(usize::from(kind))?;
            (!std::mem::replace(seen, true)).then_some(kind)
        })
    }
}

impl DriverInformation {
    /// Decodes the driver information of the file driver with the identification `identification`.
    ///
    /// # Errors
    /// Returns `Corrupt` if the bytes contradict the format of that driver.
    pub fn decode(identification: [u8; 8], information: &[u8]) -> Result<Self> {
        match identification {
            MULTI => decode_multi(information).map(Self::Multi),
            FAMILY => {
                let mut r = Reader::new("family driver information", information);
                Ok(Self::Family { member_size: r.u64("size of member file")? })
            }
            _ => Ok(Self::Other),
        }
    }

    /// Encodes the driver information of a superblock. Returns `None` for an unknown driver.
    ///
    /// # Errors
    /// Returns `Encode` if the members do not match the mapping.
    pub fn encode(&self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Multi(multi) => encode_multi(multi).map(Some),
            Self::Family { member_size } => Ok(Some(member_size.to_le_bytes().to_vec())),
            Self::Other => Ok(None),
        }
    }
}

/// The width of addresses in the driver information of the multi driver: eight bytes, even if the
/// superblock states another width.
const EIGHT_BYTE_PARAMS: FileParams = FileParams::DEFAULT;
const MULTI_NAME: &str = "multi driver information";

fn decode_multi(information: &[u8]) -> Result<MultiInformation> {
    let mut r = Reader::new(MULTI_NAME, information);
    let mapping: [u8; 6] = r.array("member mapping")?;
    if let Some(bad) = mapping.iter().find(|kind| **kind > 6) {
        return Err(r.corrupt("member mapping", "0 to 6", bad));
    }
    r.skip(2, "reserved")?;
    let mut members = Vec::new();
    for _ in MultiInformation::member_types(mapping) {
        members.push(DriverInfoMember {
            start: r.offset(EIGHT_BYTE_PARAMS, "address of member file")?,
            end: r.offset(EIGHT_BYTE_PARAMS, "end of address for member file")?,
            name: Vec::new(),
        });
    }
    for member in &mut members {
        let name = r.until_nul("name of member file")?;
        r.skip(padding(name.len()), "name of member file")?;
        member.name = name.to_vec();
    }
    Ok(MultiInformation { mapping, members })
}

fn encode_multi(multi: &MultiInformation) -> Result<Vec<u8>> {
    let mut w = Writer::new(MULTI_NAME);
    if multi.mapping.iter().any(|kind| *kind > 6) {
        w.fail("member mapping", format_args!("{:?}", multi.mapping));
    }
    if MultiInformation::member_types(multi.mapping).count() != multi.members.len() {
        w.fail("member mapping", format_args!("{} members", multi.members.len()));
    }
    w.bytes(&multi.mapping);
    w.zeros(2);
    for member in &multi.members {
        w.offset(EIGHT_BYTE_PARAMS, member.start, "address of member file");
        w.offset(EIGHT_BYTE_PARAMS, member.end, "end of address for member file");
    }
    for member in &multi.members {
        w.text_nul(&member.name, "name of member file");
        w.zeros(padding(member.name.len()));
    }
    w.finish()
}

/// Returns the number of zero bytes after a member name in the driver information of the multi
/// driver. `name` is the length of the name, without the terminating zero byte.
fn padding(name: usize) -> usize {
    7_usize - name % 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn family_block() {
        let mut bytes = b"\0\0\0\0\x08\0\0\0NCSAfami".to_vec();
        bytes.extend([0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(DriverInfoBlock::size_of_block(&bytes).unwrap(), 24);
        let block = DriverInfoBlock::decode(&bytes, &8).unwrap();
        assert_eq!(block.encode(&8).unwrap(), bytes);
        let family = DriverInformation::decode(block.identification, &block.information).unwrap();
        assert_eq!(family, DriverInformation::Family { member_size: 256 });
        assert_eq!(family.encode().unwrap(), Some(block.information));
        assert!(DriverInfoBlock::decode(&bytes[..23], &8).is_err());
    }

    #[test]
    fn multi_with_two_members() {
        let mut bytes = vec![1, 1, 3, 1, 1, 1, 0, 0];
        for number in [0_u64, 0x800, u64::MAX >> 1, u64::MAX] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"%s-s.h5\0%s-rr.h5\0\0\0\0\0\0\0\0");
        let information = DriverInformation::decode(MULTI, &bytes).unwrap();
        let DriverInformation::Multi(multi) = &information else { panic!("{information:?}") };
        assert_eq!(multi.members.len(), 2);
        assert_eq!(multi.members[0].name, b"%s-s.h5");
        assert_eq!(multi.members[1].name, b"%s-rr.h5");
        assert_eq!(multi.members[1].end, Address::UNDEFINED);
        assert_eq!(information.encode().unwrap(), Some(bytes.clone()));
        bytes[0] = 7;
        assert!(DriverInformation::decode(MULTI, &bytes).is_err());
    }

    #[test]
    fn unmapped_types_have_members_of_their_own() {
        assert_eq!(MultiInformation::member_types([0; 6]).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(MultiInformation::member_types([2, 0, 3, 6, 5, 2]).collect::<Vec<_>>(), [2, 3, 6, 5]);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..120), start in 0_u8..8) {
            let _ = DriverInfoBlock::decode(&bytes, &0);
            let bytes = [vec![start; 6], bytes].concat();
            if let Ok(information) = DriverInformation::decode(MULTI, &bytes) {
                let again = information.encode().unwrap().unwrap();
                prop_assert_eq!(DriverInformation::decode(MULTI, &again).unwrap(), information);
            }
        }
    }
}
