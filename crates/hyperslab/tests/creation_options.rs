//! Creation options of objects are read back, by this library and by libhdf5.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{
    CreationOrder, ErrorKind, EstimatedLinks, File, FileOptions, GroupOptions, Layout, LibraryVersion,
    LibverBounds, Object, PhaseChange, SpaceStatus, s,
};
use hyperslab_testkit::{referee, workspace};

const PRINT: &str = r#"
import sys
import h5py
f = h5py.File(sys.argv[1])
for name in sys.argv[2:]:
    o = f[name]
    p = o.id.get_create_plist()
    line = [name, p.get_attr_phase_change(), p.get_attr_creation_order(), p.get_obj_track_times()]
    if isinstance(o, h5py.Group):
        line.append(p.get_link_creation_order())
    else:
        line.append(o.id.get_space_status())
    print(*line)
"#;

fn told(path: &std::path::Path, names: &[&str]) -> Option<String> {
    let Some(python) = referee::python() else {
        workspace::skip("creation_options", "no h5py");
        return None;
    };
    let arguments = [path.to_str().unwrap()].into_iter().chain(names.iter().copied());
    Some(python.run_script(PRINT, arguments).unwrap())
}

fn check(path: &std::path::Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

fn add_attributes(object: &Object, count: usize) {
    for number in 0..count {
        object.set_attribute(&format!("a{number}"), number as u64).unwrap();
    }
}

#[test]
fn options_of_objects_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.h5");
    let root = GroupOptions::new()
        .attribute_phase_change(3, 2)
        .link_phase_change(20, 10)
        .link_order(CreationOrder::Tracked)
        .track_times(true);
    let file = FileOptions::new().root_group(root).create(&path).unwrap();
    let options = GroupOptions::new()
        .attribute_order(CreationOrder::Indexed)
        .link_order(CreationOrder::Indexed)
        .estimated_links(100, 30)
        .attribute_phase_change(0, 0);
    let group = file.create_group_with("group", options).unwrap();
    file.new_dataset("dataset")
        .attribute_phase_change(1, 0)
        .attribute_order(CreationOrder::Tracked)
        .track_times(true)
        .write(&[1, 2])
        .unwrap();
    file.create_group("plain").unwrap();
    add_attributes(&group, 1);
    add_attributes(&file, 4);
    add_attributes(&file.dataset("dataset").unwrap(), 2);
    file.close().unwrap();
    check(&path);
    let file = File::open(&path).unwrap();
    assert_eq!(
        (file.attribute_phase_change().unwrap(), file.link_phase_change().unwrap()),
        (change(3, 2), change(20, 10))
    );
    assert_eq!((file.link_order().unwrap(), file.tracks_times().unwrap()), (CreationOrder::Tracked, true));
    let group = file.group("group").unwrap();
    assert_eq!(
        (group.attribute_phase_change().unwrap(), group.attribute_order().unwrap()),
        (change(0, 0), CreationOrder::Indexed)
    );
    assert_eq!(
        (group.link_order().unwrap(), group.estimated_links().unwrap()),
        (CreationOrder::Indexed, EstimatedLinks { count: 100, name_length: 30 })
    );
    let dataset = file.dataset("dataset").unwrap();
    assert_eq!(
        (dataset.attribute_phase_change().unwrap(), dataset.attribute_order().unwrap()),
        (change(1, 0), CreationOrder::Tracked)
    );
    assert!(dataset.tracks_times().unwrap() && !group.tracks_times().unwrap());
    let plain = file.group("plain").unwrap();
    assert_eq!(
        (plain.attribute_phase_change().unwrap(), plain.link_phase_change().unwrap()),
        (change(8, 6), change(8, 6))
    );
    assert_eq!(plain.estimated_links().unwrap(), EstimatedLinks { count: 4, name_length: 8 });
    let Some(reported) = told(&path, &["/", "group", "dataset", "plain"]) else { return };
    assert_eq!(
        reported.trim(),
        "/ (3, 2) 0 1 1\ngroup (0, 0) 3 0 3\ndataset (1, 0) 1 1 2\nplain (8, 6) 0 0 0"
    );
}

#[test]
fn phase_changes_that_contradict_themselves_are_refused() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let before = file.to_bytes().unwrap();
    let links = file.create_group_with("a", GroupOptions::new().link_phase_change(2, 3)).unwrap_err();
    let attributes =
        file.create_group_with("a", GroupOptions::new().attribute_phase_change(2, 3)).unwrap_err();
    let dataset = file.new_dataset("a").attribute_phase_change(0, 1).write(&[1]).unwrap_err();
    assert!([links, attributes, dataset].iter().all(|error| error.kind() == ErrorKind::Misuse));
    assert_eq!(file.to_bytes().unwrap(), before);
}

/// A group with a symbol table stores the expected number of long names in its first heap.
#[test]
fn local_heaps_have_the_estimated_size() {
    let bounds = LibverBounds::new(LibraryVersion::Earliest, LibraryVersion::LATEST).unwrap();
    let grown = |options: GroupOptions| {
        let file = FileOptions::new().libver(bounds).metadata_block(0).create_in_memory().unwrap();
        let before = file.to_bytes().unwrap().len();
        file.create_group_with("g", options).unwrap();
        file.to_bytes().unwrap().len() - before
    };
    let plain = grown(GroupOptions::new());
    assert_eq!(grown(GroupOptions::new().local_heap_size(8000)), plain + 8000 - 88);
    assert_eq!(grown(GroupOptions::new().estimated_links(100, 39)), plain + 24 + 100 * 40 - 88);
    assert!(grown(GroupOptions::new().local_heap_size(1)) < plain);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.h5");
    let file = FileOptions::new().libver(bounds).create(&path).unwrap();
    for (name, bytes) in [("tiny", 1), ("large", 3000)] {
        let group = file.create_group_with(name, GroupOptions::new().local_heap_size(bytes)).unwrap();
        (0..20).for_each(|number| drop(group.create_group(&format!("number {number}")).unwrap()));
    }
    file.close().unwrap();
    check(&path);
    let Some(reported) = told(&path, &["tiny/number 7", "large/number 19"]) else { return };
    assert_eq!(reported.lines().count(), 2);
}

#[test]
fn blocks_and_alignment() {
    let address = |options: FileOptions, count: usize| {
        let file = options.create_in_memory().unwrap();
        file.new_dataset("small").write(&vec![1_u8; 10]).unwrap();
        let dataset = file.new_dataset("a").write(&vec![1_u8; count]).unwrap();
        match dataset.layout() {
            Layout::Contiguous { address: Some(address) } => (address, file.to_bytes().unwrap().len()),
            other => panic!("{other:?}"),
        }
    };
    assert_ne!(address(FileOptions::new(), 5000).0 % 512, 0);
    assert_eq!(address(FileOptions::new().alignment(4000, 512), 5000).0 % 512, 0);
    assert_ne!(address(FileOptions::new().alignment(6000, 512), 5000).0 % 512, 0);
    // Small raw data takes one block of the configured size until the file is closed.
    let (_, usual) = address(FileOptions::new(), 10);
    assert!(address(FileOptions::new().small_data_block(1 << 20), 10).1 > usual + (1 << 19));
    assert!(address(FileOptions::new().metadata_block(1 << 20), 10).1 > usual + (1 << 19));
}

#[test]
fn space_of_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.h5");
    let file = FileOptions::new().create(&path).unwrap();
    let new = |name: &str| file.new_dataset(name).of::<i32>().shape(&[5]);
    new("late").create().unwrap();
    new("written").create().unwrap().write(s![..1], &[1]).unwrap();
    new("compact").compact().create().unwrap();
    new("none").chunks(&[2]).create().unwrap();
    new("part").chunks(&[2]).deflate(3).create().unwrap().write(s![..2], &[1, 2]).unwrap();
    new("all").chunks(&[2]).deflate(3).create().unwrap().write(.., &[0; 5]).unwrap();
    file.new_dataset("empty").of::<i32>().shape(&[0]).unlimited().create().unwrap();
    file.new_dataset("null").of::<i32>().null().create().unwrap();
    file.new_dataset("scalar").write_scalar(1).unwrap();
    new("outside").external(&[("data.raw", 0, None)]).create().unwrap();
    let names = ["late", "written", "compact", "none", "part", "all", "empty", "null", "scalar", "outside"];
    let status = |name: &&str| file.dataset(name).unwrap().space_status().unwrap();
    let seen: Vec<SpaceStatus> = names.iter().map(status).collect();
    file.close().unwrap();
    let Some(reported) = told(&path, &names) else { return };
    for ((line, seen), name) in reported.lines().zip(seen).zip(names) {
        let expected = match seen {
            SpaceStatus::NotAllocated => "0",
            SpaceStatus::PartAllocated => "1",
            SpaceStatus::Allocated => "2",
        };
        assert_eq!(line.rsplit(' ').next().unwrap(), expected, "{name}");
    }
}

fn change(max_compact: u16, min_dense: u16) -> PhaseChange {
    PhaseChange { max_compact, min_dense }
}
