//! The filters that users request for a new dataset.

mod text;

use hyperslab_datatype::DatatypeClass;

use crate::{DatasetFacts, FilterError, FilterId, Pipeline, Registry, Result, Stage};

pub use text::ParseFilterError;

/// A request for a filter of a new dataset, with the parameters that a user chose.
///
/// [`Pipeline::for_dataset`] computes the client data that the file stores. The filters have the
/// same default flags as in libhdf5, h5py and hdf5plugin: all filters except the checksum are
/// optional.
///
/// ```
/// use hyperslab_datatype::{ByteOrder, Datatype};
/// use hyperslab_filter::{DatasetFacts, FilterSpec, Pipeline, Registry};
///
/// let specs = [FilterSpec::shuffle(), FilterSpec::deflate(4), FilterSpec::fletcher32()];
/// assert_eq!(FilterSpec::parse_list("shuffle,gzip=4,fletcher32")?, specs);
/// let datatype = Datatype::f64(ByteOrder::LittleEndian);
/// let facts = DatasetFacts::new(&datatype, &[100, 50]);
/// let pipeline = Pipeline::for_dataset(&specs, &facts, &Registry::default())?;
/// assert_eq!(pipeline.stages[0].client_data, [8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterSpec {
    id: FilterId,
    flags: u16,
    client_data: Vec<u32>,
    name: Option<String>,
    may_be_missing: bool,
}

/// The method by which the szip filter preprocesses samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SzipCoding {
    /// Codes the samples themselves ("ec").
    Entropy,
    /// Codes the differences from the preceding sample ("nn").
    NearestNeighbour,
}

/// The codec, or none, with which the bitshuffle filter compresses blocks of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitshuffleCodec {
    /// No compression.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard.
    Zstd {
        /// The level, 1 to 22.
        level: u32,
    },
}

/// The codec with which the Blosc and Blosc2 filters compress data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscCodec {
    /// BloscLZ.
    BloscLz,
    /// LZ4.
    Lz4,
    /// LZ4 with higher compression; slower.
    Lz4Hc,
    /// Snappy; not available in Blosc2.
    Snappy,
    /// zlib.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// The transform, such as a shuffle of bytes, that the Blosc and Blosc2 filters apply to data
/// before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscTransform {
    /// No transform.
    None,
    /// Transposition of bytes.
    Shuffle,
    /// Transposition of bits.
    Bitshuffle,
    /// Differences from the first block; only in Blosc2.
    Delta,
}

impl BloscCodec {
    const ALL: [(Self, &str, u32); 6] = [
        (Self::BloscLz, "blosclz", 0),
        (Self::Lz4, "lz4", 1),
        (Self::Lz4Hc, "lz4hc", 2),
        (Self::Snappy, "snappy", 3),
        (Self::Zlib, "zlib", 4),
        (Self::Zstd, "zstd", 5),
    ];

    fn number(self) -> u32 {
        Self::ALL.iter().find(|(codec, ..)| *codec == self).map_or(0, |(.., number)| *number)
    }
}

impl BloscTransform {
    const ALL: [(Self, &str, u32); 4] = [
        (Self::None, "none", 0),
        (Self::Shuffle, "bytes", 1),
        (Self::Bitshuffle, "bits", 2),
        (Self::Delta, "delta", 3),
    ];

    fn number(self) -> u32 {
        Self::ALL.iter().find(|(transform, ..)| *transform == self).map_or(0, |(.., number)| *number)
    }
}

/// The option bits of the szip filter that libhdf5 always sets: up to 13 separate low bits (k =
/// 13), and no header.
const SZIP_OPTIONS: u32 = 1 | 1 << 7;

impl FilterSpec {
    /// Returns a request for any filter. The arguments are its number, its flags (bit 0: optional),
    /// and its client data in the form that a user would give. The last argument replaces the
    /// default name of the filter in the file.
    pub fn custom(id: FilterId, flags: u16, client_data: impl Into<Vec<u32>>, name: Option<String>) -> Self {
        Self { id, flags, client_data: client_data.into(), name, may_be_missing: false }
    }

    fn with_default_flags(id: FilterId, client_data: impl Into<Vec<u32>>) -> Self {
        Self::custom(id, default_flags(id), client_data, None)
    }

    /// Returns a request for the deflate filter (gzip) with a level from 0 (uncompressed) to 9
    /// (smallest). The default of h5py is 4.
    pub fn deflate(level: u32) -> Self {
        Self::with_default_flags(FilterId::DEFLATE, [level])
    }

    /// Returns a request for the shuffle filter, which transposes the bytes of elements.
    pub fn shuffle() -> Self {
        Self::with_default_flags(FilterId::SHUFFLE, [])
    }

    /// Returns a request for the Fletcher32 filter: a checksum of every chunk. The filter is
    /// mandatory, as in libhdf5.
    pub fn fletcher32() -> Self {
        Self::with_default_flags(FilterId::FLETCHER32, [])
    }

    /// Returns a request for the szip filter in blocks of `pixels_per_block` samples: an even
    /// number, 2 to 32. The defaults of h5py are 8 and nearest neighbour.
    pub fn szip(coding: SzipCoding, pixels_per_block: u32) -> Self {
        let coding = match coding {
            SzipCoding::Entropy => 4,
            SzipCoding::NearestNeighbour => 32,
        };
        Self::with_default_flags(FilterId::SZIP, [coding | SZIP_OPTIONS, pixels_per_block])
    }

    /// Returns a request for the nbit filter, which stores only the bits that the datatype uses.
    pub fn nbit() -> Self {
        Self::with_default_flags(FilterId::NBIT, [])
    }

    /// Returns a request for the scaleoffset filter with integers. The filter stores distances from
    /// the minimum with `bits` bits. If `bits` is 0, the filter takes as many bits as a chunk
    /// needs. Too few bits lose values.
    pub fn scale_offset_int(bits: u32) -> Self {
        Self::with_default_flags(FilterId::SCALEOFFSET, [2, bits])
    }

    /// Returns a request for the scaleoffset filter with floating-point numbers. The filter rounds
    /// numbers to `digits` digits after the decimal point.
    pub fn scale_offset_float(digits: i32) -> Self {
        Self::with_default_flags(FilterId::SCALEOFFSET, [0, digits.cast_unsigned()])
    }

    /// Returns a request for the LZF filter of h5py.
    pub fn lzf() -> Self {
        Self::with_default_flags(FilterId::LZF, [])
    }

    /// Returns a request for the LZO filter of PyTables.
    pub fn lzo() -> Self {
        Self::with_default_flags(FilterId::LZO, [])
    }

    /// Returns a request for the LZ4 filter in blocks of `block` bytes. If `block` is 0, blocks
    /// have 1 GiB.
    pub fn lz4(block: u32) -> Self {
        Self::with_default_flags(FilterId::LZ4, [block])
    }

    /// Returns a request for the Zstandard filter with a level from 1 to 22. Level 0 stands for 3,
    /// the default of hdf5plugin.
    pub fn zstd(level: u32) -> Self {
        Self::with_default_flags(FilterId::ZSTD, [level])
    }

    /// Returns a request for the bzip2 filter with blocks of `block` × 100 kB. `block` is from 1 to
    /// 9; the default of hdf5plugin is 9.
    pub fn bzip2(block: u32) -> Self {
        Self::with_default_flags(FilterId::BZIP2, [block])
    }

    /// Returns a request for the bitshuffle filter in blocks of `block` elements, a multiple of 8.
    /// If `block` is 0, blocks have about 8 KiB.
    pub fn bitshuffle(block: u32, codec: BitshuffleCodec) -> Self {
        match codec {
            BitshuffleCodec::None => Self::with_default_flags(FilterId::BITSHUFFLE, [block, 0]),
            BitshuffleCodec::Lz4 => Self::with_default_flags(FilterId::BITSHUFFLE, [block, 2]),
            BitshuffleCodec::Zstd { level } => {
                Self::with_default_flags(FilterId::BITSHUFFLE, [block, 3, level])
            }
        }
    }

    /// Returns a request for the Blosc filter with a compression level from 0 to 9. The defaults of
    /// hdf5plugin are LZ4, level 5 and a shuffle of bytes.
    pub fn blosc(codec: BloscCodec, level: u32, transform: BloscTransform) -> Self {
        Self::with_default_flags(FilterId::BLOSC, [0, 0, 0, 0, level, transform.number(), codec.number()])
    }

    /// Returns a request for the Blosc2 filter with a compression level from 0 to 9. The defaults
    /// of hdf5plugin are BloscLZ, level 5 and a shuffle of bytes.
    pub fn blosc2(codec: BloscCodec, level: u32, transform: BloscTransform) -> Self {
        Self::with_default_flags(FilterId::BLOSC2, [0, 0, 0, 0, level, transform.number(), codec.number()])
    }

    /// Returns a request for the zfp filter in the compression mode `mode`.
    #[cfg(feature = "zfp")]
    pub fn zfp(mode: crate::zfp::Mode) -> Self {
        Self::with_default_flags(FilterId::ZFP, mode.request())
    }

    /// Returns a request for the zfp filter with an average of `bits` bits for each value.
    #[cfg(feature = "zfp")]
    pub fn zfp_rate(bits: f64) -> Self {
        Self::zfp(crate::zfp::Mode::Rate(bits))
    }

    /// Returns a request for the zfp filter with `bits` bit planes, 1 to 64.
    #[cfg(feature = "zfp")]
    pub fn zfp_precision(bits: u32) -> Self {
        Self::zfp(crate::zfp::Mode::Precision(bits))
    }

    /// Returns a request for the zfp filter with errors below `error`.
    #[cfg(feature = "zfp")]
    pub fn zfp_accuracy(error: f64) -> Self {
        Self::zfp(crate::zfp::Mode::Accuracy(error))
    }

    /// Returns a request for the zfp filter in its lossless mode.
    #[cfg(feature = "zfp")]
    pub fn zfp_reversible() -> Self {
        Self::zfp(crate::zfp::Mode::Reversible)
    }

    /// Makes the requested filter optional: chunks that the filter cannot encode are stored without
    /// the filter.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { flags: self.flags | Stage::OPTIONAL, ..self }
    }

    /// Accepts the requested filter even if it is missing in the registry. A new dataset then
    /// stores chunks without the filter, and its filter pipeline still names the filter.
    ///
    /// ```
    /// use hyperslab_filter::{DatasetFacts, FilterId, FilterSpec, Pipeline, Registry};
    /// use hyperslab_datatype::Datatype;
    /// let (datatype, chunk) = (Datatype::u8(), [10]);
    /// let (facts, registry) = (DatasetFacts::new(&datatype, &chunk), Registry::default());
    /// let unknown = FilterSpec::custom(FilterId(256), 1, [], None);
    /// assert!(Pipeline::for_dataset(&[unknown.clone()], &facts, &registry).is_err());
    /// assert!(Pipeline::for_dataset(&[unknown.or_missing()], &facts, &registry).is_ok());
    /// ```
    #[must_use]
    pub fn or_missing(self) -> Self {
        Self { may_be_missing: true, ..self }
    }

    /// Makes the requested filter mandatory: a write fails if the filter cannot encode a chunk.
    #[must_use]
    pub fn mandatory(self) -> Self {
        Self { flags: self.flags & !Stage::OPTIONAL, ..self }
    }

    /// Returns the number of the requested filter.
    pub fn id(&self) -> FilterId {
        self.id
    }

    /// Returns the flags of the requested filter. Bit 0 means that the filter is optional.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// Returns the client data that the user requested for the filter.
    pub fn client_data(&self) -> &[u32] {
        &self.client_data
    }

    /// Returns the name of the filter that the request contains.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn is_optional(&self) -> bool {
        self.flags & Stage::OPTIONAL != 0
    }

    /// Returns the requested filter as a stage of a filter pipeline. `client_data` are the client
    /// data for the file.
    fn stage(&self, client_data: Vec<u32>) -> Stage {
        let name = self.name.clone().or_else(|| stored_name(self.id).map(str::to_owned));
        Stage { id: self.id, flags: self.flags, name, client_data }
    }

    fn prepare(&self, dataset: &DatasetFacts<'_>, registry: &Registry) -> Result<Stage> {
        let Some(filter) = registry.get(self.id) else {
            if self.may_be_missing && self.is_optional() {
                return Ok(self.stage(self.client_data.clone()));
            }
            return Err(FilterError::Missing { id: self.id, name: None });
        };
        if !filter.can_encode() {
            let subject = "encoding".to_owned();
            return Err(FilterError::Unsupported { id: self.id, subject });
        }
        if has_no_chunk_bytes(dataset) {
            // Such chunks hold addresses in a heap. libhdf5 stores the requested client data
            // without a call that prepares the filter.
            if !self.is_optional() {
                let reason = "elements of variable length cannot have mandatory filters";
                return Err(FilterError::refused(self.id, reason));
            }
            return Ok(self.stage(self.client_data.clone()));
        }
        if !self.is_optional() {
            filter.check_dataset(dataset)?;
        }
        Ok(self.stage(filter.prepare(&self.client_data, dataset)?))
    }
}

impl Pipeline {
    /// Returns the filter pipeline of a new dataset for the requested filters. Client data, flags
    /// and names are those that libhdf5 and the plug-ins store.
    ///
    /// # Errors
    /// [`FilterError::Missing`] if `registry` lacks a filter; the message names the feature to
    /// enable. [`FilterError::Unsupported`] if the filter cannot encode. [`FilterError::Refused`]
    /// if parameters are invalid, or if the filter does not support the elements or chunks; for
    /// optional filters only where libhdf5 refuses, too.
    pub fn for_dataset(
        specs: &[FilterSpec],
        dataset: &DatasetFacts<'_>,
        registry: &Registry,
    ) -> Result<Self> {
        specs.iter().map(|spec| spec.prepare(dataset, registry)).collect::<Result<_>>().map(Self::new)
    }
}

/// Returns true if elements of the new dataset have variable length. The chunks then have no fixed
/// number of bytes for filters.
fn has_no_chunk_bytes(dataset: &DatasetFacts<'_>) -> bool {
    matches!(dataset.datatype.class, DatatypeClass::VariableLength(_))
}

/// Returns the default flags of a filter for files. Bit 0 means that the filter is optional.
fn default_flags(id: FilterId) -> u16 {
    if id == FilterId::FLETCHER32 { 0 } else { Stage::OPTIONAL }
}

/// Returns the name that the original implementation of a filter stores in files.
fn stored_name(id: FilterId) -> Option<&'static str> {
    Some(match id {
        FilterId::LZO => "lzo",
        FilterId::LZF => "lzf",
        FilterId::BLOSC => "blosc",
        FilterId::BLOSC2 => "blosc2",
        FilterId::BITSHUFFLE => "bitshuffle; see https://github.com/kiyo-masui/bitshuffle",
        FilterId::LZ4 => {
            "HDF5 lz4 filter; see https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md"
        }
        FilterId::ZSTD => {
            "HDF5 zstd filter; see https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md"
        }
        FilterId::ZFP => "H5Z-ZFP-1.1.1 (ZFP-1.0.1)",
        id => return id.name(),
    })
}

#[cfg(test)]
mod tests;
