//! Files whose kinds of data lie in several member files: each member has a range of addresses, with an end of its own.

use hyperslab_format::codec::Address;
use hyperslab_format::driver_info::MultiInformation;

use super::persist::MessageLocation;
use super::rules::SpaceKind;
use super::{Rules, Space};

/// The members behind the first one, and what each is for.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The address at which each begins, and its space, ascending.
    others: Vec<(u64, Space)>,
    /// Which member takes new blocks of each kind; 0 is the first one.
    takes: [usize; SpaceKind::ALL.len()],
}

/// Where a member begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemberEnd {
    /// The address of its first byte.
    pub(crate) start: u64,
    /// The address behind the last byte that is given away.
    pub(crate) end: u64,
}

/// The statement of a file about its members, and its location.
#[derive(Debug)]
pub(crate) struct StatedMembers {
    pub(crate) information: MultiInformation,
    pub(crate) location: MembersLocation,
}

/// The location of a file's statement about its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MembersLocation {
    /// The driver information block at an address.
    Block(Address),
    /// A message of the superblock extension.
    Message(MessageLocation),
}

impl Members {
    /// The members of a file of those rules, the first of which is left out; and the address at which that one has to end.
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
    /// Spreads the space over members with those ends, the first of which it keeps itself. New blocks go there.
    pub(crate) fn spread(&mut self, ends: &[MemberEnd]) {
        if ends.len() < 2 {
            return;
        }
        let (members, limit) = Members::new(self.rules, ends);
        self.rules.limit = limit;
        if self.end > limit {
            // What the superblock states is the end of all members.
            *self = Self::new(self.rules, ends.first().map_or(0, |first| first.end));
        }
        self.members = members;
    }

    /// Spreads the space over the members that another one of the same file has, each for the same kinds.
    pub(crate) fn spread_as(&mut self, other: &Self) {
        self.spread(&other.member_ends());
        if self.has_members() {
            self.members.takes = other.members.takes;
        }
    }

    /// Returns whether members have ends of their own.
    pub(crate) fn has_members(&self) -> bool {
        !self.members.others.is_empty()
    }

    /// From now on, new blocks of each kind go to the member that begins at the address beside it, if there is one.
    pub(crate) fn assign(&mut self, kinds: &[(SpaceKind, u64)]) {
        for (kind, start) in kinds {
            let number = self.members.others.iter().position(|(other, _)| other == start);
            if let Some(member) = self.members.takes.get_mut(kind.index()) {
                *member = number.map_or(0, |number| number + 1);
            }
        }
    }

    /// Where each member ends; nothing, if the file has no such members.
    pub(crate) fn member_ends(&self) -> Vec<MemberEnd> {
        if !self.has_members() {
            return Vec::new();
        }
        let others = self.members.others.iter();
        let others = others.map(|(start, space)| MemberEnd { start: *start, end: space.end });
        std::iter::once(MemberEnd { start: 0, end: self.end }).chain(others).collect()
    }

    /// The first byte behind all that is given away, in whichever member.
    pub(crate) fn furthest(&self) -> u64 {
        let used = |(start, space): &(u64, Self)| (space.end > *start).then_some(space.end);
        self.members.others.iter().rev().find_map(used).unwrap_or(self.end)
    }

    /// The end that a superblock states which stated that one before: that of the first member, or of the last one in files of
    /// HDF5 1.6.
    pub(crate) fn stated_end(&self, before: Option<u64>) -> u64 {
        let second = self.members.others.first().map(|(start, _)| *start);
        let is_of_all = second.zip(before).is_some_and(|(second, before)| before > second);
        if is_of_all { self.furthest() } else { self.end }
    }

    /// The space that new blocks of that kind come from, where it is not this one.
    pub(super) fn taking(&mut self, kind: SpaceKind) -> Option<&mut Self> {
        let number = self.members.takes.get(kind.index())?.checked_sub(1)?;
        self.members.others.get_mut(number).map(|(_, space)| space)
    }

    /// The space that has that address, where it is not this one.
    pub(super) fn holding(&mut self, address: Address) -> Option<&mut Self> {
        let address = address.get()?;
        let mut others = self.members.others.iter_mut().rev();
        others.find(|(start, _)| *start <= address).map(|(_, space)| space)
    }

    /// The spaces of the other members.
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

    use super::super::Placement;
    use super::*;

    const RAW: u64 = u64::MAX / 2;

    fn split(metadata: u64, raw: u64) -> Space {
        let rules = Rules::new(&FileSpaceInfo::DEFAULT, Placement::default(), u64::MAX);
        let ends = [MemberEnd { start: 0, end: metadata }, MemberEnd { start: RAW, end: RAW + raw }];
        let mut space = Space::new(rules, metadata);
        space.spread(&ends);
        space.assign(&[(SpaceKind::RawData, RAW), (SpaceKind::GlobalHeap, RAW), (SpaceKind::BTree, 77)]);
        space
    }

    #[test]
    fn each_kind_grows_its_member() {
        let mut space = split(3000, 500);
        assert_eq!(space.furthest(), RAW + 500);
        let raw = space.allocate(SpaceKind::RawData, 10_000).unwrap();
        assert_eq!(raw.raw(), RAW + 500);
        let tree = space.allocate(SpaceKind::BTree, 4000).unwrap();
        assert_eq!(tree.raw(), 3000);
        let ends = space.member_ends();
        assert_eq!(ends.iter().map(|member| member.end).collect::<Vec<_>>(), [7000, RAW + 10_500]);
        space.commit();
        space.free(SpaceKind::RawData, raw, 10_000);
        space.free(SpaceKind::BTree, tree, 4000);
        assert_eq!(space.usage().pending, 14_000);
        space.commit();
        assert_eq!((space.end(), space.furthest()), (3000, RAW + 500));
    }

    #[test]
    fn other_rules_leave_each_kind_in_its_member() {
        let info = FileSpaceInfo { strategy: FileSpaceStrategy::None, ..FileSpaceInfo::DEFAULT };
        let mut space = Space::new(Rules::new(&info, Placement::default(), u64::MAX), 3000);
        space.spread_as(&split(3000, 500));
        assert_eq!(space.allocate(SpaceKind::RawData, 10).unwrap().raw(), RAW + 500);
        assert_eq!(space.allocate(SpaceKind::BTree, 10).unwrap().raw(), 3000);
    }

    #[test]
    fn an_empty_member_is_no_end() {
        let mut space = split(3000, 0);
        assert_eq!(space.furthest(), 3000);
        assert_eq!(space.allocate(SpaceKind::GlobalHeap, 4096).unwrap().raw(), RAW);
        assert!(space.try_extend(SpaceKind::GlobalHeap, Address::new(RAW), 4096, 100).unwrap());
        assert_eq!(space.furthest(), RAW + 4196);
        assert!(space.try_shrink(SpaceKind::GlobalHeap, Address::new(RAW), 4196, 100));
        space.commit();
        assert_eq!((space.end(), space.furthest()), (3000, RAW + 100));
    }

    #[test]
    fn an_end_of_all_members_stays_one() {
        let rules = Rules::new(&FileSpaceInfo::DEFAULT, Placement::default(), u64::MAX);
        let mut space = Space::new(rules, RAW + 500);
        space.spread(&[MemberEnd { start: 0, end: 3000 }, MemberEnd { start: RAW, end: RAW + 500 }]);
        assert_eq!((space.end(), space.furthest()), (3000, RAW + 500));
        assert_eq!(space.stated_end(Some(RAW + 500)), RAW + 500);
        assert_eq!((space.stated_end(Some(3000)), space.stated_end(None)), (3000, 3000));
        assert_eq!(space.allocate(SpaceKind::BTree, 10_000).unwrap().raw(), 3000);
    }

    #[test]
    fn a_member_ends_where_the_next_one_begins() {
        let mut space = split(RAW - 10, 0);
        assert!(space.allocate(SpaceKind::BTree, 5000).is_err());
        assert!(space.allocate(SpaceKind::RawData, 5000).is_ok());
        assert!(space.allocate(SpaceKind::RawData, u64::MAX / 2).is_err());
    }
}
