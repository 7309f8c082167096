//! Contents of elements of variable length that come from other files, for the elements of a virtual dataset.
//!
//! The descriptors of such elements have a collection address that no file has, and the number of the contents.

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_datatype::convert::{ConvertError, HeapError, VariableSink};
use hyperslab_format::codec::{Address, FileParams, Reader, Writer};
use hyperslab_format::global_heap::GlobalHeapId;

use crate::error::{Error, Result};

const NAME: &str = "element of another file";

/// Bytes that an item takes besides its own: a pointer to it, two counts, and those of the memory allocator.
const OVERHEAD: u64 = 48;

/// Contents that one read of a virtual dataset collects.
#[derive(Debug)]
pub struct ForeignHeap {
    contents: Mutex<Contents>,
}

#[derive(Debug)]
struct Contents {
    items: Vec<Arc<[u8]>>,
    /// Bytes that may still be added.
    left: u64,
    limit: u64,
}

/// How addresses are stored in a descriptor of that length: a count and an index of four bytes each are around it.
fn params_of(descriptor: &[u8]) -> FileParams {
    let width = u8::try_from(descriptor.len().saturating_sub(8)).unwrap_or(u8::MAX);
    FileParams { size_of_offsets: width, ..FileParams::DEFAULT }
}

/// The highest address of that width but one; the highest is the undefined one.
fn collection(params: FileParams) -> Address {
    let bits = u32::from(params.size_of_offsets).saturating_mul(8);
    Address::new(1_u64.checked_shl(bits).map_or(u64::MAX, |end| end.wrapping_sub(1)).saturating_sub(1))
}

impl ForeignHeap {
    /// No contents yet, and room for so many bytes.
    pub fn new(limit: u64) -> Self {
        Self { contents: Mutex::new(Contents { items: Vec::new(), left: limit, limit }) }
    }

    /// The number of items and the contents of an element; `None` if the element is one of the file itself.
    pub fn get(&self, descriptor: &[u8]) -> Result<Option<(u32, Arc<[u8]>)>> {
        let params = params_of(descriptor);
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
        let params = params_of(descriptor);
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = contents.limit;
        let full = |got| Error::Limit { what: "elements of other files: bytes".into(), got, limit };
        let size = (items.len() as u64).saturating_add(OVERHEAD);
        contents.left = contents.left.checked_sub(size).ok_or_else(|| full(limit.saturating_add(size)))?;
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
        if count == 0 {
            descriptor.fill(0);
            return Ok(());
        }
        self.add(items, count, descriptor).map_err(|error| ConvertError::Heap(HeapError::new(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_by_descriptors_of_any_width() {
        let heap = ForeignHeap::new(3 * (3 + OVERHEAD));
        for width in [2, 4, 8] {
            let mut descriptor = vec![0xff; width + 8];
            heap.store(b"abc", 3, &mut descriptor).unwrap();
            let (count, items) = heap.get(&descriptor).unwrap().unwrap();
            assert_eq!((count, &*items), (3, &b"abc"[..]));
            heap.store(b"", 0, &mut descriptor).unwrap();
            assert!(heap.get(&descriptor).unwrap().is_none());
        }
        let mut descriptor = vec![0; 16];
        assert!(heap.store(b"d", 1, &mut descriptor).is_err());
    }

    #[test]
    fn what_leads_nowhere() {
        let heap = ForeignHeap::new(3 * (3 + OVERHEAD));
        let mut descriptor = vec![0xff; 16];
        descriptor[4] = 0xfe;
        assert!(heap.get(&descriptor).is_err());
        descriptor[4] = 0xff;
        assert!(heap.get(&descriptor).unwrap().is_none());
        assert!(heap.get(&[0; 3]).is_err());
    }
}
