//! Files with damage in every structure: each object that an ordinary read returns completely is
//! complete in the salvaged file.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a panic is the report"
)]

mod damage;
mod referee;
mod report;
mod snapshot;

use damage::Numbers;
use hyperslab::{File, LossPart, OpenOptions, Outcome, Recovery, Salvaged, SalvagedState};
use hyperslab_testkit::fixtures;
use snapshot::Snapshot;

/// Salvages a file image. Asserts that the new image is sound.
fn salvage(bytes: Vec<u8>, subject: &str) -> (Vec<u8>, Salvaged) {
    salvage_by(&Recovery::new(), bytes, subject)
}

fn salvage_by(recovery: &Recovery, bytes: Vec<u8>, subject: &str) -> (Vec<u8>, Salvaged) {
    let (saved, salvaged) =
        recovery.salvage_bytes(bytes).unwrap_or_else(|error| panic!("{subject}: {error:?}"));
    let driver = hyperslab::vfd::Core::from_vec("saved", saved.clone());
    let options = hyperslab_check::CheckOptions { decode_chunks: true, ..Default::default() };
    let report = hyperslab_check::check(std::sync::Arc::new(driver), &options).unwrap();
    assert_eq!(report.faults, 0, "{subject}: {report}\n{salvaged}");
    assert!(!salvaged.to_string().is_empty());
    (saved, salvaged)
}

/// Salvages `damaged`. Compares the result with the readable objects of `damaged` and with the
/// original file.
fn judge(original: &Snapshot, damaged: Vec<u8>, subject: &str) -> Vec<u8> {
    let left: Vec<_> = match OpenOptions::new().ignore_status_flags(true).open_bytes(damaged.clone()) {
        Ok(file) => {
            let whole = original.objects.iter().filter(|object| object.is_whole_in(&file));
            whole.map(|object| (object, original.leads_to(object, &file))).collect()
        }
        Err(_) => Vec::new(),
    };
    let (saved, salvaged) = salvage(damaged, subject);
    let found = Snapshot::of(&File::from_bytes(saved.clone()).unwrap());
    for (object, in_place) in left {
        assert!(
            found.holds(object, in_place),
            "{subject}: {} is not in what was saved:\n{salvaged}",
            object.path
        );
    }
    saved
}

#[test]
fn sound_files_are_salvaged_completely() {
    for name in fixtures::names().unwrap() {
        let bytes = std::fs::read(fixtures::path(&name)).unwrap();
        let original = Snapshot::of(&File::from_bytes(bytes.clone()).unwrap());
        let (saved, salvaged) = salvage(bytes, &name);
        assert_eq!(salvaged.outcome(), Outcome::Whole, "{name}: {salvaged}");
        assert!(salvaged.objects.iter().all(|object| object.state() == SalvagedState::Whole));
        let found = Snapshot::of(&File::from_bytes(saved).unwrap());
        for object in &original.objects {
            let same = found.objects.iter().any(|other| other.path == object.path && other.same(object));
            assert!(same, "{name}: {}", object.path);
        }
    }
}

#[test]
fn files_without_one_kind_of_block_are_salvaged() {
    let mut numbers = Numbers(1);
    for name in fixtures::names().unwrap() {
        let good = std::fs::read(fixtures::path(&name)).unwrap();
        let original = Snapshot::of(&File::from_bytes(good.clone()).unwrap());
        for (at, kind) in damage::blocks(&good, &original, &mut numbers) {
            let mut bytes = good.clone();
            let noise = numbers.below(2) == 0;
            damage::destroy(&mut bytes, at, noise.then_some(&mut numbers));
            judge(&original, bytes, &format!("{name}: {kind} at {at:#x}"));
        }
    }
}

#[test]
fn files_truncated_at_any_length_are_salvaged() {
    let mut numbers = Numbers(2);
    for name in fixtures::names().unwrap() {
        let good = std::fs::read(fixtures::path(&name)).unwrap();
        let original = Snapshot::of(&File::from_bytes(good.clone()).unwrap());
        for round in 0..10 {
            let length = numbers.below(good.len()).max(good.len() * round / 12);
            judge(&original, good[..length].to_vec(), &format!("{name}: {length} bytes"));
        }
    }
}

#[test]
fn files_with_random_changed_bytes_are_salvaged() {
    let mut numbers = Numbers(3);
    for name in fixtures::names().unwrap() {
        let good = std::fs::read(fixtures::path(&name)).unwrap();
        for round in 0..6 {
            let mut bytes = good.clone();
            for _ in 0..=numbers.below(30) {
                let at = numbers.below(bytes.len());
                bytes[at] = numbers.byte();
            }
            salvage(bytes, &format!("{name}, round {round}"));
        }
    }
}

/// If the superblock is destroyed, only the names of the objects in the root group are lost.
#[test]
fn files_without_a_superblock_are_salvaged() {
    let mut found_in_place = 0;
    for name in fixtures::names().unwrap() {
        let mut bytes = std::fs::read(fixtures::path(&name)).unwrap();
        let file = File::from_bytes(bytes.clone()).unwrap();
        let info = file.info();
        if info.user_block > 0 || (info.size_of_offsets, info.size_of_lengths) != (8, 8) {
            continue;
        }
        let original = Snapshot::of(&file);
        bytes[..16].fill(0);
        let (saved, salvaged) = salvage(bytes, &name);
        let found = Snapshot::of(&File::from_bytes(saved).unwrap());
        // Only the superblock leads to the heaps of shared messages.
        if name.contains("shared_messages") {
            continue;
        }
        for object in original.objects.iter().filter(|object| object.is_readable()) {
            assert!(found.holds(object, false), "{name}: {}\n{salvaged}", object.path);
        }
        found_in_place += usize::from(found.objects.len() == original.objects.len());
    }
    assert!(found_in_place > 10, "{found_in_place}");
}

#[test]
fn a_file_of_noise() {
    let mut numbers = Numbers(4);
    for length in [0, 1, 7, 8, 100, 5000, 100_000] {
        let bytes: Vec<u8> = (0..length).map(|_| numbers.byte()).collect();
        let (_, salvaged) = salvage(bytes, "noise");
        assert_eq!(salvaged.outcome(), Outcome::Nothing);
        assert!(
            salvaged
                .objects
                .iter()
                .any(|object| object.losses.iter().any(|loss| loss.part == LossPart::Object))
        );
    }
}
