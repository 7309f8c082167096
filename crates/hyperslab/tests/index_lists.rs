//! Index lists, masks and points select what ndarray selects.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{Array2, ErrorKind, File, FileOptions, Ix1, Ix2, IxDyn, s};
use ndarray::Axis;

fn table() -> (File, Array2<i32>) {
    let file = FileOptions::new().create_in_memory().unwrap();
    let numbers = Array2::from_shape_fn((7, 9), |(row, column)| i32::try_from(10 * row + column).unwrap());
    file.new_dataset("chunked").chunks(&[3, 4]).write(&numbers).unwrap();
    file.new_dataset("sparse").of::<i32>().shape(&[7, 9]).sparse(&[3, 4]).write(&numbers).unwrap();
    (file, numbers)
}

#[test]
fn lists_read_the_elements_that_ndarray_selects() {
    let (file, numbers) = table();
    for name in ["chunked", "sparse"] {
        let dataset = file.dataset(name).unwrap();
        for list in [vec![], vec![4], vec![0, 1, 5], vec![5, 1, 5], vec![8, 7, 6, 0]] {
            let expected = numbers.select(Axis(1), &list);
            assert_eq!(dataset.read::<i32, Ix2>((.., &list)).unwrap(), expected, "{name} {list:?}");
            let thinned = expected.slice(ndarray::s![1..;2, ..]);
            assert_eq!(dataset.read::<i32, Ix2>(s![1..;2, &list]).unwrap(), thinned, "{name} {list:?}");
            assert_eq!(dataset.read::<i32, Ix1>((3, &list)).unwrap(), expected.row(3), "{name} {list:?}");
        }
        let mask: Vec<bool> = (0..7).map(|row| row % 3 == 0).collect();
        let rows = numbers.select(Axis(0), &[0, 3, 6]);
        assert_eq!(dataset.read::<i32, Ix2>((&mask, ..)).unwrap(), rows, "{name}");
        let odd = numbers.mapv(|number| number % 2 == 1);
        let expected: Vec<i32> = numbers.iter().copied().filter(|number| number % 2 == 1).collect();
        assert_eq!(dataset.read_raw::<i32>(&odd).unwrap(), expected, "{name}");
    }
}

#[test]
fn lists_write_the_elements_that_they_read() {
    let (file, mut numbers) = table();
    for name in ["chunked", "sparse"] {
        let dataset = file.dataset(name).unwrap();
        let values = Array2::from_shape_fn((7, 3), |(row, column)| -i32::try_from(3 * row + column).unwrap());
        dataset.write((.., [6, 0, -1]), &values).unwrap();
        for (column, values) in [6, 0, 8].into_iter().zip(values.columns()) {
            numbers.column_mut(column).assign(&values);
        }
        assert_eq!(dataset.read::<i32, Ix2>(..).unwrap(), numbers, "{name}");
        let large = numbers.mapv(|number| number > 50);
        let count = large.iter().filter(|is_large| **is_large).count();
        dataset.write(&large, &vec![1; count]).unwrap();
        assert!(dataset.read_raw::<i32>(..).unwrap().iter().all(|number| *number <= 50), "{name}");
    }
}

#[test]
fn other_shapes_and_ranks_are_misuse() {
    let (file, numbers) = table();
    let dataset = file.dataset("chunked").unwrap();
    let misuse = |error: hyperslab::Error| assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
    misuse(dataset.read::<i32, Ix1>(..).unwrap_err());
    misuse(dataset.read::<i32, IxDyn>((.., 9)).unwrap_err());
    misuse(dataset.write(.., &numbers.t()).unwrap_err());
    misuse(dataset.write((..2, ..3), &[1; 5]).unwrap_err());
    let mut turned = Array2::<i32>::zeros((9, 7));
    misuse(dataset.read_into(.., &mut turned).unwrap_err());
    dataset.read_into(.., &mut turned.view_mut().reversed_axes()).unwrap();
    assert_eq!(turned.t(), numbers);
    let mut flat = [0; 63];
    dataset.read_into(.., &mut flat).unwrap();
    assert!(numbers.iter().eq(&flat));
    dataset.write(.., &flat).unwrap();
}
