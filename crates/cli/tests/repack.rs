//! `hyperslab repack` on our own fixtures: what is in them stays, whatever the way of storing.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::process::{Command, Output};

use hyperslab_testkit::{fixtures, referee};

fn run(arguments: &[&str], files: [&Path; 2]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperslab"))
        .arg("repack")
        .arg("--quiet")
        .args(arguments)
        .args(files)
        .output()
        .unwrap()
}

/// Fixtures written anew, beside links to all fixtures: some lead to others. Gives what went wrong.
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
        if !output.status.success() {
            faults.push_str(&format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let check = Command::new(env!("CARGO_BIN_EXE_hyperslab")).arg("check").arg(&to).output().unwrap();
        if output.status.success() && !check.status.success() {
            faults.push_str(&format!("{name}: check: {}", String::from_utf8_lossy(&check.stdout)));
        }
    }
    faults
}

#[test]
fn fixtures_as_they_are() {
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
    assert!(output.status.success(), "{output:?}");
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

#[test]
fn what_cannot_be_is_said() {
    let from = fixtures::path("weather_station.h5");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("new.h5");
    for arguments in [
        ["--layout", "contiguous"],
        ["--layout", "**=chunked:0x1"],
        ["--layout", "**=round"],
        ["--filter", "**=nothing-like-this"],
        ["--libver", "v110,v18"],
    ] {
        let output = run(&arguments, [&from, &to]);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(!to.exists(), "{arguments:?}");
    }
    let output = run(&[], [&from, &from]);
    assert_eq!(output.status.code(), Some(1));
}
