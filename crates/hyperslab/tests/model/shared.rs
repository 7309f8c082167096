//! Files whose objects share messages, changed in turn by libhdf5 and by this library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyperslab::filter::FilterSpec;
use hyperslab::{
    File, FileOptions, Group, GroupOptions, LibraryVersion, LibverBounds, Object, OpenOptions, Repack,
    SharedMessageIndexInfo as Index, SharedMessages,
};
use hyperslab_testkit::referee::{self, Referee};

use super::judge::{self, Manifest};

const SCRIPT: &str = include_str!("shared.py");

/// Returns the lower bound at the end of the file's name.
fn bounds(path: &Path) -> LibverBounds {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let low = LibraryVersion::from_name(name.rsplit(' ').next().unwrap()).unwrap();
    LibverBounds::new(low, LibraryVersion::LATEST).unwrap()
}

fn open(path: &Path) -> File {
    OpenOptions::new().write(true).libver(bounds(path)).open(path).unwrap()
}

/// Changes a file. After the next open, the file must be sound and have the same contents.
fn step(path: &Path, work: impl FnOnce(&File)) {
    let file = open(path);
    work(&file);
    let expected = judge::content(&file);
    file.close().unwrap();
    judge::assert_same("after closing", &judge::content(&File::open(path).unwrap()), &expected);
    judge::assert_sound(path);
}

/// Creates a group whose objects equal the objects of other such groups.
fn fill(file: &File, name: &str, tracked: bool) {
    let group = file.create_group_with(name, GroupOptions::new().track_order(tracked)).unwrap();
    for number in 0..3_u8 {
        let dataset = group
            .new_dataset(&format!("chunked {number}"))
            .of::<i32>()
            .shape(&[10, 4])
            .max_shape(&[None, Some(4)])
            .chunks(&[5, 4])
            .fill(7_i32)
            .filter(FilterSpec::deflate(4))
            .create()
            .unwrap();
        dataset.write(.., &[i32::from(number); 40]).unwrap();
        attributes(&dataset, number);
    }
    group.new_dataset("whole").write(&[1_i16; 20]).unwrap();
    let datatype = file.committed_datatype("type").unwrap();
    group.new_dataset("typed").committed(&datatype).shape(&[3]).create().unwrap();
    group.new_dataset("typed too").committed(&datatype).shape(&[3]).create().unwrap();
    attributes(&group, 12);
}

fn attributes(object: &Object, count: u8) {
    for number in 0..count {
        object.set_attribute(&format!("n {number}"), vec![1_i32; usize::from(number) * 3]).unwrap();
    }
    object.set_attribute("unit", vec![b'm'; 5]).unwrap();
    object.set_attribute("long", vec![0.0_f64; 300]).unwrap();
}

fn groups(file: &File) -> Vec<Group> {
    let named = |name: &String| file.group(name).ok();
    file.root().member_names().unwrap().iter().filter_map(named).collect()
}

fn change_attributes(file: &File) {
    for group in groups(file) {
        let members = group.member_names().unwrap().into_iter().map(|name| group.object(&name).unwrap());
        for object in members.chain([(*group).clone()]) {
            let names = object.attribute_names().unwrap();
            object.set_attribute("added by hyperslab", vec![3_u16; 9]).unwrap();
            names.iter().step_by(4).for_each(|name| object.remove_attribute(name).unwrap());
            for name in names.iter().skip(1).step_by(4) {
                object.rename_attribute(name, &format!("{name}, renamed")).unwrap();
            }
            for name in names.iter().skip(2).step_by(4) {
                object.set_attribute(name, vec![2_i64; 7]).unwrap();
            }
        }
    }
}

fn resize(file: &File) {
    for (number, group) in groups(file).iter().enumerate() {
        for name in ["chunked 0", "chunked 2"] {
            if let Ok(dataset) = group.dataset(name) {
                dataset.resize(&[13 + number as u64 / 2, 4]).unwrap();
                dataset.resize(&[21, 4]).unwrap();
            }
        }
    }
}

/// Executes all steps on a file.
fn change(path: &Path) {
    step(path, change_attributes);
    step(path, resize);
    step(path, |file| {
        let all = groups(file);
        let number = all.len();
        fill(file, &format!("by hyperslab {number}"), number % 2 == 1);
        file.root().copy(all.last().unwrap(), &format!("copied by hyperslab {number}")).unwrap();
        let first = file.root().member_names().unwrap();
        let first = first.iter().find(|name| file.group(name).is_ok()).unwrap();
        file.rename(first, &format!("renamed {number}")).unwrap();
    });
    step(path, |file| {
        let all = file.root().member_names().unwrap();
        let name = all.iter().rev().find(|name| name.starts_with("copied")).unwrap();
        file.remove(name).unwrap();
    });
}

fn manifest(paths: &[PathBuf]) -> Manifest {
    let content = |path: &PathBuf| judge::content(&File::open(path).unwrap());
    paths.iter().map(|path| (path.to_str().unwrap().to_owned(), content(path))).collect()
}

fn in_turn(python: &Referee, folder: &Path, paths: &[PathBuf]) {
    let verify = || judge::ask(python, folder, &["verify"], &manifest(paths), &BTreeMap::new());
    for path in paths {
        judge::assert_sound(path);
    }
    verify();
    for _ in 0..2 {
        paths.iter().for_each(|path| change(path));
        verify();
        python
            .run_script(SCRIPT, ["change".as_ref()].into_iter().chain(paths.iter().map(PathBuf::as_path)))
            .unwrap();
        paths.iter().for_each(|path| judge::assert_sound(path));
        verify();
    }
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn files_of_libhdf5_are_changed_in_turn() {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    python.run_script(SCRIPT, ["make".as_ref(), folder.path()]).unwrap();
    in_turn(&python, folder.path(), &in_folder(folder.path()));
}

fn some() -> Vec<SharedMessages> {
    let rest = Index::FILL_VALUES | Index::FILTER_PIPELINES;
    let index = |types, min_size| Index { types, min_size };
    let split =
        vec![index(Index::ATTRIBUTES, 40), index(Index::DATASPACES | Index::DATATYPES, 1), index(rest, 9)];
    vec![
        SharedMessages::of(Index::ALL, 1),
        SharedMessages { indexes: split.clone(), max_list: 0, min_btree: 0 },
        SharedMessages { indexes: split, max_list: 6, min_btree: 4 },
        SharedMessages::of(Index::ALL & !Index::ATTRIBUTES, 1),
    ]
}

fn make(path: &Path, shared: &SharedMessages) {
    let file = FileOptions::new().libver(bounds(path)).shared_messages(shared.clone()).create(path).unwrap();
    file.root().commit_datatype("type", &<f64 as hyperslab::H5Type>::datatype()).unwrap();
    (0..3).for_each(|number| fill(&file, &format!("by hyperslab {number}"), number == 1));
    assert_eq!(&file.info().shared_messages, shared);
    file.close().unwrap();
    assert_eq!(&File::open(path).unwrap().info().shared_messages, shared);
}

fn make_some(folder: &Path) {
    for (number, shared) in some().iter().enumerate() {
        for low in ["earliest", "v18", "v200"] {
            make(&folder.join(format!("{number} {low}.h5")), shared);
        }
    }
}

#[test]
fn files_of_hyperslab_are_changed_in_turn() {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    make_some(folder.path());
    in_turn(&python, folder.path(), &in_folder(folder.path()));
}

#[test]
fn files_with_shared_messages_are_changed_and_repacked() {
    let folder = tempfile::tempdir().unwrap();
    make_some(folder.path());
    for path in in_folder(folder.path()) {
        judge::assert_sound(&path);
        change(&path);
        let (file, target) = (File::open(&path).unwrap(), path.with_extension("repacked"));
        Repack::new().libver(bounds(&path)).run(&file, &target).unwrap();
        let (before, after) = (judge::content(&file), File::open(&target).unwrap());
        judge::assert_same("repacked", &judge::content(&after), &before);
        assert_eq!(after.info().shared_messages, file.info().shared_messages);
        judge::assert_sound(&target);
    }
}

#[test]
fn copies_into_a_file_with_shared_messages_use_them() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from v18.h5"), folder.path().join("to v18.h5"));
    make(&from, &SharedMessages::default());
    make(&to, &SharedMessages::of(Index::ALL, 1));
    let plain = folder.path().join("plain v18.h5");
    make(&plain, &SharedMessages::default());
    let source = File::open(&from).unwrap();
    let grown = |path: &Path| {
        let length = || std::fs::metadata(path).unwrap().len();
        let before = length();
        step(path, |file| drop(file.copy_from(&source, "by hyperslab 0", "copy").unwrap()));
        length() - before
    };
    let (shared, plain) = (grown(&to), grown(&plain));
    let copy = judge::content(&File::open(&to).unwrap());
    let original = judge::content(&source);
    for (path, reported) in original.iter().filter(|(path, _)| path.starts_with("/by hyperslab 0")) {
        assert_eq!(copy[&path.replace("/by hyperslab 0", "/copy")], *reported, "{path}");
    }
    // The four long attributes already exist.
    assert!(shared + 2 * 2400 < plain, "{shared} bytes more, {plain} where nothing is shared");
}

#[test]
fn impossible_settings_of_shared_messages_are_refused() {
    let refused = |shared: SharedMessages| {
        let outcome = FileOptions::new().shared_messages(shared).create_in_memory();
        assert_eq!(outcome.unwrap_err().kind(), hyperslab::ErrorKind::Misuse);
    };
    // Such an index has no use, but libhdf5 accepts it.
    for types in [0, 1, 1 << 6] {
        assert!(FileOptions::new().shared_messages(SharedMessages::of(types, 1)).create_in_memory().is_ok());
    }
    refused(SharedMessages::of(1 << 13, 1));
    let index = |types| Index { types, min_size: 1 };
    refused(SharedMessages {
        indexes: vec![index(Index::ALL), index(Index::ATTRIBUTES)],
        ..Default::default()
    });
    refused(SharedMessages { max_list: 3, min_btree: 5, ..SharedMessages::of(Index::ALL, 1) });
    refused(SharedMessages { max_list: 5001, ..SharedMessages::of(Index::ALL, 1) });
}
