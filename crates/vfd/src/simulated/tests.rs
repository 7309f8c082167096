//! All kinds of crashes and failures, on files so small that all possible results can be listed.

use std::collections::BTreeSet;

use super::*;
use crate::{SideAccess, conformance};

fn all(replay: &Replay<'_>, crash: Crash) -> BTreeSet<Option<Vec<u8>>> {
    (0..400).map(|seed| replay.crash(crash, seed).remove("f")).collect()
}

#[test]
fn files_keep_the_contract() {
    conformance::run(|| {
        let disk = SimulatedDisk::new();
        let number = disk.lock().make("file");
        SimulatedFile::new(disk, number, "file", false)
    });
}

#[test]
fn a_process_that_ends_leaves_what_was_done() {
    let disk = SimulatedDisk::new();
    let file = disk.file("f");
    file.write_at(0, &[1; 600]).unwrap();
    file.set_len(10).unwrap();
    file.write_at(4000, &[2; 200]).unwrap();
    let history = disk.history();
    let mut replay = history.replay();
    assert_eq!(replay.crash(Crash::ProcessEnd, 0), Files::new());
    replay.go_to(2);
    assert_eq!(replay.crash(Crash::ProcessEnd, 0)["f"], [1; 600]);
    replay.go_to(3);
    assert_eq!(replay.crash(Crash::ProcessEnd, 0)["f"], [1; 10]);
    let lengths: BTreeSet<usize> =
        all(&replay, Crash::ProcessEnd).into_iter().map(|remains| remains.unwrap().len()).collect();
    assert_eq!(lengths, [10, 4096, 4200].into(), "the unfinished write, up to the end of a page");
    replay.go_to(history.len());
    assert_eq!(replay.crash(Crash::ProcessEnd, 0), disk.files());
    replay.go_to(2);
    assert_eq!(replay.crash(Crash::ProcessEnd, 0)["f"], [1; 600], "back again");
}

#[test]
fn what_was_synced_survives_a_loss_of_power() {
    let disk = SimulatedDisk::holding([("f".to_owned(), vec![0; 2])].into());
    let file = disk.file("f");
    file.write_at(0, b"a").unwrap();
    file.sync_data().unwrap();
    file.write_at(1, b"b").unwrap();
    file.write_at(2, b"c").unwrap();
    let history = disk.history();
    let mut replay = history.replay();
    for crash in [Crash::PowerLoss, Crash::Torn] {
        replay.go_to(2);
        let some =
            |texts: &[&str]| texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect::<BTreeSet<_>>();
        assert_eq!(all(&replay, crash), some(&["a\0", "ab"]));
        replay.go_to(4);
        let mut remains = all(&replay, crash);
        // After a torn write, the file may be longer than its written bytes.
        remains.remove(&Some(b"a\0\0".to_vec()));
        remains.remove(&Some(b"ab\0".to_vec()));
        // A sector in effect contains all bytes written to it.
        let torn = crash == Crash::Torn;
        assert_eq!(remains, some(if torn { &["a\0", "ab", "abc"] } else { &["a\0", "ab", "a\0c", "abc"] }));
        replay.go_to(0);
        assert_eq!(all(&replay, crash), some(&["\0\0", "a\0"]));
    }
}

#[test]
fn sectors_tear() {
    let disk = SimulatedDisk::holding([("f".to_owned(), vec![0; 2048])].into());
    disk.file("f").write_at(500, &[1; 1000]).unwrap();
    let history = disk.history();
    let mut replay = history.replay();
    replay.go_to(1);
    let torn = all(&replay, Crash::Torn);
    assert_eq!(torn.len(), 8, "of three sectors any");
    for remains in torn {
        let remains = remains.unwrap();
        for (start, end) in [(500, 512), (512, 1024), (1024, 1500)] {
            assert!(remains[start..end].iter().all(|byte| *byte == remains[start]));
        }
        assert!(remains[..500].iter().chain(&remains[1500..]).all(|byte| *byte == 0));
    }
    assert_eq!(all(&replay, Crash::PowerLoss).len(), 2);
}

#[test]
fn names_survive_when_the_folder_was_synced() {
    let disk = SimulatedDisk::new();
    let side = disk.side_file("f");
    side.remove().unwrap();
    assert!(side.open(SideAccess::Write).unwrap().is_none());
    let file = side.create().unwrap();
    file.write_at(0, b"a").unwrap();
    file.sync_data().unwrap();
    assert!(side.create().is_err(), "the file is there");
    assert!(side.open(SideAccess::Read).unwrap().unwrap().is_read_only());
    side.remove().unwrap();
    assert!(side.open(SideAccess::Read).unwrap().is_none());
    side.create().unwrap();
    let history = disk.history();
    let mut replay = history.replay();
    let mut remains = |at| {
        replay.go_to(at);
        all(&replay, Crash::PowerLoss)
    };
    let (none, empty, full) = (None, Some(vec![]), Some(b"a".to_vec()));
    assert_eq!(remains(0), [none.clone(), empty.clone()].into());
    assert_eq!(remains(1), [empty.clone(), full.clone()].into());
    assert_eq!(remains(3), [full.clone()].into());
    let removed: Vec<String> = history.operations().iter().map(ToString::to_string).collect();
    assert_eq!(removed[3], "remove 0 `f`");
    assert_eq!(remains(4), [none, full, empty.clone()].into(), "a removal may be undone");
    assert_eq!(remains(5), [empty].into());
    assert_eq!(disk.files()["f"], b"");
}

#[test]
fn operations_fail_when_they_are_told_to() {
    for kind in FaultKind::ALL {
        let disk = SimulatedDisk::new();
        let (file, side) = (disk.file("f"), disk.side_file("side"));
        disk.fail(Fault { after: 1, kind, lasting: false });
        file.write_at(0, &[1; 2000]).unwrap();
        let error = file.write_at(10, &[2; 1500]).unwrap_err().to_string();
        assert!(error.starts_with("f: "), "{error}");
        let written = if kind == FaultKind::Part { 502 } else { 0 };
        assert_eq!(
            disk.files()["f"].iter().filter(|byte| **byte == 2).count(),
            written,
            "to the end of a sector"
        );
        file.write_at(0, b"good").unwrap();
        disk.fail(Fault { after: 0, kind, lasting: true });
        assert!(file.sync_data().is_err() && file.set_len(0).is_err() && side.create().is_err());
        assert_eq!(disk.failures(), 4);
        let before = disk.operations();
        assert!(file.write_at(0, b"").is_ok() && side.remove().is_ok());
        disk.clear_faults();
        side.create().unwrap();
        assert_eq!(disk.operations(), before + 1);
    }
}

#[test]
fn a_full_disk_takes_what_fits() {
    let disk = SimulatedDisk::new();
    let (file, other) = (disk.file("f"), disk.file("other"));
    other.write_at(0, &[0; 10]).unwrap();
    disk.set_capacity(Some(15));
    let error = file.write_at(0, &[1; 7]).unwrap_err();
    assert!(
        matches!(&error, DriverError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull),
        "{error}"
    );
    assert_eq!(disk.files()["f"], [1; 5]);
    file.write_at(0, &[2; 5]).unwrap();
    file.set_len(6).unwrap_err();
    other.set_len(9).unwrap();
    file.set_len(6).unwrap();
    disk.set_capacity(Some(20));
    file.write_at(0, &[1; 7]).unwrap();
}

#[test]
fn what_was_not_synced_before_is_not_when_others_go_on() {
    let disk = SimulatedDisk::new();
    let side = disk.side_file("f");
    side.create().unwrap().write_at(0, b"a").unwrap();
    side.remove().unwrap();
    disk.file("other").write_at(0, b"unsynced").unwrap();
    let other = SimulatedDisk::after(disk.history().until(disk.operations() - 1));
    assert_eq!(other.files(), [("other".to_owned(), vec![])].into());
    other.file("other").write_at(0, b"b").unwrap();
    let history = other.history();
    assert_eq!(history.len(), 5);
    let mut replay = history.replay();
    replay.go_to(3);
    assert!(all(&replay, Crash::PowerLoss).contains(&Some(b"a".to_vec())));
}

#[test]
fn a_side_file_that_is_set_aside_has_another_name() {
    let disk = SimulatedDisk::new();
    let side = disk.side_file("f");
    assert!(side.set_aside().is_err());
    for name in ["f.stale-1", "f.stale-2"] {
        side.create().unwrap().write_at(0, name.as_bytes()).unwrap();
        assert!(side.create().is_err(), "the file is there");
        assert_eq!(side.set_aside().unwrap(), name);
        assert!(side.open(SideAccess::Read).unwrap().is_none());
        assert_eq!(disk.files()[name], name.as_bytes());
    }
    let history = disk.history();
    let mut replay = history.replay();
    replay.go_to(history.len());
    assert!(replay.crash(Crash::PowerLoss, 1).contains_key("f.stale-2"));
}
