//! The global heap: variable-length data and references, by their IDs in collections.

mod builder;
mod bulk;
mod edit;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::{Arc, LazyLock};

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext, GlobalHeapId};
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

pub use bulk::{Bulk, CollectionRun};
pub use writer::GlobalHeapWriter;

use self::edit::OpenCollections;
use crate::error::{Error, Result};
use crate::store::{Store, at, cache};

/// Limit in bytes of the cache of decoded global heap collections.
const CACHE_BYTES: u64 = 16 << 20;

/// The global heap of one file. A cache keeps decoded global heap collections.
#[derive(Debug)]
pub struct GlobalHeap {
    collections: LazyLock<Cache<Address, Arc<GlobalHeapCollection>, BySize>>,
    /// The collections with free space, in a writable file.
    open: Mutex<OpenCollections>,
}

#[derive(Debug, Clone)]
struct BySize;

impl Weighter<Address, Arc<GlobalHeapCollection>> for BySize {
    fn weight(&self, _: &Address, collection: &Arc<GlobalHeapCollection>) -> u64 {
        to_u64(collection.bytes().len()).max(1)
    }
}

/// An object of the global heap. The value shares the memory of the decoded global heap collection.
#[derive(Debug, Clone)]
pub struct HeapObject {
    collection: Arc<GlobalHeapCollection>,
    index: u32,
}

impl HeapObject {
    /// Returns the bytes of the global heap object.
    pub fn bytes(&self) -> &[u8] {
        // The default is never used: `GlobalHeap::get` has found the object, and the collection is
        // immutable.
        self.collection.get(self.index).unwrap_or_default()
    }
}

impl GlobalHeap {
    /// Creates a global heap with an empty cache of collections.
    pub fn new() -> Self {
        Self { collections: LazyLock::new(|| cache(256, CACHE_BYTES, BySize)), open: Mutex::default() }
    }

    /// Returns the global heap object with the ID `id`.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the collection has no such object, and read errors.
    pub fn get(&self, store: &Store, id: GlobalHeapId) -> Result<HeapObject> {
        let collection = self.collection(store, id.collection)?;
        if collection.get(id.index).is_none() {
            return Err(Self::no_object(id));
        }
        Ok(HeapObject { collection, index: id.index })
    }

    /// Creates an error about a global heap ID whose collection has no such object.
    pub fn no_object(id: GlobalHeapId) -> Error {
        let expected = "an object of the collection";
        Error::corrupt(GlobalHeapCollection::NAME, "object index", expected, id.index).at(id.collection)
    }

    /// Returns the global heap collection at `address`.
    ///
    /// # Errors
    /// Returns read errors.
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
    let prefix_size = to_u64(GlobalHeapCollection::prefix_size(params));
    let prefix = store.read(address, prefix_size, GlobalHeapCollection::NAME)?;
    let stored = at(GlobalHeapCollection::stored_size(&prefix, params), address)?;
    let bytes = store.read(address, stored, GlobalHeapCollection::NAME)?;
    let context = GlobalHeapContext { params, size: bytes.len() };
    at(GlobalHeapCollection::decode(&bytes, &context), address)
}
