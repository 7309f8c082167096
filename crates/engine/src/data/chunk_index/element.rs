//! From an array's element to the place of a chunk, and the blocks that were read last.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hyperslab_exact::to_usize;
use hyperslab_format::chunk_index::{
    ArrayPage, ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient,
    ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock,
};
use hyperslab_format::codec::{Address, FileParams};

use super::Entry;
use super::order::Found;
use crate::error::Result;
use crate::store::{Store, at};

/// How the elements of one array are read.
#[derive(Debug)]
pub(super) struct Elements<E: Entry> {
    layout: ChunkElementLayout,
    rules: E::Rules,
    owner: Address,
}

impl<E: Entry> Elements<E> {
    /// Elements as the header at `owner` describes them.
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

    /// What element `number` of `elements` says; `None` where there is no chunk.
    pub(super) fn location(&self, elements: &[u8], number: u64) -> Result<Option<E>> {
        let element = at(self.layout.get(elements, to_usize(number)?), self.owner)?;
        let there = element.address.is_defined();
        Ok(there.then(|| E::from_stored(&self.rules, self.is_plain(), &element)))
    }

    /// Puts a chunk, or that there is none, into element `number` of `elements`.
    pub(super) fn put(&self, elements: &mut [u8], number: u64, location: Option<&E>) -> Result<()> {
        let element = match location {
            None => ChunkElement::UNSET,
            Some(location) => location.to_stored(&self.rules, self.is_plain())?,
        };
        Ok(self.layout.set(elements, to_usize(number)?, &element)?)
    }

    /// `count` elements without chunks.
    pub(super) fn unset(&self, count: usize) -> Vec<u8> {
        self.layout.unset(count)
    }
}

/// The block read last, by where it lies: neighbours in an array are mostly asked for one after the other.
#[derive(Debug)]
pub(super) struct Latest<T> {
    block: Mutex<Option<(Address, Arc<T>)>>,
}

impl<T> Latest<T> {
    pub(super) fn new() -> Self {
        Self { block: Mutex::new(None) }
    }

    /// The block at `address`, read by `load` unless it was the last one.
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

    /// The value is replaced whole, so a panic elsewhere leaves it sound.
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Address, Arc<T>)>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The only block of its kind that an array has, read when it is first asked for.
#[derive(Debug)]
pub(super) struct Only<T> {
    block: OnceLock<Arc<T>>,
}

impl<T> Only<T> {
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

/// Places for blocks that [`Kept`] keeps.
const PLACES: u64 = 256;

/// Elements of the largest block that it keeps, as many as a page has mostly: what is kept is in nobody's budget.
const MOST_ELEMENTS: u64 = 1 << 10;

/// Some of the blocks that were read, by their numbers: who asks for one chunk here and one there comes back to them, past the
/// file's cache, which all datasets and threads share, and without any lock. Who comes first to a place stays; of the others the
/// latest is kept. There is no room for more than one before the second is asked for. Nothing is kept of a file that another
/// process writes to.
#[derive(Debug)]
pub(super) struct Kept<T> {
    first: Place<T>,
    others: OnceLock<Box<[Place<T>]>>,
    latest: Latest<T>,
}

/// Room for a block and where it lies.
type Place<T> = OnceLock<(Address, Arc<T>)>;

impl<T> Kept<T> {
    pub(super) fn new() -> Self {
        Self { first: Place::new(), others: OnceLock::new(), latest: Latest::new() }
    }

    /// The block `number` of so many elements at `address`, read by `load` unless it is there.
    pub(super) fn get(
        &self,
        store: &Store,
        [number, elements]: [u64; 2],
        address: Address,
        load: impl FnOnce() -> Result<Arc<T>>,
    ) -> Result<Arc<T>> {
        if elements > MOST_ELEMENTS || store.is_swmr_reader() {
            return load();
        }
        let is_first = self.first.get().is_none_or(|(kept, _)| *kept == address);
        let others = || self.others.get_or_init(|| (0..PLACES).map(|_| Place::new()).collect());
        let place = match usize::try_from(number % PLACES) {
            Ok(place) if !is_first => others().get(place).unwrap_or(&self.first),
            _ => &self.first,
        };
        match place.get() {
            Some((kept, block)) if *kept == address => Ok(Arc::clone(block)),
            Some(_) => self.latest.get(address, load),
            None => {
                let block = load()?;
                // Somebody else may have been faster, with another one.
                let _ = place.set((address, Arc::clone(&block)));
                Ok(block)
            }
        }
    }
}

/// The block or page that a walk stands in.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// Its elements as the array counts them.
    numbers: Range<u64>,
    block: Option<Block>,
}

/// What has elements of an array.
#[derive(Debug)]
pub(super) enum Block {
    Page(Arc<ArrayPage>),
    Index(Arc<ExtensibleArrayIndexBlock>),
    Data(Arc<ExtensibleArrayDataBlock>),
}

impl Block {
    fn elements(&self) -> &[u8] {
        match self {
            Self::Page(page) => &page.elements,
            Self::Index(block) => &block.elements,
            Self::Data(block) => &block.elements,
        }
    }
}

impl Cursor {
    /// What is in an element, if the block holds it.
    pub(super) fn look<E: Entry>(&self, elements: &Elements<E>, number: u64) -> Option<Result<Found<E>>> {
        let block = self.block.as_ref().filter(|_| self.numbers.contains(&number))?;
        let location = elements.location(block.elements(), number - self.numbers.start);
        Some(location.map(|location| Found::or_next(location, number)))
    }

    /// Goes to a block whose element `element` is that of the given number, and says what is in it.
    pub(super) fn enter<E: Entry>(
        &mut self,
        block: Block,
        count: u64,
        [number, element]: [u64; 2],
        elements: &Elements<E>,
    ) -> Result<Found<E>> {
        let start = number - element;
        self.numbers = start..start + count;
        let block = self.block.insert(block);
        Ok(Found::or_next(elements.location(block.elements(), element)?, number))
    }
}
