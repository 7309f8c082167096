//! The conversion between array elements and chunk index entries, and caches of array blocks.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hyperslab_exact::to_usize;
use hyperslab_format::chunk_index::{
    ArrayPage, ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient,
    ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock,
};
use hyperslab_format::codec::{Address, FileParams};

use super::Entry;
use crate::error::Result;
use crate::store::{Store, at};

/// The decoder and encoder of the elements (chunk entries) of a fixed or extensible array.
#[derive(Debug)]
pub(super) struct Elements<E: Entry> {
    layout: ChunkElementLayout,
    rules: E::Rules,
    owner: Address,
}

impl<E: Entry> Elements<E> {
    /// Creates a decoder for the elements of the fixed or extensible array whose header is at
    /// `owner`.
    pub(super) fn new(
        params: FileParams,
        client: ChunkIndexClient,
        element_size: u8,
        rules: E::Rules,
        owner: Address,
    ) -> Result<Self> {
        let layout = at(E::of_array(&rules, params, client, element_size), owner)?;
        Ok(Self { layout, rules, owner })
    }

    fn is_plain(&self) -> bool {
        matches!(self.layout.form(), ChunkElementForm::Plain)
    }

    /// Decodes the chunk index entry in the array element with the number `number`. `elements`
    /// holds the bytes of the array elements. Returns `None` if the array element has no chunk.
    pub(super) fn location(&self, elements: &[u8], number: u64) -> Result<Option<E>> {
        let element = at(self.layout.get(elements, to_usize(number)?), self.owner)?;
        let is_stored = element.address.is_defined();
        Ok(is_stored.then(|| E::from_stored(&self.rules, self.is_plain(), &element)))
    }

    /// Calls `visit` with the chunk index entry in each of the consecutive array elements whose
    /// bytes `elements` holds, or with `None` for an array element that has no chunk.
    #[inline]
    fn for_each(
        &self,
        store: &Store,
        elements: &[u8],
        mut visit: impl FnMut(Option<E>) -> Result<()>,
    ) -> Result<()> {
        if let Some(addresses) = self.layout.addresses(elements) {
            for address in addresses {
                let element = ChunkElement { address, ..ChunkElement::UNSET };
                visit(address.is_defined().then(|| E::from_stored(&self.rules, true, &element)))?;
            }
            return Ok(());
        }
        let is_plain = self.is_plain();
        for element in self.layout.iter(elements) {
            let element = store.forgive(at(element, self.owner))?;
            let stored = element.filter(|element| element.address.is_defined());
            visit(stored.map(|element| E::from_stored(&self.rules, is_plain, &element)))?;
        }
        Ok(())
    }

    /// Encodes a chunk index entry into the array element with the number `number`. `elements`
    /// holds the bytes of the array elements. Without an entry, encodes an array element without a
    /// chunk.
    pub(super) fn put(&self, elements: &mut [u8], number: u64, location: Option<&E>) -> Result<()> {
        let element = match location {
            None => ChunkElement::UNSET,
            Some(location) => location.to_stored(&self.rules, self.is_plain())?,
        };
        Ok(self.layout.set(elements, to_usize(number)?, &element)?)
    }

    /// Returns the bytes of `count` elements of a fixed or extensible array that name no chunks.
    pub(super) fn unset(&self, count: usize) -> Vec<u8> {
        self.layout.unset(count)
    }
}

/// The result of the look-up of an element in a fixed or extensible array of chunk entries: the
/// entry of a chunk, or the next element that may have a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementLookup<E> {
    /// The entry of a chunk.
    Chunk(E),
    /// No chunk, neither in this element nor in the next ones before element `until`.
    Nothing {
        /// The next element that may have a chunk.
        until: u64,
    },
}

impl<E> ElementLookup<E> {
    /// Returns the result of a look-up in an array of chunk entries: the entry `location`, if there
    /// is one. Otherwise, the result is the number of the next array element, after the element
    /// `number`, that may have a chunk.
    ///
    /// The number of the next element fits in 64 bits, because it is at most the length of the
    /// array.
    pub(super) fn or_next(location: Option<E>, number: u64) -> Self {
        location.map_or(Self::Nothing { until: number + 1 }, Self::Chunk)
    }

    /// Returns the entry of the chunk, if the look-up in an array of chunk entries found a chunk.
    pub(super) fn chunk(self) -> Option<E> {
        match self {
            Self::Chunk(location) => Some(location),
            Self::Nothing { .. } => None,
        }
    }
}

/// The block of a fixed or extensible array that was read last, and its address. Most walks visit
/// neighbouring elements one after the other, and these elements lie in the same block.
#[derive(Debug)]
pub(super) struct LatestBlock<T> {
    block: Mutex<Option<(Address, Arc<T>)>>,
}

impl<T> LatestBlock<T> {
    pub(super) fn new() -> Self {
        Self { block: Mutex::new(None) }
    }

    /// Gets the block at `address` of a fixed or extensible array of chunk entries. Calls `load` to
    /// read the block, unless it is the block that was read last.
    pub(super) fn get(&self, address: Address, load: impl FnOnce() -> Result<Arc<T>>) -> Result<Arc<T>> {
        if let Some((kept, block)) = &*self.lock()
            && *kept == address
        {
            return Ok(Arc::clone(block));
        }
        let block = load()?;
        *self.lock() = Some((address, Arc::clone(&block)));
        Ok(block)
    }

    /// Locks the variable that holds the latest block of a fixed or extensible array. Ignores that
    /// another thread panicked while it held the lock, because the variable is always replaced as a
    /// whole.
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Address, Arc<T>)>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The only block of its kind in a fixed or extensible array, for example a data block. The block
/// is read at the first access.
#[derive(Debug)]
pub(super) struct OnceBlock<T> {
    block: OnceLock<Arc<T>>,
}

impl<T> OnceBlock<T> {
    pub(super) fn new() -> Self {
        Self { block: OnceLock::new() }
    }

    pub(super) fn get(&self, load: impl FnOnce() -> Result<Arc<T>>) -> Result<&Arc<T>> {
        if let Some(block) = self.block.get() {
            return Ok(block);
        }
        let block = load()?;
        Ok(self.block.get_or_init(|| block))
    }
}

/// The number of slots in [`BlockSlots`], the cache of blocks of a fixed or extensible array.
const SLOT_COUNT: u64 = 256;

/// Number of elements of the largest array block that a chunk index keeps in memory. This is the
/// usual number of elements in a page. No cache limit counts the memory of these blocks.
const MAX_KEPT_ELEMENTS: u64 = 1 << 10;

/// A small cache of the blocks of one fixed or extensible array, in slots that are selected by the
/// block number. A read of a single chunk finds a block here without a lock.
///
/// A slot keeps the first block that is stored in it. The cache also keeps the latest block without
/// a slot. The slots are allocated when the second block is needed. All datasets and threads share
/// the file's other cache. If another process writes the file, this cache keeps no block.
#[derive(Debug)]
pub(super) struct BlockSlots<T> {
    first: Slot<T>,
    others: OnceLock<Box<[Slot<T>]>>,
    latest: LatestBlock<T>,
}

/// A slot of the cache of array blocks, for a block of a fixed or extensible array and its address.
type Slot<T> = OnceLock<(Address, Arc<T>)>;

impl<T> BlockSlots<T> {
    pub(super) fn new() -> Self {
        Self { first: Slot::new(), others: OnceLock::new(), latest: LatestBlock::new() }
    }

    /// Gets the block with the number `number` and the address `address` of a fixed or extensible
    /// array. The block has `elements` elements. Calls `load` to read the block, unless the cache
    /// has it.
    pub(super) fn get(
        &self,
        store: &Store,
        [number, elements]: [u64; 2],
        address: Address,
        load: impl FnOnce() -> Result<Arc<T>>,
    ) -> Result<Arc<T>> {
        if elements > MAX_KEPT_ELEMENTS || store.is_swmr_reader() {
            return load();
        }
        let is_first = self.first.get().is_none_or(|(kept, _)| *kept == address);
        let others = || self.others.get_or_init(|| (0..SLOT_COUNT).map(|_| Slot::new()).collect());
        let slot = match usize::try_from(number % SLOT_COUNT) {
            Ok(slot) if !is_first => others().get(slot).unwrap_or(&self.first),
            _ => &self.first,
        };
        match slot.get() {
            Some((kept, block)) if *kept == address => Ok(Arc::clone(block)),
            Some(_) => self.latest.get(address, load),
            None => {
                let block = load()?;
                // Another thread may have filled the slot with another block in the meantime.
                let _ = slot.set((address, Arc::clone(&block)));
                Ok(block)
            }
        }
    }
}

/// The array block or page that a walk over the elements of a fixed or extensible array currently
/// reads.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The numbers of the block's elements in the array.
    numbers: Range<u64>,
    block: Option<ElementBlock>,
}

/// A block of a fixed or extensible array that holds elements: the entries of chunks.
#[derive(Debug)]
pub(super) enum ElementBlock {
    Page(Arc<ArrayPage>),
    Index(Arc<ExtensibleArrayIndexBlock>),
    Data(Arc<ExtensibleArrayDataBlock>),
}

impl ElementBlock {
    fn elements(&self) -> &[u8] {
        match self {
            Self::Page(page) => &page.elements,
            Self::Index(block) => &block.elements,
            Self::Data(block) => &block.elements,
        }
    }
}

impl Cursor {
    /// Looks up an element of a fixed or extensible array in the block that a walk currently reads.
    /// Returns `None` if this block does not hold the element.
    pub(super) fn look<E: Entry>(
        &self,
        elements: &Elements<E>,
        number: u64,
    ) -> Option<Result<ElementLookup<E>>> {
        let block = self.block.as_ref().filter(|_| self.numbers.contains(&number))?;
        let location = elements.location(block.elements(), number - self.numbers.start);
        Some(location.map(|location| ElementLookup::or_next(location, number)))
    }

    /// Calls `visit` with the entry of each element of a fixed or extensible array from the number
    /// `number` on, or with `None` for an element without a chunk: for the elements that are in the
    /// block that a walk currently reads, and for at most `most` elements.
    #[inline]
    pub(super) fn for_each<E: Entry>(
        &self,
        store: &Store,
        elements: &Elements<E>,
        [number, most]: [u64; 2],
        visit: impl FnMut(Option<E>) -> Result<()>,
    ) -> Result<()> {
        let Some(block) = self.block.as_ref().filter(|_| self.numbers.contains(&number)) else {
            return Ok(());
        };
        let size = elements.layout.size();
        let first = to_usize(number - self.numbers.start)?.checked_mul(size);
        let count = to_usize(most.min(self.numbers.end - number))?.checked_mul(size);
        let bytes = first.and_then(|first| block.elements().get(first..)?.get(..count?));
        bytes.map_or(Ok(()), |bytes| elements.for_each(store, bytes, visit))
    }

    /// Moves a walk into another block of a fixed or extensible array, and looks up an element
    /// there. `element` and `number` are the index of the element in the block and in the whole
    /// array.
    pub(super) fn enter<E: Entry>(
        &mut self,
        block: ElementBlock,
        count: u64,
        [number, element]: [u64; 2],
        elements: &Elements<E>,
    ) -> Result<ElementLookup<E>> {
        let start = number - element;
        self.numbers = start..start + count;
        let block = self.block.insert(block);
        Ok(ElementLookup::or_next(elements.location(block.elements(), element)?, number))
    }
}
