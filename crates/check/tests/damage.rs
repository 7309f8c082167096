//! Checks of damaged files: a check of any bytes ends soon without a panic, and finds damage to
//! metadata with checksums.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[expect(dead_code, reason = "damage here is not done with care")]
mod image;

use std::time::{Duration, Instant};

use hyperslab_check::{CheckOptions, check};
use hyperslab_testkit::fixtures;
use hyperslab_vfd::Core;
use image::{Image, PARAMS};
use std::sync::Arc;

/// A generator of pseudo-random numbers, which are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

fn survives(bytes: Vec<u8>, subject: &str) {
    let start = Instant::now();
    let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
    if let Ok(report) = check(Arc::new(Core::from_vec("image", bytes)), &options) {
        let shown = report.to_string().len() + report.to_json().to_string().len();
        assert!(shown > 0, "{subject}");
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{subject}: {:?}", start.elapsed());
}

#[test]
fn random_damage() {
    let mut numbers = Numbers(1);
    for name in fixtures::names().unwrap() {
        let good = Image::of(&name);
        for round in 0..12 {
            let mut bytes = good.bytes.clone();
            for _ in 0..=numbers.below(20) {
                let at = numbers.below(bytes.len());
                bytes[at] = u8::try_from(numbers.below(256)).unwrap();
            }
            survives(bytes, &format!("{name}, round {round}"));
        }
    }
}

#[test]
fn changed_small_numbers_near_the_start_cause_no_panic() {
    let mut numbers = Numbers(2);
    for name in fixtures::names().unwrap() {
        let good = Image::of(&name);
        for round in 0..12 {
            let mut bytes = good.bytes.clone();
            let at = numbers.below(bytes.len().min(4096));
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff][numbers.below(5)];
            survives(bytes, &format!("{name}, round {round}"));
        }
    }
}

#[test]
fn truncated_files_cause_no_panic() {
    let mut numbers = Numbers(3);
    for name in fixtures::names().unwrap() {
        let good = Image::of(&name);
        for _ in 0..4 {
            let length = numbers.below(good.bytes.len());
            survives(good.bytes[..length].to_vec(), &format!("{name}, {length} bytes"));
        }
    }
}

/// Changes every byte of every block with a checksum: superblock, object headers, nodes, heaps.
#[test]
fn a_changed_byte_under_a_checksum_is_a_fault() {
    let good = Image::of("groups_new_style_latest.h5");
    for signature in ["OHDR", "BTHD", "FRHP", "FSHD"] {
        for at in good.places(signature) {
            let length = match signature {
                "OHDR" => 40,
                "BTHD" => 38,
                "FRHP" => 22 + 12 * PARAMS.length_width() + 3 * PARAMS.offset_width(),
                _ => 18 + 7 * PARAMS.length_width() + PARAMS.offset_width(),
            };
            let changed = |offset: usize| {
                let mut image = good.clone();
                image.bytes[at + offset] ^= 0x10;
                image.check()
            };
            if changed(0).is_sound() {
                continue; // Not in use.
            }
            for offset in 0..length {
                assert!(!changed(offset).is_sound(), "{signature} at {at:#x}, byte {offset}");
            }
        }
    }
}
