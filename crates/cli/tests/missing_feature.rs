//! Commands that need a feature that the build of the program lacks.
#![cfg(not(all(
    feature = "browse",
    feature = "cloud",
    feature = "images",
    feature = "plots",
    feature = "serve",
    feature = "tables"
)))]

use hyperslab_testkit::program::Program;

/// Returns the message of a command that fails.
fn refused(arguments: &[&str]) -> String {
    let output = Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().run(arguments);
    assert_ne!(output.code(), 0, "{arguments:?}");
    output.error().to_owned()
}

#[cfg(not(feature = "plots"))]
#[test]
fn pictures_name_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("a.png");
    let path = picture.to_str().unwrap();
    let message = refused(&["plot", "weather_station.h5", "series/temperature", "-o", path]);
    assert!(message.contains("this build has no PNG and SVG pictures"), "{message}");
    assert!(message.contains("--features full"), "{message}");
    assert!(!picture.exists(), "an unfinished picture remains");
}

#[cfg(not(feature = "tables"))]
#[test]
fn tables_name_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("a.parquet");
    let path = table.to_str().unwrap();
    let message = refused(&["export", "weather_station.h5", "series/temperature", path]);
    assert!(message.contains("this build has no Parquet tables"), "{message}");
    assert!(!table.exists(), "an unfinished table remains");
    let file = folder.path().join("a.h5");
    std::fs::write(folder.path().join("b.arrow"), b"ARROW1").unwrap();
    let input = folder.path().join("b.arrow");
    let message = refused(&["import", input.to_str().unwrap(), file.to_str().unwrap(), "table"]);
    assert!(message.contains("this build has no Arrow tables"), "{message}");
    assert!(!file.exists(), "an unfinished file remains");
}

#[cfg(not(feature = "cloud"))]
#[test]
fn urls_name_the_feature() {
    for arguments in [["info", "s3://bucket/a.h5"], ["check", "https://127.0.0.1:9/a.h5"]] {
        let message = refused(&arguments);
        assert!(message.contains("this build has no object stores and web servers"), "{message}");
        assert!(message.contains("--features full"), "{message}");
    }
}

#[cfg(not(feature = "serve"))]
#[test]
fn the_server_names_the_feature() {
    for arguments in [["serve", "weather_station.h5"], ["view", "weather_station.h5"]] {
        let message = refused(&arguments);
        assert!(message.contains("this build has no web server"), "{message}");
    }
}

#[cfg(not(feature = "images"))]
#[test]
fn images_name_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("a.tif");
    let path = image.to_str().unwrap();
    let message = refused(&["export", "weather_station.h5", "series/temperature", path]);
    assert!(message.contains("this build has no PNG and TIFF images"), "{message}");
    assert!(!image.exists(), "an unfinished image remains");
    let file = folder.path().join("a.h5");
    std::fs::write(&image, b"II*\0").unwrap();
    let message = refused(&["import", path, file.to_str().unwrap(), "image"]);
    assert!(message.contains("this build has no PNG and TIFF images"), "{message}");
    assert!(!file.exists(), "an unfinished file remains");
}

#[cfg(not(feature = "browse"))]
#[test]
fn the_browser_names_the_feature() {
    let message = refused(&["browse", "weather_station.h5"]);
    assert!(message.contains("this build has no browser"), "{message}");
}
