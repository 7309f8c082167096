//! Free space across sessions and libraries: hyperslab and libhdf5 use the free space that the
//! other library recorded.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::format::FileSpaceStrategy;
use hyperslab_engine::object::header_edit::{self, NewHeader};
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{CreateOptions, Edit, FileSpace, SpaceKind, SpaceUsage, Store, StoreOptions};
use hyperslab_engine::{Address, ErrorKind, LibverBounds};
use hyperslab_format::codec::Structure as _;
use hyperslab_format::free_space::{FreeSpaceHeader, FreeSpaceSections, FreeSpaceSectionsContext};
use hyperslab_format::message::{FileSpaceInfo, FreeSpaceManagers, GroupInfo, LinkInfo, MessageFlags};
use hyperslab_format::superblock::SuperblockVersion;
use hyperslab_testkit::referee::{self, Referee};
use hyperslab_vfd::{Access, Core, Driver, Sec2};

/// Name for h5py, strategy, whether free space persists.
const WAYS: [(&str, FileSpaceStrategy, bool); 6] = [
    ("fsm", FileSpaceStrategy::FreeSpaceAndAggregators, false),
    ("fsm", FileSpaceStrategy::FreeSpaceAndAggregators, true),
    ("page", FileSpaceStrategy::Page, false),
    ("page", FileSpaceStrategy::Page, true),
    ("aggregate", FileSpaceStrategy::Aggregators, false),
    ("none", FileSpaceStrategy::None, false),
];

const MAKE: &str = "
import h5py, numpy, sys
path, strategy, persist, libver = sys.argv[1:]
page = {'fs_page_size': 1024} if strategy == 'page' else {}
with h5py.File(path, 'w', fs_strategy=strategy, fs_persist=persist == 'true', libver=libver, **page) as f:
    f['kept'] = numpy.arange(1000)
    for i in range(20):
        f[f'd{i}'] = numpy.arange(50 * i)
        f[f'd{i}'].attrs['a'] = i
    f['tail'] = numpy.arange(7)
    for i in range(0, 20, 2):
        del f[f'd{i}']
with h5py.File(path) as f: print(f.id.get_freespace())
";

/// A script that prints the amount of free space, checks the content, changes the content, and
/// prints the amount again.
const USE: &str = "
import h5py, numpy, sys
path, strategy, names = sys.argv[1:]
names = [name for name in names.split(',') if name]
page = {'page_buf_size': 16384} if strategy == 'page' else {}
def check(f, more=()):
    assert sorted(f) == sorted(list(names) + list(more)), list(f)
    for name in names:
        n = {'kept': 1000, 'tail': 7}.get(name) or 50 * int(name[1:])
        assert (f[name][()] == numpy.arange(n)).all(), name
with h5py.File(path, 'r', **page) as f:
    check(f)
    print(f.id.get_freespace())
with h5py.File(path, 'r+', **page) as f:
    check(f)
    print(f.id.get_freespace())
    f['new'] = numpy.arange(300)
    f['more'] = numpy.arange(3)
    f['gone'] = numpy.arange(40)
    del f['gone']
with h5py.File(path, 'r+') as f:
    check(f, ['new', 'more'])
    assert (f['new'][()] == numpy.arange(300)).all()
    del f['new'], f['more']
with h5py.File(path, 'r') as f:
    check(f)
    plist = f.id.get_create_plist()
    print(f.id.get_freespace(), *plist.get_file_space_strategy(), plist.get_file_space_page_size())
";

fn numbers(text: &str) -> Vec<u64> {
    let number = |word: &str| word.parse().unwrap_or_else(|_| u64::from(word == "True"));
    text.split_whitespace().map(number).collect()
}

fn writing() -> StoreOptions {
    StoreOptions { write: Some(LibverBounds::DEFAULT), ..StoreOptions::default() }
}

fn open(path: &Path) -> OpenFile {
    OpenFile::open(Arc::new(Sec2::open(path, Access::ReadWrite).unwrap()), writing()).unwrap()
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// Executes the steps after each operation.
fn finish(mut edit: Edit<'_>) {
    if edit.is_over_limit() {
        edit.commit().unwrap();
    }
}

/// Allocates, writes, frees and commits. At the end, it frees all blocks.
fn stir(store: &Store) {
    let mut blocks: Vec<(SpaceKind, Address, u64)> = Vec::new();
    for round in 0..60_u64 {
        let mut edit = store.edit().unwrap();
        let kinds = [SpaceKind::RawData, SpaceKind::ObjectHeader, SpaceKind::GlobalHeap];
        let kind = kinds[usize::try_from(round % 3).unwrap()];
        let length = 40 + round * 37 % 2500;
        let address = edit.allocate(kind, length).unwrap();
        let bytes = vec![0xee; usize::try_from(length).unwrap()];
        if kind == SpaceKind::ObjectHeader {
            edit.write(address, &bytes, "test").unwrap();
        } else {
            store.write_raw(address, &bytes).unwrap();
        }
        blocks.push((kind, address, length));
        if round % 4 == 3 {
            let (kind, address, length) = blocks.swap_remove(blocks.len() / 2);
            edit.free(kind, address, length).unwrap();
        }
        if round % 10 == 9 {
            edit.commit().unwrap();
        } else {
            finish(edit);
        }
    }
    let mut edit = store.edit().unwrap();
    for (kind, address, length) in blocks {
        edit.free(kind, address, length).unwrap();
    }
    finish(edit);
}

/// Closes the file. Returns the distribution of its bytes.
fn close(store: &Store) -> SpaceUsage {
    store.edit().unwrap().close().unwrap()
}

fn names(kept: bool) -> String {
    if !kept {
        return String::new();
    }
    let mut names: Vec<String> = (1..20).step_by(2).map(|number| format!("d{number}")).collect();
    names.extend(["kept".to_owned(), "tail".to_owned()]);
    names.join(",")
}

/// Runs the referee's script on the file, and returns the output of the script.
fn hand_over(referee: &Referee, path: &Path, way: (&str, FileSpaceStrategy, bool), kept: bool, free: u64) {
    let (name, strategy, persist) = way;
    let arguments = [path.to_str().unwrap(), name, &names(kept)];
    let answer = numbers(&referee.run_script(USE, arguments).unwrap());
    let number = match strategy {
        FileSpaceStrategy::FreeSpaceAndAggregators => 0,
        FileSpaceStrategy::Page => 1,
        FileSpaceStrategy::Aggregators => 2,
        FileSpaceStrategy::None => 3,
    };
    assert_eq!(answer[0], if persist { free } else { 0 }, "{way:?}: free when opened for reading");
    assert_eq!(answer[3..6], [number, u64::from(persist), 1], "{way:?}");
    if strategy == FileSpaceStrategy::Page {
        assert_eq!((answer[6], length(path) % 1024), (1024, 0), "{way:?}");
    }
    // hyperslab reads the free space that libhdf5 recorded. Without changes, the file stays the
    // same.
    let before = std::fs::read(path).unwrap();
    let again = open(path);
    let usage = again.container.store.edit().unwrap().usage();
    assert_eq!(usage.free, if persist { answer[2] } else { 0 }, "{way:?}: free in the end");
    close(&again.container.store);
    assert!(before == std::fs::read(path).unwrap(), "{way:?}: closing changes nothing");
}

#[test]
fn free_space_of_libhdf5_is_reused_and_stored_again() {
    let Some(referee) = referee::python() else { return };
    let dir = tempfile::tempdir().unwrap();
    for way in WAYS {
        for libver in ["earliest", "v110", "latest"] {
            let path = dir.path().join("file.h5");
            let (name, strategy, persist) = way;
            let arguments = [path.to_str().unwrap(), name, if persist { "true" } else { "false" }, libver];
            let free = numbers(&referee.run_script(MAKE, arguments).unwrap())[0];
            let first = length(&path);
            for session in 0..3 {
                let file = open(&path);
                let store = &file.container.store;
                let usage = store.edit().unwrap().usage();
                if session == 0 {
                    assert_eq!(usage.free, if persist { free } else { 0 }, "{way:?} {libver}");
                }
                stir(store);
                let usage = close(store);
                assert_eq!(usage.pending, 0);
                assert_eq!(usage.end, length(&path), "{way:?} {libver}");
                drop(file);
                hand_over(&referee, &path, way, true, usage.free);
            }
            if persist {
                // All allocated blocks were freed: only the lists of free space have grown.
                assert!(length(&path) <= first + first / 20, "{way:?} {libver}: {first} {}", length(&path));
            }
            if strategy == FileSpaceStrategy::Page {
                assert_eq!(length(&path) % 1024, 0);
            }
        }
    }
}

fn create(path: &Path, strategy: FileSpaceStrategy, persist: bool, bounds: LibverBounds) -> Store {
    create_in(Arc::new(Sec2::open(path, Access::Create).unwrap()), strategy, persist, bounds)
}

fn create_in(
    driver: Arc<dyn Driver>,
    strategy: FileSpaceStrategy,
    persist: bool,
    bounds: LibverBounds,
) -> Store {
    let file_space = FileSpace { strategy, persist, threshold: 1, page_size: 1024 };
    let file_space = match strategy {
        FileSpaceStrategy::Page => file_space,
        _ => FileSpace { page_size: FileSpace::default().page_size, ..file_space },
    };
    let options = CreateOptions { file_space, ..CreateOptions::default() };
    let store = Store::create(driver, &options, StoreOptions { write: Some(bounds), ..writing() }).unwrap();
    let mut edit = store.edit().unwrap();
    let mut header = NewHeader::default();
    header.push(&edit, &LinkInfo::EMPTY, MessageFlags::empty()).unwrap();
    header.push(&edit, &GroupInfo::default(), MessageFlags::empty()).unwrap();
    let address = header_edit::create(&mut edit, &header).unwrap();
    edit.change_superblock(|superblock| match &mut superblock.version {
        SuperblockVersion::New { root, .. } => *root = address,
        SuperblockVersion::Old(old) => old.root.header = address,
    })
    .unwrap();
    drop(edit);
    store
}

#[test]
fn libhdf5_reuses_the_free_space_of_new_files() {
    let Some(referee) = referee::python() else { return };
    let dir = tempfile::tempdir().unwrap();
    for way in WAYS {
        for bounds in [LibverBounds::DEFAULT, LibverBounds::LATEST] {
            let path = dir.path().join("new.h5");
            let (_, strategy, persist) = way;
            let store = create(&path, strategy, persist, bounds);
            stir(&store);
            let usage = close(&store);
            assert_eq!(usage.end, length(&path));
            if strategy != FileSpaceStrategy::Page && persist {
                assert!(usage.end < 1000, "{way:?}: {usage:?}");
            }
            drop(store);
            hand_over(&referee, &path, way, false, usage.free);
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn a_file_that_was_not_closed_stores_no_free_space() {
    let Some(referee) = referee::python() else { return };
    let dir = tempfile::tempdir().unwrap();
    for way in WAYS.into_iter().filter(|(.., persist)| *persist) {
        let path = dir.path().join("file.h5");
        let arguments = [path.to_str().unwrap(), way.0, "true", "latest"];
        assert!(numbers(&referee.run_script(MAKE, arguments).unwrap())[0] > 0);
        let file = open(&path);
        let store = &file.container.store;
        stir(store);
        let mut edit = store.edit().unwrap();
        let address = edit.allocate(SpaceKind::RawData, 100).unwrap();
        store.write_raw(address, &[1; 100]).unwrap();
        edit.commit().unwrap();
        // The program changes more data, and then ends.
        edit.free(SpaceKind::RawData, address, 100).unwrap();
        let address = edit.allocate(SpaceKind::ObjectHeader, 300).unwrap();
        edit.write(address, &[1; 300], "test").unwrap();
        drop(edit);
        std::mem::forget(file);
        hand_over(&referee, &path, way, true, 0);
        std::fs::remove_file(&path).unwrap();
    }
}

/// A message of version 0, as 1.10.0 wrote it: hyperslab reads managers of this version, and writes
/// managers of the same version.
#[test]
fn the_first_version_of_the_message_is_kept() {
    let Some(referee) = referee::python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.h5");
    let store = create(&path, FileSpaceStrategy::FreeSpaceAndAggregators, false, LibverBounds::LATEST);
    let mut edit = store.edit().unwrap();
    let info =
        FileSpaceInfo { version: 0, managers: Some(FreeSpaceManagers::NONE), ..FileSpaceInfo::DEFAULT };
    let mut header = NewHeader::default();
    header.push(&edit, &info, MessageFlags::MARK_IF_UNKNOWN | MessageFlags::DO_NOT_SHARE).unwrap();
    let address = header_edit::create(&mut edit, &header).unwrap();
    edit.change_superblock(|superblock| {
        if let SuperblockVersion::New { extension, .. } = &mut superblock.version {
            *extension = address;
        }
    })
    .unwrap();
    edit.close().unwrap();
    drop(store);
    for _ in 0..2 {
        let file = open(&path);
        let store = &file.container.store;
        let mut edit = store.edit().unwrap();
        let blocks = edit.allocate_blocks(SpaceKind::RawData, 3000, 3).unwrap();
        edit.commit().unwrap();
        edit.free(SpaceKind::RawData, blocks[0], 3000).unwrap();
        edit.free(SpaceKind::RawData, blocks[1], 3000).unwrap();
        drop(edit);
        let usage = close(store);
        assert!(usage.free >= 6000, "{usage:?}");
        let again = open(&path);
        assert_eq!(again.container.settings.file_space.unwrap().version, 0);
        assert_eq!(again.container.store.edit().unwrap().usage().free, usage.free);
    }
    let code = "import h5py, sys; f = h5py.File(sys.argv[1], 'r+'); f['a'] = range(300); print(f['a'][299])";
    assert_eq!(referee.run_script(code, [&path]).unwrap().trim(), "299");
}

fn bytes_of(driver: &Core) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
    driver.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Returns a file in memory with free-space managers.
fn with_managers(strategy: FileSpaceStrategy) -> Vec<u8> {
    let driver = Arc::new(Core::from_vec("new", Vec::new()));
    let store = create_in(Arc::clone(&driver) as _, strategy, true, LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    for kind in [SpaceKind::RawData, SpaceKind::BTree] {
        let blocks: Vec<Address> = (1..5).map(|number| edit.allocate(kind, 100 * number).unwrap()).collect();
        edit.free(kind, blocks[0], 100).unwrap();
        edit.free(kind, blocks[2], 300).unwrap();
    }
    edit.close().unwrap();
    bytes_of(&driver)
}

fn open_image(bytes: Vec<u8>) -> Result<OpenFile, hyperslab_engine::Error> {
    OpenFile::open(Arc::new(Core::from_vec("image", bytes)), writing())
}

#[test]
fn damaged_free_space_managers_are_refused_or_harmless() {
    for strategy in [FileSpaceStrategy::FreeSpaceAndAggregators, FileSpaceStrategy::Page] {
        let bytes = with_managers(strategy);
        assert!(open_image(bytes.clone()).unwrap().container.store.edit().unwrap().usage().free >= 800);
        // All bytes other than zero are metadata.
        for at in (0..bytes.len()).filter(|at| bytes[*at] != 0) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            if let Ok(file) = open_image(damaged) {
                let mut edit = file.container.store.edit().unwrap();
                drop(edit.allocate(SpaceKind::RawData, 100));
                drop(edit.close());
                // A second attempt to close the file would fail too.
                std::mem::forget(file);
            }
        }
    }
}

/// The checksums are correct, and the sections are wrong.
#[test]
fn impossible_free_sections_are_refused() {
    let bytes = with_managers(FileSpaceStrategy::FreeSpaceAndAggregators);
    let end = bytes.len() as u64;
    for (offset, size) in [(0, 48), (end - 10, 100), (200, 600), (u64::from(u32::MAX), 1)] {
        let driver = Arc::new(Core::from_vec("image", bytes.clone()));
        let file = OpenFile::open(Arc::clone(&driver) as _, writing()).unwrap();
        let (store, params) = (&file.container.store, file.container.params());
        let address = file.container.settings.file_space.unwrap().managers.unwrap().small[2];
        let mut header: FreeSpaceHeader = store.get(address, &params).unwrap();
        let context = FreeSpaceSectionsContext::new(&header, address, 0, params).unwrap();
        let mut list: FreeSpaceSections = store.get(header.list, &context).unwrap();
        list.sections.truncate(1);
        list.sections[0].offset = offset;
        list.sections[0].size = size;
        let context = list.arrange(&mut header, address, 0, params).unwrap();
        let mut edit = store.edit().unwrap();
        edit.write(header.list, &list.encode(&context).unwrap(), "list").unwrap();
        edit.write(address, &header.encode(&params).unwrap(), "header").unwrap();
        edit.commit().unwrap();
        drop(edit);
        let error = open_image(bytes_of(&driver)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{offset} {size}: {error}");
    }
}

#[test]
fn deleting_and_rewriting_does_not_make_the_file_grow() {
    for (strategy, persist) in [
        (FileSpaceStrategy::FreeSpaceAndAggregators, false),
        (FileSpaceStrategy::FreeSpaceAndAggregators, true),
        (FileSpaceStrategy::Page, true),
    ] {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let store = create_in(Arc::clone(&driver) as _, strategy, persist, LibverBounds::DEFAULT);
        let make = || {
            let mut edit = store.edit().unwrap();
            let header = edit.allocate(SpaceKind::ObjectHeader, 300).unwrap();
            let data = edit.allocate(SpaceKind::RawData, 800).unwrap();
            store.write_raw(data, &[3; 800]).unwrap();
            finish(edit);
            (header, data)
        };
        let mut objects: Vec<(Address, Address)> = (0..1000).map(|_| make()).collect();
        store.edit().unwrap().commit().unwrap();
        let first = driver.len().unwrap();
        for _ in 0..3 {
            for object in &mut objects {
                let mut edit = store.edit().unwrap();
                edit.free(SpaceKind::ObjectHeader, object.0, 300).unwrap();
                edit.free(SpaceKind::RawData, object.1, 800).unwrap();
                finish(edit);
                *object = make();
            }
        }
        store.edit().unwrap().close().unwrap();
        let last = driver.len().unwrap();
        assert!(last <= first + first / 20, "{strategy:?}: {first} grew to {last}");
    }
}

/// Returns pseudo-random numbers.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns the bytes of the managers to which a file refers.
fn manager_bytes(file: &OpenFile) -> u64 {
    let (store, params) = (&file.container.store, file.container.params());
    let Some(managers) = file.container.settings.file_space.unwrap().managers else { return 0 };
    let addresses = managers.small.into_iter().chain(managers.large).filter(|address| address.is_defined());
    addresses
        .map(|address| {
            let header: FreeSpaceHeader = store.get(address, &params).unwrap();
            FreeSpaceHeader::size(&params) as u64 + header.list_allocated
        })
        .sum()
}

/// Space that no object uses at the close of the file is free after the next open.
#[test]
fn closing_keeps_the_free_space() {
    let mut faults = Vec::new();
    let referee = referee::python();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.h5");
    for strategy in [FileSpaceStrategy::FreeSpaceAndAggregators, FileSpaceStrategy::Page] {
        for seed in 0..300_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let driver = Arc::new(Core::from_vec("new", Vec::new()));
            close(&create_in(Arc::clone(&driver) as _, strategy, true, LibverBounds::DEFAULT));
            let open = || OpenFile::open(Arc::clone(&driver) as _, writing()).unwrap();
            let file = open();
            let taken = file.container.store.edit().unwrap().usage().allocated() - manager_bytes(&file);
            drop(file);
            let mut blocks: Vec<(SpaceKind, Address, u64)> = Vec::new();
            let longest = [80, 600, 5000][usize::try_from(seed % 3).unwrap()];
            for session in 0..4 {
                let file = open();
                let store = &file.container.store;
                let mut edit = store.edit().unwrap();
                for _ in 0..next(&mut state) % 150 {
                    if next(&mut state) % 5 < 3 || blocks.is_empty() {
                        let kinds = [SpaceKind::RawData, SpaceKind::ObjectHeader, SpaceKind::BTree];
                        let kind = kinds[usize::try_from(next(&mut state) % 3).unwrap()];
                        let length = 1 + next(&mut state) % longest;
                        blocks.push((kind, edit.allocate(kind, length).unwrap(), length));
                    } else {
                        let place = usize::try_from(next(&mut state)).unwrap() % blocks.len();
                        let (kind, address, length) = blocks.swap_remove(place);
                        edit.free(kind, address, length).unwrap();
                    }
                }
                edit.close().unwrap();
                drop(file);
                let file = open();
                let usage = file.container.store.edit().unwrap().usage();
                let used: u64 = blocks.iter().map(|(_, _, length)| length).sum();
                let known = used + taken + manager_bytes(&file);
                if usage.allocated() != known {
                    faults.push((strategy, seed, session, known, usage));
                }
            }
            if let Some(referee) = referee.as_ref().filter(|_| seed % 31 == 1) {
                let usage = open().container.store.edit().unwrap().usage();
                std::fs::write(&path, bytes_of(&driver)).unwrap();
                let way = WAYS.into_iter().find(|way| way.1 == strategy && way.2).unwrap();
                hand_over(referee, &path, way, false, usage.free);
            }
        }
    }
    assert!(faults.is_empty(), "{} times: {faults:?}", faults.len());
}
