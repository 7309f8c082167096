//! Metadata that was decoded, kept while there is room: indexes of large groups are gone through again and again.

use std::any::Any;
use std::sync::Arc;

use hyperslab_format::codec::{Address, Structure};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::{Store, cache};
use crate::error::Result;

/// Bytes in the file of what is kept.
const KEPT_BYTES: u64 = 32 << 20;

/// Decoded blocks by their address.
#[derive(Debug)]
pub(crate) struct Decoded {
    blocks: Cache<Address, Kept, BySize>,
}

#[derive(Debug, Clone)]
struct Kept {
    value: Arc<dyn Any + Send + Sync>,
    /// What the value was decoded under. Damaged files may lead to one block in several ways.
    context: Arc<dyn Any + Send + Sync>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct BySize;

impl Weighter<Address, Kept> for BySize {
    fn weight(&self, _: &Address, kept: &Kept) -> u64 {
        kept.bytes.max(64)
    }
}

impl Decoded {
    pub(crate) fn new() -> Self {
        Self { blocks: cache(1024, KEPT_BYTES, BySize) }
    }

    /// Forgets the block at `address`, whatever it is.
    pub(super) fn forget(&self, address: Address) {
        self.blocks.remove(&address);
    }
}

impl Store {
    /// As [`get`](Self::get), but the block is decoded once and kept while there is room.
    pub fn shared<T>(&self, address: Address, context: &T::Context) -> Result<Arc<T>>
    where
        T: Structure + Send + Sync + 'static,
        T::Context: PartialEq + Send + Sync + 'static,
    {
        if let Some(block) = self.unsaved.get(address)
            && let Some(value) = block.value(context)
        {
            return Ok(value);
        }
        self.keep(address, context, T::size(context) as u64, || self.get(address, context))
    }

    /// As [`shared`](Self::shared), but the block is not kept: for those of which a walk passes many, each once.
    pub fn passing<T>(&self, address: Address, context: &T::Context) -> Result<Arc<T>>
    where
        T: Structure + Send + Sync + 'static,
        T::Context: PartialEq + Send + Sync + 'static,
    {
        match self.unsaved.get(address).and_then(|block| block.value(context)) {
            Some(value) => Ok(value),
            None => self.get(address, context).map(Arc::new),
        }
    }

    /// What `make` makes of the block of some `bytes` at `address` under that context, made once and kept while
    /// there is room.
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
        if let Some(kept) = self.decoded.blocks.get(&address)
            && kept.context.downcast_ref::<C>() == Some(context)
            && let Ok(value) = kept.value.downcast::<T>()
        {
            return Ok(value);
        }
        let value = Arc::new(make()?);
        if self.follows() {
            return Ok(value);
        }
        let kept = Kept { value: Arc::clone(&value) as _, context: Arc::new(context.clone()), bytes };
        self.decoded.blocks.insert(address, kept);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::image::image;

    #[test]
    fn what_is_kept_is_made_once_for_each_context() {
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
        // Another type at the same address takes its place.
        assert_eq!(*store.keep(Address::new(8), &2_u8, 1, || Ok(7_u64)).unwrap(), 7);
        assert_eq!((get(2).as_str(), made.get()), ("under 2", 3));
        store.decoded.forget(Address::new(8));
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
