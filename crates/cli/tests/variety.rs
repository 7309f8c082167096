//! About ninety files that h5py makes, each a corner of the format, read as libhdf5 reads them.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a panic is the report"
)]

use std::path::Path;
use std::process::Command;

use hyperslab::{Dataset, ErrorKind, Group, Limits, ObjectKind, OpenOptions};
use hyperslab_testkit::{compare, fixtures, referee, workspace};
use serde_json::Value;

/// Filters that may be missing: of files that use them, what could not be read is not held against the command.
const MAY_BE_MISSING: &[u64] = &[
    32024, // SZ3
    32028, // SPERR
];

/// Keys that say more than the truths do.
const BEYOND_THE_TRUTH: &[&str] = &["committed", "external", "virtual", "comment"];

fn digest(path: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_hyperslab")).arg("digest").arg(path).output().unwrap();
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
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

/// Whether the error of an object is that of a filter that may be missing.
fn is_excused(digest: &Value, path: &str) -> bool {
    let objects = digest["objects"].as_array().unwrap();
    let object = objects.iter().find(|object| object["path"] == path);
    let error = object.and_then(|object| object["data_error"].as_str()).unwrap_or("");
    MAY_BE_MISSING.iter().any(|id| error.contains(&format!("({id})")) && error.contains("not available"))
}

/// Differences beyond those that are excused, and the number of the latter.
fn differences(truth: &Value, digest: &Value) -> (Vec<String>, usize) {
    let comparison = compare::compare(truth, digest);
    let (excused, wrong): (Vec<_>, Vec<_>) = comparison.differences.into_iter().partition(|difference| {
        difference.kind == compare::Kind::Missing && is_excused(digest, &difference.object)
    });
    (wrong.iter().map(ToString::to_string).collect(), excused.len())
}

#[test]
fn every_corner_reads_as_libhdf5_reads_it() {
    let Some(python) = referee::python() else {
        workspace::skip("every_corner_reads_as_libhdf5_reads_it", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let written = Command::new(python.python())
        .arg(fixtures::path("variety.py"))
        .arg(folder.path())
        .env("HDF5_USE_FILE_LOCKING", "FALSE")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let names = String::from_utf8(written.stdout).unwrap();
    let names: Vec<&str> = names.lines().filter(|line| line.ends_with(".h5")).collect();
    assert!(names.len() >= 85, "only {} files", names.len());

    let (mut faults, mut excused) = (String::new(), Vec::new());
    for name in names {
        let path = folder.path().join(name);
        let truth = std::fs::read_to_string(folder.path().join(format!("{name}.json"))).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        let (wrong, missing) = differences(&truth, &digest(&path));
        if !wrong.is_empty() {
            faults.push_str(&format!("{name}:\n{}\n", wrong.join("\n")));
        }
        if missing > 0 {
            excused.push(name);
        }
        read_dynamically(&path);
    }
    assert!(faults.is_empty(), "{faults}");
    if !excused.is_empty() {
        workspace::skip("part of the variety", &format!("filters are missing for {}", excused.join(", ")));
    }
}

/// Reads every dataset that is not too large as dynamic values, and one element out of its midst.
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
        let all = if size > 200_000 { Ok(()) } else { dataset.read_dyn().map(drop) };
        for outcome in [one, all] {
            if let Err(error) = outcome
                && !may_fail(&dataset, &error)
            {
                panic!("{}, {}: {error:?}", path.display(), dataset.name());
            }
        }
    }
}

fn may_fail(dataset: &Dataset, error: &hyperslab::Error) -> bool {
    let missing = |filter: &hyperslab::FilterInfo| MAY_BE_MISSING.contains(&u64::from(filter.id));
    error.kind() == ErrorKind::Unsupported && dataset.filters().iter().any(missing)
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
