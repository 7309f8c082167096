//! Variable-length elements: descriptors in the raw data, items in the global heap.

use std::sync::Arc;

use hyperslab_format::codec::{Address, Reader};
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapId};

use super::ForeignHeap;
use crate::error::{Error, Result};
use crate::index::global_heap::{GlobalHeap, HeapObject};
use crate::store::Store;

const NAME: &str = "variable-length element";

/// A reader of variable-length elements. The reader keeps the latest collection of the global heap,
/// because successive elements often have items in the same collection.
#[derive(Debug)]
pub struct VariableLengthReader<'a> {
    store: &'a Store,
    heap: &'a GlobalHeap,
    foreign: Option<&'a ForeignHeap>,
    last: Option<(Address, Arc<GlobalHeapCollection>)>,
    last_foreign: Option<Arc<[u8]>>,
}

impl<'a> VariableLengthReader<'a> {
    /// Creates a reader of the variable-length elements of one file. Elements from other files have
    /// their items in the heap `foreign`.
    pub fn new(store: &'a Store, heap: &'a GlobalHeap, foreign: Option<&'a ForeignHeap>) -> Self {
        Self { store, heap, foreign, last: None, last_foreign: None }
    }

    /// Returns the stored items (string bytes or sequence elements) of a variable-length element.
    /// Each item has `item_size` bytes.
    pub fn items(&mut self, element: &[u8], item_size: usize) -> Result<&[u8]> {
        if let Some((count, contents)) =
            self.foreign.and_then(|heap| heap.get(element).transpose()).transpose()?
        {
            return items(count, self.last_foreign.insert(contents), item_size);
        }
        let Some((count, id)) = descriptor(self.store, element)? else { return Ok(&[]) };
        if self.last.as_ref().is_none_or(|(address, _)| *address != id.collection) {
            self.last = Some((id.collection, self.heap.collection(self.store, id.collection)?));
        }
        let collection = self.last.as_ref().map(|(_, collection)| collection);
        let stored = collection.and_then(|collection| collection.get(id.index));
        items(count, stored.ok_or_else(|| GlobalHeap::no_object(id))?, item_size)
    }
}

/// The value of a variable-length element: the items of its string or sequence.
#[derive(Debug, Clone)]
pub struct VariableLengthValue {
    /// The number of items of the base type; for a string, the number of bytes.
    pub count: u32,
    contents: Option<Contents>,
}

#[derive(Debug, Clone)]
enum Contents {
    Stored(HeapObject),
    Foreign(Arc<[u8]>),
}

impl VariableLengthValue {
    /// Reads the items of a variable-length element from the file's global heap. The bytes
    /// `element` are the element as stored: its length in 4 bytes, and a global heap ID.
    pub fn read(store: &Store, heap: &GlobalHeap, element: &[u8]) -> Result<Self> {
        Ok(match descriptor(store, element)? {
            Some((count, id)) => Self { count, contents: Some(Contents::Stored(heap.get(store, id)?)) },
            None => Self { count: 0, contents: None },
        })
    }

    /// Reads the items of a variable-length element from the heap `foreign` in memory, if they are
    /// there, or else from the file's global heap.
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

    /// Returns the stored items of a variable-length value. Each item has `item_size` bytes.
    pub fn items(&self, item_size: usize) -> Result<&[u8]> {
        let stored = match &self.contents {
            None => return Ok(&[]),
            Some(Contents::Stored(object)) => object.bytes(),
            Some(Contents::Foreign(items)) => items,
        };
        items(self.count, stored, item_size)
    }
}

/// Decodes the length (4 bytes) and the global heap ID of a stored variable-length element. Returns
/// `None` for an element without items.
fn descriptor(store: &Store, element: &[u8]) -> Result<Option<(u32, GlobalHeapId)>> {
    let mut r = Reader::new(NAME, element);
    let count = r.u32("length")?;
    let id = GlobalHeapId::read(&mut r, store.params())?;
    Ok((count > 0 && !id.is_null()).then_some((count, id)))
}

fn items(count: u32, stored: &[u8], item_size: usize) -> Result<&[u8]> {
    let wanted = usize::try_from(count).ok().and_then(|count| count.checked_mul(item_size));
    wanted.and_then(|wanted| stored.get(..wanted)).ok_or_else(|| {
        let expected = format!("{count} items of {item_size} bytes");
        Error::corrupt(NAME, "length", expected, format_args!("{} bytes in the heap", stored.len()))
    })
}
