//! The source of a write: the caller's buffer with the elements, and the conversion of the
//! elements.

use hyperslab_dataspace::ChunkPart;
use hyperslab_datatype::convert::Conversion;
use hyperslab_datatype::{Datatype, DatatypeClass};

use super::{Transform, byte_count};
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};

/// Smallest length in bytes of a run of elements that a write converts directly into the chunk.
const MIN_DIRECT_BYTES: u64 = 512;

/// The source of a write: a buffer with the elements that the write stores, in the order of the
/// selection, and the conversion from memory.
#[derive(Debug, Clone, Copy)]
pub struct WriteSource<'a> {
    bytes: &'a [u8],
    transform: Transform<'a>,
    partial: bool,
    heap: Option<&'a ForeignHeap>,
}

impl<'a> WriteSource<'a> {
    /// Creates a write source of elements in their stored form, of `element_size` bytes each.
    pub fn stored(bytes: &'a [u8], element_size: usize) -> Self {
        Self { bytes, transform: Transform::copy(element_size), partial: false, heap: None }
    }

    /// Creates a write source of elements that the write converts to the datatype in the file.
    pub fn converted(bytes: &'a [u8], conversion: &'a Conversion) -> Self {
        Self { bytes, transform: Transform::conversion(conversion), partial: false, heap: None }
    }

    /// Sets whether the write source has only some members of compound elements. If it has, a write
    /// first reads the elements that it replaces.
    #[must_use]
    pub fn partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Adds the heap with the variable-length data of the elements to the write source, for writes
    /// to structured chunks.
    #[must_use]
    pub fn with_heap(mut self, heap: &'a ForeignHeap) -> Self {
        self.heap = Some(heap);
        self
    }

    /// Returns the heap with the variable-length data of the write source's elements, if this data
    /// is not in the file.
    pub(crate) fn heap(&self) -> Option<&'a ForeignHeap> {
        self.heap
    }

    /// Returns whether the write source has only some members of compound elements. A write then
    /// keeps the other members of the stored elements.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial
    }

    /// Returns the size in bytes of an element of the write source in the file.
    pub(in crate::data) fn size(&self) -> usize {
        self.transform.size()
    }

    /// Returns an estimate of the work of a write in bytes: the number of elements in the write
    /// source, multiplied by the element size `size`. On overflow, returns the largest number of 64
    /// bits.
    pub(crate) fn byte_count(&self, size: u64) -> u64 {
        let elements = self.bytes.len().checked_div(self.transform.source_size()).unwrap_or(0);
        size.saturating_mul(elements as u64)
    }

    /// Checks that the buffer of the write source holds exactly as many elements as are selected.
    /// `elements` is the number of selected elements.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the buffer has another number of elements.
    pub fn check(&self, elements: u64) -> Result<()> {
        let expected = byte_count(elements, self.transform.source_size(), "elements to write")?;
        if expected == self.bytes.len() {
            return Ok(());
        }
        let got = self.bytes.len().checked_div(self.transform.source_size()).unwrap_or(0);
        Err(Error::Misuse(format!("{elements} elements are selected, but {got} are given")))
    }

    /// Returns the bytes of `count` elements in the write source's buffer. The first of them is the
    /// selection's element with the index `position`.
    fn run(&self, position: u64, count: u64) -> Result<&'a [u8]> {
        let size = self.transform.source_size();
        let (start, length) = (byte_count(position, size, "elements")?, byte_count(count, size, "elements")?);
        let run = self.bytes.get(start..).and_then(|run| run.get(..length));
        run.ok_or_else(|| Error::Misuse("fewer elements are given than are selected".into()))
    }

    /// Returns the stored bytes of `count` elements of the write source. The first of them is the
    /// selection's element with the index `position`. Returns `None` if the write converts
    /// elements.
    pub(in crate::data) fn as_stored(&self, position: u64, count: u64) -> Option<&'a [u8]> {
        self.transform.is_copy().then(|| self.run(position, count).ok()).flatten()
    }

    /// Converts `count` elements of the write source and stores them in the buffer `to`. The first
    /// of them is the selection's element with the index `position`.
    pub(crate) fn put(&self, position: u64, count: u64, to: &mut [u8]) -> Result<()> {
        self.transform.run(self.run(position, count)?, to)
    }

    /// Converts the elements of one part of a selection from the write source and stores them in a
    /// decoded chunk.
    pub(in crate::data) fn put_piece(
        &self,
        piece: &ChunkPart,
        chunk: &mut [u8],
        row: &mut RowBuffers,
    ) -> Result<()> {
        let size = self.transform.size();
        if self.transform.is_copy() {
            return Ok(piece.gather(self.bytes, chunk, size)?);
        }
        let outside = || Error::internal("write of raw data", "a piece lies inside its chunk");
        let count = piece.element_count();
        if let Some((at, position, count)) = piece.as_run() {
            let (start, length) = (byte_count(at, size, "chunk")?, byte_count(count, size, "chunk")?);
            let to = chunk.get_mut(start..).and_then(|to| to.get_mut(..length)).ok_or_else(outside)?;
            return self.put(position, count, to);
        }
        if piece.runs().0 * size as u64 >= MIN_DIRECT_BYTES {
            return piece.for_each_run(|at, position, count| {
                let (start, length) = (byte_count(at, size, "chunk")?, byte_count(count, size, "chunk")?);
                let to = chunk.get_mut(start..).and_then(|to| to.get_mut(..length)).ok_or_else(outside)?;
                self.put(position, count, to)
            });
        }
        let source = row.source.of(byte_count(count, self.transform.source_size(), "elements")?);
        piece.pack(self.bytes, source, self.transform.source_size())?;
        let target = row.target.of(byte_count(count, size, "elements")?);
        if self.partial {
            piece.pick(chunk, target, size)?;
        }
        self.transform.run(source, target)?;
        Ok(piece.place(target, chunk, size)?)
    }
}

/// Buffers for a row of a chunk's elements before and after the conversion.
#[derive(Debug, Default)]
pub(in crate::data) struct RowBuffers {
    source: RowBuffer,
    target: RowBuffer,
}

#[derive(Debug, Default)]
struct RowBuffer(Vec<u8>);

impl RowBuffer {
    fn of(&mut self, length: usize) -> &mut [u8] {
        if self.0.len() < length {
            self.0.resize(length, 0);
        }
        self.0.split_at_mut(length).0
    }
}

/// Returns whether a write leaves parts of the stored elements unchanged, because the compound
/// datatype `memory` lacks members of the compound datatype `file`.
pub fn leaves_parts(memory: &Datatype, file: &Datatype) -> bool {
    match (&memory.class, &file.class) {
        (DatatypeClass::Compound(memory), DatatypeClass::Compound(file)) => {
            file.members.iter().any(|member| {
                let same = memory.members.iter().find(|other| other.name == member.name);
                same.is_none_or(|other| leaves_parts(&other.datatype, &member.datatype))
            })
        }
        (DatatypeClass::Array(memory), DatatypeClass::Array(file)) => leaves_parts(&memory.base, &file.base),
        _ => false,
    }
}
