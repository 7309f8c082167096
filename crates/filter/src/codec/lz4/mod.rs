//! LZ4 blocks.

#[cfg(feature = "liblz4")]
#[path = "c.rs"]
mod codec;

#[cfg(all(feature = "lz4", not(feature = "liblz4")))]
#[path = "rust.rs"]
mod codec;

#[cfg(not(feature = "lz4"))]
#[path = "absent.rs"]
mod codec;

pub(crate) use codec::{decode, encode};

#[cfg(test)]
#[cfg(feature = "lz4")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{FilterError, FilterId};

    /// Decodes a block into memory of `length` bytes, and checks that no other byte changes.
    fn decoded(input: &[u8], length: usize) -> Option<Vec<u8>> {
        let mut memory = vec![0xa5; length + 128];
        let outcome = decode(FilterId::LZ4, input, &mut memory[64..64 + length]);
        assert!(memory[..64].iter().chain(&memory[64 + length..]).all(|byte| *byte == 0xa5));
        let decoded = match outcome {
            Ok(()) => Some(memory[64..64 + length].to_vec()),
            Err(error) => {
                assert!(matches!(error, FilterError::Corrupt { .. }), "{error}");
                None
            }
        };
        // The C library judges some damaged blocks in another way.
        if cfg!(not(feature = "liblz4")) {
            let mut other = vec![0; length];
            let count = lz4_flex::block::decompress_into(input, &mut other).ok();
            assert_eq!(decoded, (count == Some(length)).then_some(other), "lz4_flex");
        }
        decoded
    }

    fn encoded(bytes: &[u8]) -> Vec<u8> {
        let mut block = Vec::new();
        encode(FilterId::LZ4, bytes, &mut block).unwrap();
        block
    }

    /// Returns bytes with runs and patterns.
    fn bytes_of(pieces: &[(u8, u8, bool)]) -> Vec<u8> {
        let byte = |seed: u8, at: u8| seed.wrapping_mul(31).wrapping_add(at.wrapping_mul(7));
        let piece = |(seed, length, repeats): &(u8, u8, bool)| {
            let (seed, repeats) = (*seed, *repeats);
            (0..*length).map(move |at| if repeats { seed } else { byte(seed, at) })
        };
        pieces.iter().flat_map(piece).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn damaged_blocks_are_decoded_or_refused(
            pieces in prop::collection::vec((any::<u8>(), 1..60_u8, any::<bool>()), 0..40),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in prop::option::of(any::<prop::sample::Index>()),
            other_length in prop::option::of(0..3000_usize),
        ) {
            let bytes = bytes_of(&pieces);
            let mut block = encoded(&bytes);
            prop_assert_eq!(decoded(&block, bytes.len()), Some(bytes.clone()));
            for (at, value) in &damage {
                let at = at.index(block.len());
                block[at] = *value;
            }
            if let Some(cut) = cut {
                block.truncate(cut.index(block.len() + 1));
            }
            decoded(&block, other_length.unwrap_or(bytes.len()));
        }

        #[test]
        fn arbitrary_blocks_are_decoded_or_refused(
            block in prop::collection::vec(any::<u8>(), 0..200), length in 0..2000_usize,
        ) {
            decoded(&block, length);
        }
    }

    #[cfg(feature = "liblz4")]
    #[test]
    fn the_c_library_and_the_rust_crate_decode_each_other() {
        let bytes = bytes_of(&[(7, 50, true), (3, 59, false), (0, 255, true), (9, 30, false)].repeat(50));
        assert_eq!(lz4_flex::block::decompress(&encoded(&bytes), bytes.len()).unwrap(), bytes);
        assert_eq!(decoded(&lz4_flex::block::compress(&bytes), bytes.len()), Some(bytes));
    }
}
