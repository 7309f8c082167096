//! Metadata blocks that were changed and are not yet bytes: a node that takes a thousand records is encoded once.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab_format::codec::{Address, Structure};
use parking_lot::RwLock;

use crate::error::Result;

/// Changed blocks by their address.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    blocks: RwLock<HashMap<Address, Block, BuildHasherDefault<Spread>>>,
    /// How many there are: readers of files that nobody writes never touch the lock.
    count: AtomicUsize,
    bytes: AtomicUsize,
}

/// Addresses are looked up for every node of a walk, and nobody gains by choosing them so that they meet: at worst
/// their own file is slow to write. One multiplication spreads them.
#[derive(Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        #[expect(clippy::cast_possible_truncation, reason = "the halves")]
        let [low, high] = [product as u64, (product >> 64) as u64];
        self.0 = low ^ high;
    }
}

/// A changed block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
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
        _ => Err(crate::Error::Misuse(format!("{}: kept as something else", T::NAME))),
    }
}

impl Block {
    /// A block of that value.
    pub(crate) fn new<T>(value: Arc<T>, context: &T::Context) -> Self
    where
        T: Structure + Send + Sync + 'static,
        T::Context: Send + Sync + 'static,
    {
        let bytes = T::size(context);
        Self { value, context: Arc::new(context.clone()), encode: encode::<T>, bytes, structure: T::NAME }
    }

    /// What it is.
    pub(crate) fn structure(&self) -> &'static str {
        self.structure
    }

    /// The bytes of the block.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        (self.encode)(&*self.value, &*self.context)
    }

    /// The value, if it is of that type and was made under that context.
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
}

impl Block {
    /// The value, if it is of that type.
    fn of_type<T: Send + Sync + 'static>(self) -> Option<Arc<T>> {
        self.value.downcast().ok()
    }
}

impl super::Store {
    /// The block at `address` if it was changed, as the value of that type that was put there: for structures whose
    /// context is not known before their first bytes are.
    pub(crate) fn changed<T: Send + Sync + 'static>(&self, address: Address) -> Option<Arc<T>> {
        self.unsaved.get(address)?.of_type()
    }
}

impl Unsaved {
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Bytes that the blocks will take in the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire) as u64
    }

    /// The block at that address, which stays changed.
    pub(crate) fn get(&self, address: Address) -> Option<Block> {
        if self.is_empty() { None } else { self.blocks.read().get(&address).cloned() }
    }

    pub(crate) fn insert(&self, address: Address, block: Block) {
        let mut blocks = self.blocks.write();
        self.bytes.fetch_add(block.bytes, Ordering::AcqRel);
        if let Some(before) = blocks.insert(address, block) {
            self.bytes.fetch_sub(before.bytes, Ordering::AcqRel);
        }
        self.count.store(blocks.len(), Ordering::Release);
    }

    pub(crate) fn remove(&self, address: Address) -> Option<Block> {
        if self.is_empty() {
            return None;
        }
        let mut blocks = self.blocks.write();
        let removed = blocks.remove(&address)?;
        self.bytes.fetch_sub(removed.bytes, Ordering::AcqRel);
        self.count.store(blocks.len(), Ordering::Release);
        Some(removed)
    }

    /// The addresses of all blocks, ascending.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<Address> = self.blocks.read().keys().copied().collect();
        addresses.sort_unstable();
        addresses
    }
}
