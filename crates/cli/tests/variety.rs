//! About ninety files that h5py makes. Each file uses a rare part of the format. hyperslab must
//! read the same values as libhdf5.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a panic is the report"
)]

use std::path::Path;

use hyperslab::{Dataset, Group, Limits, ObjectKind, OpenOptions};
use hyperslab_testkit::program::Program;
use hyperslab_testkit::{compare, fixtures, referee, workspace};
use serde_json::Value;

/// Keys of the output that the truth documents do not have.
const BEYOND_THE_TRUTH: &[&str] = &["committed", "external", "virtual", "comment"];

fn digest(path: &Path) -> Value {
    let output = Program::new(env!("CARGO_BIN_EXE_hyperslab")).with("digest").run([path]).succeeds();
    let mut digest: Value = serde_json::from_slice(&output.stdout).unwrap();
    for object in digest["objects"].as_array_mut().unwrap() {
        strip(object);
        object.get_mut("attrs").and_then(Value::as_array_mut).into_iter().flatten().for_each(strip);
    }
    digest
}

fn strip(described: &mut Value) {
    let described = described.as_object_mut().unwrap();
    for key in BEYOND_THE_TRUTH {
        described.remove(*key);
    }
}

#[test]
fn unusual_files_read_as_libhdf5_reads_them() {
    let Some(python) = referee::python() else {
        workspace::skip("unusual_files_read_as_libhdf5_reads_them", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let written = Program::new(python.python())
        .env("HDF5_USE_FILE_LOCKING", "FALSE")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .run([&fixtures::path("variety.py"), folder.path()])
        .succeeds();
    let names = written.out();
    let names: Vec<&str> = names.lines().filter(|line| line.ends_with(".h5")).collect();
    assert!(names.len() >= 85, "only {} files", names.len());

    let mut faults = String::new();
    for name in names {
        let path = folder.path().join(name);
        let truth = std::fs::read_to_string(folder.path().join(format!("{name}.json"))).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        for difference in compare::compare(&truth, &digest(&path)).differences {
            faults.push_str(&format!("{name}: {difference}\n"));
        }
        read_dynamically(&path);
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Reads every dataset that is not too large as dynamic values, and one element in its middle.
fn read_dynamically(path: &Path) {
    let limits = Limits { chunk_bytes: 8 << 30, ..Limits::default() }; // one has chunks beyond 4 GiB
    let options = OpenOptions::new().limits(limits);
    let file = options.clone().open(path).or_else(|_| options.swmr_read(true).open(path)).unwrap();
    let mut datasets = Vec::new();
    collect(&file, 0, &mut datasets);
    for dataset in datasets {
        let middle: Vec<u64> = dataset.dataspace().dims().iter().map(|size| size / 2).collect();
        let size = dataset.size().unwrap_or(u64::MAX);
        let one = if size == 0 { Ok(()) } else { dataset.read_value(&middle).map(drop) };
        let all = if size > 200_000 { Ok(()) } else { dataset.read_dyn(..).map(drop) };
        for outcome in [one, all] {
            if let Err(error) = outcome {
                panic!("{}, {}: {error:?}", path.display(), dataset.name());
            }
        }
    }
}

fn collect(group: &Group, depth: usize, found: &mut Vec<Dataset>) {
    for object in group.members().unwrap() {
        match object.kind() {
            Some(ObjectKind::Group) if depth < 3 => {
                collect(&object.into_group().unwrap(), depth + 1, found);
            }
            Some(ObjectKind::Dataset) => found.push(object.into_dataset().unwrap()),
            _ => {}
        }
    }
}
