//! `hyperslab digest` on our own fixtures says what libhdf5 said when they were made.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::process::Command;

use hyperslab_testkit::{compare, fixtures};

fn digest(path: &std::path::Path) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_hyperslab")).arg("digest").arg(path).output().unwrap();
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
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
fn a_file_that_is_none_gives_one_line_and_exit_code_1() {
    let path = fixtures::path("weather_station.h5").with_file_name("generate.py");
    let output = Command::new(env!("CARGO_BIN_EXE_hyperslab")).arg("digest").arg(path).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("generate.py") && error.contains("signature"), "{error}");
}
