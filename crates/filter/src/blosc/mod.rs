//! The Blosc filter (number 32001): a Blosc 1 buffer, which consists of shuffled and encoded
//! blocks.
//!
//! ```text
//! client data  | meaning
//! -------------+--------------------------------------------------------------------------------
//! 0            | revision of the filter: 2
//! 1            | version of Blosc's format: 2
//! 2            | bytes of an element
//! 3            | bytes of a chunk
//! 4            | level, 0 (uncompressed) to 9
//! 5            | 0 no shuffle, 1 of bytes, 2 of bits
//! 6            | 0 BloscLZ, 1 LZ4, 2 LZ4HC, 3 Snappy, 4 zlib, 5 Zstandard
//! ```
//! The buffer repeats these values in its header. The decoder uses only the header.

mod buffer;

use crate::codec::blosc_codec::Codec;
use crate::filter::decode_and_copy;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

use buffer::{BlockScratch, BloscSettings, Buffer, Shuffle};

/// The Blosc filter, which compresses blocks with one of several codecs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blosc;

const ID: FilterId = FilterId::BLOSC;

const DEFAULT_LEVEL: u32 = 5;

/// The revision of the Blosc filter. The filter stores this number as client data value 0.
const FILTER_REVISION: u32 = 2;
/// The version of the Blosc format. The filter stores this number as client data value 1.
const FORMAT_VERSION: u32 = 2;

impl Filter for Blosc {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.decode_with(context, input, output, &mut Workspace::default())
    }

    fn decode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        let buffer = Buffer::parse(input, context.max_output)?;
        with_scratch(workspace, |scratch| buffer.decode(output, scratch))
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let buffer = Buffer::parse(input, context.max_output)?;
        let Some(output) = output.get_mut(..buffer.length) else {
            return decode_and_copy(self, context, input, output, workspace);
        };
        with_scratch(workspace, |scratch| buffer.decode_into(output, scratch))?;
        Ok(buffer.length)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let value = |at: usize, default: u32| context.client_data.get(at).copied().unwrap_or(default);
        let failed = |reason: &str| FilterError::failed(ID, reason);
        let shuffle = match value(5, 1) {
            0 => Shuffle::None,
            1 => Shuffle::Bytes,
            2 => Shuffle::Bits,
            _ => return Err(failed("the shuffle mode is unknown")),
        };
        let codec =
            Codec::of_compressor(value(6, 0)).ok_or_else(|| failed("the compressor number is unknown"))?;
        let level = value(4, DEFAULT_LEVEL);
        if level > 9 {
            return Err(failed("the compression level must be at most 9"));
        }
        // Blosc treats elements that are too large for its header as single bytes.
        let size = match u8::try_from(value(2, 1)) {
            Ok(size @ 1..) => size,
            Ok(0) | Err(_) => 1,
        };
        buffer::encode(BloscSettings { size, level, shuffle, codec }, input, output)?;
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let refused = |reason: &str| FilterError::refused(ID, reason);
        let value = |at: usize, default: u32| requested.get(at).copied().unwrap_or(default);
        if value(4, DEFAULT_LEVEL) > 9 {
            return Err(refused("the compression level must be at most 9"));
        }
        if value(5, 1) > 2 {
            return Err(refused("the shuffle mode is unknown"));
        }
        Codec::of_compressor(value(6, 0))
            .ok_or_else(|| refused("the compressor number is unknown"))?
            .check(ID)?;
        // Blosc treats elements that are too large for its header as single bytes.
        let size = dataset.item_size();
        let size = if size > u32::from(u8::MAX) { 1 } else { size };
        let head = [FILTER_REVISION, FORMAT_VERSION, size, dataset.chunk_bytes_for(ID)?];
        Ok(head.into_iter().chain(requested.iter().skip(head.len()).copied()).collect())
    }
}

/// Calls `decode` with the buffers for blocks in the filter workspace.
fn with_scratch<R>(
    workspace: &mut Workspace,
    decode: impl FnOnce(&mut BlockScratch) -> Result<R>,
) -> Result<R> {
    let mut scratch: Box<BlockScratch> = workspace.take();
    let decoded = decode(&mut scratch);
    if scratch.is_small() {
        workspace.keep(scratch);
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    fn keeps_the_contract(codec: u32) {
        for (size, level, shuffle) in
            [(4, 5, 1), (8, 9, 2), (3, 1, 1), (1, 5, 0), (1, 5, 2), (300, 5, 1), (4, 0, 1)]
        {
            for length in [0, 1, 17, 1000, 4099] {
                conformance::run_with(&Blosc, &[2, 2, size, 1000, level, shuffle, codec], length);
            }
        }
    }

    #[test]
    fn keeps_the_contract_with_blosclz() {
        keeps_the_contract(0);
        conformance::run_with(&Blosc, &[2, 2, 4, 0, 5, 1, 0], 300_003);
        conformance::run_with(&Blosc, &[], 70_001);
    }

    #[cfg(feature = "lz4")]
    #[test]
    fn keeps_the_contract_with_lz4() {
        keeps_the_contract(1);
    }

    #[cfg(feature = "snappy")]
    #[test]
    fn keeps_the_contract_with_snappy() {
        keeps_the_contract(3);
    }

    #[test]
    fn keeps_the_contract_with_zlib() {
        keeps_the_contract(4);
    }

    #[cfg(any(feature = "zstd-rs", feature = "zstd"))]
    #[test]
    fn keeps_the_contract_with_zstd() {
        keeps_the_contract(5);
    }

    #[test]
    fn what_cannot_be_encoded_is_said() {
        for client_data in [[2, 2, 4, 0, 10, 0, 0], [2, 2, 4, 0, 5, 3, 0], [2, 2, 4, 0, 5, 0, 6]] {
            let error = conformance::encode(&Blosc, &client_data, &[0; 100]).unwrap_err();
            assert!(matches!(error, FilterError::Failed { .. }));
        }
    }

    #[test]
    fn a_buffer_without_an_offset_for_each_block_is_corrupt() {
        // Ten blocks of 64 bytes of LZ4.
        let header = [&[2_u8, 1, 0x30, 1][..], &640_u32.to_le_bytes(), &64_u32.to_le_bytes(), &[0; 4]];
        let decode = |offsets: usize| {
            let buffer = [&header.concat()[..], &vec![0; 4 * offsets]].concat();
            conformance::decode(&Blosc, &[], &buffer, None, 1000).unwrap_err().to_string()
        };
        assert!(decode(9).contains("the block offsets are truncated"), "{}", decode(9));
        assert!(!decode(10).contains("the block offsets are truncated"), "{}", decode(10));
    }

    proptest! {
        #[test]
        fn damaged_buffers_do_not_panic(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..5),
            codec in prop_oneof![Just(0_u32), Just(4)],
        ) {
            let raw: Vec<u8> = (0..5000_u32).flat_map(|at| (at * at / 100).to_le_bytes()).collect();
            let mut stored = conformance::encode(&Blosc, &[2, 2, 4, 0, 5, 1, codec], &raw).unwrap();
            for (at, byte) in flips {
                *at.get_mut(&mut stored) = byte;
            }
            if let Ok(decoded) = conformance::decode(&Blosc, &[], &stored, None, 30_000) {
                prop_assert!(decoded.len() <= 30_000);
            }
        }
    }
}
