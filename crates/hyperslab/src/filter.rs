//! Filters of chunks: the specification of a filter for a new dataset, and filters of the program.
//!
//! [`FilterSpec`] names a filter and its parameters for
//! [`DatasetBuilder::filter`](crate::DatasetBuilder::filter). A [`Registry`] holds the filters that
//! a file may use. To add a filter to it, implement [`Filter`].

pub use hyperslab_filter::{
    BitshuffleCodec, BloscCodec, BloscTransform, ChunkTarget, DatasetFacts, DatasetFill, Filter,
    FilterContext, FilterError, FilterId, FilterSpec, ParseFilterError, Pipeline, Produced, Registry, Result,
    Scratch, Stage, SzipCoding, Workspace,
};

/// The built-in filters, for a [`Registry`] with only some of them.
pub mod builtin {
    #[cfg(feature = "bzip2")]
    pub use hyperslab_filter::Bzip2;
    #[cfg(feature = "lz4")]
    pub use hyperslab_filter::Lz4;
    #[cfg(feature = "lzo")]
    pub use hyperslab_filter::Lzo;
    #[cfg(feature = "zfp")]
    pub use hyperslab_filter::Zfp;
    #[cfg(any(feature = "zstd-rs", feature = "zstd"))]
    pub use hyperslab_filter::Zstd;
    pub use hyperslab_filter::{
        BitGroom, Bitshuffle, Blosc, Blosc2, Deflate, Fcidecomp, Fletcher32, GranularBitRound, Lzf, Nbit,
        ScaleOffset, Shuffle, Sperr, Sz, Sz3, Szip, Vbz,
    };
}
