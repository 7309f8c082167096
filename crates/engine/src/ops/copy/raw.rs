//! The elements of a copied dataset, in the way that does the least.

use std::sync::Arc;

use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ContiguousLayout, DataLayout, Layout};

use super::elements::Plan;
use super::streamed::Streamed;
use super::{Copier, Part, Task};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::object::dataset::{DatasetDescription, Filters};
use crate::object::dataset_edit;
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::{Edit, SpaceKind};

/// Bytes that no freed space has which a copy takes.
const LARGE: usize = 4 << 20;

/// Bytes of a contiguous dataset that are in memory at once.
const AT_ONCE: u64 = 8 << 20;

impl Copier<'_> {
    /// Elements, attributes and comment of a copy.
    pub(super) fn copy_contents(&mut self, edit: &mut Edit<'_>, task: &Task) -> Result<()> {
        let source = self.source(task.original.file)?;
        let header = Arc::new(ObjectHeader::load(&source.container.store, task.original.address)?);
        if ObjectKind::of(&header) == Some(ObjectKind::Dataset) {
            let copied = self.copy_elements(edit, &source, &header, task);
            self.forgive(&task.path, Part::Elements, copied)?;
            self.tell(&source, &task.path, &Part::Block);
        }
        self.copy_rest(edit, &source, &header, task)
    }

    fn copy_elements(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        header: &ObjectHeader,
        task: &Task,
    ) -> Result<()> {
        let before = DatasetDescription::read(&source.container, header)?;
        let (plan, _) = Plan::new(&before.datatype, edit.params())?;
        // What a virtual dataset's header says of its shape need not be what its sources make of it.
        let is_virtual = matches!(before.layout.layout, Layout::Virtual(_));
        if !is_virtual && before.dataspace.element_count() == Some(0) {
            return Ok(());
        }
        if let Layout::Contiguous(from) = &before.layout.layout
            && before.external.is_empty()
            && from.address.is_defined()
        {
            self.check_missing(&source.container.store, from.address, length_of(&before)?)?;
        }
        let writer = DatasetWriter::open(self.target, task.copy)?;
        let after = writer.description();
        let same = plan.is_copy();
        let sparse = self.sparse.remove(&task.copy).unwrap_or_default();
        match (&before.layout.layout, &after.layout.layout) {
            (Layout::Compact(_), Layout::Compact(_)) if same => Ok(()),
            (Layout::Virtual(_), Layout::Virtual(_)) => Ok(()),
            (Layout::Contiguous(_), Layout::Contiguous(_)) if !after.external.is_empty() => Ok(()),
            (Layout::Contiguous(from), _)
                if before.external.is_empty()
                    && !from.address.is_defined()
                    && sparse.skips_unwritten(&before) =>
            {
                Ok(())
            }
            (Layout::Contiguous(from), Layout::Contiguous(_)) if same && before.external.is_empty() => {
                let address = from.address;
                self.copy_block(edit, source, &before, address, task)
            }
            (Layout::Chunked(_), Layout::Chunked(_)) if same && same_chunks(&before, after) => {
                let dataset = OpenDataset::open(source, header)?;
                self.copy_chunks(edit, source, &dataset, writer, task)
            }
            _ => {
                let streams = Streamed { source, dataset: OpenDataset::open(source, header)?, plan, sparse };
                self.copy_streamed(edit, &streams, writer, task)
            }
        }
    }

    /// Elements side by side.
    fn copy_block(
        &mut self,
        edit: &mut Edit<'_>,
        source: &OpenFile,
        before: &DatasetDescription,
        from: Address,
        task: &Task,
    ) -> Result<()> {
        let length = length_of(before)?;
        let store = &source.container.store;
        let to = edit.allocate(SpaceKind::RawData, length)?;
        // Pieces hold whole elements.
        let size = u64::from(before.datatype.size).max(1);
        let at_once = AT_ONCE.saturating_sub(AT_ONCE.checked_rem(size).unwrap_or(0)).max(size);
        let mut buffer = zeros(usize::try_from(length.min(at_once)).unwrap_or(0), "raw data to copy")?;
        let mut done = 0;
        while done < length {
            let count = usize::try_from(length - done).unwrap_or(usize::MAX).min(buffer.len());
            let piece = buffer.get_mut(..count).unwrap_or_default();
            let place = |start: Address| start.checked_add(done).unwrap_or(Address::UNDEFINED);
            let first = done.checked_div(size).unwrap_or(0);
            // What is missing of a large dataset need not be written: new space is zeros.
            let there = self.read_rows(store, before, place(from), (first, &mut *piece), task)?;
            if there || count < LARGE {
                edit.store().write_raw(place(to), piece)?;
            }
            done = done.saturating_add(count as u64);
            self.guide.copied(&task.path, count as u64);
        }
        let header = ObjectHeader::load(edit.store(), task.copy)?;
        let after = DatasetDescription::read(&self.target.container, &header)?;
        let Layout::Contiguous(layout) = after.layout.layout else { return Ok(()) };
        let layout = Layout::Contiguous(ContiguousLayout { address: to, ..layout });
        let layout = DataLayout { version: after.layout.version, layout };
        dataset_edit::update(&self.target.container, edit, task.copy, None, Some(&layout))
    }
}

/// Bytes of all elements.
fn length_of(dataset: &DatasetDescription) -> Result<u64> {
    let elements = dataset.dataspace.element_count();
    let length = elements.and_then(|elements| elements.checked_mul(u64::from(dataset.datatype.size)));
    length.ok_or_else(|| Error::unsupported("a dataset of more than 2^64 bytes"))
}

/// Returns whether stored chunks of one dataset are those of the other.
fn same_chunks(before: &DatasetDescription, after: &DatasetDescription) -> bool {
    let (Layout::Chunked(from), Layout::Chunked(to)) = (&before.layout.layout, &after.layout.layout) else {
        return false;
    };
    let filters = match (&before.filters, &after.filters) {
        (Filters::Chunk(from), Filters::Chunk(to)) => same_filters(from, to),
        _ => false,
    };
    from.dims == to.dims && filters && from.leaves_edges_unfiltered() == to.leaves_edges_unfiltered()
}

/// Returns whether what one pipeline encodes is what the other does.
pub(super) fn same_filters(from: &Pipeline, to: &Pipeline) -> bool {
    from.stages.len() == to.stages.len()
        && from
            .stages
            .iter()
            .zip(&to.stages)
            .all(|(from, to)| from.id == to.id && from.client_data == to.client_data)
}
