//! `hyperslab ls`, run as people run it. The listings in `expected/` are refreshed with `HYPERSLAB_UPDATE=1`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod deep_file;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{expected, fixtures};
use serde_json::Value;

/// Returns the command in the folder of the fixtures, without colour variables in its environment.
fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().without_colour_variables()
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn listing(arguments: &[&str]) -> String {
    run(arguments).printed()
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &listing(arguments));
}

#[test]
fn one_level() {
    check("weather_station.txt", &["ls", "weather_station.h5"]);
    check("weather_station_series.txt", &["ls", "weather_station.h5", "/series/"]);
}

#[test]
fn all_levels() {
    check("weather_station_r.txt", &["ls", "-r", "weather_station.h5"]);
    check("links_r.txt", &["ls", "-r", "links_latest.h5"]);
    check("groups_r.txt", &["ls", "--recursive", "groups_earliest.h5"]);
    check("userblock_r.txt", &["ls", "-r", "userblock_latest.h5"]);
}

#[test]
fn the_long_listing() {
    check("weather_station_rv.txt", &["ls", "-rv", "weather_station.h5"]);
    check("attributes_rv.txt", &["ls", "-r", "--verbose", "attributes_latest.h5"]);
    check("committed_types_rv.txt", &["ls", "-rv", "committed_types_latest.h5"]);
    check("compounds_rv.txt", &["ls", "-rv", "datatypes_compound_latest.h5"]);
    check("fill_values_rv.txt", &["ls", "-rv", "fill_values_latest.h5"]);
    check("filters_rv.txt", &["ls", "-rv", "filters_latest.h5"]);
    check("layouts_rv.txt", &["ls", "-rv", "layouts_latest.h5"]);
    check("references_rv.txt", &["ls", "-rv", "references_latest.h5"]);
}

#[test]
fn one_object() {
    check("temperature_v.txt", &["ls", "-v", "weather_station.h5", "series/temperature"]);
    // A soft link leads to the same dataset.
    let followed = listing(&["ls", "-v", "weather_station.h5", "latest"]);
    let direct = listing(&["ls", "-v", "weather_station.h5", "/series/temperature"]);
    assert_eq!(followed.replace("/latest", "/series/temperature").lines().next(), direct.lines().next());
    assert!(followed.contains("@long_name") && followed.contains("\"air temperature\""), "{followed}");
}

#[test]
fn json() {
    check("weather_station_r.json", &["ls", "-r", "--json", "weather_station.h5"]);
    let document: Value =
        serde_json::from_str(&listing(&["ls", "-r", "--json", "weather_station.h5"])).unwrap();
    let entries = document["entries"].as_array().unwrap();
    let entry = |path: &str| entries.iter().find(|entry| entry["path"] == path).unwrap();
    let temperature = entry("/series/temperature");
    assert_eq!(temperature["shape"], serde_json::json!([8760]));
    assert_eq!(temperature["max_shape"], serde_json::json!([null]));
    assert_eq!(temperature["units"], "K");
    assert_eq!(temperature["type"], "f32");
    assert_eq!(entry("/latest")["target"], "/series/temperature");
    assert_eq!(temperature["parent"], entry("/series")["id"]);
}

#[test]
fn every_fixture_can_be_listed() {
    for name in fixtures::names().unwrap() {
        let tree = listing(&["ls", "-rv", &name]);
        assert!(tree.lines().count() > 2 && !tree.contains("error"), "{name}:\n{tree}");
        let document: Value = serde_json::from_str(&listing(&["ls", "-r", "--json", &name])).unwrap();
        assert_eq!(document["failures"], 0, "{name}");
    }
}

#[test]
fn colours_are_for_terminals() {
    assert!(!listing(&["ls", "-rv", "weather_station.h5"]).contains('\x1b'));
    let forced = hyperslab().env("CLICOLOR_FORCE", "1").run(["ls", "weather_station.h5"]);
    assert!(forced.out().contains("\x1b["), "{forced:?}");
}

#[test]
fn files_that_cannot_be_opened() {
    let cases = [("absent.h5", "No such file"), ("generate.py", "not an HDF5 file, but text")];
    for (name, reason) in cases {
        let output = run(&["ls", name]);
        let error = output.error();
        assert_eq!(output.code(), 1, "{error}");
        assert!(output.stdout.is_empty());
        assert!(error.starts_with(&format!("hyperslab: cannot open `{name}`: ")), "{error}");
        assert!(error.contains(reason) && error.lines().count() == 1, "{error}");
    }
    let output = run(&["ls", "weather_station.h5", "/series/absent"]);
    assert_eq!(output.code(), 1);
    assert!(output.error().contains("`absent` not found"), "{output:?}");
}

#[test]
fn files_of_several_members() {
    for name in ["earliest-family00.h5", "latest-family%02d.h5", "earliest-split-m.h5", "latest-multi-s.h5"] {
        let tree = listing(&["ls", &format!("members/{name}")]);
        assert!(tree.contains("numbers  400") && !tree.contains("EiB"), "{tree}");
    }
    let digest = listing(&["digest", "members/latest-family00.h5"]);
    assert!(digest.contains(r#""open_as":"family""#), "{digest}");
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("a0.h5");
    std::fs::copy(fixtures::path("members/latest-family00.h5"), &first).unwrap();
    let output = run(&["ls", first.to_str().unwrap()]);
    assert!(output.error().contains("a1.h5` is missing"), "{output:?}");
    let output = run(&["ls", "--driver", "split", "members/latest"]);
    assert!(output.error().contains("members/latest-m.h5: No such file"), "{output:?}");
}

#[test]
fn drivers_are_chosen_by_name() {
    let plain = listing(&["ls", "-r", "weather_station.h5"]);
    for driver in ["auto", "sec2", "core", "stdio"] {
        assert_eq!(listing(&["ls", "-r", "weather_station.h5", "--driver", driver]), plain);
        let digest = listing(&["digest", "--driver", driver, "weather_station.h5"]);
        let driver = if driver == "auto" { "sec2" } else { driver };
        assert!(digest.contains(&format!(r#""open_as":"{driver}""#)));
    }
    let logged = run(&["ls", "-r", "weather_station.h5", "--driver", "log"]);
    assert_eq!(logged.out(), plain);
    assert!(logged.error().starts_with("read   ") && logged.error().contains("\nwrite  0 bytes"));
    let wrong = run(&["ls", "--driver", "direct", "weather_station.h5"]);
    assert_eq!(wrong.code(), 2);
    assert!(wrong.error().contains("no driver is called `direct`; there are auto, sec2"), "{wrong:?}");
}

#[test]
fn wrong_usage() {
    for arguments in [&["ls"] as &[&str], &["ls", "--such-a-thing", "x.h5"], &["no-command"]] {
        assert_eq!(run(arguments).code(), 2, "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = hyperslab()
        .command(["ls", "-rv", "groups_large_latest.h5"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert!(line.starts_with("groups_large_latest.h5"), "{line}");
    assert_eq!((output.status.code(), str::from_utf8(&output.stderr).unwrap()), (Some(0), ""));
}

fn written(folder: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("made.h5");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_deep_file_is_listed_without_recursion() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &deep_file::chain(5000, b"g", deep_file::End::Empty));
    let tree = listing(&["ls", "-r", path.to_str().unwrap()]);
    assert_eq!(tree.lines().count(), 5002);
    assert!(tree.lines().all(|line| line.len() < 600));
    let document = listing(&["ls", "-r", "--json", path.to_str().unwrap()]);
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["entries"].as_array().unwrap().len(), 5001);
}

#[test]
fn a_cycle_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &deep_file::chain(2, b"g", deep_file::End::BackToRoot));
    let tree = listing(&["ls", "-r", path.to_str().unwrap()]);
    let lines: Vec<&str> = tree.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "/              1 member",
            "└── g/         1 member",
            "    └── g/     1 member",
            "        └── g  same as /",
        ]
    );
}

#[test]
fn damage_is_shown_at_the_damaged_object() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &deep_file::chain(2, b"g", deep_file::End::Nowhere));
    let output = run(&["ls", "-r", path.to_str().unwrap()]);
    let tree = output.out();
    assert_eq!(output.code(), 1, "{tree}");
    assert!(tree.lines().last().unwrap().contains("└── g  error: "), "{tree}");
    assert_eq!(output.error().lines().count(), 1);
    assert!(output.error().contains("1 part of "), "{output:?}");
}

#[test]
fn control_characters_in_names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = deep_file::chain(1, b"\x1b[31mred\n\xff", deep_file::End::Empty);
    let path = written(&folder, &bytes);
    let tree = listing(&["ls", path.to_str().unwrap()]);
    assert!(tree.contains("└── \\u{1b}[31mred\\n\\xff/"), "{tree}");
    let document = listing(&["ls", "--json", path.to_str().unwrap()]);
    assert!(!document.contains('\x1b'));
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["entries"][1]["name_bytes"], "0x1b5b33316d7265640aff");
}
