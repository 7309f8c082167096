//! Free space across sessions and libraries: what one leaves the other uses.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::format::FileSpaceStrategy;
use hyperslab_engine::object::header_edit::{self, NewHeader};
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{CreateOptions, FileSpace, SpaceKind, SpaceUsage, Store, StoreOptions};
use hyperslab_engine::{Address, LibverBounds};
use hyperslab_format::message::{GroupInfo, LinkInfo, MessageFlags};
use hyperslab_format::superblock::SuperblockVersion;
use hyperslab_testkit::referee::{self, Referee};
use hyperslab_vfd::{Access, Sec2};

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

/// Says how much is free, checks the content, changes it, and says again.
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

/// Allocates, writes, frees and commits; frees everything in the end.
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
            if edit.is_crowded() {
                edit.commit().unwrap();
            }
        }
    }
    let mut edit = store.edit().unwrap();
    for (kind, address, length) in blocks {
        edit.free(kind, address, length).unwrap();
    }
    if edit.is_crowded() {
        edit.commit().unwrap();
    }
}

/// Closes the file. Returns how its bytes are spread then.
fn close(store: &Store) -> SpaceUsage {
    store.edit().unwrap().close().unwrap();
    store.edit().unwrap().usage()
}

fn names(kept: bool) -> String {
    if !kept {
        return String::new();
    }
    let mut names: Vec<String> = (1..20).step_by(2).map(|number| format!("d{number}")).collect();
    names.extend(["kept".to_owned(), "tail".to_owned()]);
    names.join(",")
}

/// What the referee does with the file, and what it says of it.
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
    // What it left is understood in turn, and stays as it is if nothing is changed.
    let before = std::fs::read(path).unwrap();
    let again = open(path);
    let usage = again.container.store.edit().unwrap().usage();
    assert_eq!(usage.free, if persist { answer[2] } else { 0 }, "{way:?}: free in the end");
    close(&again.container.store);
    assert!(before == std::fs::read(path).unwrap(), "{way:?}: closing changes nothing");
}

#[test]
fn files_of_the_referee_are_used_and_given_back() {
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
                hand_over(&referee, &path, way, true, usage.free);
            }
            if persist {
                // All that was allocated was freed: only lists of free space have grown.
                assert!(length(&path) <= first + first / 20, "{way:?} {libver}: {first} {}", length(&path));
            }
            if strategy == FileSpaceStrategy::Page {
                assert_eq!(length(&path) % 1024, 0);
            }
        }
    }
}

fn create(path: &Path, strategy: FileSpaceStrategy, persist: bool, bounds: LibverBounds) -> Store {
    let driver = Arc::new(Sec2::open(path, Access::Create).unwrap());
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
fn new_files_are_used_by_the_referee() {
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
