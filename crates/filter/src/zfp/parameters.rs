//! The client data of zfp: a header of zfp, without a chunk behind it.
//!
//! ```text
//! bits     | meaning
//! ---------+--------------------------------------------------------------------------------------------
//! 32       | "zfp" and the version of the codec, 5
//! 2, 2     | type: int32, int64, float, double; dimensions less 1
//! 48       | values in each dimension less 1, the one that varies fastest first: 48, 24, 16 or 12 bits each
//! 12       | mode: 0 to 2047 bits of a block less 1, from 2048 on precision less 1, 2176 reversible, from
//!          | 2177 on the smallest exponent plus 1074; 4095: the parameters of expert mode follow
//! 52       | 15 bits: fewest bits of a block less 1, 15: most bits less 1, 7: precision less 1, 15: smallest
//!          | exponent plus 16495
//! ```

use zfp_rs::{
    ZfpBitStream, ZfpBitStreamRef, ZfpConfig, ZfpDimensionality, ZfpFieldMetadata, ZfpHeaderError,
    ZfpHeaderMask, ZfpScalarType, ZfpStreamAlignment,
};

use crate::{FilterError, Result};

use super::ID;

/// What libraries and filter the client data are said to come from: those of zfp 1.0.1, codec 5, filter 1.1.1.
const VERSIONS: u32 = 0x1010_5111;

const CODEC: u32 = 5;

/// From this version on, the filter notes that of the codec.
const NOTES_CODEC: u32 = 0x110;

const MAGIC: [u8; 3] = *b"zfp";

/// A longest header takes five words.
const MOST_WORDS: usize = 10;

const BLOCK_SIDE: usize = 4;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// An integer of 4 bytes.
    I32,
    /// An integer of 8 bytes.
    I64,
    /// A floating-point number of 4 bytes.
    F32,
    /// A floating-point number of 8 bytes.
    F64,
}

/// How many bits stay of a block of 4 values in each dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// So many bits of each value on average, in every block the same.
    Rate(f64),
    /// So many bit planes, 1 to 64: a bound on relative errors.
    Precision(u32),
    /// As many bits as keep errors below this: only for floating-point numbers.
    Accuracy(f64),
    /// All: nothing is lost.
    Reversible,
    /// Whatever of these bounds holds first.
    Expert {
        /// Fewest bits of a block, 1 to 32768; what is missing is filled up.
        min_bits: u32,
        /// Most bits of a block, up to 32768.
        max_bits: u32,
        /// Most bit planes, 1 to 64.
        max_precision: u32,
        /// The exponent of the lowest bit plane that stays, at least -1074.
        min_exponent: i32,
    },
}

impl Mode {
    /// The client data by which the mode is asked for: its number, nothing, and what belongs to it; numbers of
    /// eight bytes are two values, the low word first.
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

    /// Undoes [`Self::request`].
    pub(crate) fn asked(data: &[u32]) -> Result<Self, &'static str> {
        let real = |low: u32, high: u32| f64::from_bits(u64::from(high) << 32 | u64::from(low));
        Ok(match data {
            // All that zfp can keep.
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
            _ => return Err("an unknown mode, or one whose parameters are missing"),
        })
    }
}

/// Whether zfp can code chunks of this shape: one to four dimensions have several elements.
pub(super) fn has_dimensions(chunk: &[u64]) -> bool {
    (1..=4).contains(&chunk.iter().filter(|size| **size != 1).count())
}

/// The parameters of zfp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    metadata: ZfpFieldMetadata,
    config: ZfpConfig,
}

impl Parameters {
    /// The parameters of chunks of this shape, the dimension that varies fastest last. Dimensions of one value do
    /// not count; one to four others must be left.
    ///
    /// ```
    /// use hyperslab_filter::{FilterContext, Filter, Zfp, zfp::{Mode, Number, Parameters}};
    ///
    /// let parameters = Parameters::for_chunks(Number::F32, &[1, 8, 12], Mode::Rate(16.0))?;
    /// let data = parameters.client_data();
    /// assert_eq!(data, [0x1010_5111, 0x0570_667a, 0x7000_00b6, 0x0ff0_0000]);
    /// // 16 of the 32 bits of each value stay.
    /// assert_eq!(Zfp.encoded_length(&FilterContext::new(&data, usize::MAX), 384), Some(192));
    /// # Ok::<(), &'static str>(())
    /// ```
    ///
    /// # Errors
    /// What zfp cannot code.
    pub fn for_chunks(number: Number, chunk: &[u64], mode: Mode) -> Result<Self, &'static str> {
        let mut dims = [0; 4];
        let used = chunk.iter().rev().filter(|size| **size != 1);
        let mut places = dims.iter_mut();
        for size in used {
            let place = places.next().ok_or("a chunk has more than four dimensions of several values")?;
            *place = usize::try_from(*size).ok().filter(|size| *size > 0).ok_or("a chunk of no values")?;
        }
        let dimensions = match dims {
            [0, ..] => return Err("a chunk has one value"),
            [_, 0, ..] => ZfpDimensionality::D1,
            [_, _, 0, _] => ZfpDimensionality::D2,
            [_, _, _, 0] => ZfpDimensionality::D3,
            _ => ZfpDimensionality::D4,
        };
        let scalar_type = match number {
            Number::I32 => ZfpScalarType::I32,
            Number::I64 => ZfpScalarType::I64,
            Number::F32 => ZfpScalarType::F32,
            Number::F64 => ZfpScalarType::F64,
        };
        let config = config(scalar_type, dimensions, mode)?;
        config.checked_mode_bits().map_err(|_| "a mode that a header cannot hold")?;
        let metadata = ZfpFieldMetadata { scalar_type, dims };
        metadata.to_bits().map_err(|_| "a chunk of too many values")?;
        Ok(Self { metadata, config })
    }

    /// The client data of the filter.
    pub fn client_data(&self) -> Vec<u32> {
        let mut data = vec![VERSIONS];
        // Checked when it was made; a header has less than 32 bytes.
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
                .map_err(|_| "an impossible rate")
        }
        Mode::Precision(precision @ 1..=64) => Ok(ZfpConfig::fixed_precision(precision)),
        Mode::Precision(_) => Err("a precision of none or of more than 64 bits"),
        Mode::Accuracy(_) if is_integer => Err("an accuracy of integers"),
        Mode::Accuracy(tolerance) if tolerance > 0.0 && tolerance.is_finite() => {
            Ok(ZfpConfig::fixed_accuracy(tolerance))
        }
        Mode::Accuracy(_) => Err("an accuracy that is no positive number"),
        Mode::Reversible => Ok(ZfpConfig::reversible()),
        Mode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
            ZfpConfig::expert(min_bits, max_bits, max_precision, min_exponent)
                .map_err(|_| "contradictory bounds")
        }
    }
}

/// What client data say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) metadata: ZfpFieldMetadata,
    pub(super) config: ZfpConfig,
    /// Whether the values of a chunk are big-endian.
    pub(super) is_swapped: bool,
}

impl Header {
    pub(super) fn parse(client_data: &[u32]) -> Result<Self> {
        let corrupt = |what: &str| FilterError::corrupt(ID, what);
        let unsupported = |what: String| Err(FilterError::Unsupported { id: ID, what });
        let [versions, halves @ ..] = client_data else { return Err(corrupt("client data are missing")) };
        let is_magic = |half: u32| half.to_le_bytes().first_chunk() == Some(&MAGIC);
        let is_swapped = match halves.first() {
            Some(half) if is_magic(*half) => false,
            Some(half) if is_magic(half.swap_bytes()) => true,
            _ => return Err(corrupt("client data are no header of zfp")),
        };
        if halves.len() > MOST_WORDS {
            return Err(corrupt("too many client data"));
        }
        let codec = codec(*versions);
        if codec > CODEC {
            return unsupported(format!("version {codec} of zfp's codec"));
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
                return unsupported("another version of zfp's codec than 5".to_owned());
            }
            Err(error) => return Err(corrupt(&error.to_string())),
        };
        match (header.metadata, header.config) {
            (Some(metadata), Some(config)) if header.bits_read <= 32 * halves.len() => {
                Ok(Self { metadata, config, is_swapped })
            }
            _ => Err(corrupt("its header is cut off")),
        }
    }

    /// Bytes of a chunk.
    pub(super) fn chunk_length(&self) -> Option<usize> {
        let size = match self.metadata.scalar_type {
            ZfpScalarType::I32 | ZfpScalarType::F32 => 4,
            ZfpScalarType::I64 | ZfpScalarType::F64 => 8,
        };
        self.dims().try_fold(size, usize::checked_mul)
    }

    /// Blocks of a chunk.
    pub(super) fn blocks(&self) -> usize {
        self.dims().map(|size| size.div_ceil(BLOCK_SIDE)).fold(1, usize::saturating_mul)
    }

    /// Bytes of an encoded chunk, where all blocks have the same.
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

/// The version of the codec that wrote the chunks. Older filters do not note it, but only that of the library, one
/// digit of which it was until library 1.0.
fn codec(versions: u32) -> u32 {
    let (filter, library) = (versions & 0xfff, versions >> 16 << 4);
    match library {
        _ if filter >= NOTES_CODEC => versions >> 12 & 0xf,
        ..0x500 => 4,
        0x500..0x1000 => library >> 8 & 0xf,
        _ => CODEC,
    }
}
