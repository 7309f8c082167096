//! Comparison of trees with a map. Small nodes make the trees deep. Each step is followed by a
//! check of the invariants that libhdf5 relies on.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::codec::{Address, FormatError};
use proptest::prelude::*;

use super::{BTreeV2, BTreeV2Creation};
use crate::error::{Error, ErrorKind};
use crate::store::image::new_file_to_reopen;
use crate::store::{Edit, SpaceKind, Store};
use crate::versions::LibverBounds;

/// Returns a record of four bytes: a key of two bytes, and a value.
fn record(key: u16, value: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (key.to_be_bytes(), value.to_be_bytes());
    [a, b, c, d]
}

fn by_key(key: u16) -> impl FnMut(&[u8]) -> Result<Ordering, FormatError> {
    move |record| Ok(record[..2].cmp(&key.to_be_bytes()))
}

const SHAPES: [BTreeV2Creation; 4] = [
    BTreeV2Creation { node_size: 54, ..shape(100, 40) },
    BTreeV2Creation { node_size: 70, ..shape(100, 40) },
    BTreeV2Creation { node_size: 90, ..shape(100, 50) },
    BTreeV2Creation { node_size: 100, ..shape(70, 20) },
];

const fn shape(split_percent: u8, merge_percent: u8) -> BTreeV2Creation {
    BTreeV2Creation { record_type: 0, record_size: 4, node_size: 0, split_percent, merge_percent }
}

/// Checks every node, and that the tree has the records of the model.
fn check(store: &Store, tree: &BTreeV2, model: &BTreeMap<u16, u16>) {
    let mut records = Vec::new();
    tree.walk(store, &mut |record| {
        records.push(<[u8; 4]>::try_from(record).unwrap());
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    let expected: Vec<_> = model.iter().map(|(key, value)| record(*key, *value)).collect();
    assert_eq!(records, expected);
    let header = tree.header();
    assert_eq!(header.total_records, model.len() as u64);
    assert_eq!(header.root.is_defined(), !model.is_empty());
    let mut addresses = HashSet::new();
    for (level, child) in tree.nodes(store).unwrap() {
        assert!(addresses.insert(child.address));
        let node = tree.copy(store, level, child).unwrap();
        assert_eq!(node.entry(child.address, 4).unwrap(), child, "the pointer to the node");
        let root = child.address == header.root;
        assert!(child.records >= if root { 1 } else { tree.minimum(level) }, "{child:?} at level {level}");
        assert!(child.records <= tree.capacity(level), "{child:?} at level {level}");
        assert_eq!(node.children.len() as u64, if level == 0 { 0 } else { child.records + 1 });
    }
    assert_eq!(u64::from(header.root_records), tree.root().map_or(0, |root| root.records));
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u16),
    Set(u16, u16),
    Modify(u16, u16),
    Remove(u16),
    /// Appends this many records.
    Append(u16),
    Commit,
    /// First key, number of keys, and the operation: 0 inserts ascending keys, 1 inserts descending
    /// keys, 2 removes keys.
    Run(u16, u16, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0_u16..400;
    let step = prop_oneof![
        4 => key.clone().prop_map(Step::Insert),
        4 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Step::Set(key, value)),
        1 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Step::Modify(key, value)),
        5 => key.clone().prop_map(Step::Remove),
        1 => (0_u16..150).prop_map(Step::Append),
        1 => Just(Step::Commit),
        2 => (key, 0_u16..80, 0_u8..3).prop_map(|(from, count, kind)| Step::Run(from, count, kind)),
    ];
    prop::collection::vec(step, 1..60)
}

struct Run<'a> {
    edit: Edit<'a>,
    tree: BTreeV2,
    model: BTreeMap<u16, u16>,
}

impl Run<'_> {
    fn step(&mut self, step: &Step) {
        let Self { edit, tree, model } = self;
        match *step {
            Step::Insert(key) => {
                let new = !model.contains_key(&key);
                assert_eq!(tree.insert(edit, &record(key, 1), &mut by_key(key)).unwrap(), new);
                model.entry(key).or_insert(1);
            }
            Step::Set(key, value) => {
                let before = tree.set(edit, &record(key, value), &mut by_key(key)).unwrap();
                let expected = model.insert(key, value).map(|value| record(key, value).to_vec());
                assert_eq!(before, expected);
            }
            Step::Modify(key, value) => {
                let change = |place: &mut [u8]| place.copy_from_slice(&record(key, value));
                let was_found = tree.modify(edit, &mut by_key(key), change).unwrap().is_some();
                assert_eq!(was_found, model.contains_key(&key));
                model.entry(key).and_modify(|old| *old = value);
                let was_found = tree.get(edit.store(), &mut by_key(key)).unwrap();
                assert_eq!(was_found, model.get(&key).map(|value| record(key, *value).to_vec()));
            }
            Step::Remove(key) => {
                let expected = model.remove(&key).map(|value| record(key, value).to_vec());
                assert_eq!(tree.remove(edit, &mut by_key(key)).unwrap(), expected);
            }
            Step::Append(count) => {
                let start = model.last_key_value().map_or(0, |(key, _)| key + 1);
                tree.append(edit, count.into(), |tree| {
                    (start..start + count).try_for_each(|key| tree.push(&record(key, 2)))
                })
                .unwrap();
                model.extend((start..start + count).map(|key| (key, 2)));
            }
            Step::Commit => edit.commit().unwrap(),
            Step::Run(from, count, kind) => {
                for at in 0..count {
                    match kind {
                        0 => self.step(&Step::Insert(from + at)),
                        1 => self.step(&Step::Insert(from + count - at)),
                        _ => self.step(&Step::Remove(from + at)),
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_a_map(steps in steps(), shape in prop::sample::select(&SHAPES[..])) {
        let (store, reopen) = new_file_to_reopen(LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let tree = BTreeV2::create(&mut edit, &shape).unwrap();
        let mut run = Run { edit, tree, model: BTreeMap::new() };
        for step in &steps {
            run.step(step);
            check(&store, &run.tree, &run.model);
        }
        run.edit.commit().unwrap();
        let again = reopen();
        check(&again, &BTreeV2::open(&again, run.tree.address()).unwrap(), &run.model);
    }
}

#[test]
fn a_tree_that_is_deleted_gives_all_its_space_back() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    for shape in SHAPES {
        let mut edit = store.edit().unwrap();
        let start = edit.allocate(SpaceKind::BTree, 1).unwrap();
        edit.free(SpaceKind::BTree, start, 1).unwrap();
        let mut tree = BTreeV2::create(&mut edit, &shape).unwrap();
        let mut at = 7_u16;
        for round in 0..2000_u16 {
            at = at.wrapping_mul(181).wrapping_add(359);
            let key = at % 700;
            if round % 3 == 0 {
                tree.remove(&mut edit, &mut by_key(key)).unwrap();
            } else {
                tree.set(&mut edit, &record(key, round), &mut by_key(key)).unwrap();
            }
        }
        assert!(tree.header().depth > 1);
        let mut left = tree.header().total_records;
        let tree = BTreeV2::edit(&edit, tree.address()).unwrap();
        tree.delete(&mut edit, &mut |_, record| {
            assert_eq!(record.len(), 4);
            left -= 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(left, 0);
        assert_eq!(edit.allocate(SpaceKind::BTree, 1).unwrap(), start);
        edit.free(SpaceKind::BTree, start, 1).unwrap();
    }
}

#[test]
fn records_that_come_in_runs_fill_as_many_nodes_as_those_that_come_at_once() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    for shape in SHAPES {
        let nodes = |run: u16| {
            let mut edit = store.edit().unwrap();
            let mut tree = BTreeV2::create(&mut edit, &shape).unwrap();
            let mut model = BTreeMap::new();
            for first in (0..9000).step_by(run.into()) {
                tree.append(&mut edit, run.into(), |tree| {
                    (first..first + run).try_for_each(|key| tree.push(&record(key, 1)))
                })
                .unwrap();
                model.extend((first..first + run).map(|key| (key, 1)));
            }
            check(&store, &tree, &model);
            (tree.nodes(&store).unwrap().len(), usize::from(tree.header().depth))
        };
        let (at_once, depth) = nodes(9000);
        for run in [30, 50, 200, 1000] {
            assert!(nodes(run).0 <= at_once + depth, "{run} of {shape:?}: {} and {at_once}", nodes(run).0);
        }
    }
}

#[test]
fn an_error_changes_nothing() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let mut tree = BTreeV2::create(&mut edit, &SHAPES[0]).unwrap();
    let mut model = BTreeMap::new();
    for key in 0..200 {
        tree.insert(&mut edit, &record(key * 2, 0), &mut by_key(key * 2)).unwrap();
        model.insert(key * 2, 0);
    }
    let fail = |key: u16| {
        let (mut by, mut left) = (by_key(key), 6);
        move |record: &[u8]| {
            left -= 1;
            let error = || FormatError::Encode { structure: "test", field: "", got: String::new() };
            if left > 0 { by(record) } else { Err(error()) }
        }
    };
    assert!(tree.insert(&mut edit, &record(101, 0), &mut fail(101)).is_err());
    assert!(tree.set(&mut edit, &record(101, 0), &mut fail(101)).is_err());
    assert!(tree.remove(&mut edit, &mut fail(98)).is_err());
    let wrong = tree.insert(&mut edit, &[1, 2, 3], &mut by_key(5)).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Misuse);
    let stop = tree.append(&mut edit, 2, |tree| {
        tree.push(&record(1000, 3))?;
        tree.push(&record(1001, 3))?;
        Err(Error::Misuse("enough".into()))
    });
    assert!(stop.is_err());
    model.extend([(1000, 3), (1001, 3)]);
    check(&store, &tree, &model);
}

#[test]
fn a_damaged_neighbour_leaves_the_tree_as_it_was() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let mut tree = BTreeV2::create(&mut edit, &SHAPES[1]).unwrap();
    for key in 0..100 {
        tree.insert(&mut edit, &record(key, 0), &mut by_key(key)).unwrap();
    }
    let nodes = tree.nodes(&store).unwrap();
    let leaves: Vec<Address> =
        nodes.iter().filter(|(level, _)| *level == 0).map(|(_, leaf)| leaf.address).collect();
    for leaf in leaves.iter().step_by(2) {
        edit.write(*leaf, b"noise", "test").unwrap();
    }
    let mut failed = 0;
    for key in 0..100 {
        let before = tree.header().clone();
        match tree.remove(&mut edit, &mut by_key(key)) {
            Ok(_) => assert_eq!(tree.header().total_records + 1, before.total_records),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                assert_eq!(*tree.header(), before);
                failed += 1;
            }
        }
    }
    assert!(failed > 10);
    assert!(tree.delete(&mut edit, &mut |_, _| panic!("nothing is deleted")).is_err());
}

#[test]
fn nodes_too_small_for_two_records_are_refused() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    for node_size in [10, 14, 17] {
        let made = BTreeV2::create(&mut edit, &BTreeV2Creation { node_size, ..SHAPES[0] });
        assert_eq!(made.unwrap_err().kind(), ErrorKind::Corrupt);
    }
    // Five records in a leaf, one in an internal node: the tree cannot get another level.
    let mut tree = BTreeV2::create(&mut edit, &BTreeV2Creation { node_size: 32, ..SHAPES[0] }).unwrap();
    let mut model = BTreeMap::new();
    for key in 0..100 {
        if tree.insert(&mut edit, &record(key, 0), &mut by_key(key)).is_err() {
            break;
        }
        model.insert(key, 0);
    }
    assert!(model.len() < 100);
    check(&store, &tree, &model);
}

#[test]
fn a_wrong_count_leaves_the_tree_as_it_was() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    for (keys, total) in [(3, 0), (3, u64::MAX), (100, 0), (100, u64::MAX)] {
        let mut tree = BTreeV2::create(&mut edit, &SHAPES[1]).unwrap();
        for key in 0..keys {
            tree.insert(&mut edit, &record(key * 2, 0), &mut by_key(key * 2)).unwrap();
        }
        let params = edit.params();
        edit.modify(tree.address(), &params, |header: &mut BTreeV2Header| header.total_records = total)
            .unwrap();
        let mut tree = BTreeV2::edit(&edit, tree.address()).unwrap();
        let before = tree.header().clone();
        let failed = if total == 0 {
            tree.remove(&mut edit, &mut by_key(0)).map(drop)
        } else {
            tree.insert(&mut edit, &record(1, 0), &mut by_key(1)).map(drop)
        };
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Corrupt, "{keys} {total}");
        assert_eq!(*tree.header(), before);
        let mut found = 0;
        tree.walk(&store, &mut |_| {
            found += 1;
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(found, keys);
    }
}

#[test]
fn nodes_have_at_most_as_many_records_as_the_header_can_count() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let mut tree = BTreeV2::create(&mut edit, &BTreeV2Creation { node_size: 1 << 19, ..SHAPES[0] }).unwrap();
    tree.append(&mut edit, 65_535, |tree| (0..65_535).try_for_each(|key| tree.push(&record(key, 0))))
        .unwrap();
    assert_eq!((tree.header().depth, tree.header().root_records), (0, 65_535));
    assert!(tree.insert(&mut edit, &record(65_535, 0), &mut by_key(65_535)).unwrap());
    let header = tree.header();
    assert_eq!((header.depth, header.root_records, header.total_records), (1, 1, 65_536));
}
