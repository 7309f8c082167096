//! The codecs among which Blosc 1 and 2 choose.

use crate::codec::{blosclz, lz4, snappy, zlib, zstd};
use crate::{FilterError, FilterId, Result};

/// A codec of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

impl Codec {
    /// The codec of this number in the flags of a buffer: of what a stream looks like.
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

    /// Undoes [`Self::of_format`].
    pub(crate) fn format(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
        }
    }

    /// The codec of this number in client data: of what makes a stream.
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

    /// Whether the streams of an element's bytes are better kept apart, as it does not find out by itself.
    pub(crate) fn is_split(self) -> bool {
        matches!(self, Self::BloscLz | Self::Lz4 | Self::Snappy)
    }

    /// How many bytes are best encoded at once.
    pub(crate) fn block(self) -> usize {
        if self.is_split() { 128 << 10 } else { 512 << 10 }
    }

    /// Refuses a codec that this build cannot encode with.
    pub(crate) fn check(self, id: FilterId) -> Result<()> {
        let (what, is_there) = match self {
            Self::BloscLz | Self::Zlib => return Ok(()),
            Self::Lz4 => ("LZ4 (feature `lz4` is off)", cfg!(feature = "lz4")),
            Self::Snappy => ("Snappy (feature `snappy` is off)", cfg!(feature = "snappy")),
            Self::Zstd => (
                "Zstandard (features `zstd-rs` and `zstd` are off)",
                cfg!(any(feature = "zstd-rs", feature = "zstd")),
            ),
        };
        if is_there { Ok(()) } else { Err(FilterError::Unsupported { id, what: what.to_owned() }) }
    }

    /// Decodes a stream that fills `output`; `memory` may hold anything.
    pub(crate) fn decode(
        self,
        id: FilterId,
        stream: &[u8],
        output: &mut [u8],
        memory: &mut Vec<u8>,
    ) -> Result<()> {
        match self {
            Self::BloscLz => {
                memory.clear();
                blosclz::decode(stream, memory, output.len())
                    .ok_or_else(|| FilterError::corrupt(id, "its BloscLZ stream"))?;
                output.copy_from_slice(memory);
                Ok(())
            }
            Self::Lz4 => lz4::decode(id, stream, output),
            Self::Snappy => snappy::decode(id, stream, output),
            Self::Zlib => zlib::decode(id, stream, output),
            Self::Zstd => zstd::decode_exactly(id, stream, output),
        }
    }

    /// Appends `input`, not empty, as a stream.
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
