//! Codecs of two crates: the faster decoder of LZ4 and of Zstandard decodes what the other decoder decodes, and refuses what
//! the other decoder refuses. The address sanitizer watches both.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

/// The largest number of decoded bytes.
const LIMIT: usize = 1 << 18;

#[derive(Debug, Arbitrary)]
struct Input {
    is_zstandard: bool,
    /// Length of the decoded bytes; `None` for the right one.
    length: Option<u16>,
    /// The level of the encoder; `None` if the rest of the input is encoded already.
    level: Option<i8>,
    /// Number of copies of the rest of the input that are encoded.
    copies: u8,
    /// Changes of the encoded bytes: the place and the new byte.
    damage: Vec<(u16, u8)>,
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(chosen) = Input::arbitrary(&mut input) else { return };
    let rest = input.take_rest();
    let (mut encoded, mut length) = (rest.to_vec(), rest.len());
    if let Some(level) = chosen.level {
        let copies = usize::from(chosen.copies % 16 + 1).min(LIMIT / rest.len().max(1)).max(1);
        let decoded = rest.repeat(copies);
        length = decoded.len();
        encoded = if chosen.is_zstandard {
            rust_zstd::compress(&decoded, i32::from(level) % 23)
        } else {
            lz4_flex::block::compress(&decoded)
        };
    }
    for (at, value) in chosen.damage.iter().take(8) {
        let end = encoded.len().max(1);
        if let Some(byte) = encoded.get_mut(usize::from(*at) % end) {
            *byte = *value;
        }
    }
    let length = chosen.length.map_or(length, usize::from);
    if chosen.is_zstandard {
        zstandard(&encoded, length);
    } else {
        lz4(&encoded, length);
    }
});

fn zstandard(frame: &[u8], length: usize) {
    let (mut safe, mut taken) = (Vec::new(), 0);
    let expected = zstd_rs::Decompressor::new().decompress_frame(frame, None, length, &mut safe);
    // An exact length, so that the sanitizer sees each write behind the output.
    let (mut fast, mut written) = (vec![0; length].into_boxed_slice(), 0);
    let mut decoder = rust_zstd::Decompressor::new();
    decoder.set_window_log_max(31);
    let missing = decoder.decompress_stream(frame, &mut taken, &mut fast, &mut written);
    match (missing, expected) {
        (Ok(0), Ok(used)) => assert!(taken == used && fast[..written] == safe[..], "different bytes"),
        (Ok(1..) | Err(_), Err(_)) => {}
        // The two crates have different largest windows, above those of any encoder.
        (Err(reason), Ok(_)) if reason.starts_with("Window size") => {}
        (missing, expected) => panic!("{missing:?}, but {expected:?} without unsafe code"),
    }
}

fn lz4(block: &[u8], length: usize) {
    let (mut fast, mut other) = (vec![0; length].into_boxed_slice(), vec![0; length].into_boxed_slice());
    let got = lz4rip_decode::decompress_into(block, &mut fast);
    let expected = lz4_flex::block::decompress_into(block, &mut other);
    match (got, expected) {
        (Ok(got), Ok(expected)) => assert!(got == expected && fast[..got] == other[..got], "different bytes"),
        (Err(_), Err(_)) => {}
        (got, expected) => panic!("{got:?}, but {expected:?} by lz4_flex"),
    }
}
