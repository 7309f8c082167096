//! Variable-length data and references, by their IDs in global heap collections.

mod builder;
mod bulk;
mod edit;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::{Arc, LazyLock};

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext, GlobalHeapId};
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

pub use bulk::{Bulk, Stretch};
pub use writer::GlobalHeapWriter;

use self::edit::Open;
use crate::error::{Error, Result};
use crate::store::{Store, at, cache};

/// Bytes of decoded collections that are kept.
const KEPT_BYTES: u64 = 16 << 20;

/// The global heap of one file: collections are decoded once and kept while there is room.
#[derive(Debug)]
pub struct GlobalHeap {
    collections: LazyLock<Cache<Address, Arc<GlobalHeapCollection>, BySize>>,
    /// Where there is room for more, in a file that may be written.
    open: Mutex<Open>,
}

#[derive(Debug, Clone)]
struct BySize;

impl Weighter<Address, Arc<GlobalHeapCollection>> for BySize {
    fn weight(&self, _: &Address, collection: &Arc<GlobalHeapCollection>) -> u64 {
        (collection.bytes().len() as u64).max(1)
    }
}

/// An object of the heap, held by its collection.
#[derive(Debug, Clone)]
pub struct HeapObject {
    collection: Arc<GlobalHeapCollection>,
    index: u32,
}

impl HeapObject {
    /// The object's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.collection.get(self.index).unwrap_or_default()
    }
}

impl GlobalHeap {
    /// A heap of which nothing is read yet.
    pub fn new() -> Self {
        Self { collections: LazyLock::new(|| cache(256, KEPT_BYTES, BySize)), open: Mutex::default() }
    }

    /// The object with that ID.
    pub fn get(&self, store: &Store, id: GlobalHeapId) -> Result<HeapObject> {
        let collection = self.collection(store, id.collection)?;
        if collection.get(id.index).is_none() {
            return Err(Self::no_object(id));
        }
        Ok(HeapObject { collection, index: id.index })
    }

    /// That a collection has no object of that number.
    pub fn no_object(id: GlobalHeapId) -> Error {
        let expected = "an object of the collection";
        Error::corrupt(GlobalHeapCollection::NAME, "object index", expected, id.index).at(id.collection)
    }

    /// The collection at `address`.
    pub fn collection(&self, store: &Store, address: Address) -> Result<Arc<GlobalHeapCollection>> {
        if let Some(changed) = store.changed(address) {
            return Ok(changed);
        }
        self.collections.get_or_insert_with(&address, || {
            let collection = load(store, address)?;
            if store.is_writable() {
                self.open.lock().note(address, collection.free_space());
            }
            Ok(Arc::new(collection))
        })
    }
}

impl Default for GlobalHeap {
    fn default() -> Self {
        Self::new()
    }
}

fn load(store: &Store, address: Address) -> Result<GlobalHeapCollection> {
    let params = store.params();
    let prefix_size = GlobalHeapCollection::prefix_size(params) as u64;
    let prefix = store.read(address, prefix_size, GlobalHeapCollection::NAME)?;
    let stored = at(GlobalHeapCollection::stored_size(&prefix, params), address)?;
    let bytes = store.read(address, stored, GlobalHeapCollection::NAME)?;
    let context = GlobalHeapContext { params, size: bytes.len() };
    at(GlobalHeapCollection::decode(&bytes, &context), address)
}
