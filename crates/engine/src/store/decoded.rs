//! A cache of decoded metadata blocks. Programs read some blocks often, such as the indexes of
//! large groups.

use std::any::Any;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::Store;
use super::sharded_cache::cache;
use crate::error::Result;

/// The limit in bytes of the cache of decoded metadata blocks. The limit counts the size of the
/// blocks in the file.
const MAX_KEPT_BYTES: u64 = 32 << 20;

/// A cache of decoded metadata blocks by their addresses.
#[derive(Debug)]
pub(crate) struct Decoded {
    blocks: Cache<Address, DecodedBlock, BySize>,
}

#[derive(Debug, Clone)]
struct DecodedBlock {
    value: Arc<dyn Any + Send + Sync>,
    /// The context of the decoding. Damaged files may lead to one block under several contexts.
    context: Arc<dyn Any + Send + Sync>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct BySize;

impl Weighter<Address, DecodedBlock> for BySize {
    fn weight(&self, _: &Address, block: &DecodedBlock) -> u64 {
        block.bytes.max(64)
    }
}

impl Decoded {
    /// Creates an empty cache of decoded metadata blocks.
    pub(crate) fn new() -> Self {
        Self { blocks: cache(1024, MAX_KEPT_BYTES, BySize) }
    }

    /// Removes the decoded metadata block at `address`, of any type, from the cache.
    pub(super) fn remove(&self, address: Address) {
        self.blocks.remove(&address);
    }
}

impl Store {
    /// Returns a shared reference to the decoded metadata block at `address` in the cache. If the
    /// cache lacks the block, reads and decodes it as [`get`](Self::get) does, and adds it to the
    /// cache.
    ///
    /// # Errors
    /// Returns the same errors as [`get`](Self::get).
    pub fn shared<T>(&self, address: Address, context: &T::Context) -> Result<Arc<T>>
    where
        T: Structure + Send + Sync + 'static,
        T::Context: PartialEq + Send + Sync + 'static,
    {
        if let Some(block) = self.caches.dirty_blocks.get(address)
            && let Some(value) = block.value(context)
        {
            return Ok(value);
        }
        self.keep(address, context, to_u64(T::size(context)), || self.get(address, context))
    }

    /// Returns the decoded metadata block at `address` like [`shared`](Self::shared), but does not
    /// add the block to the cache. Callers use this function for blocks that a walk visits once.
    ///
    /// # Errors
    /// Returns the same errors as [`get`](Self::get).
    pub fn shared_once<T>(&self, address: Address, context: &T::Context) -> Result<Arc<T>>
    where
        T: Structure + Send + Sync + 'static,
        T::Context: PartialEq + Send + Sync + 'static,
    {
        match self.caches.dirty_blocks.get(address).and_then(|block| block.value(context)) {
            Some(value) => Ok(value),
            None => self.get(address, context).map(Arc::new),
        }
    }

    /// Returns the value that the cache of decoded blocks keeps for `address` and `context`. If the
    /// cache has no such value, calls `make`, and adds the returned value to the cache. `bytes` is
    /// the size of the block in the file.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn keep<T, C>(
        &self,
        address: Address,
        context: &C,
        bytes: u64,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>>
    where
        T: Send + Sync + 'static,
        C: Clone + PartialEq + Send + Sync + 'static,
    {
        if let Some(kept) = self.caches.decoded.blocks.get(&address)
            && kept.context.downcast_ref::<C>() == Some(context)
            && let Ok(value) = kept.value.downcast::<T>()
        {
            return Ok(value);
        }
        let value = Arc::new(make()?);
        if self.is_swmr_reader() {
            return Ok(value);
        }
        let block =
            DecodedBlock { value: Arc::clone(&value) as _, context: Arc::new(context.clone()), bytes };
        self.caches.decoded.blocks.insert(address, block);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::image::image;

    #[test]
    fn a_kept_value_is_made_once_for_each_context() {
        let store = image(&[]);
        let made = std::cell::Cell::new(0);
        let get = |context: u8| {
            let make = || {
                made.set(made.get() + 1);
                Ok(format!("under {context}"))
            };
            store.keep::<String, u8>(Address::new(8), &context, 10, make).unwrap()
        };
        assert_eq!((get(1).as_str(), get(1).as_str(), made.get()), ("under 1", "under 1", 1));
        assert_eq!((get(2).as_str(), made.get()), ("under 2", 2));
        // A value of another type replaces the value at the same address.
        assert_eq!(*store.keep(Address::new(8), &2_u8, 1, || Ok(7_u64)).unwrap(), 7);
        assert_eq!((get(2).as_str(), made.get()), ("under 2", 3));
        store.caches.decoded.remove(Address::new(8));
        assert_eq!((get(2).as_str(), made.get()), ("under 2", 4));
    }

    #[test]
    fn an_error_is_not_kept() {
        let store = image(&[]);
        let fail = || Err(crate::Error::Misuse("no".into()));
        assert!(store.keep::<u8, ()>(Address::new(8), &(), 1, fail).is_err());
        assert_eq!(*store.keep::<u8, ()>(Address::new(8), &(), 1, || Ok(3)).unwrap(), 3);
    }
}
