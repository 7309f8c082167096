//! Data layout message: the storage of a dataset's raw data (section IV.A.2.i).
//!
//! ```text
//! versions 1 and 2                          versions 3, 4 and 5
//! size  field                               size  field
//! 1     version = 1 or 2                    1     version = 3, 4 or 5
//! 1     dimensionality (D)                  1     layout class
//! 1     layout class                        ..    properties
//! 5     reserved (zero)
//! O     data address (not compact)
//! D x 4 dimension sizes
//! 4     compact data size (n, compact)
//! n     compact data (compact)
//! ```
//! Properties:
//! ```text
//! class 0 compact    2 size (n), n raw data
//! class 1 contiguous O address, L size in bytes
//! class 2 chunked    see `chunked`
//! class 3 virtual    O address of the global heap collection, 4 object index (from version 4 on)
//! class 4 structured see `structured` (version 5)
//! ```
//!
//! HDF5 2.0 writes version 5 for chunked datasets with filters or with chunks of 4 GiB and more.
//! The message is the same as in version 4. Only the chunk index differs: its entries store the
//! size of a filtered chunk in eight bytes.

use smallvec::SmallVec;

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

mod chunked;
mod structured;

pub use chunked::{
    BTreeV2Parameters, ChunkFlags, ChunkIndexParameters, ChunkedLayout, ExtensibleArrayParameters,
    FilteredChunk, FixedArrayParameters,
};
pub use structured::{
    FieldOrder, SingleStructuredChunk, StructuredChunkLayout, StructuredChunkType, StructuredIndex,
};

/// Largest dimensionality of a chunk in a data layout message: the largest rank, plus one for the
/// element size.
const MAX_DIMENSIONALITY: usize = hyperslab_dataspace::MAX_RANK + 1;

const COMPACT: u8 = 0;
const CONTIGUOUS: u8 = 1;
const CHUNKED: u8 = 2;
const VIRTUAL: u8 = 3;
const STRUCTURED: u8 = 4;

/// The data layout message: the storage of a dataset's raw data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataLayout {
    /// Version of the message: 1 to 5.
    pub version: u8,
    /// Storage class with its properties.
    pub layout: Layout,
}

/// The layout of a dataset's raw data (the storage class), with its properties.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Raw data in the message.
    Compact(CompactLayout),
    /// Raw data in one block.
    Contiguous(ContiguousLayout),
    /// Raw data in chunks of equal size.
    Chunked(ChunkedLayout),
    /// Raw data in other datasets.
    Virtual(VirtualLayout),
    /// Raw data in structured chunks (sparse data, variable-length data).
    Structured(StructuredChunkLayout),
}

/// Dimension sizes that data layout messages of versions 1 and 2 state for compact and contiguous
/// storage. libhdf5 ignores these sizes and uses the dataspace. Empty in later versions.
pub type ArrayDims = SmallVec<[u32; 4]>;

/// The properties of compact storage: raw data in the data layout message itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CompactLayout {
    /// The raw data.
    pub data: Vec<u8>,
    /// Dimension sizes (versions 1 and 2).
    pub array_dims: ArrayDims,
}

/// The properties of contiguous storage: a dataset's raw data in one block of the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContiguousLayout {
    /// Address of the block; undefined while no space is allocated, and for data in external files.
    pub address: Address,
    /// Size of the block in bytes. `None` in versions 1 and 2, where dataspace and datatype
    /// determine the size.
    pub size: Option<u64>,
    /// Dimension sizes (versions 1 and 2).
    pub array_dims: ArrayDims,
}

/// The properties of virtual storage: a dataset whose elements lie in other datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VirtualLayout {
    /// Address of the global heap collection with the mappings; undefined if there are no mappings
    /// yet.
    pub heap: Address,
    /// Number of the object in the collection.
    pub index: u32,
}

impl Message<'_> for DataLayout {
    const TYPE: MessageType = MessageType::DATA_LAYOUT;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let version = r.version(&[1, 2, 3, 4, 5])?;
        if version < 3 {
            return Ok(Self { version, layout: decode_old(&mut r, params)? });
        }
        let layout = match (r.u8("layout class")?, version) {
            (COMPACT, _) => {
                let size = r.u16("size")?;
                let data = r.take(size.into(), "raw data")?.to_vec();
                Layout::Compact(CompactLayout { data, array_dims: ArrayDims::new() })
            }
            (CONTIGUOUS, _) => Layout::Contiguous(ContiguousLayout {
                address: r.offset(params, "address")?,
                size: Some(r.length(params, "size")?),
                array_dims: ArrayDims::new(),
            }),
            (CHUNKED, 3) => Layout::Chunked(ChunkedLayout::decode_version_3(&mut r, params)?),
            (CHUNKED, _) => Layout::Chunked(ChunkedLayout::decode_version_4(&mut r, params)?),
            (VIRTUAL, 4..) => {
                Layout::Virtual(VirtualLayout { heap: r.offset(params, "address")?, index: r.u32("index")? })
            }
            (STRUCTURED, 5..) => Layout::Structured(StructuredChunkLayout::decode(&mut r, params)?),
            (class, _) => return Err(r.unsupported(format!("layout class {class} in version {version}"))),
        };
        Ok(Self { version, layout })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(self.version);
        if !(1..=5).contains(&self.version) {
            w.fail("version", self.version);
        }
        if self.version < 3 {
            return self.encode_old(params, w);
        }
        w.u8(self.class());
        match &self.layout {
            Layout::Compact(compact) => {
                refuse_array_dims(&compact.array_dims, w);
                w.narrow_u16(compact.data.len(), "size");
                w.bytes(&compact.data);
            }
            Layout::Contiguous(contiguous) => {
                refuse_array_dims(&contiguous.array_dims, w);
                w.offset(params, contiguous.address, "address");
                match contiguous.size {
                    Some(size) => w.length(params, size, "size"),
                    None => w.fail("size", "no size"),
                }
            }
            Layout::Chunked(chunked) if self.version == 3 => chunked.encode_version_3(params, w),
            Layout::Chunked(chunked) => chunked.encode_version_4(params, w),
            Layout::Virtual(storage) => {
                if self.version < 4 {
                    w.fail("layout class", "virtual before version 4");
                }
                w.offset(params, storage.heap, "address");
                w.u32(storage.index);
            }
            Layout::Structured(structured) => {
                if self.version < 5 {
                    w.fail("layout class", "structured chunk before version 5");
                }
                structured.encode(params, w);
            }
        }
    }
}

impl DataLayout {
    /// Returns the layout class number for a data layout message, such as 2 for chunks.
    const fn class(&self) -> u8 {
        match self.layout {
            Layout::Compact(_) => COMPACT,
            Layout::Contiguous(_) => CONTIGUOUS,
            Layout::Chunked(_) => CHUNKED,
            Layout::Virtual(_) => VIRTUAL,
            Layout::Structured(_) => STRUCTURED,
        }
    }

    fn encode_old(&self, params: FileParams, w: &mut Writer) {
        let (address, dims, data) = match &self.layout {
            Layout::Compact(compact) => (None, compact.array_dims.clone(), Some(&compact.data)),
            Layout::Contiguous(contiguous) => {
                if contiguous.size.is_some() {
                    w.fail("size", "a stored size before version 3");
                }
                (Some(contiguous.address), contiguous.array_dims.clone(), None)
            }
            Layout::Chunked(chunked) => (Some(chunked.address), chunked.dims_before_version_4(w), None),
            Layout::Virtual(_) | Layout::Structured(_) => {
                w.fail("layout class", self.class());
                return;
            }
        };
        if !(1..=MAX_DIMENSIONALITY).contains(&dims.len()) {
            w.fail("dimensionality", dims.len());
        }
        w.narrow_u8(dims.len(), "dimensionality");
        w.u8(self.class());
        w.zeros(5);
        if let Some(address) = address {
            w.offset(params, address, "data address");
        }
        for dim in dims {
            w.u32(dim);
        }
        if let Some(data) = data {
            w.narrow_u32(data.len(), "compact data size");
            w.bytes(data);
        }
    }
}

/// Decodes the fields after the version in a data layout message of version 1 or 2.
fn decode_old(r: &mut Reader<'_>, params: FileParams) -> Result<Layout> {
    let dimensionality = decode_dimensionality(r, 1)?;
    let class = r.u8("layout class")?;
    r.skip(5, "reserved")?;
    let address = match class {
        COMPACT => Address::UNDEFINED,
        CONTIGUOUS | CHUNKED => r.offset(params, "data address")?,
        _ => return Err(r.unsupported(format!("layout class {class} before version 3"))),
    };
    let mut array_dims = ArrayDims::new();
    for _ in 0..dimensionality {
        array_dims.push(r.u32("dimension size")?);
    }
    match class {
        COMPACT => {
            let size = r.u32("compact data size")?;
            let data = r.take_u64(size.into(), "compact data")?.to_vec();
            Ok(Layout::Compact(CompactLayout { data, array_dims }))
        }
        CONTIGUOUS => Ok(Layout::Contiguous(ContiguousLayout { address, size: None, array_dims })),
        _ => Ok(Layout::Chunked(ChunkedLayout::before_version_4(r, address, &array_dims)?)),
    }
}

/// Reads the dimensionality from a data layout message. For chunks, the element size counts as one
/// more dimension.
fn decode_dimensionality(r: &mut Reader<'_>, least: usize) -> Result<usize> {
    let dimensionality = usize::from(r.u8("dimensionality")?);
    if (least..=MAX_DIMENSIONALITY).contains(&dimensionality) {
        return Ok(dimensionality);
    }
    Err(r.corrupt("dimensionality", format!("{least} to {MAX_DIMENSIONALITY}"), dimensionality))
}

/// Records an error if a data layout message has dimension sizes of the dataset. Messages from
/// version 3 on cannot store these sizes.
fn refuse_array_dims(array_dims: &ArrayDims, w: &mut Writer) {
    if !array_dims.is_empty() {
        w.fail("dimension size", "dimension sizes from version 3 on");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, lengths, params};
    use proptest::prelude::*;
    use smallvec::smallvec;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    #[test]
    fn contiguous() {
        let old = ContiguousLayout { address: Address::new(0x320), size: None, array_dims: smallvec![5, 4] };
        let new = ContiguousLayout { size: Some(20), array_dims: smallvec![], ..old.clone() };
        let message = DataLayout { version: 1, layout: Layout::Contiguous(old) };
        assert_eq!(
            assert_laws!(DataLayout, message, SMALL),
            [1, 2, 1, 0, 0, 0, 0, 0, 0x20, 3, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0]
        );
        let message = DataLayout { version: 3, layout: Layout::Contiguous(new) };
        assert_eq!(assert_laws!(DataLayout, message, SMALL), [3, 1, 0x20, 3, 0, 0, 20, 0]);
    }

    #[test]
    fn compact() {
        let old = CompactLayout { data: vec![7, 8], array_dims: smallvec![2] };
        let new = CompactLayout { array_dims: smallvec![], ..old.clone() };
        let message = DataLayout { version: 2, layout: Layout::Compact(old) };
        assert_eq!(
            assert_laws!(DataLayout, message, SMALL),
            [2, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8]
        );
        let message = DataLayout { version: 4, layout: Layout::Compact(new) };
        assert_eq!(assert_laws!(DataLayout, message, SMALL), [4, 0, 2, 0, 7, 8]);
    }

    #[test]
    fn virtual_from_version_4_on() {
        let layout = Layout::Virtual(VirtualLayout { heap: Address::new(0x320), index: 1 });
        let message = DataLayout { version: 4, layout };
        assert_eq!(assert_laws!(DataLayout, message, SMALL), [4, 3, 0x20, 3, 0, 0, 1, 0, 0, 0]);
        assert!(DataLayout::decode(&[3, 3, 0x20, 3, 0, 0, 1, 0, 0, 0], SMALL).is_err());
        assert!(DataLayout { version: 3, ..message }.to_bytes(SMALL).is_err());
    }

    #[test]
    fn refuses_contradictions() {
        let decode = |bytes: &[u8]| DataLayout::decode(bytes, SMALL);
        assert!(decode(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err(), "no dimensions");
        assert!(decode(&[1, 34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err(), "too many dimensions");
        assert!(decode(&[1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err(), "class");
        assert!(decode(&[3, 0, 9, 0, 1]).is_err(), "cut off");
        assert!(decode(&[4, 4, 0, 0, 0]).is_err(), "structured chunk in version 4");
        assert!(decode(&[6, 0, 0, 0]).is_err(), "version");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn laws(
            params in params(),
            address in addresses(),
            size in lengths(),
            index in any::<u32>(),
            array_dims in prop::collection::vec(any::<u32>(), 1..=33),
            data in prop::collection::vec(any::<u8>(), 0..40),
            old in 1_u8..=2,
            new in 3_u8..=5,
        ) {
            let array_dims = ArrayDims::from(array_dims);
            for (version, size, array_dims) in [(old, None, array_dims), (new, Some(size), smallvec![])] {
                let layout = Layout::Compact(CompactLayout { data: data.clone(), array_dims: array_dims.clone() });
                assert_laws!(DataLayout, DataLayout { version, layout }, params);
                let layout = Layout::Contiguous(ContiguousLayout { address, size, array_dims });
                assert_laws!(DataLayout, DataLayout { version, layout }, params);
            }
            let layout = Layout::Virtual(VirtualLayout { heap: address, index });
            assert_laws!(DataLayout, DataLayout { version: new.max(4), layout }, params);
        }

        #[test]
        fn survives(params in params(), bytes in bodies(), version in 1_u8..=5, class in 0_u8..=4) {
            assert_survives!(DataLayout, &bytes, params);
            assert_survives!(DataLayout, &[&[version, class][..], &bytes].concat(), params);
        }
    }
}
