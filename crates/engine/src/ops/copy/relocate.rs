//! Relocation of elements: references and variable-length data are written for the target file.

use std::sync::Arc;

use hyperslab_datatype::convert::VariableSink as _;
use hyperslab_datatype::{Reference, ReferenceKind};
use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, Reader, Writer};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::reference::{
    ObjectToken, ReferenceBlock, ReferenceTarget, RegionBlock, StoredReference,
};
use hyperslab_format::selection::SelectionFormat;

use super::LostPart;
use super::elements::{ElementPlan, PartKind, PlanPart};
use super::paths::ObjectPath;
use super::{Copier, Original};
use crate::data::transfer::byte_count;
use crate::data::variable::{ForeignHeap, VariableLengthValue};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::ops::OpenFile;
use crate::store::{Edit, at};

/// The source file of elements to convert for another file. The conversion changes the references
/// and the variable-length data of the elements.
pub(super) struct RelocationSource<'a> {
    /// The index of the file in `Copier::sources`.
    pub(super) file: usize,
    /// The variable-length data of other files, to which elements of a virtual dataset refer.
    pub(super) foreign: Option<&'a ForeignHeap>,
    /// The heap that takes the variable-length data; `None` for the global heap of the target.
    pub(super) into: Option<&'a ForeignHeap>,
}

impl Copier<'_> {
    /// Converts elements to the form that the target file of a copy stores. Copies the
    /// variable-length data of the elements and changes their references.
    ///
    /// # Errors
    /// Returns the errors of reading references and variable-length data, and of writing them.
    pub(super) fn relocate_elements(
        &mut self,
        edit: &mut Edit<'_>,
        source_of: &RelocationSource<'_>,
        plan: &ElementPlan,
        elements: &[u8],
    ) -> Result<Vec<u8>> {
        self.relocate_elements_of(edit, source_of, plan, elements, "")
    }

    /// Converts elements of the object at `path` for the target file of a copy, like
    /// [`relocate_elements`](Self::relocate_elements). In a salvage, unreadable variable-length
    /// data becomes empty.
    ///
    /// # Errors
    /// As [`relocate_elements`](Self::relocate_elements).
    pub(super) fn relocate_elements_of(
        &mut self,
        edit: &mut Edit<'_>,
        source_of: &RelocationSource<'_>,
        plan: &ElementPlan,
        elements: &[u8],
        path: &str,
    ) -> Result<Vec<u8>> {
        let source = self.source(source_of.file)?;
        let count = elements.len() / plan.from_size.max(1);
        let bytes = byte_count(to_u64(count), plan.to_size, "elements to copy")?;
        let mut relocated = zeros(bytes, "elements to copy")?;
        let pairs =
            elements.chunks_exact(plan.from_size.max(1)).zip(relocated.chunks_exact_mut(plan.to_size.max(1)));
        let mut relocator = Relocator { copier: self, source: &source, source_of, path };
        for (from, to) in pairs {
            relocator.element(edit, plan, from, to)?;
        }
        Ok(relocated)
    }

    /// Returns the address, in the target file, of the copy of an object to which a reference
    /// refers. Returns `None` if the target file has no copy of the object.
    ///
    /// # Errors
    /// Returns the errors of copying the object.
    fn retarget(&mut self, edit: &mut Edit<'_>, file: usize, address: Address) -> Result<Option<Address>> {
        let original = Original { file, address };
        if let Some(copy) = self.copies.get(&original) {
            return Ok(Some(*copy));
        }
        if self.options.expand_references {
            let source = self.source(file)?;
            let header = ObjectHeader::load(&source.container.store, address);
            if header.is_ok_and(|header| ObjectKind::of(&header).is_some()) {
                let object_path = ObjectPath::whole(format!("object at {address}"));
                return self.enter(edit, original, &object_path, true).map(Some);
            }
            return Ok(None);
        }
        Ok(self.is_same(file).then_some(address))
    }
}

struct Relocator<'m, 'a> {
    copier: &'m mut Copier<'a>,
    source: &'m Arc<OpenFile>,
    source_of: &'m RelocationSource<'m>,
    path: &'m str,
}

impl Relocator<'_, '_> {
    fn element(&mut self, edit: &mut Edit<'_>, plan: &ElementPlan, from: &[u8], to: &mut [u8]) -> Result<()> {
        plan.parts.iter().try_for_each(|part| self.part(edit, part, from, to))
    }

    fn part(&mut self, edit: &mut Edit<'_>, part: &PlanPart, from: &[u8], to: &mut [u8]) -> Result<()> {
        match &part.kind {
            PartKind::Bytes(length) => {
                let bytes = part_of(from, part.from, *length)?;
                part_of_mut(to, part.to, *length)?.copy_from_slice(bytes);
            }
            PartKind::Variable { from_size, to_size, item } => {
                let descriptor = part_of(from, part.from, *from_size)?;
                let stored = self.contents(edit, descriptor, item);
                put(part_of_mut(to, part.to, *to_size)?, &self.or_empty(stored)?);
            }
            PartKind::Reference { kind, from_size, to_size } => {
                let stored = self.reference(edit, *kind, part_of(from, part.from, *from_size)?);
                put(part_of_mut(to, part.to, *to_size)?, &self.or_empty(stored)?);
            }
            PartKind::Array { count, item } => {
                let bytes = |item_size| count.checked_mul(item_size).ok_or_else(beyond);
                let from = part_of(from, part.from, bytes(item.from_size)?)?;
                let to = part_of_mut(to, part.to, bytes(item.to_size)?)?;
                let items = from.chunks_exact(item.from_size.max(1));
                for (from, to) in items.zip(to.chunks_exact_mut(item.to_size.max(1))) {
                    self.element(edit, item, from, to)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the bytes of a part of a stored element. In a salvage, if the part is unreadable,
    /// reports it and returns no bytes.
    fn or_empty(&self, stored: Result<Vec<u8>>) -> Result<Vec<u8>> {
        let stored = self.copier.or_report(self.path, LostPart::VariableData, stored)?;
        Ok(stored.unwrap_or_default())
    }

    /// Stores variable-length data of a copied element in the target file, and returns the
    /// descriptor of the data.
    ///
    /// # Errors
    /// Returns the errors of reading and writing the data.
    fn contents(&mut self, edit: &mut Edit<'_>, descriptor: &[u8], item: &ElementPlan) -> Result<Vec<u8>> {
        let container = &self.source.container;
        let value = VariableLengthValue::read_of(
            &container.store,
            &container.heap,
            self.source_of.foreign,
            descriptor,
        )?;
        let items = value.items(item.from_size)?;
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let mut relocated = Vec::new();
        let items = if item.is_copy() {
            items
        } else {
            relocated.resize(items.len() / item.from_size.max(1) * item.to_size, 0);
            let pairs = items
                .chunks_exact(item.from_size.max(1))
                .zip(relocated.chunks_exact_mut(item.to_size.max(1)));
            for (from, to) in pairs {
                self.element(edit, item, from, to)?;
            }
            &relocated
        };
        if let Some(into) = self.source_of.into {
            let count = to_usize(u64::from(value.count))?;
            let mut descriptor = vec![0; GlobalHeapId::size(edit.params()) + 4];
            into.store(items, count, &mut descriptor)?;
            return Ok(descriptor);
        }
        let id = self.copier.target.container.heap.insert(edit, items)?;
        let mut writer = Writer::new("variable-length element");
        writer.u32(value.count);
        id.write(&mut writer, edit.params());
        Ok(writer.finish()?)
    }

    /// Returns a reference to the copy of an object to which a source reference refers. If the
    /// object is not copied, returns a null reference.
    ///
    /// # Errors
    /// Returns the errors of reading and writing the reference.
    fn reference(&mut self, edit: &mut Edit<'_>, kind: Reference, element: &[u8]) -> Result<Vec<u8>> {
        match kind.kind {
            ReferenceKind::Object1 => self.old_object(edit, element),
            ReferenceKind::DatasetRegion1 => self.old_region(edit, element),
            _ => self.revised(edit, element),
        }
    }

    fn old_object(&mut self, edit: &mut Edit<'_>, element: &[u8]) -> Result<Vec<u8>> {
        let params = self.source.container.params();
        let address = Reader::new("object reference", element).offset(params, "address")?;
        if address.raw() == 0 || !address.is_defined() {
            return Ok(Vec::new());
        }
        let Some(copy) = self.copier.retarget(edit, self.source_of.file, address)? else {
            return Ok(Vec::new());
        };
        let mut writer = Writer::new("object reference");
        writer.offset(edit.params(), copy, "address");
        Ok(writer.finish()?)
    }

    fn old_region(&mut self, edit: &mut Edit<'_>, element: &[u8]) -> Result<Vec<u8>> {
        if element.iter().all(|byte| *byte == 0) {
            return Ok(Vec::new());
        }
        let container = &self.source.container;
        let params = container.params();
        let id = GlobalHeapId::read(&mut Reader::new("region reference", element), params)?;
        let object = container.heap.get(&container.store, id)?;
        let block = at(RegionBlock::decode(object.bytes(), params), id.collection)?;
        let Some(copy) = self.copier.retarget(edit, self.source_of.file, block.object)? else {
            return Ok(Vec::new());
        };
        let block = RegionBlock { object: copy, ..block };
        let block = block.encode(edit.params(), SelectionFormat::Compatible)?;
        let id = self.copier.target.container.heap.insert(edit, &block)?;
        let mut writer = Writer::new("region reference");
        id.write(&mut writer, edit.params());
        Ok(writer.finish()?)
    }

    fn revised(&mut self, edit: &mut Edit<'_>, element: &[u8]) -> Result<Vec<u8>> {
        let params = self.source.container.params();
        let relocated = match StoredReference::decode(element, params)? {
            StoredReference::Null => return Ok(Vec::new()),
            StoredReference::Object(token) => {
                let address = token.address(params)?;
                let Some(copy) = self.copier.retarget(edit, self.source_of.file, address)? else {
                    return Ok(Vec::new());
                };
                StoredReference::Object(ObjectToken::from_address(copy, edit.params())?)
            }
            StoredReference::Block { kind, external, size, id } => {
                let container = &self.source.container;
                let object = container.heap.get(&container.store, id)?;
                let bytes = usize::try_from(size).ok().and_then(|size| object.bytes().get(..size));
                let bytes = bytes.ok_or_else(|| {
                    Error::corrupt("reference", "size", "bytes of the heap object", size).at(id.collection)
                })?;
                let mut block = at(ReferenceBlock::decode(bytes, kind, external), id.collection)?;
                if matches!(&block.target, ReferenceTarget::Attribute { name } if name.is_empty()) {
                    let expected = "the name of an attribute";
                    return Err(
                        Error::corrupt("reference", "attribute name", expected, "none").at(id.collection)
                    );
                }
                if !external {
                    let address = block.token.address(params)?;
                    let Some(copy) = self.copier.retarget(edit, self.source_of.file, address)? else {
                        return Ok(Vec::new());
                    };
                    block.token = ObjectToken::from_address(copy, edit.params())?;
                }
                let block = block.encode(SelectionFormat::Compatible)?;
                let size = u32::try_from(block.len())
                    .map_err(|_| Error::unsupported("references of 4 GiB and more"))?;
                StoredReference::Block {
                    kind,
                    external,
                    size,
                    id: self.copier.target.container.heap.insert(edit, &block)?,
                }
            }
        };
        Ok(relocated.encode(edit.params())?)
    }
}

fn part_of(bytes: &[u8], start: usize, length: usize) -> Result<&[u8]> {
    start.checked_add(length).and_then(|end| bytes.get(start..end)).ok_or_else(beyond)
}

fn part_of_mut(bytes: &mut [u8], start: usize, length: usize) -> Result<&mut [u8]> {
    start.checked_add(length).and_then(|end| bytes.get_mut(start..end)).ok_or_else(beyond)
}

fn beyond() -> Error {
    Error::corrupt("datatype message", "member", "parts inside the element", "a part beyond its end")
}

/// Copies `bytes` to the start of the element part `to`, and fills the remaining bytes of `to` with
/// zeros.
fn put(to: &mut [u8], bytes: &[u8]) {
    to.fill(0);
    for (to, from) in to.iter_mut().zip(bytes) {
        *to = *from;
    }
}
