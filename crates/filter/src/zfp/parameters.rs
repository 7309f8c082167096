//! The client data of zfp: a zfp header without a chunk.
//!
//! ```text
//! bits     | meaning
//! ---------+--------------------------------------------------------------------------------------
//! 32       | "zfp" and the version of the codec, 5
//! 2, 2     | type: int32, int64, float, double; number of dimensions minus 1
//! 48       | size of each dimension minus 1, the fastest-varying dimension first: 48, 24, 16 or 12
//!          | bits each
//! 12       | mode: 0 to 2047: bits of a block minus 1; from 2048 on: precision minus 1; 2176:
//!          | reversible; from 2177 on: smallest exponent plus 1074; 4095: the parameters of expert
//!          | mode follow
//! 52       | expert mode: 15 bits: minimum bits of a block minus 1, 15: maximum bits minus 1, 7:
//!          | precision minus 1, 15: smallest exponent plus 16495
//! ```

use zfp_rs::{
    ZfpBitStream, ZfpBitStreamRef, ZfpConfig, ZfpDimensionality, ZfpFieldMetadata, ZfpHeaderError,
    ZfpHeaderMask, ZfpScalarType, ZfpStreamAlignment,
};

use crate::{FilterError, Result};

use super::ID;

/// The versions in the client data of the zfp filter for new datasets: library 1.0.1, codec 5,
/// filter 1.1.1.
const VERSIONS: u32 = 0x1010_5111;

/// The version of the zfp codec that the filter supports.
const CODEC_VERSION: u32 = 5;

/// The first version of the zfp filter whose client data contain the version of the codec.
const CODEC_IN_FILTER_VERSION: u32 = 0x110;

const MAGIC: [u8; 3] = *b"zfp";

/// The maximum number of 32-bit words of a zfp header.
const MAX_HEADER_WORDS: usize = 10;

/// The number of values of a zfp block along each dimension.
const BLOCK_SIDE_VALUES: usize = 4;

/// The numeric type of the values that the zfp filter encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZfpNumber {
    /// An integer of 4 bytes.
    I32,
    /// An integer of 8 bytes.
    I64,
    /// A floating-point number of 4 bytes.
    F32,
    /// A floating-point number of 8 bytes.
    F64,
}

/// The compression mode of the zfp filter. It limits the bits of a zfp block, which has 4 values
/// along each dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// The average number of bits of each value, equal in all blocks.
    Rate(f64),
    /// The number of bit planes, 1 to 64, which bounds the relative error.
    Precision(u32),
    /// The maximum absolute error; only for floating-point numbers.
    Accuracy(f64),
    /// Lossless compression.
    Reversible,
    /// Several limits. The limit that is reached first ends the encoding of a block.
    Expert {
        /// The minimum number of bits of a block, 1 to 32768; shorter blocks are padded.
        min_bits: u32,
        /// The maximum number of bits of a block, up to 32768.
        max_bits: u32,
        /// The maximum number of bit planes, 1 to 64.
        max_precision: u32,
        /// The exponent of the lowest bit plane that is kept, at least -1074.
        min_exponent: i32,
    },
}

impl Mode {
    /// Returns the client data by which a user requests a compression mode of the zfp filter. They
    /// contain the number of the mode, an unused value, and the parameters of the mode. A parameter
    /// of eight bytes takes two values, the low word first.
    pub(crate) fn request(self) -> [u32; 6] {
        let halves = |value: f64| {
            let [low @ .., h0, h1, h2, h3] = value.to_le_bytes();
            (u32::from_le_bytes(low), u32::from_le_bytes([h0, h1, h2, h3]))
        };
        match self {
            Self::Rate(rate) => [1, 0, halves(rate).0, halves(rate).1, 0, 0],
            Self::Precision(bits) => [2, 0, bits, 0, 0, 0],
            Self::Accuracy(error) => [3, 0, halves(error).0, halves(error).1, 0, 0],
            Self::Expert { min_bits, max_bits, max_precision, min_exponent } => {
                [4, 0, min_bits, max_bits, max_precision, min_exponent.cast_unsigned()]
            }
            Self::Reversible => [5, 0, 0, 0, 0, 0],
        }
    }

    /// Parses a user's request for the zfp filter from the requested client data. This is the
    /// inverse of [`Self::request`].
    pub(crate) fn from_request(data: &[u32]) -> Result<Self, &'static str> {
        let real = |low: u32, high: u32| f64::from_bits(u64::from(high) << 32 | u64::from(low));
        Ok(match data {
            // The default keeps as many bits as zfp can.
            [] => Self::Expert { min_bits: 1, max_bits: 16658, max_precision: 64, min_exponent: -1074 },
            [1, _, low, high, ..] => Self::Rate(real(*low, *high)),
            [2, _, bits, ..] => Self::Precision(*bits),
            [3, _, low, high, ..] => Self::Accuracy(real(*low, *high)),
            [4, _, min_bits, max_bits, max_precision, min_exponent, ..] => Self::Expert {
                min_bits: *min_bits,
                max_bits: *max_bits,
                max_precision: *max_precision,
                min_exponent: min_exponent.cast_signed(),
            },
            [5, ..] => Self::Reversible,
            _ => return Err("the mode is unknown or its parameters are missing"),
        })
    }
}

/// Returns true if zfp can code chunks of the shape `chunk`: one to four dimensions have more than
/// one element.
pub(super) fn has_dimensions(chunk: &[u64]) -> bool {
    (1..=4).contains(&chunk.iter().filter(|size| **size != 1).count())
}

/// The parameters of the zfp filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZfpParameters {
    metadata: ZfpFieldMetadata,
    config: ZfpConfig,
}

impl ZfpParameters {
    /// Returns the zfp parameters for chunks of the shape `chunk`, the fastest-varying dimension
    /// last. Ignores dimensions with one element. One to four dimensions must remain.
    ///
    /// ```
    /// use hyperslab_filter::{FilterContext, Filter, Zfp, zfp::{Mode, ZfpNumber, ZfpParameters}};
    ///
    /// let parameters = ZfpParameters::for_chunks(ZfpNumber::F32, &[1, 8, 12], Mode::Rate(16.0))?;
    /// let data = parameters.client_data();
    /// assert_eq!(data, [0x1010_5111, 0x0570_667a, 0x7000_00b6, 0x0ff0_0000]);
    /// // The encoder keeps 16 of the 32 bits of each value.
    /// assert_eq!(Zfp.encoded_length(&FilterContext::new(&data, usize::MAX), 384), Some(192));
    /// # Ok::<(), &'static str>(())
    /// ```
    ///
    /// # Errors
    /// The reason why zfp cannot code such chunks.
    pub fn for_chunks(number: ZfpNumber, chunk: &[u64], mode: Mode) -> Result<Self, &'static str> {
        let mut dims = [0; 4];
        let used = chunk.iter().rev().filter(|size| **size != 1);
        let mut free = dims.iter_mut();
        for size in used {
            let to = free.next().ok_or("the chunk has more than four dimensions of more than one value")?;
            *to = usize::try_from(*size).ok().filter(|size| *size > 0).ok_or("the chunk has no values")?;
        }
        let dimensions = match dims {
            [0, ..] => return Err("the chunk has only one value"),
            [_, 0, ..] => ZfpDimensionality::D1,
            [_, _, 0, _] => ZfpDimensionality::D2,
            [_, _, _, 0] => ZfpDimensionality::D3,
            _ => ZfpDimensionality::D4,
        };
        let scalar_type = match number {
            ZfpNumber::I32 => ZfpScalarType::I32,
            ZfpNumber::I64 => ZfpScalarType::I64,
            ZfpNumber::F32 => ZfpScalarType::F32,
            ZfpNumber::F64 => ZfpScalarType::F64,
        };
        let config = config(scalar_type, dimensions, mode)?;
        config.checked_mode_bits().map_err(|_| "the mode's parameters do not fit into a header")?;
        let metadata = ZfpFieldMetadata { scalar_type, dims };
        metadata.to_bits().map_err(|_| "the chunk has too many values for a header")?;
        Ok(Self { metadata, config })
    }

    /// Returns the client data of the zfp filter.
    pub fn client_data(&self) -> Vec<u32> {
        let mut data = vec![VERSIONS];
        // The parameters were checked on creation, and a header has less than 32 bytes.
        let words = ZfpBitStream::new(32).ok().and_then(|mut stream| {
            let bits = stream.write_header(&self.config, &self.metadata, ZfpHeaderMask::FULL).ok()?;
            Some((stream.into_words(), bits))
        });
        if let Some((words, bits)) = words {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let halves = bytes.as_chunks().0.iter().take(bits.div_ceil(32));
            data.extend(halves.map(|half| u32::from_le_bytes(*half)));
        }
        data
    }
}

fn config(
    scalar_type: ZfpScalarType,
    dimensions: ZfpDimensionality,
    mode: Mode,
) -> Result<ZfpConfig, &'static str> {
    let is_integer = matches!(scalar_type, ZfpScalarType::I32 | ZfpScalarType::I64);
    match mode {
        Mode::Rate(rate) => {
            ZfpConfig::fixed_rate(rate, scalar_type, dimensions, ZfpStreamAlignment::Unaligned)
                .map_err(|_| "the rate is invalid")
        }
        Mode::Precision(precision @ 1..=64) => Ok(ZfpConfig::fixed_precision(precision)),
        Mode::Precision(_) => Err("the precision is not 1 to 64 bits"),
        Mode::Accuracy(_) if is_integer => Err("the accuracy mode does not support integers"),
        Mode::Accuracy(tolerance) if tolerance > 0.0 && tolerance.is_finite() => {
            Ok(ZfpConfig::fixed_accuracy(tolerance))
        }
        Mode::Accuracy(_) => Err("the accuracy is not a positive number"),
        Mode::Reversible => Ok(ZfpConfig::reversible()),
        Mode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
            ZfpConfig::expert(min_bits, max_bits, max_precision, min_exponent)
                .map_err(|_| "the parameters of the expert mode contradict each other")
        }
    }
}

/// The parsed client data of the zfp filter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) metadata: ZfpFieldMetadata,
    pub(super) config: ZfpConfig,
    /// True if the values of a chunk are big-endian.
    pub(super) is_swapped: bool,
}

impl Header {
    pub(super) fn parse(client_data: &[u32]) -> Result<Self> {
        let corrupt = |subject: &str| FilterError::corrupt(ID, subject);
        let unsupported = |subject: String| Err(FilterError::Unsupported { id: ID, subject });
        let [versions, halves @ ..] = client_data else { return Err(corrupt("the client data are missing")) };
        let is_magic = |half: u32| half.to_le_bytes().first_chunk() == Some(&MAGIC);
        let is_swapped = match halves.first() {
            Some(half) if is_magic(*half) => false,
            Some(half) if is_magic(half.swap_bytes()) => true,
            _ => return Err(corrupt("the client data contain no zfp header")),
        };
        if halves.len() > MAX_HEADER_WORDS {
            return Err(corrupt("the zfp header in the client data is too long"));
        }
        let codec = codec(*versions);
        if codec > CODEC_VERSION {
            return unsupported(format!("version {codec} of the zfp codec"));
        }
        let mut half =
            halves.iter().map(|half| u64::from(if is_swapped { half.swap_bytes() } else { *half }));
        let mut words = Vec::new();
        while let Some(low) = half.next() {
            words.push(half.next().unwrap_or(0) << 32 | low);
        }
        let header = match ZfpBitStreamRef::from_words(&words).read_header(ZfpHeaderMask::FULL) {
            Ok(header) => header,
            Err(ZfpHeaderError::InvalidMagic) => {
                return unsupported("a version of the zfp codec other than 5".to_owned());
            }
            Err(error) => return Err(corrupt(&error.to_string())),
        };
        match (header.metadata, header.config) {
            (Some(metadata), Some(config)) if header.bits_read <= 32 * halves.len() => {
                Ok(Self { metadata, config, is_swapped })
            }
            _ => Err(corrupt("the zfp header in the client data is truncated")),
        }
    }

    /// Returns the decoded size in bytes of a chunk of the zfp filter. Returns [`None`] if the size
    /// overflows.
    pub(super) fn chunk_length(&self) -> Option<usize> {
        let size = match self.metadata.scalar_type {
            ZfpScalarType::I32 | ZfpScalarType::F32 => 4,
            ZfpScalarType::I64 | ZfpScalarType::F64 => 8,
        };
        self.dims().try_fold(size, usize::checked_mul)
    }

    /// Returns the number of zfp blocks of a chunk.
    pub(super) fn blocks(&self) -> usize {
        self.dims().map(|size| size.div_ceil(BLOCK_SIDE_VALUES)).fold(1, usize::saturating_mul)
    }

    /// Returns the encoded size in bytes of a zfp chunk. Returns `None` unless all zfp blocks have
    /// the same number of bits.
    pub(super) fn encoded_length(&self) -> Option<usize> {
        let bits = self.config.max_bits();
        let is_reversible = matches!(self.config.mode(), zfp_rs::ZfpMode::Reversible);
        if self.config.min_bits() != bits || is_reversible {
            return None;
        }
        let bits = usize::try_from(bits).ok()?.checked_mul(self.blocks())?;
        Some(bits.div_ceil(8))
    }

    fn dims(&self) -> impl Iterator<Item = usize> {
        self.metadata.dims.into_iter().take_while(|size| *size > 0)
    }
}

/// Returns the version of the zfp codec that encoded the chunks. Old client data do not store it.
/// In this case, computes the version from the version of the zfp library: up to library 1.0, it is
/// the minor version of the library.
fn codec(versions: u32) -> u32 {
    let (filter, library) = (versions & 0xfff, versions >> 16 << 4);
    match library {
        _ if filter >= CODEC_IN_FILTER_VERSION => versions >> 12 & 0xf,
        ..0x500 => 4,
        0x500..0x1000 => library >> 8 & 0xf,
        _ => CODEC_VERSION,
    }
}
