//! The accidents, and the guarantee after each accident.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hyperslab::vfd::PathSideFile;
use hyperslab::{Durability, File, JournalOutcome};

use crate::scene::{FILE, JOURNAL, State, check, content, fill, listing, stale};

type Outcome = Result<(), String>;

/// One accident.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) accident: fn(&State<'_>) -> Outcome,
}

pub(crate) const ROWS: &[Row] = &[
    Row { name: "the writer is killed", accident: killed },
    Row { name: "the power is lost", accident: power_lost },
    Row {
        name: "the machine is restarted after a kill, with other times on the files",
        accident: other_times,
    },
    Row {
        name: "a drive is pulled, or a volume snapshot is used, without a restart",
        accident: drive_pulled,
    },
    Row { name: "a backup is restored, with or without its times", accident: backup_restored },
    Row { name: "a backup of an earlier commit is restored", accident: earlier_commit_restored },
    Row { name: "the file is moved without its journal", accident: moved_without_journal },
    Row { name: "the file is moved with its journal", accident: moved_with_journal },
    Row { name: "the journal is moved to another file", accident: journal_of_another },
    Row { name: "the journal is deleted", accident: journal_deleted },
    Row { name: "the file is opened by another hard link", accident: other_hard_link },
    Row { name: "the file is opened by a symbolic link", accident: symbolic_link },
    Row { name: "another host opens the file", accident: other_host },
    Row { name: "another program writes to the file", accident: other_program },
    Row { name: "another program replaces the file", accident: replaced },
    Row { name: "the name of the file has 200 to 255 bytes", accident: long_names },
    Row { name: "another file has the name of the journal", accident: unrelated_file },
    Row { name: "the journal is truncated, or has corrupt bytes", accident: journal_damaged },
];

fn killed(state: &State<'_>) -> Outcome {
    state.expect_committed(&state.file())
}

fn power_lost(state: &State<'_>) -> Outcome {
    for seed in 0..3 {
        for name in [FILE, JOURNAL] {
            let _ = fs::remove_file(state.path(name));
        }
        stale(state.folder.path()).iter().for_each(|name| fs::remove_file(state.path(name)).unwrap());
        for (name, bytes) in state.power_lost(seed) {
            fs::write(state.path(&name), bytes).unwrap();
        }
        state.expect(&state.file(), &state.committed()).map_err(|why| format!("seed {seed}: {why}"))?;
    }
    Ok(())
}

fn set_time(path: PathBuf, time: SystemTime) {
    if let Ok(file) = fs::OpenOptions::new().write(true).open(path) {
        file.set_modified(time).unwrap();
    }
}

fn other_times(state: &State<'_>) -> Outcome {
    let year = Duration::from_secs(365 * 24 * 3600);
    let times = [SystemTime::UNIX_EPOCH, SystemTime::now() - 20 * year, SystemTime::now() + year];
    for (number, name) in [FILE, JOURNAL].iter().enumerate() {
        set_time(state.path(name), times[(state.point + number) % times.len()]);
    }
    state.expect_committed(&state.file())
}

/// Tests a pulled drive. The disk has the file as of the last sync, possibly with some of the later
/// writes. The journal has the content that the disk has.
fn drive_pulled(state: &State<'_>) -> Outcome {
    let files = state.power_lost(7 + state.point as u64);
    for name in [FILE, JOURNAL] {
        let _ = fs::remove_file(state.path(name));
        if let Some(bytes) = files.get(name) {
            fs::write(state.path(name), bytes).unwrap();
        }
    }
    state.expect(&state.file(), &state.committed()).map(drop)
}

/// Tests a restored backup. The file is the backup or, if the commits changed bytes only in place,
/// the backup with all commits.
fn backup_restored(state: &State<'_>) -> Outcome {
    fs::write(state.file(), &state.scene.first).unwrap();
    if state.point.is_multiple_of(2) {
        set_time(state.file(), SystemTime::UNIX_EPOCH);
    }
    let first = state.ever()[0];
    let mut allowed = vec![first];
    allowed.extend(state.committed());
    let found = state.expect(&state.file(), &allowed)?;
    let had_journal = state.journal().exists();
    if found == *first || !had_journal {
        Ok(())
    } else {
        Err("a commit that relies on new space was replayed".into())
    }
}

/// Tests a restored backup from between two commits. It is one of the states that a loss of power
/// may leave: it stays unchanged, or receives all commits.
fn earlier_commit_restored(state: &State<'_>) -> Outcome {
    let other = state.scene.killed_at(state.point / 2);
    fs::copy(other.file(), state.file()).unwrap();
    let in_the_middle = other.committed().len() > 1 && File::open(other.file()).is_err();
    match state.expect(&state.file(), &state.ever()) {
        Ok(_) => Ok(()),
        // A copy from the middle of a commit, without the journal, is not a valid file.
        Err(why) if in_the_middle || why.contains("marked as open") => Ok(()),
        Err(why) if is_half_committed(&other) => {
            drop(why);
            Ok(())
        }
        Err(why) => Err(why),
    }
}

/// Returns true if the writer was killed while it wrote a commit into the file.
fn is_half_committed(state: &State<'_>) -> bool {
    fs::remove_file(state.journal()).is_ok() && state.expect(&state.file(), &state.ever()).is_err()
}

/// Checks a file without its journal. If the file contains only a part of a commit, hyperslab
/// refuses the file, provided that its superblock has status flags. In all other cases, the file is
/// sound.
fn expect_without_journal(state: &State<'_>, path: &std::path::Path) -> Outcome {
    let before = fs::read(path).unwrap();
    match state.expect(path, &state.committed()) {
        Ok(_) => Ok(()),
        Err(why) if why.contains("marked as open for writing") => {
            if fs::read(path).unwrap() == before {
                Ok(())
            } else {
                Err("the refused file was changed".into())
            }
        }
        // Old superblocks have no status flags, so nothing can be guaranteed.
        Err(_) if state.scene.versions == crate::Versions::Earliest => Ok(()),
        Err(why) => Err(why),
    }
}

fn moved_without_journal(state: &State<'_>) -> Outcome {
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("b.h5");
    fs::rename(state.file(), &path).unwrap();
    expect_without_journal(state, &path)
}

fn moved_with_journal(state: &State<'_>) -> Outcome {
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("b.h5");
    fs::rename(state.file(), &path).unwrap();
    let _ = fs::rename(state.journal(), other.path().join("b.h5.hjournal"));
    state.expect_committed(&path)
}

/// Tests a journal that was moved to another file. The other file keeps its content, and the
/// journal is set aside, or removed if it holds nothing.
fn journal_of_another(state: &State<'_>) -> Outcome {
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("b.h5");
    let file = File::create(&path).unwrap();
    fill(&file).unwrap();
    file.set_attribute("mine", 5).unwrap();
    let mine = content(&file).unwrap();
    file.close().unwrap();
    let moved = fs::rename(state.journal(), other.path().join("b.h5.hjournal")).is_ok();
    state.expect(&path, &[&mine])?;
    let has_commit = moved && state.committed().len() < state.ever().len() && !stale(other.path()).is_empty();
    let left = listing(other.path()).len();
    if left == 1 || (has_commit && left == 2) { Ok(()) } else { Err(format!("{left} files are left")) }
}

fn journal_deleted(state: &State<'_>) -> Outcome {
    let _ = fs::remove_file(state.journal());
    expect_without_journal(state, &state.file())
}

fn other_hard_link(state: &State<'_>) -> Outcome {
    if state.point.is_multiple_of(2) {
        let beside = state.path("link.h5");
        fs::hard_link(state.file(), &beside).unwrap();
        return state.expect_committed(&beside);
    }
    let other = tempfile::tempdir_in(state.folder.path()).unwrap();
    let path = other.path().join("link.h5");
    fs::hard_link(state.file(), &path).unwrap();
    let opened = expect_without_journal(state, &path);
    opened.map_err(|why| format!("by the link: {why}"))
}

fn symbolic_link(state: &State<'_>) -> Outcome {
    #[cfg(unix)]
    {
        let path = state.path("link.h5");
        std::os::unix::fs::symlink(state.file(), &path).unwrap();
        state.expect_committed(&path)?;
        if state.path("link.h5.hjournal").exists() {
            return Err("a journal lies beside the link".into());
        }
    }
    let _ = state;
    Ok(())
}

/// Tests another host. Both files are copied: the copies have other inodes and times, as on another
/// machine.
fn other_host(state: &State<'_>) -> Outcome {
    let other = tempfile::tempdir().unwrap();
    for name in [FILE, JOURNAL] {
        if state.path(name).exists() {
            fs::write(other.path().join(name), fs::read(state.path(name)).unwrap()).unwrap();
        }
    }
    state.expect_committed(&other.path().join(FILE))
}

/// Tests a change by another program. The program does not know journals, and changes the file if
/// it can open the file.
fn other_program(state: &State<'_>) -> Outcome {
    let elsewhere = tempfile::tempdir().unwrap();
    let options = state.options().durability(Durability::None);
    let options = options.journal(std::sync::Arc::new(PathSideFile::new(elsewhere.path().join("none"))));
    let change = || -> hyperslab::Result<_> {
        let file = options.open(state.file())?;
        let before = content(&file)?;
        file.set_attribute("other", 1)?;
        file.remove("group")?;
        let values: Vec<i32> = (0..30_000).collect();
        file.new_dataset("of another").write(&values)?;
        let theirs = content(&file)?;
        file.close()?;
        Ok((before, theirs))
    };
    let Ok((before, theirs)) = change() else {
        // In the middle of a commit, other programs refuse the file or find it damaged. The journal
        // repairs it.
        return state.expect(&state.file(), &state.committed()).map(drop);
    };
    if !state.ever().contains(&&before) || check(&state.file()).is_err() {
        // The other program changed a file in the middle of a commit, because an old superblock has
        // no status flags.
        return Ok(());
    }
    state.expect(&state.file(), &[&theirs]).map(drop)
}

fn replaced(state: &State<'_>) -> Outcome {
    let file = File::create(state.path("new.h5")).unwrap();
    file.new_dataset("new").write(&vec![9; 40_000]).unwrap();
    let new = content(&file).unwrap();
    file.close().unwrap();
    fs::rename(state.path("new.h5"), state.file()).unwrap();
    let had_commit = state.journal().exists();
    let opened = state.options().open(state.file()).unwrap();
    let outcome = opened.journal_outcome().cloned();
    drop(opened);
    if let Some(outcome) = outcome {
        let JournalOutcome::SetAside { name, .. } = &outcome else { return Err(format!("{outcome}")) };
        if !had_commit
            || !PathBuf::from(name).exists()
            || !outcome.to_string().contains("replaced or changed")
        {
            return Err(format!("{outcome}"));
        }
    }
    state.expect(&state.file(), &[&new]).map(drop)
}

fn long_names(state: &State<'_>) -> Outcome {
    // The lengths take turns: each length is tested at many points.
    let lengths = [200, 232, 233, 246, 247, 254, 255];
    let name = format!("{}.h5", "n".repeat(lengths[state.point % lengths.len()] - 3));
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join(name);
    fs::rename(state.file(), &path).unwrap();
    let journal = PathSideFile::beside(&path, ".hjournal");
    let _ = fs::rename(state.journal(), journal.path());
    state.expect_committed(&path)
}

/// Tests an unrelated file with the name of the journal. This file stays unchanged. The HDF5 file
/// can be read, and written if its durability needs no journal.
fn unrelated_file(state: &State<'_>) -> Outcome {
    let _ = fs::remove_file(state.journal());
    fs::write(state.file(), &state.scene.first).unwrap();
    fs::write(state.journal(), b"notes of the user").unwrap();
    let error = state.options().open(state.file()).err().ok_or("it was opened for writing")?;
    if !error.to_string().contains(JOURNAL) {
        return Err(format!("{error}"));
    }
    if File::create(state.file()).is_ok() || fs::read(state.file()).unwrap() != state.scene.first {
        return Err("the file was replaced, and its journal would take the place of another file".into());
    }
    let first = state.ever()[0];
    let read = content(&File::open(state.file()).unwrap()).unwrap();
    let file = state.options().durability(Durability::None).open(state.file()).unwrap();
    file.set_attribute("written", 1).unwrap();
    file.close().unwrap();
    let notes = fs::read(state.journal()).unwrap();
    #[cfg(unix)]
    {
        let notes_of_another = state.path("notes");
        fs::rename(state.journal(), &notes_of_another).unwrap();
        std::os::unix::fs::symlink(&notes_of_another, state.journal()).unwrap();
        if state.options().open(state.file()).is_ok() || File::open(state.file()).is_err() {
            return Err("a journal that is a link was used".into());
        }
        if fs::read(&notes_of_another).unwrap() != notes {
            return Err("what a link leads to was changed".into());
        }
    }
    if read == *first && notes == b"notes of the user" { Ok(()) } else { Err("something was lost".into()) }
}

/// Tests a damaged journal. It never damages a sound file: the file has a committed content, or
/// hyperslab refuses it.
fn journal_damaged(state: &State<'_>) -> Outcome {
    let Ok(mut bytes) = fs::read(state.journal()) else { return Ok(()) };
    if bytes.len() < 100 {
        return Ok(());
    }
    let at = (state.point * 7919) % bytes.len();
    if state.point.is_multiple_of(2) {
        bytes.truncate(at);
    } else {
        bytes[at] ^= 0x55;
    }
    fs::write(state.journal(), bytes).unwrap();
    let alone = state.scene.killed_at(state.point);
    let _ = fs::remove_file(alone.journal());
    let is_whole = alone.expect(&alone.file(), &alone.ever()).is_ok();
    match state.expect(&state.file(), &state.ever()) {
        Err(why) if is_whole => Err(why),
        _ => Ok(()),
    }
}
