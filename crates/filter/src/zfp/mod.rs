//! The zfp filter (number 32013), compatible with H5Z-ZFP: blocks of 4 values in each dimension,
//! transformed and coded bit plane by bit plane (Lindstrom 2014).
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------------
//! 0            | bits 0 to 11: version of the filter, 12 to 15: version of the codec (from filter
//!              | version 0x110 on), 16 to 31: version of the library
//! 1…           | a zfp header in 32-bit words, the lowest bits first: see `ZfpParameters`
//!
//! bytes of a chunk | meaning
//! -----------------+------------------------------------------------------------------------------
//! n                | the blocks, the lowest bits of a byte first; without the header
//! ```
//! If the words of the header are byte-swapped, a big-endian machine wrote the file, and the values
//! of a chunk are decoded as big-endian. The codec itself is the crate `zfp_rs`.

mod parameters;

use hyperslab_datatype::{ByteOrder, DatatypeClass};
use zfp_rs::{
    ZfpBitStream, ZfpBitStreamRef, ZfpCompressionError, ZfpDecompressionError, ZfpField, ZfpFieldMut,
    ZfpScalar, ZfpScalarType,
};

use crate::codec::resize;
use crate::facts::atom;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result};

use parameters::Header;
pub use parameters::{Mode, ZfpNumber, ZfpParameters};

/// The zfp filter, which compresses arrays of numbers in small blocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Zfp;

const ID: FilterId = FilterId::ZFP;

/// Returns true if zfp must swap the bytes of the dataset's elements. The zfp codec needs
/// little-endian numbers.
fn is_swapped(dataset: &DatasetFacts<'_>) -> bool {
    atom(dataset.datatype).and_then(|atom| atom.order) != Some(ByteOrder::LittleEndian)
}

impl Filter for Zfp {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let header = Header::parse(context.client_data)?;
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        let length = header.chunk_length().filter(|length| *length <= context.max_output).ok_or(limit)?;
        // Each block takes at least one bit.
        if header.blocks() / 8 > input.len() {
            return Err(truncated());
        }
        output.clear();
        resize(ID, output, length)?;
        let words = words(input);
        match header.metadata.scalar_type {
            ZfpScalarType::I32 => decode::<i32, 4>(&header, &words, output),
            ZfpScalarType::I64 => decode::<i64, 8>(&header, &words, output),
            ZfpScalarType::F32 => decode::<f32, 4>(&header, &words, output),
            ZfpScalarType::F64 => decode::<f64, 8>(&header, &words, output),
        }?;
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let header =
            Header::parse(context.client_data).map_err(|error| FilterError::failed(ID, error.to_string()))?;
        if header.chunk_length() != Some(input.len()) {
            return Err(FilterError::failed(ID, "the chunk length differs from the client data"));
        }
        let stream = match header.metadata.scalar_type {
            ZfpScalarType::I32 => encode::<i32, 4>(&header, input),
            ZfpScalarType::I64 => encode::<i64, 8>(&header, input),
            ZfpScalarType::F32 => encode::<f32, 4>(&header, input),
            ZfpScalarType::F64 => encode::<f64, 8>(&header, input),
        };
        let stream = stream.map_err(|reason| FilterError::failed(ID, reason))?;
        output.clear();
        output.extend(stream.as_words().iter().flat_map(|word| word.to_le_bytes()));
        if let Some(length) = header.encoded_length() {
            output.truncate(length);
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        Header::parse(context.client_data).ok()?.encoded_length()
    }

    fn compresses(&self) -> bool {
        true
    }

    fn check_dataset(&self, dataset: &DatasetFacts<'_>) -> Result<()> {
        let refused = |reason: &str| Err(FilterError::refused(ID, reason));
        if !dataset.datatype.is_number() {
            return refused("the elements are neither integers nor floating-point numbers");
        }
        if !parameters::has_dimensions(dataset.chunk) {
            return refused("the chunk does not have one to four dimensions of more than one element");
        }
        if is_swapped(dataset) {
            return refused("the elements are not little-endian");
        }
        Ok(())
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let refused = |reason: &str| FilterError::refused(ID, reason);
        // The plug-in leaves the client data of such datasets unchanged, and their chunks are
        // stored without the filter.
        if !dataset.datatype.is_number() {
            return Ok(requested.to_vec());
        }
        let is_float = matches!(dataset.datatype.class, DatatypeClass::FloatingPoint(_));
        let number = match (is_float, dataset.datatype.size) {
            (false, 4) => ZfpNumber::I32,
            (false, 8) => ZfpNumber::I64,
            (true, 4) => ZfpNumber::F32,
            (true, 8) => ZfpNumber::F64,
            _ => return Err(refused("the element size is neither 4 nor 8 bytes")),
        };
        if !parameters::has_dimensions(dataset.chunk) {
            return Ok(requested.to_vec());
        }
        let mode = Mode::from_request(requested).map_err(refused)?;
        if is_swapped(dataset) && mode != Mode::Reversible {
            return Err(refused(
                "the elements are not little-endian, which only the reversible mode supports",
            ));
        }
        Ok(ZfpParameters::for_chunks(number, dataset.chunk, mode).map_err(refused)?.client_data())
    }
}

fn truncated() -> FilterError {
    FilterError::corrupt(ID, "the blocks are truncated")
}

/// Converts bytes to the 64-bit words of a zfp stream. The last word is padded with zeros.
fn words(bytes: &[u8]) -> Vec<u64> {
    let (whole, rest) = bytes.as_chunks::<8>();
    let mut words = Vec::with_capacity(whole.len() + 1);
    words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        words.push(u64::from_le_bytes(last));
    }
    words
}

/// A numeric type of `N` bytes that zfp encodes.
trait Value<const N: usize>: ZfpScalar {
    fn from_little_endian(bytes: [u8; N]) -> Self;
    fn to_little_endian(self) -> [u8; N];
}

macro_rules! values {
    ($($value:ty: $size:literal),*) => {$(
        impl Value<$size> for $value {
            fn from_little_endian(bytes: [u8; $size]) -> Self {
                Self::from_le_bytes(bytes)
            }

            fn to_little_endian(self) -> [u8; $size] {
                self.to_le_bytes()
            }
        }
    )*};
}

values!(i32: 4, i64: 8, f32: 4, f64: 8);

/// Decodes a zfp chunk into `output`. The length of `output` is the length of the decoded chunk.
fn decode<T: Value<N>, const N: usize>(header: &Header, words: &[u64], output: &mut [u8]) -> Result<()> {
    let mut values = vec![T::default(); output.len() / N];
    let mut field = ZfpFieldMut::new(&mut values, header.metadata.dims)
        .map_err(|error| FilterError::corrupt(ID, error.to_string()))?;
    let decoded = ZfpBitStreamRef::from_words(words).decompress(&header.config, &mut field);
    decoded.map_err(|error| match error {
        ZfpDecompressionError::Truncated { .. } => truncated(),
        error => FilterError::corrupt(ID, error.to_string()),
    })?;
    for (to, value) in output.as_chunks_mut().0.iter_mut().zip(values) {
        *to = value.to_little_endian();
        if header.is_swapped {
            to.reverse();
        }
    }
    Ok(())
}

fn encode<T: Value<N>, const N: usize>(header: &Header, input: &[u8]) -> Result<ZfpBitStream, String> {
    let value = |bytes: &[u8; N]| {
        let mut bytes = *bytes;
        if header.is_swapped {
            bytes.reverse();
        }
        T::from_little_endian(bytes)
    };
    let values: Vec<T> = input.as_chunks().0.iter().map(value).collect();
    let field = ZfpField::new(&values, header.metadata.dims).map_err(|error| error.to_string())?;
    let maximum = header.config.maximum_size(T::SCALAR_TYPE, header.metadata.dims);
    let maximum = maximum.ok_or("the chunk is too large for zfp")?;
    let mut stream = ZfpBitStream::new(maximum).map_err(|error| error.to_string())?;
    stream.compress(&header.config, &field).map_err(|error: ZfpCompressionError| error.to_string())?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    fn client_data(number: ZfpNumber, chunk: &[u64], mode: Mode) -> Vec<u32> {
        ZfpParameters::for_chunks(number, chunk, mode).unwrap().client_data()
    }

    #[test]
    fn keeps_the_contract() {
        for chunk in [&[2][..], &[4], &[5, 3], &[1, 64, 1], &[7, 9, 2], &[3, 4, 5, 6], &[21, 1000]] {
            let count: u64 = chunk.iter().product();
            for (number, size) in
                [(ZfpNumber::I32, 4), (ZfpNumber::I64, 8), (ZfpNumber::F32, 4), (ZfpNumber::F64, 8)]
            {
                let client_data = client_data(number, chunk, Mode::Reversible);
                conformance::run_with(&Zfp, &client_data, usize::try_from(count * size).unwrap());
            }
        }
    }

    #[test]
    fn chunks_that_libzfp_wrote() {
        // The squares of 0 to 19 minus 50, as 4 rows of `f64`, with 5 bits each.
        let raw: Vec<u8> = (0..20).flat_map(|at| f64::from(at * at - 50).to_le_bytes()).collect();
        let client_data = [0x1010_5111, 0x0570_667a, 0x3000_0047, 0x04f0_0000];
        let stored = [17, 72, 170, 36, 146, 128, 101, 112, 196, 2, 17, 72, 42, 36, 82, 1, 68, 40, 148, 2];
        assert_eq!(conformance::encode(&Zfp, &client_data, &raw).unwrap(), stored);
        assert_eq!(conformance::decode(&Zfp, &client_data, &stored, None, 160).unwrap(), raw);
    }

    #[test]
    fn swapped_client_data_mean_swapped_values() {
        let data = client_data(ZfpNumber::F64, &[5, 6], Mode::Accuracy(0.01));
        let swapped: Vec<u32> = data
            .iter()
            .enumerate()
            .map(|(at, word)| if at == 0 { *word } else { word.swap_bytes() })
            .collect();
        let raw: Vec<u8> = (0..30).flat_map(|at| (f64::from(at) / 7.0).to_le_bytes()).collect();
        let swapped_raw: Vec<u8> =
            raw.as_chunks::<8>().0.iter().flat_map(|bytes| bytes.iter().rev().copied()).collect();
        let stored = conformance::encode(&Zfp, &data, &raw).unwrap();
        assert_eq!(conformance::encode(&Zfp, &swapped, &swapped_raw).unwrap(), stored);
        let little = conformance::decode(&Zfp, &data, &stored, None, 240).unwrap();
        let big = conformance::decode(&Zfp, &swapped, &stored, None, 240).unwrap();
        for (little, big) in little.as_chunks().0.iter().zip(big.as_chunks().0) {
            assert_eq!(f64::from_le_bytes(*little).to_bits(), f64::from_be_bytes(*big).to_bits());
        }
    }

    #[test]
    fn errors_stay_below_the_accuracy() {
        let raw: Vec<u8> = (0..900).flat_map(|at| (f64::from(at) / 9.0).sin().to_le_bytes()).collect();
        let mut last = usize::MAX;
        for tolerance in [1e-9, 1e-5, 1e-1] {
            let data = client_data(ZfpNumber::F64, &[30, 30], Mode::Accuracy(tolerance));
            let stored = conformance::encode(&Zfp, &data, &raw).unwrap();
            let decoded = conformance::decode(&Zfp, &data, &stored, None, 7200).unwrap();
            let values = |bytes: &[u8]| -> Vec<f64> {
                bytes.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect()
            };
            let errors = values(&raw).into_iter().zip(values(&decoded)).map(|(a, b)| (a - b).abs());
            assert!(errors.fold(0.0, f64::max) <= tolerance);
            assert!(stored.len() < last);
            last = stored.len();
        }
    }

    #[test]
    fn what_cannot_be_decoded_is_said() {
        let data = client_data(ZfpNumber::I32, &[16], Mode::Rate(16.0));
        let stored = conformance::encode(&Zfp, &data, &[7; 64]).unwrap();
        assert_eq!(stored.len(), 32);
        let cut = conformance::decode(&Zfp, &data, &stored[..24], None, 64).unwrap_err();
        assert_eq!(cut, truncated());
        let with = |at: usize, word: u32| {
            let mut data = data.clone();
            data[at] = word;
            conformance::decode(&Zfp, &data, &stored, None, 64)
        };
        // A later codec, according to the versions or to the header.
        for error in [with(0, 0x1000_7110), with(0, 0x0060_0090), with(1, 0x0670_667a), with(1, 0x0470_667a)]
        {
            assert!(matches!(error, Err(FilterError::Unsupported { .. })), "{error:?}");
        }
        for versions in [0x0235_0030, 0x0040_0030, 0x0050_0020, 0x0520_0090, 0x1000_0100, 0x0500_5110] {
            assert!(with(0, versions).is_ok(), "{versions:x}");
        }
        assert!(matches!(with(1, 0), Err(FilterError::Corrupt { .. })));
        for data in [&data[..0], &data[..1], &data[..2], &data[..3]] {
            let error = conformance::decode(&Zfp, data, &stored, None, 64);
            assert!(matches!(error, Err(FilterError::Corrupt { .. })), "{data:?}");
        }
        assert!(conformance::encode(&Zfp, &data, &[7; 63]).is_err());
    }

    #[test]
    fn a_large_chunk_of_few_bytes_takes_no_memory() {
        let data = client_data(ZfpNumber::F64, &[1 << 40], Mode::Reversible);
        let error = conformance::decode(&Zfp, &data, &[0; 100], None, usize::MAX).unwrap_err();
        assert_eq!(error, truncated());
    }

    #[test]
    fn what_cannot_be_coded_is_said() {
        for (number, chunk, mode) in [
            (ZfpNumber::F32, &[][..], Mode::Reversible),
            (ZfpNumber::F32, &[1, 1], Mode::Reversible),
            (ZfpNumber::F32, &[2, 2, 2, 2, 2], Mode::Reversible),
            (ZfpNumber::F32, &[4, 0], Mode::Reversible),
            (ZfpNumber::F32, &[1 << 49], Mode::Reversible),
            (ZfpNumber::F32, &[4, 1 << 25], Mode::Reversible),
            (ZfpNumber::F32, &[4], Mode::Precision(0)),
            (ZfpNumber::F32, &[4], Mode::Precision(65)),
            (ZfpNumber::F32, &[4], Mode::Rate(-1.0)),
            (ZfpNumber::F32, &[4], Mode::Rate(f64::NAN)),
            (ZfpNumber::F32, &[4], Mode::Accuracy(0.0)),
            (ZfpNumber::F32, &[4], Mode::Accuracy(f64::INFINITY)),
            (ZfpNumber::I32, &[4], Mode::Accuracy(1.0)),
        ] {
            assert!(ZfpParameters::for_chunks(number, chunk, mode).is_err(), "{chunk:?} {mode:?}");
        }
        let expert = Mode::Expert { min_bits: 9, max_bits: 8, max_precision: 64, min_exponent: -1074 };
        assert!(ZfpParameters::for_chunks(ZfpNumber::F32, &[4], expert).is_err());
    }

    fn numbers() -> impl Strategy<Value = (ZfpNumber, u64)> {
        prop_oneof![
            Just((ZfpNumber::I32, 4)),
            Just((ZfpNumber::I64, 8)),
            Just((ZfpNumber::F32, 4)),
            Just((ZfpNumber::F64, 8))
        ]
    }

    fn modes() -> impl Strategy<Value = Mode> {
        prop_oneof![
            (1..40_u32).prop_map(|rate| Mode::Rate(f64::from(rate))),
            (1..=64_u32).prop_map(Mode::Precision),
            Just(Mode::Reversible),
            (1..50_u32, 50..5000_u32, 1..=64_u32, -1074..100_i32).prop_map(
                |(min_bits, max_bits, max_precision, min_exponent)| Mode::Expert {
                    min_bits,
                    max_bits,
                    max_precision,
                    min_exponent
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn values_come_back(
            (number, size) in numbers(),
            chunk in proptest::collection::vec(2..9_u64, 1..5),
            seed in any::<u64>(),
        ) {
            let client_data = client_data(number, &chunk, Mode::Reversible);
            let length = chunk.iter().product::<u64>() * size;
            let raw: Vec<u8> = (0..length).map(|at| ((at * at) ^ seed).wrapping_mul(0x9e37_79b9).to_be_bytes()[5]).collect();
            let stored = conformance::encode(&Zfp, &client_data, &raw).unwrap();
            prop_assert_eq!(conformance::decode(&Zfp, &client_data, &stored, None, raw.len()).unwrap(), raw);
        }

        #[test]
        fn every_mode_decodes_what_it_encodes(
            (number, size) in numbers(),
            mode in modes(),
            chunk in proptest::collection::vec(2..9_u64, 1..5),
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..5),
        ) {
            let client_data = client_data(number, &chunk, mode);
            let length = usize::try_from(chunk.iter().product::<u64>() * size).unwrap();
            let raw: Vec<u8> = (0..length).map(|at| (at * 7 / 5).to_le_bytes()[0]).collect();
            let mut stored = conformance::encode(&Zfp, &client_data, &raw).unwrap();
            let foretold = Zfp.encoded_length(&FilterContext::new(&client_data, usize::MAX), length);
            prop_assert!(foretold.is_none_or(|foretold| foretold == stored.len()));
            prop_assert_eq!(foretold.is_some(), matches!(mode, Mode::Rate(_)));
            prop_assert_eq!(conformance::decode(&Zfp, &client_data, &stored, None, length).unwrap().len(), length);
            for (at, byte) in flips {
                *at.get_mut(&mut stored) = byte;
            }
            drop(conformance::decode(&Zfp, &client_data, &stored, None, length));
        }

        #[test]
        fn arbitrary_headers_do_not_panic(
            words in proptest::collection::vec(any::<u32>(), 0..7),
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let client_data = [&[0x1010_5111, 0x0570_667a], &words[..]].concat();
            if let Ok(decoded) = conformance::decode(&Zfp, &client_data, &bytes, None, 100_000) {
                prop_assert!(decoded.len() <= 100_000);
            }
            drop(conformance::encode(&Zfp, &client_data, &bytes));
        }
    }
}
