//! Writes of variable-length data. The data is stored in the global heap before the elements that
//! refer to it, and freed when no element refers to it any more.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_dataspace::Selection;
use hyperslab_datatype::convert::Conversions;
use hyperslab_datatype::{Datatype, DatatypeClass, ReferenceKind, VariableLengthKind};
use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Reader, Writer};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::Layout;

use super::dataset_access::DatasetAccess;
use super::{OpenDataset, OpenFile};
use crate::data::transfer::{byte_count, staged};
use crate::data::variable::VariableWriter;
use crate::error::{Error, Result};
use crate::index::global_heap::{Bulk, GlobalHeapWriter};
use crate::memory::zeros;
use crate::object::attribute::{self, Attribute};
use crate::object::attribute_edit::NewAttribute;
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use crate::store::{Edit, Store};

/// Number of variable-length elements that are converted in one step.
const BLOCK_ELEMENTS: usize = 4096;

/// Largest depth of nested variable-length sequences for which variable-length data is freed.
const MAX_DEPTH: usize = 64;

impl OpenFile {
    /// Stores strings in the global heap, and returns the variable-length elements that refer to
    /// the strings.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a string is too long for the format, and the errors of
    /// [`Edit::allocate`].
    pub fn store_texts(&self, edit: &mut Edit<'_>, texts: &[&[u8]]) -> Result<Vec<u8>> {
        let (params, heap) = (edit.params(), &self.container.heap);
        let size = GlobalHeapId::size(params) + 4;
        let bulk = heap.place_many(edit, texts)?;
        let mut elements = zeros(byte_count(to_u64(bulk.len()), size, "elements")?, "elements")?;
        let written =
            bulk.write_elements(&mut elements).and_then(|()| write_collections(edit.store(), &bulk));
        let placed = "the heap places no more strings than it gets";
        let rest = texts.get(bulk.len()..).ok_or_else(|| Error::internal("global heap", placed))?;
        let ids = match written.and_then(|()| heap.insert_many(edit, rest.iter().copied())) {
            Ok(ids) => ids,
            Err(error) => {
                bulk.free(edit)?;
                return Err(error);
            }
        };
        let mut writer = Writer::new("variable-length element");
        for (text, id) in rest.iter().zip(ids) {
            writer.narrow_u32(text.len(), "length");
            id.write(&mut writer, params);
        }
        elements.extend(writer.finish()?);
        Ok(elements)
    }

    /// Converts elements of the datatype `memory` to the variable-length datatype `stored`. Stores
    /// their variable-length data, and returns the converted elements.
    ///
    /// # Errors
    /// Returns conversion errors, and the errors of [`Edit::allocate`].
    pub fn store_converted(
        &self,
        edit: &mut Edit<'_>,
        conversions: &Conversions,
        (memory, stored): (&Datatype, &Datatype),
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let heap = &self.container.heap;
        let writer = Arc::new(GlobalHeapWriter::new(heap, edit)?);
        let strings = holds_strings(stored);
        let sink = Arc::new(VariableWriter::new(Arc::clone(&writer), strings));
        let plan = conversions.clone().with_destination_heap(sink).plan(memory, stored)?;
        let (from, to) = (plan.source_size().max(1), plan.destination_size());
        let count = bytes.len() / from;
        let mut out = zeros(byte_count(to_u64(count), to, "elements")?, "elements")?;
        let blocks = bytes.chunks(block_bytes(from)?).zip(out.chunks_mut(block_bytes(to)?.max(1)));
        let mut outcome = Ok(());
        for (source, target) in blocks {
            let elements = source.len() / from;
            outcome = writer.fill(heap, edit, || Ok(plan.convert(source, target, elements)?));
            if outcome.is_err() {
                break;
            }
        }
        writer.finish(heap, edit)?;
        outcome.map(|()| out)
    }

    /// Returns the IDs of the global heap objects to which the selected elements of a dataset
    /// refer.
    ///
    /// # Errors
    /// Returns the errors of reading the elements.
    pub fn heap_objects_of(
        self: &Arc<Self>,
        dataset: Address,
        selection: &Selection,
        access: Option<&Arc<DatasetAccess>>,
    ) -> Result<Vec<GlobalHeapId>> {
        let header = ObjectHeader::load(&self.container.store, dataset)?;
        let open = OpenDataset::open_with(self, &header, access)?;
        self.heap_objects_in_elements(&open.description, || open.read(self, selection))
    }

    /// Returns the IDs of the global heap objects to which all elements of a dataset that is not
    /// virtual refer.
    ///
    /// # Errors
    /// As [`heap_objects_of`](Self::heap_objects_of), and [`Error::Misuse`] if the dataset is
    /// virtual.
    pub(super) fn own_heap_objects(&self, dataset: Address) -> Result<Vec<GlobalHeapId>> {
        let header = ObjectHeader::load(&self.container.store, dataset)?;
        let open = OpenDataset::open_stored(self, &header)?;
        self.heap_objects_in_elements(&open.description, || open.read_own(self, &Selection::All))
    }

    fn heap_objects_in_elements(
        &self,
        description: &DatasetDescription,
        read: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Vec<GlobalHeapId>> {
        let datatype = &description.datatype;
        let mut ids = Vec::new();
        if refers_to_heap(datatype) && !is_unwritten(description) {
            for element in read()?.chunks_exact((datatype.size as usize).max(1)) {
                self.collect(datatype, element, 0, &mut ids)?;
            }
            self.spare_fill_value(description, &mut ids)?;
        }
        Ok(ids)
    }

    /// Spares the fill value of a dataset when variable-length data is freed: removes its global
    /// heap objects from `ids`. Elements that were never written refer to these objects.
    fn spare_fill_value(&self, description: &DatasetDescription, ids: &mut Vec<GlobalHeapId>) -> Result<()> {
        if let Some(element) = description.fill_element() {
            let mut spared = Vec::new();
            self.collect(&description.datatype, element, 0, &mut spared)?;
            ids.retain(|id| !spared.contains(id));
        }
        Ok(())
    }

    /// Sets an attribute of an object: creates the attribute, or replaces the attribute with the
    /// same name. Frees the variable-length data of the replaced attribute. In files with shared
    /// messages, does not free it, because several objects may share the attribute.
    ///
    /// # Errors
    /// As [`set`](crate::object::attribute_edit::set).
    pub fn set_attribute(
        &self,
        edit: &mut Edit<'_>,
        object: Address,
        attribute: &NewAttribute<'_>,
    ) -> Result<()> {
        let container = &self.container;
        let before = self.with_attributes(edit, object, |editor, edit| editor.set(edit, attribute))?;
        match before {
            Some(body) => {
                let before = Attribute::open(container, body, None, object)?;
                let contents = self.attribute_heap_objects(&before)?;
                self.free_heap_objects(edit, contents)
            }
            None => Ok(()),
        }
    }

    /// Removes an attribute of an object and frees the attribute's variable-length data. The write
    /// of the object header is deferred.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if the object has no attribute with this name.
    pub fn remove_attribute(&self, edit: &mut Edit<'_>, object: Address, name: &[u8]) -> Result<()> {
        let contents = self.with_attributes(edit, object, |editor, edit| {
            let contents = match editor.message(edit, name)? {
                Some(body) => {
                    self.attribute_heap_objects(&Attribute::open(&self.container, body, None, object)?)?
                }
                None => Vec::new(),
            };
            editor.remove(edit, name).map(|()| contents)
        })?;
        self.free_heap_objects(edit, contents)
    }

    /// Returns the IDs of an attribute's global heap objects. In a file with shared messages,
    /// returns no IDs, because several objects may share the attribute.
    ///
    /// # Errors
    /// Returns the errors of reading the attribute.
    fn attribute_heap_objects(&self, attribute: &Attribute) -> Result<Vec<GlobalHeapId>> {
        let mut ids = Vec::new();
        if self.container.shared_messages.is_some() {
            return Ok(ids);
        }
        self.collect_of_attribute(attribute, &mut ids)?;
        Ok(ids)
    }

    /// Returns the IDs of the global heap objects of all attributes of the object with the given
    /// object header. In a file with shared messages, returns no IDs.
    ///
    /// # Errors
    /// Returns the errors of reading the attributes.
    pub(super) fn heap_objects_of_attributes(&self, header: &ObjectHeader) -> Result<Vec<GlobalHeapId>> {
        let mut ids = Vec::new();
        if self.container.shared_messages.is_none() {
            attribute::for_each(&self.container, header, &mut |attribute| {
                self.collect_of_attribute(&attribute, &mut ids)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(ids)
    }

    fn collect_of_attribute(&self, attribute: &Attribute, ids: &mut Vec<GlobalHeapId>) -> Result<()> {
        let value = attribute.value(&self.container)?;
        if refers_to_heap(&value.datatype) {
            for element in value.data.chunks_exact((value.datatype.size as usize).max(1)) {
                self.collect(&value.datatype, element, 0, ids)?;
            }
        }
        Ok(())
    }

    /// Frees objects of the global heap, given by their IDs. Ignores objects that do not exist.
    ///
    /// # Errors
    /// Returns an error if a collection is damaged.
    pub fn free_heap_objects(&self, edit: &mut Edit<'_>, ids: Vec<GlobalHeapId>) -> Result<()> {
        match self.container.heap.remove_many(edit, ids) {
            // Other programs leave elements that refer to removed objects.
            Err(Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    /// Adds the IDs of the global heap objects of an element to `ids`. The most deeply nested
    /// objects come first.
    ///
    /// # Errors
    /// Returns the errors of reading nested sequences.
    fn collect(
        &self,
        datatype: &Datatype,
        element: &[u8],
        depth: usize,
        ids: &mut Vec<GlobalHeapId>,
    ) -> Result<()> {
        let part = |at: usize, length: usize| {
            element.get(at..).and_then(|part| part.get(..length)).ok_or_else(|| {
                Error::corrupt(
                    "datatype message",
                    "member",
                    "members inside the element",
                    "a member beyond its end",
                )
            })
        };
        if depth > MAX_DEPTH || !refers_to_heap(datatype) {
            return Ok(());
        }
        match &datatype.class {
            DatatypeClass::VariableLength(variable) => {
                if refers_to_heap(&variable.base) {
                    let size = (variable.base.size as usize).max(1);
                    let value = self.variable_length_value(None, element)?;
                    for item in value.items(size)?.chunks_exact(size) {
                        self.collect(&variable.base, item, depth + 1, ids)?;
                    }
                }
                let mut reader = Reader::new("variable-length element", element);
                reader.u32("length")?;
                ids.push(GlobalHeapId::read(&mut reader, self.container.params())?);
            }
            DatatypeClass::Reference(reference) if reference.kind == ReferenceKind::DatasetRegion1 => {
                let mut reader = Reader::new("region reference", element);
                ids.push(GlobalHeapId::read(&mut reader, self.container.params())?);
            }
            DatatypeClass::Compound(compound) => {
                for member in &compound.members {
                    let bytes = part(member.offset as usize, member.datatype.size as usize)?;
                    self.collect(&member.datatype, bytes, depth + 1, ids)?;
                }
            }
            DatatypeClass::Array(array) => {
                for item in element.chunks_exact((array.base.size as usize).max(1)) {
                    self.collect(&array.base, item, depth + 1, ids)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Fills whole collections of the global heap with new objects, on all threads, and writes the
/// collections.
///
/// # Errors
/// Returns I/O errors.
fn write_collections(store: &Store, bulk: &Bulk<'_>) -> Result<()> {
    let runs = bulk.runs(staged::STAGE_BYTES);
    let fill = |at: usize, buffer: &mut staged::StageBuffer| match runs.get(at) {
        Some(run) => bulk.fill(run, buffer.take(run.length)),
        None => Ok(()),
    };
    let write = |at: usize, buffer: &staged::StageBuffer| match runs.get(at) {
        Some(run) => store.write_raw(run.address, buffer.bytes(run.length)?),
        None => Ok(()),
    };
    staged::each(store, runs.len(), true, fill, write)
}

/// Returns the size in bytes of a block of variable-length elements that are converted together.
fn block_bytes(element_size: usize) -> Result<usize> {
    byte_count(to_u64(BLOCK_ELEMENTS), element_size, "elements to convert")
}

/// Returns whether no element of a dataset is stored. The elements then cannot refer to the global
/// heap.
fn is_unwritten(description: &DatasetDescription) -> bool {
    match &description.layout.layout {
        Layout::Contiguous(contiguous) => description.external.is_empty() && !contiguous.address.is_defined(),
        Layout::Chunked(chunked) => !chunked.address.is_defined(),
        // Elements in structured chunks store their variable-length data in the chunk.
        Layout::Structured(_) => true,
        _ => false,
    }
}

/// Returns whether elements of a datatype own objects in the global heap.
pub(super) fn refers_to_heap(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::VariableLength(_) => true,
        DatatypeClass::Reference(reference) => reference.kind == ReferenceKind::DatasetRegion1,
        DatatypeClass::Compound(compound) => {
            compound.members.iter().any(|member| refers_to_heap(&member.datatype))
        }
        DatatypeClass::Array(array) => refers_to_heap(&array.base),
        _ => false,
    }
}

/// Returns whether a datatype contains variable-length strings. Empty strings have an object in the
/// global heap.
fn holds_strings(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            matches!(variable.kind, VariableLengthKind::String { .. }) || holds_strings(&variable.base)
        }
        DatatypeClass::Compound(compound) => {
            compound.members.iter().any(|member| holds_strings(&member.datatype))
        }
        DatatypeClass::Array(array) => holds_strings(&array.base),
        _ => false,
    }
}
