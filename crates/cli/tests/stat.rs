//! `hyperslab stat`, run as people run it. The output in `expected/` is refreshed with
//! `HYPERSLAB_UPDATE=1`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::FileOptions;
use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{expected, fixtures};
use serde_json::{Value, json};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().env("NO_COLOR", "1").with("stat")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn said(arguments: &[&str]) -> String {
    run(arguments).printed()
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(&[&["--json"], arguments].concat())).unwrap()
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &said(arguments));
}

#[test]
fn the_text_for_readers() {
    check("stat_weather.txt", &["weather_station.h5"]);
    check("stat_paged.txt", &["file_space_paged_latest.h5", "--top", "3"]);
    check("stat_series.txt", &["weather_station.h5", "series", "--quick", "--all"]);
    check("stat_userblock.txt", &["userblock_latest.h5"]);
}

#[test]
fn every_byte_is_accounted_for() {
    for name in fixtures::names().unwrap() {
        let all = document(&[&name, "--all"]);
        let bytes = all["bytes"].as_object().unwrap();
        let sum: u64 = bytes.values().map(|one| one["bytes"].as_u64().unwrap()).sum();
        assert_eq!(sum, all["size"].as_u64().unwrap(), "{name}: {bytes:?}");
        let objects: u64 =
            all["objects"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(all["largest"].as_array().unwrap().len() as u64, objects, "{name}");
        // The chunk bytes of all objects add up to the total of the chunks.
        let raw: u64 =
            all["largest"].as_array().unwrap().iter().map(|one| one["raw_data"].as_u64().unwrap()).sum();
        let of = |kind: &str| bytes.get(kind).map_or(0, |one| one["bytes"].as_u64().unwrap());
        assert_eq!(raw, of("chunks") + of("contiguous raw data"), "{name}");
    }
}

#[test]
fn files_of_several_members() {
    for name in ["earliest-family00.h5", "latest-family00.h5", "earliest-multi-s.h5", "latest-multi-s.h5"] {
        let all = document(&[&format!("members/{name}")]);
        let bytes = all["bytes"].as_object().unwrap();
        let sum: u64 = bytes.values().map(|one| one["bytes"].as_u64().unwrap()).sum();
        assert!(sum <= all["size"].as_u64().unwrap(), "{name}: {bytes:?}");
        assert!(!all["layouts"].as_object().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn chunks_and_their_overhang() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.h5");
    let file = FileOptions::new().create(&path).unwrap();
    // 3 × 2 chunks of 4 × 4 elements; the last row of them has 2 rows, the last column 1 column.
    let edges = file.new_dataset("edges").of::<u16>().shape(&[10, 5]).chunks(&[4, 4]).create().unwrap();
    edges.write(.., &[1_u16; 50]).unwrap();
    let parts =
        file.new_dataset("parts").of::<f64>().shape(&[100]).chunks(&[10]).deflate(9).create().unwrap();
    parts.write(hyperslab::s![..30], &[0.5; 30]).unwrap();
    file.close().unwrap();
    let path = path.to_str().unwrap();
    let all = document(&[path]);
    let found = |path: &str| {
        let lines = all["largest"].as_array().unwrap();
        lines.iter().find(|line| line["path"] == path).unwrap().clone()
    };
    let edges = found("/edges");
    assert_eq!((&edges["chunks"], &edges["possible_chunks"]), (&json!(6), &json!(6)));
    assert_eq!((&edges["stored_size"], &edges["raw_size"]), (&json!(192), &json!(100)));
    assert_eq!((&edges["overhang"], &all["waste"]["overhang"]), (&json!(92), &json!(92)));
    let parts = found("/parts");
    assert_eq!((&parts["chunks"], &parts["possible_chunks"]), (&json!(3), &json!(10)));
    assert_eq!(parts["filters"], json!(["deflate"]));
    assert!(parts["ratio"].as_f64().unwrap() > 5.0);
    let text = said(&[path]);
    assert!(text.contains("3 of 10 chunks · deflate") && text.contains("chunk overhang"), "{text}");
}

#[test]
fn only_the_largest_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.h5");
    let file = FileOptions::new().create(&path).unwrap();
    for number in 0_usize..50 {
        file.new_dataset(&format!("d{number:02}")).write(&vec![1_u8; 1000 * (number + 1)]).unwrap();
    }
    file.close().unwrap();
    let path = path.to_str().unwrap();
    let some = document(&[path, "--top", "2"]);
    let paths: Vec<&Value> = some["largest"].as_array().unwrap().iter().map(|line| &line["path"]).collect();
    assert_eq!(paths, ["/d49", "/d48"]);
    let all = document(&[path, "--all"]);
    let lines = all["largest"].as_array().unwrap();
    assert_eq!((lines.len(), &some["others"]["objects"]), (51, &json!(49)));
    let rest: u64 = lines.iter().skip(2).map(|line| line["bytes"].as_u64().unwrap()).sum();
    assert_eq!(some["others"]["bytes"], rest);
    assert_eq!(document(&[path, "--top", "0"])["largest"], json!([]));
}

#[test]
fn without_an_account_raw_data_are_counted() {
    let quick = document(&["weather_station.h5", "--quick"]);
    assert_eq!((&quick["bytes"], &quick["waste"]["unaccounted"]), (&Value::Null, &Value::Null));
    assert_eq!(quick["largest"][0]["path"], "/series/wind_speed");
    assert_eq!(quick["largest"][0]["metadata"], 0);
    let whole = document(&["weather_station.h5"]);
    assert_eq!((&quick["layouts"], &quick["filters"]), (&whole["layouts"], &whole["filters"]));
}

#[test]
fn damaged_objects_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.h5");
    let mut bytes = std::fs::read(fixtures::path("weather_station.h5")).unwrap();
    let half = bytes.len() / 2;
    bytes.truncate(half);
    std::fs::write(&path, bytes).unwrap();
    let output = run(&[path.to_str().unwrap()]);
    assert_eq!(output.code(), 1);
    assert!(!output.stderr.is_empty());
}
