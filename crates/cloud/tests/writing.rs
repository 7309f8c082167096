//! Writing of objects: drafts and uploads with conditions, against a server with the interface of
//! S3.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyperslab::{ErrorKind, File};
use hyperslab_cloud::{CloudOptions, Draft, Existing};
use hyperslab_testkit::web::{Fault, Server};

/// The server, its options, and the folder of local files.
struct Store {
    server: Server,
    options: CloudOptions,
    folder: tempfile::TempDir,
}

impl Store {
    fn new() -> Self {
        let server = Server::start().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = CloudOptions::new()
            .config("aws_endpoint", server.url("").trim_end_matches('/'))
            .config("aws_access_key_id", "key")
            .config("aws_secret_access_key", "secret")
            .deadline(Duration::from_secs(20))
            .retries(1)
            .scratch_folder(folder.path());
        Self { server, options, folder }
    }

    /// Returns the local files of drafts.
    fn local(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn values(&self) -> Vec<i32> {
        let bytes = self.server.get("bucket/run/a.h5").unwrap();
        File::from_bytes(bytes).unwrap().dataset("x").unwrap().read_raw(..).unwrap()
    }
}

const URL: &str = "s3://bucket/run/a.h5";

fn write(draft: &Draft, values: &[i32]) {
    draft.new_dataset("x").write(values).unwrap();
}

/// Returns whether an error names a local file with the given elements.
fn names_contents(error: &hyperslab::Error, local: &Path, values: &[i32]) -> bool {
    let kept = File::open(local).unwrap().dataset("x").unwrap().read_raw::<i32>(..).unwrap();
    error.to_string().contains(local.to_str().unwrap()) && kept == values
}

#[test]
fn an_object_appears_when_its_draft_is_closed() {
    let store = Store::new();
    let draft = store.options.create_new(URL).unwrap();
    write(&draft, &[1, 2]);
    draft.flush().unwrap();
    assert!(store.server.get("bucket/run/a.h5").is_none());
    assert_eq!(store.local().len(), 1);
    assert_eq!(draft.close().unwrap().as_deref(), Some("\"v1\""));
    assert_eq!((store.values(), store.local().len()), (vec![1, 2], 0));
    let again = store.options.create_new(URL).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Exists);
    assert_eq!(store.local().len(), 0);
    let draft = store.options.create(URL).unwrap();
    write(&draft, &[3]);
    draft.close().unwrap();
    assert_eq!(store.values(), [3]);
    let draft = store.options.create(URL).unwrap();
    draft.discard();
    assert_eq!((store.values(), store.local().len()), (vec![3], 0));
}

#[test]
fn of_two_new_objects_the_first_wins_and_the_other_is_kept() {
    let store = Store::new();
    let (one, other) = (store.options.create_new(URL).unwrap(), store.options.create_new(URL).unwrap());
    write(&one, &[1]);
    write(&other, &[2]);
    one.close().unwrap();
    let error = other.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists, "{error:?}");
    assert_eq!(store.values(), [1]);
    let local = store.local();
    assert!(local.len() == 1 && names_contents(&error, &local[0], &[2]), "{error} {local:?}");
}

#[test]
fn an_object_is_replaced_only_if_it_has_not_changed() {
    let store = Store::new();
    let draft = store.options.create(URL).unwrap();
    write(&draft, &[1]);
    draft.close().unwrap();
    let (one, other) = (store.options.replace(URL).unwrap(), store.options.replace(URL).unwrap());
    for (draft, value) in [(&one, 10), (&other, 20)] {
        draft.dataset("x").unwrap().write(.., &[value]).unwrap();
    }
    assert_eq!(one.close().unwrap().as_deref(), Some("\"v2\""));
    let error = other.close().unwrap_err();
    assert!(format!("{error:?}").contains("has changed"), "{error:?}");
    assert_eq!(store.values(), [10]);
    let local = store.local();
    assert!(local.len() == 1 && names_contents(&error, &local[0], &[20]), "{error}");
}

#[test]
fn a_failed_upload_keeps_the_local_file() {
    let store = Store::new();
    let draft = store.options.create(URL).unwrap();
    write(&draft, &[7]);
    store.server.fail(0, 50, Fault::Status(500));
    let error = draft.close().unwrap_err();
    let local = store.local();
    assert!(local.len() == 1 && names_contents(&error, &local[0], &[7]), "{error}");
    assert!(!format!("{error:?}").contains("secret"));
    store.server.reset();
    let file = std::fs::File::open(&local[0]).unwrap();
    store.options.upload_file(&file, URL, Existing::Refuse).unwrap();
    assert_eq!(store.values(), [7]);
    // A draft that is dropped keeps its file too.
    let draft = store.options.create(URL).unwrap();
    write(&draft, &[8]);
    drop(draft);
    assert_eq!((store.local().len(), store.values()), (2, vec![7]));
}

#[test]
fn an_upload_in_parts_has_the_same_conditions() {
    let store = Store::new();
    let bytes: Vec<u8> = (0..70_000_000_u32).map(|at| (at % 251) as u8).collect();
    let upload = |existing| store.options.upload(bytes.as_slice(), URL, existing);
    let version = upload(Existing::Refuse).unwrap().unwrap();
    assert_eq!(store.server.get("bucket/run/a.h5").unwrap()[..], bytes[..]);
    assert_eq!(upload(Existing::Refuse).unwrap_err().kind(), ErrorKind::Exists);
    upload(Existing::ReplaceVersion(version.clone())).unwrap();
    let error = upload(Existing::ReplaceVersion(version)).unwrap_err();
    assert!(format!("{error:?}").contains("has changed"), "{error:?}");
    // Another program creates or replaces the object while the parts are sent.
    for existing in [Existing::Refuse, Existing::ReplaceVersion("\"v2\"".to_owned())] {
        let store = Store::new();
        if existing != Existing::Refuse {
            store.server.put("bucket/run/a.h5", vec![1]);
            store.server.put("bucket/run/a.h5", vec![2]);
        }
        let mut sent = 0;
        let source = Interrupted {
            bytes: &bytes,
            at: 0,
            then: || {
                sent += 1;
                store.server.put("bucket/run/a.h5", vec![3]);
            },
        };
        let error = store.options.upload(source, URL, existing.clone()).unwrap_err();
        assert_eq!(error.kind() == ErrorKind::Exists, existing == Existing::Refuse, "{error:?}");
        assert_eq!(store.server.get("bucket/run/a.h5").unwrap()[..], [3]);
        assert_eq!(store.server.stored().1, 0, "parts of the upload are left behind");
        assert_eq!(sent, 1);
    }
}

/// A source of bytes that calls a closure after the first 65 MiB and the begin of the upload.
struct Interrupted<'a, F> {
    bytes: &'a [u8],
    at: usize,
    then: F,
}

impl<F: FnMut()> std::io::Read for Interrupted<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        const PAUSE: usize = (64 << 20) + 1;
        if self.at == PAUSE {
            (self.then)();
        }
        let limit = if self.at < PAUSE { PAUSE } else { self.bytes.len() };
        let count = buffer.len().min(limit - self.at);
        let bytes = self.bytes.get(self.at..self.at + count).unwrap();
        buffer.get_mut(..count).unwrap().copy_from_slice(bytes);
        self.at += count;
        Ok(count)
    }
}

#[cfg(feature = "fs")]
#[test]
fn a_store_without_conditions_copies_a_large_new_object_to_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", folder.path().join("a.bin").display());
    let bytes = vec![7_u8; 70_000_000];
    let options = CloudOptions::new();
    options.upload(bytes.as_slice(), &url, Existing::Refuse).unwrap();
    assert_eq!(std::fs::read(folder.path().join("a.bin")).unwrap(), bytes);
    let error = options.upload(bytes.as_slice(), &url, Existing::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists);
    let error = options.upload(bytes.as_slice(), &url, Existing::ReplaceVersion("x".into())).unwrap_err();
    assert!(format!("{error:?}").contains("has changed"), "{error:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_failed_request_names_the_condition_that_does_not_hold() {
    let store = Store::new();
    let options = store.options.clone().retries(0);
    let upload = |existing: Existing| options.upload(&b"bytes"[..], URL, existing);
    let fail = || store.server.fail(0, 1, Fault::Status(500));
    fail();
    let error = upload(Existing::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
    let version = upload(Existing::Refuse).unwrap().unwrap();
    // A server may end the connection before it has received the body that it refuses.
    fail();
    assert_eq!(upload(Existing::Refuse).unwrap_err().kind(), ErrorKind::Exists);
    fail();
    let error = upload(Existing::ReplaceVersion("\"other\"".into())).unwrap_err();
    assert!(format!("{error:?}").contains("has changed"), "{error:?}");
    fail();
    let error = upload(Existing::ReplaceVersion(version.clone())).unwrap_err();
    assert!(format!("{error:?}").contains("500"), "{error:?}");
    assert!(upload(Existing::ReplaceVersion(version)).is_ok());
}
