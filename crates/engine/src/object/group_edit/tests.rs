//! Comparison of groups with maps of names, under random operations.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use hyperslab_format::codec::checksum;
use hyperslab_format::message::EstimatedEntries;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::object::container::FileSettings;
use crate::object::header_edit::AttributeOrder;
use crate::store::Store;
use crate::store::image::new_file;
use crate::versions::LibverBounds;

fn container(store: Store) -> Container {
    Container::new(store, FileSettings::default())
}

/// The expected links of a group with their creation order, and the next creation order.
#[derive(Debug, Clone, Default)]
struct Model {
    links: BTreeMap<Vec<u8>, (u64, LinkTarget)>,
    next: u64,
}

/// Returns the number of allocated bytes of the file.
fn taken(edit: &Edit<'_>) -> u64 {
    let usage = edit.usage();
    usage.end - usage.free - usage.pending
}

#[derive(Debug, Clone)]
enum Change {
    MakeGroup { parent: usize, name: usize },
    Soft { group: usize, name: usize, length: usize },
    External { group: usize, name: usize },
    Hard { group: usize, name: usize, target: usize },
    Remove { group: usize, nth: usize },
    Move { from: usize, nth: usize, to: usize, name: usize },
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let (group, name, nth) = (0..6_usize, 0..60_usize, 0..60_usize);
    let change = prop_oneof![
        2 => (group.clone(), name.clone()).prop_map(|(parent, name)| Change::MakeGroup { parent, name }),
        4 => (group.clone(), name.clone(), 1..700_usize)
            .prop_map(|(group, name, length)| Change::Soft { group, name, length }),
        1 => (group.clone(), name.clone()).prop_map(|(group, name)| Change::External { group, name }),
        2 => (group.clone(), name.clone(), group.clone())
            .prop_map(|(group, name, target)| Change::Hard { group, name, target }),
        4 => (group.clone(), nth.clone()).prop_map(|(group, nth)| Change::Remove { group, nth }),
        2 => (group.clone(), nth, group, name)
            .prop_map(|(from, nth, to, name)| Change::Move { from, nth, to, name }),
    ];
    proptest::collection::vec(change, 0..120)
}

fn name_of(number: usize) -> Vec<u8> {
    match number % 5 {
        4 => format!("{}{number}", "long".repeat(number * 2)).into_bytes(),
        _ => format!("name {number}").into_bytes(),
    }
}

/// A file and its expected content.
struct World<'c, 'e> {
    container: &'c Container,
    edit: Edit<'e>,
    groups: HashMap<Address, Model>,
    /// The groups in the order of their creation.
    order: Vec<Address>,
    options: GroupOptions,
}

impl World<'_, '_> {
    fn group(&self, number: usize) -> Address {
        self.order[number % self.order.len()]
    }

    fn make_group(&mut self) -> Address {
        let address = create_group(self.container, &mut self.edit, &self.options).unwrap();
        self.groups.insert(address, Model::default());
        self.order.push(address);
        address
    }

    fn insert(&mut self, group: Address, name: Vec<u8>, target: LinkTarget) -> bool {
        let charset = CharacterSet::Ascii;
        let link = Link { name: name.clone(), charset, creation_order: None, target: target.clone() };
        let taken = self.groups[&group].links.contains_key(&name);
        let result = insert_link(self.container, &mut self.edit, group, &link);
        assert_eq!(result.as_ref().err().map(Error::kind), taken.then_some(ErrorKind::Exists), "{result:?}");
        if !taken {
            let model = self.groups.get_mut(&group).unwrap();
            model.links.insert(name, (model.next, target));
            model.next += 1;
        }
        !taken
    }

    fn nth(&self, group: Address, nth: usize) -> Option<Vec<u8>> {
        let links = &self.groups[&group].links;
        links.keys().nth(nth.checked_rem(links.len())?).cloned()
    }

    fn take(&mut self, group: Address, name: &[u8]) -> LinkTarget {
        let model = self.groups.get_mut(&group).unwrap();
        let (_, target) = model.links.remove(name).unwrap();
        if model.links.is_empty() {
            model.next = 0;
        }
        target
    }

    /// Removes groups without links from the model.
    fn unlink(&mut self, target: LinkTarget) {
        let LinkTarget::Hard(address) = target else { return };
        if self.references(address) == 0 && address != self.order[0] {
            let Some(model) = self.groups.remove(&address) else { return };
            self.order.retain(|group| *group != address);
            for (_, (_, target)) in model.links {
                self.unlink(target);
            }
        }
    }

    fn references(&self, address: Address) -> usize {
        let all = self.groups.values().flat_map(|model| model.links.values());
        all.filter(|(_, target)| *target == LinkTarget::Hard(address)).count()
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::MakeGroup { parent, name } => {
                let parent = self.group(parent);
                if !self.groups[&parent].links.contains_key(&name_of(name)) {
                    let made = self.make_group();
                    assert!(self.insert(parent, name_of(name), LinkTarget::Hard(made)));
                }
            }
            Change::Soft { group, name, length } => {
                let group = self.group(group);
                self.insert(group, name_of(name), LinkTarget::Soft(vec![b'p'; length]));
            }
            Change::External { group, name } => {
                let group = self.group(group);
                let target = LinkTarget::External { file: b"other.h5".to_vec(), path: b"/there".to_vec() };
                self.insert(group, name_of(name), target);
            }
            Change::Hard { group, name, target } => self.hard(group, name, target),
            Change::Remove { group, nth } => {
                let group = self.group(group);
                let Some(name) = self.nth(group, nth) else { return };
                let target = self.take(group, &name);
                remove_link(self.container, &mut self.edit, group, &name, &mut |_, _| Ok(())).unwrap();
                self.unlink(target);
            }
            Change::Move { from, nth, to, name } => self.rename(from, nth, to, name),
        }
    }

    fn hard(&mut self, group: usize, name: usize, target: usize) {
        let (group, target, name) = (self.group(group), self.group(target), name_of(name));
        let taken = self.groups[&group].links.contains_key(&name);
        let ascii = CharacterSet::Ascii;
        let result = add_hard_link(self.container, &mut self.edit, group, &name, ascii, target);
        assert_eq!(result.is_err(), taken);
        if !taken {
            let model = self.groups.get_mut(&group).unwrap();
            model.links.insert(name, (model.next, LinkTarget::Hard(target)));
            model.next += 1;
        }
    }

    fn rename(&mut self, from: usize, nth: usize, to: usize, name: usize) {
        let (from, to, name) = (self.group(from), self.group(to), name_of(name));
        let Some(old) = self.nth(from, nth) else { return };
        let taken = self.groups[&to].links.contains_key(&name);
        let ascii = CharacterSet::Ascii;
        let result = move_link(self.container, &mut self.edit, (from, &old), (to, &name), ascii);
        assert_eq!(result.is_err(), taken, "{result:?}");
        if !taken {
            let target = self.take(from, &old);
            let model = self.groups.get_mut(&to).unwrap();
            model.links.insert(name, (model.next, target));
            model.next += 1;
        }
    }

    fn check(&self) {
        for (address, model) in &self.groups {
            let header = ObjectHeader::load(&self.container.store, *address).unwrap();
            let root = usize::from(*address == self.order[0]);
            let links = header.reference_count(&self.container.store).unwrap();
            assert_eq!(links as usize, self.references(*address) + root);
            let storage = GroupStorage::of(self.container, &header).unwrap();
            let tracked = storage.link_info().is_some_and(|info| info.max_creation_index.is_some());
            if tracked {
                assert_eq!(storage.link_info().unwrap().max_creation_index, Some(model.next));
            }
            let mut read = BTreeMap::new();
            group::for_each(self.container, &header, &mut |link| {
                assert_eq!(link.creation_order.is_some(), tracked);
                read.insert(link.name, (link.creation_order, link.target));
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
            let expected: BTreeMap<_, _> = model
                .links
                .iter()
                .map(|(name, (order, target))| (name.clone(), (tracked.then_some(*order), target.clone())))
                .collect();
            assert!(read == expected, "{read:?}\n{expected:?}");
            for name in model.links.keys() {
                assert_eq!(group::find(self.container, &header, name).unwrap().unwrap().name, *name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn groups_hold_what_the_model_holds(
        old in any::<bool>(),
        order in 0..3_usize,
        attribute_order in any::<bool>(),
        max_compact in 0..12_u16,
        changes in changes(),
    ) {
        let container =
            container(new_file(if old { LibverBounds::EARLIEST } else { LibverBounds::DEFAULT }));
        let edit = container.store.edit().unwrap();
        let before = taken(&edit);
        let options = GroupOptions {
            link_order: [LinkOrder::Untracked, LinkOrder::Tracked, LinkOrder::Indexed][order],
            phase_change: LinkPhaseChange { max_compact, min_dense: max_compact * 2 / 3 },
            attribute_order:
                if attribute_order { AttributeOrder::Tracked } else { AttributeOrder::Untracked },
            estimated: EstimatedEntries { count: 2, name_length: 6 },
            times: attribute_order,
            ..GroupOptions::default()
        };
        let mut world =
            World { container: &container, edit, groups: HashMap::new(), order: Vec::new(), options };
        let root = world.make_group();
        for change in changes {
            world.apply(change);
        }
        world.check();
        while let Some(name) = world.nth(root, 0) {
            let target = world.take(root, &name);
            remove_link(&container, &mut world.edit, root, &name, &mut |_, _| Ok(())).unwrap();
            world.unlink(target);
        }
        world.check();
        // Groups in a cycle of links stay, as in libhdf5.
        if world.groups.len() == 1 && world.references(root) == 0 {
            delete::drop_reference(&container, &mut world.edit, root, &mut |_, _| Ok(())).unwrap();
            prop_assert_eq!(taken(&world.edit), before, "all space was freed");
        }
    }
}

#[test]
fn names_of_the_same_hash_are_told_apart() {
    let mut seen = HashMap::new();
    let mut twins = Vec::new();
    for number in 0..400_000 {
        let name = format!("n{number}").into_bytes();
        if let Some(other) = seen.insert(checksum(&name), name.clone()) {
            twins.push((name, other));
        }
    }
    assert!(!twins.is_empty());
    let container = container(new_file(LibverBounds::DEFAULT));
    let mut edit = container.store.edit().unwrap();
    let phase_change = LinkPhaseChange { max_compact: 0, min_dense: 0 };
    let options = GroupOptions { phase_change, ..GroupOptions::default() };
    let group = create_group(&container, &mut edit, &options).unwrap();
    let link = |name: &[u8]| Link {
        name: name.to_vec(),
        charset: CharacterSet::Ascii,
        creation_order: None,
        target: LinkTarget::Soft(name.to_vec()),
    };
    for (one, other) in &twins {
        insert_link(&container, &mut edit, group, &link(one)).unwrap();
        insert_link(&container, &mut edit, group, &link(other)).unwrap();
    }
    for (one, other) in &twins {
        let again = insert_link(&container, &mut edit, group, &link(other)).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Exists);
        remove_link(&container, &mut edit, group, one, &mut |_, _| Ok(())).unwrap();
        let header = ObjectHeader::load(&container.store, group).unwrap();
        assert!(group::find(&container, &header, one).unwrap().is_none());
        assert_eq!(group::find(&container, &header, other).unwrap().unwrap().name, *other);
    }
}

#[test]
fn names_that_cannot_be_are_misuse() {
    for name in [&b""[..], b".", b"a/b", b"a\0b"] {
        assert_eq!(check_name(name).unwrap_err().kind(), ErrorKind::Misuse);
    }
    assert!(check_name(b"..").is_ok());
}
