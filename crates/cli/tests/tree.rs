//! `hyperslab tree`, run as people run it. The trees in `expected/` are refreshed with
//! `HYPERSLAB_UPDATE=1`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod deep_file;

use hyperslab::FileOptions;
use hyperslab_testkit::expected;
use hyperslab_testkit::program::{Program, Run};
use serde_json::Value;

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().env("NO_COLOR", "1").with("tree")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn drawn(arguments: &[&str]) -> String {
    run(arguments).printed()
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &drawn(arguments));
}

#[test]
fn trees() {
    check("tree_weather.txt", &["weather_station.h5"]);
    check("tree_weather_attrs.txt", &["weather_station.h5", "--attrs"]);
    check("tree_weather_groups.txt", &["weather_station.h5", "--groups"]);
    check("tree_series.txt", &["weather_station.h5", "/series/"]);
    check("tree_links.txt", &["links_latest.h5"]);
    check("tree_types.txt", &["committed_types_latest.h5", "-a"]);
    check("tree_depth.txt", &["groups_latest.h5", "--depth", "2"]);
}

#[test]
fn a_cycle_is_drawn_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("circle.h5");
    let file = FileOptions::new().create(&path).unwrap();
    let inner = file.create_group("outer/inner").unwrap();
    let outer = file.group("outer").unwrap();
    inner.link_hard("back", &outer).unwrap();
    file.link_hard("again", &inner).unwrap();
    file.close().unwrap();
    let got = drawn(&[path.to_str().unwrap()]);
    // The command visits links in the order of their names, so it visits `again` first.
    let expected = "/
├── again/
│   └── back/
│       └── inner  ↺ /again
└── outer  = /again/back

2 groups, 2 links
";
    assert_eq!(got, expected);
}

#[test]
fn the_document_is_that_of_ls_without_storage() {
    let document: Value = serde_json::from_str(&drawn(&["weather_station.h5", "--json"])).unwrap();
    assert_eq!(document["format"], "hyperslab tree 1");
    let entries = document["entries"].as_array().unwrap();
    let found = entries.iter().find(|entry| entry["path"] == "/series/pressure").unwrap();
    assert_eq!((found["shape"][0].as_u64(), found["type"].as_str()), (Some(8760), Some("f32")));
    assert!(found.get("stored_size").is_none() && found["attributes"].as_array().unwrap().is_empty());
}

#[test]
fn deeply_nested_files_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.h5");
    std::fs::write(&path, deep_file::chain(20_000, b"g", deep_file::End::Empty)).unwrap();
    let got = drawn(&[path.to_str().unwrap()]);
    // The command stops at cycles of links, and reports damaged objects.
    std::fs::write(&path, deep_file::chain(2, b"g", deep_file::End::BackToRoot)).unwrap();
    assert!(drawn(&[path.to_str().unwrap()]).contains("g  ↺ /\n"));
    std::fs::write(&path, deep_file::chain(2, b"g", deep_file::End::Nowhere)).unwrap();
    let broken = run(&[path.to_str().unwrap()]);
    assert_eq!(broken.code(), 1);
    assert!(broken.out().contains("error: "));
    assert!(got.lines().count() > 20_000, "{}", got.lines().count());
    assert!(got.len() < 20_000_000);
}

#[test]
fn missing_paths_are_reported() {
    let output = run(&["weather_station.h5", "serie"]);
    assert_eq!(output.code(), 1);
    let reported = output.error().to_owned();
    assert_eq!(reported, "hyperslab: `weather_station.h5`: nothing is at `serie`; did you mean `series`?\n");
}
