//! Tests with sound and damaged archives.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use hyperslab::H5Type;
use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use crate::entries::matrices::{Given, entries};
use crate::formats::npy::descr::WrittenDescr;
use crate::formats::npy::header::encode;
use crate::output_target::OutputTarget;

/// An archive of arrays.
struct Arrays {
    zip: ZipWriter<std::fs::File>,
    path: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Arrays {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        Self { zip: ZipWriter::new(std::fs::File::create(&path).unwrap()), path, _folder: folder }
    }

    /// Creates an archive with the arrays `format` and `shape`.
    fn of(format: &str, shape: [i64; 2]) -> Self {
        Self::new().bytes("format", &format!("'|S{}'", format.len()), &[], format.as_bytes()).array(
            "shape",
            &[2],
            &shape,
        )
    }

    fn array<T: H5Type>(self, name: &str, shape: &[u64], values: &[T]) -> Self {
        let descr = WrittenDescr::of(&T::datatype()).unwrap().literal;
        self.bytes(name, &descr, shape, &T::to_bytes(values))
    }

    fn line<T: H5Type>(self, name: &str, values: &[T]) -> Self {
        self.array(name, &[values.len() as u64], values)
    }

    fn bytes(mut self, name: &str, descr: &str, shape: &[u64], bytes: &[u8]) -> Self {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.zip.start_file(format!("{name}.npy"), options).unwrap();
        self.zip.write_all(&encode(descr, shape.iter().copied()).unwrap()).unwrap();
        self.zip.write_all(bytes).unwrap();
        self
    }

    fn read(self) -> Result<Given> {
        self.zip.finish()?;
        Given::read(open(&self.path)?)
    }

    /// Returns the error message.
    fn fault(self) -> String {
        format!("{:#}", self.read().unwrap_err())
    }
}

#[test]
fn all_formats_are_read() {
    let csr = Arrays::of("csr", [3, 4]).line("indptr", &[0_i32, 2, 2, 4]).line("indices", &[3_i64, 1, 0, 0]);
    let found = csr.line("data", &[1.5, 2.5, 3.0, 0.5]).read().unwrap();
    assert_eq!(found.shape, [3, 4]);
    let expected = [(vec![0, 1], 2.5), (vec![0, 3], 1.5), (vec![2, 0], 3.5)];
    assert_eq!(entries::<f64>(&found.batch, 2), expected);
    let csc = Arrays::of("csc", [4, 3]).line("indptr", &[0_i32, 2, 2, 4]).line("indices", &[3_i64, 1, 0, 2]);
    let found = csc.line("data", &[1_u8, 2, 3, 4]).read().unwrap();
    let expected = [(vec![0, 2], 3), (vec![1, 0], 2), (vec![2, 2], 4), (vec![3, 0], 1)];
    assert_eq!(entries::<u8>(&found.batch, 2), expected);
    let bsr = Arrays::of("bsr", [4, 2]).line("indptr", &[0_i32, 1, 1]).line("indices", &[0_i32]);
    let found = bsr.array("data", &[1, 2, 2], &[1_i16, 2, 0, 4]).read().unwrap();
    let expected = [(vec![0, 0], 1), (vec![0, 1], 2), (vec![1, 0], 0), (vec![1, 1], 4)];
    assert_eq!(entries::<i16>(&found.batch, 2), expected);
    let coo = Arrays::of("coo", [9, 9]).line("row", &[8_i32, 0]).line("col", &[1_i32, 2]);
    let found = coo.line("data", &[[1.0, 2.0], [3.0, 4.0]].map(|[r, i]: [f64; 2]| r + i)).read().unwrap();
    assert_eq!(entries::<f64>(&found.batch, 2), [(vec![0, 2], 7.0), (vec![8, 1], 3.0)]);
    let cube =
        Arrays::new().bytes("format", "'<U3'", &[], b"c\0\0\0o\0\0\0o\0\0\0").line("shape", &[2_i64, 3, 4]);
    let cube = cube.array("coords", &[3, 2], &[1_i64, 0, 2, 1, 3, 0]).line("data", &[7_i64, 8]);
    let found = cube.read().unwrap();
    assert_eq!(entries::<i64>(&found.batch, 3), [(vec![0, 1, 0], 8), (vec![1, 2, 3], 7)]);
}

#[test]
fn faults_are_named() {
    let csr = || Arrays::of("csr", [2, 3]);
    let pointers = |pointers: &[i32]| {
        csr().line("indices", &[0_i32, 1, 2]).line("data", &[1.0, 2.0, 3.0]).line("indptr", pointers).fault()
    };
    assert!(pointers(&[0, 3]).contains("`indptr` has 2 elements"), "{}", pointers(&[0, 3]));
    assert!(pointers(&[1, 2, 3]).contains("begins with 1"));
    assert!(pointers(&[0, 3, 2]).contains("`indptr[2]` is 2, less than 3"));
    assert!(pointers(&[0, 1, 4]).contains("`indptr[2]` is 4, and must be less than 4"));
    assert!(pointers(&[0, -1, 3]).contains("`indptr[1]` is -1"));
    let indices = |indices: &[i32]| {
        csr().line("indptr", &[0_i32, 1, 2]).line("data", &[1.0, 2.0]).line("indices", indices).fault()
    };
    assert!(indices(&[0, 3]).contains("`indices[1]` is 3, and must be less than 3"));
    assert!(indices(&[0, -3]).contains("`indices[1]` is -3, less than 0"));
    assert!(indices(&[0, 1, 2]).contains("`data` has 2 values"));
    let whole = || csr().line("indptr", &[0_i32, 1, 2]).line("indices", &[0_i32, 1]);
    assert!(whole().fault().contains("no array `data`"));
    assert!(whole().bytes("data", "'<f8'", &[2], &[0; 15]).fault().contains("the npz member has"));
    assert!(whole().bytes("data", "'<f8'", &[2], &[0; 17]).fault().contains("the npz member has"));
    assert!(whole().bytes("data", "'<f8'", &[1 << 62], &[0; 16]).fault().contains("size of the elements"));
    assert!(
        whole().bytes("data", "'|S4'", &[2], &[0; 8]).fault().contains("cannot be stored in a sparse matrix")
    );
    assert!(csr().line("indptr", &[0.0]).line("data", &[1.0]).fault().contains("cannot be indices"));
    assert!(Arrays::of("dia", [1, 1]).line("data", &[1]).fault().contains("diagonals"));
    assert!(Arrays::of("xyz", [1, 1]).line("data", &[1]).fault().contains("`xyz`"));
    assert!(Arrays::of("csr", [-1, 1]).fault().contains("less than 0"));
    assert!(Arrays::new().line("data", &[1]).fault().contains("is not a sparse matrix"));
    let huge =
        Arrays::of("csr", [1, 1 << 40]).line("indptr", &[0_i32, 0]).array("indices", &[0], &[0_i32; 0]);
    assert!(huge.array("data", &[0], &[0.0; 0]).read().unwrap().batch.is_empty());
    let block = Arrays::of("bsr", [3, 2]).line("indptr", &[0_i32, 1]).line("indices", &[0_i32]);
    assert!(block.array("data", &[1, 2, 2], &[0.0; 4]).fault().contains("blocks of 2 x 2"));
    let block = Arrays::of("bsr", [0, 0]).line("indptr", &[0_i32]).line("indices", &[0_i32]);
    assert!(block.array("data", &[1 << 60, 0, 9], &[0.0; 0]).fault().contains("blocks of 0 x 9"));
}

fn matrix() -> Given {
    let entries: Vec<_> = (0..500).map(|row| (vec![row, row % 7], row as f32 / 3.0)).collect();
    Given::new(&[500, 7], &entries)
}

fn write(given: &Given, path: &Path, level: u32) {
    let folder = path.parent().unwrap();
    let output = OutputTarget::file(path, folder).unwrap();
    given.put(Box::new(Writer::new(output, level, folder))).unwrap();
}

/// An archive with a changed byte is read as the same matrix or an error; a cut archive is an
/// error.
#[test]
fn damaged_archives_are_found() {
    let (given, folder) = (matrix(), tempfile::tempdir().unwrap());
    let path = folder.path().join("a.npz");
    write(&given, &path, 6);
    let bytes = std::fs::read(&path).unwrap();
    let read = || open(&path).and_then(Given::read);
    assert_eq!(read().unwrap(), given);
    let mut faults = 0;
    for at in (0..bytes.len()).step_by(7) {
        let mut other = bytes.clone();
        other[at] ^= 0x10;
        std::fs::write(&path, other).unwrap();
        match read() {
            Ok(found) => assert_eq!(found, given, "{at}"),
            Err(_) => faults += 1,
        }
        std::fs::write(&path, &bytes[..at]).unwrap();
        assert!(read().is_err(), "{at}");
    }
    assert!(faults > 100, "{faults}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_come_back_as_they_were(
        values in prop::collection::btree_map((0..12_u64, 0..9_u64), any::<i32>(), 0..40),
        level in 0..10_u32,
    ) {
        let entries: Vec<_> = values.iter().map(|((row, column), value)| (vec![*row, *column], *value)).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let given = Given::new(&[12, 9], &entries);
        write(&given, &path, level);
        prop_assert_eq!(Given::read(open(&path).unwrap()).unwrap(), given);
    }
}
