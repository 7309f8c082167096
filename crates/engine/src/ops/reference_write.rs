//! Writes of references, and of the mappings of virtual datasets.

use hyperslab_datatype::{Reference, ReferenceKind};
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::reference::{
    ObjectToken, ReferenceBlock, ReferenceTarget as BlockTarget, ReferenceTargetKind, RegionBlock,
    StoredReference,
};
use hyperslab_format::selection::{SelectionFormat, rank as selection_rank};
use hyperslab_format::virtual_mapping::{VirtualMapping, VirtualMappings};

use super::OpenFile;
use crate::data::variable::ReferenceTarget;
use crate::error::{Error, Result};
use crate::store::Edit;
use crate::versions::LibraryVersion;

impl OpenFile {
    /// Returns an element of the reference type `kind` that refers to `target`. The element has
    /// `size` bytes. Parts of the reference that do not fit in the element are stored in the global
    /// heap.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a reference of this kind cannot refer to `target`, and the
    /// errors of [`Edit::allocate`].
    pub fn store_reference(
        &self,
        edit: &mut Edit<'_>,
        kind: Reference,
        size: usize,
        target: &ReferenceTarget,
    ) -> Result<Vec<u8>> {
        let mut bytes = match (kind.kind, target) {
            (_, ReferenceTarget::Null) => Vec::new(),
            (ReferenceKind::Object1, ReferenceTarget::Object(address)) => {
                let mut writer = Writer::new("object reference");
                writer.offset(edit.params(), *address, "address");
                writer.finish()?
            }
            (ReferenceKind::DatasetRegion1, ReferenceTarget::Region(object, selection)) => {
                let block = RegionBlock { object: *object, selection: selection.clone() };
                let block = block.encode(edit.params(), SelectionFormat::Compatible)?;
                let id = self.container.heap.insert(edit, &block)?;
                let mut writer = Writer::new("region reference");
                id.write(&mut writer, edit.params());
                writer.finish()?
            }
            (ReferenceKind::Object1 | ReferenceKind::DatasetRegion1, _) => {
                return Err(Error::Misuse(
                    "an object reference needs an object as target, and a region reference needs a region"
                        .into(),
                ));
            }
            (_, ReferenceTarget::Object(address)) => {
                let token = ObjectToken::from_address(*address, edit.params())?;
                StoredReference::Object(token).encode(edit.params())?
            }
            (_, target) => self.store_block(edit, target)?,
        };
        if bytes.len() > size {
            let got = bytes.len();
            return Err(Error::Misuse(format!("the reference has {got} bytes, but an element has {size}")));
        }
        bytes.resize(size, 0);
        Ok(bytes)
    }

    fn store_block(&self, edit: &mut Edit<'_>, target: &ReferenceTarget) -> Result<Vec<u8>> {
        let (file, inner) = match target {
            ReferenceTarget::External { file, target } => (Some(file.clone()), &**target),
            other => (None, other),
        };
        let (kind, address, target) = match inner {
            ReferenceTarget::Object(address) => (ReferenceTargetKind::Object, *address, BlockTarget::Object),
            ReferenceTarget::Region(address, selection) => {
                let rank = selection_rank(selection).and_then(|rank| u32::try_from(rank).ok());
                let rank = rank.ok_or_else(|| {
                    Error::Misuse(
                        "a region reference needs a hyperslab or a list of points as selection".into(),
                    )
                })?;
                let target = BlockTarget::Region { rank, selection: selection.clone() };
                (ReferenceTargetKind::Region, *address, target)
            }
            ReferenceTarget::Attribute(address, name) => {
                (ReferenceTargetKind::Attribute, *address, BlockTarget::Attribute { name: name.clone() })
            }
            ReferenceTarget::Null | ReferenceTarget::External { .. } => {
                return Err(Error::Misuse("a reference to another file needs a target in that file".into()));
            }
        };
        let external = file.is_some();
        let token = ObjectToken::from_address(address, edit.params())?;
        let block = ReferenceBlock { token, file, target }.encode(SelectionFormat::Compatible)?;
        let size =
            u32::try_from(block.len()).map_err(|_| Error::unsupported("references of 4 GiB and more"))?;
        let id = self.container.heap.insert(edit, &block)?;
        Ok(StoredReference::Block { kind, external, size, id }.encode(edit.params())?)
    }

    /// Stores the mappings of a virtual dataset in the global heap. Returns the address of the
    /// global heap collection and the index of the object in it.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a selection cannot be stored, and the errors of
    /// [`Edit::allocate`].
    pub fn store_mappings(
        &self,
        edit: &mut Edit<'_>,
        mappings: Vec<VirtualMapping>,
    ) -> Result<(Address, u32)> {
        if mappings.is_empty() {
            return Ok((Address::UNDEFINED, 0));
        }
        let block = VirtualMappings { version: 0, mappings };
        let form = match edit.bounds().low() {
            low if low >= LibraryVersion::V112 => SelectionFormat::Compact,
            low if low >= LibraryVersion::V110 => SelectionFormat::Regular,
            _ => SelectionFormat::Compatible,
        };
        let block = block.encode(edit.params(), form)?;
        let GlobalHeapId { collection, index } = self.container.heap.insert(edit, &block)?;
        Ok((collection, index))
    }
}
