//! Copies of elements, by the cheapest method that the storage of the original and of the copy
//! permits.

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ContiguousLayout, DataLayout, Layout};

use super::chunks::same_chunks;
use super::elements::ElementPlan;
use super::streamed::Streamed;
use super::{Copier, LostPart, Task};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::object::dataset::DatasetDescription;
use crate::object::dataset_edit;
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::{Edit, SpaceKind};

/// Smallest number of consecutive zero bytes that a copy of raw data does not write. Blocks of at
/// least this size are allocated at the end of the file, where all bytes are zero.
const MIN_UNWRITTEN_BYTES: usize = 4 << 20;

/// Largest number of bytes of a contiguous dataset that a copy holds in memory.
const BLOCK_BYTES: u64 = 8 << 20;

impl Copier<'_> {
    /// Copies the body of an object: the elements if it is a dataset, and then the attributes, the
    /// comment and the times.
    ///
    /// # Errors
    /// Returns the errors of reading the original and writing the copy, except damage in a salvage.
    pub(super) fn copy_body(&mut self, edit: &mut Edit<'_>, task: &Task) -> Result<()> {
        let source = self.source(task.original.file)?;
        let header = Arc::new(ObjectHeader::load(&source.container.store, task.original.address)?);
        if ObjectKind::of(&header) == Some(ObjectKind::Dataset) {
            let copied = self.copy_elements(edit, &source, &header, task);
            self.or_report(&task.path, LostPart::Elements, copied)?;
            self.report_damage(&source, &task.path, &LostPart::Block);
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
        let (plan, _) = ElementPlan::new(&before.datatype, edit.params())?;
        // The shape in the header of a virtual dataset may differ from the shape that follows from
        // its sources.
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
        let writer = DatasetWriter::open(self.target.writer_context(), task.copy)?;
        let after = writer.description();
        let same = plan.is_copy();
        // Only copies in structured chunks have an entry.
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

    /// Copies elements of a dataset that cannot be copied as contiguous data or as encoded flat
    /// chunks. Copies structured chunks as stored if possible. Copies other elements as a stream of
    /// blocks, which are read and written.
    ///
    /// # Errors
    /// As [`copy_body`](Self::copy_body).
    pub(super) fn copy_streamed(
        &mut self,
        edit: &mut Edit<'_>,
        streamed: &Streamed<'_>,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let sparse_source = match streamed.dataset.structured_chunks(streamed.source)? {
            Some(chunks) if self.goes_as_stored(edit, streamed, &chunks, &writer) => {
                return self.copy_structured(edit, streamed, &chunks, writer, task);
            }
            chunks => chunks.filter(|chunks| chunks.form.kind.is_sparse()),
        };
        let after = &writer.description().layout.layout;
        let in_chunks = matches!(after, Layout::Chunked(_) | Layout::Structured(_));
        match sparse_source {
            Some(chunks) if chunks.index.is_none() => Ok(()),
            Some(chunks) if in_chunks => self.copy_defined(edit, streamed, &chunks, writer, task),
            None if writer.is_sparse() => {
                writer.encode_defined_as(streamed.sparse.encoding);
                self.define(edit, streamed, writer, task)
            }
            _ => self.stream(edit, streamed, writer, task),
        }
    }

    /// Copies the elements of a contiguous dataset to the target file.
    ///
    /// # Errors
    /// As [`copy_body`](Self::copy_body).
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
        // A block holds whole elements.
        let size = u64::from(before.datatype.size).max(1);
        let block = (BLOCK_BYTES / size).max(1) * size;
        let mut buffer = zeros(to_usize(length.min(block))?, "raw data to copy")?;
        let beyond = || Error::corrupt("data layout message", "address", "a block inside the file", from);
        let mut done = 0;
        while done < length {
            let count = to_usize((length - done).min(to_u64(buffer.len())))?;
            let block = buffer.get_mut(..count).ok_or_else(beyond)?;
            let address_of_block = |start: Address| start.checked_add(done).ok_or_else(beyond);
            let first = done / size;
            // Missing elements of a large dataset need not be written, because new space is zero.
            let stored =
                self.read_rows(store, before, address_of_block(from)?, (first, &mut *block), task)?;
            if stored || count < MIN_UNWRITTEN_BYTES {
                edit.store().write_raw(address_of_block(to)?, block)?;
            }
            done += to_u64(count);
            self.guide.copied(&task.path, to_u64(count));
        }
        let header = ObjectHeader::load(edit.store(), task.copy)?;
        let after = DatasetDescription::read(&self.target.container, &header)?;
        let Layout::Contiguous(layout) = after.layout.layout else {
            return Err(Error::internal("copy of contiguous elements", "the copy is contiguous"));
        };
        let layout = Layout::Contiguous(ContiguousLayout { address: to, ..layout });
        let layout = DataLayout { version: after.layout.version, layout };
        dataset_edit::update(&self.target.container, edit, task.copy, None, Some(&layout))
    }
}

/// Returns the total size in bytes of a copied dataset's elements.
///
/// # Errors
/// Returns [`Error::Unsupported`] if the number does not fit in 64 bits.
fn length_of(dataset: &DatasetDescription) -> Result<u64> {
    let elements = dataset.dataspace.element_count();
    let length = elements.and_then(|elements| elements.checked_mul(u64::from(dataset.datatype.size)));
    length.ok_or_else(|| Error::unsupported("copying a dataset of more than 2^64 bytes"))
}
