//! Matrices of the crate `sprs` in sparse datasets, compared with the results of `sprs`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::{Dataset, ErrorKind, File, FileOptions, IxDyn};
use proptest::prelude::*;
use sprs::{CsMat, TriMat};

fn dataset(file: &File, name: &str, shape: (usize, usize)) -> Dataset {
    let dims = [shape.0 as u64, shape.1 as u64];
    let new = file.new_dataset(name).of::<i32>().shape(&dims);
    new.sparse(&[dims[0].min(7), dims[1].min(5)]).shuffle().deflate(1).create().unwrap()
}

/// Returns entries of a matrix, some with equal coordinates.
fn entries() -> impl Strategy<Value = TriMat<i32>> {
    (1_usize..40, 1_usize..40).prop_flat_map(|(rows, columns)| {
        proptest::collection::vec((0..rows, 0..columns, -9_i32..9), 0..200).prop_map(move |entries| {
            let mut matrix = TriMat::new((rows, columns));
            for (row, column, value) in entries {
                matrix.add_triplet(row, column, value);
            }
            matrix
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matrices_are_read_back_in_every_order(entries in entries()) {
        let file = FileOptions::new().create_in_memory().unwrap();
        let (rows, columns): (CsMat<i32>, CsMat<i32>) = (entries.to_csr(), entries.to_csc());
        for (name, written) in [("rows", &rows), ("columns", &columns)] {
            let a = dataset(&file, name, entries.shape());
            a.sparse().write_sprs(written).unwrap();
            prop_assert_eq!(&a.sparse().read_sprs::<i32>().unwrap(), &rows);
            prop_assert_eq!(&a.sparse().read_sprs_csc::<i32>().unwrap(), &columns);
            let triplets = a.sparse().read_triplets::<i32>().unwrap();
            prop_assert_eq!(&triplets.to_csr::<usize>(), &rows);
            prop_assert_eq!(a.sparse().defined_count().unwrap(), rows.nnz() as u64);
        }
        let a = dataset(&file, "triplets", entries.shape());
        a.sparse().write_triplets(&entries).unwrap();
        prop_assert_eq!(&a.sparse().read_sprs::<i32>().unwrap(), &rows);
        prop_assert_eq!(a.read::<i32, IxDyn>(..).unwrap(), rows.to_dense().into_dyn());
        // A slice of a matrix, whose starts do not begin at 0.
        let half = rows.rows() / 2;
        let part = rows.slice_outer(half..rows.rows());
        let b = dataset(&file, "part", part.shape());
        b.sparse().write_sprs(&part).unwrap();
        prop_assert_eq!(b.sparse().read_sprs::<i32>().unwrap().to_dense(), part.to_dense());
    }
}

#[test]
fn matrices_of_other_shapes_are_refused() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let a = dataset(&file, "a", (4, 6));
    let matrix = CsMat::<i32>::eye(4);
    for error in [
        a.sparse().write_sprs(&matrix).unwrap_err(),
        a.sparse().write_triplets(&TriMat::<i32>::new((6, 4))).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Misuse);
    }
    assert_eq!(a.sparse().defined_count().unwrap(), 0);
    let line = file.new_dataset("line").of::<i32>().shape(&[9]).sparse(&[3]).create().unwrap();
    assert_eq!(line.sparse().read_triplets::<i32>().unwrap_err().kind(), ErrorKind::Misuse);
    assert_eq!(line.sparse().read_sprs::<i32>().unwrap_err().kind(), ErrorKind::Misuse);
}
