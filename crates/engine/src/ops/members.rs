//! The description of a file's members in the file: the driver information block or message.

use std::sync::Arc;

use hyperslab_exact::to_usize;
use hyperslab_format::driver_info::{DriverInfoBlock, DriverInfoMember, DriverInformation, MultiInformation};
use hyperslab_format::message::{DriverInfo, MessageFlags, MessageType};
use hyperslab_format::superblock::SuperblockVersion;
use hyperslab_vfd::Driver;

use super::settings;
use crate::error::{Error, Result};
use crate::object::container::Container;
use crate::object::header::ObjectHeader;
use crate::object::message;
use crate::store::{MembersLocation, Store, StoreOptions};

/// The members of an HDF5 file (the files that together hold its bytes), as the HDF5 file itself
/// states them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Members {
    /// The file states no members.
    Alone,
    /// The file is shorter than its superblock states, or a structure that describes the members is
    /// missing.
    Incomplete,
    /// Members of equal size, in the order of their addresses.
    Family {
        /// Size of a member, in bytes.
        member_size: u64,
    },
    /// A range of addresses for each member.
    Multi(MultiMembers),
    /// An unknown driver.
    Other(String),
}

/// The member files of an HDF5 file that the multi driver stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiMembers {
    /// The members that are in use.
    pub ranges: Vec<MemberRange>,
    information: MultiInformation,
}

/// The range of addresses and the name of one member file of the multi driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRange {
    /// The address of the first byte.
    pub start: u64,
    /// Length at the last close, in bytes.
    pub length: u64,
    /// The name pattern, in which `%s` represents the name of the whole file.
    pub name: Vec<u8>,
}

impl Members {
    /// Reads the description of the member files from an HDF5 file. `driver` stores the first
    /// member file or the whole file.
    ///
    /// # Errors
    /// Returns an error if the bytes contain no superblock.
    pub fn of(driver: Arc<dyn Driver>) -> Result<Self> {
        let options = StoreOptions { ignore_status_flags: true, ..StoreOptions::default() };
        let store = Store::open(driver, options)?;
        let incomplete = if store.is_complete() { Self::Alone } else { Self::Incomplete };
        let container = settings::container(store);
        let stated = match &container.store.superblock().version {
            SuperblockVersion::Old(_) => in_block(&container.store),
            SuperblockVersion::New { extension, .. } if extension.is_defined() => {
                ObjectHeader::load(&container.store, *extension)
                    .and_then(|header| in_message(&container, &header))
            }
            SuperblockVersion::New { .. } => Ok(Self::Alone),
        };
        match stated {
            Ok(Self::Alone) => Ok(incomplete),
            Ok(stated) => Ok(stated),
            // The structure may lie in another member.
            Err(_) => Ok(Self::Incomplete),
        }
    }

    fn decode(identification: [u8; 8], information: &[u8]) -> Result<Self> {
        Ok(match DriverInformation::decode(identification, information)? {
            DriverInformation::Family { member_size } => Self::Family { member_size },
            DriverInformation::Multi(multi) => {
                Self::Multi(MultiMembers { ranges: ranges(&multi), information: multi })
            }
            DriverInformation::Other => {
                let name: Vec<u8> = identification.into_iter().take_while(|byte| *byte != 0).collect();
                Self::Other(String::from_utf8_lossy(&name).into_owned())
            }
        })
    }
}

/// Returns the address ranges of the multi driver's member files that are in use. A member file
/// without an address is not in use.
fn ranges(multi: &MultiInformation) -> Vec<MemberRange> {
    let range = |member: &DriverInfoMember| {
        let (start, length) = (member.start.get()?, member.end.get().unwrap_or(0));
        Some(MemberRange { start, length, name: member.name.clone() })
    };
    multi.members.iter().filter_map(range).collect()
}

/// Reads the member files of the multi or family driver from the driver information block of an old
/// superblock.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the block is damaged, and I/O errors.
pub(super) fn in_block(store: &Store) -> Result<Members> {
    let SuperblockVersion::Old(old) = store.superblock().version else { return Ok(Members::Alone) };
    if !old.driver_info.is_defined() {
        return Ok(Members::Alone);
    }
    let name = "driver information block";
    let prefix = store.read(old.driver_info, DriverInfoBlock::PREFIX_SIZE as u64, name)?;
    let length = DriverInfoBlock::size_of_block(&prefix).map_err(|error| error.at(old.driver_info))?;
    let information = length.checked_sub(DriverInfoBlock::PREFIX_SIZE as u64);
    let information =
        to_usize(information.ok_or_else(|| Error::internal(name, "the size includes the prefix"))?)?;
    store.check_inside(old.driver_info, length, name)?;
    let block: DriverInfoBlock = store.get(old.driver_info, &information)?;
    Members::decode(block.identification, &block.information)
}

/// Reads the member files of the multi or family driver from the driver info message of a
/// superblock extension.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the message is damaged.
pub(super) fn in_message(container: &Container, header: &ObjectHeader) -> Result<Members> {
    match message::find::<DriverInfo>(container, header)? {
        Some(info) => Members::decode(info.identification, &info.information),
        None => Ok(Members::Alone),
    }
}

/// Assigns new blocks of the store to the member files of the multi driver, as the driver
/// information block states. Does nothing for other drivers, and if the members do not have their
/// own ends.
pub(super) fn assign_by_block(members: &Members, store: &Store) {
    if let (Members::Multi(multi), SuperblockVersion::Old(old)) = (members, &store.superblock().version) {
        store.assign_members(&multi.information, MembersLocation::Block(old.driver_info));
    }
}

/// Assigns new blocks of the store to the member files of the multi driver, as the driver info
/// message states. Does nothing for other drivers, and if the members do not have their own ends.
pub(super) fn assign_by_message(members: &Members, store: &Store, extension: &ObjectHeader) {
    let Members::Multi(multi) = members else { return };
    let message = extension.find(MessageType::DRIVER_INFO);
    let message = message.filter(|message| !message.flags.contains(MessageFlags::SHARED));
    if let Some(location) = message.and_then(|message| extension.place(message)) {
        store.assign_members(&multi.information, MembersLocation::Message(location));
    }
}

/// Checks that the driver of the store has opened the member files that the HDF5 file states. Does
/// not check the length of the members of a file family.
///
/// # Errors
/// Returns [`Error::Unsupported`] if parts of the file lie in members that the driver does not
/// know.
pub(super) fn check(members: &Members, store: &Store) -> Result<()> {
    let driver = match members {
        Members::Multi(_) => "NCSAmult",
        Members::Other(name) => name,
        Members::Alone | Members::Incomplete | Members::Family { .. } => return Ok(()),
    };
    if !store.driver_kind().is_one_file() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "opening a file of several members, which needs the driver `{driver}`, with the {} driver",
        store.driver_kind()
    )))
}

#[cfg(test)]
mod tests {
    use hyperslab_format::codec::{Address, FileParams, Structure as _};
    use hyperslab_format::driver_info::{FAMILY, MULTI};
    use hyperslab_format::superblock::{ConsistencyFlags, OldSuperblock, Superblock};
    use hyperslab_format::symbol_table_entry::SymbolTableEntry;
    use hyperslab_vfd::Core;

    use super::*;

    fn file(end: u64, block: Option<(&[u8; 8], &[u8])>) -> Vec<u8> {
        let root = SymbolTableEntry::read(
            &mut hyperslab_format::codec::Reader::new("entry", &[0; 40]),
            FileParams::DEFAULT,
        );
        let old = OldSuperblock {
            indexed_storage_k: None,
            group_leaf_k: 4,
            group_internal_k: 16,
            free_space: Address::UNDEFINED,
            driver_info: if block.is_some() { Address::new(96) } else { Address::UNDEFINED },
            root: root.unwrap(),
        };
        let superblock = Superblock {
            params: FileParams::DEFAULT,
            consistency: ConsistencyFlags::empty(),
            base_address: 0,
            end_of_file: Address::new(end),
            version: SuperblockVersion::Old(old),
        };
        let mut bytes = superblock.encode().unwrap();
        assert_eq!(bytes.len(), 96);
        if let Some((identification, information)) = block {
            let block =
                DriverInfoBlock { identification: *identification, information: information.to_vec() };
            bytes.extend(block.encode(&information.len()).unwrap());
        }
        bytes
    }

    fn stated(bytes: Vec<u8>) -> Members {
        Members::of(Arc::new(Core::image("image", bytes))).unwrap()
    }

    #[test]
    fn old_superblocks_have_a_block() {
        assert_eq!(stated(file(96, None)), Members::Alone);
        assert_eq!(stated(file(97, None)), Members::Incomplete);
        let family = Members::Family { member_size: 1024 };
        assert_eq!(stated(file(9999, Some((&FAMILY, &1024_u64.to_le_bytes())))), family);
        assert_eq!(stated(file(96, Some((b"LANLxyz\0", &[1])))), Members::Other("LANLxyz".into()));
        // The members of an unreadable block are unknown.
        assert_eq!(stated(file(96, Some((&FAMILY, &[1])))), Members::Incomplete);
        assert!(Members::of(Arc::new(Core::image("image", *b"none"))).is_err());
    }

    #[test]
    fn members_of_multi_are_in_order() {
        let member = |start, end, name: &[u8]| DriverInfoMember {
            start: Address::new(start),
            end: Address::new(end),
            name: name.to_vec(),
        };
        let members = vec![member(0, 100, b"%s-s"), member(1 << 40, 7, b"%s-r")];
        let multi = DriverInformation::Multi(MultiInformation { mapping: [1, 1, 3, 1, 1, 1], members });
        let bytes = file(1 << 41, Some((&MULTI, &multi.encode().unwrap().unwrap())));
        let Members::Multi(multi) = stated(bytes.clone()) else { panic!() };
        assert_eq!(
            multi.ranges.iter().map(|range| (range.start, range.length)).collect::<Vec<_>>(),
            [(0, 100), (1 << 40, 7)]
        );
        // The driver of one file does not know the members.
        let options = StoreOptions { ignore_status_flags: true, ..StoreOptions::default() };
        let error = super::super::OpenFile::open(Arc::new(Core::image("image", bytes)), options).unwrap_err();
        assert!(error.to_string().contains("which needs the driver `NCSAmult`"), "{error}");
    }
}
