//! Filters as they are asked for when a dataset is made: before anything is known of its elements.

mod text;

use hyperslab_datatype::DatatypeClass;

use crate::{DatasetFacts, FilterError, FilterId, Pipeline, Registry, Result, Stage};

pub use text::ParseFilterError;

/// A filter with the parameters its user chose.
///
/// [`Pipeline::for_dataset`] makes the client data of them that a file stores. Filters are optional or mandatory as
/// libhdf5, h5py and hdf5plugin have them: all but the checksum are optional.
///
/// ```
/// use hyperslab_datatype::{ByteOrder, Datatype};
/// use hyperslab_filter::{DatasetFacts, FilterSpec, Pipeline, Registry};
///
/// let specs = [FilterSpec::shuffle(), FilterSpec::deflate(4), FilterSpec::fletcher32()];
/// assert_eq!(FilterSpec::parse_list("shuffle,gzip=4,fletcher32")?, specs);
/// let datatype = Datatype::f64(ByteOrder::LittleEndian);
/// let pipeline = Pipeline::for_dataset(&specs, &DatasetFacts::new(&datatype, &[100, 50]), &Registry::default())?;
/// assert_eq!(pipeline.stages[0].client_data, [8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterSpec {
    id: FilterId,
    flags: u16,
    client_data: Vec<u32>,
    name: Option<String>,
}

/// How szip codes samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SzipCoding {
    /// As they are ("ec").
    Entropy,
    /// Their differences from the one before ("nn").
    NearestNeighbour,
}

/// What encodes the blocks that bitshuffle makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitshuffleCodec {
    /// Nothing.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard.
    Zstd {
        /// 1 to 22.
        level: u32,
    },
}

/// What encodes the blocks of Blosc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscCodec {
    /// BloscLZ.
    BloscLz,
    /// LZ4.
    Lz4,
    /// LZ4, smaller and slower.
    Lz4Hc,
    /// Snappy; not in Blosc2.
    Snappy,
    /// zlib.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// What Blosc does to blocks before they are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscTransform {
    /// Nothing.
    None,
    /// Shuffles bytes.
    Shuffle,
    /// Shuffles bits.
    Bitshuffle,
    /// Takes the differences from the first block; only in Blosc2.
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

/// The options of szip that libhdf5 always sets: samples of 13 split bits are allowed, no header.
const SZIP_OPTIONS: u32 = 1 | 1 << 7;

impl FilterSpec {
    /// Any filter: its number, its flags (bit 0: optional), the client data as its users give them, and the name
    /// that the file is to store, if another than usual.
    pub fn custom(id: FilterId, flags: u16, client_data: impl Into<Vec<u32>>, name: Option<String>) -> Self {
        Self { id, flags, client_data: client_data.into(), name }
    }

    fn usual(id: FilterId, client_data: impl Into<Vec<u32>>) -> Self {
        Self::custom(id, default_flags(id), client_data, None)
    }

    /// Deflate (gzip): levels 0 (as it is) to 9 (smallest); h5py takes 4.
    pub fn deflate(level: u32) -> Self {
        Self::usual(FilterId::DEFLATE, [level])
    }

    /// Bytes of elements, transposed.
    pub fn shuffle() -> Self {
        Self::usual(FilterId::SHUFFLE, [])
    }

    /// A checksum of every chunk. Mandatory, as in libhdf5.
    pub fn fletcher32() -> Self {
        Self::usual(FilterId::FLETCHER32, [])
    }

    /// Szip: samples of a block are even, 2 to 32; h5py takes 8 and the nearest neighbour.
    pub fn szip(coding: SzipCoding, pixels_per_block: u32) -> Self {
        let coding = match coding {
            SzipCoding::Entropy => 4,
            SzipCoding::NearestNeighbour => 32,
        };
        Self::usual(FilterId::SZIP, [coding | SZIP_OPTIONS, pixels_per_block])
    }

    /// Only the bits that the type of the elements uses.
    pub fn nbit() -> Self {
        Self::usual(FilterId::NBIT, [])
    }

    /// Integers as their distances from the smallest, in so many bits; 0 for as many as a chunk takes. Given bits
    /// that do not suffice lose values.
    pub fn scale_offset_int(bits: u32) -> Self {
        Self::usual(FilterId::SCALEOFFSET, [2, bits])
    }

    /// Floating-point numbers, of which so many decimal digits behind the point stay.
    pub fn scale_offset_float(digits: i32) -> Self {
        Self::usual(FilterId::SCALEOFFSET, [0, digits.cast_unsigned()])
    }

    /// LZF, of h5py.
    pub fn lzf() -> Self {
        Self::usual(FilterId::LZF, [])
    }

    /// LZO, of PyTables.
    pub fn lzo() -> Self {
        Self::usual(FilterId::LZO, [])
    }

    /// LZ4 in blocks of so many bytes; 0 for 1 GiB.
    pub fn lz4(block: u32) -> Self {
        Self::usual(FilterId::LZ4, [block])
    }

    /// Zstandard: levels 1 to 22; 0 and hdf5plugin take 3.
    pub fn zstd(level: u32) -> Self {
        Self::usual(FilterId::ZSTD, [level])
    }

    /// bzip2: blocks of 1 to 9 times 100 kB; hdf5plugin takes 9.
    pub fn bzip2(block: u32) -> Self {
        Self::usual(FilterId::BZIP2, [block])
    }

    /// Bits of elements, transposed in blocks of so many elements, a multiple of 8; 0 for about 8 KiB.
    pub fn bitshuffle(block: u32, codec: BitshuffleCodec) -> Self {
        match codec {
            BitshuffleCodec::None => Self::usual(FilterId::BITSHUFFLE, [block, 0]),
            BitshuffleCodec::Lz4 => Self::usual(FilterId::BITSHUFFLE, [block, 2]),
            BitshuffleCodec::Zstd { level } => Self::usual(FilterId::BITSHUFFLE, [block, 3, level]),
        }
    }

    /// Blosc: levels 0 to 9; hdf5plugin takes LZ4, 5, and a shuffle of bytes.
    pub fn blosc(codec: BloscCodec, level: u32, transform: BloscTransform) -> Self {
        Self::usual(FilterId::BLOSC, [0, 0, 0, 0, level, transform.number(), codec.number()])
    }

    /// Blosc2: levels 0 to 9; hdf5plugin takes BloscLZ, 5, and a shuffle of bytes.
    pub fn blosc2(codec: BloscCodec, level: u32, transform: BloscTransform) -> Self {
        Self::usual(FilterId::BLOSC2, [0, 0, 0, 0, level, transform.number(), codec.number()])
    }

    /// zfp in a mode.
    #[cfg(feature = "zfp")]
    pub fn zfp(mode: crate::zfp::Mode) -> Self {
        Self::usual(FilterId::ZFP, mode.request())
    }

    /// zfp: so many bits for each value on average.
    #[cfg(feature = "zfp")]
    pub fn zfp_rate(bits: f64) -> Self {
        Self::zfp(crate::zfp::Mode::Rate(bits))
    }

    /// zfp: so many bit planes, 1 to 64.
    #[cfg(feature = "zfp")]
    pub fn zfp_precision(bits: u32) -> Self {
        Self::zfp(crate::zfp::Mode::Precision(bits))
    }

    /// zfp: errors below this.
    #[cfg(feature = "zfp")]
    pub fn zfp_accuracy(error: f64) -> Self {
        Self::zfp(crate::zfp::Mode::Accuracy(error))
    }

    /// zfp without loss.
    #[cfg(feature = "zfp")]
    pub fn zfp_reversible() -> Self {
        Self::zfp(crate::zfp::Mode::Reversible)
    }

    /// The same filter, optional: chunks that it fails on are stored without it.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { flags: self.flags | Stage::OPTIONAL, ..self }
    }

    /// The same filter, mandatory: what it fails on cannot be written.
    #[must_use]
    pub fn mandatory(self) -> Self {
        Self { flags: self.flags & !Stage::OPTIONAL, ..self }
    }

    /// Which filter.
    pub fn id(&self) -> FilterId {
        self.id
    }

    /// Flags of the filter pipeline message; bit 0: the filter is optional.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// The parameters as they were asked for.
    pub fn client_data(&self) -> &[u32] {
        &self.client_data
    }

    fn is_optional(&self) -> bool {
        self.flags & Stage::OPTIONAL != 0
    }

    /// The filter with the client data that the file stores.
    fn stage(&self, client_data: Vec<u32>) -> Stage {
        let name = self.name.clone().or_else(|| stored_name(self.id).map(str::to_owned));
        Stage { id: self.id, flags: self.flags, name, client_data }
    }

    fn prepare(&self, dataset: &DatasetFacts<'_>, registry: &Registry) -> Result<Stage> {
        let missing = || FilterError::Missing { id: self.id, name: None };
        let filter = registry.get(self.id).ok_or_else(missing)?;
        if !filter.encodes() {
            let what = "writing (the filter is only read)".to_owned();
            return Err(FilterError::Unsupported { id: self.id, what });
        }
        if has_no_chunk_bytes(dataset) {
            // Chunks hold places in a heap: libhdf5 stores what was asked for and leaves filters to chance.
            if !self.is_optional() {
                let reason = "elements of variable length take no mandatory filters";
                return Err(FilterError::refused(self.id, reason));
            }
            return Ok(self.stage(self.client_data.clone()));
        }
        if !self.is_optional() {
            filter.suits(dataset)?;
        }
        Ok(self.stage(filter.prepare(&self.client_data, dataset)?))
    }
}

impl Pipeline {
    /// The filters of a new dataset, with the client data, flags and names that libhdf5 and the plug-ins store.
    ///
    /// # Errors
    /// [`FilterError::Missing`] for a filter that `registry` does not have, which names what to enable;
    /// [`FilterError::Unsupported`] for one that cannot write; [`FilterError::Refused`] for impossible parameters, and
    /// for elements or chunks that the filter is not for, unless it is optional and libhdf5 then leaves it out.
    pub fn for_dataset(
        specs: &[FilterSpec],
        dataset: &DatasetFacts<'_>,
        registry: &Registry,
    ) -> Result<Self> {
        specs.iter().map(|spec| spec.prepare(dataset, registry)).collect::<Result<_>>().map(Self::new)
    }
}

/// Whether elements themselves, not parts of them, are of variable length.
fn has_no_chunk_bytes(dataset: &DatasetFacts<'_>) -> bool {
    matches!(dataset.datatype.class, DatatypeClass::VariableLength(_))
}

/// The flags with which a filter is usually stored.
fn default_flags(id: FilterId) -> u16 {
    if id == FilterId::FLETCHER32 { 0 } else { Stage::OPTIONAL }
}

/// The name that the filter's own implementation gives it in files.
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
