//! `hyperslab find`, run as people run it.

use hyperslab::FileOptions;
use hyperslab_testkit::program::{Program, Run};
use serde_json::Value;

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().env("NO_COLOR", "1").with("find")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

/// Returns the paths that the command prints.
fn found(arguments: &[&str]) -> Vec<String> {
    let output = run(arguments);
    assert_eq!(output.error(), "", "{arguments:?}");
    let lines: Vec<String> = output.out().to_owned().lines().map(str::to_owned).collect();
    assert_eq!(output.code(), i32::from(lines.is_empty()), "{arguments:?}");
    lines
}

#[test]
fn by_names_and_kinds() {
    let weather = |more: &[&str]| found(&[&["weather_station.h5"], more].concat());
    assert_eq!(weather(&[]).len(), 13);
    assert_eq!(weather(&["--name", "t*"]), ["/series/temperature", "/series/time"]);
    assert_eq!(
        weather(&["--name", "/*/*s*"]),
        ["/series/pressure", "/series/wind_speed", "/station/sensors"]
    );
    assert_eq!(weather(&["--kind", "group"]), ["/", "/events", "/series", "/station"]);
    assert_eq!(weather(&["--kind", "link"]), ["/latest"]);
    assert_eq!(weather(&["--name", "nothing"]), [""; 0]);
    // If a second hard link leads to an object, the command prints both paths.
    assert_eq!(found(&["links_latest.h5", "--kind", "dataset"]), ["/hard", "/hard group/data"]);
}

#[test]
fn by_attributes() {
    let weather = |attribute: &str| found(&["weather_station.h5", "--attr", attribute]);
    assert_eq!(weather("units").len(), 4);
    assert_eq!(weather("units=K"), ["/series/temperature"]);
    assert_eq!(weather("latitude=47.550"), ["/station"]);
    assert_eq!(weather("elevation_m=317"), ["/station"]);
    assert_eq!(weather("units=k"), [""; 0]);
    assert_eq!(found(&["weather_station.h5", "-a", "units=K", "-a", "long_name=x"]), [""; 0]);
    // With several files, each line names the file.
    let both = found(&["attributes_latest.h5", "weather_station.h5", "--attr", "units=K"]);
    assert_eq!(both, ["attributes_latest.h5:/few", "weather_station.h5:/series/temperature"]);
}

#[test]
fn by_types_shapes_and_storage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.h5");
    let file = FileOptions::new().create(&path).unwrap();
    file.new_dataset("image").of::<u16>().shape(&[100, 200]).chunks(&[10, 10]).deflate(4).create().unwrap();
    file.new_dataset("cube").of::<f64>().shape(&[4, 5, 3]).create().unwrap();
    file.new_dataset("points").of::<f32>().shape(&[1000, 1000]).sparse(&[100, 100]).create().unwrap();
    file.new_dataset("flags").of::<bool>().shape(&[7]).chunks(&[7]).shuffle().create().unwrap();
    file.new_dataset("words").write_strings(&["a", "b"]).unwrap();
    file.close().unwrap();
    let path = path.to_str().unwrap();
    for (arguments, expected) in [
        (&["--type", "u16"][..], &["/image"][..]),
        (&["--type", "float"], &["/cube", "/points"]),
        (&["--type", "unsigned"], &["/image"]),
        (&["--type", "string"], &["/words"]),
        (&["--type", "bool"], &["/flags"]),
        (&["--type", "compound"], &[]),
        (&["--shape", "100x200"], &["/image"]),
        (&["--shape", "*,*,3"], &["/cube"]),
        (&["--rank", "2"], &["/image", "/points"]),
        (&["--min-size", "40000"], &["/image", "/points"]),
        (&["--min-size", "1M"], &["/points"]),
        (&["--max-size", "40000", "--rank", "2"], &["/image"]),
        (&["--max-size", "480", "--min-size", "480"], &["/cube"]),
        (&["--filter", "gzip"], &["/image"]),
        (&["--filter", "shuffle"], &["/flags"]),
        (&["--filter", "1"], &["/image"]),
        (&["--filter", "none", "--layout", "chunked"], &[]),
        (&["--layout", "chunked"], &["/flags", "/image"]),
        (&["--layout", "structured"], &["/points"]),
        (&["--sparse"], &["/points"]),
        (&["--sparse", "--kind", "group"], &[]),
    ] {
        assert_eq!(found(&[&[path], arguments].concat()), expected, "{arguments:?}");
    }
}

#[test]
fn output_formats() {
    let output = run(&["weather_station.h5", "--print0", "--name", "t*"]);
    assert_eq!(output.stdout, b"/series/temperature\0/series/time\0");
    let output = run(&["weather_station.h5", "-l", "--name", "temp*"]);
    let line = "/series/temperature  8760/∞  f32  [K]    34.2 KiB  chunked 1024 · shuffle + deflate 3.8×\n";
    assert_eq!(output.out().to_owned(), line);
    let output = run(&["weather_station.h5", "--json", "--name", "t*"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let paths: Vec<&str> =
        document["found"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/series/temperature", "/series/time"]);
    assert_eq!(document["found"][0]["stored_size"], 9169);
    let output = run(&["weather_station.h5", "--json", "--name", "nothing"]);
    assert_eq!(output.code(), 1);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["found"].as_array().unwrap().len(), 0);
}

#[test]
fn names_are_escaped_except_in_machine_readable_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.h5");
    let file = FileOptions::new().create(&path).unwrap();
    file.create_group("a\x1b[31m\nb").unwrap();
    file.close().unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(found(&[path, "--name", "a*"]), ["/a\\u{1b}[31m\\nb"]);
    assert_eq!(run(&[path, "-0", "--name", "a*"]).stdout, b"/a\x1b[31m\nb\0");
}

#[test]
fn unreadable_objects_are_reported_and_the_others_are_found() {
    let output = run(&["absent.h5", "weather_station.h5", "--name", "latest"]);
    assert_eq!(output.code(), 2);
    assert_eq!(output.stdout, b"weather_station.h5:/latest\n");
    assert!(output.error().starts_with("hyperslab: cannot open `absent.h5`"));
    assert_eq!(run(&["weather_station.h5", "--min-size", "tiny"]).code(), 2);
}
