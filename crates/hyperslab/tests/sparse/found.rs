//! Regressions that the random sequences found, and cases that they do not reach.

use std::sync::Arc;

use hyperslab::filter::FilterSpec;
use hyperslab::vfd::Core;
use hyperslab::{
    Block, Dataset, ErrorKind, File, FileOptions, Hyperslab, LibverBounds, OpenOptions, Points, Region,
    Section, Selection,
};

use crate::kind::Kind;

fn memory() -> File {
    FileOptions::new().create_in_memory().unwrap()
}

/// In datasets that are not sparse, all elements are defined, also those of chunks that are not
/// stored.
#[test]
fn all_elements_of_other_datasets_are_defined() {
    let file = memory();
    let text = file
        .new_dataset("a")
        .datatype(Kind::Words.datatype())
        .shape(&[3])
        .variable_chunks(&[2])
        .create()
        .unwrap();
    assert_eq!(text.sparse().defined_count().unwrap(), 3);
    assert_eq!(text.sparse().defined(..).unwrap(), Selection::All);
    let (points, stored) = text.sparse().read_stored(..).unwrap();
    assert_eq!((points.coordinates, stored.strings().unwrap()), (vec![0, 1, 2], vec![String::new(); 3]));
}

/// Defined elements are in C order without repetitions, whatever the order of the selected points.
#[test]
fn defined_elements_come_in_order() {
    let file = memory();
    let plain = file.new_dataset("a").write(&[10, 20, 30]).unwrap();
    let points = Selection::Points(Points { rank: 1, coordinates: vec![2, 0, 2] });
    let (points, values) = plain.sparse().read::<i32>(&points).unwrap();
    assert_eq!((points.coordinates, values), (vec![0, 2], vec![10, 30]));
}

/// Sections of variable-length data are encoded by mandatory filters, as other sections are.
#[test]
fn mandatory_filters_of_elements_of_variable_length() {
    let file = memory();
    let filters = [FilterSpec::shuffle().mandatory(), FilterSpec::deflate(6).mandatory()];
    let new = file.new_dataset("a").datatype(Kind::Words.datatype()).shape(&[100]).sparse(&[50]);
    let text = new
        .section_filters(Section::Values, &filters)
        .section_filters(Section::Heap, &filters)
        .create()
        .unwrap();
    let texts: Vec<String> = (0..100).map(|number| format!("text {number}")).collect();
    text.write_strings(.., &texts).unwrap();
    file.flush().unwrap();
    assert_eq!(text.read_strings::<hyperslab::IxDyn>(..).unwrap().into_raw_vec_and_offset().0, texts);
    let chunk = text.sparse().read_chunk(&[0]).unwrap().unwrap();
    assert!(chunk.info.sections[1].size < chunk.info.sections[1].unfiltered / 4);
}

/// A change of the shape together with the only chunk is stored in the object header.
#[test]
fn a_shape_and_a_single_chunk_change_together() {
    for filter in [FilterSpec::deflate(9), FilterSpec::fletcher32()] {
        let medium = Arc::new(Core::from_vec("found", Vec::new()));
        let file = FileOptions::new().create_driver(medium.clone()).unwrap();
        let new = file.new_dataset("a").of::<u8>().shape(&[3]).max_shape(&[Some(3)]).sparse(&[3]);
        new.unfiltered_edges().fill(21_u8).section_filters(Section::Values, &[filter]).create().unwrap();
        file.close().unwrap();
        let file =
            OpenOptions::new().write(true).libver(LibverBounds::LATEST).open_driver(medium.clone()).unwrap();
        let a = file.dataset("a").unwrap();
        a.write(.., &[17_u8, 2, 8]).unwrap();
        file.close().unwrap();
        let file =
            OpenOptions::new().write(true).libver(LibverBounds::LATEST).open_driver(medium.clone()).unwrap();
        let a = file.dataset("a").unwrap();
        file.flush().unwrap();
        let point = Selection::Points(Points { rank: 1, coordinates: vec![2] });
        a.write(&point, &[11_u8]).unwrap();
        a.resize(&[1]).unwrap();
        a.write(.., &[4_u8]).unwrap();
        let again = file.dataset("a").unwrap();
        assert_eq!(again.read_raw::<u8>(..).unwrap(), [4]);
        file.close().unwrap();
        let again = File::from_bytes(medium.to_vec()).unwrap().dataset("a").unwrap();
        assert_eq!(again.read_raw::<u8>(..).unwrap(), [4]);
    }
}

/// Dirty elements of a chunk survive a later change of this chunk that fails.
#[test]
fn dirty_elements_survive_a_failed_change() {
    let file = memory();
    let new = file.new_dataset("a").datatype(Kind::Words.datatype()).shape(&[4]);
    let text = new.sparse(&[4]).create().unwrap();
    text.sparse().write_strings(&Points { rank: 1, coordinates: vec![1] }, &["one"]).unwrap();
    // Descriptors of the global heap, which structured chunks cannot contain.
    let elements = [[7_u8; 16]; 4].concat();
    text.write_stored(.., &elements).unwrap_err();
    assert_eq!(
        text.read_strings::<hyperslab::IxDyn>(..).unwrap().into_raw_vec_and_offset().0,
        ["", "one", "", ""]
    );
}

/// A chunk at the edge with few elements in very many rows costs no more than other chunks.
#[test]
fn large_chunks_at_the_edge() {
    let file = memory();
    let shape = [1 << 20, 1 << 20, 3];
    let a = file.new_dataset("a").of::<u8>().shape(&shape).sparse(&[1 << 20, 1 << 20, 3]);
    let a = a.max_shape(&[None, None, None]).create().unwrap();
    let points = Points { rank: 3, coordinates: vec![0, 5, 1, 7, 9, 2, (1 << 20) - 1, 0, 0] };
    a.sparse().write(&points, &[1_u8, 2, 3]).unwrap();
    file.flush().unwrap();
    a.resize(&[(1 << 20) - 1, 1 << 20, 2]).unwrap();
    let (points, values) = a.sparse().read::<u8>(..).unwrap();
    assert_eq!((points.coordinates, values), (vec![0, 5, 1], vec![1]));
    a.sparse().erase(..).unwrap();
    assert_eq!(a.sparse().chunks().unwrap(), []);
}

/// A dataset at the address of a deleted dataset does not read the deleted dataset's cached chunks.
#[test]
fn a_new_dataset_at_the_address_of_a_deleted_one() {
    let file = memory();
    for value in [1_u8, 2, 3] {
        let a = file.new_dataset("a").of::<u8>().shape(&[100]).sparse(&[100]).create().unwrap();
        a.write(.., &[value; 100]).unwrap();
        file.flush().unwrap();
        assert_eq!(a.read_raw::<u8>(..).unwrap(), [value; 100]);
        file.remove("a").unwrap();
    }
}

/// Other programs may shrink a dataset and keep the elements outside in the file. Such elements are
/// undefined, also after the dataset grows.
#[test]
fn stored_elements_outside_the_extent_stay_undefined() {
    use hyperslab_format::codec::checksum;
    let medium = Arc::new(Core::from_vec("found", Vec::new()));
    let file = FileOptions::new().libver(LibverBounds::LATEST).create_driver(medium.clone()).unwrap();
    let a = file.new_dataset("a").of::<u8>().shape(&[20]).unlimited().sparse(&[5]).create().unwrap();
    a.write(.., &(1..21).collect::<Vec<u8>>()).unwrap();
    file.close().unwrap();
    let mut bytes = medium.to_vec();
    let shape = [20_u64.to_le_bytes(), [0xff; 8]].concat();
    let place = bytes.windows(16).position(|window| window == shape).unwrap();
    let start = bytes[..place].windows(4).rposition(|window| window == b"OHDR").unwrap();
    let sealed = |end: &usize| checksum(&bytes[start..*end]).to_le_bytes() == bytes[*end..*end + 4];
    let end = (place..bytes.len() - 4).find(sealed).unwrap();
    bytes[place] = 12;
    let sum = checksum(&bytes[start..end]).to_le_bytes();
    bytes[end..end + 4].copy_from_slice(&sum);
    let medium = Arc::new(Core::from_vec("found", bytes));
    let file = OpenOptions::new().write(true).libver(LibverBounds::LATEST).open_driver(medium).unwrap();
    let a = file.dataset("a").unwrap();
    assert_eq!(a.read_raw::<u8>(..).unwrap(), (1..13).collect::<Vec<u8>>());
    assert_eq!(a.sparse().defined_count().unwrap(), 12);
    a.resize(&[20]).unwrap();
    assert_eq!(a.sparse().defined_count().unwrap(), 12);
    assert_eq!(a.read_raw::<u8>(..).unwrap()[12..], [0; 8]);
}

/// The time of a resize does not depend on chunks that are not stored.
#[test]
fn a_large_growth_takes_no_time() {
    let file = memory();
    for (name, maximum) in [("a", [None, Some(4)]), ("b", [Some(4), None]), ("c", [None, None])] {
        let new = file.new_dataset(name).of::<u8>().shape(&[4, 4]).max_shape(&maximum).sparse(&[1, 2]);
        let a = new.create().unwrap();
        a.write(.., &[1_u8; 16]).unwrap();
        file.flush().unwrap();
        let long = maximum.map(|maximum| maximum.map_or(1 << 40, |_| 4));
        a.resize(&long).unwrap();
        assert_eq!(a.sparse().defined_count().unwrap(), 16);
        a.resize(&[4, 3]).unwrap();
        assert_eq!(a.sparse().defined_count().unwrap(), 12);
    }
}

/// Creates a dataset with very many rows, of which few are written.
fn vast(file: &File, rows: u64, chunk: &[u64]) -> Dataset {
    let new = file.new_dataset("vast").of::<i32>().shape(&[rows, 8]).sparse(chunk);
    new.create().unwrap()
}

#[test]
fn reads_of_undefined_elements_take_no_time() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let rows = 1 << 50;
    let dataset = vast(&file, rows, &[1, 4]);
    let points = Points { rank: 2, coordinates: vec![5, 7, rows - 1, 0, 1 << 40, 3] };
    dataset.sparse().write(&points, &[1, 2, 3]).unwrap();
    let (found, values) = dataset.sparse().read::<i32>(..).unwrap();
    assert_eq!((found.coordinates, values), (vec![5, 7, 1 << 40, 3, rows - 1, 0], vec![1, 3, 2]));
    // Two distant blocks, and every 2^40th row.
    let block = |row: u64| Block { start: [row, 1].as_slice().into(), end: [row + 1, 2].as_slice().into() };
    let blocks = vec![block(10), block(1 << 45)];
    let far = Selection::Hyperslab(Hyperslab::Irregular { rank: 2, blocks });
    dataset.write(&far, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    assert_eq!(dataset.read_raw::<i32>(&far).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let strided = Hyperslab::Regular(hyperslab::RegularHyperslab::strided(&[0, 0], &[1 << 40, 1], &[4, 1]));
    dataset.write(Selection::Hyperslab(strided), &[9, 9, 9, 9]).unwrap();
    assert_eq!(dataset.sparse().defined_count().unwrap(), 15);
    assert!(file.info().length < 100_000, "{}", file.info().length);
    // Memory cannot hold so many rows.
    assert_eq!(dataset.sparse().read_csr::<i32, u32>().unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(dataset.sparse().read_csr_rows::<i32, u32>(10..12).unwrap().values, [1, 2, 3, 4]);
}

#[test]
fn few_elements_of_a_chunk_of_many_rows() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let dataset = vast(&file, 1 << 40, &[1 << 40, 4]);
    let points = Points { rank: 2, coordinates: vec![0, 0, 0, 1, 1 << 39, 1, 1 << 39, 6] };
    dataset.sparse().write(&points, &[1, 2, 3, 4]).unwrap();
    let column = Selection::region(&Region::new(&[0, 1], &[1 << 40, 1]).unwrap());
    let (found, values) = dataset.sparse().read::<i32>(&column).unwrap();
    assert_eq!((found.coordinates, values), (vec![0, 1, 1 << 39, 1], vec![2, 3]));
}

#[test]
fn chunks_higher_than_their_dataset() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let new = file.new_dataset("low").of::<i32>().shape(&[3, 8]).max_shape(&[Some(1 << 40), Some(8)]);
    let dataset = new.sparse(&[1 << 40, 4]).create().unwrap();
    dataset.sparse().write_csr(&[0_u32, 1, 1, 2], &[7_u32, 0], &[5, 6]).unwrap();
    let matrix = dataset.sparse().read_csr::<i32, u32>().unwrap();
    assert_eq!((matrix.starts, matrix.indices, matrix.values), (vec![0, 1, 1, 2], vec![7, 0], vec![5, 6]));
}

#[test]
fn elements_of_many_dimensions_in_c_order() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let dims = [6, 1 << 20, 1 << 20, 8];
    let dataset =
        file.new_dataset("a").of::<i32>().shape(&dims).sparse(&[3, 1 << 10, 1 << 20, 4]).create().unwrap();
    let mut points: Vec<[u64; 4]> = (0..500_u64)
        .map(|at| [at % 6, at * 7_919 % (1 << 20), at * 104_729 % (1 << 20), at * 31 % 8])
        .collect();
    let values: Vec<i32> = (0..500).collect();
    let coordinates = points.concat();
    dataset.sparse().write(&Points { rank: 4, coordinates }, &values).unwrap();
    let (found, read) = dataset.sparse().read::<i32>(..).unwrap();
    let mut sorted: Vec<([u64; 4], i32)> = points.drain(..).zip(values).collect();
    sorted.sort_unstable();
    assert_eq!(found.coordinates, sorted.iter().flat_map(|(point, _)| *point).collect::<Vec<_>>());
    assert_eq!(read, sorted.iter().map(|(_, value)| *value).collect::<Vec<_>>());
}
