//! The header of a new dataset, and the messages that change while it is written.

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{Datatype, DatatypeClass};
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, Structure as _, Writer};
use hyperslab_format::local_heap::{LOCAL_HEAP_ALIGNMENT, LocalHeapHeader};
use hyperslab_format::message::{
    DataLayout, DataspaceMessage, DatatypeMessage, ExternalFileSlot, ExternalFiles, FillStatus, FillValue,
    FillValueOld, Filter, FilterPipeline, Filters as StoredFilters, Layout, Message as _, MessageFlags,
    MessageType, SharedReference,
};

use super::container::Container;
use super::dataset::{DatasetDescription, ExternalPiece, Fill, FillDescription, Filters};
use super::delete::add_reference;
use super::header_edit::{self, HeaderEditor, NewHeader, NewMessage};
use super::{message, sharing};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, at};
use crate::versions::{LibraryVersion, LibverBounds};

/// The flags of a dataspace that may become another, in files whose objects share messages: libhdf5 2.0 lays the new one
/// over what stands behind a reference to the old one, so that there had better be none.
const RESIZABLE: MessageFlags = MessageFlags::DO_NOT_SHARE;

/// Makes the header of a dataset. `header` says what it holds besides: times, how attributes are kept.
///
/// # Errors
/// [`Error::Misuse`] if a message does not fit a header; as [`Edit::allocate`].
pub fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    description: &DatasetDescription,
    header: NewHeader,
) -> Result<Address> {
    let mut editor = prepare(container, edit, description, header)?;
    editor.save(edit)?;
    // A committed datatype counts its uses as it counts links.
    if let Some(datatype) = description.committed {
        add_reference(edit, datatype)?;
    }
    Ok(editor.address())
}

/// As [`create`], but the header is only allocated: it is there once it is saved. The committed datatype does not count
/// the use yet.
///
/// # Errors
/// As [`create`].
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

/// Writes another dataspace or layout message into the header of a dataset that is not open.
///
/// # Errors
/// If the header is damaged; as [`HeaderEditor::save`].
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

/// Writes another dataspace or layout message into a header that is being changed.
///
/// # Errors
/// The errors of shared messages.
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

/// Puts another dataspace in place of the one in the header, in the same version. One that others share stays, and is
/// no longer shared by this dataset.
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
        header.replace(id, flags, &body);
        return Ok(());
    }
    sharing::release(container, edit, owner, kind, flags, &before)?;
    header.replace(id, (flags & !shared) | RESIZABLE, &body);
    Ok(())
}

/// A dataspace in the version that the bounds ask for.
pub fn dataspace_message(dataspace: &Dataspace, bounds: LibverBounds) -> DataspaceMessage {
    let new = bounds.prefers(LibraryVersion::V18) || *dataspace == Dataspace::Null;
    DataspaceMessage { version: if new { 2 } else { 1 }, dataspace: dataspace.clone() }
}

/// A datatype in the version that the bounds ask for: of types that are made of others, as libhdf5 has it.
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

/// Adds a datatype, or a reference to where it is committed.
///
/// # Errors
/// If a value does not fit its field.
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
        Fill::Undefined => None,
        Fill::Default => Some(Vec::new()),
        Fill::User(element) => Some(element.clone()),
    };
    let version = if edit.bounds().prefers(LibraryVersion::V18) { 3 } else { 2 };
    let (allocation_time, write_time) = (fill.allocation_time, fill.write_time);
    let message = FillValue { version, allocation_time, write_time, value };
    // For readers that do not know the new message.
    if let (FillStatus::UserDefined(value), 2) = (message.status(), version) {
        header.push(edit, &FillValueOld { value: value.to_vec() }, MessageFlags::CONSTANT)?;
    }
    header.push(edit, &message, MessageFlags::CONSTANT)
}

fn pipeline_message(pipeline: &Pipeline, bounds: LibverBounds) -> Result<FilterPipeline> {
    let version = if bounds.prefers(LibraryVersion::V18) { 2 } else { 1 };
    Ok(FilterPipeline { version, filters: StoredFilters::Chunk(stored_filters(pipeline, version)?) })
}

/// Filters as a message of that version describes them.
///
/// # Errors
/// If there are too many.
pub fn stored_filters(pipeline: &Pipeline, version: u8) -> Result<Vec<Filter>> {
    if pipeline.stages.len() > FilterPipeline::MAX_FILTERS {
        let most = FilterPipeline::MAX_FILTERS;
        return Err(Error::Misuse(format!("{} filters: there are {most} at most", pipeline.stages.len())));
    }
    let filters = pipeline.stages.iter().map(|stage| {
        let named = version == 1 || stage.id.0 >= FilterPipeline::FIRST_NAMED_ID;
        let name = stage.name.as_ref().filter(|_| named).map(|name| name.clone().into_bytes());
        Filter {
            id: stage.id.0,
            flags: stage.flags,
            name: name.unwrap_or_default(),
            client_data: stage.client_data.iter().copied().collect(),
        }
    });
    Ok(filters.collect())
}

/// Stores the names of the files, and makes the message that leads to them.
fn external_files(edit: &mut Edit<'_>, pieces: &[ExternalPiece]) -> Result<ExternalFiles> {
    let params = edit.params();
    // The empty name stands first, as in all local heaps.
    let mut names = vec![0; usize::try_from(LOCAL_HEAP_ALIGNMENT).unwrap_or(8)];
    let mut slots = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if piece.file.contains(&0) || piece.file.is_empty() {
            return Err(Error::Misuse("the name of an external file is empty or has a zero byte".into()));
        }
        slots.push(ExternalFileSlot {
            name_offset: names.len() as u64,
            offset: piece.offset,
            size: piece.size,
        });
        names.extend_from_slice(&piece.file);
        names.push(0);
        let length = (names.len() as u64).next_multiple_of(LOCAL_HEAP_ALIGNMENT);
        names.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
    }
    let segment_size = names.len() as u64;
    let header_size = LocalHeapHeader::size(&params) as u64;
    // Header and names lie side by side, as libhdf5 expects of small heaps.
    let heap = edit.allocate(SpaceKind::LocalHeap, header_size.saturating_add(segment_size))?;
    let segment = heap.checked_add(header_size).unwrap_or(Address::UNDEFINED);
    edit.put(heap, &params, LocalHeapHeader { segment_size, free_list: None, segment });
    edit.write(segment, &names, "local heap data segment")?;
    Ok(ExternalFiles { heap, slots })
}
