//! Elements of variable length on their way into the file: contents go to the global heap before the elements that
//! lead to them are written, and contents that nothing leads to any more leave it.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_dataspace::Selection;
use hyperslab_datatype::convert::Conversions;
use hyperslab_datatype::{Datatype, DatatypeClass, ReferenceKind, VariableLengthKind};
use hyperslab_format::codec::{Address, Reader, Writer};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::Layout;

use super::{OpenDataset, OpenFile};
use crate::data::transfer::staged;
use crate::data::variable::VariableWriter;
use crate::error::{Error, Result};
use crate::index::global_heap::{Bulk, GlobalHeapWriter};
use crate::object::attribute::{self, Attribute};
use crate::object::attribute_edit::{self, NewAttribute};
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use crate::store::{Edit, Store};

/// Elements that are converted at once.
const BLOCK: usize = 4096;

/// Sequences in sequences that are gone into.
const MAX_DEPTH: usize = 64;

impl OpenFile {
    /// Stores texts and gives the elements that lead to them.
    ///
    /// # Errors
    /// [`Error::Misuse`] if a text is too long for the format; as [`Edit::allocate`].
    pub fn store_texts(&self, edit: &mut Edit<'_>, texts: &[&[u8]]) -> Result<Vec<u8>> {
        let (params, heap) = (edit.params(), &self.container.heap);
        let size = GlobalHeapId::size(params).saturating_add(4);
        let bulk = heap.place_many(edit, texts)?;
        let mut elements = vec![0; bulk.len().saturating_mul(size)];
        let written = bulk.write_elements(&mut elements).and_then(|()| write_bulk(edit.store(), &bulk));
        let rest = texts.get(bulk.len()..).unwrap_or_default();
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

    /// Converts elements of the type `memory` to `stored`, which has parts of variable length, and stores their
    /// contents.
    ///
    /// # Errors
    /// The errors of the conversion; as [`Edit::allocate`].
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
        let mut out = vec![0; count.saturating_mul(to)];
        let blocks =
            bytes.chunks(from.saturating_mul(BLOCK)).zip(out.chunks_mut(to.saturating_mul(BLOCK).max(1)));
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

    /// What the selected elements of a dataset lead to in the global heap.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn contents_of(
        self: &Arc<Self>,
        dataset: Address,
        selection: &Selection,
    ) -> Result<Vec<GlobalHeapId>> {
        let header = ObjectHeader::load(&self.container.store, dataset)?;
        let open = OpenDataset::open(self, &header)?;
        self.contents_in_elements(&open.description, || open.read(self, selection))
    }

    /// The same of all elements of a dataset that is not virtual.
    ///
    /// # Errors
    /// As [`contents_of`](Self::contents_of), and if it is virtual.
    pub(super) fn contents_of_own(&self, dataset: Address) -> Result<Vec<GlobalHeapId>> {
        let header = ObjectHeader::load(&self.container.store, dataset)?;
        let open = OpenDataset::open_own(self, &header)?;
        self.contents_in_elements(&open.description, || open.read_own(self, &Selection::All))
    }

    fn contents_in_elements(
        &self,
        description: &DatasetDescription,
        read: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Vec<GlobalHeapId>> {
        let datatype = &description.datatype;
        let mut ids = Vec::new();
        if leads_to_heap(datatype) && !is_unwritten(description) {
            for element in read()?.chunks_exact((datatype.size as usize).max(1)) {
                self.collect(datatype, element, 0, &mut ids)?;
            }
            self.spare_fill_value(description, &mut ids)?;
        }
        Ok(ids)
    }

    /// Elements that were never written lead to what the fill value does, which stays.
    fn spare_fill_value(&self, description: &DatasetDescription, ids: &mut Vec<GlobalHeapId>) -> Result<()> {
        if let Some(element) = description.fill_element() {
            let mut spared = Vec::new();
            self.collect(&description.datatype, element, 0, &mut spared)?;
            ids.retain(|id| !spared.contains(id));
        }
        Ok(())
    }

    /// Sets an attribute; what only the one before it led to leaves the heap, but for files where several objects may
    /// share an attribute.
    ///
    /// # Errors
    /// As [`attribute_edit::set`].
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
                let contents = self.contents_in(&before)?;
                self.free_contents(edit, contents)
            }
            None => Ok(()),
        }
    }

    /// Removes an attribute, with what only it led to.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none of that name.
    pub fn remove_attribute(&self, edit: &mut Edit<'_>, object: Address, name: &[u8]) -> Result<()> {
        let header = ObjectHeader::load(&self.container.store, object)?;
        let contents = match attribute::find(&self.container, &header, name)? {
            Some(before) => self.contents_in(&before)?,
            None => Vec::new(),
        };
        attribute_edit::remove(&self.container, edit, object, name)?;
        self.free_contents(edit, contents)
    }

    /// What an attribute leads to in the global heap; nothing in files where several objects may share it.
    fn contents_in(&self, attribute: &Attribute) -> Result<Vec<GlobalHeapId>> {
        let mut ids = Vec::new();
        if self.container.shared_messages.is_some() {
            return Ok(ids);
        }
        self.collect_attribute(attribute, &mut ids)?;
        Ok(ids)
    }

    /// The same of all attributes of the object with that header.
    ///
    /// # Errors
    /// If an attribute cannot be read.
    pub(super) fn contents_of_attributes(&self, header: &ObjectHeader) -> Result<Vec<GlobalHeapId>> {
        let mut ids = Vec::new();
        if self.container.shared_messages.is_none() {
            attribute::for_each(&self.container, header, &mut |attribute| {
                self.collect_attribute(&attribute, &mut ids)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(ids)
    }

    fn collect_attribute(&self, attribute: &Attribute, ids: &mut Vec<GlobalHeapId>) -> Result<()> {
        let value = attribute.value(&self.container)?;
        if leads_to_heap(&value.datatype) {
            for element in value.data.chunks_exact((value.datatype.size as usize).max(1)) {
                self.collect(&value.datatype, element, 0, ids)?;
            }
        }
        Ok(())
    }

    /// Takes contents out of the global heap.
    ///
    /// # Errors
    /// If a collection is damaged.
    pub fn free_contents(&self, edit: &mut Edit<'_>, ids: Vec<GlobalHeapId>) -> Result<()> {
        match self.container.heap.remove_many(edit, ids) {
            // What is not there needs not be freed: other programs leave such elements behind.
            Err(Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    /// What an element leads to, deepest first.
    fn collect(
        &self,
        datatype: &Datatype,
        element: &[u8],
        depth: usize,
        ids: &mut Vec<GlobalHeapId>,
    ) -> Result<()> {
        let part = |at: usize, length: usize| {
            element.get(at..).and_then(|part| part.get(..length)).unwrap_or_default()
        };
        if depth > MAX_DEPTH || !leads_to_heap(datatype) {
            return Ok(());
        }
        match &datatype.class {
            DatatypeClass::VariableLength(variable) => {
                if leads_to_heap(&variable.base) {
                    let size = (variable.base.size as usize).max(1);
                    let value = self.contents(None, element)?;
                    for item in value.items(size)?.chunks_exact(size) {
                        self.collect(&variable.base, item, depth.saturating_add(1), ids)?;
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
                    let bytes = part(member.offset as usize, member.datatype.size as usize);
                    self.collect(&member.datatype, bytes, depth.saturating_add(1), ids)?;
                }
            }
            DatatypeClass::Array(array) => {
                for item in element.chunks_exact((array.base.size as usize).max(1)) {
                    self.collect(&array.base, item, depth.saturating_add(1), ids)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Writes full collections, which are put together on all threads.
fn write_bulk(store: &Store, bulk: &Bulk<'_>) -> Result<()> {
    let stretches = bulk.stretches(staged::STAGE_BYTES);
    let fill = |at: usize, room: &mut staged::StageBuffer| match stretches.get(at) {
        Some(stretch) => bulk.fill(stretch, room.take(stretch.length)),
        None => Ok(()),
    };
    let write = |at: usize, room: &staged::StageBuffer| match stretches.get(at) {
        Some(stretch) => store.write_raw(stretch.address, room.bytes(stretch.length)?),
        None => Ok(()),
    };
    staged::each(store, stretches.len(), true, fill, write)
}

/// Returns whether nothing of a dataset is stored yet.
fn is_unwritten(description: &DatasetDescription) -> bool {
    match &description.layout.layout {
        Layout::Contiguous(contiguous) => description.external.is_empty() && !contiguous.address.is_defined(),
        Layout::Chunked(chunked) => !chunked.address.is_defined(),
        // What elements of structured chunks hold lies in them.
        Layout::Structured(_) => true,
        _ => false,
    }
}

/// Returns whether elements lead to contents in the global heap that are theirs alone.
pub(super) fn leads_to_heap(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::VariableLength(_) => true,
        DatatypeClass::Reference(reference) => reference.kind == ReferenceKind::DatasetRegion1,
        DatatypeClass::Compound(compound) => {
            compound.members.iter().any(|member| leads_to_heap(&member.datatype))
        }
        DatatypeClass::Array(array) => leads_to_heap(&array.base),
        _ => false,
    }
}

/// Returns whether there are strings of variable length: their empty ones have an object in the heap.
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
