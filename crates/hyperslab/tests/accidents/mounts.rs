//! Accidents of file systems, on real mounts: a full file system, a read-only file system, and a
//! copy of a disk while a writer runs. The tests need root and a loop device. Without them, they
//! print a message and are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hyperslab::{ErrorKind, File, OpenOptions};

use crate::scene::{Versions, check, content, fill};

pub(crate) const NAMES: [&str; 3] = [
    "the file system is full",
    "the folder is read-only",
    "the disk is copied while the file is written (a snapshot of an ext4 file system)",
];

/// A mounted file system, unmounted when the value is dropped.
struct Mount(PathBuf);

impl Mount {
    /// Mounts a file system. If this is impossible, returns the reason.
    fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mount = Command::new("mount").args(arguments).arg(at).stderr(Stdio::null()).status();
        if mount.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("skipped: `mount {}` needs root and the file system", arguments.join(" "));
        None
    }

    fn remount(&self, how: &str) {
        assert!(
            Command::new("mount")
                .args(["-o", &format!("remount,{how}")])
                .arg(&self.0)
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status().is_ok_and(|status| status.success());
        if !unmounted {
            eprintln!("`{}` stays mounted", self.0.display());
        }
    }
}

/// Copies a file and its journal to a new folder: they have the state of a writer that was killed.
fn copy_with_journal(from: &Path, to: &Path) -> PathBuf {
    fs::create_dir(to).unwrap();
    for name in ["a.h5", "a.h5.hjournal"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
    to.join("a.h5")
}

fn options() -> OpenOptions {
    OpenOptions::new().write(true).libver(Versions::Latest.bounds())
}

#[test]
fn a_full_file_system_destroys_no_committed_data() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::new(&["-t", "tmpfs", "-o", "size=2m", "tmpfs"], &folder.path().join("m")) else {
        return;
    };
    let path = mount.0.join("a.h5");
    let file = File::create(&path).unwrap();
    fill(&file).unwrap();
    file.close().unwrap();
    let file = options().open(&path).unwrap();
    let mut committed = content(&file).unwrap();
    let mut refused = None;
    for number in 0..100 {
        let values: Vec<i32> = (0..20_000).map(|value| value + number).collect();
        let write = || -> hyperslab::Result<()> {
            file.new_dataset(&format!("more {number}")).write(&values)?;
            file.flush()
        };
        match write() {
            Ok(()) => committed = content(&file).unwrap(),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    assert_eq!(refused.expect("2 MiB hold less than 8").kind(), ErrorKind::Io);
    // Copies have the state of a writer that was killed; on another file system there is free space
    // again.
    let path = copy_with_journal(&mount.0, &folder.path().join("copy"));
    drop(file);
    assert_eq!(content(&File::open(&path).unwrap()).unwrap(), committed);
    let file = options().open(&path).unwrap();
    assert_eq!(content(&file).unwrap(), committed);
    file.remove("more 0").unwrap();
    file.close().unwrap();
    check(&path).unwrap();
}

#[test]
fn files_in_a_read_only_folder_are_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mount) = Mount::new(&["-t", "tmpfs", "tmpfs"], &folder.path().join("m")) else { return };
    let path = mount.0.join("a.h5");
    let file = File::create(&path).unwrap();
    fill(&file).unwrap();
    file.close().unwrap();
    let file = options().open(&path).unwrap();
    file.set_attribute("last", 3).unwrap();
    file.new_dataset("large").write(&vec![1; 50_000]).unwrap();
    file.flush().unwrap();
    file.group("group").unwrap().set_attribute("more", 4).unwrap();
    file.flush().unwrap();
    let committed = content(&file).unwrap();
    let copy = copy_with_journal(&mount.0, &mount.0.join("b"));
    drop(file);
    mount.remount("ro");
    assert_eq!(content(&File::open(&copy).unwrap()).unwrap(), committed);
    assert_eq!(options().open(&copy).unwrap_err().kind(), ErrorKind::Io);
    assert!(copy.with_extension("h5.hjournal").exists());
}

/// Runs a writer on an ext4 file system, copies the disk at some instants, and returns the copies with the number of the last flush
/// that had returned before.
fn copies_of_a_disk(disk: &Path, mount: &Mount, count: i32) -> Vec<(PathBuf, i32)> {
    let path = mount.0.join("a.h5");
    let file = File::create(&path).unwrap();
    fill(&file).unwrap();
    file.close().unwrap();
    let file = options().open(&path).unwrap();
    let mut copies = Vec::new();
    for number in 0..count {
        let values: Vec<i32> = vec![number; 6000];
        file.new_dataset(&format!("d{number}")).write(&values).unwrap();
        if number > 3 {
            file.remove(&format!("d{}", number - 4)).unwrap();
        }
        for small in 0..number % 4 {
            file.group("group").unwrap().set_attribute("small", small).unwrap();
            file.flush().unwrap();
        }
        file.set_attribute("last", number).unwrap();
        file.flush().unwrap();
        let copy = disk.with_extension(format!("copy{number}"));
        let status = Command::new("cp").arg("--sparse=always").arg(disk).arg(&copy).status().unwrap();
        assert!(status.success());
        copies.push((copy, number));
    }
    drop(file);
    copies
}

#[test]
fn a_copy_of_the_disk_has_every_flush_that_had_returned() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::File::create(&disk).unwrap().set_len(32 << 20).unwrap();
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-O", "^metadata_csum"])
        .arg(&disk)
        .stderr(Stdio::null())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfs.ext4");
        return;
    }
    let shown = disk.display().to_string();
    let Some(mount) = Mount::new(&["-o", "loop,commit=300", &shown], &folder.path().join("m")) else {
        return;
    };
    for (copy, number) in copies_of_a_disk(&disk, &mount, 12) {
        let shown = copy.display().to_string();
        let Some(other) = Mount::new(&["-o", "loop", &shown], &folder.path().join("other")) else { return };
        let path = other.0.join("a.h5");
        let read = content(&File::open(&path).unwrap()).unwrap();
        let file = options().locking(hyperslab::FileLocking::Off).open(&path).unwrap();
        let last: i32 = file.attribute("last").unwrap().read_scalar().unwrap();
        assert!(last >= number, "flush {number} is lost: the file has {last}");
        assert_eq!(content(&file).unwrap(), read);
        file.close().unwrap();
        check(&path).unwrap();
        drop(other);
        fs::remove_file(copy).unwrap();
    }
}
