//! Changes of a local heap: names are inserted and removed, and the data segment grows and shrinks.

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure as _};
use hyperslab_format::local_heap::{LOCAL_HEAP_ALIGNMENT, LocalHeapHeader, name_at, read_free_blocks};

use super::free_blocks::FreeBlocks;
use super::{LocalHeap, LocalHeapSegment, LocalHeapSegmentContext};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// File-space kind of local heaps. A file can manage the free space of each kind separately.
const SPACE: SpaceKind = SpaceKind::LocalHeap;
/// Size in bytes of the largest data segment of a local heap that never shrinks.
const MIN_SHRINK_BYTES: u64 = 512;

/// Returns the size in bytes of a name in a local heap's data segment, with the zero byte at its
/// end.
fn size_of(name: &[u8]) -> u64 {
    (to_u64(name.len()) + 1).next_multiple_of(LOCAL_HEAP_ALIGNMENT)
}

/// Name of the local heap structure in internal errors.
const HEAP: &str = "local heap";

/// Returns the size in bytes of a free list entry of a local heap: an offset and a size.
fn free_block_size(params: FileParams) -> u64 {
    2 * u64::from(params.size_of_lengths)
}

fn not_free() -> Error {
    Error::internal(HEAP, "free blocks are the unused bytes of the data segment")
}

impl LocalHeap {
    /// Returns the size in bytes of the smallest data segment of a local heap.
    pub fn least_segment(params: FileParams) -> u64 {
        LOCAL_HEAP_ALIGNMENT + free_block_size(params)
    }

    /// Creates a local heap with a data segment of `size` bytes and an empty name at offset 0.
    /// Returns the address of the local heap.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the size is too small or too large, and the errors of
    /// [`Edit::allocate`].
    pub fn create(edit: &mut Edit<'_>, size: u64) -> Result<Address> {
        let params = edit.params();
        let too_large = || Error::Misuse(format!("a local heap of {size} bytes is too large"));
        let prefix = to_u64(LocalHeapHeader::size(&params));
        let size = size.checked_next_multiple_of(LOCAL_HEAP_ALIGNMENT).ok_or_else(too_large)?;
        if size < Self::least_segment(params) {
            return Err(Error::Misuse(format!("a local heap of {size} bytes is too small")));
        }
        let whole = prefix.checked_add(size).ok_or_else(too_large)?;
        let length = to_usize(size)?;
        let mut free = FreeBlocks::new(free_block_size(params));
        if !free.add(LOCAL_HEAP_ALIGNMENT, size - LOCAL_HEAP_ALIGNMENT) {
            return Err(not_free());
        }
        let address = edit.allocate(SPACE, whole)?;
        let segment = address.checked_add(prefix).ok_or_else(not_free)?;
        let header = LocalHeapHeader { segment_size: size, free_list: free.first(), segment };
        let context = LocalHeapSegmentContext::new(&header, params)?;
        edit.put(segment, &context, LocalHeapSegment { bytes: vec![0; length], free: Some(free) });
        edit.put(address, &params, header);
        Ok(address)
    }

    /// Adds a name to a local heap and returns the offset of the name in the data segment.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the name contains a zero byte, [`Error::Limit`] if the heap
    /// becomes too large, and read errors.
    pub fn insert(edit: &mut Edit<'_>, address: Address, name: &[u8]) -> Result<u64> {
        let offsets = Self::insert_many(edit, address, &[name])?;
        offsets.first().copied().ok_or_else(|| Error::internal(HEAP, "an inserted name has an offset"))
    }

    /// Adds names to a local heap in order and returns their offsets in the data segment.
    ///
    /// # Errors
    /// Returns the same errors as [`insert`](Self::insert).
    pub fn insert_many(edit: &mut Edit<'_>, address: Address, names: &[&[u8]]) -> Result<Vec<u64>> {
        if names.iter().any(|name| name.contains(&0)) {
            return Err(Error::Misuse("a name in a local heap must not contain a zero byte".into()));
        }
        change(edit, address, |edit, header, segment| {
            let mut offsets = Vec::with_capacity(names.len());
            let mut rest = names;
            while let [name, others @ ..] = rest {
                let length = size_of(name);
                let mut offset = segment.free()?.take(length);
                if offset.is_none() {
                    let mut sizes = rest.iter().map(|name| size_of(name));
                    let wanted = sizes.try_fold(0_u64, u64::checked_add);
                    grow(edit, header, segment, wanted)?;
                    offset = segment.free()?.take(length);
                }
                let offset = offset.ok_or_else(not_free)?;
                segment.write(offset, length, name).ok_or_else(not_free)?;
                offsets.push(offset);
                rest = others;
            }
            Ok(offsets)
        })
    }

    /// Removes the name at `offset` of a local heap's data segment.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if there is no name, and read errors.
    pub fn remove(edit: &mut Edit<'_>, address: Address, offset: u64) -> Result<()> {
        change(edit, address, |edit, header, segment| {
            let length = size_of(name_at(&segment.bytes, offset)?);
            let inside = offset.checked_add(length).is_some_and(|end| end <= header.segment_size);
            if !inside || !segment.free()?.add(offset, length) {
                let expected = "an offset of a name";
                return Err(Error::corrupt(LocalHeapSegment::NAME, "name", expected, offset).at(address));
            }
            shrink(edit, header, segment)
        })
    }

    /// Frees the file space of the local heap at `address`.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn delete(edit: &mut Edit<'_>, address: Address) -> Result<()> {
        let params = edit.params();
        let header = edit.store().shared::<LocalHeapHeader>(address, &params)?;
        edit.free(SPACE, header.segment, header.segment_size)?;
        edit.free(SPACE, address, to_u64(LocalHeapHeader::size(&params)))
    }
}

impl LocalHeapSegment {
    /// Writes a name into the data segment of a local heap, and zero bytes after the name.
    fn write(&mut self, offset: u64, length: u64, name: &[u8]) -> Option<()> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let (text, rest) = self.bytes.get_mut(start..end)?.split_at_mut_checked(name.len())?;
        text.copy_from_slice(name);
        rest.fill(0);
        Some(())
    }

    fn free(&mut self) -> Result<&mut FreeBlocks> {
        let unread = || Error::internal(HEAP, "the free blocks are read before a change");
        self.free.as_mut().ok_or_else(unread)
    }
}

/// Changes the header and the data segment of the local heap at `address` with the function `with`.
fn change<R>(
    edit: &mut Edit<'_>,
    address: Address,
    with: impl FnOnce(&mut Edit<'_>, &mut LocalHeapHeader, &mut LocalHeapSegment) -> Result<R>,
) -> Result<R> {
    let params = edit.params();
    let mut header = LocalHeapHeader::clone(&*edit.store().shared(address, &params)?);
    let context = LocalHeapSegmentContext::new(&header, params)?;
    let mut segment: LocalHeapSegment = edit.take(header.segment, &context)?;
    let result = match segment.read_free(&header, context) {
        Ok(()) => with(edit, &mut header, &mut segment),
        Err(error) => Err(error.at(address).into()),
    };
    header.free_list = segment.free.as_ref().map_or(header.free_list, FreeBlocks::first);
    edit.put(header.segment, &LocalHeapSegmentContext::new(&header, params)?, segment);
    edit.put(address, &params, header);
    result
}

impl LocalHeapSegment {
    /// Reads the free list of the local heap's data segment, unless the free blocks are already
    /// known.
    fn read_free(
        &mut self,
        header: &LocalHeapHeader,
        context: LocalHeapSegmentContext,
    ) -> Result<(), FormatError> {
        if self.free.is_some() {
            return Ok(());
        }
        let mut free = FreeBlocks::new(free_block_size(context.params));
        for block in read_free_blocks(&self.bytes, header.free_list, context.params)? {
            if !free.add(block.offset, block.size) {
                let got = format!("two blocks at offset {}", block.offset);
                let expected = "blocks that do not overlap";
                return Err(FormatError::corrupt(Self::NAME, "free list", expected, got));
            }
        }
        self.free = Some(free);
        Ok(())
    }
}

/// Makes the data segment of the local heap at least twice as large, so that `length` more bytes
/// fit. `None` stands for more than 2^64 bytes.
fn grow(
    edit: &mut Edit<'_>,
    header: &mut LocalHeapHeader,
    segment: &mut LocalHeapSegment,
    length: Option<u64>,
) -> Result<()> {
    let before = header.segment_size;
    // The rest after the names must hold an entry of the free list.
    let more = length.and_then(|length| length.checked_add(free_block_size(edit.params())));
    let size = more.and_then(|more| before.checked_add(more.max(before)));
    let size = size.and_then(|size| size.checked_next_multiple_of(LOCAL_HEAP_ALIGNMENT));
    let limit = edit.store().limits().metadata_block;
    let too_large = |got| Error::Limit { subject: "a local heap: bytes".into(), got, limit };
    let size = size.ok_or_else(|| too_large(u64::MAX))?;
    if size > limit {
        return Err(too_large(size));
    }
    let bytes = to_usize(size)?;
    let address = edit.allocate(SPACE, size)?;
    edit.free(SPACE, header.segment, before)?;
    segment.bytes.resize(bytes, 0);
    (header.segment, header.segment_size) = (address, size);
    if segment.free()?.add(before, size - before) { Ok(()) } else { Err(not_free()) }
}

/// Frees bytes at the end of the local heap's data segment if half of the segment is free.
fn shrink(edit: &mut Edit<'_>, header: &mut LocalHeapHeader, segment: &mut LocalHeapSegment) -> Result<()> {
    let before = header.segment_size;
    let tail = segment.free()?.tail(before);
    if before <= MIN_SHRINK_BYTES || tail < before / 2 {
        return Ok(());
    }
    // The free tail is at least half of a segment of more than 512 bytes, and a quarter of the tail
    // is kept: the rounded size is less than `before`.
    let size = (before - tail + tail / 4).next_multiple_of(LOCAL_HEAP_ALIGNMENT);
    let bytes = to_usize(size)?;
    let rest = header.segment.checked_add(size).ok_or_else(|| {
        let expected = "an address in the file";
        Error::corrupt(LocalHeapHeader::NAME, "address of data segment", expected, header.segment)
    })?;
    edit.free(SPACE, rest, before - size)?;
    segment.free()?.cut_tail(before, size);
    segment.bytes.truncate(bytes);
    header.segment_size = size;
    Ok(())
}
