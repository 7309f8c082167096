//! The crate against real servers: moto and s3s-fs (S3), and nginx, also behind a proxy that adds
//! faults. `cargo xtask cloud` installs the servers; a server that is not there is skipped.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod running;

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use hyperslab::vfd::{Driver as _, DriverError};
use hyperslab::{ErrorKind, File, FileOptions, filter::FilterSpec, s};
use hyperslab_cloud::{AsyncFile, CloudOptions, Existing};
use hyperslab_testkit::web::{Fault, Proxy};
use hyperslab_testkit::workspace;

use running::Running;

/// The faults of the proxy, and whether the error texts of lasting ones contain a word.
const FAULTS: [(Fault, &str); 7] = [
    (Fault::Status(500), "500"),
    (Fault::Status(403), "403"),
    (Fault::Whole, "200"),
    (Fault::WrongRange, "requested bytes"),
    (Fault::ShortBody, "bytes"),
    (Fault::Cut, ""),
    (Fault::Silence, "no answer within 2 seconds"),
];

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn options(port: u16) -> CloudOptions {
    CloudOptions::new()
        .config("aws_endpoint", format!("http://127.0.0.1:{port}"))
        .config("aws_access_key_id", running::KEY)
        .config("aws_secret_access_key", running::SECRET)
        .config("aws_region", "us-east-1")
        .deadline(Duration::from_secs(30))
        .retries(1)
}

/// A file with 60 datasets in groups, and one of chunks beyond the first request.
fn file_of(shift: u32) -> (Vec<u8>, Vec<u32>) {
    let values: Vec<u32> = (0..1_500_000_u32).map(|at| (at + shift).wrapping_mul(2_654_435_761)).collect();
    let file = FileOptions::new().create_in_memory().unwrap();
    let new = file.new_dataset("big").shape(&[1_500_000]).chunks(&[10_000]);
    new.filter(FilterSpec::deflate(1)).write(&values).unwrap();
    for group in 0..60 {
        let group = file.create_group(&format!("g{group}")).unwrap();
        group.new_dataset("x").write(&[1.5, 2.5]).unwrap().set_attribute("unit", "V").unwrap();
    }
    (file.to_bytes().unwrap(), values)
}

/// Checks that a file at a URL is read as it is, by both kinds of readers.
fn check_reads(options: &CloudOptions, url: &str, values: &[u32]) {
    let (file, driver) = options.open_with_driver(url).unwrap();
    assert_eq!(driver.usage().requests, 1);
    assert_eq!(file.walk().filter(|visited| visited.object.is_ok()).count(), 122);
    assert_eq!(file.dataset("big").unwrap().read_raw::<u32>(..).unwrap(), values);
    let again = block_on(async {
        let file = AsyncFile::open(url, options.clone()).await?;
        file.prefetch_metadata("/").await?;
        file.dataset("big").await?.read_raw::<u32>(s![700_000..1_400_000]).await
    });
    assert_eq!(again.unwrap(), values.get(700_000..1_400_000).unwrap());
    let missing = options.open(&url.replace(".h5", "-missing.h5")).unwrap_err();
    assert!(format!("{missing:?}").contains("404"), "{missing:?}");
}

/// Checks that each fault of a proxy gives the right bytes or a clear error, and leaves nothing.
fn check_faults(server: &Running, url: impl Fn(u16) -> String, values: &[u32]) {
    let proxy = Proxy::start(server.port).unwrap();
    let (url, options) = (url(proxy.port()), options(proxy.port()).deadline(Duration::from_secs(2)));
    proxy.set_delay(Duration::from_millis(20));
    assert_eq!(File::walk(&options.open(&url).unwrap()).count(), 122);
    for (fault, text) in FAULTS {
        proxy.reset();
        let file = options.open(&url).unwrap();
        let read = || file.dataset("big")?.read_raw::<u32>(s![1_000_000..1_200_000]);
        proxy.fail(0, 1000, fault);
        let error = read().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{fault:?} {error:?}");
        assert!(format!("{error:?}").contains(text), "{fault:?}: {error:?}");
        proxy.reset();
        assert_eq!(read().unwrap(), values.get(1_000_000..1_200_000).unwrap(), "{fault:?}");
        // A single fault is overcome, or is an error; the bytes are never wrong.
        let file = options.open(&url).unwrap();
        proxy.fail(1, 1, fault);
        if let Ok(got) = file.dataset("big").and_then(|dataset| dataset.read_raw::<u32>(..)) {
            assert_eq!(got, values, "{fault:?}");
        }
    }
}

/// Runs all checks of a server with the interface of S3.
fn check_s3(server: &Running) {
    let options = options(server.port);
    let url = "s3://bucket/run/a.h5";
    let (bytes, values) = file_of(0);
    let (other, other_values) = file_of(7);
    let version = options.upload(bytes.as_slice(), url, Existing::Refuse).unwrap().unwrap();
    check_reads(&options, url, &values);
    let again = options.upload(other.as_slice(), url, Existing::Refuse).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Exists, "{again:?}");
    assert_eq!(options.create_new(url).unwrap_err().kind(), ErrorKind::Exists);
    check_faults(server, |_| url.to_owned(), &values);
    // The object is replaced between two requests.
    let file = options.open(url).unwrap();
    options.upload(other.as_slice(), url, Existing::ReplaceVersion(version.clone())).unwrap();
    let changed = file.dataset("big").and_then(|dataset| dataset.read_raw::<u32>(..)).unwrap_err();
    assert!(format!("{changed:?}").contains("has changed"), "{changed:?}");
    check_reads(&options, url, &other_values);
    let stale = options.upload(bytes.as_slice(), url, Existing::ReplaceVersion(version)).unwrap_err();
    assert!(format!("{stale:?}").contains("has changed"), "{stale:?}");
    let draft = options.replace(url).unwrap();
    draft.set_attribute("note", 5).unwrap();
    draft.close().unwrap();
    assert_eq!(options.open(url).unwrap().attribute("note").unwrap().read_scalar::<i32>().unwrap(), 5);
    check_parts(&options);
}

/// Checks uploads in parts.
fn check_parts(options: &CloudOptions) {
    let (one, other) = (vec![1_u8; 70_000_000], vec![2_u8; 70_000_000]);
    let url = "s3://bucket/large.bin";
    let version = options.upload(one.as_slice(), url, Existing::Refuse).unwrap().unwrap();
    let refused = options.upload(other.as_slice(), url, Existing::Refuse).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Exists);
    options.upload(other.as_slice(), url, Existing::ReplaceVersion(version.clone())).unwrap();
    let stale = options.upload(one.as_slice(), url, Existing::ReplaceVersion(version)).unwrap_err();
    assert!(format!("{stale:?}").contains("has changed"), "{stale:?}");
    let driver = options.driver(url).unwrap();
    let mut got = vec![0; other.len()];
    driver.read_at(0, &mut got).unwrap();
    assert!(got == other);
}

#[test]
fn moto_serves_files() {
    if let Some(server) = Running::moto() {
        check_s3(&server);
        println!("moto: all checks passed");
    }
}

#[test]
fn s3s_fs_serves_files() {
    if let Some(server) = Running::s3s_fs() {
        check_s3(&server);
        println!("s3s-fs: all checks passed");
    }
}

#[test]
fn nginx_serves_files() {
    let Some(server) = Running::nginx() else { return };
    let (bytes, values) = file_of(0);
    let path = server.folder().join("a.h5");
    replace(&path, &bytes);
    let url = |port: u16| format!("http://127.0.0.1:{port}/a.h5");
    check_reads(&options(server.port), &url(server.port), &values);
    check_faults(&server, url, &values);
    let file = options(server.port).open(&url(server.port)).unwrap();
    let driver = options(server.port).driver(&url(server.port)).unwrap();
    replace(&path, &file_of(7).0);
    let changed = file.dataset("big").and_then(|dataset| dataset.read_raw::<u32>(..)).unwrap_err();
    assert!(format!("{changed:?}").contains("has changed"), "{changed:?}");
    assert!(matches!(driver.read_at(2_000_000, &mut [0; 10]), Err(DriverError::Changed { .. })));
    // A web server that does not take uploads says so.
    let refused = options(server.port).upload(bytes.as_slice(), &url(server.port), Existing::Replace);
    assert!(refused.is_err());
    println!("nginx: all checks passed");
}

/// Replaces a file by another one with another time of change.
fn replace(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    let seconds =
        1_700_000_000 + u64::from(bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_add((*byte).into())));
    let time = std::time::UNIX_EPOCH + Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_folder_of_servers_is_in_the_workspace() {
    assert!(running::folder().starts_with(workspace::root()));
}
