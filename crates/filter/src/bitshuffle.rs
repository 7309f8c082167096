//! The bitshuffle filter (number 32008): transposition of the bits of elements in blocks, with
//! optional compression by LZ4 or Zstandard.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------
//! 0, 1         | version of the filter
//! 2            | bytes of an element
//! 3            | elements per block, a multiple of 8; 0 or missing: 8 KiB per block, at least 128
//!              | elements
//! 4            | codec: 0 or missing: none, 2 LZ4, 3 Zstandard
//! 5            | level of Zstandard; used only by the encoder
//!
//! bytes of a chunk | meaning
//! -----------------+-------------------------------------------------------------------------
//! 8                | only with LZ4 or Zstandard: bytes of the decoded chunk, big-endian
//! 4                | only with LZ4 or Zstandard: bytes of a decoded block, big-endian
//! per block: 4     | only with LZ4 or Zstandard: bytes of the encoded block, big-endian
//! n                | the block
//! m                | the last elements (up to 7), not transposed
//! ```
//! The last block contains the remaining whole groups of 8 elements.

use hyperslab_exact::to_u64;

use crate::codec::blosc_codec::Codec as Compressor;
use crate::codec::length_u32;
use crate::codec::resize;
use crate::codec::{bit_planes, lz4, zstd};
use crate::filter::decode_and_copy;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

/// The bitshuffle filter, which transposes the bits of elements and may compress them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bitshuffle;

const ID: FilterId = FilterId::BITSHUFFLE;

/// The version of the bitshuffle filter, major and minor. The first two client data values store
/// it.
const VERSION: [u32; 2] = [0, 4];

/// The default size of a bitshuffle block in bytes.
const DEFAULT_BLOCK_BYTES: usize = 8 << 10;

/// The minimum number of elements in a bitshuffle block of default size.
const MIN_BLOCK_ELEMENTS: usize = 128;

const DEFAULT_LEVEL: u32 = 3;

/// The maximum ratio of decoded to encoded bytes of bitshuffle, for both LZ4 and Zstandard.
const MAX_EXPANSION_RATIO: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Codec {
    None,
    Lz4,
    Zstd { level: u32 },
}

/// The decoded client data of the bitshuffle filter. No size is 0.
#[derive(Debug, Clone, Copy)]
struct BitshuffleParameters {
    size: usize,
    /// Bytes of a block, a multiple of 8 elements.
    block: usize,
    codec: Codec,
}

impl BitshuffleParameters {
    fn parse(client_data: &[u32]) -> std::result::Result<Self, &'static str> {
        let value = |at: usize| client_data.get(at).copied().unwrap_or(0);
        let size = value(2) as usize;
        if size == 0 {
            return Err("the element size is missing or 0");
        }
        let elements = match value(3) as usize {
            0 => (DEFAULT_BLOCK_BYTES / size / bit_planes::GROUP_ELEMENTS * bit_planes::GROUP_ELEMENTS)
                .max(MIN_BLOCK_ELEMENTS),
            elements => elements,
        };
        let codec = match value(4) {
            0 => Codec::None,
            2 => Codec::Lz4,
            3 => Codec::Zstd { level: client_data.get(5).copied().unwrap_or(DEFAULT_LEVEL) },
            _ => return Err("the codec number in the client data is unknown"),
        };
        let block = elements.checked_mul(size).ok_or("the block size is too large")?;
        Self { size, block, codec }.checked()
    }

    fn checked(self) -> std::result::Result<Self, &'static str> {
        let group =
            self.size.checked_mul(bit_planes::GROUP_ELEMENTS).ok_or("the element size is too large")?;
        if self.block == 0 || !self.block.is_multiple_of(group) {
            return Err("the block size is not a multiple of eight elements");
        }
        Ok(self)
    }

    /// Splits the length of a bitshuffle chunk into two numbers of bytes: the bytes in blocks, and
    /// the bytes after the last block.
    fn split(self, length: usize) -> std::result::Result<(usize, usize), &'static str> {
        if !length.is_multiple_of(self.size) {
            return Err("the chunk length is not a multiple of the element size");
        }
        let rest = length / self.size % bit_planes::GROUP_ELEMENTS * self.size;
        Ok((length - rest, rest))
    }
}

impl Filter for Bitshuffle {
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
        let encoded = Encoded::parse(context, input)?;
        resize(self.id(), output, encoded.length)?;
        encoded.decode(output, workspace)?;
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let encoded = Encoded::parse(context, input)?;
        let Some(elements) = output.get_mut(..encoded.length) else {
            return decode_and_copy(self, context, input, output, workspace);
        };
        encoded.decode(elements, workspace)?;
        Ok(encoded.length)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(ID, reason);
        let parameters = BitshuffleParameters::parse(context.client_data).map_err(failed)?;
        let (whole, _) = parameters.split(input.len()).map_err(failed)?;
        let (blocks, tail) = input.split_at(whole);
        output.clear();
        if parameters.codec != Codec::None {
            let block = u32::try_from(parameters.block).map_err(|_| failed("the block size is too large"))?;
            output.extend_from_slice(&to_u64(input.len()).to_be_bytes());
            output.extend_from_slice(&block.to_be_bytes());
        }
        encode_blocks(parameters, blocks, output)?;
        output.extend_from_slice(tail);
        Ok(Produced::Output)
    }

    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize> {
        let parameters = BitshuffleParameters::parse(context.client_data).ok()?;
        (parameters.codec == Codec::None).then_some(input)
    }

    fn compresses(&self) -> bool {
        // Without a codec, the chunk keeps its size. The transposition never fails.
        true
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let data: Vec<u32> =
            VERSION.into_iter().chain([dataset.datatype.size]).chain(requested.iter().copied()).collect();
        match BitshuffleParameters::parse(&data).map_err(|reason| FilterError::refused(ID, reason))?.codec {
            Codec::Lz4 => Compressor::Lz4.check(ID)?,
            Codec::Zstd { .. } => Compressor::Zstd.check(ID)?,
            Codec::None => {}
        }
        Ok(data)
    }
}

/// An encoded chunk of the bitshuffle filter with its parsed header.
struct Encoded<'a> {
    parameters: BitshuffleParameters,
    /// Bytes of the decoded chunk.
    length: usize,
    /// Decoded bytes that lie in blocks.
    whole: usize,
    rest: &'a [u8],
}

/// Buffers and the Zstandard state that the bitshuffle filter reuses for all blocks and chunks.
#[derive(Default)]
struct BlockScratch {
    planes: Vec<u8>,
    spare: Vec<u8>,
    zstd: zstd::State,
}

impl<'a> Encoded<'a> {
    fn parse(context: &FilterContext<'_>, input: &'a [u8]) -> Result<Self> {
        let corrupt = |problem: &str| FilterError::corrupt(ID, problem);
        let mut parameters = BitshuffleParameters::parse(context.client_data).map_err(corrupt)?;
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        let (mut length, mut rest) = (input.len(), input);
        if parameters.codec != Codec::None {
            let head =
                rest.split_first_chunk().and_then(|(length, rest)| Some((length, rest.split_first_chunk()?)));
            let (stored, (block, after)) = head.ok_or_else(|| corrupt("the header is truncated"))?;
            length = usize::try_from(u64::from_be_bytes(*stored)).map_err(|_| limit.clone())?;
            // If the chunk fits into one block, the header may state any block size.
            parameters.block = u32::from_be_bytes(*block) as usize;
            parameters = parameters.checked().map_err(corrupt)?;
            rest = after;
            if length / MAX_EXPANSION_RATIO > rest.len() {
                return Err(corrupt("the decoded length is too large for the encoded bytes"));
            }
        }
        if length > context.max_output {
            return Err(limit);
        }
        let (whole, _) = parameters.split(length).map_err(corrupt)?;
        Ok(Self { parameters, length, whole, rest })
    }

    /// Decodes a bitshuffle chunk into `output`. The length of `output` is the length of the
    /// decoded chunk.
    fn decode(&self, output: &mut [u8], workspace: &mut Workspace) -> Result<()> {
        let mut scratch: Box<BlockScratch> = workspace.take();
        let (blocks, tail) = output.split_at_mut(self.whole);
        let rest = decode_blocks(self.parameters, self.rest, blocks, &mut scratch);
        workspace.keep(scratch);
        let last = rest?.get(..tail.len());
        tail.copy_from_slice(
            last.ok_or_else(|| FilterError::corrupt(ID, "the last elements are truncated"))?,
        );
        Ok(())
    }
}

/// Decodes all blocks of a bitshuffle chunk from `input` into `blocks`. Returns the input after the
/// blocks.
fn decode_blocks<'a>(
    parameters: BitshuffleParameters,
    input: &'a [u8],
    blocks: &mut [u8],
    scratch: &mut BlockScratch,
) -> Result<&'a [u8]> {
    let truncated = || FilterError::corrupt(ID, "a block is truncated");
    let BlockScratch { planes, spare, zstd: decoder } = scratch;
    let mut rest = input;
    for block in blocks.chunks_mut(parameters.block) {
        if parameters.codec == Codec::None {
            let (plain, after) = rest.split_at_checked(block.len()).ok_or_else(truncated)?;
            bit_planes::from_bit_planes(parameters.size, plain, block, spare);
            rest = after;
            continue;
        }
        let (size, after) = rest.split_first_chunk().ok_or_else(truncated)?;
        let size = u32::from_be_bytes(*size) as usize;
        let (encoded, after) = after.split_at_checked(size).ok_or_else(truncated)?;
        planes.resize(block.len(), 0);
        if parameters.codec == Codec::Lz4 {
            lz4::decode(ID, encoded, planes)?;
        } else {
            zstd::decode_exactly_with(ID, decoder, encoded, planes)?;
        }
        bit_planes::from_bit_planes(parameters.size, planes, block, spare);
        rest = after;
    }
    Ok(rest)
}

fn encode_blocks(parameters: BitshuffleParameters, blocks: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let (mut planes, mut spare, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks.chunks(parameters.block) {
        planes.resize(block.len(), 0);
        bit_planes::to_bit_planes(parameters.size, block, &mut planes, &mut spare);
        encoded.clear();
        match parameters.codec {
            Codec::None => {
                output.extend_from_slice(&planes);
                continue;
            }
            Codec::Lz4 => lz4::encode(ID, &planes, &mut encoded)?,
            Codec::Zstd { level } => zstd::encode(ID, level, &planes, &mut encoded)?,
        }
        output.extend_from_slice(&length_u32(ID, encoded.len())?.to_be_bytes());
        output.extend_from_slice(&encoded);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        for (size, elements) in [(1_u32, 0), (1, 70_001), (2, 17), (4, 8), (4, 9001), (13, 700), (5000, 20)] {
            let length = usize::try_from(size).unwrap() * elements;
            conformance::run_with(&Bitshuffle, &[0, 4, size], length);
            conformance::run_with(&Bitshuffle, &[0, 4, size, 16, 0], length);
        }
    }

    #[cfg(feature = "lz4")]
    #[test]
    fn keeps_the_contract_with_lz4() {
        for (size, elements) in [(1_u32, 0), (1, 7), (2, 17), (4, 8), (4, 9001), (13, 700)] {
            let length = usize::try_from(size).unwrap() * elements;
            conformance::run_with(&Bitshuffle, &[0, 4, size, 0, 2], length);
            conformance::run_with(&Bitshuffle, &[0, 4, size, 16, 2], length);
        }
    }

    #[cfg(any(feature = "zstd-rs", feature = "zstd"))]
    #[test]
    fn keeps_the_contract_with_zstd() {
        for (size, elements) in [(1_u32, 0), (1, 7), (2, 17), (4, 3001)] {
            let length = usize::try_from(size).unwrap() * elements;
            conformance::run_with(&Bitshuffle, &[0, 4, size, 0, 3], length);
        }
    }

    #[test]
    fn a_block_and_what_is_left() {
        let raw = [1, 0, 1, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 9, 8];
        let stored = conformance::encode(&Bitshuffle, &[0, 4, 1], &raw).unwrap();
        assert_eq!(stored, [0x55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9, 8]);
    }

    #[test]
    fn broken_parameters_are_found() {
        for client_data in [&[0, 4][..], &[0, 4, 0], &[0, 4, 1, 9], &[0, 4, 1, 8, 1], &[0, 4, 2, 8, 0]] {
            let error = conformance::decode(&Bitshuffle, client_data, &[1; 9], None, 100).unwrap_err();
            assert!(matches!(error, FilterError::Corrupt { .. }), "{client_data:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            size in 1..9_u32,
            codec in 0..4_u32,
        ) {
            let bytes = [&[0, 0, 0, 0, 0, 0, 0, 240, 0, 0, 0, 128, 0, 0, 0], &bytes[..]].concat();
            if let Ok(decoded) = conformance::decode(&Bitshuffle, &[0, 4, size, 8, codec], &bytes, None, 1000) {
                prop_assert!(decoded.len() <= 1000);
            }
        }
    }
}
