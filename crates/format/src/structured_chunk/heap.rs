//! The last section of chunks with variable-length elements: a heap with the variable-length data.
//!
//! ```text
//! counted heap (the original proposal)          heap set (a prototype)
//! 4    unused bytes at the end                  4    "HGLS"
//! ..   data                                     1    version = 1
//! ..   unused bytes                             3    zero
//!                                               4    number of slots
//!                                               ..   slots: offset (L), length (L) of a collection
//!                                               ..   collections, as in the global heap
//! ```
//! The stored form of an element is a descriptor:
//! ```text
//! counted heap                                  heap set
//! 8    offset in the section                    4    items
//! ..   length (remaining bytes)                 2    slot, from 0
//!                                               2    object in the collection
//!                                               ..   zero
//! ```
//! A descriptor of all zeros is an empty element.

use crate::codec::{FileParams, FormatError, Reader, Result, Structure as _, Writer};
use crate::global_heap::{GlobalHeapCollection, GlobalHeapContext};

const NAME: &str = "structured chunk heap";
const SIGNATURE: [u8; 4] = *b"HGLS";

/// Size in bytes of the field before the variable-length data in the heap of a structured chunk.
pub const HEAP_PREFIX_BYTES: usize = 4;

/// The heap of a structured chunk, which holds the variable-length data of the chunk's elements.
/// The checksum is already verified and removed.
#[derive(Debug, Clone)]
pub enum SectionHeap<'a> {
    /// No heap: all elements are empty.
    Absent,
    /// Counted heap: the used bytes of the section. Descriptors contain offsets in the section.
    Counted(&'a [u8]),
    /// Heap set: slots of collections.
    Set(Vec<HeapSlot>),
}

/// A slot of a structured chunk's heap: a collection of variable-length data, or `None` for a free
/// slot.
#[derive(Debug, Clone)]
pub struct HeapSlot(Option<GlobalHeapCollection>);

impl<'a> SectionHeap<'a> {
    /// Decodes the heap of a structured chunk from the bytes of the chunk's section.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if there are more unused bytes than bytes, or if the
    /// collections of a heap set overlap, do not ascend or do not end with the section.
    pub fn decode(section: &'a [u8], params: FileParams) -> Result<Self> {
        if section.is_empty() {
            return Ok(Self::Absent);
        }
        if section.starts_with(&SIGNATURE) {
            return decode_set(section, params).map(Self::Set);
        }
        let mut r = Reader::new(NAME, section);
        let unused = u64::from(r.u32("unused bytes")?);
        let used =
            (section.len() as u64).checked_sub(unused).filter(|used| *used >= HEAP_PREFIX_BYTES as u64);
        let Some(used) = used.and_then(|used| usize::try_from(used).ok()) else {
            // The section begins with the number of unused bytes, so it is at least that field
            // long.
            let maximum = section.len() - HEAP_PREFIX_BYTES;
            return Err(r.corrupt("unused bytes", format!("at most {maximum}"), unused));
        };
        let used = section.get(..used);
        let used = used.ok_or_else(|| FormatError::internal(NAME, "the used bytes lie in the section"))?;
        Ok(Self::Counted(used))
    }

    /// Returns the variable-length data of an element from the structured chunk's heap.
    /// `descriptor` is the stored form of the element; `item_size` is the size of an item in bytes.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the descriptor points outside of the heap, or if the
    /// contents are not a whole number of items.
    pub fn get(&self, descriptor: &[u8], item_size: usize) -> Result<&[u8]> {
        if descriptor.iter().all(|byte| *byte == 0) {
            return Ok(&[]);
        }
        let mut r = Reader::new(NAME, descriptor);
        match self {
            Self::Absent => Err(r.corrupt("element", "zeros (the chunk has no heap)", "other bytes")),
            Self::Counted(heap) => {
                let (offset, length) = decode_range(&mut r)?;
                let inside = usize::try_from(offset)
                    .ok()
                    .filter(|offset| *offset >= HEAP_PREFIX_BYTES)
                    .and_then(|start| {
                        let length = usize::try_from(length).ok()?;
                        heap.get(start..)?.get(..length)
                    });
                let Some(contents) = inside else {
                    let expected = format!("a range within {HEAP_PREFIX_BYTES} to {}", heap.len());
                    return Err(r.corrupt("offset", expected, format_args!("{length} bytes at {offset}")));
                };
                if !contents.len().is_multiple_of(item_size.max(1)) {
                    let expected = format!("a multiple of {item_size}");
                    return Err(r.corrupt("length", expected, contents.len()));
                }
                Ok(contents)
            }
            Self::Set(slots) => object(&mut r, slots, item_size),
        }
    }
}

/// Writes the descriptor (the stored form) of a variable-length element. The data of the element
/// are in the heap of a structured chunk. A descriptor has 12 to 16 bytes, and all of them are zero
/// if the length is 0.
///
/// # Errors
/// Returns [`FormatError::Encode`] if the numbers do not fit the descriptor.
pub fn write_descriptor(descriptor: &mut [u8], offset: u64, length: u64) -> Result<()> {
    let mut w = Writer::with_capacity(NAME, descriptor.len());
    if length > 0 {
        w.u64(offset);
        w.uint((descriptor.len().max(8) - 8).min(8), length, "length");
    }
    w.pad_to(descriptor.len(), "element");
    let bytes = w.finish()?;
    descriptor.copy_from_slice(&bytes);
    Ok(())
}

/// Returns the bytes of an empty heap of a structured chunk, without unused bytes. The caller
/// appends the data.
pub fn begin_heap() -> Vec<u8> {
    vec![0; HEAP_PREFIX_BYTES]
}

/// Reads the offset and the length of a range in the heap of a structured chunk.
fn decode_range(r: &mut Reader<'_>) -> Result<(u64, u64)> {
    let offset = r.u64("offset")?;
    let width = r.remaining();
    let length = r.uint(width.min(8), "length")?;
    if r.take_rest().iter().any(|byte| *byte != 0) {
        return Err(r.corrupt("length", "at most 64 bits", "more"));
    }
    Ok((offset, length))
}

fn object<'s>(r: &mut Reader<'_>, slots: &'s [HeapSlot], item_size: usize) -> Result<&'s [u8]> {
    let items = r.u32("length")?;
    let slot = r.u16("slot")?;
    let index = r.u16("object")?;
    if r.take_rest().iter().any(|byte| *byte != 0) {
        return Err(r.corrupt("element", "zeros at the end", "other bytes"));
    }
    if index == 0 && slot == 0 {
        return if items == 0 { Ok(&[]) } else { Err(r.corrupt("length", "0 without an object", items)) };
    }
    let object =
        slots.get(usize::from(slot)).and_then(|slot| slot.0.as_ref()).and_then(|heap| heap.get(index.into()));
    let Some(object) = object else {
        return Err(r.corrupt("object", format!("an object of slot {slot}"), index));
    };
    let wanted = usize::try_from(items).ok().and_then(|items| items.checked_mul(item_size));
    if wanted != Some(object.len()) {
        let expected =
            format!("{item_size}-byte items that fill the {} bytes of object {index}", object.len());
        return Err(r.corrupt("length", expected, items));
    }
    Ok(object)
}

fn decode_set(section: &[u8], params: FileParams) -> Result<Vec<HeapSlot>> {
    let mut r = Reader::new(NAME, section);
    r.signature(&SIGNATURE)?;
    r.version(&[1])?;
    if r.array::<3>("reserved")? != [0; 3] {
        return Err(r.corrupt("reserved", "zeros", "other bytes"));
    }
    let count = r.u32("number of slots")?;
    let count = r.count(count.into(), params.length_width() * 2, "number of slots")?;
    let mut ranges = Vec::with_capacity(count);
    for _ in 0..count {
        ranges.push((r.length(params, "offset")?, r.length(params, "length")?));
    }
    let mut end = r.position() as u64;
    let mut slots = Vec::with_capacity(count);
    for (offset, length) in ranges {
        if (offset, length) == (0, 0) {
            slots.push(HeapSlot(None));
            continue;
        }
        let image = (offset >= end)
            .then(|| usize::try_from(offset).ok().zip(usize::try_from(length).ok()))
            .flatten()
            .and_then(|(offset, length)| section.get(offset..)?.get(..length));
        let Some(image) = image else {
            let expected = format!("a range from {end} to {}", section.len());
            return Err(r.corrupt("offset", expected, format_args!("{length} bytes at {offset}")));
        };
        let context = GlobalHeapContext { params, size: image.len() };
        slots.push(HeapSlot(Some(GlobalHeapCollection::decode(image, &context)?)));
        end = offset + length;
    }
    if end != section.len() as u64 {
        return Err(FormatError::corrupt(NAME, "collections", format!("an end at {}", section.len()), end));
    }
    Ok(slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams::DEFAULT;

    fn element(offset: u64, length: u64) -> [u8; 16] {
        let mut element = [0xff; 16];
        write_descriptor(&mut element, offset, length).unwrap();
        element
    }

    #[test]
    fn contents_of_a_counted_heap() {
        let mut bytes = begin_heap();
        bytes.extend_from_slice(b"abcdef");
        let heap = SectionHeap::decode(&bytes, PARAMS).unwrap();
        assert_eq!(heap.get(&element(4, 3), 1).unwrap(), b"abc");
        assert_eq!(heap.get(&element(8, 2), 2).unwrap(), b"ef");
        assert_eq!(heap.get(&[0; 16], 4).unwrap(), b"");
        for (offset, length, size) in
            [(3, 1, 1), (4, 7, 1), (4, 3, 2), (11, 0, 1), (u64::MAX, 1, 1), (4, u64::MAX, 1)]
        {
            let mut place = [0; 16];
            place[..8].copy_from_slice(&offset.to_le_bytes());
            place[8..].copy_from_slice(&length.to_le_bytes());
            assert!(heap.get(&place, size).is_err(), "{offset} {length}");
        }
        bytes[0] = 2;
        let heap = SectionHeap::decode(&bytes, PARAMS).unwrap();
        assert!(heap.get(&element(4, 5), 1).is_err(), "in the unused bytes");
        bytes[0] = 7;
        assert!(SectionHeap::decode(&bytes, PARAMS).is_err());
        assert!(SectionHeap::decode(&bytes[..3], PARAMS).is_err());
        let absent = SectionHeap::decode(&[], PARAMS).unwrap();
        assert!(absent.get(&[0; 16], 1).unwrap().is_empty() && absent.get(&element(4, 1), 1).is_err());
        let mut narrow = [0; 12];
        assert!(write_descriptor(&mut narrow, 4, 1 << 32).is_err());
        write_descriptor(&mut narrow, 4, 3).unwrap();
        bytes[0] = 0;
        assert_eq!(SectionHeap::decode(&bytes, PARAMS).unwrap().get(&narrow, 1).unwrap(), b"abc");
    }

    #[test]
    fn objects_of_a_heap_set() {
        let mut collection = b"GCOL\x01\0\0\0".to_vec();
        collection.extend_from_slice(&40_u64.to_le_bytes());
        collection.extend_from_slice(b"\x02\0\x01\0\0\0\0\0\x06\0\0\0\0\0\0\0abcdef\0\0");
        let mut bytes = b"HGLS\x01\0\0\0\x02\0\0\0".to_vec();
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(&44_u64.to_le_bytes());
        bytes.extend_from_slice(&40_u64.to_le_bytes());
        bytes.extend_from_slice(&collection);
        let heap = SectionHeap::decode(&bytes, PARAMS).unwrap();
        let element = |items: u32, slot: u16, object: u16| {
            let mut element = [0; 16];
            element[..4].copy_from_slice(&items.to_le_bytes());
            element[4..6].copy_from_slice(&slot.to_le_bytes());
            element[6..8].copy_from_slice(&object.to_le_bytes());
            element
        };
        assert_eq!(heap.get(&element(3, 1, 2), 2).unwrap(), b"abcdef");
        assert_eq!(heap.get(&element(0, 0, 0), 2).unwrap(), b"");
        for (items, slot, object, size) in
            [(2, 1, 2, 2), (3, 0, 2, 2), (3, 1, 3, 2), (1, 0, 0, 1), (3, 9, 2, 2)]
        {
            assert!(heap.get(&element(items, slot, object), size).is_err(), "{items} {slot} {object}");
        }
        let mut last = element(3, 1, 2);
        last[15] = 1;
        assert!(heap.get(&last, 2).is_err());
        assert!(SectionHeap::decode(&bytes[..bytes.len() - 1], PARAMS).is_err());
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(SectionHeap::decode(&longer, PARAMS).is_err());
        bytes[28] = 40;
        assert!(SectionHeap::decode(&bytes, PARAMS).is_err(), "a collection over the slots");
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80), set: bool, element: [u8; 16], size in 0_usize..9) {
            let image = if set { [&b"HGLS\x01\0\0\0"[..], &bytes].concat() } else { bytes };
            if let Ok(heap) = SectionHeap::decode(&image, PARAMS) {
                let _ = heap.get(&element, size);
            }
        }
    }
}
