//! Dense arrays written to sparse datasets, and compressed rows read in blocks, compared with naive
//! models.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::filter::FilterSpec;
use hyperslab::{Dataset, ErrorKind, File, FileOptions, Points, Section};
use ndarray::{ArrayD, Dimension as _, IxDyn, ShapeBuilder as _};
use proptest::prelude::*;

/// Returns an array of a few dimensions, most of whose elements are `fill`.
fn arrays(fill: i16) -> impl Strategy<Value = ArrayD<i16>> {
    proptest::collection::vec(1_usize..9, 1..5).prop_flat_map(move |shape| {
        let count: usize = shape.iter().product();
        let element = prop_oneof![4 => Just(fill), 1 => -3_i16..3];
        (proptest::collection::vec(element, count), any::<bool>()).prop_map(move |(values, fortran)| {
            ArrayD::from_shape_vec(IxDyn(&shape).set_f(fortran), values).unwrap()
        })
    })
}

/// Returns the coordinates and values of elements that differ from `fill`, in C order.
fn model(array: &ArrayD<i16>, fill: i16) -> (Vec<u64>, Vec<i16>) {
    let differing = || array.indexed_iter().filter(|(_, value)| **value != fill);
    let coordinates =
        differing().flat_map(|(at, _)| at.slice().iter().map(|at| *at as u64).collect::<Vec<_>>());
    (coordinates.collect(), differing().map(|(_, value)| *value).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_elements_that_differ_from_the_fill_value_are_defined(fill in -1_i16..2, first in arrays(0), second in arrays(1)) {
        let file = FileOptions::new().create_in_memory().unwrap();
        for (name, array) in [("first", &first), ("second", &second)] {
            let dims: Vec<u64> = array.shape().iter().map(|size| *size as u64).collect();
            let chunk: Vec<u64> = dims.iter().map(|size| size.div_ceil(2)).collect();
            let a = file.new_dataset(name).of::<i32>().shape(&dims).sparse(&chunk).fill(i32::from(fill)).create().unwrap();
            // Elements that were defined before become undefined.
            let some = Points { rank: dims.len(), coordinates: vec![0; dims.len()] };
            a.sparse().write(&some, &[77]).unwrap();
            a.sparse().write_nonzero(array).unwrap();
            let (points, values) = a.sparse().read::<i16>(..).unwrap();
            prop_assert_eq!((points.coordinates, values), model(array, fill));
            prop_assert_eq!(&a.read::<i16, IxDyn>(..).unwrap(), array);
        }
    }

    #[test]
    fn blocks_of_rows_equal_the_rows(array in proptest::collection::vec(prop_oneof![3 => Just(0_i16), 1 => 1_i16..9], 17 * 6), rows in 0_u64..20) {
        let array = ArrayD::from_shape_vec(IxDyn(&[17, 6]), array).unwrap();
        let file = FileOptions::new().create_in_memory().unwrap();
        let a = file.new_dataset("a").of::<i16>().shape(&[17, 6]).sparse(&[4, 3]).create().unwrap();
        a.sparse().write_nonzero(&array).unwrap();
        let (mut next, mut coordinates, mut values) = (0, Vec::new(), Vec::new());
        for block in a.sparse().csr_rows::<i16, u32>(rows) {
            let (first, block) = block.unwrap();
            prop_assert_eq!(first, next);
            prop_assert_eq!(first % 4, 0);
            next = first + block.starts.len() as u64 - 1;
            prop_assert!(next == 17 || next - first >= rows);
            for (row, bounds) in (first..).zip(block.starts.windows(2)) {
                coordinates.extend(block.indices[bounds[0]..bounds[1]].iter().flat_map(|column| [row, u64::from(*column)]));
            }
            values.extend(block.values);
        }
        prop_assert_eq!(next, 17);
        prop_assert_eq!((coordinates, values), model(&array, 0));
    }
}

fn sparse(path: &str) -> Dataset {
    let file = FileOptions::new().create_in_memory().unwrap();
    file.new_dataset(path).of::<f64>().shape(&[4, 3]).sparse(&[2, 3]).fill(f64::NAN).create().unwrap()
}

#[test]
fn nan_elements_equal_a_nan_fill_value() {
    let a = sparse("a");
    let mut array = ndarray::Array2::from_elem((4, 3), f64::NAN);
    array[[3, 1]] = 0.0;
    a.sparse().write_nonzero(&array).unwrap();
    assert_eq!(a.sparse().read::<f64>(..).unwrap().1, [0.0]);
}

#[test]
fn refused_arrays_change_nothing() {
    let a = sparse("a");
    a.sparse().write(&Points { rank: 2, coordinates: vec![1, 1] }, &[5.0]).unwrap();
    let error = a.sparse().write_nonzero(&ndarray::Array2::<f64>::zeros((3, 4))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert_eq!(a.sparse().defined_count().unwrap(), 1);
}

#[test]
fn blocks_of_chunk_rows_larger_than_a_block() {
    // A row has more elements than a block, so that each block is one row of chunks.
    let file = FileOptions::new().create_in_memory().unwrap();
    let a = file.new_dataset("a").of::<u8>().shape(&[5, 3_000_000]).sparse(&[2, 50_000]).create().unwrap();
    let mut array = ndarray::Array2::<u8>::zeros((5, 3_000_000));
    for (row, column) in [(0, 0), (1, 2_999_999), (2, 7), (3, 1_500_000), (4, 2_999_999)] {
        array[[row, column]] = 9;
    }
    a.sparse().write_nonzero(&array).unwrap();
    let (points, values) = a.sparse().read::<u8>(..).unwrap();
    assert_eq!(points.coordinates, [0, 0, 1, 2_999_999, 2, 7, 3, 1_500_000, 4, 2_999_999]);
    assert_eq!(values, [9; 5]);
}

#[test]
fn elements_are_in_c_order_in_datasets_of_more_rows_than_128_bits_number() {
    const WIDE: u64 = 1 << 62;
    let file = FileOptions::new().create_in_memory().unwrap();
    let shape = [4, WIDE, WIDE, WIDE, 8];
    let a = file.new_dataset("a").of::<i16>().shape(&shape).sparse(&[2, 4, 4, 4, 4]).create().unwrap();
    // The element of the second chunk is in the previous row.
    let ordered = [[1, WIDE - 1, WIDE - 1, WIDE - 2, 5], [1, WIDE - 1, WIDE - 1, WIDE - 1, 1]];
    let points = Points { rank: 5, coordinates: [ordered[1], ordered[0]].concat() };
    a.sparse().write(&points, &[2_i16, 1]).unwrap();
    let region = (0..4, WIDE - 4..WIDE, WIDE - 4..WIDE, WIDE - 4..WIDE, 0..8);
    let (points, values) = a.sparse().read::<i16>(region).unwrap();
    assert_eq!((points.coordinates, values), (ordered.concat(), vec![1, 2]));
}

/// Returns the bytes of the chunks of a random matrix with one percent of defined elements. `chunk`
/// is the shape of a chunk, or `None` for the automatic shape.
fn stored_bytes(chunk: Option<&[u64]>) -> (u64, Vec<u64>) {
    let file = FileOptions::new().create_in_memory().unwrap();
    let new = file.new_dataset("a").of::<f32>().shape(&[4000, 4000]);
    let new = match chunk {
        Some(chunk) => new.sparse(chunk),
        None => new.sparse_auto(),
    };
    let filters = [FilterSpec::shuffle(), FilterSpec::deflate(4)];
    let new = new.section_filters(Section::Selection, &filters).section_filters(Section::Values, &filters);
    let dataset = new.create().unwrap();
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 4000
    };
    let points: Vec<[u64; 2]> = (0..160_000).map(|_| [next(), next()]).collect();
    dataset.sparse().write(&Points::from_rows(points), &vec![1.0_f32; 160_000]).unwrap();
    file.flush().unwrap();
    let chunks = dataset.sparse().chunks().unwrap();
    (chunks.iter().map(|chunk| chunk.size).sum(), dataset.sparse().chunking().unwrap().shape)
}

/// Deflate finds the second copy of the coordinates in a chunk of the automatic shape.
#[test]
fn the_automatic_chunk_takes_fewer_bytes_than_a_larger_chunk() {
    let (automatic, shape) = stored_bytes(None);
    let (larger, _) = stored_bytes(Some(&[1000, 1000]));
    assert!(
        automatic * 10 < larger * 7,
        "{automatic} bytes in chunks of {shape:?}, {larger} bytes in larger chunks"
    );
    let (smaller, _) = stored_bytes(Some(&[500, 500]));
    assert!(
        automatic < smaller,
        "{automatic} bytes in chunks of {shape:?}, {smaller} bytes in smaller chunks"
    );
}

/// Creates a dataset of one chunk whose filter is deflate of a level.
fn deflated(file: &File, name: &str, level: u32) -> Dataset {
    let filters = [FilterSpec::deflate(level)];
    let new = file.new_dataset(name).of::<u32>().shape(&[1000, 1000]).sparse(&[1000, 1000]);
    let new = new.section_filters(Section::Selection, &filters).section_filters(Section::Values, &filters);
    new.create().unwrap()
}

#[test]
fn sections_with_the_same_bytes_are_stored_again_as_they_are() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let (small, fast) = (deflated(&file, "small", 9), deflated(&file, "fast", 1));
    let points = Points::from_rows((0..3000_u64).map(|at| [at / 3, at * at % 331 + at % 3 * 331]));
    let values: Vec<u32> = (0..3000).map(|at| at * at % 7919).collect();
    for dataset in [&small, &fast] {
        dataset.sparse().write(&points, &values).unwrap();
    }
    file.flush().unwrap();
    let section = |dataset: &Dataset, section| {
        let chunk = dataset.sparse().read_chunk(&[0, 0]).unwrap().unwrap();
        chunk.section(section).unwrap().to_vec()
    };
    let stored = small.sparse().read_chunk(&[0, 0]).unwrap().unwrap();
    let [selection, first] =
        [Section::Selection, Section::Values].map(|kind| stored.section(kind).unwrap().to_vec());
    assert_ne!(section(&fast, Section::Selection), selection, "the levels encode differently");
    fast.sparse().write_chunk(&[0, 0], &stored).unwrap();

    // Other values at the same points: only the section with the values is encoded.
    fast.sparse().write(&Points::from_rows([[0, 0]]), &[77_u32]).unwrap();
    file.flush().unwrap();
    assert_eq!(section(&fast, Section::Selection), selection);
    assert_ne!(section(&fast, Section::Values), first);
    let (found, after) = fast.sparse().read::<u32>(..).unwrap();
    assert_eq!((after[0], &after[1..]), (77, &small.sparse().read::<u32>(..).unwrap().1[1..]));
    assert_eq!(found.coordinates, small.sparse().read::<u32>(..).unwrap().0.coordinates);

    // A further point changes both sections.
    fast.sparse().write(&Points::from_rows([[999, 999]]), &[1_u32]).unwrap();
    file.flush().unwrap();
    assert_ne!(section(&fast, Section::Selection), selection);
    assert_eq!(fast.sparse().defined_count().unwrap(), small.sparse().defined_count().unwrap() + 1);
}
