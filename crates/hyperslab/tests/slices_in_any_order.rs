//! Index lists, masks and reversed slices along any number of dimensions, compared with a naive
//! model.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![expect(clippy::indexing_slicing, reason = "in a test a panic is the report")]

use hyperslab::datatype::ByteOrder;
use hyperslab::{ArrayD, Dataset, Datatype, File, FileOptions, H5Type, Ix1, Ix2, IxDyn, Slice, s};
use proptest::prelude::*;

/// A slice, and the coordinates that it selects.
#[derive(Debug, Clone)]
struct Taken {
    slice: Slice,
    coordinates: Vec<usize>,
    /// True if the result does not have the dimension.
    single: bool,
}

fn slice(size: usize) -> impl Strategy<Value = Taken> {
    let list = proptest::collection::vec((0..size, any::<bool>()), 0..size * 2).prop_map(move |list| {
        let signed = |(at, negative): &(usize, bool)| {
            let at = i64::try_from(*at).unwrap();
            if *negative { at - i64::try_from(size).unwrap() } else { at }
        };
        let slice = Slice::from(list.iter().map(signed).collect::<Vec<i64>>());
        Taken { slice, coordinates: list.into_iter().map(|(at, _)| at).collect(), single: false }
    });
    let mask = proptest::collection::vec(any::<bool>(), size).prop_map(|mask| {
        let coordinates = (0..mask.len()).filter(|at| mask[*at]).collect();
        Taken { slice: Slice::from(mask), coordinates, single: false }
    });
    let range = (0..=size, 0..=size, 1..4_usize, any::<bool>()).prop_map(|(one, other, step, backwards)| {
        let range = one.min(other)..one.max(other);
        let mut coordinates: Vec<usize> = range.clone().collect();
        let distance = i64::try_from(step).unwrap();
        let slice = Slice::from(range);
        let slice = if backwards {
            coordinates.reverse();
            slice.step(-distance)
        } else {
            slice.step(distance)
        };
        Taken { slice, coordinates: coordinates.into_iter().step_by(step).collect(), single: false }
    });
    let one = (0..size).prop_map(|at| Taken { slice: at.into(), coordinates: vec![at], single: true });
    let any = prop_oneof![4 => list, 2 => mask, 2 => range, 1 => one];
    (any, any_reversal()).prop_map(|(mut taken, reversed)| {
        if reversed {
            taken.coordinates.reverse();
            taken.slice = taken.slice.reversed();
        }
        taken
    })
}

fn any_reversal() -> impl Strategy<Value = bool> {
    prop_oneof![3 => Just(false), 1 => Just(true)]
}

fn cases() -> impl Strategy<Value = (Vec<usize>, Vec<Taken>)> {
    proptest::collection::vec(1..7_usize, 1..5).prop_flat_map(|dims| {
        let slices: Vec<_> = dims.iter().map(|size| slice(*size)).collect();
        (Just(dims), slices)
    })
}

fn datasets(file: &File, dims: &[usize], numbers: &ArrayD<i32>) -> Vec<Dataset> {
    let chunks: Vec<u64> =
        dims.iter().zip([2, 3, 2, 4]).map(|(size, chunk)| chunk.min(*size as u64)).collect();
    let shape: Vec<u64> = dims.iter().map(|size| *size as u64).collect();
    let sparse = file.new_dataset("sparse").of::<i32>().shape(&shape).sparse(&chunks);
    vec![
        file.new_dataset("contiguous").write(numbers).unwrap(),
        file.new_dataset("chunked").chunks(&chunks).write(numbers).unwrap(),
        file.new_dataset("deflated").chunks(&chunks).deflate(1).write(numbers).unwrap(),
        sparse.write(numbers).unwrap(),
    ]
}

/// Returns the offsets in C order of the elements that slices select, and the shape of the result.
fn model(dims: &[usize], taken: &[Taken]) -> (Vec<usize>, Vec<usize>) {
    let mut offsets = vec![0];
    for (size, taken) in dims.iter().zip(taken) {
        let longer = |offset: &usize| {
            let offset = *offset;
            taken.coordinates.iter().map(move |at| offset * size + at)
        };
        offsets = offsets.iter().flat_map(longer).collect();
    }
    let kept = taken.iter().filter(|taken| !taken.single);
    (offsets, kept.map(|taken| taken.coordinates.len()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn reads_and_writes_equal_the_naive_model((dims, taken) in cases()) {
        let file = FileOptions::new().create_in_memory().unwrap();
        let count: usize = dims.iter().product();
        let all: Vec<i32> = (0..i32::try_from(count).unwrap()).collect();
        let numbers = ArrayD::from_shape_vec(IxDyn(&dims), all.clone()).unwrap();
        let (offsets, shape) = model(&dims, &taken);
        let expected: Vec<i32> = offsets.iter().map(|at| all[*at]).collect();
        let slices: Vec<Slice> = taken.iter().map(|taken| taken.slice.clone()).collect();
        for dataset in datasets(&file, &dims, &numbers) {
            let read = dataset.read::<i32, IxDyn>(&slices).unwrap();
            prop_assert_eq!(read.shape(), &shape);
            prop_assert_eq!(&read.into_raw_vec_and_offset().0, &expected);
            let wide: Vec<f64> = dataset.read_raw(&slices).unwrap();
            prop_assert!(wide.iter().eq(expected.iter().map(|value| f64::from(*value)).collect::<Vec<_>>().iter()));
            let stored = dataset.read_stored(&slices).unwrap();
            prop_assert_eq!(&stored.convert::<i32>().unwrap(), &expected);
            let mut bytes = vec![0; expected.len() * 8];
            dataset.read_bytes(&slices, &Datatype::i64(ByteOrder::BigEndian), &mut bytes).unwrap();
            let big: Vec<i64> = bytes.chunks_exact(8).map(|one| i64::from_be_bytes(one.try_into().unwrap())).collect();
            prop_assert!(big.iter().eq(expected.iter().map(|value| i64::from(*value)).collect::<Vec<_>>().iter()));

            let mut after = all.clone();
            let values: Vec<i32> = (0..i32::try_from(expected.len()).unwrap()).map(|number| -1 - number).collect();
            for (at, value) in offsets.iter().zip(&values) {
                after[*at] = *value;
            }
            let shaped = ArrayD::from_shape_vec(IxDyn(&shape), values.clone()).unwrap();
            dataset.write(&slices, &shaped).unwrap();
            prop_assert_eq!(&dataset.read_raw::<i32>(..).unwrap(), &after);
            let bytes: Vec<u8> = values.iter().flat_map(|value| i64::from(*value + 5).to_be_bytes()).collect();
            dataset.write_bytes(&slices, &Datatype::i64(ByteOrder::BigEndian), &bytes).unwrap();
            for (at, value) in offsets.iter().zip(&values) {
                after[*at] = *value + 5;
            }
            prop_assert_eq!(&dataset.read_raw::<i32>(..).unwrap(), &after);
        }
    }

    #[test]
    fn parts_of_arrays_equal_the_naive_model((dims, taken) in cases()) {
        let file = FileOptions::new().create_in_memory().unwrap();
        let count: usize = dims.iter().product();
        let shape: Vec<u64> = dims.iter().map(|size| *size as u64).collect();
        let slices: Vec<Slice> = taken.iter().map(|taken| taken.slice.clone()).collect();
        let (offsets, _) = model(&dims, &taken);
        let values: Vec<i32> = (0..i32::try_from(offsets.len()).unwrap()).collect();
        let dataset = file.new_dataset("line").write(&values).unwrap();
        let (mut array, mut expected) = (vec![-1; count], vec![-1; count]);
        for (at, value) in offsets.iter().zip(&values) {
            expected[*at] = *value;
        }
        dataset.read_into_part(.., &mut array, &shape, &slices).unwrap();
        prop_assert_eq!(&array, &expected);
        dataset.write_from_part(.., &array, &shape, &slices).unwrap();
        let written: Vec<i32> = offsets.iter().map(|at| expected[*at]).collect();
        prop_assert_eq!(dataset.read_raw::<i32>(..).unwrap(), written);
    }
}

#[test]
fn distant_coordinates_are_read_and_written_alone() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let numbers = hyperslab::Array2::from_shape_fn((5, 3000), |(row, column)| {
        i32::try_from(row * 3000 + column).unwrap()
    });
    let (rows, columns) = ([4, 0, 1], [2999, 3, 700, 1500, 3]);
    let expected = numbers.select(ndarray::Axis(0), &rows).select(ndarray::Axis(1), &columns);
    for name in ["contiguous", "chunked"] {
        let new = file.new_dataset(name);
        let new = if name == "chunked" { new.chunks(&[2, 500]).deflate(1) } else { new };
        let dataset = new.write(&numbers).unwrap();
        assert_eq!(dataset.read::<i32, Ix2>((&rows, &columns)).unwrap(), expected, "{name}");
        let values = expected.mapv(|value| -value);
        dataset.write((&rows, &columns), &values).unwrap();
        assert_eq!(dataset.read::<i64, Ix2>((&rows, &columns)).unwrap(), values.mapv(i64::from), "{name}");
        let sum: i64 = numbers.iter().copied().map(i64::from).sum();
        let once = numbers.select(ndarray::Axis(0), &rows).select(ndarray::Axis(1), &columns[..4]);
        let changed: i64 = once.iter().copied().map(i64::from).sum();
        assert_eq!(dataset.read_raw::<i64>(..).unwrap().iter().sum::<i64>(), sum - 2 * changed, "{name}");
    }
}

#[test]
fn texts_sequences_and_references_follow_the_order() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let names = file.new_dataset("names").write_strings(&["a", "b", "c", "d"]).unwrap();
    assert_eq!(names.read_strings::<Ix1>([3, 0, 3]).unwrap().to_vec(), ["d", "a", "d"]);
    names.write_strings([2, 1, 2], &["x", "y", "z"]).unwrap();
    assert_eq!(names.read_strings::<Ix1>(s![..;-1]).unwrap().to_vec(), ["d", "z", "y", "a"]);
    assert!(names.write_strings([2, 1], &["x"]).is_err());
    let sequence = Datatype::sequence(i32::datatype(), 8);
    let lists = file.new_dataset("lists").datatype(sequence).shape(&[3]).create().unwrap();
    lists.write_sequences(s![..;-1], &[vec![1], vec![2, 2], vec![]]).unwrap();
    assert_eq!(lists.read_sequences::<i32, Ix1>(..).unwrap().to_vec(), [vec![], vec![2, 2], vec![1]]);
    let reversed = lists.read_sequences::<i32, Ix1>([2, 1, 2]).unwrap();
    assert_eq!(reversed.to_vec(), [vec![1], vec![2, 2], vec![1]]);
    let targets = [hyperslab::ReferenceTarget::object(&names), hyperslab::ReferenceTarget::object(&lists)];
    let links =
        file.new_dataset("links").datatype(Datatype::object_reference(8)).shape(&[2]).create().unwrap();
    links.write_references([1, 0], &targets).unwrap();
    assert_eq!(links.read_references::<Ix1>(0..1).unwrap()[0].object().unwrap().token(), lists.token());
    let turned = links.read_references::<Ix1>(s![..;-1]).unwrap();
    assert_eq!(turned[0].object().unwrap().token(), names.token());
}

#[test]
fn other_members_of_compounds_are_kept() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let point = Datatype::packed([("x", i32::datatype()), ("y", i32::datatype())]);
    let points = file.new_dataset("points").datatype(point).shape(&[2, 2]).create().unwrap();
    points.field("x").unwrap().write(.., &[1, 2, 3, 4]).unwrap();
    points.field("y").unwrap().write(([1, 0], [1, 0]), &[10, 20, 30, 40]).unwrap();
    assert_eq!(points.field("x").unwrap().read_raw::<i32>(([1, 0], ..)).unwrap(), [3, 4, 1, 2]);
    assert_eq!(points.field("y").unwrap().read_raw::<i32>(..).unwrap(), [40, 30, 20, 10]);
    // The bytes of members that the file does not have stay as they are.
    let mut bytes = [7_u8; 24];
    let memory = Datatype::packed([("y", i16::datatype()), ("z", Datatype::f32(ByteOrder::LittleEndian))]);
    points.read_bytes(([1, 0], [1, 0]), &memory, &mut bytes).unwrap();
    assert_eq!(bytes[..6], [10, 0, 7, 7, 7, 7]);
    assert_eq!(bytes[18..], [40, 0, 7, 7, 7, 7]);
}

#[test]
fn wrong_shapes_and_lengths_are_misuse() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let dataset = file.new_dataset("a").of::<i32>().shape(&[4, 4]).create().unwrap();
    assert!(dataset.write(([3, 1], [0, 0, 2]), &[1; 5]).is_err());
    assert!(dataset.write_stored(([3, 1], [0, 0, 2]), &[0; 23]).is_err());
    assert!(dataset.read_bytes(([3, 1], [0, 0, 2]), &i32::datatype(), &mut [0; 20]).is_err());
    assert!(dataset.read::<i32, Ix1>(([3, 1], [0, 0, 2])).is_err());
    assert_eq!(dataset.read::<i32, Ix2>(([3, 1], [0, 0, 2])).unwrap().shape(), [2, 3]);
    let mut values = hyperslab::Array2::<i32>::zeros((3, 2));
    assert!(dataset.read_into(([3, 1], [0, 0, 2]), &mut values).is_err());
    dataset.read_into(([3, 1], [0, 0, 2]), &mut values.view_mut().reversed_axes()).unwrap();
}
