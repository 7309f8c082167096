//! Dirty metadata blocks, which stay decoded until they are written. A node into which a thousand
//! records are inserted is encoded once.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure};
use parking_lot::RwLock;

use super::{AddressMap, Store};
use crate::error::{Error, Result};

/// A cache of dirty metadata blocks by their addresses.
#[derive(Debug, Default)]
pub(crate) struct DirtyBlocks {
    blocks: RwLock<AddressMap<DirtyBlock>>,
    /// The number of blocks. Readers of a file without dirty blocks never take the lock.
    count: AtomicUsize,
    bytes: AtomicUsize,
}

/// A dirty metadata block: its decoded value, and the context (the parameters) for its encoding.
#[derive(Debug, Clone)]
pub(crate) struct DirtyBlock {
    value: Arc<dyn Any + Send + Sync>,
    context: Arc<dyn Any + Send + Sync>,
    encode: Encode,
    bytes: usize,
    structure: &'static str,
}

type Encode = fn(&dyn Any, &dyn Any) -> Result<Vec<u8>>;

fn encode<T>(value: &dyn Any, context: &dyn Any) -> Result<Vec<u8>>
where
    T: Structure + 'static,
    T::Context: 'static,
{
    match (value.downcast_ref::<T>(), context.downcast_ref::<T::Context>()) {
        (Some(value), Some(context)) => Ok(value.encode(context)?),
        _ => Err(Error::Internal {
            structure: T::NAME,
            invariant: "a block is kept with its type and context",
        }),
    }
}

impl DirtyBlock {
    /// Creates a dirty metadata block from its value and the context (the parameters) for its
    /// encoding.
    pub(crate) fn new<T>(value: Arc<T>, context: &T::Context) -> Self
    where
        T: Structure + Send + Sync + 'static,
        T::Context: Send + Sync + 'static,
    {
        let bytes = T::size(context);
        Self { value, context: Arc::new(context.clone()), encode: encode::<T>, bytes, structure: T::NAME }
    }

    /// Returns the name of the dirty metadata block's structure, for error messages.
    pub(crate) fn structure(&self) -> &'static str {
        self.structure
    }

    /// Encodes the dirty metadata block to bytes.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        (self.encode)(&*self.value, &*self.context)
    }

    /// Returns the decoded value of the dirty metadata block, if the block has the type `T` and the
    /// context `context` (the parameters for encoding).
    pub(crate) fn value<T>(self, context: &T::Context) -> Option<Arc<T>>
    where
        T: Structure + Send + Sync + 'static,
        T::Context: PartialEq + 'static,
    {
        if self.context.downcast_ref::<T::Context>() != Some(context) {
            return None;
        }
        self.value.downcast().ok()
    }

    /// Returns the decoded value of the dirty metadata block, if the block has the type `T`.
    fn of_type<T: Send + Sync + 'static>(self) -> Option<Arc<T>> {
        self.value.downcast().ok()
    }
}

impl Store {
    /// Returns the changed value of the metadata block at `address`, if a dirty block of the type
    /// `T` exists there. Callers use this function for structures whose context (the parameters for
    /// decoding) depends on their first bytes.
    pub(crate) fn changed<T: Send + Sync + 'static>(&self, address: Address) -> Option<Arc<T>> {
        self.caches.dirty_blocks.get(address)?.of_type()
    }
}

impl DirtyBlocks {
    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Returns the total size in bytes of all dirty metadata blocks in the file.
    pub(crate) fn bytes(&self) -> u64 {
        to_u64(self.bytes.load(Ordering::Acquire))
    }

    /// Returns the dirty metadata block at `address`, which stays dirty.
    pub(crate) fn get(&self, address: Address) -> Option<DirtyBlock> {
        if self.is_empty() { None } else { self.blocks.read().get(&address).cloned() }
    }

    /// Adds a dirty metadata block to the cache, or replaces the dirty block at `address`.
    pub(crate) fn insert(&self, address: Address, block: DirtyBlock) {
        let mut blocks = self.blocks.write();
        self.bytes.fetch_add(block.bytes, Ordering::AcqRel);
        if let Some(before) = blocks.insert(address, block) {
            self.bytes.fetch_sub(before.bytes, Ordering::AcqRel);
        }
        self.count.store(blocks.len(), Ordering::Release);
    }

    /// Removes the dirty metadata block at `address` from the cache and returns the block.
    pub(crate) fn remove(&self, address: Address) -> Option<DirtyBlock> {
        if self.is_empty() {
            return None;
        }
        let mut blocks = self.blocks.write();
        let removed = blocks.remove(&address)?;
        self.bytes.fetch_sub(removed.bytes, Ordering::AcqRel);
        self.count.store(blocks.len(), Ordering::Release);
        Some(removed)
    }

    /// Returns the addresses of all dirty metadata blocks in ascending order.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<Address> = self.blocks.read().keys().copied().collect();
        addresses.sort_unstable();
        addresses
    }
}
