//! Tests with valid and invalid files.

use std::io::Cursor;

use hyperslab::H5Type;
use proptest::prelude::*;

use super::*;
use crate::entries::matrices::{Given, entries};
use crate::output_target::OutputTarget;

fn read(text: &str) -> anyhow::Result<Given> {
    Given::read(Reader::new(Box::new(Cursor::new(text.as_bytes().to_vec())))?)
}

fn values<T: H5Type>(text: &str) -> Vec<(Vec<u64>, T)> {
    entries(&read(text).unwrap().batch, 2)
}

fn at<T>(row: u64, column: u64, value: T) -> (Vec<u64>, T) {
    (vec![row, column], value)
}

#[test]
fn all_fields_are_read() {
    let real = "%%MatrixMarket MATRIX coordinate Real general\n% a comment\n\n  3 4 4\r\n3 1 -1.5e-3\n\n\
                % another\n1 4 +2\n1 2 1.5D+02\n3 1 1.5e-3\n";
    assert_eq!(values(real), [at(0, 1, 150.0), at(0, 3, 2.0), at(2, 0, 0.0)]);
    assert_eq!(read(real).unwrap().shape, [3, 4]);
    let integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 -9223372036854775808";
    assert_eq!(values(integer), [at(1, 1, i64::MIN)]);
    let unsigned =
        "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n2 2 18446744073709551615\n";
    assert_eq!(values(unsigned), [at(1, 1, u64::MAX)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
    assert_eq!(values(pattern), [at(0, 0, 1_u8), at(0, 1, 1), at(1, 0, 1)]);
    let empty = "%%MatrixMarket matrix coordinate real general\n0 0 0\n";
    assert_eq!(values::<f64>(empty), []);
}

#[test]
fn symmetries_are_expanded() {
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n3 1 5\n2 2 0\n";
    assert_eq!(values(skew), [at(0, 2, -5_i64), at(2, 0, 5)]);
    let hermitian = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 2\n";
    assert_eq!(values(hermitian), [at(0, 0, [4.0, 0.0]), at(0, 1, [1.0, -2.0]), at(1, 0, [1.0, 2.0])]);
    let skew = "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n";
    assert_eq!(values(skew), [at(0, 1, [-1.0, -2.0]), at(1, 0, [1.0, 2.0])]);
}

#[test]
fn arrays_are_read_down_their_columns() {
    let general = "%%MatrixMarket matrix array real general\n2 3\n1\n0\n3\n4\n5\n6\n";
    assert_eq!(values(general), [at(0, 0, 1.0), at(0, 1, 3.0), at(0, 2, 5.0), at(1, 1, 4.0), at(1, 2, 6.0)]);
    let symmetric = "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(values(symmetric), [at(0, 0, 1_i64), at(0, 1, 2), at(1, 0, 2), at(1, 1, 3)]);
    let skew = "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n";
    let expected = [(0, 1, -1_i64), (0, 2, -2), (1, 0, 1), (1, 2, -3), (2, 0, 2), (2, 1, 3)];
    assert_eq!(values(skew), expected.map(|(row, column, value)| at(row, column, value)));
    assert_eq!(values::<f64>("%%MatrixMarket matrix array real general\n0 3\n"), []);
}

#[test]
fn faults_are_named_with_their_line() {
    let begin = "%%MatrixMarket matrix coordinate real general\n%\n2 3 2\n";
    for (text, expected) in [
        ("".to_owned(), "line 1: the line is not a Matrix Market banner"),
        ("%%MatrixMarket matrix coordinate real\n".into(), "line 1: the line is not a Matrix Market banner"),
        (
            "%%MatrixMarket vector coordinate real general\n".into(),
            "line 1: the Matrix Market file contains a vector",
        ),
        ("%%MatrixMarket matrix coordinate real hermitian\n".into(), "exclude each other"),
        ("%%MatrixMarket matrix array pattern general\n".into(), "exclude each other"),
        ("%%MatrixMarket matrix coordinate real general\n".into(), "line 2: the file ends before the size"),
        (
            "%%MatrixMarket matrix coordinate real general\n2 3\n".into(),
            "line 2: the size of the matrix must be three",
        ),
        ("%%MatrixMarket matrix coordinate real general\n2 -3 1\n".into(), "line 2: `2 -3 1` is not a size"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n".into(), "line 2: a matrix of 2 x 3"),
        (format!("{begin}1 1 1\n"), "line 5: the file ends after 1 of 2 entries"),
        (format!("{begin}1 1 1\n1 2 2\n\n2 2 2\n"), "line 7: the file has more than the 2 entries"),
        (format!("{begin}1 1 1\n3 1 1\n"), "line 5: the row 3 must be from 1 to 2"),
        (format!("{begin}1 0 1\n"), "line 4: the column 0 must be from 1 to 3"),
        (format!("{begin}-1 1 1\n"), "line 4: the row -1 must be from 1 to 2"),
        (format!("{begin}1 x 1\n"), "line 4: `x` is not a column"),
        (format!("{begin}1 1\n"), "line 4: the value of the entry is missing"),
        (format!("{begin}1 1 one\n"), "line 4: `one` is not a number"),
        (format!("{begin}1 1 1 1\n"), "line 4: unexpected `1` after the matrix entry"),
        (format!("{begin}{}", "1".repeat(70_000)), "line 4: the line is longer"),
        (
            "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n".into(),
            "line 3: `1.5` is not an integer",
        ),
        (
            "%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 1\n1 1 2\n".into(),
            "line 3: the skew-symmetric matrix has",
        ),
        (
            "%%MatrixMarket matrix array real general\n1 18446744073709551615 \n1\n".into(),
            "the file ends after 1 of",
        ),
    ] {
        let error = format!("{:#}", read(&text).unwrap_err());
        assert!(error.contains(expected), "{text:.80}: {error}");
    }
}

#[test]
fn a_compressed_file_that_ends_early_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx.gz");
    let entries: Vec<_> = (0..2000).map(|row| at(row, row % 7, row * 37)).collect();
    let given = Given::new(&[2000, 7], &entries);
    given.put(Box::new(writer(&path, Some(6)))).unwrap();
    assert!(is_matrix_market(&path));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 20);
    std::fs::write(&path, bytes).unwrap();
    let read = Reader::open(&path).and_then(Given::read);
    assert!(format!("{:#}", read.unwrap_err()).contains("line "));
}

fn writer(path: &std::path::Path, level: Option<u32>) -> Writer {
    let folder = path.parent().unwrap();
    Writer::new(OutputTarget::file(path, folder).unwrap(), level, folder).unwrap()
}

fn round_trip<T: H5Type>(values: &std::collections::BTreeMap<(u64, u64), T>, level: Option<u32>) -> Given {
    let entries: Vec<_> = values.iter().map(|((row, column), value)| at(*row, *column, *value)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let given = Given::new(&[12, 9], &entries);
    given.put(Box::new(writer(&path, level))).unwrap();
    let again = Given::read(Reader::open(&path).unwrap()).unwrap();
    assert_eq!((&again.shape, &again.batch.coordinates), (&given.shape, &given.batch.coordinates));
    again
}

fn bits(given: &Given) -> Vec<u64> {
    entries::<f64>(&given.batch, 2).into_iter().map(|(_, value)| value.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn numbers_come_back_as_they_were(
        reals in prop::collection::btree_map((0..12_u64, 0..9_u64), any::<f64>(), 0..40),
        integers in prop::collection::btree_map((0..12_u64, 0..9_u64), any::<i16>(), 0..40),
        level in prop::option::of(0..9_u32),
    ) {
        let reals = reals.into_iter().map(|(at, value)| (at, if value.is_nan() { f64::NAN } else { value })).collect();
        let again = round_trip(&reals, level);
        prop_assert_eq!(bits(&again), reals.values().map(|value| value.to_bits()).collect::<Vec<_>>());
        let again = round_trip(&integers, level);
        let found: Vec<i64> = entries::<i64>(&again.batch, 2).into_iter().map(|(_, value)| value).collect();
        prop_assert_eq!(found, integers.values().map(|value| i64::from(*value)).collect::<Vec<_>>());
        let complex = reals.iter().map(|(at, value)| (*at, [*value, 1.0])).collect();
        prop_assert_eq!(round_trip(&complex, level).batch.values.len(), 16 * reals.len());
    }

    /// Random text is an error or a matrix, and never a panic.
    #[test]
    fn random_text_does_not_panic(text in "%%MatrixMarket matrix (coordinate|array) (real|complex|pattern) (general|symmetric)\n([0-9]{1,2} ){2,3}\n([-0-9.e]{1,3}[ \n]){0,30}") {
        let _ = read(&text);
    }
}
