//! The szip filter (number 4): extended Rice coding (CCSDS 121.0-B), compatible with libaec and
//! szip.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------------
//! 0            | options: bit 2 entropy coding, bit 5 nearest neighbour, bit 4 high byte first,
//!              | bit 7 no header (always set); other bits do not affect the encoded bytes
//! 1            | samples of a block: even, at most 32
//! 2            | bits of a sample: 1 to 24, 32, 64
//! 3            | samples of a scan line: at most 4096
//!
//! bytes of a chunk | meaning
//! -----------------+-----------------------------------
//! 4                | bytes of the decoded chunk, little-endian
//! n                | coded scan lines, see `Coder`
//! ```
//! A sample has 1, 2 or 4 bytes. Samples of 32 and 64 bits are first transposed into byte planes,
//! which are coded as samples of 8 bits.

mod coder;
mod decode;
mod encode;
mod parameters;

use hyperslab_datatype::ByteOrder;

use crate::codec::resize;
use crate::facts::atom;
use crate::filter::decode_and_copy;
use crate::shuffle::{from_planes, to_planes};
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

use coder::Coder;
pub use parameters::{Element, SzipParameters};

/// The szip filter, which compresses samples of integers by extended Rice coding.
#[derive(Debug, Clone, Copy, Default)]
pub struct Szip;

impl Filter for Szip {
    fn id(&self) -> FilterId {
        FilterId::SZIP
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
        let (parameters, length, coded) = parse(context, input)?;
        resize(self.id(), output, length)?;
        decode(&parameters, coded, output, workspace)?;
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let (parameters, length, coded) = parse(context, input)?;
        let Some(samples) = output.get_mut(..length) else {
            return decode_and_copy(self, context, input, output, workspace);
        };
        decode(&parameters, coded, samples, workspace)?;
        Ok(length)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.encode_with(context, input, output, &mut Workspace::default())
    }

    fn encode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(self.id(), reason);
        let parameters = SzipParameters::parse(context.client_data).map_err(failed)?;
        let length = u32::try_from(input.len()).map_err(|_| failed("the chunk has more than 4 GiB"))?;
        if !input.len().is_multiple_of(parameters.sample_bytes() * parameters.planes()) {
            return Err(failed("the chunk length is not a multiple of the sample size"));
        }
        output.clear();
        output.extend_from_slice(&length.to_le_bytes());
        let mut scratch: Box<LineScratch> = workspace.take();
        let LineScratch { planes, line, differences } = &mut *scratch;
        let samples = if parameters.planes() > 1 {
            planes.resize(input.len(), 0);
            to_planes(parameters.planes(), input, planes);
            planes
        } else {
            input
        };
        Coder::new(&parameters).encode(samples, output, line, differences);
        workspace.keep(scratch);
        if output.len() == input.len() {
            // libhdf5 stores such a chunk unencoded. When libhdf5 replaces a chunk by one of the
            // same length, it keeps the filter mask. Therefore an encoded chunk must not have the
            // length of the unencoded chunk. Decoders stop before the additional byte.
            output.push(0);
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn check_dataset(&self, dataset: &DatasetFacts<'_>) -> Result<()> {
        let bits = u64::from(dataset.datatype.size) * 8;
        if bits > 32 && bits != 64 {
            return Err(FilterError::refused(
                self.id(),
                "the element size must be 8 bytes, or at most 4 bytes",
            ));
        }
        Ok(())
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let refused = |reason: &str| FilterError::refused(self.id(), reason);
        let [options, block, ..] = requested else {
            return Err(refused("the client data lack the coding method and the samples per block"));
        };
        let atom = atom(dataset.datatype).ok_or_else(|| refused("the elements are compounds"))?;
        let order = atom
            .order
            .ok_or_else(|| refused("the elements have no byte order, or the byte order of the VAX"))?;
        let element = Element {
            size: dataset.datatype.size,
            precision: atom.precision,
            offset: atom.offset,
            big_endian: order == ByteOrder::BigEndian,
        };
        let elements = dataset.elements().ok_or_else(|| refused("the chunk has too many elements"))?;
        let fastest = dataset.chunk.last().copied().unwrap_or(1);
        let data = parameters::client_data(*options, *block, element, fastest, elements);
        Ok(data.map_err(refused)?.to_vec())
    }
}

/// Buffers of samples that szip reuses from chunk to chunk.
#[derive(Debug, Default)]
struct LineScratch {
    planes: Vec<u8>,
    line: Vec<u32>,
    differences: Vec<u32>,
}

/// Parses the client data of the szip filter and the header of an szip chunk. Returns the
/// parameters, the decoded length of the chunk, and the coded samples.
fn parse<'a>(context: &FilterContext<'_>, input: &'a [u8]) -> Result<(SzipParameters, usize, &'a [u8])> {
    let corrupt = |problem: &str| FilterError::corrupt(FilterId::SZIP, problem);
    let parameters = SzipParameters::parse(context.client_data).map_err(corrupt)?;
    let (length, coded) =
        input.split_first_chunk().ok_or_else(|| corrupt("the decoded length is truncated"))?;
    let limit = FilterError::Limit { id: FilterId::SZIP, limit: context.max_output };
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| limit.clone())?;
    if length > context.max_output {
        return Err(limit);
    }
    if !length.is_multiple_of(parameters.sample_bytes() * parameters.planes()) {
        return Err(corrupt("the decoded length is not a multiple of the sample size"));
    }
    if length > Coder::new(&parameters).max_decoded_length(coded.len()) {
        return Err(corrupt("the decoded length is too large for the scan lines"));
    }
    Ok((parameters, length, coded))
}

/// Decodes an szip chunk into `output`. The length of `output` is the length of the decoded chunk.
fn decode(
    parameters: &SzipParameters,
    coded: &[u8],
    output: &mut [u8],
    workspace: &mut Workspace,
) -> Result<()> {
    let mut scratch: Box<LineScratch> = workspace.take();
    let LineScratch { planes, line, .. } = &mut *scratch;
    let coder = Coder::new(parameters);
    let decoded = if parameters.planes() > 1 {
        planes.resize(output.len(), 0);
        coder.decode(coded, planes, line).map(|()| from_planes(parameters.planes(), planes, output))
    } else {
        coder.decode(coded, output, line)
    };
    workspace.keep(scratch);
    decoded.map_err(|problem| FilterError::corrupt(FilterId::SZIP, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    const NEAREST: u32 = 32;
    const ENTROPY: u32 = 4;

    #[test]
    fn keeps_the_contract() {
        for (client_data, size) in [
            ([ENTROPY, 8, 8, 16], 1),
            ([NEAREST | 8, 8, 8, 1000], 1),
            ([NEAREST | 16, 16, 16, 100], 2),
            ([ENTROPY | 8, 32, 32, 4096], 4),
            ([NEAREST | 8, 10, 32, 77], 4),
            ([NEAREST | 16, 2, 64, 4], 8),
        ] {
            for samples in [0, 1, 2, 7, 8, 64, 500, 9000] {
                conformance::run_with(&Szip, &client_data, size * samples);
            }
        }
    }

    #[test]
    fn chunks_that_libhdf5_wrote() {
        // 0 to 39 as little-endian integers of 4 bytes, nearest neighbour, blocks of 8 samples,
        // lines of 40.
        let raw: Vec<u8> = (0..40_u32).flat_map(u32::to_le_bytes).collect();
        let stored = [
            0xa0, 0, 0, 0, 0x20, 0x09, 0x24, 0x92, 0x49, 0x24, 0x92, 0x49, 0x24, 0x92, 0x49, 0x24, 0x92,
            0x49, 0x24, 0x92, 0x49, 0x20, 0x00, 0x10, 0x00, 0x08, 0x00, 0x04,
        ];
        let client_data = [169, 8, 32, 40];
        assert_eq!(conformance::decode(&Szip, &client_data, &stored, None, 160).unwrap(), raw);
        // 0 to 39 as big-endian integers of 2 bytes, entropy coding.
        let raw: Vec<u8> = (0..40_u16).flat_map(u16::to_be_bytes).collect();
        let stored = [
            0x50, 0, 0, 0, 0x2d, 0x49, 0x11, 0x55, 0x45, 0x55, 0x50, 0x53, 0x97, 0x74, 0x24, 0x92, 0x49,
            0x05, 0x39, 0x77, 0x55, 0x55, 0x58, 0x9a, 0xbc, 0xde, 0xf5, 0x24, 0x92, 0x49, 0x01, 0x23, 0x45,
            0x67,
        ];
        assert_eq!(conformance::decode(&Szip, &[149, 8, 16, 40], &stored, None, 80).unwrap(), raw);
    }

    #[test]
    fn broken_parameters_are_found() {
        for client_data in [
            &[ENTROPY, 8, 8][..],
            &[0, 8, 8, 8],
            &[ENTROPY, 7, 8, 8],
            &[ENTROPY, 0, 8, 8],
            &[ENTROPY, 34, 8, 8],
            &[ENTROPY, 8, 0, 8],
            &[ENTROPY, 8, 25, 8],
            &[ENTROPY, 8, 8, 0],
            &[ENTROPY, 8, 8, 4097],
        ] {
            let error = conformance::decode(&Szip, client_data, &[0; 9], None, 100).unwrap_err();
            assert!(matches!(error, FilterError::Corrupt { .. }), "{client_data:?}");
        }
        let odd = conformance::decode(&Szip, &[ENTROPY, 8, 16, 8], &[3, 0, 0, 0, 9, 9], None, 100);
        assert!(matches!(odd, Err(FilterError::Corrupt { .. })));
    }

    proptest! {
        #[test]
        fn samples_come_back(
            samples in proptest::collection::vec(prop_oneof![4 => Just(5_u32), 2 => 0..9_u32, 1 => any::<u32>()], 0..900),
            bits in 1..25_u32,
            block in 1..17_u32,
            line in 1..300_u32,
            options in prop_oneof![Just(NEAREST), Just(ENTROPY), Just(NEAREST | 16)],
        ) {
            let size = match bits { 1..=8 => 1, 9..=16 => 2, _ => 4 };
            let mut raw = Vec::new();
            for sample in samples {
                let bytes = (sample & ((1 << bits) - 1)).to_be_bytes();
                let bytes = &bytes[4 - size..];
                if options & 16 != 0 { raw.extend(bytes) } else { raw.extend(bytes.iter().rev()) }
            }
            let client_data = [options, 2 * block, bits, line];
            let stored = conformance::encode(&Szip, &client_data, &raw).unwrap();
            let decoded = conformance::decode(&Szip, &client_data, &stored, None, raw.len()).unwrap();
            prop_assert_eq!(decoded, raw);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(
            bits in prop_oneof![1..25_u32, Just(32), Just(64)],
            block in 1..17_u32,
            line in 1..300_u32,
            options in prop_oneof![Just(NEAREST), Just(ENTROPY)],
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let bytes = [&[0, 1, 0, 0], &bytes[..]].concat();
            let client_data = [options, 2 * block, bits, line];
            if let Ok(decoded) = conformance::decode(&Szip, &client_data, &bytes, None, 1000) {
                prop_assert_eq!(decoded.len(), 256);
            }
        }
    }
}
