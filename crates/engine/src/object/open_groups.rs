//! The open link editors of several groups, with a limit for their memory.

use std::collections::BTreeMap;

use hyperslab_format::codec::Address;

use super::group_edit::OpenLinks;
use crate::store::AddressMap;

/// Limit in bytes of the memory of the open link editors, without the editor that was used last.
/// Each of some thousand groups therefore collects many links, which are inserted together.
const MAX_BYTES: usize = 16 << 20;

/// Bytes of memory that remain when editors have been closed because of the limit. If only one
/// editor were closed, groups that change in turn would lose the editor of the next change.
const REMAINING_BYTES: usize = MAX_BYTES / 2;

/// The open link editors of groups, in the order of their last use.
#[derive(Debug, Default)]
pub(super) struct OpenGroups {
    /// The editor that was used last. Most changes affect the same group as the previous change.
    last: Option<Box<OpenLinks>>,
    others: AddressMap<Other>,
    /// The groups of the other editors by the number of their last use.
    by_use: BTreeMap<u64, Address>,
    /// The number of uses so far.
    uses: u64,
    /// Bytes of memory of the other editors.
    bytes: usize,
    /// True if the memory has exceeded its limit, and is not yet small enough.
    excessive: bool,
}

/// An open editor that was not used last.
#[derive(Debug)]
struct Other {
    links: Box<OpenLinks>,
    used: u64,
    bytes: usize,
}

impl OpenGroups {
    /// Returns the open editor of the group at `address`, which stays open.
    pub(super) fn get(&self, address: Address) -> Option<&OpenLinks> {
        match &self.last {
            Some(last) if last.address() == address => Some(last),
            _ => self.others.get(&address).map(|other| &*other.links),
        }
    }

    /// Removes and returns the open editor of the group at `address`.
    pub(super) fn take(&mut self, address: Address) -> Option<Box<OpenLinks>> {
        if self.last.as_ref().is_some_and(|last| last.address() == address) {
            return self.last.take();
        }
        let other = self.others.remove(&address)?;
        Some(self.forget(other))
    }

    /// Adds an editor, which becomes the editor that was used last. The group must not have an open
    /// editor.
    pub(super) fn keep(&mut self, links: Box<OpenLinks>) {
        let Some(before) = self.last.replace(links) else { return };
        // Neither sum overflows: a process does not count to 2^64, and memory is limited.
        self.uses += 1;
        let (address, bytes) = (before.address(), before.memory());
        self.bytes += bytes;
        self.by_use.insert(self.uses, address);
        self.others.insert(address, Other { links: before, used: self.uses, bytes });
    }

    /// Removes and returns the editor whose last use is the longest ago, from the call in which the
    /// memory of the editors exceeds its limit until enough memory is free. The editor of the group
    /// at `wanted` stays.
    pub(super) fn take_excess(&mut self, wanted: Address) -> Option<Box<OpenLinks>> {
        self.excessive = self.bytes > if self.excessive { REMAINING_BYTES } else { MAX_BYTES };
        if !self.excessive {
            return None;
        }
        let oldest = self.by_use.values().copied().find(|address| *address != wanted)?;
        self.others.remove(&oldest).map(|other| self.forget(other))
    }

    /// Removes and returns the editor whose last use is the longest ago.
    pub(super) fn take_oldest(&mut self) -> Option<Box<OpenLinks>> {
        match self.by_use.values().next().copied() {
            Some(oldest) => self.take(oldest),
            None => self.last.take(),
        }
    }

    /// Removes the numbers of an editor that is no longer in the table.
    fn forget(&mut self, other: Other) -> Box<OpenLinks> {
        self.by_use.remove(&other.used);
        // `keep` has added these bytes.
        self.bytes -= other.bytes;
        other.links
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_datatype::CharacterSet;

    use super::*;
    use crate::object::container::{Container, FileSettings};
    use crate::object::group_edit::{GroupEditor, GroupOptions, create_group};
    use crate::object::link::{Link, LinkTarget};
    use crate::store::image::new_file;
    use crate::versions::LibverBounds;

    fn container() -> Container {
        Container::new(new_file(LibverBounds::EARLIEST), FileSettings::default())
    }

    /// Adds a soft link with a target of the given length to a group in memory.
    fn link(container: &Container, groups: &mut OpenGroups, group: Address, number: usize, length: usize) {
        let mut edit = container.store.edit().unwrap();
        let mut editor = match groups.take(group) {
            Some(open) => GroupEditor::resume(container, open),
            None => GroupEditor::open(container, group).unwrap(),
        };
        let target = LinkTarget::Soft(vec![b't'; length]);
        let name = format!("link {number}").into_bytes();
        editor
            .insert(&mut edit, &Link { name, charset: CharacterSet::Ascii, creation_order: None, target })
            .unwrap();
        groups.keep(editor.suspend());
    }

    fn made(container: &Container, count: usize) -> Vec<Address> {
        let mut edit = container.store.edit().unwrap();
        (0..count).map(|_| create_group(container, &mut edit, &GroupOptions::default()).unwrap()).collect()
    }

    #[test]
    fn editors_in_turn_stay_open_until_their_memory_exceeds_its_limit() {
        let container = container();
        let (made, mut groups) = (made(&container, 100), OpenGroups::default());
        let (length, mut written, mut most) = (10_000, 0, 0);
        let links = 4_000;
        for number in 0..links {
            let group = made[number % made.len()];
            while let Some(excess) = groups.take_excess(group) {
                assert_ne!(excess.address(), group);
                GroupEditor::resume(&container, excess).finish(&mut container.store.edit().unwrap()).unwrap();
                written += 1;
            }
            link(&container, &mut groups, group, number, length);
            let sum: usize = groups.others.values().map(|other| other.links.memory()).sum();
            assert_eq!((groups.bytes, groups.by_use.len()), (sum, groups.others.len()));
            most = most.max(groups.bytes);
        }
        // The links need 40 MB. A written group has about a hundredth of the limit.
        let largest = 4 * MAX_BYTES / made.len();
        assert!(most <= MAX_BYTES + largest, "{most}");
        assert!((1..=2 * links * length * made.len() / MAX_BYTES).contains(&written), "{written}");
    }

    #[test]
    fn editors_leave_in_the_order_of_their_last_use() {
        let container = container();
        let (made, mut groups) = (made(&container, 4), OpenGroups::default());
        for (number, group) in [0, 1, 2, 1, 3, 0].into_iter().enumerate() {
            link(&container, &mut groups, made[group], number, 1);
        }
        assert!(groups.take_excess(made[0]).is_none());
        assert!(made.iter().all(|group| groups.get(*group).is_some()));
        for expected in [2, 1, 3, 0] {
            assert_eq!(groups.take_oldest().unwrap().address(), made[expected]);
            assert!(groups.get(made[expected]).is_none());
        }
        assert!(groups.take_oldest().is_none());
        assert_eq!(groups.bytes, 0);
    }
}
