//! Reads of dense storage in advance, for files whose reads have to wait for bytes: the heap
//! and the index of a group or an object are fetched together, level by level. Errors are left to
//! the reads after them.

use hyperslab_format::codec::Address;

use crate::index::btree_v2::BTreeV2;
use crate::index::fractal_heap::FractalHeap;
use crate::store::Store;

/// Fetches all entries of dense storage, given by the addresses of its heap and its index by name.
/// `id` returns the heap ID in a record of the index, or `None` if the message is elsewhere.
pub(super) fn fetch_dense<const LENGTH: usize>(
    store: &Store,
    heap: Address,
    names: Address,
    id: impl Fn(&[u8]) -> Option<[u8; LENGTH]>,
) {
    store.read_ahead(&mut || {
        let (heap, tree) = (FractalHeap::open(store, heap), BTreeV2::open(store, names));
        let mut objects = heap.as_ref().ok().map(|heap| {
            heap.touch_root(store);
            heap.objects(store)
        });
        let Ok(tree) = tree else { return };
        tree.touch(store, &mut |record| {
            if let (Some(objects), Some(id)) = (&mut objects, id(record)) {
                drop(objects.find(&id));
            }
        });
    });
}

/// Fetches the headers and the root blocks of the heap and the index of dense storage.
pub(super) fn fetch_dense_roots(store: &Store, heap: Address, names: Address) {
    store.read_ahead(&mut || {
        let (heap, tree) = (FractalHeap::open(store, heap), BTreeV2::open(store, names));
        drop(heap.map(|heap| heap.touch_root(store)));
        drop(tree.map(|tree| tree.touch_root(store)));
    });
}
