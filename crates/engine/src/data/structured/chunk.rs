//! The decoding of a structured chunk.

use std::borrow::Cow;

use hyperslab_dataspace::{DefinedBuilder, DefinedSet, Region};
use hyperslab_exact::to_usize;
use hyperslab_filter::{ChunkTarget, Scratch};
use hyperslab_format::structured_chunk::{
    ChunkSection, ChunkSections, DefinedEncoding, SectionHeap, decode_defined, is_point_list, open_section,
};

use super::{ChunkKind, SectionForm, StructuredForm};
use crate::data::chunk_index::StructuredLocation;
use crate::data::transfer::{DefinedChunk, max_decoded_bytes, with_scratch};
use crate::error::{Error, Result};
use crate::store::{Store, at};

const NAME: &str = "structured chunk";

/// The stored form of a structured chunk: the chunk's encoded sections and metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedChunk {
    /// The bytes of all sections.
    pub bytes: Vec<u8>,
    /// The offsets, sizes and filter masks of the sections.
    pub sections: ChunkSections,
}

impl StructuredForm {
    /// Reads the stored bytes of a structured chunk from the file and returns the decoded chunk.
    ///
    /// # Errors
    /// Returns an error with the address of the chunk if sections contradict each other or the
    /// dataset.
    pub fn read_chunk(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &StructuredLocation,
    ) -> Result<DefinedChunk> {
        self.clipped(scaled, self.read_unclipped(store, scaled, location)?)
    }

    /// Reads a structured chunk from the file and decodes it. Unlike other reads, does not clip the
    /// chunk: keeps elements outside the shape of the dataset.
    pub(in crate::data) fn read_unclipped(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &StructuredLocation,
    ) -> Result<DefinedChunk> {
        self.decode_stored(store, scaled, location, &fetch(store, location)?)
    }

    /// Returns the decoded structured chunk from its stored bytes.
    pub(in crate::data) fn decode_stored(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &StructuredLocation,
        stored: &[u8],
    ) -> Result<DefinedChunk> {
        with_scratch(|scratch| self.decode(store, scaled, location, stored, scratch))
    }

    /// Returns the encoding of the set of defined elements in a stored structured chunk.
    ///
    /// # Errors
    /// Returns the errors of [`read_chunk`](Self::read_chunk).
    pub(in crate::data) fn encoding_of(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &StructuredLocation,
    ) -> Result<DefinedEncoding> {
        let stored = fetch(store, location)?;
        let sections = self.sections_of(location)?;
        let mut scratch = Scratch::default();
        let contents = self.unfilter(store, scaled, location, (&sections, &stored), &mut scratch)?;
        let Some(selection) = contents.first() else {
            return Err(Error::internal(NAME, "a chunk has a section with its defined elements"));
        };
        Ok(if is_point_list(selection) { DefinedEncoding::Shortest } else { DefinedEncoding::Hyperslab })
    }

    /// Returns the location and the encoding of each section of a structured chunk, from the entry
    /// of the chunk in the chunk index.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the metadata contradicts the chunk's size.
    pub fn sections_of(&self, location: &StructuredLocation) -> Result<ChunkSections> {
        let orders = self.metadata_orders();
        let first = self.sections_in(location, orders.first().copied().flatten());
        match orders.get(1) {
            Some(other)
                if first.as_ref().map_or(true, |sections| self.check_masks(sections, location).is_err()) =>
            {
                self.sections_in(location, *other)
            }
            _ => first,
        }
    }

    fn sections_in(
        &self,
        location: &StructuredLocation,
        order: Option<hyperslab_format::structured_chunk::MetadataOrder>,
    ) -> Result<ChunkSections> {
        let count = u8::try_from(self.sections.len())
            .map_err(|_| Error::internal(NAME, "a chunk has at most three sections"))?;
        let form = (count, self.offset_size);
        at(ChunkSections::decode(&location.metadata, form, location.size, order), location.address)
    }

    fn decode(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &StructuredLocation,
        stored: &[u8],
        scratch: &mut Scratch,
    ) -> Result<DefinedChunk> {
        let mut outcome = Err(Error::corrupt(NAME, "metadata", "an order", "none"));
        for order in self.metadata_orders() {
            let tried = self.sections_in(location, *order).and_then(|sections| {
                let contents = self.unfilter(store, scaled, location, (&sections, stored), scratch)?;
                self.assemble(store, location, &contents)
            });
            let is_done = tried.is_ok();
            if is_done || outcome.is_err() && self.metadata_orders().first() == Some(order) {
                outcome = tried;
            }
            if is_done {
                break;
            }
        }
        outcome
    }

    fn check_masks(&self, sections: &ChunkSections, location: &StructuredLocation) -> Result<()> {
        for (number, (section, form)) in sections.0.iter().zip(&self.sections).enumerate() {
            let filters = form.pipeline.stages.len();
            if (0..u32::BITS).skip(filters).any(|bit| section.filter_mask >> bit & 1 != 0) {
                let noun = if filters == 1 { "filter" } else { "filters" };
                let expected = format!("bits of the {filters} {noun} of section {number}");
                let got = format_args!("{:#x}", section.filter_mask);
                return Err(Error::corrupt(NAME, "filter mask", expected, got).at(location.address));
            }
        }
        Ok(())
    }

    /// Undoes the filters of a structured chunk's sections, and leaves the checksums at the ends of
    /// the sections in place.
    fn unfilter<'s>(
        &self,
        store: &Store,
        scaled: &[u64],
        location: &StructuredLocation,
        (sections, stored): (&ChunkSections, &'s [u8]),
        scratch: &mut Scratch,
    ) -> Result<Vec<Cow<'s, [u8]>>> {
        self.check_masks(sections, location)?;
        let plainly = self.passes_no_filter(scaled)?;
        let mut contents = Vec::with_capacity(sections.0.len());
        for (number, (section, form)) in sections.0.iter().zip(&self.sections).enumerate() {
            let (offset, size) = (to_usize(section.offset)?, to_usize(section.size)?);
            let Some(bytes) = stored.get(offset..).and_then(|rest| rest.get(..size)) else {
                let expected = format!("section {number} in the {} bytes of the chunk", stored.len());
                let error =
                    Error::corrupt(NAME, "section", expected, format_args!("{size} bytes from {offset} on"));
                return Err(error.at(location.address));
            };
            let passed = !plainly && !form.pipeline.is_empty() && section.size > 0;
            if !passed {
                if section.unfiltered != section.size {
                    let expected = format!("the {} bytes of section {number}", section.size);
                    let error = Error::corrupt(NAME, "unfiltered size", expected, section.unfiltered);
                    return Err(error.at(location.address));
                }
                contents.push(Cow::Borrowed(bytes));
                continue;
            }
            let plain = self.defilter(store, location, (section, form), bytes, scratch);
            contents.push(Cow::Owned(plain.map_err(|error| error.context(format!("section {number}")))?));
        }
        Ok(contents)
    }

    pub(super) fn defilter(
        &self,
        store: &Store,
        location: &StructuredLocation,
        (section, form): (&ChunkSection, &SectionForm),
        bytes: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        let possible = max_decoded_bytes(section.size, store.limits());
        let length = usize::try_from(section.unfiltered).ok().filter(|_| section.unfiltered <= possible);
        let Some(length) = length else {
            return Err(Error::Limit {
                subject: format!("structured chunk at {}: decoded bytes of a section", location.address),
                got: section.unfiltered,
                limit: possible,
            });
        };
        let target =
            ChunkTarget { element_size: self.element_size, exact: true, ..ChunkTarget::of_length(length) };
        form.pipeline
            .decode_chunk_with(&store.filters(), section.filter_mask, bytes, &target, scratch)
            .map_err(|source| Error::Filter { address: location.address, source })
    }

    /// Creates a decoded structured chunk from the decoded contents of its sections.
    fn assemble(
        &self,
        store: &Store,
        location: &StructuredLocation,
        contents: &[Cow<'_, [u8]>],
    ) -> Result<DefinedChunk> {
        let mut opened = Vec::with_capacity(contents.len());
        for (number, (section, form)) in contents.iter().zip(&self.sections).enumerate() {
            opened.push(match form.checksum {
                true => at(open_section(section, number), location.address)?,
                false => section,
            });
        }
        match (self.kind, opened.as_slice()) {
            (ChunkKind::DenseVariable, [records, heap]) => {
                let defined = DefinedSet::all(self.grid.chunk())?;
                self.check_count(location, defined.len(), records)?;
                self.with_heap(store, location, defined, records.to_vec(), heap)
            }
            (ChunkKind::Sparse, [selection, values]) => {
                let (defined, values) = self.pairs(location, selection, values)?;
                Ok(DefinedChunk { defined, values, heap: Vec::new() })
            }
            (ChunkKind::SparseVariable, [selection, values, heap]) => {
                let (defined, values) = self.pairs(location, selection, values)?;
                self.with_heap(store, location, defined, values, heap)
            }
            _ => Err(Error::corrupt(NAME, "sections", "the sections of the layout", opened.len())),
        }
    }

    /// Pairs the defined elements of a structured chunk with their values. Returns the set of the
    /// elements, and the values in ascending order of the elements' offsets in the chunk.
    fn pairs(
        &self,
        location: &StructuredLocation,
        selection: &[u8],
        values: &[u8],
    ) -> Result<(DefinedSet, Vec<u8>)> {
        let given = values.len().checked_div(self.element_size).unwrap_or(0) as u64;
        if selection.is_empty() {
            let none = DefinedSet::empty(self.grid.chunk())?;
            self.check_count(location, 0, values)?;
            return Ok((none, Vec::new()));
        }
        let decoded = at(decode_defined(selection, self.grid.chunk(), given), location.address)?;
        self.check_count(location, decoded.stored, values)?;
        let Some(order) = decoded.order else { return Ok((decoded.set, values.to_vec())) };
        let mut sorted = Vec::with_capacity(values.len());
        for number in order {
            let start = to_usize(number)?.checked_mul(self.element_size);
            let value = start.and_then(|start| values.get(start..)?.get(..self.element_size));
            let invariant = "each listed element has a value";
            sorted.extend_from_slice(value.ok_or(Error::Internal { structure: NAME, invariant })?);
        }
        Ok((decoded.set, sorted))
    }

    /// Checks that a structured chunk has as many values as defined elements.
    fn check_count(&self, location: &StructuredLocation, count: u64, values: &[u8]) -> Result<()> {
        if count.checked_mul(self.element_size as u64) == Some(values.len() as u64) {
            return Ok(());
        }
        let expected = format!("{count} elements of {} bytes", self.element_size);
        let got = format_args!("{} bytes", values.len());
        Err(Error::corrupt(NAME, "section with values", expected, got).at(location.address))
    }

    fn with_heap(
        &self,
        store: &Store,
        location: &StructuredLocation,
        defined: DefinedSet,
        mut values: Vec<u8>,
        heap: &[u8],
    ) -> Result<DefinedChunk> {
        let heap = at(SectionHeap::decode(heap, self.params), location.address)?;
        let taken = self.variable.take(&mut values, &heap, store.limits().chunk_bytes);
        Ok(DefinedChunk { defined, values, heap: taken.map_err(|error| error.at(location.address))? })
    }

    /// Clips a structured chunk to the shape of the dataset: removes elements outside the shape,
    /// which other programs may leave in a chunk.
    pub(in crate::data) fn clipped(&self, scaled: &[u64], chunk: DefinedChunk) -> Result<DefinedChunk> {
        let inside = self.inside(scaled)?;
        if inside.count.as_slice() == self.grid.chunk() || !self.kind.is_sparse() {
            return Ok(chunk);
        }
        // A chunk with few elements may have very many rows. Usually no element is outside.
        let (mut kept, mut count) = (DefinedBuilder::with_capacity(self.grid.chunk(), 0)?, 0_u64);
        let width = inside.count.last().copied().unwrap_or(1);
        let size = self.grid.chunk().last().copied().unwrap_or(1).max(1);
        chunk.defined.for_each_run(0..chunk.defined.total(), |offset, _, length| {
            let (mut from, end) = (offset, offset + length);
            while from < end {
                let column = from % size;
                let row = from - column;
                let next = (row + size).min(end);
                let last = (row + width).min(next);
                if from < last && self.holds_row(&inside, row) {
                    kept.push_run(from, last - from);
                    count += last - from;
                }
                from = next;
            }
        });
        if count == chunk.defined.len() {
            return Ok(chunk);
        }
        let (defined, remaining) = chunk.defined.intersection(&kept.finish()?);
        let values = remaining.gather(&chunk.values, &[], self.element_size)?;
        Ok(DefinedChunk { defined, values, heap: chunk.heap })
    }

    /// Returns whether the box `inside` of a structured chunk holds a row of the chunk's elements.
    /// `offset` is the offset of the row in the chunk, and the box begins at the chunk's first
    /// element.
    fn holds_row(&self, inside: &Region, offset: u64) -> bool {
        let mut rest = offset;
        let sizes = self.grid.chunk().iter().zip(&inside.count).enumerate().rev();
        sizes.fold(true, |holds, (dimension, (size, count))| {
            let at = rest % (*size).max(1);
            rest /= (*size).max(1);
            holds && (dimension == self.grid.rank() - 1 || at < *count)
        })
    }
}

/// Reads the stored bytes of a structured chunk from the file.
pub(super) fn fetch(store: &Store, location: &StructuredLocation) -> Result<Vec<u8>> {
    let limit = store.limits().chunk_bytes;
    if location.size > limit {
        let subject = format!("structured chunk at {}: bytes", location.address);
        return Err(Error::Limit { subject, got: location.size, limit });
    }
    store.check_inside(location.address, location.size, NAME)?;
    store.read_raw_vec(location.address, location.size)
}
