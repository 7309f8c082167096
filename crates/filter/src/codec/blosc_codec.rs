//! The codecs of Blosc 1 and 2.

use crate::codec::{blosclz, lz4, snappy, zlib, zstd};
use crate::{FilterError, FilterId, Result};

/// A codec that compresses the streams of Blosc and Blosc2 buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

impl Codec {
    /// Returns the codec for a stream format number. The flags of a Blosc buffer contain this
    /// number.
    pub(crate) fn of_format(format: u8) -> Option<Self> {
        match format {
            0 => Some(Self::BloscLz),
            1 => Some(Self::Lz4),
            2 => Some(Self::Snappy),
            3 => Some(Self::Zlib),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns the stream format number of a Blosc codec. This is the inverse of
    /// [`Self::of_format`].
    pub(crate) fn format(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
        }
    }

    /// Returns the codec for a compressor number. The client data of the Blosc filters contain this
    /// number.
    pub(crate) fn of_compressor(compressor: u32) -> Option<Self> {
        match compressor {
            0 => Some(Self::BloscLz),
            1 | 2 => Some(Self::Lz4),
            3 => Some(Self::Snappy),
            4 => Some(Self::Zlib),
            5 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns true if Blosc blocks should be split into one stream for each byte of an element.
    /// This codec then compresses better.
    pub(crate) fn is_split(self) -> bool {
        matches!(self, Self::BloscLz | Self::Lz4 | Self::Snappy)
    }

    /// Returns the recommended block size, in bytes, of Blosc buffers that this codec compresses.
    pub(crate) fn block(self) -> usize {
        if self.is_split() { 128 << 10 } else { 512 << 10 }
    }

    /// Checks that this build can encode with the Blosc codec.
    pub(crate) fn check(self, id: FilterId) -> Result<()> {
        let (subject, is_there) = match self {
            Self::BloscLz | Self::Zlib => return Ok(()),
            Self::Lz4 => ("compression with LZ4 (feature `lz4` is off)", cfg!(feature = "lz4")),
            Self::Snappy => ("compression with Snappy (feature `snappy` is off)", cfg!(feature = "snappy")),
            Self::Zstd => (
                "compression with Zstandard (features `zstd-rs` and `zstd` are off)",
                cfg!(any(feature = "zstd-rs", feature = "zstd")),
            ),
        };
        if is_there { Ok(()) } else { Err(FilterError::Unsupported { id, subject: subject.to_owned() }) }
    }

    /// Decodes a stream of a Blosc buffer into `output`. The decoded bytes must fill `output`
    /// exactly. `scratch` is scratch memory.
    pub(crate) fn decode(
        self,
        id: FilterId,
        stream: &[u8],
        output: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        match self {
            Self::BloscLz => {
                scratch.clear();
                blosclz::decode(stream, scratch, output.len())
                    .ok_or_else(|| FilterError::corrupt(id, "a BloscLZ stream is invalid"))?;
                output.copy_from_slice(scratch);
                Ok(())
            }
            Self::Lz4 => lz4::decode(id, stream, output),
            Self::Snappy => snappy::decode(id, stream, output),
            Self::Zlib => zlib::decode(id, stream, output),
            Self::Zstd => zstd::decode_exactly(id, stream, output),
        }
    }

    /// Encodes `input` with a Blosc codec, and appends the stream to `output`. `input` must not be
    /// empty.
    pub(crate) fn encode(self, id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::BloscLz => {
                blosclz::encode(input, output);
                Ok(())
            }
            Self::Lz4 => lz4::encode(id, input, output),
            Self::Snappy => snappy::encode(id, input, output),
            Self::Zlib => zlib::encode(id, level, input, output),
            Self::Zstd => zstd::encode(id, level, input, output),
        }
    }
}
