//! Comparison of written heaps with an independent walk over their blocks.

use std::collections::BTreeMap;

use hyperslab_format::codec::Address;
use hyperslab_format::fractal_heap::FractalHeapIndirectBlock;
use hyperslab_format::free_space::{
    FreeSpaceHeader, FreeSpaceSectionKind, FreeSpaceSections, FreeSpaceSectionsContext,
};
use hyperslab_format::message::{FilterDescription, FilterDescriptions, Message as _};
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::store::Edit;
use crate::store::image::{editable, new_file, new_file_to_reopen};
use crate::versions::LibverBounds;

/// Returns parameters with small blocks, so that a few hundred bytes make deep tables.
pub(super) fn small() -> FractalHeapCreation {
    FractalHeapCreation {
        table_width: 2,
        starting_block_size: 64,
        max_direct_size: 256,
        max_heap_bits: 24,
        max_managed_size: 200,
        ..FractalHeapCreation::LINKS
    }
}

/// The result of an independent walk over the blocks.
#[derive(Debug, Default)]
struct WalkedBlocks {
    allocated: u64,
    /// Bytes for objects in the existing direct blocks, by the offset of the first byte.
    object_bytes: BTreeMap<u64, u64>,
    missing_bytes: u64,
    last_end: u64,
    /// Missing blocks: offset of the indirect block, entry, offset, end.
    missing: Vec<(u64, usize, u64, u64)>,
}

fn walk(
    store: &Store,
    heap: &FractalHeap,
    address: Address,
    rows: u32,
    start: u64,
    found: &mut WalkedBlocks,
) {
    let context = heap.table.indirect_block(store.params(), heap.address, rows);
    let node: FractalHeapIndirectBlock = store.get(address, &context).unwrap();
    assert_eq!(node.block_offset, start);
    let mut any = false;
    for (number, child) in node.children.iter().enumerate() {
        let entry = heap.table.entry(number);
        let offset = start + entry.block_offset;
        if !child.is_defined() {
            found.missing.push((start, number, offset, offset + entry.block_size));
            found.missing_bytes += if entry.direct {
                entry.block_size - heap.shape.prefix
            } else {
                heap.shape.capacity(heap.table.rows_for(entry.block_size)).unwrap()
            };
        } else if entry.direct {
            any = true;
            let filtered = node.filtered.get(number).map(|block| (block.size, block.filter_mask));
            let block = DirectBlock { address: *child, offset, size: entry.block_size, filtered };
            direct(store, heap, &block, found);
        } else {
            any = true;
            walk(store, heap, *child, heap.table.rows_for(entry.block_size), offset, found);
        }
    }
    assert!(any, "an indirect block without children");
}

fn direct(store: &Store, heap: &FractalHeap, block: &DirectBlock, found: &mut WalkedBlocks) {
    heap.block(store, block).unwrap();
    found.allocated += block.size;
    found.object_bytes.insert(block.offset + heap.shape.prefix, block.size - heap.shape.prefix);
    found.last_end = block.offset + block.size;
}

/// Compares every number of the heap with its blocks and with the expected objects.
pub(super) fn verify(store: &Store, address: Address, objects: &BTreeMap<Vec<u8>, Vec<u8>>) {
    let heap = FractalHeap::open(store, address).unwrap();
    let header = heap.header();
    let mut found = WalkedBlocks::default();
    match heap.root_block() {
        Some(root) => direct(store, &heap, &root, &mut found),
        None if header.root.is_defined() => {
            walk(store, &heap, header.root, header.root_rows.into(), 0, &mut found);
        }
        None => {}
    }
    let mut used = Vec::new();
    let mut counts = (0, 0, 0, 0, 0);
    for (id, bytes) in objects {
        assert_eq!(&*heap.get(store, id).unwrap(), &**bytes);
        let length = bytes.len() as u64;
        match heap.ids.decode(id).unwrap() {
            HeapId::Managed { offset, length } => {
                counts.0 += 1;
                used.push((offset, length));
            }
            HeapId::Tiny { .. } => (counts.1, counts.2) = (counts.1 + 1, counts.2 + length),
            _ => (counts.3, counts.4) = (counts.3 + 1, counts.4 + length),
        }
    }
    let in_header = (
        header.managed_objects,
        header.tiny_objects,
        header.tiny_size,
        header.huge_objects,
        header.huge_size,
    );
    assert_eq!(in_header, counts);
    assert_eq!(header.allocated_size, found.allocated);
    let managed: u64 = used.iter().map(|(_, length)| length).sum();
    let object_bytes: u64 = found.object_bytes.values().sum();
    assert_eq!(header.free_space, object_bytes + found.missing_bytes - managed);
    let covered = match (header.root.is_defined(), u32::from(header.root_rows)) {
        (false, _) => 0,
        (true, 0) => header.starting_block_size,
        (true, rows) => heap.shape.covered(rows),
    };
    assert_eq!(header.managed_size, covered);
    if header.root_rows > 0 {
        assert_eq!(header.iterator_offset, found.last_end);
    }
    let sections = verify_manager(store, &heap, &found);
    // Objects and unused parts fill the direct blocks exactly.
    used.extend(sections);
    used.sort_unstable();
    let mut parts = used.into_iter();
    for (start, length) in found.object_bytes {
        let mut at = start;
        while at < start + length {
            let (offset, length) = parts.next().unwrap();
            assert_eq!(offset, at);
            at += length;
        }
        assert_eq!(at, start + length);
    }
    assert_eq!(parts.next(), None);
}

/// Checks the manager. Returns the unused parts of direct blocks in its list.
fn verify_manager(store: &Store, heap: &FractalHeap, found: &WalkedBlocks) -> Vec<(u64, u64)> {
    let header = heap.header();
    let missing: Vec<_> =
        found.missing.iter().filter(|(.., end)| *end <= header.iterator_offset).copied().collect();
    if !header.free_space_manager.is_defined() {
        assert!(missing.is_empty());
        return Vec::new();
    }
    let params = store.params();
    let manager: FreeSpaceHeader = store.get(header.free_space_manager, &params).unwrap();
    let width = heap.table.offset_width();
    let context = FreeSpaceSectionsContext::new(&manager, header.free_space_manager, width, params).unwrap();
    let list: FreeSpaceSections = store.get(manager.list, &context).unwrap();
    assert!(!list.sections.is_empty());
    assert_eq!(manager.serialized_sections, list.sections.len() as u64);
    assert_eq!(manager.sections, manager.serialized_sections + manager.unserialized_sections);
    let mut singles = Vec::new();
    let mut listed = Vec::new();
    let (mut total, mut derived) = (0, 0);
    for section in &list.sections {
        if let FreeSpaceSectionKind::FirstRow(run) = section.kind {
            let first = usize::from(run.row) * usize::from(header.table_width) + usize::from(run.column);
            let rows = heap.shape.missing(first, run.blocks.into()).unwrap();
            total += rows.space;
            derived += rows.count - 1;
            for number in first..first + usize::from(run.blocks) {
                let entry = heap.table.entry(number);
                let offset = run.block_offset + entry.block_offset;
                if number == first {
                    assert_eq!(section.offset, offset);
                    assert_eq!(section.size, heap.shape.first_object_bytes(first));
                }
                listed.push((run.block_offset, number, offset, offset + entry.block_size));
            }
        } else {
            total += section.size;
            singles.push((section.offset, section.size));
        }
    }
    assert_eq!((manager.total_space, manager.unserialized_sections), (total, derived));
    listed.sort_unstable();
    let mut missing = missing;
    missing.sort_unstable();
    assert_eq!(listed, missing);
    singles
}

#[derive(Debug, Clone)]
enum Step {
    Insert(usize, u8),
    Remove(usize),
    Update(usize, usize, u8),
    Commit,
}

fn steps(longest: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..longest, any::<u8>()).prop_map(|(length, byte)| Step::Insert(length, byte)),
        4 => any::<usize>().prop_map(Step::Remove),
        1 => (any::<usize>(), 1..longest, any::<u8>()).prop_map(|(at, length, byte)| Step::Update(at, length, byte)),
        1 => Just(Step::Commit),
    ];
    prop::collection::vec(step, 0..150)
}

pub(super) type Objects = BTreeMap<Vec<u8>, Vec<u8>>;

fn nth(objects: &Objects, at: usize) -> Option<Vec<u8>> {
    objects.keys().nth(at.checked_rem(objects.len())?).cloned()
}

fn apply(edit: &mut Edit<'_>, heap: Address, objects: &mut Objects, step: &Step) {
    match step {
        Step::Insert(length, byte) => {
            let bytes = vec![*byte; *length];
            let id = FractalHeap::insert(edit, heap, &bytes).unwrap();
            // Equal tiny objects have equal IDs.
            if objects.insert(id.clone(), bytes).is_some() {
                FractalHeap::remove(edit, heap, &id).unwrap();
            }
        }
        Step::Remove(at) => {
            let Some(id) = nth(objects, *at) else { return };
            FractalHeap::remove(edit, heap, &id).unwrap();
            objects.remove(&id);
        }
        Step::Update(at, length, byte) => {
            let Some(id) = nth(objects, *at) else { return };
            let bytes = vec![*byte; *length];
            let new = FractalHeap::update(edit, heap, &id, &bytes).unwrap();
            objects.remove(&id);
            if objects.insert(new.clone(), bytes).is_some() {
                FractalHeap::remove(edit, heap, &new).unwrap();
            }
        }
        Step::Commit => edit.commit().unwrap(),
    }
}

fn model(creation: &FractalHeapCreation, steps: &[Step]) {
    let (store, reopen) = new_file_to_reopen(LibverBounds::DEFAULT);
    store.edit().unwrap().commit().unwrap();
    let mut edit = store.edit().unwrap();
    let empty = edit.usage().allocated();
    let heap = FractalHeap::create(&mut edit, creation).unwrap();
    let mut objects = Objects::new();
    for step in steps {
        apply(&mut edit, heap, &mut objects, step);
    }
    verify(&store, heap, &objects);
    edit.commit().unwrap();
    verify(&reopen(), heap, &objects);
    FractalHeap::delete(&mut edit, heap).unwrap();
    edit.commit().unwrap();
    assert_eq!(edit.usage().allocated(), empty, "something was not freed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn heaps_hold_what_was_put_into_them(steps in steps(200), checksums: bool) {
        model(&FractalHeapCreation { checksums, ..small() }, &steps);
    }

    #[test]
    fn heaps_with_huge_objects(steps in steps(400), id_length in prop_oneof![Just(7_u16), Just(20)]) {
        model(&FractalHeapCreation { id_length, ..small() }, &steps);
    }

    #[test]
    fn heaps_with_filters(steps in steps(400), id_length in prop_oneof![Just(7_u16), Just(40)]) {
        model(&FractalHeapCreation { id_length, filters: deflate(), ..small() }, &steps);
    }

    #[test]
    fn heaps_of_links(steps in steps(3000)) {
        model(&FractalHeapCreation::LINKS, &steps);
    }
}

#[test]
fn the_heap_empties_itself_with_its_last_object() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let heap = FractalHeap::create(&mut edit, &small()).unwrap();
    let empty = FractalHeap::open(&store, heap).unwrap().header().clone();
    for order in [1, -1] {
        let mut ids: Vec<_> = (0..300)
            .map(|n| FractalHeap::insert(&mut edit, heap, &[7; 150][..(n % 140) + 9]).unwrap())
            .collect();
        assert!(FractalHeap::open(&store, heap).unwrap().header().root_rows > 8);
        if order < 0 {
            ids.reverse();
        }
        for id in &ids {
            FractalHeap::remove(&mut edit, heap, id).unwrap();
        }
        assert_eq!(FractalHeap::open(&store, heap).unwrap().header(), &empty);
    }
}

#[test]
fn what_is_not_there_is_not_removed() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let heap = FractalHeap::create(&mut edit, &FractalHeapCreation::LINKS).unwrap();
    let ids: Vec<_> = (0..5).map(|n| FractalHeap::insert(&mut edit, heap, &[n; 50]).unwrap()).collect();
    FractalHeap::remove(&mut edit, heap, &ids[2]).unwrap();
    let again = FractalHeap::remove(&mut edit, heap, &ids[2]).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound);
    let ids_of_heap = FractalHeap::open(&store, heap).unwrap().ids;
    for (offset, length) in [(0, 30), (400, 200), (1 << 20, 10), (60, 0)] {
        let id = ids_of_heap.encode(&HeapId::Managed { offset, length }).unwrap();
        assert_eq!(FractalHeap::remove(&mut edit, heap, &id).unwrap_err().kind(), ErrorKind::NotFound);
    }
    let rest = [0, 1, 3, 4].map(|n| (ids[usize::from(n)].clone(), vec![n; 50]));
    verify(&store, heap, &rest.into_iter().collect());
}

#[test]
fn a_heap_that_is_full_says_so() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let creation = FractalHeapCreation { max_heap_bits: 9, ..small() };
    let heap = FractalHeap::create(&mut edit, &creation).unwrap();
    let mut objects = Objects::new();
    let error = loop {
        match FractalHeap::insert(&mut edit, heap, &[1; 40]) {
            Ok(id) => drop(objects.insert(id, vec![1; 40])),
            Err(error) => break error,
        }
    };
    assert_eq!((error.kind(), objects.len()), (ErrorKind::Limit, 8));
    verify(&store, heap, &objects);
    assert_eq!(FractalHeap::insert(&mut edit, heap, b"").unwrap_err().kind(), ErrorKind::Misuse);
    let wrong = FractalHeapCreation { table_width: 3, ..small() };
    assert_eq!(FractalHeap::create(&mut edit, &wrong).unwrap_err().kind(), ErrorKind::Misuse);
}

/// Returns a filter pipeline message with the deflate filter.
fn deflate() -> Vec<u8> {
    let filter =
        FilterDescription { id: 1, flags: 1, name: Vec::new(), client_data: [6].into_iter().collect() };
    let message = FilterPipeline { version: 2, filters: FilterDescriptions::Chunk(vec![filter]) };
    message.to_bytes(FileParams::DEFAULT).unwrap()
}

/// Returns the address of the first block with this signature and with `byte` at the offset `at`.
fn search(bytes: &[u8], signature: &[u8; 4], at: usize, byte: u8) -> Address {
    let found = bytes.windows(16).position(|window| window.starts_with(signature) && window[at] == byte);
    Address::new(found.unwrap() as u64)
}

/// Removes all links of the only dense group from its heap and inserts them again, together with
/// objects that are removed at the end.
fn shuffle(bytes: Vec<u8>, seed: u64) -> Vec<u8> {
    let (store, committed) = editable(bytes.clone(), LibverBounds::LATEST);
    let (heap, tree) = (search(&bytes, b"FRHP", 4, 0), search(&bytes, b"BTHD", 5, 5));
    let mut edit = store.edit().unwrap();
    let mut tree = BTreeV2::edit(&edit, tree).unwrap();
    let mut records = Vec::new();
    tree.walk(&store, &mut |record| {
        records.push(record.to_vec());
        Ok(std::ops::ControlFlow::Continue(()))
    })
    .unwrap();
    let before: Objects = {
        let opened = FractalHeap::open(&store, heap).unwrap();
        records
            .iter()
            .map(|record| (record[4..].to_vec(), opened.get(&store, &record[4..]).unwrap().to_vec()))
            .collect()
    };
    verify(&store, heap, &before);
    let mut random = seed;
    let mut next = |limit: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % limit
    };
    let (mut objects, mut others) = (before.clone(), Vec::new());
    for record in &mut records {
        let bytes = objects.remove(&record[4..]).unwrap();
        FractalHeap::remove(&mut edit, heap, &record[4..]).unwrap();
        let length = 8 + usize::try_from(next(2500)).unwrap();
        others.push(FractalHeap::insert(&mut edit, heap, &vec![0xee; length]).unwrap());
        let id = FractalHeap::insert(&mut edit, heap, &bytes).unwrap();
        let hash = record[..4].to_vec();
        let compare = &mut |other: &[u8]| Ok(other[..4].iter().rev().cmp(hash.iter().rev()));
        tree.modify(&mut edit, compare, |stored| stored[4..].copy_from_slice(&id)).unwrap().unwrap();
        record[4..].copy_from_slice(&id);
        objects.insert(id, bytes);
    }
    for other in &others {
        FractalHeap::remove(&mut edit, heap, other).unwrap();
    }
    verify(&store, heap, &objects);
    edit.commit().unwrap();
    let bytes = committed();
    verify(&editable(bytes.clone(), LibverBounds::LATEST).0, heap, &objects);
    bytes
}

const REFEREE: &str = r#"
import h5py, random, sys
path, seed, first = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "new"
draw = random.Random(seed)
long = lambda: draw.choice([10, 30, 30, 300, 1500, 3500] + ([6000] if seed % 2 else []))
with h5py.File(path, "w" if first else "r+", libver="latest") as file:
    group = file.require_group("g")
    def put(name):
        group[name] = h5py.SoftLink("/" + name)
    def check():
        names = sorted(group)
        for name in names:
            assert group.get(name, getlink=True).path == "/" + name, name
        return names
    names = check()
    print(len(names))
    for name in draw.sample(names, len(names) // 2):
        del group[name]
    for number in range(150):
        put(f"{seed}-{number}-".ljust(long(), "x"))
    names = check()
    for name in draw.sample(names, 40):
        del group[name]
    left = check()
"#;

#[test]
fn libhdf5_goes_on_in_heaps_that_we_wrote() {
    let Some(referee) = hyperslab_testkit::referee::python() else { return };
    let folder = std::env::temp_dir().join(format!("hyperslab-heaps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("links.h5");
    let run = |seed: u64, first: &str| {
        let seed = seed.to_string();
        let args = [path.to_str().unwrap(), seed.as_str(), first];
        referee.run_script(REFEREE, args).unwrap_or_else(|error| panic!("seed {seed}: {error:#}"))
    };
    for seed in [1, 100, 201] {
        run(seed, "new");
        for round in 1..6 {
            let bytes = shuffle(std::fs::read(&path).unwrap(), seed + round);
            std::fs::write(&path, bytes).unwrap();
            run(seed + round, "again");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
