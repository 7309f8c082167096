//! LZ4 blocks: the decoder with checked unsafe code decodes what the decoder without unsafe code decodes, and refuses what
//! that decoder refuses. The address sanitizer watches both.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    /// Length of the decoded block; `None` for the right one.
    length: Option<u16>,
    /// True if the rest of the input is a block, false if the rest is encoded first.
    is_block: bool,
    /// Changes of the encoded block: the place and the new byte.
    damage: Vec<(u16, u8)>,
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(chosen) = Input::arbitrary(&mut input) else { return };
    let rest = input.take_rest();
    let mut block = if chosen.is_block { rest.to_vec() } else { lz4_flex::block::compress(rest) };
    for (at, value) in chosen.damage.iter().take(8) {
        let length = block.len().max(1);
        if let Some(byte) = block.get_mut(usize::from(*at) % length) {
            *byte = *value;
        }
    }
    // An exact length, so that the sanitizer sees each write behind the output.
    let length = chosen.length.map_or(rest.len(), usize::from);
    let (mut fast, mut safe) = (vec![0; length], vec![0; length]);
    let got = lz4_flex::block::decompress_into(&block, &mut fast);
    let expected = lz4_flex_safe::block::decompress_into(&block, &mut safe);
    match (got, expected) {
        (Ok(got), Ok(expected)) => assert!(got == expected && fast[..got] == safe[..expected], "different bytes"),
        (Err(_), Err(_)) => {}
        (got, expected) => panic!("{got:?}, but {expected:?} without unsafe code"),
    }
});
