//! The lifetime of unlinked objects.

use hyperslab::{Datatype, ErrorKind, File, H5Type as _, Object, Points, Region, Selection, VirtualMapping};

use super::{new_file, options, sound};

fn strings(file: &File, name: &str) -> hyperslab::Dataset {
    file.new_dataset(name).write_strings(&["one", "twenty-two", "three hundred and thirty-three"]).unwrap()
}

#[test]
fn clones_and_separately_opened_handles_share_one_count() {
    let (file, medium) = new_file();
    let made = file.new_dataset("x").write(&[1, 2, 3]).unwrap();
    let handles: Vec<Object> =
        vec![Object::clone(&made), file.object("x").unwrap(), file.object_at(made.token()).unwrap()];
    drop(made);
    file.remove("x").unwrap();
    for (number, handle) in handles.into_iter().enumerate() {
        file.flush().unwrap();
        file.new_dataset(&format!("taker {number}")).write(&[9; 3]).unwrap();
        file.flush().unwrap();
        let dataset = handle.clone().into_dataset().unwrap();
        drop(handle);
        assert_eq!(dataset.read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    }
    file.close().unwrap();
    sound(&medium);
}

#[test]
fn the_next_flush_frees_the_space() {
    let (file, _medium) = new_file();
    let megabyte = vec![7_u8; 1 << 20];
    let length = |file: &File| file.to_bytes().unwrap().len();
    let kept = file.new_dataset("x").write(&megabyte).unwrap();
    file.remove("x").unwrap();
    let one = length(&file);
    file.new_dataset("y").write(&megabyte).unwrap();
    let two = length(&file);
    assert!(one > 1 << 20 && two >= one + (1 << 20), "the space is taken: {one}, {two}");
    drop(kept);
    file.flush().unwrap();
    file.new_dataset("z").write(&megabyte).unwrap();
    assert!(length(&file) < two + 4096, "the space is used again");
}

#[test]
fn a_removed_group_keeps_its_links_and_accepts_new_ones() {
    let (file, medium) = new_file();
    let group = file.create_group("a/b").unwrap();
    strings(&file, "a/b/text");
    file.create_group("a/b/deep/deeper").unwrap();
    file.remove("a").unwrap();
    file.flush().unwrap();
    assert_eq!(group.member_names().unwrap(), ["deep", "text"]);
    assert_eq!(group.link_count().unwrap(), 0);
    group.new_dataset("deep/new").write(&[5, 6]).unwrap();
    group.remove("deep/deeper").unwrap();
    group.rename("text", "words").unwrap();
    assert_eq!(
        group.dataset("words").unwrap().read_strings::<hyperslab::IxDyn>(..).unwrap()[1],
        "twenty-two"
    );
    assert_eq!(group.dataset("deep/new").unwrap().link_count().unwrap(), 1);
    let word = group.dataset("words").unwrap();
    drop(group);
    file.flush().unwrap();
    // The group was deleted, and with it the last link to the open object.
    assert_eq!(word.link_count().unwrap(), 0);
    assert_eq!(word.read_strings::<hyperslab::IxDyn>(..).unwrap()[0], "one");
    file.link_hard("words", &word).unwrap();
    assert_eq!(file.member_names().unwrap(), ["words"]);
    file.close().unwrap();
    let again = File::from_bytes(sound(&medium)).unwrap();
    assert_eq!(again.dataset("words").unwrap().read_strings::<hyperslab::IxDyn>(..).unwrap()[2].len(), 30);
    assert_eq!(again.object("words").unwrap().link_count().unwrap(), 1);
}

#[test]
fn open_objects_of_a_removed_tree_survive_and_the_others_are_deleted() {
    let (file, medium) = new_file();
    for number in 0..20 {
        file.new_dataset(&format!("top/g{}/d{number}", number % 4)).write(&vec![number; 100]).unwrap();
    }
    let kept = file.dataset("top/g2/d6").unwrap();
    let gone = file.object("top/g2/d10").unwrap().token();
    file.remove("top").unwrap();
    assert_eq!(file.object_at(gone).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(kept.read_raw::<i32>(..).unwrap(), [6; 100]);
    file.link_hard("kept", &kept).unwrap();
    file.link_hard("again", &kept).unwrap();
    assert_eq!(kept.link_count().unwrap(), 2);
    file.close().unwrap();
    let again = File::from_bytes(sound(&medium)).unwrap();
    assert_eq!(again.dataset("again").unwrap().read_raw::<i32>(..).unwrap(), [6; 100]);
}

#[test]
fn an_unlinked_committed_datatype_and_its_users() {
    let (file, medium) = new_file();
    let datatype = file.commit_datatype("type", &f64::datatype()).unwrap();
    let builder = file.new_dataset("data").committed(&datatype).shape(&[3]);
    file.remove("type").unwrap();
    assert_eq!(datatype.link_count().unwrap(), 0);
    drop(datatype);
    file.flush().unwrap();
    // The builder has a separate handle.
    let dataset = builder.create().unwrap();
    let token = dataset.committed_datatype().unwrap();
    assert_eq!(file.object_at(token).unwrap().link_count().unwrap(), 1);
    let kept = file.object_at(token).unwrap().into_datatype().unwrap();
    drop(dataset);
    file.remove("data").unwrap();
    assert_eq!(kept.link_count().unwrap(), 0);
    assert_eq!(*kept.datatype(), Datatype::clone(&f64::datatype()));
    kept.set_attribute("unit", "m").unwrap();
    drop(kept);
    file.close().unwrap();
    sound(&medium);
}

#[test]
fn unlinked_datasets_of_every_layout_stay_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layouts.h5");
    let file = options().create(&path).unwrap();
    let new = |name: &str| file.new_dataset(name).of::<i32>().shape(&[40]);
    let datasets = vec![
        new("contiguous").create().unwrap(),
        new("compact").compact().create().unwrap(),
        new("chunked").chunks(&[7]).unlimited().create().unwrap(),
        new("filtered").chunks(&[7]).shuffle().deflate(3).create().unwrap(),
        new("sparse").sparse(&[8]).create().unwrap(),
    ];
    for dataset in &datasets {
        file.remove(dataset.name()).unwrap();
    }
    file.flush().unwrap();
    for dataset in &datasets {
        dataset.write(Region::new(&[3], &[30]).unwrap(), &[9; 30]).unwrap();
        file.flush().unwrap();
        assert_eq!(dataset.read_raw::<i32>(..).unwrap()[2..5], [0, 9, 9], "{dataset:?}");
    }
    let sparse = datasets.last().unwrap();
    sparse.sparse().write(&Points { rank: 1, coordinates: vec![39] }, &[1]).unwrap();
    assert_eq!(sparse.sparse().defined_count().unwrap(), 31);
    let copy = file.copy(sparse, "copy").unwrap().into_dataset().unwrap();
    assert_eq!(copy.sparse().defined_count().unwrap(), 31);
    drop(datasets);
    assert_eq!(file.member_names().unwrap(), ["copy"]);
    file.close().unwrap();
    let report = hyperslab_check::check_path(&path).unwrap();
    assert_eq!((report.faults, report.leaked_bytes()), (0, 0), "{:#?}", report.findings);
}

#[test]
fn a_virtual_dataset_and_its_source() {
    let (file, medium) = new_file();
    let source = file.new_dataset("source").write(&[1, 2, 3, 4]).unwrap();
    let mapping = VirtualMapping {
        file: b".".to_vec(),
        dataset: b"/source".to_vec(),
        selection: Selection::All,
        source_selection: Selection::All,
    };
    let shown =
        file.new_dataset("shown").of::<i32>().shape(&[4]).virtual_sources(&[mapping]).create().unwrap();
    assert_eq!(shown.read_raw::<i32>(..).unwrap(), [1, 2, 3, 4]);
    file.remove("source").unwrap();
    // A virtual dataset finds its sources by name.
    assert_eq!(shown.read_raw::<i32>(..).unwrap(), [0; 4]);
    file.remove("shown").unwrap();
    file.flush().unwrap();
    file.link_hard("source", &source).unwrap();
    assert_eq!(shown.read_raw::<i32>(..).unwrap(), [1, 2, 3, 4]);
    shown.write(.., &[5, 6, 7, 8]).unwrap();
    assert_eq!(source.read_raw::<i32>(..).unwrap(), [5, 6, 7, 8]);
    drop((shown, source));
    file.close().unwrap();
    sound(&medium);
}

#[test]
fn a_cycle_of_links_is_not_deleted() {
    let (file, _medium) = new_file();
    let group = file.create_group("a/b").unwrap();
    group.link_hard("up", &file.group("a").unwrap()).unwrap();
    file.remove("a").unwrap();
    // One link to the group remains: the link in the group itself.
    assert_eq!(group.group("up").unwrap().member_names().unwrap(), ["b"]);
    group.remove("up").unwrap();
    file.flush().unwrap();
    // The parent group was deleted with its last link. This group thereby lost its last link too.
    assert_eq!(group.link_count().unwrap(), 0);
    file.link_hard("b", &group).unwrap();
    file.close().unwrap();
}

#[test]
fn walks_and_attributes_are_handles() {
    let (file, medium) = new_file();
    for name in ["a/x", "b/y", "c/z"] {
        file.new_dataset(name).write(&[1, 2]).unwrap().set_attribute("n", 5).unwrap();
    }
    let attribute = file.dataset("b/y").unwrap().attribute("n").unwrap();
    let mut walk = file.walk();
    assert_eq!(walk.next().unwrap().path, b"/");
    assert_eq!(walk.next().unwrap().path, b"/a");
    file.remove("b").unwrap();
    file.flush().unwrap();
    let taker = file.new_dataset("b").write(&[9; 200]).unwrap();
    let rest: Vec<String> = walk
        .map(|visited| {
            assert!(visited.object.is_ok());
            String::from_utf8(visited.path).unwrap()
        })
        .collect();
    assert_eq!(rest, ["/c", "/a/x", "/c/z"], "what is removed meanwhile is passed over");
    assert_eq!(attribute.read_scalar::<i32>().unwrap(), 5);
    drop((attribute, taker));
    file.close().unwrap();
    sound(&medium);
}

#[test]
fn swmr_writing_begins_and_ends_while_handles_are_open() {
    use hyperslab::{LibraryVersion, LibverBounds};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swmr.h5");
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let file = options().libver(bounds).create(&path).unwrap();
    let log =
        file.new_dataset("log").of::<i32>().shape(&[0]).max_shape(&[None]).chunks(&[10]).create().unwrap();
    let before = file.new_dataset("before").write(&[1; 50]).unwrap();
    let during = file.new_dataset("during").write(&[2; 50]).unwrap();
    let after = file.new_dataset("after").write(&[3; 50]).unwrap();
    for name in ["before", "during", "after"] {
        file.remove(name).unwrap();
    }
    drop(before);
    file.start_swmr_write().unwrap();
    log.append(0, &[1, 2, 3]).unwrap();
    drop(during);
    file.flush().unwrap();
    assert_eq!(after.read_raw::<i32>(..).unwrap(), [3; 50]);
    file.close().unwrap();
    assert!(after.read_raw::<i32>(..).is_err());
    drop((after, log));
    let report = hyperslab_check::check_path(&path).unwrap();
    assert_eq!(report.faults, 0, "{:#?}", report.findings);
    let again = File::open(&path).unwrap();
    assert_eq!(again.dataset("log").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
}
