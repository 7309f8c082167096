//! Changing a local heap: names in, names out, and a data segment that grows and shrinks with them.

use hyperslab_format::codec::{Address, FileParams, FormatError, Structure as _};
use hyperslab_format::local_heap::{LOCAL_HEAP_ALIGNMENT, LocalHeapHeader, name_at, read_free_blocks};

use super::free_blocks::FreeBlocks;
use super::{LocalHeap, LocalHeapSegment, LocalHeapSegmentContext};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, at};

/// What heaps are to the file's space.
const SPACE: SpaceKind = SpaceKind::LocalHeap;
/// A data segment of that many bytes never shrinks.
const SMALL: u64 = 512;

/// Bytes that a name takes, with the zero behind it.
fn taken(name: &[u8]) -> u64 {
    (name.len() as u64).saturating_add(1).next_multiple_of(LOCAL_HEAP_ALIGNMENT)
}

impl LocalHeap {
    /// Bytes of the smallest data segment.
    pub fn least_segment(params: FileParams) -> u64 {
        LOCAL_HEAP_ALIGNMENT.saturating_add(2 * u64::from(params.size_of_lengths))
    }

    /// Makes a heap whose data segment has `size` bytes. At offset 0 it has an empty name. Gives its address.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there is no room for anything.
    pub fn create(edit: &mut Edit<'_>, size: u64) -> Result<Address> {
        let params = edit.params();
        let size = size.next_multiple_of(LOCAL_HEAP_ALIGNMENT);
        let least = 2 * u64::from(params.size_of_lengths);
        let length = usize::try_from(size).ok().filter(|_| size >= Self::least_segment(params));
        let Some(length) = length else {
            return Err(Error::Misuse(format!("a local heap of {size} bytes is too small")));
        };
        let prefix = LocalHeapHeader::size(&params) as u64;
        let address = edit.allocate(SPACE, prefix.saturating_add(size))?;
        let segment = Address::new(address.raw().saturating_add(prefix));
        let mut free = FreeBlocks::new(least);
        free.add(LOCAL_HEAP_ALIGNMENT, size.saturating_sub(LOCAL_HEAP_ALIGNMENT));
        let header = LocalHeapHeader { segment_size: size, free_list: free.first(), segment };
        let context = LocalHeapSegmentContext::new(&header, params);
        edit.put(segment, &context, LocalHeapSegment { bytes: vec![0; length], free: Some(free) });
        edit.put(address, &params, header);
        Ok(address)
    }

    /// Adds a name and gives its offset.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there is a zero byte in it, [`Error::Limit`] if the heap becomes too large,
    /// [`Error::Corrupt`] and [`Error::Io`] of what has to be read.
    pub fn insert(edit: &mut Edit<'_>, address: Address, name: &[u8]) -> Result<u64> {
        let offsets = Self::insert_many(edit, address, &[name])?;
        Ok(offsets.first().copied().unwrap_or(0))
    }

    /// Adds names in their order and gives their offsets.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_many(edit: &mut Edit<'_>, address: Address, names: &[&[u8]]) -> Result<Vec<u64>> {
        if names.iter().any(|name| name.contains(&0)) {
            return Err(Error::Misuse("a name in a local heap has no zero byte".into()));
        }
        change(edit, address, |edit, header, segment| {
            let mut offsets = Vec::with_capacity(names.len());
            for (number, name) in names.iter().enumerate() {
                let length = taken(name);
                let mut place = segment.free()?.take(length);
                if place.is_none() {
                    let rest = names.get(number..).unwrap_or_default();
                    let wanted = rest.iter().fold(0, |all: u64, name| all.saturating_add(taken(name)));
                    grow(edit, header, segment, wanted)?;
                    place = segment.free()?.take(length);
                }
                let full = || Error::Limit { what: "a local heap: bytes".into(), got: length, limit: 0 };
                let offset = place.ok_or_else(full)?;
                segment.write(offset, length, name).ok_or_else(full)?;
                offsets.push(offset);
            }
            Ok(offsets)
        })
    }

    /// Takes the name at `offset` out.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there is none, and of what has to be read; [`Error::Io`].
    pub fn remove(edit: &mut Edit<'_>, address: Address, offset: u64) -> Result<()> {
        change(edit, address, |edit, header, segment| {
            let length = taken(name_at(&segment.bytes, offset)?);
            let inside = offset.checked_add(length).is_some_and(|end| end <= header.segment_size);
            if !inside || !segment.free()?.add(offset, length) {
                let expected = "one that is in use";
                return Err(Error::corrupt(LocalHeapSegment::NAME, "name", expected, offset).at(address));
            }
            shrink(edit, header, segment)
        })
    }

    /// Frees the heap at `address`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Io`] of what has to be read.
    pub fn delete(edit: &mut Edit<'_>, address: Address) -> Result<()> {
        let params = edit.params();
        let header = edit.store().shared::<LocalHeapHeader>(address, &params)?;
        edit.free(SPACE, header.segment, header.segment_size)?;
        edit.free(SPACE, address, LocalHeapHeader::size(&params) as u64)
    }
}

impl LocalHeapSegment {
    /// Writes a name, and zeros behind it.
    fn write(&mut self, offset: u64, length: u64, name: &[u8]) -> Option<()> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let (text, rest) = self.bytes.get_mut(start..end)?.split_at_mut_checked(name.len())?;
        text.copy_from_slice(name);
        rest.fill(0);
        Some(())
    }

    fn free(&mut self) -> Result<&mut FreeBlocks> {
        let missing = || Error::Misuse("the free blocks of a local heap are not known".into());
        self.free.as_mut().ok_or_else(missing)
    }
}

/// Takes header and data segment out of the file, changes them and puts them back.
fn change<R>(
    edit: &mut Edit<'_>,
    address: Address,
    with: impl FnOnce(&mut Edit<'_>, &mut LocalHeapHeader, &mut LocalHeapSegment) -> Result<R>,
) -> Result<R> {
    let params = edit.params();
    let mut header = LocalHeapHeader::clone(&*edit.store().shared(address, &params)?);
    let context = LocalHeapSegmentContext::new(&header, params);
    let mut segment: LocalHeapSegment = edit.take(header.segment, &context)?;
    let result = match segment.know_free(&header, context) {
        Ok(()) => with(edit, &mut header, &mut segment),
        Err(error) => Err(error.at(address).into()),
    };
    header.free_list = segment.free.as_ref().map_or(header.free_list, FreeBlocks::first);
    edit.put(header.segment, &LocalHeapSegmentContext::new(&header, params), segment);
    edit.put(address, &params, header);
    result
}

impl LocalHeapSegment {
    fn know_free(
        &mut self,
        header: &LocalHeapHeader,
        context: LocalHeapSegmentContext,
    ) -> Result<(), FormatError> {
        if self.free.is_some() {
            return Ok(());
        }
        let mut free = FreeBlocks::new(2 * u64::from(context.params.size_of_lengths));
        for block in read_free_blocks(&self.bytes, header.free_list, context.params)? {
            if !free.add(block.offset, block.size) {
                let got = format!("two at {}", block.offset);
                return Err(FormatError::corrupt(
                    Self::NAME,
                    "free list",
                    "blocks apart from each other",
                    got,
                ));
            }
        }
        self.free = Some(free);
        Ok(())
    }
}

/// Makes the data segment twice as large, or larger, so that `length` bytes have room behind its end.
fn grow(
    edit: &mut Edit<'_>,
    header: &mut LocalHeapHeader,
    segment: &mut LocalHeapSegment,
    length: u64,
) -> Result<()> {
    let before = header.segment_size;
    // What is left behind the name has to be long enough for the list of free blocks.
    let rest = 2 * u64::from(edit.params().size_of_lengths);
    let size =
        before.saturating_add(length.saturating_add(rest).max(before)).next_multiple_of(LOCAL_HEAP_ALIGNMENT);
    let limit = edit.store().limits().metadata_block;
    let Some(bytes) = usize::try_from(size).ok().filter(|_| size <= limit) else {
        return Err(Error::Limit { what: "a local heap: bytes".into(), got: size, limit });
    };
    let place = edit.allocate(SPACE, size)?;
    edit.free(SPACE, header.segment, before)?;
    segment.bytes.resize(bytes, 0);
    segment.free()?.add(before, size.saturating_sub(before));
    (header.segment, header.segment_size) = (place, size);
    Ok(())
}

/// Gives bytes at the end of the data segment back when half of it is free.
fn shrink(edit: &mut Edit<'_>, header: &mut LocalHeapHeader, segment: &mut LocalHeapSegment) -> Result<()> {
    let before = header.segment_size;
    let tail = segment.free()?.tail(before);
    if before <= SMALL || tail < before / 2 {
        return Ok(());
    }
    let size = before.saturating_sub(tail).saturating_add(tail / 4).next_multiple_of(LOCAL_HEAP_ALIGNMENT);
    let Ok(bytes) = usize::try_from(size) else { return Ok(()) };
    let rest = at(
        header.segment.checked_add(size).ok_or_else(|| {
            FormatError::corrupt(
                LocalHeapHeader::NAME,
                "address of data segment",
                "one in the file",
                header.segment,
            )
        }),
        header.segment,
    )?;
    segment.free()?.cut_tail(before, size);
    segment.bytes.truncate(bytes);
    header.segment_size = size;
    edit.free(SPACE, rest, before.saturating_sub(size))
}
