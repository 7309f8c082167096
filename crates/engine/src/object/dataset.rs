//! Descriptions of datasets: the messages in their object headers. No function of this module
//! accesses elements.

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::Datatype;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, Reader, Writer};
use hyperslab_format::message::{
    AllocationTime, DataLayout, DataspaceMessage, DatatypeMessage, ExternalFilesMessage, FillStatus,
    FillValueMessage, FillValueOldMessage, FillWriteTime, FilterDescriptions, FilterPipeline, Layout,
    MessageType, minimum_version,
};

use super::container::Container;
use super::header::ObjectHeader;
use super::message;
use crate::error::{Error, Result};
use crate::index::fractal_heap::{pipeline, stages};
use crate::index::local_heap::LocalHeap;
use crate::store::at;

/// The description of a dataset from its object header: datatype, dataspace, layout, filters and
/// fill value.
#[derive(Debug, Clone)]
pub struct DatasetDescription {
    /// Datatype of the elements.
    pub datatype: Datatype,
    /// Address of the committed datatype, if the dataset uses one.
    pub committed: Option<Address>,
    /// Dataspace of the elements.
    pub dataspace: Dataspace,
    /// Layout of the elements.
    pub layout: DataLayout,
    /// Filters of chunks or of the sections of structured chunks.
    pub filters: Filters,
    /// Fill value and allocation time.
    pub fill: FillDescription,
    /// Parts of the elements in external files.
    pub external: Vec<ExternalPiece>,
}

/// The filters of a dataset: the filters of flat (not structured) chunks, or of the sections of
/// structured chunks.
#[derive(Debug, Clone)]
pub enum Filters {
    /// Filters of chunks, other than structured chunks. Empty without filters.
    Chunk(Pipeline),
    /// Filters of the sections of structured chunks.
    Sections(FilterPipeline),
}

/// The description of a dataset's fill value, and of the times at which the fill value is written
/// and space is allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillDescription {
    /// The fill value.
    pub value: StoredFillValue,
    /// The time at which the fill value is written.
    pub write_time: FillWriteTime,
    /// The time at which space is allocated.
    pub allocation_time: AllocationTime,
}

/// A dataset's fill value in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredFillValue {
    /// Undefined: there is no fill value.
    Undefined,
    /// Zeros.
    Default,
    /// The bytes of one element.
    User(Vec<u8>),
}

/// A part of a dataset's raw data in an external file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalPiece {
    /// Name of the external file, as stored.
    pub file: Vec<u8>,
    /// Offset of the part in the external file, in bytes.
    pub offset: u64,
    /// Size of the part in bytes; `None` for unlimited.
    pub size: Option<u64>,
}

impl DatasetDescription {
    /// Reads the description of a dataset from its object header.
    pub fn read(container: &Container, header: &ObjectHeader) -> Result<Self> {
        let missing = |kind: MessageType| {
            Error::corrupt("object header of a dataset", "messages", format!("a {}", kind.name()), "none")
                .at(header.address())
        };
        let message = header.find(MessageType::DATATYPE).ok_or_else(|| missing(MessageType::DATATYPE))?;
        let body = message::resolve(container, header, message)?;
        let datatype = at(DatatypeMessage::decode(&body, container.params()), header.address())?.datatype;
        let dataspace = message::find::<DataspaceMessage>(container, header)?
            .ok_or_else(|| missing(MessageType::DATASPACE))?;
        let layout = message::find::<DataLayout>(container, header)?
            .ok_or_else(|| missing(MessageType::DATA_LAYOUT))?;
        Ok(Self {
            datatype,
            committed: body.committed,
            dataspace: dataspace.dataspace,
            layout,
            filters: filters(container, header)?,
            fill: FillDescription::read(container, header)?,
            external: external(container, header)?,
        })
    }

    /// Returns the filter pipeline of a section of the dataset's structured chunks, if the section
    /// has filters.
    pub fn section_pipeline(&self, section: u8) -> Option<Pipeline> {
        match &self.filters {
            Filters::Chunk(_) => None,
            Filters::Sections(message) => message.section(section).map(stages),
        }
    }

    /// Returns the stored bytes of the dataset's fill value, or `None` for zeros.
    pub fn fill_element(&self) -> Option<&[u8]> {
        let shown = match (&self.fill.value, self.fill.write_time) {
            (StoredFillValue::User(element), FillWriteTime::ON_ALLOCATION | FillWriteTime::IF_SET) => element,
            _ => return None,
        };
        (shown.len() == self.datatype.size as usize).then_some(shown)
    }

    /// Returns the filter pipeline of each section of the dataset's structured chunks, or an empty
    /// vector if no section has filters.
    pub fn section_pipelines(&self) -> Vec<Pipeline> {
        let (Layout::Structured(layout), Filters::Sections(message)) = (&self.layout.layout, &self.filters)
        else {
            return Vec::new();
        };
        let mut pipelines = vec![Pipeline::default(); layout.sections.into()];
        if let FilterDescriptions::Sections(sections) = &message.filters {
            for section in sections {
                if let Some(pipeline) = pipelines.get_mut(usize::from(section.section)) {
                    *pipeline = stages(&section.filters);
                }
            }
        }
        pipelines
    }
}

impl FillDescription {
    fn read(container: &Container, header: &ObjectHeader) -> Result<Self> {
        let value = |status: FillStatus<'_>| match status {
            FillStatus::Undefined => StoredFillValue::Undefined,
            FillStatus::Default => StoredFillValue::Default,
            FillStatus::UserDefined(element) => StoredFillValue::User(element.to_vec()),
        };
        if let Some(message) = message::find::<FillValueMessage>(container, header)? {
            let (write_time, allocation_time) = (message.write_time, message.allocation_time);
            return Ok(Self { value: value(message.status()), write_time, allocation_time });
        }
        let old = message::find::<FillValueOldMessage>(container, header)?;
        Ok(Self {
            value: old.map_or(StoredFillValue::Undefined, |message| value(message.status())),
            write_time: FillWriteTime::IF_SET,
            allocation_time: AllocationTime::DEFAULT,
        })
    }
}

fn filters(container: &Container, header: &ObjectHeader) -> Result<Filters> {
    let Some(message) = message::find::<FilterPipeline>(container, header)? else {
        return Ok(Filters::Chunk(Pipeline::default()));
    };
    match message.chunk() {
        Some(_) => pipeline(&message).map(Filters::Chunk),
        None => Ok(Filters::Sections(message)),
    }
}

fn external(container: &Container, header: &ObjectHeader) -> Result<Vec<ExternalPiece>> {
    let Some(message) = message::find::<ExternalFilesMessage>(container, header)? else {
        return Ok(Vec::new());
    };
    let heap = LocalHeap::load(&container.store, message.heap)?;
    let piece = |slot: &hyperslab_format::message::ExternalFileSlot| {
        let file = heap.name(slot.name_offset)?.to_vec();
        Ok(ExternalPiece { file, offset: slot.offset, size: slot.size })
    };
    message.slots.iter().map(piece).collect()
}

/// Returns the size in bytes of an object's datatype message, without padding. If the message has a
/// compound with array members in version 1, returns the size in version 2, which has arrays.
///
/// # Errors
/// Returns [`Error::Misuse`] if the object has no datatype, and read errors.
pub fn datatype_length(container: &Container, header: &ObjectHeader) -> Result<usize> {
    let Some(message) = header.find(MessageType::DATATYPE) else {
        return Err(Error::Misuse(format!("the object at {} has no datatype", header.address())));
    };
    let body = message::resolve(container, header, message)?;
    let mut reader = Reader::new("datatype message", &body);
    let message = at(DatatypeMessage::decode_prefix(&mut reader, container.params()), header.address())?;
    let needed = minimum_version(&message.datatype);
    if message.version >= needed {
        return Ok(body.len() - reader.remaining());
    }
    let mut writer = Writer::new("datatype message");
    message.encode_from(needed, &mut writer);
    Ok(at(writer.finish(), header.address())?.len())
}

/// Returns the datatype that a committed datatype stores, from its object header.
///
/// # Errors
/// Returns [`Error::Misuse`] if the object has no datatype, and read errors.
pub fn committed_datatype(container: &Container, header: &ObjectHeader) -> Result<Datatype> {
    let Some(message) = header.find(MessageType::DATATYPE) else {
        return Err(Error::Misuse(format!("the object at {} is not a committed datatype", header.address())));
    };
    let body = message::resolve(container, header, message)?;
    Ok(at(DatatypeMessage::decode(&body, container.params()), header.address())?.datatype)
}
