//! The sizes of indexes and heaps that objects state, against the walks of the checker, which reads
//! every block by itself.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::{File, FileOptions, LibraryVersion, LibverBounds, ObjectKind};
use hyperslab_check::{MetadataBytes, Owner, check_path};
use hyperslab_testkit::fixtures;

/// A fixture whose heap of links has filters.
const FILTERED: &str = "groups_filtered_heap_latest.h5";

/// Returns the sizes of all objects of a file, summed in the terms of the checker.
fn stated(file: &File) -> MetadataBytes {
    let mut sum = MetadataBytes::default();
    for visited in file.walk() {
        let object = visited.object.unwrap();
        let (own, attributes) = object.index_bytes().unwrap();
        if object.kind() == Some(ObjectKind::Dataset) {
            sum.chunk_index += own.index;
            sum.external_heap += own.heap;
        } else {
            sum.link_index += own.index;
            sum.link_heap += own.heap;
        }
        sum.attribute_index += attributes.index;
        sum.attribute_heap += attributes.heap;
    }
    let of_file = file.metadata_bytes().unwrap();
    sum.shared_table = of_file.shared_table;
    sum.shared_index = of_file.shared_index;
    sum.shared_heap = of_file.shared_heap;
    sum.free_space_managers = of_file.free_space_managers;
    sum
}

/// Returns the sizes that the checker finds, without object headers. The heaps of datasets are one
/// number.
fn found(path: &std::path::Path) -> Option<MetadataBytes> {
    let report = check_path(path).ok().filter(hyperslab_check::Report::is_sound)?;
    let mut sum = MetadataBytes::default();
    for owner in [Owner::File, Owner::Group, Owner::Dataset, Owner::Datatype, Owner::Other] {
        let part = report.metadata_of(owner);
        sum.link_index += part.link_index;
        sum.link_heap += part.link_heap;
        sum.attribute_index += part.attribute_index;
        sum.attribute_heap += part.attribute_heap;
        sum.chunk_index += part.chunk_index;
        sum.external_heap += part.external_heap + part.mappings;
        sum.shared_table += part.shared_table;
        sum.shared_index += part.shared_index;
        sum.shared_heap += part.shared_heap;
        sum.free_space_managers += part.free_space_managers;
    }
    Some(sum)
}

#[test]
fn objects_state_the_sizes_that_the_checker_finds() {
    let (mut compared, mut sizes) = (0, MetadataBytes::default());
    for name in fixtures::names().unwrap() {
        let path = fixtures::path(&name);
        let Some(found) = found(&path) else { continue };
        let Ok(file) = File::open(&path) else { continue };
        let mut stated = stated(&file);
        if name == FILTERED {
            // Objects state the sizes of heap blocks before the filters, as libhdf5 does.
            assert!(stated.link_heap > found.link_heap, "{name}");
            stated.link_heap = found.link_heap;
        }
        assert_eq!(stated, found, "{name}");
        compared += 1;
        sizes.link_index += found.link_index;
        sizes.link_heap += found.link_heap;
        sizes.attribute_index += found.attribute_index;
        sizes.attribute_heap += found.attribute_heap;
        sizes.chunk_index += found.chunk_index;
        sizes.shared_heap += found.shared_heap;
        sizes.free_space_managers += found.free_space_managers;
    }
    println!("{compared} files compared: {sizes:?}");
    assert!(compared > 40, "{compared} files were compared");
    for size in [sizes.link_index, sizes.link_heap, sizes.attribute_index, sizes.attribute_heap] {
        assert!(size > 0, "{sizes:?}");
    }
    for size in [sizes.chunk_index, sizes.shared_heap, sizes.free_space_managers] {
        assert!(size > 0, "{sizes:?}");
    }
}

#[test]
fn a_dataset_changes_to_the_old_layout() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let path = folder.path().join("a.h5");
    let file = FileOptions::new().libver(bounds).create(&path).unwrap();
    let values: Vec<i32> = (0..60).collect();
    let shapes = [
        ("fixed", [Some(6), Some(10)]),
        ("extensible", [None, Some(10)]),
        ("tree", [None, None]),
        ("filtered", [Some(6), Some(10)]),
    ];
    for (name, largest) in shapes {
        let new = file.new_dataset(name).of::<i32>().shape(&[6, 10]).max_shape(&largest).chunks(&[2, 3]);
        let new = if name == "filtered" { new.deflate(4) } else { new };
        let dataset = new.create().unwrap();
        dataset.write(.., &values).unwrap();
        dataset.use_old_layout().unwrap();
        let hyperslab::Layout::Chunked(chunking) = dataset.layout() else { panic!("{name}") };
        assert_eq!(chunking.index, hyperslab::ChunkIndexKind::BTreeV1, "{name}");
        assert_eq!(dataset.read_raw::<i32>(..).unwrap(), values, "{name}");
    }
    let single = file.new_dataset("contiguous").write(&values).unwrap();
    single.use_old_layout().unwrap();
    file.use_old_superblock().unwrap();
    // A change after the conversion, and what other programs find.
    file.dataset("tree").unwrap().resize(&[7, 10]).unwrap();
    file.close().unwrap();
    let report = check_path(&path).unwrap();
    assert!(report.is_sound(), "{}", report.summary_only());
    let file = File::open(&path).unwrap();
    assert_eq!(file.dataset("tree").unwrap().read_raw::<i32>(..).unwrap()[..60], values);
}
