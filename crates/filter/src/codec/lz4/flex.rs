//! LZ4 blocks, implemented by `lz4_flex`.

use lz4_flex::block;

use crate::{FilterError, FilterId, Result};

/// Decodes the LZ4 block `input` into `output`. The decoded bytes must fill `output` exactly.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: String| FilterError::corrupt(id, format!("an LZ4 block is invalid: {detail}"));
    let length = block::decompress_into(input, output).map_err(|error| corrupt(error.to_string()))?;
    if length < output.len() {
        return Err(corrupt(format!("{length} bytes, expected {}", output.len())));
    }
    Ok(())
}

/// Encodes `input` with LZ4 and appends the LZ4 block to `output`.
pub(crate) fn encode(id: FilterId, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let start = output.len();
    output.resize(start + block::get_maximum_output_size(input.len()), 0);
    let free = output.split_at_mut(start).1;
    let length =
        block::compress_into(input, free).map_err(|error| FilterError::failed(id, error.to_string()))?;
    output.truncate(start + length);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the elements of a block, or `None` for an invalid block, from the decoder without
    /// unsafe code.
    fn referee(input: &[u8], length: usize) -> Option<Vec<u8>> {
        let mut output = vec![0; length];
        let got = lz4_flex_safe::block::decompress_into(input, &mut output).ok()?;
        (got == length).then_some(output)
    }

    fn decoded(input: &[u8], length: usize) -> Option<Vec<u8>> {
        // The decoder may not write outside of the output.
        let mut memory = vec![0xa5; length + 128];
        let outcome = decode(FilterId::LZ4, input, &mut memory[64..64 + length]);
        assert!(memory[..64].iter().chain(&memory[64 + length..]).all(|byte| *byte == 0xa5));
        outcome.ok().map(|()| memory[64..64 + length].to_vec())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn damaged_blocks_are_decoded_as_by_safe_code(
            pieces in prop::collection::vec((any::<u8>(), 1..60_usize, any::<bool>()), 0..40),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in prop::option::of(any::<prop::sample::Index>()),
            other_length in prop::option::of(0..3000_usize),
        ) {
            let byte = |seed: u8, at: u8| seed.wrapping_mul(31).wrapping_add(at.wrapping_mul(7));
            let bytes: Vec<u8> = pieces
                .iter()
                .flat_map(|(seed, length, repeats)| {
                    (0_u8..).take(*length).map(move |at| if *repeats { *seed } else { byte(*seed, at) })
                })
                .collect();
            let mut block = Vec::new();
            encode(FilterId::LZ4, &bytes, &mut block).unwrap();
            prop_assert_eq!(decoded(&block, bytes.len()), Some(bytes.clone()));
            for (at, value) in &damage {
                let at = at.index(block.len());
                block[at] = *value;
            }
            if let Some(cut) = cut {
                block.truncate(cut.index(block.len() + 1));
            }
            let length = other_length.unwrap_or(bytes.len());
            prop_assert_eq!(decoded(&block, length), referee(&block, length));
        }

        #[test]
        fn arbitrary_blocks_are_decoded_as_by_safe_code(block in prop::collection::vec(any::<u8>(), 0..200), length in 0..2000_usize) {
            prop_assert_eq!(decoded(&block, length), referee(&block, length));
        }
    }
}
