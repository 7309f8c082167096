//! `hyperslab bench-file`, run like a user runs it. The tests check the counts, not the times.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;

use hyperslab::{File, FileOptions, Points};
use hyperslab_testkit::program::{Program, Run};
use serde_json::{Value, json};
use tempfile::TempDir;

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().env("NO_COLOR", "1")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn said(arguments: &[&str]) -> String {
    run(&[&["bench-file", "--seconds", "0.1"], arguments].concat()).printed()
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(&[&["--json"], arguments].concat())).unwrap()
}

/// Writes a file with two columns that are read row by row, and with other objects.
fn made(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("it's made.h5");
    let file = FileOptions::new().create(&path).unwrap();
    let columns = file.new_dataset("columns").of::<u32>().shape(&[2000, 512]).chunks(&[2000, 1]).deflate(1);
    columns.create().unwrap().write(.., &(0..2000 * 512).collect::<Vec<u32>>()).unwrap();
    file.new_dataset("scalar").write_scalar(7_i32).unwrap();
    file.new_dataset("words").write_strings(&["a", "bc"]).unwrap();
    file.new_dataset("none").of::<f32>().shape(&[0]).create().unwrap();
    let sparse = file
        .new_dataset("sparse")
        .of::<f64>()
        .shape(&[1 << 40, 100])
        .sparse(&[1 << 10, 10])
        .create()
        .unwrap();
    sparse.sparse().write(&Points { rank: 2, coordinates: vec![3, 4, 1 << 30, 99] }, &[1.0, 2.0]).unwrap();
    file.new_dataset("far").of::<f64>().shape(&[1 << 50]).chunks(&[1 << 10]).create().unwrap();
    file.close().unwrap();
    path
}

#[test]
fn bytes_that_are_read_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let all = document(&[path.to_str().unwrap(), "columns"]);
    let one = &all["datasets"][0];
    assert_eq!((&one["path"], &one["logical_size"]), (&json!("/columns"), &json!(2000 * 512 * 4)));
    let measured = one["measured"].as_array().unwrap();
    let of = |access: Value| measured.iter().find(|cell| cell["access"] == access).unwrap();
    let whole = of(json!("whole"));
    assert_eq!((&whole["wanted_bytes"], &whole["complete"]), (&one["logical_size"], &json!(true)));
    assert!(whole["read_bytes"].as_u64() >= one["stored_size"].as_u64());
    assert!(whole["read_bytes_per_second"].as_u64() > Some(0));
    // Each row touches all chunks, and each column touches one chunk.
    let (row, column) = (of(json!({ "slab": 0 })), of(json!({ "slab": 1 })));
    let requests = row["requests"].as_u64().unwrap();
    assert_eq!(row["wanted_bytes"], requests * 512 * 4);
    assert!(row["read_bytes"].as_u64().unwrap() >= requests * one["stored_size"].as_u64().unwrap());
    let each = column["read_bytes"].as_u64().unwrap() / column["requests"].as_u64().unwrap();
    assert!(each < one["stored_size"].as_u64().unwrap() / 256, "{each}");
    assert!(of(json!("chunk"))["reading_seconds"].as_f64() > Some(0.0));
    assert!(of(json!("point"))["requests"].as_u64() > Some(0));
}

#[test]
fn recommended_chunks_can_be_written_and_are_read_faster() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    let text = said(&[path, "columns", "--for", "0"]);
    assert!(text.contains("2000 × 1 (now)") && text.contains("hyperslab repack"), "{text}");
    let all = document(&[path, "columns", "--for", "0"]);
    let estimated = &all["datasets"][0]["estimated"];
    let (now, best) = (&estimated["present"]["cost"], &estimated["others"][0]["cost"]);
    assert!(now.as_f64().unwrap() > 100.0 * best.as_f64().unwrap(), "{now} {best}");
    assert_eq!(
        estimated["present"]["read_per_byte_wanted"][1],
        json!({ "access": { "slab": 0 }, "bytes": 2000.0 })
    );
    // The command line, quoted for a shell.
    let command =
        all["datasets"][0]["recommended"].as_str().unwrap().replacen("hyperslab", "\"$HYPERSLAB\"", 1);
    let shell = Program::new("sh").in_folder(folder.path()).env("HYPERSLAB", env!("CARGO_BIN_EXE_hyperslab"));
    shell.run(["-c", &command]).succeeds();
    let better = File::open(folder.path().join("new.h5")).unwrap().dataset("columns").unwrap();
    assert_eq!(json!(better.chunking().unwrap().shape), estimated["others"][0]["chunk_shape"]);
    assert_eq!(better.filters().len(), 1, "filters stay");
    // The command prints no further advice.
    let new = folder.path().join("new.h5");
    assert!(said(&[new.to_str().unwrap(), "columns", "--for", "0"]).contains("No layout that was tried"));
}

#[test]
fn all_kinds_of_datasets_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    for (dataset, accesses) in [("scalar", 2), ("words", 2), ("none", 0), ("sparse", 5), ("far", 3)] {
        let all = document(&[path, dataset]);
        let measured = all["datasets"][0]["measured"].as_array().unwrap();
        assert_eq!(measured.len(), accesses, "{dataset}: {measured:?}");
        said(&[path, dataset]);
    }
    for name in ["layouts_latest.h5", "filters_latest.h5", "datatypes_compound_latest.h5"] {
        assert!(said(&[name]).contains("measured"), "{name}");
    }
    // Without a name, the command measures the datasets with the most bytes, the largest first.
    let all = document(&[path]);
    let paths: Vec<&Value> = all["datasets"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(paths.len(), 3);
    assert_eq!(paths[0], "/columns");
}

#[test]
fn wrong_arguments_are_reported() {
    let fails = |arguments: &[&str]| {
        let output = run(&[&["bench-file", "--seconds", "0.1"], arguments].concat());
        assert_ne!(output.code(), 0, "{arguments:?}");
        output.error().to_owned()
    };
    assert!(fails(&["weather_station.h5", "qualiti"]).contains("did you mean `quality`?"));
    assert!(fails(&["weather_station.h5", "quality", "--for", "1"]).contains("no dimension 1"));
    assert!(
        fails(&["weather_station.h5", "quality", "--for", "rows"]).contains("`rows` is not a kind of access")
    );
    assert!(fails(&["weather_station.h5", "series"]).contains("is a group"));
    assert!(fails(&["groups_latest.h5"]).contains("no dataset"));
}
