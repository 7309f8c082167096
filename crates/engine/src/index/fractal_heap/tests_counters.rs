//! Wrong counters of heap headers, and sections that cannot be in one list.

use hyperslab_format::codec::FormatError;
use hyperslab_format::fractal_heap::FractalHeapHeader;

use super::free_sections::FreeSections;
use super::tests::{Objects, small, verify};
use super::*;
use crate::error::ErrorKind;
use crate::store::image::new_file;
use crate::versions::LibverBounds;

#[test]
fn a_wrong_counter_leaves_the_heap_as_it_was() {
    type Damage = fn(&mut FractalHeapHeader);
    const ADDED: [(usize, Damage); 5] = [
        (50, |header| header.managed_objects = u64::MAX),
        (3, |header| header.tiny_objects = u64::MAX),
        (3, |header| header.tiny_size = u64::MAX),
        (300, |header| header.huge_objects = u64::MAX),
        (300, |header| header.huge_size = u64::MAX),
    ];
    const REMOVED: [(usize, Damage); 6] = [
        (50, |header| header.free_space = u64::MAX),
        (50, |header| header.managed_objects = 0),
        (3, |header| header.tiny_objects = 0),
        (3, |header| header.tiny_size = 0),
        (300, |header| header.huge_objects = 0),
        (300, |header| header.huge_size = 0),
    ];
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let address = FractalHeap::create(&mut edit, &small()).unwrap();
    let lengths = [50, 51, 3, 2, 300, 301];
    let mut objects = Objects::new();
    for length in lengths {
        let bytes = vec![7; length];
        objects.insert(FractalHeap::insert(&mut edit, address, &bytes).unwrap(), bytes);
    }
    let context = FractalHeap::open(&store, address).unwrap().changed_context(edit.params()).unwrap();
    let good = FractalHeap::open(&store, address).unwrap().header().clone();
    for (number, (length, damage)) in ADDED.into_iter().chain(REMOVED).enumerate() {
        edit.modify(address, &context, |heap: &mut FractalHeap| damage(&mut heap.header)).unwrap();
        let before = FractalHeap::open(&store, address).unwrap().header().clone();
        let used = edit.usage().allocated();
        let changed = if number < ADDED.len() {
            FractalHeap::insert(&mut edit, address, &vec![9; length]).map(drop)
        } else {
            let (id, _) = objects.iter().find(|(_, bytes)| bytes.len() == length).unwrap();
            FractalHeap::remove(&mut edit, address, id)
        };
        assert_eq!(changed.unwrap_err().kind(), ErrorKind::Corrupt, "damage {number}");
        assert_eq!(FractalHeap::open(&store, address).unwrap().header(), &before, "damage {number}");
        assert_eq!(edit.usage().allocated(), used, "damage {number}");
        edit.modify(address, &context, |heap: &mut FractalHeap| heap.header = good.clone()).unwrap();
        verify(&store, address, &objects);
    }
}

#[test]
fn sections_that_overlap_in_their_offsets_are_refused() {
    let mut sections = FreeSections::default();
    sections.add_single(100, 20).unwrap();
    assert!(matches!(sections.add_single(100, 30), Err(FormatError::Corrupt(_))));
    assert!(matches!(sections.add_single(u64::MAX, 2), Err(FormatError::Corrupt(_))));
    assert_eq!((sections.totals().space, sections.totals().stored), (20, 1));
    assert_eq!(sections.release(120, 10, (50, 200)).unwrap(), Some(30));
    assert_eq!(sections.release(110, 5, (50, 200)).unwrap(), None);
    sections.remove_single(100).unwrap();
    assert!(sections.is_empty());
}

/// Checks insertions and removals of fractal heap objects while the heap header states no free
/// space. libhdf5 writes such a header for a heap whose root was an indirect block.
#[test]
fn wrong_counters_of_space_are_no_error() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let address = FractalHeap::create(&mut edit, &small()).unwrap();
    let mut objects = Objects::new();
    for number in 0..40_u8 {
        let context = FractalHeap::open(&store, address).unwrap().changed_context(edit.params()).unwrap();
        let damage = |heap: &mut FractalHeap| (heap.header.free_space, heap.header.allocated_size) = (0, 0);
        edit.modify(address, &context, damage).unwrap();
        let bytes = vec![number; 50];
        objects.insert(FractalHeap::insert(&mut edit, address, &bytes).unwrap(), bytes);
        if number % 3 == 2 {
            let id = objects.keys().next().unwrap().clone();
            FractalHeap::remove(&mut edit, address, &id).unwrap();
            objects.remove(&id).unwrap();
        }
        let heap = FractalHeap::open(&store, address).unwrap();
        for (id, bytes) in &objects {
            assert_eq!(&*heap.get(&store, id).unwrap(), &**bytes);
        }
    }
    for id in objects.keys() {
        FractalHeap::remove(&mut edit, address, id).unwrap();
    }
    assert_eq!(FractalHeap::open(&store, address).unwrap().header().managed_objects, 0);
}
