//! The repair of checksums that the fuzz targets use: all checksummed structures of a file receive
//! correct checksums.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "panics are how a test fails, and the repair finds fields without the decoders"
)]

#[path = "../../../../fuzz/src/repair/mod.rs"]
#[expect(unreachable_pub, reason = "it belongs to the fuzz targets, which use all of it")]
mod repair;
#[path = "../../../../fuzz/src/seal.rs"]
#[expect(dead_code, unreachable_pub, reason = "it belongs to the fuzz targets, which use all of it")]
mod seal;
#[path = "../../../../fuzz/src/walk.rs"]
#[expect(dead_code, unreachable_pub, reason = "it belongs to the fuzz targets, which use all of it")]
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hyperslab::vfd::Core;
use hyperslab::{CharacterSet, Datatype, FileOptions, LibverBounds, Points};
use hyperslab_check::{CheckOptions, check};
use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader, JournalRecord};
use hyperslab_testkit::fixtures;
use repair::{Kind, Seal};

/// The largest number of structures of one kind that the test damages in each file.
const DAMAGED: usize = 3;

const KINDS: [Kind; 21] = [
    Kind::Superblock,
    Kind::ObjectHeader,
    Kind::Continuation,
    Kind::TreeHeader,
    Kind::TreeInternal,
    Kind::TreeLeaf,
    Kind::HeapHeader,
    Kind::HeapDirect,
    Kind::HeapIndirect,
    Kind::FixedHeader,
    Kind::FixedData,
    Kind::FixedPage,
    Kind::ExtensibleHeader,
    Kind::ExtensibleIndex,
    Kind::ExtensibleSecondary,
    Kind::ExtensibleData,
    Kind::ExtensiblePage,
    Kind::FreeSpaceHeader,
    Kind::FreeSpaceSections,
    Kind::SharedTable,
    Kind::SharedList,
];

fn files() -> Vec<(String, Vec<u8>)> {
    let names = fixtures::names().unwrap();
    let read = |name: String| (name.clone(), std::fs::read(fixtures::path(&name)).unwrap());
    names.into_iter().map(read).chain([("structured".to_owned(), structured())]).collect()
}

/// Creates a file with structured chunks: with and without a heap, in the middle and at the edge of
/// the dataset.
fn structured() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = FileOptions::new().libver(LibverBounds::LATEST).create(&path).unwrap();
    let numbers = file.new_dataset("numbers").of::<i32>().shape(&[20, 9]).sparse(&[5, 4]).create().unwrap();
    numbers.write(.., &[1_i32; 180]).unwrap();
    let few = file.new_dataset("few").of::<f32>().shape(&[100]).sparse(&[10]).create().unwrap();
    few.sparse().write(&Points { rank: 1, coordinates: vec![33, 99, 90] }, &[1.0, 2.0, 3.0]).unwrap();
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    let texts = file.new_dataset("texts").datatype(text).shape(&[20]).sparse(&[6]).create().unwrap();
    texts.write_strings(.., &["some text"; 20]).unwrap();
    file.close().unwrap();
    std::fs::read(&path).unwrap()
}

fn seals(file: &[u8]) -> Vec<Seal> {
    repair::metadata(&mut file.to_vec())
}

#[test]
fn every_checksum_of_metadata_is_restored() {
    let mut kinds = BTreeSet::new();
    for (name, sound) in files() {
        let mut file = sound.clone();
        let found = repair::metadata(&mut file);
        assert!(file == sound, "{name}: checksums that were right became others");
        for seal in &found {
            file[seal.place..seal.place + 4].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
        assert_eq!(repair::metadata(&mut file), found, "{name}");
        assert!(file == sound, "{name}: checksums that were wrong are not what they were");
        kinds.extend(found.iter().map(|seal| seal.kind));
    }
    let missing: Vec<Kind> = KINDS.into_iter().filter(|kind| !kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "no fixture has {missing:?}");
}

#[test]
fn every_block_with_a_signature_is_found() {
    const SIGNATURES: [&[u8; 4]; 19] = [
        b"OHDR", b"OCHK", b"BTHD", b"BTLF", b"BTIN", b"FRHP", b"FHDB", b"FHIB", b"FAHD", b"FADB", b"EAHD",
        b"EAIB", b"EASB", b"EADB", b"FSHD", b"FSSE", b"SMTB", b"SMLI", b"MDCI",
    ];
    let mut missed = Vec::new();
    for (name, sound) in files() {
        let found: BTreeSet<usize> = seals(&sound).iter().map(|seal| seal.range.start).collect();
        for (at, four) in sound.windows(4).enumerate() {
            if SIGNATURES.iter().any(|signature| four == *signature) && !found.contains(&at) {
                missed.push(format!("{name}: {} at {at}", four.escape_ascii()));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

fn report(file: &[u8]) -> String {
    match check(Arc::new(Core::from_vec("image", file.to_vec())), &CheckOptions::default()) {
        Ok(report) => report.to_string(),
        Err(error) => error.to_string(),
    }
}

/// The checksum detects a change of the content. After the repair, all checksums are correct.
#[test]
fn changed_structures_have_valid_checksums() {
    let mut noticed = BTreeSet::new();
    for (name, sound) in files() {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        for seal in seals(&sound) {
            let count = counts.entry(seal.kind).or_default();
            *count += 1;
            if *count > DAMAGED {
                continue;
            }
            let last = if seal.place + 4 == seal.range.end { seal.place } else { seal.range.end } - 1;
            let mut file = sound.clone();
            file[last] ^= 1;
            if report(&file).contains("checksum") {
                noticed.insert(seal.kind);
            }
            repair::file(&sound, &mut file);
            let after = report(&file);
            assert!(!after.contains("checksum"), "{name}: {seal:?}\n{after}");
        }
    }
    let unnoticed: Vec<Kind> = KINDS.into_iter().filter(|kind| !noticed.contains(kind)).collect();
    assert!(unnoticed.is_empty(), "no check noticed a change of {unnoticed:?}");
}

#[test]
fn every_checksum_of_raw_data_is_restored() {
    for (name, least) in [("filters_latest.h5", 1), ("filters_earliest.h5", 1), ("structured", 12)] {
        let (_, sound) = files().into_iter().find(|(file, _)| file == name).unwrap();
        let seals = repair::raw_seals(&sound);
        assert!(seals.len() >= least, "{name}: {seals:?}");
        let mut file = sound.clone();
        for seal in &seals {
            file[seal.range().end - 4..seal.range().end].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
        assert!(file != sound);
        repair::file(&sound, &mut file);
        assert!(file == sound, "{name}");
    }
}

/// Returns a journal with a commit that has every kind of record.
fn journal() -> Vec<u8> {
    let header = JournalHeader::new(7);
    let mut chain = JournalChain::new(header);
    let extent = JournalExtent { offset: 512, length: 100, sum: 3 };
    let records = [
        chain.extents(2048, &[extent]).unwrap(),
        chain.unlinked(&[96]).unwrap(),
        chain.bytes(700, &[1; 400], &[2; 400]).unwrap(),
        chain.commit(4096).unwrap(),
    ];
    [header.encode().unwrap(), records.concat()].concat()
}

/// Returns the number of records that a reader of the journal accepts.
fn accepted(bytes: &[u8]) -> usize {
    let Ok(header) = JournalHeader::decode(bytes) else { return 0 };
    let (mut chain, mut rest, mut count) = (JournalChain::new(header), &bytes[JournalHeader::SIZE..], 0);
    while let Some((head, behind)) = rest.split_at_checked(JournalRecord::SIZE) {
        let record = JournalRecord::decode(head).unwrap();
        let (body, behind) = behind.split_at(usize::try_from(record.body_size()).unwrap());
        if chain.accept(&record, head, body).is_err() {
            break;
        }
        (rest, count) = (behind, count + 1);
    }
    count
}

#[test]
fn changed_journals_are_accepted() {
    let sound = journal();
    let mut same = sound.clone();
    assert_eq!(repair::journal(&mut same), 4);
    assert!(same == sound, "sums that were right became others");
    assert_eq!(accepted(&sound), 4);
    let extent = JournalHeader::SIZE + JournalRecord::SIZE + 16;
    for at in [16, 24, extent, sound.len() - JournalRecord::SIZE - 1] {
        let mut changed = sound.clone();
        changed[at] ^= 1;
        assert!(accepted(&changed) < 4, "{at}");
        repair::journal(&mut changed);
        assert_eq!(accepted(&changed), 4, "{at}");
    }
}
