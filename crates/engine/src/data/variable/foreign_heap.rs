//! A heap in memory for the variable-length data of other files, to which elements of a virtual
//! dataset refer.
//!
//! The descriptor of such an element has a collection address that no file uses, and the number of
//! the items in this heap.

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_datatype::convert::{ConvertError, HeapError, VariableSink};
use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams, Reader, Writer};
use hyperslab_format::global_heap::GlobalHeapId;

use crate::error::{Error, Result};

const NAME: &str = "element of another file";

/// Estimated bytes of memory that an entry of a foreign heap (a heap in memory) takes besides its
/// items: a pointer, two counts, and memory for the allocator.
const ENTRY_BYTES: u64 = 48;

/// A heap in memory for variable-length data that is not in the file's global heap (a foreign
/// heap). For example, a read of a virtual dataset collects the data of its source files in a
/// foreign heap.
#[derive(Debug)]
pub struct ForeignHeap {
    contents: Mutex<Contents>,
}

#[derive(Debug)]
struct Contents {
    items: Vec<Arc<[u8]>>,
    /// The number of bytes that may still be added.
    remaining: u64,
    limit: u64,
}

/// Returns the file parameters for decoding a variable-length descriptor: the width of its address,
/// from the length of the descriptor. Besides the address, a descriptor has a count and an index of
/// four bytes each.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the descriptor is too short or too long.
fn params_of(descriptor: &[u8]) -> Result<FileParams> {
    let width = descriptor.len().checked_sub(8).filter(|width| *width > 0);
    let width = width
        .and_then(|width| u8::try_from(width).ok())
        .ok_or_else(|| Error::corrupt(NAME, "descriptor size", "8 bytes and an address", descriptor.len()))?;
    Ok(FileParams { size_of_offsets: width, ..FileParams::DEFAULT })
}

/// Returns the global heap collection address that marks elements whose data is in a foreign heap
/// in memory. It is the largest address of the given width that is not the undefined address.
fn collection(params: FileParams) -> Address {
    let bits = u32::from(params.size_of_offsets) * 8;
    let undefined = u64::MAX >> (u64::BITS - bits.clamp(8, u64::BITS));
    Address::new(undefined - 1)
}

impl ForeignHeap {
    /// Creates an empty foreign heap: a heap in memory for up to `limit` bytes of variable-length
    /// data that is not in the file's global heap.
    pub fn new(limit: u64) -> Self {
        Self { contents: Mutex::new(Contents { items: Vec::new(), remaining: limit, limit }) }
    }

    /// Returns the number of items and the items of a variable-length element from this heap in
    /// memory, by the element's descriptor. Returns `None` if the data of the element is in the
    /// file's global heap instead.
    pub fn get(&self, descriptor: &[u8]) -> Result<Option<(u32, Arc<[u8]>)>> {
        let params = params_of(descriptor)?;
        let mut r = Reader::new(NAME, descriptor);
        let count = r.u32("length")?;
        let id = GlobalHeapId::read(&mut r, params)?;
        if id.collection != collection(params) {
            return Ok(None);
        }
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let number = id.index.checked_sub(1).and_then(|number| usize::try_from(number).ok());
        let items = number.and_then(|number| contents.items.get(number));
        let items = items.ok_or_else(|| Error::corrupt(NAME, "object index", "contents", id.index))?;
        Ok(Some((count, Arc::clone(items))))
    }

    fn add(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<()> {
        let params = params_of(descriptor)?;
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = contents.limit;
        let full = |got| Error::Limit { subject: "elements of other files: bytes".into(), got, limit };
        let size = to_u64(items.len()) + ENTRY_BYTES;
        // Saturates because the sum only appears in the message.
        let used = limit - contents.remaining;
        contents.remaining =
            contents.remaining.checked_sub(size).ok_or_else(|| full(used.saturating_add(size)))?;
        contents.items.push(items.into());
        let number = u32::try_from(contents.items.len()).map_err(|_| full(u64::from(u32::MAX)))?;
        let mut writer = Writer::new(NAME);
        writer.u32(u32::try_from(count).map_err(|_| full(count as u64))?);
        GlobalHeapId { collection: collection(params), index: number }.write(&mut writer, params);
        let written = writer.finish()?;
        for (to, from) in descriptor.iter_mut().zip(written) {
            *to = from;
        }
        Ok(())
    }
}

impl VariableSink for ForeignHeap {
    fn store(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        self.add(items, count, descriptor).map_err(|error| ConvertError::Heap(HeapError::new(error)))
    }

    fn store_null(&self, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        descriptor.fill(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_by_descriptors_of_any_width() {
        let heap = ForeignHeap::new(3 * (3 + ENTRY_BYTES));
        for width in [2, 4, 8] {
            let mut descriptor = vec![0xff; width + 8];
            heap.store(b"abc", 3, &mut descriptor).unwrap();
            let (count, items) = heap.get(&descriptor).unwrap().unwrap();
            assert_eq!((count, &*items), (3, &b"abc"[..]));
            heap.store_null(&mut descriptor).unwrap();
            assert!(heap.get(&descriptor).unwrap().is_none());
        }
        let mut descriptor = vec![0; 16];
        assert!(heap.store(b"d", 1, &mut descriptor).is_err());
    }

    #[test]
    fn a_descriptor_without_items_is_an_error() {
        let heap = ForeignHeap::new(3 * (3 + ENTRY_BYTES));
        let mut descriptor = vec![0xff; 16];
        descriptor[4] = 0xfe;
        assert!(heap.get(&descriptor).is_err());
        descriptor[4] = 0xff;
        assert!(heap.get(&descriptor).unwrap().is_none());
        assert!(heap.get(&[0; 3]).is_err());
        assert!(heap.get(&[0; 8]).is_err());
        assert!(heap.get(&[0; 264]).is_err());
    }
}
