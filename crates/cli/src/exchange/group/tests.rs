//! Tests with valid and invalid groups.

use anyhow::Result;
use hyperslab::{File, FileOptions, H5Type};
use proptest::prelude::*;

use super::*;
use crate::entries::matrices::{Given, entries};

fn file() -> File {
    FileOptions::new().create_in_memory().unwrap()
}

fn read(file: &File) -> Result<Given> {
    Given::read(open(&file.group("m")?)?)
}

/// Creates a group with the three arrays.
fn arrays<T: H5Type>(pointers: &[i32], indices: &[i32], data: &[T]) -> File {
    let file = file();
    file.new_dataset("m/indptr").write(pointers).unwrap();
    file.new_dataset("m/indices").write(indices).unwrap();
    file.new_dataset("m/data").write(data).unwrap();
    file
}

fn anndata(encoding: &str, shape: [i64; 2], file: File) -> File {
    let group = file.group("m").unwrap();
    group.set_attribute("encoding-type", encoding).unwrap();
    group.set_attribute("shape", shape).unwrap();
    file
}

fn fault(file: &File) -> String {
    format!("{:#}", read(file).unwrap_err())
}

#[test]
fn groups_of_all_kinds_are_read() {
    let three = || arrays(&[0, 2, 3], &[3, 1, 0], &[1.5_f32, 2.5, 3.5]);
    let rows = [(vec![0, 1], 2.5), (vec![0, 3], 1.5), (vec![1, 0], 3.5)];
    let columns = [(vec![0, 1], 3.5), (vec![1, 0], 2.5), (vec![3, 0], 1.5)];
    let found = read(&anndata("csr_matrix", [2, 4], three())).unwrap();
    assert_eq!((entries::<f32>(&found.batch, 2), found.shape), (rows.to_vec(), vec![2, 4]));
    let found = read(&anndata("csc_matrix", [4, 2], three())).unwrap();
    assert_eq!(entries::<f32>(&found.batch, 2), columns);
    let old = three();
    old.group("m").unwrap().set_attribute("h5sparse_format", "csc").unwrap();
    old.group("m").unwrap().set_attribute("h5sparse_shape", [4_i64, 2]).unwrap();
    assert_eq!(entries::<f32>(&read(&old).unwrap().batch, 2), columns);
    let tenx = three();
    tenx.new_dataset("m/shape").write(&[4_i32, 2]).unwrap();
    tenx.new_dataset("m/barcodes").write_strings(&["AAAC-1", "AAAG-1"]).unwrap();
    let found = read(&tenx).unwrap();
    assert_eq!((entries::<f32>(&found.batch, 2), found.shape), (columns.to_vec(), vec![4, 2]));
}

#[test]
fn faults_are_named() {
    let good = || arrays(&[0, 1, 2], &[0, 1], &[1, 2]);
    assert!(fault(&good()).contains("encoding-type"));
    assert!(fault(&anndata("array", [2, 2], good())).contains("`array`"));
    assert!(fault(&anndata("csr_matrix", [3, 2], good())).contains("`indptr` has 3 elements"));
    assert!(fault(&anndata("csr_matrix", [2, 1], good())).contains("`indices[1]` is 1"));
    assert!(
        fault(&anndata("csr_matrix", [-2, 1], good())).contains("the size -2 of a dimension is negative")
    );
    let falling = arrays(&[0, 2, 1], &[0, 1], &[1, 2]);
    assert!(fault(&anndata("csr_matrix", [2, 2], falling)).contains("`indptr[2]` is 1, less than 2"));
    let short = arrays(&[0, 1, 2], &[0, 1], &[1]);
    assert!(fault(&anndata("csr_matrix", [2, 2], short)).contains("`data` has 1 values"));
    let without = anndata("csr_matrix", [2, 2], good());
    without.remove("m/data").unwrap();
    assert!(fault(&without).contains("data"));
    assert!(!is_matrix(&without.group("m").unwrap()).unwrap());
    let none = anndata("csr_matrix", [2, 2], good());
    none.group("m").unwrap().set_attribute("shape", "2x2").unwrap();
    assert!(fault(&none).contains("`shape`"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_come_back_as_they_were(
        values in prop::collection::btree_map((0..12_u64, 0..9_u64), any::<u16>(), 0..40),
        chunk in prop::option::of(1..9_u64),
        deflated in any::<bool>(),
    ) {
        let entries: Vec<_> = values.iter().map(|((row, column), value)| (vec![*row, *column], *value)).collect();
        let (given, file) = (Given::new(&[12, 9], &entries), file());
        let filters = if deflated { hyperslab::filter::FilterSpec::parse_list("shuffle,gzip").unwrap() } else { Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        given.put(Box::new(Writer::new(&file, "m", Stored { chunk, filters }, folder.path().to_owned()))).unwrap();
        prop_assert_eq!(read(&file).unwrap(), given);
    }
}
