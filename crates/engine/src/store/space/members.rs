//! Files whose kinds of data lie in several member files. Each member has a range of addresses, and
//! an end of its own.

use hyperslab_format::codec::Address;
use hyperslab_format::driver_info::MultiInformation;

use super::persist::MessageLocation;
use super::rules::SpaceKind;
use super::{Rules, Space};

/// The members of a multi driver file except the first one. Each member has its own file space. An
/// assignment names a member for each kind of data.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The start address and the space of each member, ascending.
    others: Vec<(u64, Space)>,
    /// The number of the member that takes new blocks of each kind; 0 is the first member.
    takes: [usize; SpaceKind::ALL.len()],
}

/// The start and the end of one member of a multi driver file: its first address and its end
/// address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemberEnd {
    /// The address of the first byte.
    pub(crate) start: u64,
    /// The end of allocation in the member.
    pub(crate) end: u64,
}

/// The description of the multi driver's members in the HDF5 file, and the location of this
/// description.
#[derive(Debug)]
pub(crate) struct StatedMembers {
    pub(crate) information: MultiInformation,
    pub(crate) location: MembersLocation,
}

/// The location in the file of the description of the multi driver's members: the driver
/// information block or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MembersLocation {
    /// The driver information block at an address.
    Block(Address),
    /// A message of the superblock extension.
    Message(MessageLocation),
}

impl Members {
    /// Creates the description of the members of a multi driver file after the first one. Returns
    /// the description, and the limit of addresses in the first member.
    pub(super) fn new(rules: Rules, ends: &[MemberEnd]) -> (Self, u64) {
        let limit = |number: usize| ends.get(number).map_or(rules.limit, |next| next.start.min(rules.limit));
        let others = ends.iter().enumerate().skip(1).map(|(number, member)| {
            let rules = Rules { limit: limit(number + 1), ..rules };
            (member.start, Space::new(rules, member.end.max(member.start)))
        });
        (Self { others: others.collect(), takes: [0; SpaceKind::ALL.len()] }, limit(1))
    }
}

impl Space {
    /// Divides the file space among members with the given ends. The whole former space becomes the
    /// space of the first member, to which all new blocks go.
    pub(crate) fn spread(&mut self, ends: &[MemberEnd]) {
        if ends.len() < 2 {
            return;
        }
        let (members, limit) = Members::new(self.rules, ends);
        self.rules.limit = limit;
        if self.end > limit {
            // The superblock states the end of the last member.
            *self = Self::new(self.rules, ends.first().map_or(0, |first| first.end));
        }
        self.members = members;
    }

    /// Divides the file space among members as in the file space `other`: with the same ends of the
    /// members, and with the same assignment of kinds of data to members.
    pub(crate) fn spread_as(&mut self, other: &Self) {
        self.spread(&other.member_ends());
        if self.has_members() {
            self.members.takes = other.members.takes;
        }
    }

    /// Returns whether the file consists of several member files that each have an end of
    /// allocation (multi and split drivers).
    pub(crate) fn has_members(&self) -> bool {
        !self.members.others.is_empty()
    }

    /// Assigns new blocks of each kind to the file member that begins at the given address, or to
    /// the first member if no member begins there.
    pub(crate) fn assign(&mut self, kinds: &[(SpaceKind, u64)]) {
        for (kind, start) in kinds {
            let number = self.members.others.iter().position(|(other, _)| other == start);
            if let Some(member) = self.members.takes.get_mut(kind.index()) {
                *member = number.map_or(0, |number| number + 1);
            }
        }
    }

    /// Returns the start and the end of each member of the file. If the members do not have their
    /// own ends, the list is empty.
    pub(crate) fn member_ends(&self) -> Vec<MemberEnd> {
        if !self.has_members() {
            return Vec::new();
        }
        let others = self.members.others.iter();
        let others = others.map(|(start, space)| MemberEnd { start: *start, end: space.end });
        std::iter::once(MemberEnd { start: 0, end: self.end }).chain(others).collect()
    }

    /// Returns the end of allocation in the last member of the file that contains bytes.
    pub(crate) fn furthest(&self) -> u64 {
        let used = |(start, space): &(u64, Self)| (space.end > *start).then_some(space.end);
        self.members.others.iter().rev().find_map(used).unwrap_or(self.end)
    }

    /// Returns the end of the file for the new superblock. This is the end of the first member, but
    /// in files of HDF5 1.6 the end of the last member. `before` is the end in the old superblock,
    /// which decides between the two.
    pub(crate) fn stated_end(&self, before: Option<u64>) -> u64 {
        let second = self.members.others.first().map(|(start, _)| *start);
        let is_of_all = second.zip(before).is_some_and(|(second, before)| before > second);
        if is_of_all { self.furthest() } else { self.end }
    }

    /// Returns the file space of the member that takes new blocks of the kind `kind`, or `None` for
    /// the first member.
    pub(super) fn taking(&mut self, kind: SpaceKind) -> Option<&mut Self> {
        let number = self.members.takes.get(kind.index())?.checked_sub(1)?;
        self.members.others.get_mut(number).map(|(_, space)| space)
    }

    /// Returns the file space of the member that contains an address, or `None` for the first
    /// member.
    pub(super) fn holding(&mut self, address: Address) -> Option<&mut Self> {
        let address = address.get()?;
        let mut others = self.members.others.iter_mut().rev();
        others.find(|(start, _)| *start <= address).map(|(_, space)| space)
    }

    /// Returns the file spaces of all members except the first one.
    pub(super) fn others(&self) -> impl Iterator<Item = &Self> {
        self.members.others.iter().map(|(_, space)| space)
    }

    pub(super) fn others_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        self.members.others.iter_mut().map(|(_, space)| space)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::message::{FileSpaceInfo, FileSpaceStrategy};

    use super::super::BlockPlacement;
    use super::*;

    const RAW_START: u64 = u64::MAX / 2;

    fn split(metadata: u64, raw: u64) -> Space {
        let rules = Rules::new(&FileSpaceInfo::DEFAULT, BlockPlacement::default(), u64::MAX);
        let ends =
            [MemberEnd { start: 0, end: metadata }, MemberEnd { start: RAW_START, end: RAW_START + raw }];
        let mut space = Space::new(rules, metadata);
        space.spread(&ends);
        space.assign(&[
            (SpaceKind::RawData, RAW_START),
            (SpaceKind::GlobalHeap, RAW_START),
            (SpaceKind::BTree, 77),
        ]);
        space
    }

    #[test]
    fn each_kind_grows_its_member() {
        let mut space = split(3000, 500);
        assert_eq!(space.furthest(), RAW_START + 500);
        let raw = space.allocate(SpaceKind::RawData, 10_000).unwrap();
        assert_eq!(raw.raw(), RAW_START + 500);
        let tree = space.allocate(SpaceKind::BTree, 4000).unwrap();
        assert_eq!(tree.raw(), 3000);
        let ends = space.member_ends();
        assert_eq!(ends.iter().map(|member| member.end).collect::<Vec<_>>(), [7000, RAW_START + 10_500]);
        space.commit();
        space.free(SpaceKind::RawData, raw, 10_000);
        space.free(SpaceKind::BTree, tree, 4000);
        assert_eq!(space.usage().pending, 14_000);
        space.commit();
        assert_eq!((space.end(), space.furthest()), (3000, RAW_START + 500));
    }

    #[test]
    fn other_rules_leave_each_kind_in_its_member() {
        let info = FileSpaceInfo { strategy: FileSpaceStrategy::None, ..FileSpaceInfo::DEFAULT };
        let mut space = Space::new(Rules::new(&info, BlockPlacement::default(), u64::MAX), 3000);
        space.spread_as(&split(3000, 500));
        assert_eq!(space.allocate(SpaceKind::RawData, 10).unwrap().raw(), RAW_START + 500);
        assert_eq!(space.allocate(SpaceKind::BTree, 10).unwrap().raw(), 3000);
    }

    #[test]
    fn an_empty_member_is_no_end() {
        let mut space = split(3000, 0);
        assert_eq!(space.furthest(), 3000);
        assert_eq!(space.allocate(SpaceKind::GlobalHeap, 4096).unwrap().raw(), RAW_START);
        assert!(space.try_extend(SpaceKind::GlobalHeap, Address::new(RAW_START), 4096, 100).unwrap());
        assert_eq!(space.furthest(), RAW_START + 4196);
        assert!(space.try_shrink(SpaceKind::GlobalHeap, Address::new(RAW_START), 4196, 100));
        space.commit();
        assert_eq!((space.end(), space.furthest()), (3000, RAW_START + 100));
    }

    #[test]
    fn an_end_of_all_members_stays_one() {
        let rules = Rules::new(&FileSpaceInfo::DEFAULT, BlockPlacement::default(), u64::MAX);
        let mut space = Space::new(rules, RAW_START + 500);
        space.spread(&[
            MemberEnd { start: 0, end: 3000 },
            MemberEnd { start: RAW_START, end: RAW_START + 500 },
        ]);
        assert_eq!((space.end(), space.furthest()), (3000, RAW_START + 500));
        assert_eq!(space.stated_end(Some(RAW_START + 500)), RAW_START + 500);
        assert_eq!((space.stated_end(Some(3000)), space.stated_end(None)), (3000, 3000));
        assert_eq!(space.allocate(SpaceKind::BTree, 10_000).unwrap().raw(), 3000);
    }

    #[test]
    fn a_member_ends_where_the_next_one_begins() {
        let mut space = split(RAW_START - 10, 0);
        assert!(space.allocate(SpaceKind::BTree, 5000).is_err());
        assert!(space.allocate(SpaceKind::RawData, 5000).is_ok());
        assert!(space.allocate(SpaceKind::RawData, u64::MAX / 2).is_err());
    }
}
