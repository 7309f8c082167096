//! What a dataset's header says of its elements. Nothing here touches them.

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::Datatype;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{
    AllocationTime, DataLayout, DataspaceMessage, DatatypeMessage, ExternalFiles, FillStatus, FillValue,
    FillValueOld, FillWriteTime, FilterPipeline, Filters as StoredFilters, Layout, MessageType,
};

use super::container::Container;
use super::header::ObjectHeader;
use super::message;
use crate::error::{Error, Result};
use crate::index::fractal_heap::{pipeline, stages};
use crate::index::local_heap::LocalHeap;
use crate::store::at;

/// What a dataset's header says.
#[derive(Debug, Clone)]
pub struct DatasetDescription {
    /// Type of the elements.
    pub datatype: Datatype,
    /// The object header of the committed datatype that is used, if one is.
    pub committed: Option<Address>,
    /// How many elements there are.
    pub dataspace: Dataspace,
    /// Where they are.
    pub layout: DataLayout,
    /// The filters of ordinary chunks, or what keeps them from being used.
    pub filters: Filters,
    /// What elements are that were never written.
    pub fill: FillDescription,
    /// Pieces of the elements in other files.
    pub external: Vec<ExternalPiece>,
}

/// The filters of a dataset.
#[derive(Debug, Clone)]
pub enum Filters {
    /// Those of ordinary chunks; none at all if empty.
    Chunk(Pipeline),
    /// Those of the sections of structured chunks.
    Sections(FilterPipeline),
}

/// Fill value, and when it and the space for elements come to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillDescription {
    /// The value.
    pub value: Fill,
    /// When it is written.
    pub write_time: FillWriteTime,
    /// When space is allocated.
    pub allocation_time: AllocationTime,
}

/// A fill value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// There is none.
    Undefined,
    /// Zeros.
    Default,
    /// One element.
    User(Vec<u8>),
}

/// A piece of a dataset in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalPiece {
    /// Name of the file, as the bytes in this one.
    pub file: Vec<u8>,
    /// Where the piece begins there, in bytes.
    pub offset: u64,
    /// Bytes of the piece; `None` if it goes on without end.
    pub size: Option<u64>,
}

impl DatasetDescription {
    /// Reads the description from the dataset's header.
    pub fn read(container: &Container, header: &ObjectHeader) -> Result<Self> {
        let missing = |kind: MessageType| {
            Error::corrupt("object header of a dataset", "messages", format!("a {}", kind.name()), "none")
                .at(header.address())
        };
        let closed = header.find(MessageType::DATATYPE).ok_or_else(|| missing(MessageType::DATATYPE))?;
        let body = message::resolve(container, header, closed)?;
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

    /// The filters of a section of structured chunks, if chunks are such and pass any.
    pub fn section_pipeline(&self, section: u8) -> Option<Pipeline> {
        match &self.filters {
            Filters::Chunk(_) => None,
            Filters::Sections(message) => message.section(section).map(stages),
        }
    }

    /// The element that was never written, as stored bytes; `None` for zeros.
    pub fn fill_element(&self) -> Option<&[u8]> {
        let shown = match (&self.fill.value, self.fill.write_time) {
            (Fill::User(element), FillWriteTime::ON_ALLOCATION | FillWriteTime::IF_SET) => element,
            _ => return None,
        };
        (shown.len() == self.datatype.size as usize).then_some(shown)
    }

    /// The filters of each section of structured chunks; none at all if no section has filters.
    pub fn section_pipelines(&self) -> Vec<Pipeline> {
        let (Layout::Structured(layout), Filters::Sections(message)) = (&self.layout.layout, &self.filters)
        else {
            return Vec::new();
        };
        let mut pipelines = vec![Pipeline::default(); layout.sections.into()];
        if let StoredFilters::Sections(sections) = &message.filters {
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
            FillStatus::Undefined => Fill::Undefined,
            FillStatus::Default => Fill::Default,
            FillStatus::UserDefined(element) => Fill::User(element.to_vec()),
        };
        if let Some(message) = message::find::<FillValue>(container, header)? {
            let (write_time, allocation_time) = (message.write_time, message.allocation_time);
            return Ok(Self { value: value(message.status()), write_time, allocation_time });
        }
        let old = message::find::<FillValueOld>(container, header)?;
        Ok(Self {
            value: old.map_or(Fill::Undefined, |message| value(message.status())),
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
    let Some(message) = message::find::<ExternalFiles>(container, header)? else { return Ok(Vec::new()) };
    let heap = LocalHeap::load(&container.store, message.heap)?;
    let piece = |slot: &hyperslab_format::message::ExternalFileSlot| {
        let file = heap.name(slot.name_offset)?.to_vec();
        Ok(ExternalPiece { file, offset: slot.offset, size: slot.size })
    };
    message.slots.iter().map(piece).collect()
}

/// Bytes of the message that describes the type of the elements, written anew in its own version or the next that has
/// room for all in it.
pub fn datatype_length(container: &Container, header: &ObjectHeader) -> Result<usize> {
    let Some(closed) = header.find(MessageType::DATATYPE) else {
        return Err(Error::Misuse(format!("the object at {} has no datatype", header.address())));
    };
    let body = message::resolve(container, header, closed)?;
    let message = at(DatatypeMessage::decode(&body, container.params()), header.address())?;
    let mut writer = Writer::new("datatype message");
    message.encode(container.params(), &mut writer);
    Ok(at(writer.finish(), header.address())?.len())
}

/// The type that a committed datatype's header holds.
pub fn committed_datatype(container: &Container, header: &ObjectHeader) -> Result<Datatype> {
    let Some(closed) = header.find(MessageType::DATATYPE) else {
        return Err(Error::Misuse(format!("the object at {} is not a committed datatype", header.address())));
    };
    let body = message::resolve(container, header, closed)?;
    Ok(at(DatatypeMessage::decode(&body, container.params()), header.address())?.datatype)
}
