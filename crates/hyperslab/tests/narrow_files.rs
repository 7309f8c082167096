//! Chunked datasets in files with addresses and lengths of few bytes: libhdf5 reads and changes
//! them, or hyperslab refuses to create them.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{ErrorKind, File, FileOptions, LibraryVersion, LibverBounds, Repack};
use hyperslab_testkit::{referee, workspace};

const USE: &str = r#"
import sys
import h5py, numpy as np
with h5py.File(sys.argv[1], "r+") as f:
    for name in f:
        d = f[name]
        try:
            assert (d[()] == np.arange(d.size).reshape(d.shape)).all()
            if d.maxshape[0] is None:
                d.resize(9, axis=0)
                d[8] = 77
            d[0] = 5
            d.flush()
        except Exception as error:
            print(name, type(error).__name__, error)
"#;

fn fill(file: &File) -> Vec<String> {
    let mut refused = Vec::new();
    for filtered in [false, true] {
        for unfiltered_edges in [false, true] {
            for (kind, limits) in
                [("fixed", [Some(7), Some(5)]), ("one", [None, Some(5)]), ("two", [None, None])]
            {
                let name = format!("{kind} {filtered} {unfiltered_edges}");
                let mut builder = file.new_dataset(&name).of::<i32>().shape(&[7, 5]).max_shape(&limits);
                builder = builder.chunks(&[2, 2]);
                if filtered {
                    builder = builder.deflate(6);
                }
                if unfiltered_edges {
                    builder = builder.unfiltered_edges();
                }
                match builder.create() {
                    Ok(dataset) => dataset.write(.., &(0..35).collect::<Vec<i32>>()).unwrap(),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error:?}");
                        refused.push(name);
                    }
                }
            }
        }
    }
    refused
}

#[test]
fn libhdf5_reads_and_changes_narrow_files() {
    let Some(python) = referee::python() else {
        workspace::skip("libhdf5_reads_and_changes_narrow_files", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for sizes in [(4, 4), (8, 4), (4, 8), (8, 2)] {
        for low in [LibraryVersion::V18, LibraryVersion::V110, LibraryVersion::LATEST] {
            let path = folder.path().join("narrow.h5");
            let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
            let file = FileOptions::new().sizes(sizes.0, sizes.1).libver(bounds).create(&path).unwrap();
            let refused = fill(&file);
            file.close().unwrap();
            // Edge chunks can only be unfiltered if the dataset has filters.
            let expected: &[&str] = if sizes.1 < 8 { &["one true true"] } else { &[] };
            assert_eq!(refused, expected, "{sizes:?} {low:?}");
            assert_eq!(hyperslab_check::check_path(&path).unwrap().faults, 0);
            let reported = python.run_script(USE, [&path]).unwrap();
            assert_eq!(reported, "", "{sizes:?} {low:?}");
            assert_eq!(hyperslab_check::check_path(&path).unwrap().faults, 0);
            let again = folder.path().join("again.h5");
            for bounds in [LibverBounds::DEFAULT, LibverBounds::LATEST] {
                let source = File::open(&path).unwrap();
                Repack::new().libver(bounds).run(&source, &again).unwrap();
                let code =
                    "import sys, h5py\nwith h5py.File(sys.argv[1]) as f: print(*[f[n][0, 0] for n in f])";
                let reported = python.run_script(code, [&again]).unwrap();
                assert!(reported.split_whitespace().all(|number| number == "5"), "{reported}");
            }
        }
    }
}

/// A copy into a file with short lengths omits the option to leave edge chunks unfiltered, which
/// such a file cannot store.
#[test]
fn copies_into_narrow_files() {
    let bounds = LibverBounds::LATEST;
    let wide = FileOptions::new().libver(bounds).create_in_memory().unwrap();
    assert!(fill(&wide).is_empty());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("narrow.h5");
    let narrow = FileOptions::new().sizes(4, 4).libver(bounds).create(&path).unwrap();
    let name = "one true true";
    narrow.copy_from(&wide, name, name).unwrap();
    let copy = narrow.dataset(name).unwrap();
    assert_eq!(copy.read_raw::<i32>(..).unwrap(), (0..35).collect::<Vec<i32>>());
    assert!(!copy.chunking().unwrap().edges_unfiltered);
    narrow.close().unwrap();
    assert_eq!(hyperslab_check::check_path(&path).unwrap().faults, 0);
    let Some(python) = referee::python() else { return };
    assert_eq!(python.run_script(USE, [&path]).unwrap(), "");
}
