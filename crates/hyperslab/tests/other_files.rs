//! Names of other files in a file. hyperslab opens no file outside the allowed folders, and no pipe
//! or device.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hyperslab::ErrorKind;
use hyperslab::{
    ExternalFiles, File, FileDriver, FileOptions, LibverBounds, OpenOptions, Selection, VirtualMapping,
};

const SECRET: &[u8; 16] = b"not to be shown!";

/// A folder with a file, a file in a subfolder, and a secret file outside the folder.
struct Place {
    root: tempfile::TempDir,
    folder: PathBuf,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("folder");
        std::fs::create_dir_all(folder.join("below")).unwrap();
        for path in [root.path().join("secret.h5"), folder.join("beside.h5"), folder.join("below/file.h5")] {
            let file = File::create(path).unwrap();
            file.new_dataset("data").write(&[1_u8, 2, 3]).unwrap();
            file.close().unwrap();
        }
        std::fs::write(root.path().join("secret.raw"), SECRET).unwrap();
        std::fs::write(folder.join("beside.raw"), b"beside          ").unwrap();
        symlink("../secret.h5", folder.join("leads-out.h5")).unwrap();
        symlink("../secret.raw", folder.join("leads-out.raw")).unwrap();
        symlink("../never-there.raw", folder.join("dangling.raw")).unwrap();
        symlink("beside.h5", folder.join("stays.h5")).unwrap();
        symlink("..", folder.join("up")).unwrap();
        for pipe in ["pipe.h5", "pipe.raw"] {
            assert!(Command::new("mkfifo").arg(folder.join(pipe)).status().unwrap().success());
        }
        Self { root, folder }
    }

    fn main(&self) -> PathBuf {
        self.folder.join("main.h5")
    }

    fn outside(&self, name: &str) -> String {
        self.root.path().join(name).to_str().unwrap().to_owned()
    }

    /// Returns file names that hyperslab refuses in all kinds of references. `end` is the end of
    /// the names.
    fn refused(&self, end: &str) -> Vec<String> {
        vec![
            self.outside(&format!("secret.{end}")),
            format!("../secret.{end}"),
            format!("below/../../secret.{end}"),
            format!("./../folder/../secret.{end}"),
            format!("leads-out.{end}"),
            format!("up/secret.{end}"),
            format!("pipe.{end}"),
            "/dev/zero".into(),
            "/dev/tty".into(),
            "/proc/self/environ".into(),
            "below".into(),
            "..".into(),
            "../folder".into(),
        ]
    }
}

fn policies() -> [ExternalFiles; 2] {
    [ExternalFiles::Refuse, ExternalFiles::Beside]
}

fn open(path: &Path, policy: ExternalFiles) -> File {
    OpenOptions::new().external_files(policy).open(path).unwrap()
}

#[test]
fn links_stay_in_the_folder() {
    let place = Place::new();
    let file = File::create(place.main()).unwrap();
    let refused = place.refused("h5");
    let allowed = ["beside.h5", "below/file.h5", "below/../beside.h5", "stays.h5", "/elsewhere/beside.h5"];
    for (number, name) in refused.iter().map(String::as_str).chain(allowed).enumerate() {
        file.link_external(&format!("{number}"), name, "/data").unwrap();
    }
    file.close().unwrap();
    for policy in policies() {
        let file = open(&place.main(), policy);
        for (number, name) in refused.iter().enumerate() {
            assert!(file.dataset(&number.to_string()).is_err(), "{policy:?} {name}");
        }
        for (number, name) in (refused.len()..).zip(allowed) {
            let found = file.dataset(&number.to_string());
            assert_eq!(found.is_ok(), policy == ExternalFiles::Beside, "{policy:?} {name}");
        }
    }
    // The caller can allow all files, but pipes and devices are not files.
    let file = open(&place.main(), ExternalFiles::Anywhere);
    let opened = (0..refused.len()).filter(|number| file.dataset(&number.to_string()).is_ok()).count();
    assert_eq!(opened, 6);
}

#[test]
fn raw_data_stays_in_the_folder() {
    let place = Place::new();
    let file = FileOptions::new().create(place.main()).unwrap();
    let refused = place.refused("raw");
    for (number, name) in refused.iter().map(String::as_str).chain(["beside.raw"]).enumerate() {
        let builder = file.new_dataset(&number.to_string()).of::<u8>().shape(&[16]);
        builder.external(&[(name, 0, Some(16))]).create().unwrap();
    }
    file.close().unwrap();
    for policy in policies() {
        let file = open(&place.main(), policy);
        for (number, name) in refused.iter().enumerate() {
            let read = file.dataset(&number.to_string()).unwrap().read_raw::<u8>(..);
            assert!(read.is_err(), "{policy:?} {name}: {read:?}");
        }
        let read = file.dataset(&refused.len().to_string()).unwrap().read_raw::<u8>(..);
        assert_eq!(read.is_ok(), policy == ExternalFiles::Beside);
    }
}

#[test]
fn external_raw_data_overwrites_no_other_file() {
    let place = Place::new();
    let file = FileOptions::new().create(place.main()).unwrap();
    let mut names = place.refused("raw");
    names.extend(["dangling.raw", "main.h5", "./below/../main.h5", "main.h5.hjournal"].map(str::to_owned));
    for (number, name) in names.iter().enumerate() {
        let builder = file.new_dataset(&number.to_string()).of::<u8>().shape(&[16]);
        builder.external(&[(name, 0, Some(16))]).create().unwrap();
    }
    file.close().unwrap();
    let file = OpenOptions::new().write(true).open(place.main()).unwrap();
    for (number, name) in names.iter().enumerate() {
        let dataset = file.dataset(&number.to_string()).unwrap();
        let written = dataset.write(.., &[0_u8; 16]).and_then(|()| file.flush());
        if name != "main.h5.hjournal" {
            assert!(written.is_err(), "{name}");
        }
    }
    drop(file);
    assert_eq!(std::fs::read(place.root.path().join("secret.raw")).unwrap(), SECRET);
    assert!(!place.root.path().join("never-there.raw").exists());
    assert!(File::open(place.main()).is_ok());
}

#[test]
fn virtual_sources_stay_in_the_folder() {
    let place = Place::new();
    let file = FileOptions::new().libver(LibverBounds::LATEST).create(place.main()).unwrap();
    let mut names = place.refused("h5");
    names.extend(["../secret%%.h5", "%%b", "nul\0beside.h5"].map(str::to_owned));
    for (number, name) in names.iter().map(String::as_str).chain(["beside.h5"]).enumerate() {
        let mapping = VirtualMapping {
            file: name.into(),
            dataset: b"/data".to_vec(),
            selection: Selection::All,
            source_selection: Selection::All,
        };
        let builder = file.new_dataset(&number.to_string()).of::<u8>().shape(&[3]);
        // Creating a dataset with some of these names fails.
        let _ = builder.virtual_sources(&[mapping]).create();
    }
    file.close().unwrap();
    for policy in policies() {
        let file = open(&place.main(), policy);
        for (number, name) in names.iter().enumerate() {
            let Ok(dataset) = file.dataset(&number.to_string()) else { continue };
            // A missing source reads as the fill value.
            let read = dataset.read_raw::<u8>(..);
            assert!(read.as_ref().map_or(true, |read| *read == [0; 3]), "{policy:?} {name}: {read:?}");
        }
        let read = file.dataset(&names.len().to_string()).unwrap().read_raw::<u8>(..);
        assert_eq!(read.is_ok_and(|read| read == [1, 2, 3]), policy == ExternalFiles::Beside);
    }
}

/// A file that was opened by an external link can refer only to files in its own folder.
#[test]
fn chains_of_external_links_stay_in_the_folder() {
    let place = Place::new();
    let below = File::create(place.folder.join("below/chain.h5")).unwrap();
    below.link_external("up", "../beside.h5", "/data").unwrap();
    below.link_external("same", "file.h5", "/data").unwrap();
    below.close().unwrap();
    let file = File::create(place.main()).unwrap();
    for name in ["up", "same"] {
        file.link_external(name, "below/chain.h5", &format!("/{name}")).unwrap();
    }
    file.close().unwrap();
    let file = open(&place.main(), ExternalFiles::Beside);
    assert!(file.dataset("up").is_err());
    assert!(file.dataset("same").is_ok());
}

/// A file with several members opens no member through a symbolic link to another folder.
#[test]
fn members_stay_in_the_folder() {
    let place = Place::new();
    let bytes = std::fs::read(place.folder.join("beside.h5")).unwrap();
    let (first, second) = bytes.split_at(bytes.len().div_ceil(2));
    std::fs::write(place.folder.join("part-0.h5"), first).unwrap();
    std::fs::write(place.root.path().join("part-1.h5"), second).unwrap();
    symlink("../part-1.h5", place.folder.join("part-1.h5")).unwrap();
    assert!(File::open(place.folder.join("part-0.h5")).is_err());
    let family = FileDriver::Family { member_size: None };
    let chosen = OpenOptions::new().driver(family).open(place.folder.join("part-%d.h5"));
    assert!(chosen.is_ok(), "{chosen:?}");
    std::fs::remove_file(place.folder.join("part-1.h5")).unwrap();
    std::fs::write(place.folder.join("part-1.h5"), second).unwrap();
    assert!(File::open(place.folder.join("part-0.h5")).is_ok());
}

/// A pipe with the name of a journal is not a journal: the file can be read, but not written.
/// hyperslab does not wait for the pipe.
#[test]
fn a_journal_must_be_a_regular_file() {
    let place = Place::new();
    File::create(place.main()).unwrap().close().unwrap();
    let journal = place.folder.join("main.h5.hjournal");
    assert!(Command::new("mkfifo").arg(&journal).status().unwrap().success());
    assert!(File::open(place.main()).is_ok());
    let error = File::open_rw(place.main()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    std::fs::remove_file(journal).unwrap();
    assert!(File::open_rw(place.main()).is_ok());
}
