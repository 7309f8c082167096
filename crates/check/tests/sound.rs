//! Checks of sound files: the check finds no fault and accounts for all bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use hyperslab_check::{BlockKind, CheckOptions, check, check_path};
use hyperslab_testkit::{expected, fixtures};
use hyperslab_vfd::{Access, Driver, Family, FamilyPattern, Multi, MultiMember};

#[test]
fn every_fixture_is_sound_and_its_leaked_bytes_are_known() {
    let mut accounts = String::new();
    for name in fixtures::names().unwrap() {
        let report = check_path(&fixtures::path(&name)).unwrap();
        assert!(report.is_sound() && report.unchecked == 0, "{name}:\n{report}");
        let used: u64 = report.usage.values().map(|usage| usage.bytes).sum();
        assert_eq!(used + report.leaked_bytes(), report.end, "{name}");
        let (leaked, lost) = (report.leaked_bytes(), report.leaked_heap_objects.blocks);
        writeln!(accounts, "{name}: {leaked} bytes unaccounted for, {lost} unused heap objects").unwrap();
    }
    expected::check(env!("CARGO_MANIFEST_DIR"), "accounts.txt", &accounts);
}

#[test]
fn files_that_store_free_space_leak_few_bytes() {
    for name in ["file_space_persisted_latest.h5", "file_space_paged_latest.h5"] {
        let report = check_path(&fixtures::path(name)).unwrap();
        assert_eq!(report.leaked, [], "{name}");
        assert!(report.usage_of(BlockKind::Free).bytes > 0, "{name}:\n{report}");
    }
}

#[test]
fn chunks_of_fixtures_can_be_decoded() {
    for name in fixtures::names().unwrap() {
        let report = check_path(&fixtures::path(&name)).unwrap();
        let driver = hyperslab_vfd::Sec2::open(fixtures::path(&name), Access::ReadOnly).unwrap();
        let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
        assert_eq!(check(Arc::new(driver), &options).unwrap(), report, "{name}");
    }
}

#[test]
fn files_of_several_members_are_sound() {
    let members = |name: &str| fixtures::path(&format!("members/{name}"));
    for bounds in ["earliest", "latest"] {
        let first = members(&format!("{bounds}-family00.h5"));
        let pattern = FamilyPattern::of_first_member(&first).next().unwrap();
        let family = Family::open(pattern, Access::ReadOnly, None).unwrap();
        let multi =
            Multi::open(MultiMember::multi(&members(&format!("{bounds}-multi"))), Access::ReadOnly).unwrap();
        let drivers: [Arc<dyn Driver>; 2] = [Arc::new(family), Arc::new(multi)];
        for driver in drivers {
            let report = check(driver, &CheckOptions::default()).unwrap();
            assert!(report.is_sound() && report.objects >= 4, "{bounds}:\n{report}");
        }
    }
}

#[test]
fn a_report_lists_the_structures() {
    let report = check_path(&fixtures::path("chunk_indexes_large_latest.h5")).unwrap();
    let text = report.to_string();
    assert!(text.starts_with("sound: 0 faults, 0 remarks\n"), "{text}");
    for part in ["superblock", "object headers", "chunk indexes", "chunks", "unaccounted for"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let json = report.to_json();
    assert_eq!(json["sound"], true);
    assert_eq!(json["chunks"], report.chunks);
    assert_eq!(json["usage"]["chunks"]["bytes"], report.usage_of(BlockKind::Chunk).bytes);
    assert_eq!(json["leaked_bytes"], report.leaked_bytes());
}

#[test]
fn bytes_of_objects_sum_to_the_total() {
    for name in fixtures::names().unwrap() {
        let driver = hyperslab_vfd::Sec2::open(fixtures::path(&name), Access::ReadOnly).unwrap();
        let options = CheckOptions { per_object: true, ..CheckOptions::default() };
        let report = check(Arc::new(driver), &options).unwrap();
        let raw: u64 = report.of_objects.values().map(|bytes| bytes.raw).sum();
        assert_eq!(
            raw,
            report.usage_of(BlockKind::Chunk).bytes + report.usage_of(BlockKind::Contiguous).bytes,
            "{name}"
        );
        let heap: u64 = report.of_objects.values().map(|bytes| bytes.heap).sum();
        assert!(heap <= report.usage_of(BlockKind::GlobalHeap).bytes, "{name}");
        let metadata: u64 = report.of_objects.values().map(|bytes| bytes.metadata).sum();
        let all: u64 = report.usage.values().map(|usage| usage.bytes).sum();
        assert!(metadata > 0 && metadata + raw < all, "{name}");
        let headers = report.usage_of(BlockKind::ObjectHeader).bytes;
        assert!(metadata >= headers / 2, "{name}: {metadata} of {headers}");
    }
}

#[test]
fn metadata_has_an_owner() {
    for name in fixtures::names().unwrap() {
        let driver = hyperslab_vfd::Sec2::open(fixtures::path(&name), Access::ReadOnly).unwrap();
        let options = CheckOptions { look_into_elements: false, ..CheckOptions::default() };
        let report = check(Arc::new(driver), &options).unwrap();
        assert!(report.is_sound(), "{name}");
        let reported: u64 = report.metadata.values().map(|bytes| bytes.total() - bytes.mappings).sum();
        let others = [
            BlockKind::Superblock,
            BlockKind::DriverInformation,
            BlockKind::CacheImage,
            BlockKind::GlobalHeap,
        ];
        let raw = [BlockKind::Chunk, BlockKind::Contiguous, BlockKind::Free];
        let is_metadata = |kind: &BlockKind| !others.contains(kind) && !raw.contains(kind);
        let all: u64 =
            report.usage.iter().filter(|(kind, _)| is_metadata(kind)).map(|(_, usage)| usage.bytes).sum();
        assert_eq!(reported, all, "{name}");
        let unused: u64 = report.metadata.values().map(|bytes| bytes.unused_in_headers).sum();
        assert!(unused < report.usage_of(BlockKind::ObjectHeader).bytes, "{name}");
        let free: u64 = report.free_sections.iter().map(|(size, count)| size * count).sum();
        assert_eq!(free, report.usage_of(BlockKind::Free).bytes, "{name}");
        assert_eq!(report.leaked_heap_objects.blocks, 0, "{name}: what was not looked for is not lost");
    }
}
