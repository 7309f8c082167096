//! Creation of a dataset's object header, and changes of its messages.

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{Datatype, DatatypeClass};
use hyperslab_exact::{to_u64, to_usize};
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, Structure as _, Writer};
use hyperslab_format::local_heap::{LOCAL_HEAP_ALIGNMENT, LocalHeapHeader};
use hyperslab_format::message::{
    DataLayout, DataspaceMessage, DatatypeMessage, ExternalFileSlot, ExternalFilesMessage, FillStatus,
    FillValueMessage, FillValueOldMessage, FilterDescription, FilterDescriptions, FilterPipeline, Layout,
    Message as _, MessageFlags, MessageType, SharedReference,
};

use super::container::Container;
use super::dataset::{DatasetDescription, ExternalPiece, FillDescription, Filters, StoredFillValue};
use super::delete::add_reference;
use super::header_edit::{self, HeaderEditor, NewHeader, NewMessage};
use super::{message, sharing};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, at};
use crate::versions::{LibraryVersion, LibverBounds};

/// Flags of the message for a dataspace that can change its shape, in a file with shared messages.
/// The flags prevent sharing. If such a dataspace were shared, libhdf5 2.0 would write the new
/// dataspace over the reference to the shared message.
const RESIZABLE: MessageFlags = MessageFlags::DO_NOT_SHARE;

/// Creates the object header of a dataset from its description. `header` has the other properties:
/// times and attribute storage.
///
/// # Errors
/// Returns [`Error::Misuse`] if a message does not fit in an object header, and the errors of
/// [`Edit::allocate`].
pub fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    description: &DatasetDescription,
    header: NewHeader,
) -> Result<Address> {
    let mut editor = prepare(container, edit, description, header)?;
    editor.save(edit)?;
    // The reference count of a committed datatype includes its uses.
    if let Some(datatype) = description.committed {
        add_reference(edit, datatype)?;
    }
    Ok(editor.address())
}

/// Allocates the object header of a dataset like [`create`], but does not write it. Returns the
/// editor of the object header. The caller saves the object header, and counts the use of a
/// committed datatype.
///
/// # Errors
/// Returns the same errors as [`create`].
pub fn prepare(
    container: &Container,
    edit: &mut Edit<'_>,
    description: &DatasetDescription,
    mut header: NewHeader,
) -> Result<HeaderEditor> {
    let bounds = edit.bounds();
    let fixed = matches!(description.layout.layout, Layout::Contiguous(_) | Layout::Compact(_))
        && description.external.is_empty();
    let flags = if fixed || container.shared_messages.is_none() { MessageFlags::empty() } else { RESIZABLE };
    header.push(edit, &dataspace_message(&description.dataspace, bounds), flags)?;
    push_datatype(edit, &mut header, &description.datatype, description.committed)?;
    push_fill(edit, &mut header, &description.fill)?;
    header.push(edit, &description.layout, MessageFlags::empty())?;
    match &description.filters {
        Filters::Chunk(pipeline) if pipeline.is_empty() => {}
        Filters::Chunk(pipeline) => {
            header.push(edit, &pipeline_message(pipeline, bounds)?, MessageFlags::CONSTANT)?;
        }
        Filters::Sections(message) => header.push(edit, message, MessageFlags::CONSTANT)?,
    }
    if !description.external.is_empty() {
        let files = external_files(edit, &description.external)?;
        header.push(edit, &files, MessageFlags::empty())?;
    }
    sharing::place_all(container, edit, &mut header)?;
    header_edit::prepare(edit, &header)
}

/// Overwrites the dataspace or the layout in the object header of a dataset that is not open.
///
/// # Errors
/// Returns read errors, and the errors of [`HeaderEditor::save`].
pub fn update(
    container: &Container,
    edit: &mut Edit<'_>,
    dataset: Address,
    dataspace: Option<&Dataspace>,
    layout: Option<&DataLayout>,
) -> Result<()> {
    let mut header = HeaderEditor::load(edit.store(), dataset)?;
    restate(container, edit, &mut header, dataspace, layout)?;
    header.save(edit)
}

/// Overwrites the dataspace or the layout of a dataset in the object header that an editor changes.
///
/// # Errors
/// Returns the errors of shared messages.
pub(super) fn restate(
    container: &Container,
    edit: &mut Edit<'_>,
    header: &mut HeaderEditor,
    dataspace: Option<&Dataspace>,
    layout: Option<&DataLayout>,
) -> Result<()> {
    if let Some(dataspace) = dataspace {
        set_dataspace(container, edit, header, dataspace)?;
    }
    if let Some(layout) = layout {
        header.set(layout, MessageFlags::empty())?;
    }
    header.touch(header_edit::now())
}

/// Overwrites the dataspace in the object header of a dataset, in the same version. If the
/// dataspace is a shared message, the dataset gets its own message, and the other users keep the
/// shared message.
fn set_dataspace(
    container: &Container,
    edit: &mut Edit<'_>,
    header: &mut HeaderEditor,
    dataspace: &Dataspace,
) -> Result<()> {
    let (kind, owner) = (MessageType::DATASPACE, header.address());
    let Some(message) = header.find(kind) else {
        return header.set(&dataspace_message(dataspace, edit.bounds()), MessageFlags::empty());
    };
    let (id, flags, before) = (message.id, message.flags, message.body.to_vec());
    let body = message::resolve_body(container, owner, kind, flags, &before)?;
    let version = at(DataspaceMessage::decode(&body, container.params()), owner)?.version;
    let body = DataspaceMessage { version, dataspace: dataspace.clone() }.to_bytes(edit.params())?;
    let shared = MessageFlags::SHARED | MessageFlags::SHAREABLE;
    if !flags.intersects(shared) {
        return header.replace(id, flags, &body);
    }
    sharing::release(container, edit, owner, kind, flags, &before)?;
    header.replace(id, (flags & !shared) | RESIZABLE, &body)
}

/// Returns the dataspace message for a dataspace, in the version that the library version bounds
/// require.
pub fn dataspace_message(dataspace: &Dataspace, bounds: LibverBounds) -> DataspaceMessage {
    let new = bounds.prefers(LibraryVersion::V18) || *dataspace == Dataspace::Null;
    DataspaceMessage { version: if new { 2 } else { 1 }, dataspace: dataspace.clone() }
}

/// Returns the datatype message for a datatype, in the version that the library version bounds
/// require. As in libhdf5, the bounds affect only datatypes that contain other datatypes.
pub fn datatype_message(datatype: &Datatype, bounds: LibverBounds) -> DatatypeMessage {
    let version = match bounds.low() {
        _ if !is_composed(datatype) => 1,
        LibraryVersion::Earliest => 1,
        LibraryVersion::V18 | LibraryVersion::V110 => 3,
        LibraryVersion::V112 | LibraryVersion::V114 => 4,
        LibraryVersion::V200 => 5,
    };
    DatatypeMessage { version, datatype: datatype.clone() }
}

fn is_composed(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Compound(_) | DatatypeClass::Array(_) | DatatypeClass::Enumeration(_) => true,
        DatatypeClass::VariableLength(variable) => is_composed(&variable.base),
        _ => false,
    }
}

/// Adds a datatype message, or a reference to a committed datatype, to a new object header.
///
/// # Errors
/// Returns [`Error::Misuse`] if a value does not fit in its field.
pub fn push_datatype(
    edit: &Edit<'_>,
    header: &mut NewHeader,
    datatype: &Datatype,
    committed: Option<Address>,
) -> Result<()> {
    let Some(address) = committed else {
        let mut writer = Writer::new(MessageType::DATATYPE.name());
        datatype_message(datatype, edit.bounds()).encode(edit.params(), &mut writer);
        let body = writer.finish()?;
        let kind = MessageType::DATATYPE;
        header.messages.push(NewMessage { kind, flags: MessageFlags::CONSTANT, body });
        return Ok(());
    };
    let body = SharedReference::committed(address).to_bytes(edit.params())?;
    let flags = MessageFlags::CONSTANT | MessageFlags::SHARED;
    header.messages.push(NewMessage { kind: MessageType::DATATYPE, flags, body });
    Ok(())
}

fn push_fill(edit: &Edit<'_>, header: &mut NewHeader, fill: &FillDescription) -> Result<()> {
    let value = match &fill.value {
        StoredFillValue::Undefined => None,
        StoredFillValue::Default => Some(Vec::new()),
        StoredFillValue::User(element) => Some(element.clone()),
    };
    let version = if edit.bounds().prefers(LibraryVersion::V18) { 3 } else { 2 };
    let (allocation_time, write_time) = (fill.allocation_time, fill.write_time);
    let message = FillValueMessage { version, allocation_time, write_time, value };
    // Also write the old message, for readers that do not know the new message.
    if let (FillStatus::UserDefined(value), 2) = (message.status(), version) {
        header.push(edit, &FillValueOldMessage { value: value.to_vec() }, MessageFlags::CONSTANT)?;
    }
    header.push(edit, &message, MessageFlags::CONSTANT)
}

/// Returns the filter pipeline message of a new object.
pub(in crate::object) fn pipeline_message(
    pipeline: &Pipeline,
    bounds: LibverBounds,
) -> Result<FilterPipeline> {
    let version = if bounds.prefers(LibraryVersion::V18) { 2 } else { 1 };
    Ok(FilterPipeline { version, filters: FilterDescriptions::Chunk(stored_filters(pipeline, version)?) })
}

/// Returns the filters of a dataset in the form that a filter pipeline message of the version
/// `version` stores.
///
/// # Errors
/// Returns [`Error::Misuse`] for too many filters.
pub fn stored_filters(pipeline: &Pipeline, version: u8) -> Result<Vec<FilterDescription>> {
    if pipeline.stages.len() > FilterPipeline::MAX_FILTERS {
        let maximum = FilterPipeline::MAX_FILTERS;
        return Err(Error::Misuse(format!(
            "the filter pipeline has {} filters, but at most {maximum} are allowed",
            pipeline.stages.len()
        )));
    }
    let filters = pipeline.stages.iter().map(|stage| {
        let of_library = stage.id.0 < FilterPipeline::FIRST_NAMED_ID;
        let name = match &stage.name {
            _ if of_library && version != 1 => None,
            // A pipeline that was read from a version 2 message has no names of library filters.
            // libhdf5 adds the missing names when it copies the object, but copies the message
            // into memory of the stored size.
            None if of_library => stage.id.name(),
            name => name.as_deref(),
        };
        FilterDescription {
            id: stage.id.0,
            flags: stage.flags,
            name: name.map_or_else(Vec::new, |name| name.as_bytes().to_vec()),
            client_data: stage.client_data.iter().copied().collect(),
        }
    });
    Ok(filters.collect())
}

/// Stores the names of a dataset's external files in a local heap. Returns the external files
/// message, which refers to the heap.
fn external_files(edit: &mut Edit<'_>, pieces: &[ExternalPiece]) -> Result<ExternalFilesMessage> {
    let params = edit.params();
    // The first name is empty, as in all local heaps.
    let alignment = to_usize(LOCAL_HEAP_ALIGNMENT)?;
    let mut names = vec![0; alignment];
    let mut slots = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if piece.file.contains(&0) || piece.file.is_empty() {
            return Err(Error::Misuse("the name of an external file is empty or has a zero byte".into()));
        }
        slots.push(ExternalFileSlot {
            name_offset: to_u64(names.len()),
            offset: piece.offset,
            size: piece.size,
        });
        names.extend_from_slice(&piece.file);
        names.push(0);
        names.resize(names.len().next_multiple_of(alignment), 0);
    }
    let segment_size = to_u64(names.len());
    let header_size = to_u64(LocalHeapHeader::size(&params));
    // The header and the names are adjacent, as libhdf5 expects of small heaps.
    let heap = edit.allocate(SpaceKind::LocalHeap, header_size + segment_size)?;
    let segment = heap
        .checked_add(header_size)
        .ok_or_else(|| Error::internal("local heap", "an allocated block ends below 2^64"))?;
    edit.put(heap, &params, LocalHeapHeader { segment_size, free_list: None, segment });
    edit.write(segment, &names, "local heap data segment")?;
    Ok(ExternalFilesMessage { heap, slots })
}
