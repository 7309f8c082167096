//! `hyperslab digest` on the project's fixtures prints the values that libhdf5 read when the
//! fixtures were made.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab_testkit::program::Program;
use hyperslab_testkit::{compare, fixtures};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).with("digest")
}

fn digest(path: &std::path::Path) -> serde_json::Value {
    serde_json::from_slice(&hyperslab().run([path]).succeeds().stdout).unwrap()
}

#[test]
fn every_fixture_reads_as_libhdf5_reads_it() {
    let mut compared = 0;
    let mut faults = String::new();
    for name in fixtures::names().unwrap() {
        let truth = fixtures::expected(&name).unwrap();
        let comparison = compare::compare(&truth, &digest(&fixtures::path(&name)));
        if !comparison.is_equal() {
            faults.push_str(&format!("{name}:\n{comparison}\n"));
        }
        compared += 1;
    }
    assert!(compared > 40, "only {compared} fixtures");
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_file_of_another_format_gives_one_line_and_exit_code_1() {
    let path = fixtures::path("weather_station.h5").with_file_name("generate.py");
    let error = hyperslab().run([path]).failure();
    assert!(error.contains("generate.py") && error.contains("not an HDF5 file, but text"), "{error}");
}
