//! Elements of variable length: descriptors in the raw data, contents in the global heap.

use std::sync::Arc;

use hyperslab_format::codec::Reader;
use hyperslab_format::global_heap::GlobalHeapId;

use super::ForeignHeap;
use crate::error::{Error, Result};
use crate::index::global_heap::{GlobalHeap, HeapObject};
use crate::store::Store;

const NAME: &str = "variable-length element";

/// The contents of one element of variable length.
#[derive(Debug, Clone)]
pub struct VariableLengthValue {
    /// Number of items of the base type; bytes of a string.
    pub count: u32,
    contents: Option<Contents>,
}

#[derive(Debug, Clone)]
enum Contents {
    Stored(HeapObject),
    Foreign(Arc<[u8]>),
}

impl VariableLengthValue {
    /// Looks up the contents of a stored element: its length (4 bytes) and its global heap ID.
    pub fn read(store: &Store, heap: &GlobalHeap, element: &[u8]) -> Result<Self> {
        let mut r = Reader::new(NAME, element);
        let count = r.u32("length")?;
        let id = GlobalHeapId::read(&mut r, store.params())?;
        if count == 0 || id.is_null() {
            return Ok(Self { count: 0, contents: None });
        }
        Ok(Self { count, contents: Some(Contents::Stored(heap.get(store, id)?)) })
    }

    /// As [`read`](Self::read), for an element that may come from another file.
    pub fn read_of(
        store: &Store,
        heap: &GlobalHeap,
        foreign: Option<&ForeignHeap>,
        element: &[u8],
    ) -> Result<Self> {
        match foreign.map(|foreign| foreign.get(element)).transpose()?.flatten() {
            Some((count, items)) => Ok(Self { count, contents: Some(Contents::Foreign(items)) }),
            None => Self::read(store, heap, element),
        }
    }

    /// The stored items, `item_size` bytes each.
    pub fn items(&self, item_size: usize) -> Result<&[u8]> {
        let stored = match &self.contents {
            None => return Ok(&[]),
            Some(Contents::Stored(object)) => object.bytes(),
            Some(Contents::Foreign(items)) => items,
        };
        let wanted = usize::try_from(self.count).ok().and_then(|count| count.checked_mul(item_size));
        wanted.and_then(|wanted| stored.get(..wanted)).ok_or_else(|| {
            let expected = format!("{} items of {item_size} bytes", self.count);
            Error::corrupt(NAME, "length", expected, format_args!("{} bytes in the heap", stored.len()))
        })
    }
}
