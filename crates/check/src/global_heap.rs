//! The global heap: the collections to which elements refer, and the objects in use.

use std::collections::HashMap;
use std::sync::Arc;

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::global_heap::{
    GLOBAL_HEAP_MIN_SIZE, GlobalHeapCollection, GlobalHeapContext, GlobalHeapId,
};

use crate::extents::BlockKind;
use crate::file::{Checker, to_usize};
use crate::totals::add;

const NAME: &str = GlobalHeapCollection::NAME;

/// The global heap: the collections to which elements refer. An entry is `None` for a collection
/// that cannot be read.
#[derive(Debug, Default)]
pub(crate) struct GlobalHeap {
    collections: HashMap<Address, Option<Collection>>,
}

#[derive(Debug)]
struct Collection {
    context: GlobalHeapContext,
    /// The objects, ascending by index.
    objects: Vec<Object>,
}

#[derive(Debug, Clone, Copy)]
struct Object {
    index: u16,
    used: bool,
    length: u64,
}

/// The global heap object to which an element refers: its length, and a flag that is true at the
/// first use of the object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Referred {
    /// Bytes of the object.
    pub(crate) length: u64,
    /// True at the first use of the object.
    pub(crate) first: bool,
}

impl Checker {
    /// Returns the global heap object to which an element refers. Records a fault if the collection
    /// does not contain the object.
    pub(crate) fn refer(&mut self, id: GlobalHeapId, owner: Address) -> Option<Referred> {
        if !self.heap.collections.contains_key(&id.collection) {
            let collection = self.open_collection(id.collection);
            self.heap.collections.insert(id.collection, collection);
        }
        let collection = self.heap.collections.get_mut(&id.collection)?.as_mut()?;
        let index = u16::try_from(id.index).ok();
        let position = index
            .and_then(|index| collection.objects.binary_search_by_key(&index, |object| object.index).ok());
        let Some(object) = position.and_then(|position| collection.objects.get_mut(position)) else {
            let text =
                format!("no object {} in the collection, referred to by the object at {owner}", id.index);
            self.fault(NAME, id.collection, text);
            return None;
        };
        let first = !std::mem::replace(&mut object.used, true);
        let length = object.length;
        if first {
            self.of_object(|bytes| add(&mut bytes.heap, length));
        }
        Some(Referred { length, first })
    }

    /// Returns the bytes of a global heap object that [`refer`](Self::refer) has found.
    pub(crate) fn heap_object(&mut self, id: GlobalHeapId) -> Option<Vec<u8>> {
        let context = self.heap.collections.get(&id.collection)?.as_ref()?.context;
        let collection: Arc<GlobalHeapCollection> = self.store.shared(id.collection, &context).ok()?;
        collection.get(id.index).map(<[u8]>::to_vec)
    }

    fn open_collection(&mut self, address: Address) -> Option<Collection> {
        let params = self.params;
        let prefix = self.store.read(address, GlobalHeapCollection::prefix_size(params) as u64, NAME);
        let prefix = self.read_or_note(NAME, address, prefix)?;
        let stored = GlobalHeapCollection::stored_size(&prefix, params);
        let stored = self.decoded(NAME, address, stored)?;
        if stored < GLOBAL_HEAP_MIN_SIZE as u64 {
            let text = format!("a collection of {stored} bytes, expected at least {GLOBAL_HEAP_MIN_SIZE}");
            self.fault(NAME, address, text);
        }
        if !self.enter(NAME, address, stored, BlockKind::GlobalHeap) {
            return None;
        }
        let context = GlobalHeapContext { params, size: to_usize(stored) };
        let collection = self.store.shared::<GlobalHeapCollection>(address, &context);
        let collection = self.read_or_note(NAME, address, collection)?;
        let objects = collection.objects().iter().map(|object| Object {
            index: object.index,
            used: false,
            length: object.data.len() as u64,
        });
        Some(Collection { context, objects: objects.collect() })
    }

    /// Counts the global heap objects that no element uses. All elements must be scanned before.
    pub(crate) fn finish_heap(&mut self) {
        let collections = self.heap.collections.values().flatten();
        for object in collections.flat_map(|collection| &collection.objects).filter(|object| !object.used) {
            self.report.leaked_heap_objects.add(object.length);
        }
    }
}
