//! Tests with streams that the HDF5 plug-in wrote, intact and damaged.

use proptest::prelude::*;

use super::*;
use crate::conformance;

/// `10 sin(x / 30)` for 200 values of 4 bytes, except 500 at 30; errors of at most 0.01.
const LINE: &str = concat!(
    "02010c4040006426ac003c23d70a00000000650000010000c11ffcdb43fa000000000000000000c800010000000000404375",
    "0019183f847ae14000000000000000000002750000000000000004000000000000000b000000470000004000010203040506",
    "0700000000000d0e00100000131400000018191a00001d0000202122002425000000002a2b00002e00003132003435000038",
    "00003b3c3d0000400000434400000030170c0b0a09080000000000120f0011000016150000001f1c1b00001e000029282300",
    "2726000000002d2c00002f00003a330037360000390000423f3e000041000046450000000000000000000000000000000000",
    "00000000000000000000000000001600000025000000150000002f0000001000000000000000000000001200000000000000",
    "1a00000000000000000000000000000027000000260000002d000000000000000000000000000000110000000f0000000000",
    "0000240000001e0000000000000000000000000000002100000000000000000000001f0000001d0000002900000014000000",
    "00000000000000001b0000001900000000000000230000002200000000000000000000003000000000000000000000002000",
    "00001c00000000000000170000002e0000000000000000000000000000002b0000002a000000000000001300000018000000",
    "00000000000000002c0000002800000031000000000000000000000101010101000001000101000001010100000001010001",
    "01000000010000010101010000010100010100000100000101000101000000010100010100000101012cb9ff3e49030210dc",
    "3739ce7e7318c672597de9861804d5294f3cfb0c52945ad6cb5ad5c28a75ddeed6b0004105ad6eb44210884210222222914a",
    "4529148a4444450284108426b5a6b5a0820005adbdedd28a71cad6ab5ad9294a30fbef294a0269a699def59e739c639ce1ce",
    "7bdc37086064927cff9ff3e7c92410c3750074aa437effc36c69",
);

/// `(x - 5.5) (y + 1)` in 9 rows of 11 values of 4 bytes; errors of at most 0.001 relative to each
/// value.
const PLANE: &str = concat!(
    "02010c5040006426aca0000000003a83126f650000010000c2460000422200000000000000000063c0b00000c0900000c060",
    "0000c0200000bfc00000bf0000003f0000003fc00000402000004060000040900000c1300000c1100000c0e00000c0a00000",
    "c0400000bf8000003f8000004040000040a0000040e0000041100000c1840000c1580000c1280000c0f00000c0900000bfc0",
    "00003fc000004090000040f000004128000041580000c1b00000c1900000c1600000c1200000c0c00000c000000040000000",
    "40c00000412000004160000041900000c1dc0000c1b40000c18c0000c1480000c0f00000c02000004020000040f000004148",
    "0000418c000041b40000c2040000c1d80000c1a80000c1700000c1100000c040000040400000411000004170000041a80000",
    "41d80000c21a0000c1fc0000c1c40000c18c0000c1280000c06000004060000041280000418c000041c4000041fc0000c230",
    "0000c2100000c1e00000c1a00000c1400000c0800000408000004140000041a0000041e0000042100000c2460000c2220000",
    "c1fc0000c1b40000c1580000c0900000409000004158000041b4000041fc000042220000",
);

/// `10 sin(z / 3) cos(y / 4) + x` in 6 planes of 7 rows of 8 values of 4 bytes; errors of at most
/// 0.01.
const VOLUME: &str = concat!(
    "02010cc040006426ac003c23d70a00000000650000010000000000004187a1f40000000000000150000000063c23d70a0000",
    "01000000019e0000003b0001000304050607000900000c000e0000001213141500001800001b00001e1f0000220000252627",
    "2800002b00002e2f00000033340000373800000002002411100b08000a00000d000f0000001d1a171600001900001c000021",
    "200000230000322d2a2900002c00003130000000363500003a39000000000000008000000000000000000000000000000000",
    "000000000000007d000000000000005d000000c1000000000000007f000000000000006b00000061000000b2000000000000",
    "000000000000000000000000006a00000079000000000000005b0000007c00000000000000730000008c0000000000000000",
    "000000640000006f00000000000000740000006700000000000000000000000000000000000000680000005f000000000000",
    "007200000065000000000000000000000071000000700000007600000000000000000000007e0000007b0000000000000000",
    "000000f000000058000000000000000001000000000001000101000100010101000000000101000101000101000001010001",
    "010000000001010001010000010101000001010000010101000000000080020000000000000094675140dbe0c5404cccccc8",
    "000000000007c074068030011c05201e80f80e80a804601600c404201e00a6036035014005e033010c04402880d80b806402",
    "d01580880007007004002000",
);

/// 8 times `LINE`, truncated to integers of 2 bytes; lossless.
const WHOLE: &str = concat!(
    "02010c4440006426ac053c23d70a0000000065000001000000000000000000000200000000000000c80001000000010000ff",
    "ffffffffffffb13f847ae147ae147b00000000000000bb000000000000000400000000000000080000000f00010000000102",
    "030000060000090a0b0000000008050400000700000e0d0c000000000000000000000000000000009c7f0000008000000000",
    "0000ce7f0000968000000000000000000000000000006a7f0000000000003280000064800000000000010100010100000001",
    "010101997b7b7bdfbf7fffdfb33db6db4d349249251452492482080010800080204081102204010220440802040004008008",
    "2090492291449249269b69b7b6f7effffbf7bdef6f6fdef6f7b0004f00510fef0093",
);

/// `LINE` within a zlib stream.
const PACKED: &str = concat!(
    "785e6362e471706148515bc360a37c9d8b01085219181819180ecaffb9edfc0bc407831320312070702e659094b06fa97ae8",
    "0097632a853259a03437907607296660646266616563078bf3f231083030088b00991292520c0cb20c0c0a8a4a0c2aaa2049",
    "2d6d06063d0606432306135306060b06066b1b5b90010cce2e405903711e6e2e4e0eb03142fc0c820c0c62a240a6bc8c3403",
    "831c0383a6863283ba1a4852578781419f81c1ca98c1dc8c81c19281c1c9de8e81c19181c1cd15ee5cec0c31a030c8252073",
    "8126809c0a07425016d0d128401dc80359ab8b260e741f033f544c0548039d8802149178f2403630241834811814343000f4",
    "19832494a30ca49590e40c90d80a40b60c942f0ea48181880280e1caa005151106d21248b2c0c062d0006243841823088012",
    "00980411201684060b8049882c92145cbdceceff769ecc4c0277cc2dcfd5154b1c2b8aac7dd926c17255d3dfe6374fd094a8",
    "6ba7a3ae1eea2abdfbeeda060647d6b5795b9c043a9c04949494267ab96a8a74b9b8b832b508b4a86d5db675411303ebdabd",
    "6f2f75159ebab63aeaa6a697c1eff79a5e4c99cb66defb3aaf784ef29c87e7aaef987324a44caaf93ffff3f3932a02874b19",
    "4a5639d7fd3f9c93090006265abf",
);

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns all chunks with their client data and decoded length.
fn chunks() -> [(&'static str, Vec<u32>, usize); 5] {
    [
        (LINE, vec![1, 0, 0, 200], 800),
        (PLANE, vec![2, 0, 11, 9], 396),
        (VOLUME, vec![3, 0, 8, 7, 6], 1344),
        (WHOLE, vec![1, 5, 0, 200], 400),
        (PACKED, vec![1, 0, 0, 200], 800),
    ]
}

fn decode((chunk, client_data, length): &(&str, Vec<u32>, usize)) -> Vec<u8> {
    conformance::decode(&Sz, client_data, &unhex(chunk), None, *length).unwrap()
}

fn singles(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect()
}

fn line() -> impl Iterator<Item = f32> {
    (0..200_u8).map(|x| if x == 30 { 500.0 } else { 10.0 * (f32::from(x) / 30.0).sin() })
}

#[test]
fn chunks_that_the_plug_in_wrote() {
    let [one, plane, volume, whole, packed] = chunks();
    let decoded = singles(&decode(&one));
    assert!(decoded.iter().zip(line()).all(|(value, exact)| (value - exact).abs() <= 0.01001));
    assert_eq!(singles(&decode(&packed)), decoded);
    let whole = decode(&whole);
    let whole: Vec<i16> = whole.as_chunks().0.iter().map(|value| i16::from_le_bytes(*value)).collect();
    for (value, exact) in whole.iter().zip(line()) {
        assert!((f32::from(*value) - 8.0 * exact).abs() < 1.001, "{value} {exact}");
    }
    if cfg!(any(feature = "zstd-rs", feature = "zstd")) {
        proportional(&singles(&decode(&plane)));
    }
    let decoded = singles(&decode(&volume));
    let positions = (0..6_u8).flat_map(|z| (0..7_u8).flat_map(move |y| (0..8_u8).map(move |x| [x, y, z])));
    for (value, position) in decoded.iter().zip(positions) {
        let [x, y, z] = position.map(f32::from);
        let exact = 10.0 * (z / 3.0).sin() * (y / 4.0).cos() + x;
        assert!((value - exact).abs() <= 0.01001, "{value} {exact}");
    }
}

fn proportional(plane: &[f32]) {
    let positions = (0..9_u8).flat_map(|y| (0..11_u8).map(move |x| (f32::from(x), f32::from(y))));
    for (value, (x, y)) in plane.iter().zip(positions) {
        let exact = (x - 5.5) * (y + 1.0);
        assert!((value - exact).abs() <= 0.001_001 * exact.abs(), "{value} {exact}");
    }
}

#[test]
fn few_values_are_stored_as_they_are() {
    let decode = |client_data: &[u32], chunk: &[u8]| conformance::decode(&Sz, client_data, chunk, None, 80);
    assert_eq!(decode(&[1, 0, 0, 19], &[7; 76]).unwrap(), [7; 76]);
    assert_eq!(decode(&[1, 0, 0, 20], &[7; 80]).unwrap(), [7; 80]);
    assert_eq!(decode(&[], &[7; 50]).unwrap(), [7; 50]);
    // Four dimensions, as the plug-in describes them by mistake.
    assert_eq!(decode(&[4, 0, 0, 5, 5, 5, 5], &[7; 50]).unwrap(), [7; 50]);
    assert!(matches!(decode(&[1, 0, 0, 19], &[7; 81]), Err(FilterError::Limit { .. })));
}

#[test]
fn unsupported_input_is_reported() {
    let line = unhex(LINE);
    let decode = |client_data: &[u32], chunk: &[u8]| conformance::decode(&Sz, client_data, chunk, None, 800);
    for client_data in [
        &[1][..],
        &[1, 0],
        &[1, 0, 200],
        &[0, 0, 0, 200],
        &[6, 0, 5, 5, 5, 5, 5, 5],
        &[1, 10, 0, 200],
        &[2, 0, 8, 0],
    ] {
        assert!(matches!(decode(client_data, &line), Err(FilterError::Corrupt { .. })), "{client_data:?}");
    }
    let limit = conformance::decode(&Sz, &[1, 0, 0, 200], &line, None, 799).unwrap_err();
    assert_eq!(limit, FilterError::Limit { id: ID, limit: 799 });
    let five = decode(&[5, 0, 2, 2, 2, 2, 2], &line);
    assert!(matches!(five, Err(FilterError::Unsupported { .. })), "{five:?}");
    for (at, byte) in [(0, 1), (18, 104)] {
        let mut old = line.clone();
        old[at] = byte;
        assert!(matches!(decode(&[1, 0, 0, 200], &old), Err(FilterError::Unsupported { .. })), "{at}");
    }
    assert!(matches!(conformance::encode(&Sz, &[1, 0, 0, 200], &[0; 800]), Err(FilterError::Failed { .. })));
}

#[test]
fn cut_chunks_are_errors() {
    for (chunk, client_data, length) in chunks() {
        let chunk = unhex(chunk);
        for end in 0..chunk.len() {
            let truncated = conformance::decode(&Sz, &client_data, &chunk[..end], None, length);
            // The last bits may be padding.
            assert!(matches!(truncated, Err(FilterError::Corrupt { .. })) || end + 1 == chunk.len(), "{end}");
        }
    }
}

#[test]
fn every_damaged_byte_is_survived() {
    for (chunk, client_data, length) in chunks() {
        let chunk = unhex(chunk);
        for at in 0..chunk.len() {
            for flip in [1, 0x10, 0x80, 0xff] {
                let mut damaged = chunk.clone();
                damaged[at] ^= flip;
                if let Ok(decoded) = conformance::decode(&Sz, &client_data, &damaged, None, length) {
                    assert_eq!(decoded.len(), length);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn damaged_chunks_do_not_panic(
        which in 0..5_usize,
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        kind in 0..10_u32,
        dims in proptest::collection::vec(1..30_u32, 1..6),
    ) {
        let (chunk, client_data, length) = &chunks()[which];
        let mut chunk = unhex(chunk);
        for (at, byte) in flips {
            *at.get_mut(&mut chunk) = byte;
        }
        if let Ok(decoded) = conformance::decode(&Sz, client_data, &chunk, None, *length) {
            prop_assert_eq!(decoded.len(), *length);
        }
        let high = if dims.len() == 1 { &[0][..] } else { &[] };
        let rank = u32::try_from(dims.len()).unwrap();
        let client_data = [&[rank, kind], high, &dims[..]].concat();
        if let Ok(decoded) = conformance::decode(&Sz, &client_data, &chunk, None, 100_000) {
            prop_assert!(decoded.len() <= 100_000);
        }
    }
}
