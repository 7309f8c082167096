//! The other files to which links and datasets of a remote file lead: names below the same prefix,
//! and missing files.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::future::Future;
use std::time::Duration;

use hyperslab::{ErrorKind, File, FileOptions, Result, Selection, VirtualMapping};
use hyperslab_cloud::{AsyncFile, CloudOptions};
use hyperslab_testkit::web::{Fault, Server};

fn quick() -> CloudOptions {
    // No test depends on the time, so that a busy machine does not matter.
    CloudOptions::new().deadline(Duration::from_secs(120)).retries(1)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Adds to a file a virtual dataset, a dataset with external raw data, and a link, which lead to
/// `target`.
fn lead_to(file: &File, name: &str, target: &str) {
    let new = |kind: &str| file.new_dataset(&format!("{name}-{kind}")).of::<i32>().shape(&[3]);
    let (selection, source_selection) = (Selection::All, Selection::All);
    let source = VirtualMapping { file: target.into(), dataset: b"x".to_vec(), selection, source_selection };
    new("virtual").fill(-5_i32).virtual_sources(&[source]).create().unwrap();
    new("raw").external(&[(target, 0, Some(12))]).create().unwrap();
    file.link_external(&format!("{name}-link"), target, "/x").unwrap();
}

/// Returns the elements that each of these leads to, or the kind of the error.
fn read_all(file: &File, name: &str) -> Result<Vec<std::result::Result<Vec<i32>, ErrorKind>>> {
    let read = |kind: &&str| file.dataset(&format!("{name}-{kind}"))?.read_raw::<i32>(..);
    Ok(["virtual", "raw", "link"].iter().map(|kind| read(kind).map_err(|error| error.kind())).collect())
}

#[test]
fn missing_files_behave_as_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["missing.h5", "sub/missing.h5", "/elsewhere/missing.h5", "there.h5", "no-hdf5.h5", ".."];
    let file = FileOptions::new().create_in_memory().unwrap();
    names.iter().enumerate().for_each(|(number, target)| lead_to(&file, &number.to_string(), target));
    let other = FileOptions::new().create_in_memory().unwrap();
    other.new_dataset("x").write(&[1, 2, 3]).unwrap();
    let server = Server::start().unwrap();
    let no_hdf5 = vec![1; 40];
    let files = [
        ("a.h5", file.to_bytes().unwrap()),
        ("there.h5", other.to_bytes().unwrap()),
        ("no-hdf5.h5", no_hdf5),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), &bytes).unwrap();
        server.put(&format!("run/{name}"), bytes);
    }
    let local = File::open(folder.path().join("a.h5")).unwrap();
    let url = server.url("run/a.h5");
    let blocking = quick().open(&url).unwrap();
    let awaited = block_on(AsyncFile::open(&url, quick())).unwrap();
    let mut missing = 0;
    for (number, target) in names.iter().enumerate() {
        let expected = read_all(&local, &number.to_string()).unwrap();
        missing += usize::from(expected.get(1) == Some(&Err(ErrorKind::NotFound)));
        assert_eq!(read_all(&blocking, &number.to_string()).unwrap(), expected, "{target}");
        let got = block_on(awaited.run(|file| read_all(file, &number.to_string()))).unwrap();
        assert_eq!(got, expected, "{target}, asynchronously");
    }
    assert_eq!(missing, 3);
    // A server that fails is no missing file.
    server.fail(0, 1000, Fault::Status(403));
    let refused = read_all(&blocking, "0").unwrap();
    assert!(refused.iter().all(|outcome| *outcome == Err(ErrorKind::Io)), "{refused:?}");
}

#[test]
fn virtual_sources_and_raw_files_are_below_the_same_prefix() {
    let server = Server::start().unwrap();
    let other = FileOptions::new().create_in_memory().unwrap();
    other.new_dataset("x").write(&[1, 2, 3]).unwrap();
    server.put("run/sub/other.h5", other.to_bytes().unwrap());
    server.put("run/sub/raw.bin", 7_i32.to_le_bytes().repeat(3));
    let secret = other.to_bytes().unwrap();
    for path in ["secret.h5", "runner/secret.h5", "etc/passwd"] {
        server.put(path, secret.clone());
    }
    let outside = ["../secret.h5", "../runner/secret.h5", "/etc/passwd", "sub/../../secret.h5"];
    let outside = outside.map(str::to_owned).into_iter().chain([
        server.url("secret.h5"),
        "file:///etc/passwd".into(),
        "s3://bucket/secret.h5".into(),
    ]);
    let file = FileOptions::new().create_in_memory().unwrap();
    lead_to(&file, "good", "sub/other.h5");
    let names: Vec<String> = outside.collect();
    for (number, target) in names.iter().enumerate() {
        lead_to(&file, &number.to_string(), target);
    }
    let raw = file.new_dataset("raw").of::<i32>().shape(&[3]);
    raw.external(&[("sub/raw.bin", 0, Some(12))]).create().unwrap();
    server.put("run/a.h5", file.to_bytes().unwrap());
    let file = quick().open(&server.url("run/a.h5")).unwrap();
    assert_eq!(file.dataset("good-virtual").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    assert_eq!(file.dataset("raw").unwrap().read_raw::<i32>(..).unwrap(), [7, 7, 7]);
    for (number, target) in names.iter().enumerate() {
        // A source that cannot be opened gives fill values, as in the C library, or an error.
        let shown = file.dataset(&format!("{number}-virtual")).unwrap().read_raw::<i32>(..);
        assert!(shown.is_err() || shown.unwrap() == [-5, -5, -5], "{target}");
        assert!(file.dataset(&format!("{number}-raw")).unwrap().read_raw::<i32>(..).is_err(), "{target}");
    }
    let paths: Vec<String> = server.log().into_iter().map(|(path, _)| path).collect();
    assert!(paths.iter().all(|path| path.starts_with("run/")), "{paths:?}");
}

#[test]
fn links_lead_only_to_files_below_the_same_prefix() {
    let server = Server::start().unwrap();
    let other = FileOptions::new().create_in_memory().unwrap();
    other.new_dataset("x").write(&[1, 2, 3]).unwrap();
    server.put("run/other.h5", other.to_bytes().unwrap());
    server.put("secret.h5", other.to_bytes().unwrap());
    let file = FileOptions::new().create_in_memory().unwrap();
    file.link_external("good", "other.h5", "/x").unwrap();
    file.link_external("up", "../secret.h5", "/x").unwrap();
    file.link_external("host", &server.url("secret.h5"), "/x").unwrap();
    file.link_external("local", "/etc/passwd", "/x").unwrap();
    server.put("run/a.h5", file.to_bytes().unwrap());
    let file = quick().open(&server.url("run/a.h5")).unwrap();
    assert_eq!(file.dataset("good").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    for name in ["up", "host", "local"] {
        assert!(file.dataset(name).is_err(), "{name}");
    }
    let paths: Vec<String> = server.log().into_iter().map(|(path, _)| path).collect();
    assert!(paths.iter().all(|path| path.starts_with("run/")), "{paths:?}");
}
