//! Headers of copies: the properties of the original, in the versions of the target file.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_dataspace::{Dataspace, Dims};
use hyperslab_exact::{to_u64, to_usize};
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{Comment, FillWriteTime, Layout, MessageFlags};
use hyperslab_format::object_header::{HeaderFlags, ObjectTimes};
use hyperslab_format::selection::SelectionFormat;

use super::elements::ElementPlan;
use super::paths::ObjectPath;
use super::relocate::RelocationSource;
use super::storage::SparseCopy;
use super::storage::{NewStorage, same_layout};
use super::{Copier, LostPart, Original, StoredBefore, Task};
use crate::data::virtual_::mappings;
use crate::error::{Error, Result};
use crate::object::dataset::{
    DatasetDescription, FillDescription, Filters, StoredFillValue, committed_datatype,
};
use crate::object::group::{self, GroupStorage};
use crate::object::group_edit::{self, GroupOptions, LinkOrder};
use crate::object::header::{ObjectHeader, Prefix};
use crate::object::header_edit::{AttributeOrder, HeaderEditor, NewHeader};
use crate::object::kind::ObjectKind;
use crate::object::{annotation, attribute, committed, dataset_edit};
use crate::ops::dataset_create::has_new_index;
use crate::ops::{NewDataset, NewLayout, OpenDataset, OpenFile};
use crate::store::Edit;
use crate::versions::LibraryVersion;

/// Largest size in bytes of an attribute message that a copy stores in a version 1 object header.
const MAX_V1_ATTRIBUTE_BYTES: usize = 65_528;

impl Copier<'_> {
    /// Creates the object header of an object's copy, and queues the copies of the object's links,
    /// elements and attributes. Returns the address of the copy.
    ///
    /// # Errors
    /// Returns the errors of reading the original, and of creating the header.
    pub(super) fn make(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        header: &ObjectHeader,
        mut task: Task,
    ) -> Result<Address> {
        let kind = ObjectKind::of(header);
        if kind == Some(ObjectKind::Datatype)
            && let Some(copy) = self.committed_like(source, header)?
        {
            self.copies.insert(task.original, copy);
            return Ok(copy);
        }
        task.copy = match kind {
            Some(ObjectKind::Group) => self.make_group(edit, source, header)?,
            Some(ObjectKind::Dataset) => self.make_dataset(edit, source, header, &task)?,
            Some(ObjectKind::Datatype) => self.make_datatype(edit, source, header)?,
            None => return Err(Error::unsupported("copying an object of unknown kind")),
        };
        self.copies.insert(task.original, task.copy);
        self.uses.entry(task.copy).or_default().is_new = true;
        if kind == Some(ObjectKind::Group) && (task.is_top || !self.options.shallow) {
            self.groups.push_back(task.queued());
        }
        if let (Some(salvage), Some(kind)) = (self.guide.salvage(), kind) {
            salvage.object(&task.path, kind, task.original.address);
        }
        let copy = task.copy;
        self.waiting.push_back(task.queued());
        Ok(copy)
    }

    fn make_group(&self, edit: &mut Edit<'_>, source: &OpenFile, header: &ObjectHeader) -> Result<Address> {
        let storage = GroupStorage::of(&source.container, header)?;
        let info = group::info(&source.container, header)?;
        let link_order = match storage.link_info() {
            Some(info) if info.creation_order_index.is_some() => LinkOrder::Indexed,
            Some(info) if info.max_creation_index.is_some() => LinkOrder::Tracked,
            _ => LinkOrder::Untracked,
        };
        let defaults = GroupOptions::default();
        let new = self.new_header(source, header)?;
        let options = GroupOptions {
            link_order,
            phase_change: self
                .guide
                .link_phase_change()
                .or(info.as_ref().and_then(|info| info.phase_change))
                .unwrap_or(defaults.phase_change),
            estimated: info.and_then(|info| info.estimated).unwrap_or(defaults.estimated),
            local_heap: None,
            attribute_order: new.attribute_order,
            attribute_phase_change: new.phase_change,
            times: new.times.is_some(),
        };
        group_edit::create_group_from(&self.target.container, edit, &options, new)
    }

    fn make_datatype(
        &self,
        edit: &mut Edit<'_>,
        source: &OpenFile,
        header: &ObjectHeader,
    ) -> Result<Address> {
        let datatype = committed_datatype(&source.container, header)?;
        let (_, datatype) = ElementPlan::new(&datatype, edit.params())?;
        committed::commit_datatype(edit, &datatype, self.new_header(source, header)?)
    }

    fn make_dataset(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        header: &ObjectHeader,
        task: &Task,
    ) -> Result<Address> {
        let mut before = DatasetDescription::read(&source.container, header)?;
        let (plan, datatype) = ElementPlan::new(&before.datatype, edit.params())?;
        before.datatype = datatype;
        if let StoredFillValue::User(element) = &before.fill.value
            && element.len() == plan.from_size
            && !plan.is_copy()
        {
            let origin = RelocationSource { file: task.original.file, foreign: None, into: None };
            before.fill.value =
                StoredFillValue::User(self.relocate_elements_of(edit, &origin, &plan, element, &task.path)?);
        }
        let dataset_before = StoredBefore {
            description: &before,
            path: &task.path,
            file: source,
            header,
            target: (edit.bounds(), edit.params()),
        };
        let new_storage = self.guide.storage(dataset_before)?;
        let is_changed = new_storage.is_some();
        if is_changed && matches!(before.layout.layout, Layout::Virtual(_)) {
            // The sources determine the shape of a virtual dataset.
            before.dataspace = OpenDataset::open(source, header)?.description.dataspace;
        }
        let storage = match new_storage {
            Some(storage) => storage,
            None => self.same_storage(edit, source, &before)?,
        };
        let sparse = SparseCopy::of(&storage);
        if let Some(element) = &storage.undefined {
            before.fill.value = StoredFillValue::User(element.clone());
            before.fill.write_time = FillWriteTime::IF_SET;
        }
        let new_header = self.new_header(source, header)?;
        let committed = match before.committed {
            Some(address) => self.committed(edit, task, address)?,
            None => None,
        };
        let mut new = NewDataset { committed, header: new_header.clone(), ..new_dataset(&before, storage) };
        if is_changed {
            check(&new)?;
        }
        let mut description = new.describe(edit.bounds(), edit.params())?;
        if has_chunks(&before) && self.bound_index(source, &description, &mut new, task) {
            description = new.describe(edit.bounds(), edit.params())?;
        }
        if let (Layout::Compact(to), Layout::Compact(from)) =
            (&mut description.layout.layout, &before.layout.layout)
            && plan.is_copy()
        {
            let length = to.data.len();
            to.data.clone_from(&from.data);
            to.data.resize(length, 0);
        }
        let copy = dataset_edit::create(&self.target.container, edit, &description, new_header)?;
        if let Some(sparse) = sparse {
            self.sparse.insert(copy, sparse);
        }
        Ok(copy)
    }

    fn same_storage(
        &mut self,
        edit: &mut Edit<'_>,
        source: &OpenFile,
        before: &DatasetDescription,
    ) -> Result<NewStorage> {
        let pipeline = match &before.filters {
            Filters::Chunk(pipeline) => pipeline.clone(),
            Filters::Sections(_) => Pipeline::default(),
        };
        let layout = match (&before.layout.layout, same_layout(before)) {
            (_, Some(NewLayout::Chunked { chunk, edges_unfiltered })) => {
                let chunk =
                    if edit.bounds().prefers(LibraryVersion::V110) { fitting(before, chunk) } else { chunk };
                // Without an index of HDF5 1.10, chunks at the edges must be filtered.
                let edges_unfiltered = edges_unfiltered && has_new_index(&before.dataspace, edit.params());
                NewLayout::Chunked { chunk, edges_unfiltered }
            }
            (_, Some(layout)) => layout,
            (Layout::Virtual(virtual_), _) => {
                let id = self.copy_mappings(edit, source, virtual_.heap, virtual_.index)?;
                NewLayout::Virtual { heap: id.collection, index: id.index }
            }
            _ => return Err(Error::unsupported("copying a dataset with this layout")),
        };
        // Filters apply to chunks only.
        let pipeline =
            if matches!(layout, NewLayout::Chunked { .. }) { pipeline } else { Pipeline::default() };
        Ok(NewStorage { layout, pipeline, section_pipelines: before.section_pipelines(), undefined: None })
    }

    /// Copies the mappings of a virtual dataset to the global heap of the target file of a copy.
    ///
    /// # Errors
    /// Returns the errors of reading and writing the mappings.
    fn copy_mappings(
        &mut self,
        edit: &mut Edit<'_>,
        source: &OpenFile,
        collection: Address,
        index: u32,
    ) -> Result<GlobalHeapId> {
        let none = GlobalHeapId { collection: Address::UNDEFINED, index: 0 };
        if !collection.is_defined() {
            return Ok(none);
        }
        let container = &source.container;
        if container.params() == edit.params() {
            let object = container.heap.get(&container.store, GlobalHeapId { collection, index })?;
            return self.target.container.heap.insert(edit, object.bytes());
        }
        let layout = hyperslab_format::message::VirtualLayout { heap: collection, index };
        match mappings(&container.store, &container.heap, &layout)? {
            Some(mappings) => {
                let block = mappings.encode(edit.params(), SelectionFormat::Compatible)?;
                self.target.container.heap.insert(edit, &block)
            }
            None => Ok(none),
        }
    }

    /// Returns the properties of a copied object header: times, attribute order, and space for the
    /// attributes.
    ///
    /// # Errors
    /// Returns the errors of reading the header, except in a salvage.
    fn new_header(&self, source: &OpenFile, header: &ObjectHeader) -> Result<NewHeader> {
        let (tracked, indexed) = (HeaderFlags::ATTRIBUTE_ORDER_TRACKED, HeaderFlags::ATTRIBUTE_ORDER_INDEXED);
        let attribute_order = match header.flags() {
            flags if flags.contains(indexed) => AttributeOrder::Indexed,
            flags if flags.contains(tracked) => AttributeOrder::Tracked,
            _ => AttributeOrder::Untracked,
        };
        let phase_change = match header.prefix() {
            Prefix::V1(_) => None,
            Prefix::V2(prefix) => prefix.phase_change,
        };
        // A header that does not store the limits has the default limits.
        let phase_change = phase_change.unwrap_or_default();
        let mut new = NewHeader {
            attribute_order,
            times: if self.is_salvaging() {
                times_of(source, header).unwrap_or(None)
            } else {
                times_of(source, header)?
            },
            phase_change,
            ..NewHeader::default()
        };
        if !self.options.without_attributes {
            let (mut count, mut bytes, mut longest) = (0_usize, 0_u64, 0);
            let measured = attribute::for_each(&source.container, header, &mut |found| {
                let length = found.stored_length();
                count += 1;
                bytes += to_u64(length) + 16;
                longest = longest.max(length);
                Ok(ControlFlow::Continue(()))
            });
            // The copy of the attributes reports the same damage again.
            if self.is_salvaging() {
                source.container.store.take_damages();
            } else {
                measured?;
            }
            new.version_2 = longest > MAX_V1_ATTRIBUTE_BYTES;
            if count <= usize::from(phase_change.max_compact) && !new.version_2 {
                new.spare = to_usize(bytes)?;
            }
        }
        Ok(new)
    }

    /// Copies the attributes and the comment of an object. These two steps change the times of the
    /// copy, so the times are written last.
    ///
    /// # Errors
    /// Returns the errors of reading the original, and of writing the copy.
    pub(super) fn copy_rest(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        header: &ObjectHeader,
        task: &Task,
    ) -> Result<()> {
        let mut changed = false;
        if !self.options.without_attributes {
            let copied = self.copy_attributes(edit, source, header, task);
            changed = self.or_report(&task.path, LostPart::Attributes, copied)?.unwrap_or(true);
        }
        let comment =
            self.or_report(&task.path, LostPart::Comment, annotation::comment(&source.container, header))?;
        let comment = comment.flatten().filter(|text| !text.is_empty());
        let times = self.or_report(&task.path, LostPart::Block, times_of(source, header))?.flatten();
        let times = times.filter(|_| changed);
        if comment.is_none() && times.is_none() {
            return Ok(());
        }
        let mut editor = HeaderEditor::load(edit.store(), task.copy)?;
        if let Some(text) = &comment {
            editor.set(&Comment { text }, MessageFlags::empty())?;
        }
        if let Some(times) = times {
            editor.set_times(times)?;
        }
        editor.save(edit)
    }
}

/// Returns the properties of a copied dataset. They are the properties `before` of the source
/// dataset with another storage.
fn new_dataset(before: &DatasetDescription, storage: NewStorage) -> NewDataset {
    NewDataset {
        datatype: before.datatype.clone(),
        committed: None,
        dataspace: dataspace_for(&before.dataspace, &storage.layout),
        layout: storage.layout,
        pipeline: storage.pipeline,
        section_pipelines: storage.section_pipelines,
        fill: before.fill.clone(),
        header: NewHeader::default(),
    }
}

/// Checks the properties of a copied dataset. Does not check the fill value, because old files may
/// have fill values that new datasets must not have.
fn check(new: &NewDataset) -> Result<()> {
    let fill = FillDescription { value: StoredFillValue::Default, ..new.fill.clone() };
    NewDataset { fill, ..new.clone() }.check()
}

impl StoredBefore<'_> {
    /// Checks that the target file of a copy can store a dataset with the storage `storage`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] or [`Error::Unsupported`] with the reason if it cannot.
    pub fn check(&self, storage: &NewStorage) -> Result<()> {
        let new = new_dataset(self.description, storage.clone());
        check(&new)?;
        let (bounds, params) = self.target;
        new.describe(bounds, params).map(drop)
    }
}

/// Returns the times of a source object of a copy. If the object header stores only one time, all
/// times equal it.
fn times_of(source: &OpenFile, header: &ObjectHeader) -> Result<Option<ObjectTimes>> {
    if let Some(times) = annotation::times(header) {
        return Ok(Some(times));
    }
    let modified = annotation::modification_time(&source.container, header)?;
    let modified = modified.and_then(|seconds| u32::try_from(seconds).ok());
    Ok(modified.map(|time| ObjectTimes { access: time, modification: time, change: time, birth: time }))
}

/// Returns the chunk shape of a copied dataset. The shape is reduced to the maximum shape of the
/// dataset.
fn fitting(before: &DatasetDescription, chunk: Dims) -> Dims {
    let max = before.dataspace.max_dims();
    let fit = |(size, max): (&u64, Option<u64>)| max.map_or(*size, |max| (*size).min(max.max(1)));
    chunk.iter().zip(max).map(fit).collect()
}

fn has_chunks(dataset: &DatasetDescription) -> bool {
    matches!(&dataset.layout.layout, Layout::Chunked(layout) if layout.address.is_defined())
}

/// Returns the dataspace of a copied dataset. Contiguous and compact datasets cannot grow.
fn dataspace_for(dataspace: &Dataspace, layout: &NewLayout) -> Dataspace {
    match (dataspace, layout) {
        (Dataspace::Simple(extent), NewLayout::Contiguous | NewLayout::Compact)
            if dataspace.is_extendible() =>
        {
            Dataspace::simple(&extent.dims)
        }
        _ => dataspace.clone(),
    }
}

impl Copier<'_> {
    /// Returns the address of the copy of a committed datatype that a dataset or attribute uses. In
    /// a damaged file, returns `None` if the object is not a datatype. The caller counts the use
    /// when it creates the dataset or attribute.
    ///
    /// # Errors
    /// Returns the errors of reading and copying the datatype.
    pub(super) fn committed(
        &mut self,
        edit: &mut Edit<'_>,
        task: &Task,
        address: Address,
    ) -> Result<Option<Address>> {
        let original = Original { file: task.original.file, address };
        let store = &self.source(original.file)?.container.store;
        let header = ObjectHeader::load(store, address);
        if header.is_ok_and(|header| ObjectKind::of(&header) != Some(ObjectKind::Datatype)) {
            return Ok(None);
        }
        let object_path = ObjectPath::whole(format!("type of {}", task.path));
        self.enter(edit, original, &object_path, false).map(Some)
    }
}
