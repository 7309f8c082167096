//! References: elements that refer to objects, regions of datasets and attributes.

use hyperslab_dataspace::Selection;
use hyperslab_datatype::{Reference, ReferenceKind};
use hyperslab_exact::to_usize;
use hyperslab_format::codec::{Address, FileParams, Reader};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::reference::{
    ReferenceBlock, ReferenceTarget as BlockTarget, RegionBlock, StoredReference,
};

use crate::error::{Error, Result};
use crate::index::global_heap::GlobalHeap;
use crate::store::{Store, at};

/// The target of an element of reference type: an object, elements of a dataset, an attribute, a
/// target in another file, or none.
#[derive(Debug, Clone, PartialEq)]
pub enum ReferenceTarget {
    /// No target.
    Null,
    /// An object, by the address of its object header.
    Object(Address),
    /// Selected elements of a dataset.
    Region(Address, Selection),
    /// An attribute, by the address of its object's header and the bytes of its name.
    Attribute(Address, Vec<u8>),
    /// A target in another file.
    External {
        /// The bytes of the file's name.
        file: Vec<u8>,
        /// The target in that file.
        target: Box<Self>,
    },
}

impl ReferenceTarget {
    /// Decodes the target of an element of reference type, from the bytes `element`.
    pub fn read(store: &Store, heap: &GlobalHeap, kind: Reference, element: &[u8]) -> Result<Self> {
        match kind.kind {
            ReferenceKind::Object1 => {
                let address = Reader::new("object reference", element).offset(store.params(), "address")?;
                Ok(if address.raw() == 0 || !address.is_defined() {
                    Self::Null
                } else {
                    Self::Object(address)
                })
            }
            ReferenceKind::DatasetRegion1 => Self::old_region(store, heap, element),
            ReferenceKind::Object2 | ReferenceKind::DatasetRegion2 | ReferenceKind::Attribute => {
                Self::revised(store, heap, element)
            }
        }
    }

    fn old_region(store: &Store, heap: &GlobalHeap, element: &[u8]) -> Result<Self> {
        if element.iter().all(|byte| *byte == 0) {
            return Ok(Self::Null);
        }
        let id = GlobalHeapId::read(&mut Reader::new("region reference", element), store.params())?;
        let object = heap.get(store, id)?;
        let block = at(RegionBlock::decode(object.bytes(), store.params()), id.collection)?;
        Ok(Self::Region(block.object, block.selection))
    }

    fn revised(store: &Store, heap: &GlobalHeap, element: &[u8]) -> Result<Self> {
        let params = store.params();
        let (kind, external, size, id) = match StoredReference::decode(element, params)? {
            StoredReference::Null => return Ok(Self::Null),
            StoredReference::Object(token) => return Ok(Self::Object(token.address(params)?)),
            StoredReference::Block { kind, external, size, id } => (kind, external, size, id),
        };
        let object = heap.get(store, id)?;
        let stored = object.bytes();
        let size = to_usize(size.into())?;
        let bytes = stored.get(..size).ok_or_else(|| {
            Error::corrupt("reference", "size", format!("at most {} bytes", stored.len()), size)
        })?;
        let block = at(ReferenceBlock::decode(bytes, kind, external), id.collection)?;
        // A token has the width of addresses in its own file, which may be another file.
        let width = block.token.0.len();
        let size = u8::try_from(width)
            .map_err(|_| Error::corrupt("reference", "token size", "at most 255 bytes", width))?;
        let params = match block.file {
            Some(_) => FileParams { size_of_offsets: size, ..params },
            None => params,
        };
        let address = block.token.address(params)?;
        let target = match block.target {
            BlockTarget::Object => Self::Object(address),
            BlockTarget::Region { selection, .. } => Self::Region(address, selection),
            BlockTarget::Attribute { name } => Self::Attribute(address, name),
        };
        Ok(match block.file {
            Some(file) => Self::External { file, target: Box::new(target) },
            None => target,
        })
    }
}
