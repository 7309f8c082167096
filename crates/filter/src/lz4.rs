//! The LZ4 filter (number 32004): a sequence of LZ4 blocks.
//!
//! ```text
//! client data  | meaning
//! -------------+-----------------------------------------------
//! 0            | bytes of a block; 0 or missing: 1 GiB
//!
//! bytes of a chunk | meaning
//! -----------------+--------------------------------------------------------------------------
//! 8                | bytes of the decoded chunk, big-endian
//! 4                | bytes of a decoded block, big-endian; the last block may be shorter
//! per block: 4     | bytes of the encoded block, big-endian
//! n                | the block; stored uncompressed if encoded and decoded length are equal
//! ```

use hyperslab_exact::to_u64;

use crate::codec::length_u32;
use crate::codec::lz4;
use crate::codec::resize;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The LZ4 filter, which compresses chunks as LZ4 blocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lz4;

const DEFAULT_BLOCK_BYTES: u32 = 1 << 30;

/// The maximum size of an LZ4 block in bytes.
const MAX_BLOCK_BYTES: u32 = 0x7e00_0000;

/// The maximum ratio of decoded to encoded bytes of LZ4.
const MAX_EXPANSION_RATIO: usize = 255;

impl Filter for Lz4 {
    fn id(&self) -> FilterId {
        FilterId::LZ4
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let corrupt = |problem: &str| FilterError::corrupt(self.id(), problem);
        let (length, rest) =
            input.split_first_chunk().ok_or_else(|| corrupt("the decoded length is truncated"))?;
        let (block, mut rest) =
            rest.split_first_chunk().ok_or_else(|| corrupt("the block size is truncated"))?;
        let limit = FilterError::Limit { id: self.id(), limit: context.max_output };
        let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| limit.clone())?;
        if length > context.max_output {
            return Err(limit);
        }
        let block = u32::from_be_bytes(*block) as usize;
        if length > 0 && (block == 0 || length / MAX_EXPANSION_RATIO > rest.len()) {
            return Err(corrupt("the decoded length or the block size in the header is invalid"));
        }
        output.clear();
        resize(self.id(), output, length)?;
        for block in output.chunks_mut(block.max(1)) {
            let (size, after) = rest.split_first_chunk().ok_or_else(|| corrupt("a block is truncated"))?;
            let size = u32::from_be_bytes(*size) as usize;
            let (encoded, after) =
                after.split_at_checked(size).ok_or_else(|| corrupt("a block is truncated"))?;
            if size == block.len() {
                block.copy_from_slice(encoded);
            } else {
                lz4::decode(self.id(), encoded, block)?;
            }
            rest = after;
        }
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let requested =
            context.client_data.first().copied().filter(|block| *block > 0).unwrap_or(DEFAULT_BLOCK_BYTES);
        // A chunk that is longer than a block is split. No block is longer than the chunk.
        let block = u32::try_from(input.len()).map_or(requested, |length| requested.min(length)).max(1);
        output.clear();
        output.extend_from_slice(&to_u64(input.len()).to_be_bytes());
        output.extend_from_slice(&block.to_be_bytes());
        let mut encoded = Vec::new();
        for block in input.chunks(block as usize) {
            encoded.clear();
            lz4::encode(self.id(), block, &mut encoded)?;
            let block = if encoded.len() < block.len() { &encoded } else { block };
            output.extend_from_slice(&length_u32(self.id(), block.len())?.to_be_bytes());
            output.extend_from_slice(block);
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, requested: &[u32], _dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        match requested {
            [block, ..] if *block > MAX_BLOCK_BYTES => Err(FilterError::refused(
                self.id(),
                format!("the block size exceeds {MAX_BLOCK_BYTES} bytes"),
            )),
            _ => Ok(requested.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        for client_data in [&[][..], &[0], &[1000], &[7]] {
            conformance::run(&Lz4, client_data);
        }
    }

    #[test]
    fn blocks_may_be_as_they_were() {
        let bytes = [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 2, 4, 5];
        assert_eq!(conformance::decode(&Lz4, &[], &bytes, None, 5).unwrap(), [1, 2, 3, 4, 5]);
        for end in 0..bytes.len() {
            let error = conformance::decode(&Lz4, &[], &bytes[..end], None, 5).unwrap_err();
            assert!(matches!(error, FilterError::Corrupt { .. }));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let bytes = [&[0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 128, 0, 0, 0], &bytes[..]].concat();
            if let Ok(decoded) = conformance::decode(&Lz4, &[], &bytes, None, 1000) {
                prop_assert_eq!(decoded.len(), 200);
            }
        }
    }
}
