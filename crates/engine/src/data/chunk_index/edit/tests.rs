//! Tests of each kind of index: random changes, and opening the changed index again.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_dataspace::Region;
use hyperslab_format::message::{
    BTreeV2Parameters, ChunkFlags, ExtensibleArrayParameters, FilteredChunk, FixedArrayParameters,
};
use proptest::prelude::*;

use super::super::conformance::{self, Chance, Draw};
use super::super::{ChunkIndex, open};
use super::*;
use crate::error::ErrorKind;
use crate::store::SpaceKind;
use crate::store::image::{new_file, new_file_of_widths};
use crate::versions::LibverBounds;

/// An entry whose indexes are tested.
pub(super) trait Tested: Entry {
    /// Opens the index for reading, if there is one.
    fn index(store: &Store, case: &Case<Self>) -> Result<Option<Arc<dyn ChunkIndex<Self>>>>;

    /// Opens the index for changes.
    fn editor(store: &Store, case: &Case<Self>) -> Result<ChunkIndexEditor<Self>>;

    /// Returns an entry that the index can represent, a different one for each number.
    fn location(case: &Case<Self>, at: u64) -> Self;

    /// Returns the address of the index in the layout.
    fn layout_address(layout: &Self::Layout) -> Address;

    /// Checks further properties of the index.
    fn check(_case: &Case<Self>, _store: &Store, _layout: &Self::Layout) {}
}

/// A dataset and its grid of chunks.
#[derive(Debug, Clone)]
pub(super) struct Case<E: Entry> {
    pub(super) layout: E::Layout,
    pub(super) shape: ChunkShape,
    pub(super) counts: Vec<u64>,
    pub(super) params: FileParams,
}

const CHUNK_BYTES: u64 = 24;

impl Tested for ChunkLocation {
    fn index(store: &Store, case: &Case<Self>) -> Result<Option<Arc<dyn ChunkIndex>>> {
        open(store, &case.layout, &case.shape)
    }

    fn editor(store: &Store, case: &Case<Self>) -> Result<ChunkIndexEditor> {
        <ChunkIndexEditor>::open(store, &case.layout, &case.shape)
    }

    fn location(case: &Case<Self>, at: u64) -> Self {
        let address = Address::new(1 << 20 | at);
        if case.shape.size_width.is_none() {
            return Self { address, size: CHUNK_BYTES, filter_mask: 0 };
        }
        Self { address, size: at % 100, filter_mask: u32::try_from(at % 4).unwrap() }
    }

    fn layout_address(layout: &ChunkedLayout) -> Address {
        layout.address
    }

    fn check(case: &Case<Self>, store: &Store, layout: &ChunkedLayout) {
        check_chain(case, store, layout);
    }
}

/// Returns a case with chunks of 2 x 3 elements of 4 bytes.
fn case(
    index: ChunkIndexParameters,
    max_dims: [Option<u64>; 2],
    filtered: bool,
    counts: [u64; 2],
) -> Case<ChunkLocation> {
    let layout = ChunkedLayout {
        dims: Dims::from_slice(&[2, 3]),
        element_size: 4,
        flags: ChunkFlags::empty(),
        dimension_width: 4,
        index,
        address: Address::UNDEFINED,
    };
    let shape =
        ChunkShape { max_dims: max_dims.to_vec(), chunk_bytes: CHUNK_BYTES, btree_k: 2, size_width: None };
    let sized = filtered || index == ChunkIndexParameters::BTreeV1;
    let shape = ChunkShape { size_width: sized.then_some(3), ..shape };
    Case { layout, shape, counts: counts.to_vec(), params: FileParams::DEFAULT }
}

fn cases() -> Vec<Case<ChunkLocation>> {
    let mut cases = Vec::new();
    for filtered in [false, true] {
        let mut add = |index, max_dims, counts| cases.push(case(index, max_dims, filtered, counts));
        let (fixed, some, more) = ([Some(20), Some(30)], Some(21), None);
        add(ChunkIndexParameters::BTreeV1, [None, None], [12, 9]);
        let chunk = FilteredChunk { size: 0, filter_mask: 0 };
        add(ChunkIndexParameters::Single(filtered.then_some(chunk)), [Some(2), Some(3)], [1, 1]);
        for page_bits in [2, 4, 10] {
            add(ChunkIndexParameters::FixedArray(FixedArrayParameters { page_bits }), fixed, [10, 10]);
        }
        let small = ExtensibleArrayParameters {
            max_bits: 20,
            index_elements: 2,
            min_pointers: 2,
            min_elements: 2,
            page_bits: 3,
        };
        for parameters in [small, ExtensibleArrayParameters::DEFAULT] {
            add(ChunkIndexParameters::ExtensibleArray(parameters), [more, some], [30, 7]);
            add(ChunkIndexParameters::ExtensibleArray(parameters), [some, more], [11, 20]);
        }
        let small = BTreeV2Parameters { node_size: 130, split_percent: 100, merge_percent: 40 };
        for parameters in [small, BTreeV2Parameters::DEFAULT] {
            add(ChunkIndexParameters::BTreeV2(parameters), [None, None], [15, 11]);
        }
    }
    cases
}

impl<E: Tested> Case<E> {
    pub(super) fn editor(&self, store: &Store) -> ChunkIndexEditor<E> {
        E::editor(store, self).unwrap()
    }

    pub(super) fn location(&self, at: u64) -> E {
        E::location(self, at)
    }

    fn is_one_chunk(&self) -> bool {
        self.counts.iter().all(|count| *count == 1)
    }
}

pub(super) fn found<E: Tested>(editor: &ChunkIndexEditor<E>, store: &Store) -> BTreeMap<Dims, E> {
    editor.collect(store).unwrap().into_iter().collect()
}

/// Checks the nodes of a version 1 B-tree: a node ends with the first key of the next node, and
/// parents repeat this key.
fn check_chain(case: &Case<ChunkLocation>, store: &Store, layout: &ChunkedLayout) {
    if case.layout.index != ChunkIndexParameters::BTreeV1 || !layout.address.is_defined() {
        return;
    }
    let tree = BTreeV1Edit::new(store.params(), layout, case.shape.btree_k);
    let undefined = Address::UNDEFINED;
    let mut level = vec![(layout.address, undefined, undefined, None)];
    let mut above = None;
    while !level.is_empty() {
        let mut below: Vec<(Address, Address, Address, Option<[Dims; 2]>)> = Vec::new();
        for (address, left, right, ends) in &level {
            let node = tree.node(store, *address, above).unwrap();
            let keys = node.keys.as_chunks().unwrap();
            let key = |at: usize| Dims::from_slice(keys.offset(at).unwrap());
            assert_eq!((node.left, node.right), (*left, *right), "neighbours of {address}");
            assert_eq!(keys.len(), node.children.len() + 1);
            assert!((1..keys.len()).all(|at| key(at - 1) < key(at)));
            if let Some(ends) = ends {
                assert!(!node.children.is_empty());
                assert_eq!([key(0), key(node.children.len())], *ends, "keys of {address}");
            }
            for (at, child) in node.children.iter().enumerate().filter(|_| node.level > 0) {
                if let Some(last) = below.last_mut() {
                    last.2 = *child;
                }
                let before = below.last().map_or(undefined, |before| before.0);
                below.push((*child, before, undefined, Some([key(at), key(at + 1)])));
            }
        }
        above = tree.node(store, level[0].0, above).map(|node| Some(node.level)).unwrap();
        for pair in below.windows(2) {
            assert_eq!(pair[0].3.as_ref().unwrap()[1], pair[1].3.as_ref().unwrap()[0]);
        }
        level = below;
    }
}

/// Checks `has_none_of` for runs of chunks of several lengths.
fn check_absence<E: Tested>(
    case: &Case<E>,
    editor: &ChunkIndexEditor<E>,
    store: &Store,
    model: &BTreeMap<Dims, E>,
) {
    let all = Region::whole(&case.counts).coordinates().map(|scaled| (scaled, case.location(0)));
    let all: Vec<(Dims, E)> = all.collect();
    for length in [1, 3, 40, all.len()] {
        for chunks in all.chunks(length) {
            let none = chunks.iter().all(|(scaled, _)| !model.contains_key(scaled));
            assert_eq!(editor.has_none_of(store, chunks).unwrap(), none, "{chunks:?}");
        }
        let after = all.get(all.len().saturating_sub(length)..).unwrap();
        let none = after.iter().all(|(scaled, _)| !model.contains_key(scaled));
        assert_eq!(editor.has_none_of(store, after).unwrap(), none, "{after:?}");
    }
}

fn end(edit: &mut Edit<'_>) -> Address {
    let end = edit.allocate(SpaceKind::RawData, 1).unwrap();
    edit.free(SpaceKind::RawData, end, 1).unwrap();
    end
}

/// Changes the index, commits, reads the index back, changes it again, and deletes it.
pub(super) fn run<E: Tested>(mut case: Case<E>, seed: u64, steps: usize) {
    let (store, reopen) = new_file_of_widths(case.params, LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let start = end(&mut edit);
    let mut chance = Chance::new(seed);
    let mut model = BTreeMap::new();
    for _ in 0..3 {
        let mut editor = case.editor(&store);
        let location = |chance: &mut Chance| case.location(chance.below(1 << 30));
        let draw = Draw { location: &location, steps, chance: &mut chance };
        model = conformance::change(&mut edit, &mut editor, &case.counts, model, draw).unwrap();
        case.layout = editor.layout().clone();
        E::check(&case, &store, &case.layout);
        check_absence(&case, &editor, &store, &model);
        edit.commit().unwrap();
        let again = reopen();
        match E::index(&again, &case).unwrap() {
            None => assert!(model.is_empty()),
            Some(index) => {
                let stored = conformance::run(&again, &*index, &case.counts).unwrap();
                assert_eq!(stored, model.len());
            }
        }
        assert_eq!(found(&case.editor(&again), &again), model);
    }
    let mut editor = case.editor(&store);
    let mut remaining = model.len();
    editor
        .delete_with(&mut edit, &mut |_, scaled, location| {
            assert_eq!(model.get(scaled), Some(&location));
            remaining -= 1;
            Ok(())
        })
        .unwrap();
    assert_eq!((remaining, E::layout_address(editor.layout())), (0, Address::UNDEFINED));
    edit.commit().unwrap();
    assert!(end(&mut edit) <= start, "all space is given back");
}

/// Checks the size of a location, because millions of locations are in memory.
#[test]
fn the_location_of_a_chunk_is_three_words() {
    assert_eq!(size_of::<ChunkLocation>(), 24);
}

#[test]
fn every_index_is_a_map() {
    for (seed, case) in (0..).zip(cases()) {
        run(case, seed, 60);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_index_is_a_map_whatever_comes(
        case in prop::sample::select(cases()),
        seed in any::<u64>(),
        steps in 1_usize..80,
    ) {
        run(case, seed, steps);
    }
}

#[test]
fn chunks_in_order_one_by_one_and_at_once_give_the_same() {
    for mut case in cases() {
        case.shape.btree_k = 4;
        insert_in_order(&case);
    }
}

pub(super) fn insert_in_order<E: Tested>(case: &Case<E>) {
    if case.is_one_chunk() {
        return;
    }
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let chunks: Vec<_> = (0..)
        .zip(Region::whole(&case.counts).coordinates())
        .map(|(number, scaled)| (scaled, case.location(number)))
        .collect();
    let start = end(&mut edit).raw();
    let mut single = case.editor(&store);
    for (scaled, location) in &chunks {
        assert_eq!(single.set(&mut edit, scaled, location).unwrap(), None);
    }
    let middle = end(&mut edit).raw();
    let mut bulk = case.editor(&store);
    for part in chunks.chunks(37) {
        bulk.insert(&mut edit, part).unwrap();
    }
    let after = end(&mut edit).raw();
    assert!(after - middle <= (middle - start) * 11 / 10, "{case:?}");
    assert_eq!(found(&single, &store), chunks.iter().cloned().collect());
    assert_eq!(found(&bulk, &store), found(&single, &store));
}

#[test]
fn shifted_chunks_are_found_at_their_new_places() {
    cases().iter().for_each(shift);
}

pub(super) fn shift<E: Tested>(case: &Case<E>) {
    if case.is_one_chunk() {
        return;
    }
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let mut editor = case.editor(&store);
    let counts: Vec<u64> = case.counts.iter().map(|count| count / 2).collect();
    let region = Region::whole(&counts);
    let chunks: BTreeMap<_, _> = (0..)
        .zip(region.coordinates())
        .filter(|(number, _)| number % 3 != 1)
        .map(|(number, scaled)| (scaled, case.location(number)))
        .collect();
    editor.insert(&mut edit, &chunks.clone().into_iter().collect::<Vec<_>>()).unwrap();
    for axis in 0..counts.len() {
        let by = case.counts[axis].div_ceil(2).min(2);
        editor.shift(&mut edit, axis, by.cast_signed()).unwrap();
        let mut moved = chunks.clone();
        moved = moved
            .into_iter()
            .map(|(mut scaled, location)| {
                scaled[axis] += by;
                (scaled, location)
            })
            .collect();
        assert_eq!(found(&editor, &store), moved, "{case:?}");
        let before = editor.layout().clone();
        assert_eq!(editor.shift(&mut edit, axis, -3).unwrap_err().kind(), ErrorKind::Misuse);
        assert_eq!(*editor.layout(), before);
        editor.shift(&mut edit, axis, -by.cast_signed()).unwrap();
        assert_eq!(found(&editor, &store), chunks);
    }
}

#[test]
fn places_that_an_index_cannot_say_are_refused() {
    for case in cases() {
        let store = new_file(LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let mut editor = case.editor(&store);
        let good = case.location(0);
        editor.set(&mut edit, &[0, 0], &good).unwrap();
        let mut refused = |scaled: &[u64], location: ChunkLocation| {
            let error = editor.set(&mut edit, scaled, &location).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Misuse | ErrorKind::Corrupt), "{case:?}: {error}");
            assert_eq!(editor.get(&store, &[0, 0]).unwrap(), Some(good));
        };
        refused(&[0], good);
        refused(&[0, 0], ChunkLocation { address: Address::UNDEFINED, ..good });
        if case.shape.size_width.is_none() {
            refused(&[0, 0], ChunkLocation { size: CHUNK_BYTES + 1, ..good });
            refused(&[0, 0], ChunkLocation { filter_mask: 1, ..good });
        } else if !matches!(editor.kind(), ChunkIndexKind::Single) {
            let large = editor.set(&mut edit, &[0, 0], &ChunkLocation { size: 1 << 40, ..good });
            assert_eq!(large.unwrap_err().kind(), ErrorKind::Misuse, "{case:?}");
        }
        if case.shape.max_dims.iter().all(Option::is_some) {
            assert!(editor.set(&mut edit, &[10, 10], &good).is_err(), "{case:?}");
        }
    }
}

#[test]
fn chunks_side_by_side() {
    let case = case(ChunkIndexParameters::Implicit, [Some(20), Some(30)], false, [10, 10]);
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let blocks = edit.allocate_blocks(SpaceKind::RawData, CHUNK_BYTES, 100).unwrap();
    let locations = Region::whole(&case.counts).coordinates().zip(blocks);
    let chunks: Vec<_> = locations
        .map(|(scaled, address)| (scaled, ChunkLocation { address, size: CHUNK_BYTES, filter_mask: 0 }))
        .collect();
    let mut editor = case.editor(&store);
    assert!(editor.is_empty() && found(&editor, &store).is_empty());
    editor.insert(&mut edit, &chunks).unwrap();
    assert_eq!(editor.layout().address, chunks[0].1.address);
    assert_eq!(found(&editor, &store), chunks.iter().cloned().collect());
    let elsewhere = ChunkLocation { address: chunks[3].1.address, ..chunks[2].1 };
    assert_eq!(editor.set(&mut edit, &chunks[2].0, &elsewhere).unwrap_err().kind(), ErrorKind::Misuse);
    assert_eq!(editor.remove(&mut edit, &chunks[2].0).unwrap(), None);
    assert_eq!(editor.shift(&mut edit, 0, 1).unwrap_err().kind(), ErrorKind::Unsupported);
    editor.delete(&mut edit).unwrap();
    assert!(editor.is_empty());
    assert_eq!(end(&mut edit), chunks[0].1.address);
}
