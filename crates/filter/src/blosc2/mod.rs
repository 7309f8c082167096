//! The Blosc2 filter (number 32026): a contiguous frame of Blosc 2 with one chunk, with or without
//! dimensions.
//!
//! ```text
//! client data  | meaning
//! -------------+--------------------------------------------------------------------------------
//! 0            | revision of the filter: 1
//! 1            | bytes of a block; 0: chosen by the encoder
//! 2            | bytes of an element
//! 3            | bytes of a chunk
//! 4            | level, 0 (uncompressed) to 9
//! 5            | transform: 0 none, 1 shuffle of bytes, 2 shuffle of bits, 3 difference from the
//!              | first block
//! 6            | 0 BloscLZ, 1 LZ4, 2 LZ4HC, 4 zlib, 5 Zstandard
//! 7            | number of dimensions of a chunk, 2 to 8; missing, like the following values, for
//!              | other numbers
//! 8…           | elements in each dimension
//! ```
//! The frame repeats these values in its header. The decoder uses only the header.

mod array;
mod chunk;
mod chunk_encode;
mod decode;
mod frame;
mod transform;

use crate::codec::blosc_codec::Codec;
use crate::codec::length_u32;
use crate::codec::resize;
use crate::filter::decode_and_copy;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

use array::Array;
use chunk_encode::Blosc2Settings;
use decode::DecodableFrame;
use transform::Transform;

/// The Blosc2 filter, which compresses chunks as Blosc2 frames.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blosc2;

const ID: FilterId = FilterId::BLOSC2;

const DEFAULT_LEVEL: u32 = 5;

/// The revision of the Blosc2 filter. The filter stores this number as client data value 0.
const FILTER_REVISION: u32 = 1;

/// The highest compression level of Blosc2. Blosc 2 does not support higher levels of Zstandard and
/// zlib.
const MAX_LEVEL: u32 = 9;

/// The index of one client data value of the Blosc2 filter: the number of dimensions.
const DIMENSIONS_INDEX: usize = 7;

fn corrupt(problem: &str) -> FilterError {
    FilterError::corrupt(ID, problem)
}

fn unsupported(subject: &str) -> FilterError {
    FilterError::Unsupported { id: ID, subject: subject.to_owned() }
}

fn failed(reason: &str) -> FilterError {
    FilterError::failed(ID, reason)
}

impl Filter for Blosc2 {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let frame = DecodableFrame::parse(input, context.max_output)?;
        // The decoder overwrites all bytes.
        resize(ID, output, frame.length)?;
        frame.decode_into(output)?;
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let frame = DecodableFrame::parse(input, context.max_output)?;
        let Some(output) = output.get_mut(..frame.length) else {
            return decode_and_copy(self, context, input, output, workspace);
        };
        frame.decode_into(output)?;
        Ok(frame.length)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let value = |at: usize, default: u32| context.client_data.get(at).copied().unwrap_or(default);
        let transform = match value(5, 1) {
            0 => Transform::Nothing,
            1 => Transform::Shuffle,
            2 => Transform::Bitshuffle,
            3 => Transform::Delta,
            _ => return Err(failed("the transform number is unknown")),
        };
        let codec = Codec::of_compressor(value(6, 0)).filter(|codec| *codec != Codec::Snappy);
        let codec = codec.ok_or_else(|| failed("the compressor number is unknown"))?;
        let level = value(4, DEFAULT_LEVEL);
        if level > MAX_LEVEL {
            return Err(failed("the compression level must be at most 9"));
        }
        let size = number(value(2, 1)).max(1);
        let requested = Some(number(value(1, 0))).filter(|block| *block > 0).unwrap_or_else(|| codec.block());
        let dimensions = number(value(DIMENSIONS_INDEX, 0));
        let sizes = context.client_data.iter().skip(DIMENSIONS_INDEX + 1).take(dimensions);
        let shape: Vec<usize> = sizes.map(|size| number(*size)).collect();
        if shape.len() != dimensions {
            return Err(failed("the client data have fewer chunk sizes than dimensions"));
        }
        let array = Array::for_chunks(&shape, size, requested)
            .filter(|array| array.length(size) == Some(input.len()));
        let block = match &array {
            Some(array) => array.block_length(size),
            None => requested.min(input.len()) / size * size,
        };
        let block = if block == 0 { input.len() } else { block };
        let settings = Blosc2Settings { codec, level, transform, size, block };
        let blocks = array.as_ref().map(|array| array.gather(size, input));
        let input = blocks.as_deref().unwrap_or(input);
        let chunk = chunk_encode::encode(settings, input)?;
        frame::encode(&settings, array.as_ref(), input.len(), &chunk, output)?;
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
        if value(4, DEFAULT_LEVEL) > MAX_LEVEL {
            return Err(refused("the compression level must be at most 9"));
        }
        if value(5, 1) > 3 {
            return Err(refused("the transform is unknown or lossy"));
        }
        let codec = Codec::of_compressor(value(6, 0)).filter(|codec| *codec != Codec::Snappy);
        codec.ok_or_else(|| refused("the compressor number is unknown"))?.check(ID)?;
        let mut data = vec![FILTER_REVISION, value(1, 0), dataset.item_size(), dataset.chunk_bytes_for(ID)?];
        data.extend(requested.iter().skip(data.len()).take(DIMENSIONS_INDEX - data.len()));
        if dataset.chunk.len() > 1 {
            let defaults = [DEFAULT_LEVEL, 1, 0];
            data.extend(defaults.iter().skip(data.len() - (DIMENSIONS_INDEX - defaults.len())));
            data.push(length_u32(ID, dataset.chunk.len())?);
            for size in dataset.chunk {
                data.push(u32::try_from(*size).map_err(|_| refused("the chunk has 2^32 elements or more"))?);
            }
        }
        Ok(data)
    }
}

fn number(value: u32) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    /// Checks the filter contract with chunks without dimensions and with arrays of `rows` rows.
    fn keeps_the_contract(codec: u32) {
        for (size, level, transform) in [
            (4, 5, 1),
            (8, 9, 2),
            (3, 1, 1),
            (1, 5, 0),
            (1, 5, 2),
            (300, 5, 1),
            (4, 0, 1),
            (4, 5, 3),
            (5, 5, 3),
        ] {
            for length in [0, 1, 17, 1000, 4099] {
                conformance::run_with(&Blosc2, &[1, 0, size, 1000, level, transform, codec], length);
            }
            for (block, rows, columns) in [(0, 9, 1), (7, 3, 5), (600, 20, 13)] {
                let client_data = [1, block, size, 1000, level, transform, codec, 2, rows, columns];
                conformance::run_with(&Blosc2, &client_data, number(size * rows * columns));
            }
        }
    }

    #[test]
    fn keeps_the_contract_with_blosclz() {
        keeps_the_contract(0);
        conformance::run_with(&Blosc2, &[1, 0, 4, 0, 5, 1, 0], 300_003);
        conformance::run_with(&Blosc2, &[1, 512, 4, 0, 5, 3, 0, 3, 10, 50, 30], 60_000);
        conformance::run_with(&Blosc2, &[], 70_001);
    }

    #[cfg(feature = "lz4")]
    #[test]
    fn keeps_the_contract_with_lz4() {
        keeps_the_contract(1);
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
        for client_data in [[1, 0, 4, 0, 10, 0, 0], [1, 0, 4, 0, 5, 4, 0], [1, 0, 4, 0, 5, 0, 3]] {
            let error = conformance::encode(&Blosc2, &client_data, &[0; 100]).unwrap_err();
            assert!(matches!(error, FilterError::Failed { .. }));
        }
    }

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    /// A frame with 6 rows of 4-byte integers from 0 to 59.
    const ROWS: &str = concat!(
        "9ea862326672616d6500d2000000a5cf0000000000000160a412005003d300000000000000f0d30000000000000070d200000004",
        "d2000000f0d2000000f0d10000d10001c2d8060000000000010000000000000000000093cd0011de0001a462326e64d20000006b",
        "dc0001c60000003597000292d30000000000000006d3000000000000000a92d200000006d20000000a92d200000006d20000000a",
        "00db000000037c563405010504f0000000f00000007000000000000000000100000000000000000000240000003c000000000102",
        "030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233343536",
        "3738393a3b0000000000000000000000000501070808000000080000002800000000000000000100000000000000000000000000",
        "0000000000940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000",
    );

    /// A frame with 600 4-byte zeros, as a chunk without stored bytes.
    const ZEROS: &str = concat!(
        "9ea862326672616d6500d200000061cf00000000000000aca412003503d30000000000000960d30000000000000000d200000004",
        "d200000960d200000960d10000d10001c2d8060000000000020500000000000000000093cd0007de0000dc000005010708080000",
        "000800000028000000000000000001000000000000000000000000000000000081940193cd0006de0000dc0000ce00000023d800",
        "00000000000000000000000000000000",
    );

    #[test]
    fn frames_that_the_plug_in_wrote() {
        let rows: Vec<u8> = (0..60_u32).flat_map(u32::to_le_bytes).collect();
        let frame = unhex(ROWS);
        assert_eq!(conformance::decode(&Blosc2, &[], &frame, None, 240).unwrap(), rows);
        // Bytes after the frame are allowed.
        let longer = [&frame[..], &[1, 2, 3, 4]].concat();
        assert_eq!(conformance::decode(&Blosc2, &[], &longer, None, 240).unwrap(), rows);
        let zeros = conformance::decode(&Blosc2, &[], &unhex(ZEROS), None, 2400).unwrap();
        assert_eq!(zeros, [0; 2400]);
    }

    /// Returns a frame with one encoded chunk and elements of `size` bytes.
    fn frame(size: usize, length: usize, chunk: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        let settings = Blosc2Settings {
            codec: Codec::BloscLz,
            level: 5,
            transform: Transform::Nothing,
            size,
            block: length,
        };
        frame::encode(&settings, None, length, chunk, &mut frame).unwrap();
        frame
    }

    /// Returns a chunk with a long header that ends with the given bytes, and the blocks after the
    /// header.
    fn chunk(
        flags: u8,
        numbers: [u8; 3],
        filters: [u8; 6],
        metas: [u8; 6],
        last: u8,
        rest: &[u8],
    ) -> Vec<u8> {
        let [size, length, block] = numbers;
        let whole = (32 + rest.len()).to_le_bytes()[0];
        let mut chunk = vec![5, 1, flags, size, length, 0, 0, 0, block, 0, 0, 0, whole, 0, 0, 0];
        chunk.extend(filters);
        chunk.extend([0, 0]);
        chunk.extend(metas);
        chunk.extend([0, last]);
        chunk.extend(rest);
        chunk
    }

    #[test]
    fn chunks_of_one_value() {
        let decode = |size: u8, last: u8, rest: &[u8]| {
            let chunk = chunk(7, [size, 16, 16], [0; 6], [0; 6], last, rest);
            conformance::decode(&Blosc2, &[], &frame(number(size.into()), 16, &chunk), None, 16)
        };
        assert_eq!(decode(4, 1 << 4, &[]).unwrap(), [0; 16]);
        assert_eq!(decode(8, 2 << 4, &[]).unwrap(), [f64::NAN.to_le_bytes(); 2].concat());
        assert_eq!(decode(2, 3 << 4, &[7, 9]).unwrap(), [[7, 9]; 8].concat());
        assert_eq!(decode(4, 4 << 4, &[]).unwrap(), [0; 16]);
        for (size, last, rest) in
            [(2, 2 << 4, &[][..]), (2, 3 << 4, &[7]), (3, 3 << 4, &[7, 8, 9]), (4, 5 << 4, &[])]
        {
            assert!(matches!(decode(size, last, rest), Err(FilterError::Corrupt { .. })));
        }
        for last in [1, 8, 0x80] {
            assert!(matches!(decode(4, last, &[]), Err(FilterError::Unsupported { .. })));
        }
    }

    #[test]
    fn transforms_are_undone_last_to_first() {
        let decode = |filters, metas, data: [u8; 8]| {
            // One block with one uncompressed stream of 8 bytes and elements of 2 bytes.
            let rest = [&[36, 0, 0, 0, 8, 0, 0, 0][..], &data].concat();
            let chunk = chunk(0x15, [2, 8, 8], filters, metas, 0, &rest);
            conformance::decode(&Blosc2, &[], &frame(2, 8, &chunk), None, 8)
        };
        let none = [0; 6];
        assert_eq!(
            decode([0, 4, 36, 0, 0, 1], none, [1, 2, 3, 4, 5, 6, 7, 8]).unwrap(),
            [1, 5, 2, 6, 3, 7, 4, 8]
        );
        // Byte deltas in two rows (one for each byte of an element), or in one row.
        assert_eq!(
            decode([0, 0, 0, 0, 1, 35], none, [1, 1, 1, 1, 9, 255, 0, 1]).unwrap(),
            [1, 9, 2, 8, 3, 8, 4, 9]
        );
        assert_eq!(
            decode([0, 0, 0, 0, 0, 35], [0, 0, 0, 0, 0, 1], [1; 8]).unwrap(),
            [1, 2, 3, 4, 5, 6, 7, 8]
        );
        // Delta of shuffled elements.
        assert_eq!(
            decode([3, 0, 0, 0, 0, 1], none, [1, 1, 1, 1, 9, 0, 0, 9]).unwrap(),
            [1, 9, 0, 9, 1, 9, 0, 0]
        );
        assert!(matches!(decode([1, 0, 0, 0, 0, 3], none, [0; 8]), Err(FilterError::Unsupported { .. })));
        assert!(matches!(decode([0, 0, 0, 0, 0, 34], none, [0; 8]), Err(FilterError::Unsupported { .. })));
    }

    #[test]
    fn blocks_larger_than_their_array_are_refused() {
        let shape = |block: u8| {
            let mut frame = unhex(ROWS);
            // The lowest byte of the number of rows of a block.
            frame[0x96] = block;
            conformance::decode(&Blosc2, &[], &frame, None, 240)
        };
        assert!(shape(6).is_ok());
        assert!(matches!(shape(0xff), Err(FilterError::Corrupt { .. })));
    }

    fn dimensions() -> impl Strategy<Value = Vec<u32>> {
        proptest::collection::vec(1..12_u32, 0..5)
    }

    proptest! {
        #[test]
        fn bytes_come_back(
            shape in dimensions(),
            size in 1..10_u32,
            block in 0..300_u32,
            transform in 0..4_u32,
            codec in prop_oneof![Just(0_u32), Just(4)],
            step in 1..50_u32,
        ) {
            let mut client_data = vec![1, block, size, 0, 5, transform, codec];
            if shape.len() > 1 {
                client_data.push(u32::try_from(shape.len()).unwrap());
                client_data.extend(&shape);
            }
            let length = shape.iter().product::<u32>() * size;
            let raw: Vec<u8> = (0..length).map(|at| (at.wrapping_mul(at) / step).to_le_bytes()[0]).collect();
            let stored = conformance::encode(&Blosc2, &client_data, &raw).unwrap();
            let decoded = conformance::decode(&Blosc2, &client_data, &stored, None, raw.len()).unwrap();
            prop_assert_eq!(decoded, raw);
        }

        #[test]
        fn damaged_frames_do_not_panic(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..5),
            shape in dimensions(),
            codec in prop_oneof![Just(0_u32), Just(4)],
        ) {
            let mut client_data = vec![1, 100, 4, 0, 5, 1, codec];
            if shape.len() > 1 {
                client_data.push(u32::try_from(shape.len()).unwrap());
                client_data.extend(&shape);
            }
            let raw: Vec<u8> = (0..shape.iter().product()).flat_map(|at: u32| (at * at / 100).to_le_bytes()).collect();
            let mut stored = conformance::encode(&Blosc2, &client_data, &raw).unwrap();
            for (at, byte) in flips {
                *at.get_mut(&mut stored) = byte;
            }
            if let Ok(decoded) = conformance::decode(&Blosc2, &[], &stored, None, 100_000) {
                prop_assert!(decoded.len() <= 100_000);
            }
        }
    }
}
