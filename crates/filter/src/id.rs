//! The registered numbers of filters.

use std::fmt;

/// The number of a filter, as a filter pipeline message stores it. Every number is valid;
/// registered filters have a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilterId(pub u16);

macro_rules! filters {
    ($($(#[$doc:meta])* $constant:ident = $id:literal, $name:literal;)*) => {
        impl FilterId {
            $($(#[$doc])* pub const $constant: Self = Self($id);)*

            /// All numbers with a constant, in ascending order.
            pub const KNOWN: &[Self] = &[$(Self::$constant),*];

            /// Returns the name of the filter; [`None`] if the number has no constant.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($id => Some($name),)*
                    _ => None,
                }
            }
        }
    };
}

filters! {
    /// Deflate (gzip, zlib).
    DEFLATE = 1, "deflate";
    /// Transposition of the bytes of elements.
    SHUFFLE = 2, "shuffle";
    /// Fletcher's checksum.
    FLETCHER32 = 3, "fletcher32";
    /// Szip (extended Rice coding).
    SZIP = 4, "szip";
    /// Removal of the unused bits of each element (n-bit).
    NBIT = 5, "nbit";
    /// Scaling and offsetting of numbers to integers with few bits.
    SCALEOFFSET = 6, "scaleoffset";
    /// LZO, from PyTables.
    LZO = 305, "LZO";
    /// bzip2.
    BZIP2 = 307, "bzip2";
    /// LZF, from h5py.
    LZF = 32000, "LZF";
    /// Blosc 1.
    BLOSC = 32001, "Blosc";
    /// MAFISC.
    MAFISC = 32002, "MAFISC";
    /// Snappy.
    SNAPPY = 32003, "Snappy";
    /// LZ4.
    LZ4 = 32004, "LZ4";
    /// APAX.
    APAX = 32005, "APAX";
    /// CBF.
    CBF = 32006, "CBF";
    /// JPEG-XR.
    JPEG_XR = 32007, "JPEG-XR";
    /// Transposition of the bits of elements, with LZ4 or Zstandard compression.
    BITSHUFFLE = 32008, "bitshuffle";
    /// SPDP.
    SPDP = 32009, "SPDP";
    /// LPC-Rice.
    LPC_RICE = 32010, "LPC-Rice";
    /// CCSDS-123.
    CCSDS_123 = 32011, "CCSDS-123";
    /// JPEG-LS.
    JPEG_LS = 32012, "JPEG-LS";
    /// zfp.
    ZFP = 32013, "zfp";
    /// fpzip.
    FPZIP = 32014, "fpzip";
    /// Zstandard.
    ZSTD = 32015, "Zstandard";
    /// B³D.
    B3D = 32016, "B3D";
    /// SZ.
    SZ = 32017, "SZ";
    /// FCIDECOMP.
    FCIDECOMP = 32018, "FCIDECOMP";
    /// JPEG.
    JPEG = 32019, "JPEG";
    /// VBZ, for signals of nanopore sequencers.
    VBZ = 32020, "VBZ";
    /// FAPEC.
    FAPEC = 32021, "FAPEC";
    /// BitGroom.
    BITGROOM = 32022, "BitGroom";
    /// Granular BitRound.
    GRANULAR_BITROUND = 32023, "Granular BitRound";
    /// SZ3.
    SZ3 = 32024, "SZ3";
    /// Delta-Rice.
    DELTA_RICE = 32025, "Delta-Rice";
    /// Blosc 2.
    BLOSC2 = 32026, "Blosc2";
    /// FLAC.
    FLAC = 32027, "FLAC";
    /// SPERR.
    SPERR = 32028, "SPERR";
    /// TERSE/PROLIX.
    TERSE = 32029, "TERSE/PROLIX";
    /// FFMPEG.
    FFMPEG = 32030, "FFMPEG";
}

impl FilterId {
    /// The first number that is registered by The HDF Group. Smaller numbers belong to the format:
    /// version 2 of the filter pipeline message stores no name for them.
    pub const FIRST_REGISTERED: Self = Self(256);

    /// Returns the Cargo feature that enables this filter, if the feature is off.
    pub(crate) fn missing_feature(self) -> Option<&'static str> {
        let (feature, is_on) = match self {
            Self::BZIP2 => ("bzip2", cfg!(feature = "bzip2")),
            Self::LZ4 => ("lz4", cfg!(feature = "lz4")),
            Self::LZO => ("lzo", cfg!(feature = "lzo")),
            Self::ZFP => ("zfp", cfg!(feature = "zfp")),
            Self::ZSTD => ("zstd-rs", cfg!(any(feature = "zstd-rs", feature = "zstd"))),
            _ => return None,
        };
        (!is_on).then_some(feature)
    }
}

impl fmt::Display for FilterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "number {}", self.0),
        }
    }
}

impl From<u16> for FilterId {
    fn from(id: u16) -> Self {
        Self(id)
    }
}

#[cfg(test)]
mod tests {
    use super::FilterId;

    #[test]
    fn names() {
        assert_eq!(FilterId(32015).to_string(), "Zstandard (32015)");
        assert_eq!(FilterId(9).to_string(), "number 9");
        assert!(FilterId::KNOWN.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(FilterId::KNOWN.iter().all(|id| id.name().is_some()));
    }
}
