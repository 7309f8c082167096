//! `hyperslab check`, run as people run it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab_testkit::fixtures;
use hyperslab_testkit::program::{Program, Run};
use serde_json::Value;

fn check(arguments: &[&str]) -> Run {
    let hyperslab = Program::new(env!("CARGO_BIN_EXE_hyperslab")).with("check");
    hyperslab.in_fixtures().without_colour_variables().run(arguments)
}

/// Returns a copy of a fixture with one changed byte.
fn damaged(name: &str, at: usize) -> tempfile::TempPath {
    let mut bytes = std::fs::read(fixtures::path(name)).unwrap();
    bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0xff);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file.into_temp_path()
}

#[test]
fn a_sound_file() {
    let output = check(&["weather_station.h5"]);
    assert_eq!(output.code(), 0);
    assert!(output.out().starts_with("sound: 0 faults"), "{}", output.out());
    let output = check(&["--quiet", "weather_station.h5", "groups_latest.h5"]);
    assert_eq!((output.status.code(), output.out(), output.error()), (Some(0), "", ""));
}

#[test]
fn a_file_with_a_fault() {
    let path = damaged("attributes_latest.h5", 60);
    let output = check(&["--quiet", path.to_str().unwrap()]);
    assert_eq!(output.code(), 1);
    let lines: Vec<&str> = output.out().lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with("fault: object header"), "{lines:?}");
}

#[test]
fn a_file_of_another_format_is_refused() {
    let output = check(&["generate.py", "weather_station.h5"]);
    assert_eq!(output.code(), 2);
    assert!(output.error().starts_with("hyperslab: cannot check `generate.py`: "));
    assert!(output.out().contains("weather_station.h5:\nsound"), "the others are checked all the same");
    assert_eq!(check(&["no such file"]).code(), 2);
    assert_eq!(check(&[]).code(), 2, "usage");
}

#[test]
fn a_document() {
    let path = damaged("attributes_latest.h5", 60);
    let output = check(&["--json", "weather_station.h5", path.to_str().unwrap(), "generate.py"]);
    assert_eq!(output.code(), 2);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document[0]["sound"], true);
    assert_eq!(
        (&document[1]["sound"], &document[1]["findings"][0]["severity"]),
        (&false.into(), &"fault".into())
    );
    assert!(document[2]["error"].as_str().unwrap().contains("not an HDF5 file, but text"));
}

#[test]
fn a_file_of_several_members() {
    for first in ["earliest-family00.h5", "latest-family00.h5", "earliest-multi-s.h5", "latest-multi-s.h5"] {
        let output = check(&["--quiet", &format!("members/{first}")]);
        assert_eq!((output.status.code(), output.out()), (Some(0), ""), "{first}");
    }
}

#[test]
fn chunks_are_decoded_if_asked_for() {
    let output = check(&["--quiet", "--data", "filters_latest.h5"]);
    assert_eq!((output.status.code(), output.out()), (Some(0), ""));
}

/// A chunk that states an impossible decoded size: `check` does not decode the chunk, and does not
/// report the file as sound.
#[test]
fn unchecked_parts_of_a_file_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.h5");
    let file = hyperslab::File::create(&path).unwrap();
    let dataset =
        file.new_dataset("a").of::<u8>().shape(&[8 << 20]).chunks(&[8 << 20]).deflate(1).create().unwrap();
    dataset.chunks().write(&[0], &[0x78, 1, 3, 0, 0, 0, 0, 1], 0).unwrap();
    file.close().unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(check(&[path]).code(), 0, "elements are not looked at");
    let output = check(&["--data", path]);
    let out = output.out();
    assert_eq!(output.code(), 3, "{out}");
    assert!(out.contains("not checked: 8388608 bytes from 8"), "{out}");
    assert!(
        out.contains("no fault found, but not all was checked: 0 faults") && !out.contains("sound"),
        "{out}"
    );
    let json: Value = serde_json::from_str(check(&["--data", "--json", path]).out()).unwrap();
    assert_eq!((&json[0]["sound"], &json[0]["complete"]), (&Value::Bool(true), &Value::Bool(false)));
    let damaged = damaged("attributes_latest.h5", 60);
    let worst = check(&["--data", "--quiet", damaged.to_str().unwrap(), path]);
    assert_eq!(worst.code(), 1, "a fault says more");
}
