//! The header of a copy: what the object was, in the versions of the file that it comes into.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_dataspace::{Dataspace, Dims};
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{Comment, FillWriteTime, Layout, MessageFlags};
use hyperslab_format::object_header::{HeaderFlags, ObjectTimes};
use hyperslab_format::selection::SelectionEncoding;

use super::elements::Plan;
use super::movement::MoveSource;
use super::sparse::SparseCopy;
use super::storage::{NewStorage, same_layout};
use super::ways::Way;
use super::{Copier, Original, Part, StoredBefore, Task};
use crate::data::virtual_::mappings;
use crate::error::{Error, Result};
use crate::object::dataset::{DatasetDescription, Fill, FillDescription, Filters, committed_datatype};
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

/// What an attribute's message may be as long as in a version 1 header.
const LONGEST_IN_OLD: usize = 65_528;

impl Copier<'_> {
    /// Makes the header of a copy, and notes what is still to come.
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
        if kind == Some(ObjectKind::Group) && !(self.options.shallow && task.depth > 0) {
            self.groups.push_back(task.wait());
        }
        if let (Some(salvage), Some(kind)) = (self.guide.salvage(), kind) {
            salvage.object(&task.path, kind, task.original.address);
        }
        let copy = task.copy;
        self.waiting.push_back(task.wait());
        Ok(copy)
    }

    fn make_group(&self, edit: &mut Edit<'_>, source: &OpenFile, header: &ObjectHeader) -> Result<Address> {
        let storage = GroupStorage::of(&source.container, header)?;
        let info = group::info(&source.container, header)?.unwrap_or_default();
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
                .or(info.phase_change)
                .unwrap_or(defaults.phase_change),
            estimated: info.estimated.unwrap_or(defaults.estimated),
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
        let (_, datatype) = Plan::new(&datatype, edit.params())?;
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
        let (plan, datatype) = Plan::new(&before.datatype, edit.params())?;
        before.datatype = datatype;
        if let Fill::User(element) = &before.fill.value
            && element.len() == plan.from_size
            && !plan.is_copy()
        {
            let origin = MoveSource { file: task.original.file, foreign: None, into: None };
            before.fill.value = Fill::User(self.move_elements_of(edit, &origin, &plan, element, &task.path)?);
        }
        let asked = StoredBefore {
            description: &before,
            path: &task.path,
            file: source,
            header,
            target: (edit.bounds(), edit.params()),
        };
        let wanted = self.guide.storage(asked)?;
        let is_changed = wanted.is_some();
        if is_changed && matches!(before.layout.layout, Layout::Virtual(_)) {
            // It becomes as large as its sources make it.
            before.dataspace = OpenDataset::open(source, header)?.description.dataspace;
        }
        let storage = match wanted {
            Some(storage) => storage,
            None => self.same_storage(edit, source, &before)?,
        };
        let sparse = SparseCopy::of(&storage);
        if let Some(element) = &storage.undefined {
            before.fill.value = Fill::User(element.clone());
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
                // Elsewhere chunks at the edge have to pass the filters, too.
                let edges_unfiltered = edges_unfiltered && has_new_index(&before.dataspace, edit.params());
                NewLayout::Chunked { chunk, edges_unfiltered }
            }
            (_, Some(layout)) => layout,
            (Layout::Virtual(virtual_), _) => {
                let id = self.move_mappings(edit, source, virtual_.heap, virtual_.index)?;
                NewLayout::Virtual { heap: id.collection, index: id.index }
            }
            _ => return Err(Error::unsupported("copying a dataset of that layout")),
        };
        // Filters of what is not in chunks do nothing.
        let pipeline =
            if matches!(layout, NewLayout::Chunked { .. }) { pipeline } else { Pipeline::default() };
        Ok(NewStorage { layout, pipeline, section_pipelines: before.section_pipelines(), undefined: None })
    }

    /// The mappings of a virtual dataset, in the heap of the target.
    fn move_mappings(
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
                let block = mappings.encode(edit.params(), SelectionEncoding::Compatible)?;
                self.target.container.heap.insert(edit, &block)
            }
            None => Ok(none),
        }
    }

    /// What a new header says besides the object itself, and room for its attributes.
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
            let (mut count, mut bytes, mut longest) = (0_usize, 0_usize, 0);
            let measured = attribute::for_each(&source.container, header, &mut |found| {
                let length = found.stored_length();
                count = count.saturating_add(1);
                bytes = bytes.saturating_add(length).saturating_add(16);
                longest = longest.max(length);
                Ok(ControlFlow::Continue(()))
            });
            // When they are copied, what is wrong comes up again.
            if self.is_salvaging() {
                source.container.store.take_damages();
            } else {
                measured?;
            }
            new.version_2 = longest > LONGEST_IN_OLD;
            if count <= usize::from(phase_change.max_compact) && !new.version_2 {
                new.spare = bytes;
            }
        }
        Ok(new)
    }

    /// What comes last: attributes and the comment; then the times, which all of this has changed.
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
            changed = self.forgive(&task.path, Part::Attributes, copied)?.unwrap_or(true);
        }
        let comment =
            self.forgive(&task.path, Part::Comment, annotation::comment(&source.container, header))?;
        let comment = comment.flatten().filter(|text| !text.is_empty());
        let times = self.forgive(&task.path, Part::Block, times_of(source, header))?.flatten();
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

/// A dataset like another one, stored in that way.
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

/// What old files say of fill values need not be what a new dataset may say.
fn check(new: &NewDataset) -> Result<()> {
    let fill = FillDescription { value: Fill::Default, ..new.fill.clone() };
    NewDataset { fill, ..new.clone() }.check()
}

impl StoredBefore<'_> {
    /// Returns whether its copy can be stored like this.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self, storage: &NewStorage) -> Result<()> {
        let new = new_dataset(self.description, storage.clone());
        check(&new)?;
        let (bounds, params) = self.target;
        new.describe(bounds, params).map(drop)
    }
}

/// The times of an object; all the same where it keeps only one.
fn times_of(source: &OpenFile, header: &ObjectHeader) -> Result<Option<ObjectTimes>> {
    if let Some(times) = annotation::times(header) {
        return Ok(Some(times));
    }
    let modified = annotation::modification_time(&source.container, header)?;
    let modified = modified.and_then(|seconds| u32::try_from(seconds).ok());
    Ok(modified.map(|time| ObjectTimes { access: time, modification: time, change: time, birth: time }))
}

/// A chunk no larger than the dataset can be: some programs have written others, which only version 1 B-trees index.
fn fitting(before: &DatasetDescription, chunk: Dims) -> Dims {
    let most = before.dataspace.max_dims();
    let fit = |(size, most): (&u64, Option<u64>)| most.map_or(*size, |most| (*size).min(most.max(1)));
    chunk.iter().zip(most).map(fit).collect()
}

fn has_chunks(dataset: &DatasetDescription) -> bool {
    matches!(&dataset.layout.layout, Layout::Chunked(layout) if layout.address.is_defined())
}

/// Datasets that become contiguous or compact can no longer grow.
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
    /// The copy of a committed datatype that a dataset or attribute uses; none if a damaged file names an object of
    /// another kind that has a type. Making one of those counts the use.
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
        let way = Way::whole(format!("type of {}", task.path));
        self.enter(edit, original, &way, task.depth.saturating_add(1)).map(Some)
    }
}
