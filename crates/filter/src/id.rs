//! The registered numbers of filters.

use std::fmt;

/// The number of a filter, as a filter pipeline message stores it. Every number is valid.
/// Registered filters have a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilterId(pub u16);

macro_rules! filters {
    ($($(#[$doc:meta])* $constant:ident = $id:literal, $name:literal;)*) => {
        impl FilterId {
            $($(#[$doc])* pub const $constant: Self = Self($id);)*

            /// All registered filter numbers for which this type has a constant, in ascending
            /// order.
            pub const KNOWN: &[Self] = &[$(Self::$constant),*];

            /// Returns the name of the filter with this number, or [`None`] if the number has no
            /// constant.
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
    /// The deflate filter (gzip, zlib).
    DEFLATE = 1, "deflate";
    /// The shuffle filter: transposition of the bytes of elements.
    SHUFFLE = 2, "shuffle";
    /// The Fletcher32 filter: Fletcher's checksum.
    FLETCHER32 = 3, "fletcher32";
    /// The szip filter: extended Rice coding.
    SZIP = 4, "szip";
    /// The nbit filter: removal of the unused bits of each element.
    NBIT = 5, "nbit";
    /// The scaleoffset filter: scaling of numbers to integers with few bits.
    SCALEOFFSET = 6, "scaleoffset";
    /// The LZO filter, from PyTables.
    LZO = 305, "LZO";
    /// The bzip2 filter.
    BZIP2 = 307, "bzip2";
    /// The LZF filter, from h5py.
    LZF = 32000, "LZF";
    /// The Blosc 1 filter.
    BLOSC = 32001, "Blosc";
    /// The MAFISC filter.
    MAFISC = 32002, "MAFISC";
    /// The Snappy filter.
    SNAPPY = 32003, "Snappy";
    /// The LZ4 filter.
    LZ4 = 32004, "LZ4";
    /// The APAX filter.
    APAX = 32005, "APAX";
    /// The CBF filter.
    CBF = 32006, "CBF";
    /// The JPEG-XR filter.
    JPEG_XR = 32007, "JPEG-XR";
    /// The bitshuffle filter: transposition of the bits of elements, with LZ4 or Zstandard.
    BITSHUFFLE = 32008, "bitshuffle";
    /// The SPDP filter.
    SPDP = 32009, "SPDP";
    /// The LPC-Rice filter.
    LPC_RICE = 32010, "LPC-Rice";
    /// The CCSDS-123 filter.
    CCSDS_123 = 32011, "CCSDS-123";
    /// The JPEG-LS filter.
    JPEG_LS = 32012, "JPEG-LS";
    /// The zfp filter.
    ZFP = 32013, "zfp";
    /// The fpzip filter.
    FPZIP = 32014, "fpzip";
    /// The Zstandard filter.
    ZSTD = 32015, "Zstandard";
    /// The B³D filter.
    B3D = 32016, "B3D";
    /// The SZ filter.
    SZ = 32017, "SZ";
    /// The FCIDECOMP filter.
    FCIDECOMP = 32018, "FCIDECOMP";
    /// The JPEG filter.
    JPEG = 32019, "JPEG";
    /// The VBZ filter, for signals of nanopore sequencers.
    VBZ = 32020, "VBZ";
    /// The FAPEC filter.
    FAPEC = 32021, "FAPEC";
    /// The BitGroom filter.
    BITGROOM = 32022, "BitGroom";
    /// The Granular BitRound filter.
    GRANULAR_BITROUND = 32023, "Granular BitRound";
    /// The SZ3 filter.
    SZ3 = 32024, "SZ3";
    /// The Delta-Rice filter.
    DELTA_RICE = 32025, "Delta-Rice";
    /// The Blosc 2 filter.
    BLOSC2 = 32026, "Blosc2";
    /// The FLAC filter.
    FLAC = 32027, "FLAC";
    /// The SPERR filter.
    SPERR = 32028, "SPERR";
    /// The TERSE/PROLIX filter.
    TERSE = 32029, "TERSE/PROLIX";
    /// The FFMPEG filter.
    FFMPEG = 32030, "FFMPEG";
}

impl FilterId {
    /// The first filter number that The HDF Group registers. Smaller numbers belong to filters of
    /// the format. Version 2 of the filter pipeline message stores no name for them.
    pub const FIRST_REGISTERED: Self = Self(256);

    /// Returns the Cargo feature for the filter with this number. Returns `None` if the feature is
    /// on, or if no feature enables the filter.
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
