//! References as elements of datasets and as blocks in the global heap (File Format Specification,
//! sections VIII.B and VIII.C).
//!
//! ```text
//! object reference, old              object address (O)
//! region reference, old              global heap ID; in the heap: object address (O), selection
//!
//! reference, revised (2 + 4 + O + 4 bytes)
//! byte  0   type                     2 object, 3 dataset region, 4 attribute
//!       1   flags                    bit 0: target in another file
//!           object in this file:     token size (1), token; zeros
//!           all others:              size of the block (4), global heap ID
//!
//! reference block, in the heap
//! byte  0   token size (1), token
//!           target in another file:  length (2) and name of the file
//!           dataset region:          size of the selection (4), rank (4), selection
//!           attribute:               length (2) and name of the attribute
//! ```
//! A type of 0 is a null reference. A block may be longer than its contents.

use hyperslab_dataspace::Selection;
use smallvec::SmallVec;

use crate::codec::{Address, FileParams, Reader, Result, Writer};
use crate::global_heap::GlobalHeapId;
use crate::selection::{SelectionFormat, encode_selection, rank, read_selection, write_selection};

const NAME: &str = "reference";
const BLOCK_NAME: &str = "reference block";
const OBJECT: u8 = 2;
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;
const EXTERNAL: u8 = 1;

/// The identity of an object within its file. In HDF5 files, a token is the object's address in
/// `size_of_offsets` bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectToken(pub SmallVec<[u8; 16]>);

impl ObjectToken {
    /// Creates the token (identity) of the object whose header is at `address`.
    ///
    /// # Errors
    /// Returns `Encode` if the address does not fit the file's address size.
    pub fn from_address(address: Address, params: FileParams) -> Result<Self> {
        let mut writer = Writer::new(NAME);
        writer.offset(params, address, "token");
        Ok(Self(SmallVec::from_vec(writer.finish()?)))
    }

    /// Returns the address of the object that the object token identifies.
    ///
    /// # Errors
    /// Returns `Corrupt` if the token is longer or shorter than an address.
    pub fn address(&self, params: FileParams) -> Result<Address> {
        let mut reader = Reader::new(NAME, &self.0);
        let address = reader.offset(params, "token")?;
        reader.finish()?;
        Ok(address)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let size = reader.u8("token size")?;
        Ok(Self(SmallVec::from_slice(reader.take(size.into(), "token")?)))
    }

    fn write(&self, writer: &mut Writer) {
        writer.narrow_u8(self.0.len(), "token size");
        writer.bytes(&self.0);
    }
}

/// The global heap object of a region reference of the old kind (before HDF5 1.12): the address of
/// the dataset and the selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionBlock {
    /// Address of the dataset.
    pub object: Address,
    /// Referenced elements.
    pub selection: Selection,
}

impl RegionBlock {
    /// Decodes the global heap object of an old region reference. Bytes after the selection are
    /// ignored.
    ///
    /// # Errors
    /// Returns an error if bytes are missing or contradict the format.
    pub fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut reader = Reader::new("region reference", bytes);
        let object = reader.offset(params, "object address")?;
        Ok(Self { object, selection: read_selection(&mut reader)? })
    }

    /// Encodes the global heap object of an old region reference.
    ///
    /// # Errors
    /// Returns `Encode` if the selection cannot be encoded.
    pub fn encode(&self, params: FileParams, encoding: SelectionFormat) -> Result<Vec<u8>> {
        let mut writer = Writer::new("region reference");
        writer.offset(params, self.object, "object address");
        write_selection(&mut writer, &self.selection, encoding);
        writer.finish()
    }
}

/// A revised reference (of HDF5 1.12 and later) as stored in an element of a dataset: null, the
/// token of an object, or the ID of a global heap object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredReference {
    /// Null reference.
    Null,
    /// Reference to an object in this file.
    Object(ObjectToken),
    /// Reference with a block in the global heap.
    Block {
        /// Kind of the reference.
        kind: ReferenceTargetKind,
        /// True if the target lies in another file.
        external: bool,
        /// Size of the block in bytes.
        size: u32,
        /// Global heap ID of the [`ReferenceBlock`].
        id: GlobalHeapId,
    },
}

/// The kind of the target of a revised reference (of HDF5 1.12 and later): an object, a region of a
/// dataset, or an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceTargetKind {
    /// An object.
    Object,
    /// Selected elements of a dataset.
    Region,
    /// An attribute of an object.
    Attribute,
}

impl ReferenceTargetKind {
    fn number(self) -> u8 {
        match self {
            Self::Object => OBJECT,
            Self::Region => REGION,
            Self::Attribute => ATTRIBUTE,
        }
    }
}

impl StoredReference {
    /// Returns the size in bytes of an element that stores a revised reference.
    pub const fn size(params: FileParams) -> usize {
        2 + 4 + GlobalHeapId::size(params)
    }

    /// Decodes an element of a dataset that stores a revised reference.
    ///
    /// # Errors
    /// Returns `Unsupported` for an unknown type and `Corrupt` for missing bytes.
    pub fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes);
        let kind = match reader.u8("reference type")? {
            0 => return Ok(Self::Null),
            OBJECT => ReferenceTargetKind::Object,
            REGION => ReferenceTargetKind::Region,
            ATTRIBUTE => ReferenceTargetKind::Attribute,
            other => return Err(reader.unsupported(format!("reference type {other}"))),
        };
        let external = reader.u8("flags")? & EXTERNAL != 0;
        if kind == ReferenceTargetKind::Object && !external {
            return ObjectToken::read(&mut reader).map(Self::Object);
        }
        let size = reader.u32("size")?;
        Ok(Self::Block { kind, external, size, id: GlobalHeapId::read(&mut reader, params)? })
    }

    /// Encodes the revised reference as an element of a dataset, of [`size`](Self::size) bytes.
    ///
    /// # Errors
    /// Returns `Encode` if the token is too long, or if a block refers to an object in this file.
    pub fn encode(&self, params: FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(NAME);
        match self {
            Self::Null => {}
            Self::Object(token) => {
                writer.u8(OBJECT);
                writer.u8(0);
                token.write(&mut writer);
            }
            Self::Block { kind, external, size, id } => {
                if *kind == ReferenceTargetKind::Object && !*external {
                    writer.fail(
                        "reference type",
                        "a heap block for an object in this file, which needs only a token",
                    );
                }
                writer.u8(kind.number());
                writer.u8(u8::from(*external));
                writer.u32(*size);
                id.write(&mut writer, params);
            }
        }
        writer.pad_to(Self::size(params), "token");
        writer.finish()
    }
}

/// The contents of a global heap object for a revised reference (of HDF5 1.12 and later): the
/// object, and the target within the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceBlock {
    /// Token of the object.
    pub token: ObjectToken,
    /// Name of the file with the object, or `None` for this file.
    pub file: Option<Vec<u8>>,
    /// Target within the object.
    pub target: ReferenceTarget,
}

/// The target of a revised reference (of HDF5 1.12 and later): an object, a region of a dataset, or
/// an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// The object itself.
    Object,
    /// Selected elements of the dataset.
    Region {
        /// Rank of the dataset.
        rank: u32,
        /// Selected elements.
        selection: Selection,
    },
    /// An attribute of the object.
    Attribute {
        /// Name of the attribute.
        name: Vec<u8>,
    },
}

impl ReferenceTarget {
    /// Returns the kind of the target of a revised reference, which the stored reference states.
    pub fn kind(&self) -> ReferenceTargetKind {
        match self {
            Self::Object => ReferenceTargetKind::Object,
            Self::Region { .. } => ReferenceTargetKind::Region,
            Self::Attribute { .. } => ReferenceTargetKind::Attribute,
        }
    }
}

impl ReferenceBlock {
    /// Decodes the global heap object of a revised reference with a target of the kind `kind`.
    /// `external` is true if the target lies in another file. Bytes after the contents are ignored.
    ///
    /// # Errors
    /// Returns an error if bytes are missing or contradict the format.
    pub fn decode(bytes: &[u8], kind: ReferenceTargetKind, external: bool) -> Result<Self> {
        let mut reader = Reader::new(BLOCK_NAME, bytes);
        let token = ObjectToken::read(&mut reader)?;
        let file = if external { Some(read_name(&mut reader, "external file name")?) } else { None };
        let target = match kind {
            ReferenceTargetKind::Object => ReferenceTarget::Object,
            ReferenceTargetKind::Region => read_region(&mut reader)?,
            ReferenceTargetKind::Attribute => {
                ReferenceTarget::Attribute { name: read_name(&mut reader, "attribute name")? }
            }
        };
        Ok(Self { token, file, target })
    }

    /// Encodes the global heap object of the revised reference.
    ///
    /// # Errors
    /// Returns `Encode` if a name is longer than 65535 bytes, or if the selection cannot be
    /// encoded.
    pub fn encode(&self, encoding: SelectionFormat) -> Result<Vec<u8>> {
        let mut writer = Writer::new(BLOCK_NAME);
        self.token.write(&mut writer);
        if let Some(file) = &self.file {
            write_name(&mut writer, file, "external file name");
        }
        match &self.target {
            ReferenceTarget::Object => {}
            ReferenceTarget::Region { rank, selection } => {
                let image = encode_selection(selection, encoding)?;
                writer.narrow_u32(image.len(), "size of dataspace selection");
                writer.u32(*rank);
                writer.bytes(&image);
            }
            ReferenceTarget::Attribute { name } => write_name(&mut writer, name, "attribute name"),
        }
        writer.finish()
    }
}

fn read_region(reader: &mut Reader<'_>) -> Result<ReferenceTarget> {
    let size = reader.u32("size of dataspace selection")?;
    let dataset_rank = reader.u32("rank of dataspace selection")?;
    let image = reader.take_u64(size.into(), "dataspace selection information")?;
    let selection = read_selection(&mut Reader::new(BLOCK_NAME, image))?;
    if let Some(rank) = rank(&selection).filter(|rank| *rank as u64 != u64::from(dataset_rank)) {
        return Err(reader.corrupt("rank of dataspace selection", rank.to_string(), dataset_rank));
    }
    Ok(ReferenceTarget::Region { rank: dataset_rank, selection })
}

fn read_name(reader: &mut Reader<'_>, field: &'static str) -> Result<Vec<u8>> {
    let length = reader.u16(field)?;
    Ok(reader.take(length.into(), field)?.to_vec())
}

fn write_name(writer: &mut Writer, name: &[u8], field: &'static str) {
    writer.narrow_u16(name.len(), field);
    writer.bytes(name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::damage;
    use crate::selection::tests::selection;
    use hyperslab_dataspace::Points;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };
    const ALL: &[u8] = b"\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";

    fn token() -> ObjectToken {
        ObjectToken::from_address(Address::new(0x728), PARAMS).unwrap()
    }

    #[test]
    fn old_region() {
        let mut bytes = [b"\x28\x07\x00\x00", ALL].concat();
        let region = RegionBlock::decode(&bytes, PARAMS).unwrap();
        assert_eq!(region, RegionBlock { object: Address::new(0x728), selection: Selection::All });
        assert_eq!(region.encode(PARAMS, SelectionFormat::Compact).unwrap(), bytes);
        bytes.push(0);
        assert!(RegionBlock::decode(&bytes, PARAMS).is_ok());
    }

    #[test]
    fn elements() {
        let object = b"\x02\x00\x04\x28\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00";
        let reference = StoredReference::decode(object, PARAMS).unwrap();
        assert_eq!(reference, StoredReference::Object(token()));
        assert_eq!(token().address(PARAMS), Ok(Address::new(0x728)));
        assert!(token().address(FileParams::DEFAULT).is_err());
        assert_eq!(reference.encode(PARAMS).unwrap(), object);
        let attribute = b"\x04\x01\x20\x00\x00\x00\x48\x08\x00\x00\x01\x00\x00\x00";
        let reference = StoredReference::decode(attribute, PARAMS).unwrap();
        let id = GlobalHeapId { collection: Address::new(0x848), index: 1 };
        let kind = ReferenceTargetKind::Attribute;
        assert_eq!(reference, StoredReference::Block { kind, external: true, size: 32, id });
        assert_eq!(reference.encode(PARAMS).unwrap(), attribute);
        assert_eq!(StoredReference::decode(&[0; 14], PARAMS), Ok(StoredReference::Null));
        assert_eq!(StoredReference::Null.encode(PARAMS).unwrap(), [0; 14]);
        assert!(StoredReference::decode(&[5; 14], PARAMS).unwrap_err().to_string().contains("type 5"));
        let inside =
            StoredReference::Block { kind: ReferenceTargetKind::Object, external: false, size: 1, id };
        assert!(inside.encode(PARAMS).is_err());
    }

    #[test]
    fn blocks() {
        let bytes = b"\x04\x28\x07\x00\x00\x0e\x00trefer_ext1.h5\x05\x00Attr1";
        let block = ReferenceBlock::decode(bytes, ReferenceTargetKind::Attribute, true).unwrap();
        let target = ReferenceTarget::Attribute { name: b"Attr1".to_vec() };
        assert_eq!(block, ReferenceBlock { token: token(), file: Some(b"trefer_ext1.h5".to_vec()), target });
        assert_eq!(block.encode(SelectionFormat::Compact).unwrap(), bytes);
        // A region with a block that is longer than its contents.
        let bytes = [b"\x04\x28\x07\x00\x00\x10\x00\x00\x00\x01\x00\x00\x00", ALL, &[0; 9]].concat();
        let block = ReferenceBlock::decode(&bytes, ReferenceTargetKind::Region, false).unwrap();
        assert_eq!(block.target, ReferenceTarget::Region { rank: 1, selection: Selection::All });
        assert_eq!(block.encode(SelectionFormat::Compact).unwrap(), bytes[..bytes.len() - 9]);
        let points = Selection::Points(Points { rank: 2, coordinates: vec![1, 2] });
        let target = ReferenceTarget::Region { rank: 1, selection: points };
        let wrong = ReferenceBlock { target, ..block }.encode(SelectionFormat::Compact).unwrap();
        assert!(ReferenceBlock::decode(&wrong, ReferenceTargetKind::Region, false).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(
            selection in selection(),
            kind in 0..3,
            name in prop::collection::vec(any::<u8>(), 0..9),
            file in prop::option::of(prop::collection::vec(any::<u8>(), 0..9)),
            damage in damage(),
        ) {
            let target = match kind {
                0 => ReferenceTarget::Object,
                1 => ReferenceTarget::Attribute { name },
                _ => ReferenceTarget::Region { rank: u32::try_from(rank(&selection).unwrap_or(3)).unwrap(), selection },
            };
            let (kind, external) = (target.kind(), file.is_some());
            let block = ReferenceBlock { token: token(), file, target };
            let bytes = block.encode(SelectionFormat::Compact).unwrap();
            prop_assert_eq!(&ReferenceBlock::decode(&bytes, kind, external).unwrap(), &block);
            damage.inflict(&bytes, |bytes| {
                drop(ReferenceBlock::decode(bytes, kind, external));
                drop(StoredReference::decode(bytes, PARAMS));
                drop(RegionBlock::decode(bytes, PARAMS));
            });
        }
    }
}
