//! Copies within a file and between files.

use hyperslab::filter::FilterSpec;
use hyperslab::{
    CharacterSet, ChunkIndexKind, Dataset, Datatype, ErrorKind, File, FileOptions, LibraryVersion,
    LibverBounds, Points, Section, SelectionEncoding,
};

use super::{check, file, points, same_bytes, same_texts};

/// The shape, the largest shape, the chunk shape and the index.
type Shape = (Vec<u64>, Vec<Option<u64>>, Vec<u64>, ChunkIndexKind);

/// Returns shapes, and the chunk index of each shape.
fn shapes() -> [Shape; 4] {
    [
        (vec![20, 30], vec![Some(20), Some(30)], vec![20, 30], ChunkIndexKind::Single),
        (vec![25, 33], vec![Some(25), Some(40)], vec![7, 10], ChunkIndexKind::FixedArray),
        (vec![25, 33], vec![Some(25), None], vec![7, 10], ChunkIndexKind::ExtensibleArray),
        (vec![25, 33], vec![None, None], vec![7, 10], ChunkIndexKind::BTreeV2),
    ]
}

/// Checks that every stored chunk has the same bytes in both datasets.
fn same_chunks(one: &Dataset, other: &Dataset) {
    let (first, second) = (one.sparse().chunks().unwrap(), other.sparse().chunks().unwrap());
    assert_eq!(first.len(), second.len());
    for chunk in first {
        let before = one.sparse().read_chunk(&chunk.offset).unwrap().unwrap();
        let after = other.sparse().read_chunk(&chunk.offset).unwrap().unwrap();
        assert_eq!(before.bytes, after.bytes);
        assert_eq!(before.info.sections, after.info.sections);
    }
}

fn numbers(file: &File, name: &str, shape: usize, filtered: bool, encoding: SelectionEncoding) -> Dataset {
    let (dims, max_dims, chunk, index) = shapes()[shape].clone();
    let mut new =
        file.new_dataset(name).of::<i32>().shape(&dims).max_shape(&max_dims).sparse(&chunk).fill(-7);
    new = new.selection_encoding(encoding);
    if filtered {
        new = new
            .shuffle()
            .deflate(3)
            .section_filters(Section::Selection, &[FilterSpec::fletcher32()])
            .unfiltered_edges();
    }
    let made = new.create().unwrap();
    let points = points(&dims, 70);
    let values: Vec<i32> = (0..).take(points.coordinates.len() / 2).collect();
    made.sparse().write(&points, &values).unwrap();
    assert_eq!(made.sparse().chunking().unwrap().index, index);
    made
}

#[test]
fn copies_contain_the_same_stored_chunks() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (offsets, lengths)) in [(8, 8), (4, 8)].into_iter().enumerate() {
        for filtered in [false, true] {
            let (from, to) =
                (folder.path().join("from.h5"), folder.path().join(format!("to{number}{filtered}.h5")));
            let source = file(&from, 8, 8);
            let target = file(&to, offsets, lengths);
            for shape in 0..4 {
                for encoding in [SelectionEncoding::Blocks, SelectionEncoding::Points] {
                    let name = format!("a{shape}{encoding:?}");
                    let before = numbers(&source, &name, shape, filtered, encoding);
                    target.copy(&before, &name).unwrap();
                    let after = target.dataset(&name).unwrap();
                    same_bytes(&before, &after);
                    same_chunks(&before, &after);
                    let (chunking, other) = (before.sparse().chunking(), after.sparse().chunking());
                    assert_eq!(chunking, other);
                    assert_eq!(after.read_raw::<i32>(..).unwrap(), before.read_raw::<i32>(..).unwrap());
                    source.copy(&before, &format!("again/{name}")).unwrap();
                    same_chunks(&before, &source.dataset(&format!("again/{name}")).unwrap());
                }
            }
            source.close().unwrap();
            target.close().unwrap();
            check(&from);
            check(&to);
        }
    }
}

#[test]
fn elements_added_to_a_copy_have_the_same_encoding() {
    let source = FileOptions::new().create_in_memory().unwrap();
    let target = FileOptions::new().create_in_memory().unwrap();
    let before = numbers(&source, "a", 3, false, SelectionEncoding::Points);
    target.copy(&before, "a").unwrap();
    let after = target.dataset("a").unwrap();
    for dataset in [&before, &after] {
        dataset.sparse().write(&Points { rank: 2, coordinates: vec![0, 0, 24, 32] }, &[5, 6]).unwrap();
        dataset
            .sparse()
            .erase(hyperslab::Selection::Points(Points { rank: 2, coordinates: vec![0, 0] }))
            .unwrap();
    }
    same_chunks(&before, &after);
}

/// Creates a dataset with texts, sequences in compounds, and an element without heap data.
fn texts(file: &File, width: u8, sparse: bool) -> Dataset {
    let text = Datatype::variable_string(CharacterSet::Utf8, width);
    let new = file.new_dataset(if sparse { "sparse" } else { "dense" }).datatype(text).shape(&[50]);
    let new = if sparse { new.sparse(&[8]) } else { new.variable_chunks(&[8]) };
    let made = new.deflate(5).unfiltered_edges().create().unwrap();
    let points = Points { rank: 1, coordinates: vec![0, 3, 4, 30, 49] };
    made.sparse().write_strings(&points, &["zero", "", "four and more", "µ", "last"]).unwrap();
    made
}

#[test]
fn texts_between_files_of_all_widths() {
    let folder = tempfile::tempdir().unwrap();
    for (from_width, to_width) in [(8, 8), (8, 4), (4, 8), (4, 4)] {
        let path = folder.path().join(format!("{from_width}{to_width}.h5"));
        let source = FileOptions::new().sizes(from_width, 8).create_in_memory().unwrap();
        let target = file(&path, to_width, 8);
        for sparse in [true, false] {
            let before = texts(&source, from_width, sparse);
            target.copy(&before, before.name()).unwrap();
            let after = target.dataset(before.name()).unwrap();
            assert_eq!(after.datatype().size, u32::from(to_width) + 8);
            assert_eq!(
                before.read_strings::<hyperslab::IxDyn>(..).unwrap(),
                after.read_strings::<hyperslab::IxDyn>(..).unwrap()
            );
            assert_eq!(after.read_strings::<hyperslab::IxDyn>(..).unwrap()[4], "four and more");
            if sparse {
                same_texts(&before, &after);
                assert_eq!(after.sparse().defined_count().unwrap(), 5);
            }
            if from_width == to_width {
                same_chunks(&before, &after);
            }
        }
        target.close().unwrap();
        check(&path);
    }
}

#[test]
fn references_refer_to_the_copies() {
    let source = FileOptions::new().create_in_memory().unwrap();
    source.new_dataset("g/x").write(&[1.5]).unwrap();
    let refs =
        source.new_dataset("g/refs").datatype(Datatype::object_reference(8)).shape(&[100]).sparse(&[10]);
    let refs = refs.create().unwrap();
    let address = source.object("g/x").unwrap().token().address().to_le_bytes();
    refs.sparse().write_bytes(&Points { rank: 1, coordinates: vec![42] }, refs.datatype(), &address).unwrap();
    let target = FileOptions::new().sizes(4, 8).create_in_memory().unwrap();
    target.new_dataset("elsewhere").write(&[0; 100]).unwrap();
    target.copy(&source.object("g").unwrap(), "h").unwrap();
    let (points, stored) = target.dataset("h/refs").unwrap().sparse().read_stored(..).unwrap();
    assert_eq!(points.coordinates, [42]);
    let copied = u32::try_from(target.object("h/x").unwrap().token().address()).unwrap();
    assert_eq!(stored.bytes(), copied.to_le_bytes());
}

#[test]
fn copies_to_files_without_support_are_refused() {
    let source = FileOptions::new().create_in_memory().unwrap();
    let growing = numbers(&source, "growing", 2, false, SelectionEncoding::Blocks);
    let old = LibverBounds::new(LibraryVersion::V18, LibraryVersion::V114).unwrap();
    let target = FileOptions::new().libver(old).create_in_memory().unwrap();
    let error = target.copy(&growing, "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert!(super::chain(&error).contains("structured chunks need"), "{error}");
    let target = FileOptions::new().sizes(4, 4).create_in_memory().unwrap();
    let error = target.copy(&growing, "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(super::chain(&error).contains("lengths have fewer than 8 bytes"), "{error}");
    assert!(target.object("a").is_err());
}
