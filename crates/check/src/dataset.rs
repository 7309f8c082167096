//! Datasets: agreement of the messages with each other, and raw data.

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::Datatype;
use hyperslab_engine::index::fractal_heap::pipeline;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{
    ContiguousLayout, DataLayout, DataspaceMessage, DatatypeMessage, ExternalFilesMessage, FillStatus,
    FillValueMessage, FillValueOldMessage, FilterPipeline, Layout, Message as _, MessageType, VirtualLayout,
};
use hyperslab_format::virtual_mapping::VirtualMappings;

use crate::chunks;
use crate::elements::{self, Plan};
use crate::extents::BlockKind;
use crate::file::{Checker, to_usize};
use crate::header::Header;
use crate::metadata::Purpose;
use crate::structured_chunks;
use crate::symbol_table::LocalHeap;
use crate::totals::{add, start_of};

const NAME: &str = "dataset";
const LAYOUT: &str = "data layout message";
/// The largest number of bytes that one read of contiguous raw data returns.
const MAX_PIECE_BYTES: u64 = 1 << 20;

/// The decoded object header messages of a dataset under check.
#[derive(Debug)]
pub(crate) struct Dataset {
    pub(crate) owner: Address,
    pub(crate) datatype: Datatype,
    pub(crate) space: Dataspace,
    pub(crate) plan: Plan,
    /// The filter pipeline; `None` if it cannot be decoded or has unknown filters.
    pub(crate) pipeline: Option<Pipeline>,
    /// The filter pipeline of sections, for structured chunks.
    pub(crate) sections: Option<FilterPipeline>,
}

/// Checks the dataset that the given object header describes.
pub(crate) fn check(checker: &mut Checker, header: &Header) {
    let Some((dataset, layout)) = describe(checker, header) else { return };
    fill_value(checker, header, &dataset);
    let external = external_files(checker, header);
    match &layout.layout {
        Layout::Compact(compact) => {
            let wanted = dataset.bytes();
            if (compact.data.len() as u64) < wanted {
                let text =
                    format!("the dataset has {} bytes of raw data, expected {wanted}", compact.data.len());
                checker.fault(LAYOUT, dataset.owner, text);
            }
            let data = compact.data.get(..to_usize(wanted)).unwrap_or(&compact.data);
            elements::scan_all(checker, &dataset.plan, dataset.element_size(), data, dataset.owner);
        }
        Layout::Contiguous(contiguous) => dataset.contiguous(checker, contiguous, external),
        Layout::Chunked(chunked) => chunks::check(checker, &dataset, chunked),
        Layout::Virtual(mapped) => virtual_mappings(checker, &dataset, mapped),
        Layout::Structured(structured) => structured_chunks::check(checker, &dataset, structured),
    }
}

fn describe(checker: &mut Checker, header: &Header) -> Option<(Dataset, DataLayout)> {
    let (owner, params) = (header.address, checker.params);
    let mut body = |kind: MessageType| {
        let message = header.of(kind).next();
        if message.is_none() && header.complete {
            checker.fault(NAME, owner, format!("no {}", kind.name()));
        }
        message.map(|message| message.body.clone())
    };
    let datatype = body(MessageType::DATATYPE);
    let space = body(MessageType::DATASPACE);
    let layout = body(MessageType::DATA_LAYOUT)?;
    let datatype = checker.decoded(NAME, owner, DatatypeMessage::decode(&datatype?, params))?.datatype;
    let space = checker.decoded(NAME, owner, DataspaceMessage::decode(&space?, params))?.dataspace;
    let layout = checker.decoded(LAYOUT, owner, DataLayout::decode(&layout, params))?;
    let plan = Plan::of(checker, &datatype);
    let pipeline = filters(checker, header);
    if space.element_count().is_none() {
        checker.remark(NAME, owner, "the number of elements exceeds 64 bits");
    }
    let sections = section_filters(checker, header);
    Some((Dataset { owner, datatype, space, plan, pipeline, sections }, layout))
}

fn filters(checker: &mut Checker, header: &Header) -> Option<Pipeline> {
    let Some(message) = header.of(MessageType::FILTER_PIPELINE).next() else {
        return Some(Pipeline::default());
    };
    let message = FilterPipeline::decode(&message.body, checker.params).ok()?;
    pipeline(&message).ok()
}

/// Returns the filter pipelines of the sections of structured chunks, if the dataset has structured
/// chunks with filters.
fn section_filters(checker: &Checker, header: &Header) -> Option<FilterPipeline> {
    let message = header.of(MessageType::FILTER_PIPELINE).next()?;
    let message = FilterPipeline::decode(&message.body, checker.params).ok()?;
    message.chunk().is_none().then_some(message)
}

/// Checks that the fill value of a dataset is one element, and scans the fill value for references
/// to other parts of the file.
fn fill_value(checker: &mut Checker, header: &Header, dataset: &Dataset) {
    let mut look = |status: FillStatus<'_>, exact: bool| {
        let FillStatus::UserDefined(element) = status else { return };
        if exact && element.len() != dataset.element_size() {
            let text =
                format!("the fill value has {} bytes, expected {}", element.len(), dataset.element_size());
            checker.remark("fill value message", header.address, text);
            return;
        }
        elements::scan_all(checker, &dataset.plan, dataset.element_size(), element, dataset.owner);
    };
    for message in header.of(MessageType::FILL_VALUE) {
        if let Ok(fill) = FillValueMessage::decode(&message.body, Default::default()) {
            look(fill.status(), true);
        }
    }
    if header.has(MessageType::FILL_VALUE) {
        return;
    }
    for message in header.of(MessageType::FILL_VALUE_OLD) {
        if let Ok(fill) = FillValueOldMessage::decode(&message.body, Default::default()) {
            look(fill.status(), false);
        }
    }
}

/// Returns true if the raw data of the dataset lies in external files. Checks the local heap that
/// contains the names of these files.
fn external_files(checker: &mut Checker, header: &Header) -> bool {
    let Some(message) = header.of(MessageType::EXTERNAL_FILES).next() else { return false };
    let Ok(files) = ExternalFilesMessage::decode(&message.body, checker.params) else { return true };
    let heap = checker.walking(Purpose::ExternalFilesMessage, |checker| LocalHeap::open(checker, files.heap));
    if let Some(mut heap) = heap {
        for slot in &files.slots {
            heap.name(checker, slot.name_offset);
        }
        heap.finish(checker);
    }
    true
}

fn virtual_mappings(checker: &mut Checker, dataset: &Dataset, mapped: &VirtualLayout) {
    let id = GlobalHeapId { collection: mapped.heap, index: mapped.index };
    if id.is_null() {
        return;
    }
    let Some(referred) = checker.refer(id, dataset.owner) else { return };
    add(&mut checker.metadata.mappings, referred.length);
    let Some(block) = checker.heap_object(id) else { return };
    let mappings = VirtualMappings::decode(&block, checker.params);
    checker.decoded("virtual dataset mapping", mapped.heap, mappings);
}

impl Dataset {
    /// Returns the size of an element of the dataset in bytes.
    pub(crate) fn element_size(&self) -> usize {
        to_usize(self.datatype.size.into())
    }

    /// Returns the size of all elements of the dataset in bytes.
    fn bytes(&self) -> u64 {
        let count = self.space.element_count().unwrap_or(u64::MAX);
        start_of(count, self.datatype.size.into())
    }

    fn contiguous(&self, checker: &mut Checker, layout: &ContiguousLayout, external: bool) {
        let wanted = self.bytes();
        if external {
            if layout.address.is_defined() && layout.address.raw() != 0 {
                checker.fault(
                    LAYOUT,
                    self.owner,
                    "the dataset has raw data both in this file and in external files",
                );
            }
            return;
        }
        if !layout.address.is_defined() || wanted == 0 {
            return;
        }
        let length = layout.size.unwrap_or(wanted);
        if length < wanted {
            checker.fault(
                LAYOUT,
                self.owner,
                format!("the dataset has {length} bytes of raw data, expected {wanted}"),
            );
        }
        if checker.claim("raw data", layout.address, length, BlockKind::Contiguous) {
            self.scan_contiguous(checker, layout.address, length.min(wanted));
        }
    }

    fn scan_contiguous(&self, checker: &mut Checker, address: Address, length: u64) {
        if self.plan.is_nothing() {
            return;
        }
        let size = u64::from(self.datatype.size).max(1);
        let piece = (MAX_PIECE_BYTES / size).max(1) * size;
        let mut at = 0;
        while at < length {
            let count = piece.min(length - at);
            let Some(start) = address.checked_add(at) else { return };
            let bytes = checker.store.read_raw_vec(start, count);
            let Some(bytes) = checker.read_or_note("raw data", start, bytes) else { return };
            elements::scan_all(checker, &self.plan, self.element_size(), &bytes, self.owner);
            at += count;
        }
    }
}
