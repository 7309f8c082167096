//! `hyperslab repack` on the project's fixtures: the contents stay the same for every storage
//! option.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{fixtures, referee};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab"))
}

fn run(arguments: &[&str], files: [&Path; 2]) -> Run {
    let repack = hyperslab().with("repack").with("--quiet");
    repack.run(arguments.iter().map(AsRef::as_ref).chain(files.map(Path::as_os_str)))
}

fn check(file: &Path) -> Run {
    hyperslab().with("check").run([file])
}

/// Repacks fixtures into a folder with links to all fixtures, because some fixtures refer to
/// others. Returns the failures.
fn every_fixture(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut faults = String::new();
    for entry in std::fs::read_dir(fixtures::path("")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    for name in fixtures::names().unwrap() {
        let from = folder.path().join(&name);
        let to = folder.path().join(format!("new-{name}"));
        let output = run(arguments, [&from, &to]);
        if !output.is_success() {
            faults.push_str(&format!("{name}: {}", output.error()));
        }
        let check = check(&to);
        if output.is_success() && !check.is_success() {
            faults.push_str(&format!("{name}: check: {}", check.out()));
        }
    }
    faults
}

#[test]
fn fixtures_are_repacked_without_changes() {
    assert_eq!(every_fixture(&[]), "");
}

#[test]
fn fixtures_in_the_oldest_form_side_by_side() {
    assert_eq!(
        every_fixture(&["--libver", "earliest", "--layout", "**=contiguous", "--filter", "**=none"]),
        ""
    );
}

#[test]
fn fixtures_in_the_newest_form_compressed() {
    assert_eq!(every_fixture(&["--libver", "latest", "--layout", "**=chunked", "--filter", "**=gzip=4"]), "");
}

#[test]
fn fixtures_sparse() {
    assert_eq!(every_fixture(&["--layout", "**=sparse", "--filter", "**=shuffle,gzip=4"]), "");
}

#[test]
fn fixtures_in_pages() {
    assert_eq!(every_fixture(&["--libver", "v110", "--fs-strategy", "page", "--fs-persist"]), "");
}

#[test]
fn layouts_and_filters_by_pattern() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (fixtures::path("weather_station.h5"), folder.path().join("new.h5"));
    let arguments = [
        "--layout",
        "/series/*=chunked:100",
        "--filter",
        "temperature=shuffle,gzip=6",
        "--user-block",
        "512",
    ];
    let output = run(&arguments, [&from, &to]);
    assert!(output.is_success(), "{output:?}");
    let code = "import h5py, sys, numpy
f, g = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])
d = g['series/temperature']
assert d.chunks == (100,) and d.compression == 'gzip' and d.compression_opts == 6 and d.shuffle
assert g.userblock_size == 512
def same(name, obj):
    if isinstance(obj, h5py.Dataset):
        assert numpy.array_equal(obj[()], g[name][()]) or obj.dtype.kind == 'f', name
    assert list(obj.attrs) == list(g[name].attrs), name
f.visititems(same)
print('same')";
    assert_eq!(referee.run_script(code, [&from, &to]).unwrap().trim(), "same");
}

/// Creates a file with a dataset of floats, some of which are missing values, and a dataset of
/// counts, most of which are zero.
fn measured(path: &Path) {
    let file = hyperslab::File::create(path).unwrap();
    let heights: Vec<f32> =
        (0..40_000_u16).map(|number| if number % 50 == 3 { f32::from(number) } else { -9999.0 }).collect();
    file.new_dataset("heights").of::<f32>().shape(&[200, 200]).create().unwrap().write(.., &heights).unwrap();
    let counts: Vec<u16> = (0..40_000).map(|number| if number % 100 == 7 { number } else { 0 }).collect();
    let new = file.new_dataset("runs/counts").of::<u16>().shape(&[200, 200]).max_shape(&[None, Some(200)]);
    new.chunks(&[20, 20]).deflate(1).create().unwrap().write(.., &counts).unwrap();
    file.close().unwrap();
}

#[test]
fn datasets_become_sparse_and_dense_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (from, sparse, other, back) = (path("a.h5"), path("b.h5"), path("c.h5"), path("d.h5"));
    measured(&from);
    let arguments = [
        "--layout",
        "**=sparse",
        "--layout",
        "heights=sparse:100x50",
        "--undefined",
        "heights=-9999",
        "--filter",
        "**=gzip=4",
        "--section-filter",
        "heights=selection:shuffle,gzip=6",
    ];
    run(&arguments, [&from, &sparse]).is_silent();
    let file = hyperslab::File::open(&sparse).unwrap();
    let (heights, counts) = (file.dataset("heights").unwrap(), file.dataset("runs/counts").unwrap());
    assert_eq!(
        (heights.sparse().defined_count().unwrap(), counts.sparse().defined_count().unwrap()),
        (800, 400)
    );
    assert_eq!(counts.dataspace().max_dims()[0], None);
    let chunking = heights.sparse().chunking().unwrap();
    let filters: Vec<usize> = chunking.sections.iter().map(|(_, filters)| filters.len()).collect();
    assert_eq!((chunking.shape, filters), (vec![100, 50], vec![2, 1]));
    // Sparse storage with other options, then dense storage.
    let arguments =
        ["--layout", "**=sparse:density=0.5", "--selection-encoding", "points", "--filter", "**=none"];
    run(&arguments, [&sparse, &other]).is_silent();
    run(&["--layout", "/*=contiguous", "--layout", "counts=chunked:30x30"], [&other, &back]).is_silent();
    let read = |path: &Path| {
        let file = hyperslab::File::open(path).unwrap();
        let counts = file.dataset("runs/counts").unwrap().read_raw::<u16>(..).unwrap();
        (file.dataset("heights").unwrap().read_raw::<f32>(..).unwrap(), counts)
    };
    assert_eq!(read(&from), read(&back));
    for made in [&sparse, &other, &back] {
        check(made).succeeds();
    }
    let Some(referee) = referee::python() else { return };
    let code = "import h5py, sys, numpy
f, g = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])
assert all(numpy.array_equal(f[name], g[name]) for name in ['heights', 'runs/counts'])
print('same')";
    assert_eq!(referee.run_script(code, [&from, &back]).unwrap().trim(), "same");
}

#[test]
fn sparse_datasets_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (from, sparse, target) = (path("a.h5"), path("b.h5"), path("c.h5"));
    measured(&from);
    assert!(run(&["--layout", "**=sparse"], [&from, &sparse]).is_success());
    let arguments = [sparse.as_os_str(), "runs".as_ref(), target.as_os_str(), "copied".as_ref()];
    hyperslab().with("cp").run(arguments).succeeds();
    let (before, after) = (hyperslab::File::open(&sparse).unwrap(), hyperslab::File::open(&target).unwrap());
    let (before, after) = (before.dataset("runs/counts").unwrap(), after.dataset("copied/counts").unwrap());
    assert_eq!(before.sparse().chunking(), after.sparse().chunking());
    assert_eq!(after.sparse().defined_count().unwrap(), 400);
    assert_eq!(before.read_raw::<u16>(..).unwrap(), after.read_raw::<u16>(..).unwrap());
}

#[test]
fn contradictory_requests_are_reported() {
    let from = fixtures::path("weather_station.h5");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("new.h5");
    for arguments in [
        ["--layout", "contiguous"],
        ["--layout", "**=chunked:0x1"],
        ["--layout", "**=round"],
        ["--filter", "**=nothing-like-this"],
        ["--libver", "v110,v18"],
        ["--layout", "**=sparse:density=2"],
        ["--layout", "**=sparse:half"],
        ["--section-filter", "**=shuffle"],
        ["--undefined", "**=nothing"],
    ] {
        let output = run(&arguments, [&from, &to]);
        assert!(!output.is_success(), "{arguments:?}");
        assert!(!to.exists(), "{arguments:?}");
    }
    let output = run(&[], [&from, &from]);
    assert_eq!(output.code(), 1);
}

#[test]
fn the_work_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (fixtures::path("weather_station.h5"), folder.path().join("new.h5"));
    let repack = |arguments: &[&str]| {
        let files = [from.as_os_str(), to.as_os_str()];
        let run = hyperslab().with("repack").run(arguments.iter().map(AsRef::as_ref).chain(files));
        run.succeeds().out().to_owned()
    };
    assert!(repack(&[]).contains("54.3 KiB before, "));
    assert_eq!(repack(&["--quiet"]), "");
    let report: serde_json::Value = serde_json::from_str(&repack(&["--json", "--no-verify"])).unwrap();
    assert_eq!(report["bytes_before"], from.metadata().unwrap().len());
    assert_eq!(report["bytes_after"], to.metadata().unwrap().len());
    assert_eq!(report["compared"], false);
}
