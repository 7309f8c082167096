//! Tests that compare the decoders and encoders in Rust.

use proptest::prelude::*;

use super::{by_rust_zstd, by_zstd_rs};
use crate::{FilterId, Result};

type Outcome = Option<Option<Vec<u8>>>;

/// Decodes a frame into memory of `length` bytes, and checks that no other byte changes. Returns
/// [`None`] for an error.
fn in_memory(length: usize, decode: impl FnOnce(&mut [u8]) -> Result<Option<usize>>) -> Outcome {
    let mut memory = vec![0xa5; length + 128];
    let outcome = decode(&mut memory[64..64 + length]);
    assert!(memory[..64].iter().chain(&memory[64 + length..]).all(|byte| *byte == 0xa5));
    Some(outcome.ok()?.map(|count| memory[64..64 + count].to_vec()))
}

/// Decodes a frame by both decoders.
fn decoded_by_both(frame: &[u8], length: usize) -> [Outcome; 2] {
    let (mut fast, mut safe) = (by_rust_zstd::State::default(), by_zstd_rs::State::default());
    [
        in_memory(length, |output| by_rust_zstd::decode(FilterId::ZSTD, &mut fast, frame, output)),
        in_memory(length, |output| by_zstd_rs::decode(FilterId::ZSTD, &mut safe, frame, output)),
    ]
}

/// Decodes a frame by both decoders, and checks that they agree.
fn decoded(frame: &[u8], length: usize) -> Outcome {
    let [fast, safe] = decoded_by_both(frame, length);
    match (&fast, &safe) {
        (Some(Some(fast)), Some(Some(safe))) => assert!(fast == safe, "different bytes"),
        // A damaged frame may be damaged before or after the place where the output is full.
        (None | Some(None), None | Some(None)) => {}
        _ => panic!("{fast:?}, but {safe:?} without unsafe code"),
    }
    safe
}

/// Encodes bytes by both encoders.
fn encoded(level: u32, bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut frames = [Vec::new(), Vec::new()];
    by_rust_zstd::encode(FilterId::ZSTD, level, bytes, &mut frames[0]).unwrap();
    by_zstd_rs::encode(FilterId::ZSTD, level, bytes, &mut frames[1]).unwrap();
    frames
}

/// Returns bytes with runs, repetitions and noise.
fn bytes_of(pieces: &[(u8, u16, u8)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (seed, length, kind) in pieces {
        for at in 0..*length {
            let noise = (u32::from(*seed) << 16 | u32::from(at)).wrapping_mul(0x9e37_79b1);
            bytes.push(match kind {
                0 => *seed,
                1 => at.to_le_bytes()[0] % 13,
                2 => noise.to_le_bytes()[3] % 32,
                _ => noise.to_le_bytes()[3],
            });
        }
    }
    bytes
}

fn pieces() -> impl Strategy<Value = Vec<(u8, u16, u8)>> {
    prop::collection::vec((any::<u8>(), 1..600_u16, 0..4_u8), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_frames_are_decoded_or_refused_by_both(
        pieces in pieces(),
        level in 0..9_u32,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        other_length in prop::option::of(0..3000_usize),
    ) {
        let bytes = bytes_of(&pieces);
        for mut frame in encoded(level, &bytes) {
            prop_assert_eq!(decoded(&frame, bytes.len()), Some(Some(bytes.clone())));
            let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7][..], &frame, &[1, 2, 3]].concat();
            prop_assert_eq!(decoded(&skippable, bytes.len() + 9), Some(Some(bytes.clone())));
            for shorter in [bytes.len().checked_sub(1), bytes.len().checked_sub(100), Some(0)].into_iter().flatten() {
                if shorter < bytes.len() {
                    prop_assert_eq!(decoded_by_both(&frame, shorter), [Some(None), Some(None)]);
                }
            }
            let truncated = &frame[..frame.len() - 1];
            prop_assert_eq!(decoded_by_both(truncated, bytes.len() + 1), [None, None]);
            for (at, value) in &damage {
                let at = at.index(frame.len());
                frame[at] = *value;
            }
            if let Some(cut) = cut {
                frame.truncate(cut.index(frame.len() + 1));
            }
            decoded(&frame, other_length.unwrap_or(bytes.len()));
        }
    }

    #[test]
    fn arbitrary_frames_are_decoded_or_refused_by_both(
        rest in prop::collection::vec(any::<u8>(), 0..200), length in 0..2000_usize,
    ) {
        decoded(&[&[0x28, 0xb5, 0x2f, 0xfd][..], &rest].concat(), length);
    }
}

#[test]
fn all_levels_are_decoded_by_both() {
    let bytes = bytes_of(&[(7, 600, 1), (3, 500, 3), (0, 599, 0), (9, 300, 2)].repeat(100));
    for level in 0..30 {
        for frame in encoded(level, &bytes) {
            assert!(decoded(&frame, bytes.len()) == Some(Some(bytes.clone())), "level {level}");
        }
    }
}
