//! Changes of chunk indexes that are fixed or extensible arrays. Each chunk has a number, and all
//! changed elements of one block are changed together.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_format::chunk_index::{
    ArrayPage, ArrayPageContext, ChunkElementLayout, ChunkIndexClient, ExtensibleArrayBlockContext,
    ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock, FixedArrayDataBlock, FixedArrayLayout,
};
use hyperslab_format::codec::{Address, FileParams};
use smallvec::SmallVec;

use super::super::element::Elements;
use super::super::order::ArrayOrder;
use super::super::{AtChunk, ChunkBox, Entry, Note};
use super::IndexEdit;
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

/// A trait of editors of chunk indexes that are arrays: fixed arrays and extensible arrays.
pub(super) trait ChunkArray<E: Entry>: Send + Sync + fmt::Debug {
    /// Returns the encoder of the elements of a fixed or extensible array of chunk entries, or
    /// `None` while the array does not exist.
    fn elements(&self) -> Option<&Elements<E>>;

    /// Returns the address of the header of a fixed or extensible array of chunk entries. The
    /// address is undefined while the array does not exist.
    fn address(&self) -> Address;

    /// Finds the block of a fixed or extensible array that holds the array element `number`.
    fn find(&self, store: &Store, number: u64) -> Result<Lookup>;

    /// Returns the block of a fixed or extensible array that holds the array element `number`.
    /// Creates missing blocks.
    fn make(&mut self, edit: &mut Edit<'_>, number: u64) -> Result<ArrayBlock>;

    /// Writes the header of a fixed or extensible array of chunk entries if the header has changed.
    /// `set` is the largest number among the array elements that were set.
    fn save(&mut self, edit: &mut Edit<'_>, set: Option<u64>);

    /// Calls `visit` for each stored chunk in a box of chunk coordinates, from an array of chunk
    /// entries.
    fn for_each(
        &self,
        store: &Store,
        order: &ArrayOrder,
        chunks: &ChunkBox,
        visit: &mut AtChunk<'_, E>,
    ) -> Result<()>;

    /// Frees all file blocks of a fixed or extensible array of chunk entries.
    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()>;
}

/// The result of the search for the array block that holds an array element (a chunk entry): the
/// block, or the next element that may have a block.
#[derive(Debug)]
pub(super) enum Lookup {
    /// The block of the element.
    ArrayBlock(ArrayBlock),
    /// No block, neither for this element nor for the next ones before element `until`.
    Nothing {
        /// The next element that may have a block.
        until: u64,
    },
}

impl Lookup {
    /// Returns the result of a look-up that found no array block for the array element `number`.
    /// The result names the next element, which may have a block.
    ///
    /// The number of the next element fits in 64 bits, because it is at most the length of the
    /// array.
    pub(super) fn nothing_at(number: u64) -> Self {
        Self::Nothing { until: number + 1 }
    }
}

/// A block of a fixed or extensible array that holds elements: the entries of chunks.
#[derive(Debug, Clone)]
pub(super) struct ArrayBlock {
    pub(super) address: Address,
    pub(super) form: BlockForm,
    /// The numbers of the elements in the array.
    pub(super) numbers: Range<u64>,
}

/// The kind of an array block of a chunk index that holds array elements: a page, a data block or
/// an index block.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockForm {
    Page(ArrayPageContext),
    Fixed(FixedArrayLayout),
    Index(ExtensibleArrayBlockContext),
    Data(ExtensibleArrayBlockContext),
}

impl ArrayBlock {
    /// Calls `look` with the bytes of the elements of an array block in a chunk index.
    fn read<R>(&self, store: &Store, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        Ok(match &self.form {
            BlockForm::Page(context) => {
                let page: Arc<ArrayPage> = store.shared(self.address, context)?;
                look(&page.elements)
            }
            BlockForm::Fixed(context) => {
                let block: Arc<FixedArrayDataBlock> = store.shared(self.address, context)?;
                look(&block.elements)
            }
            BlockForm::Index(context) => {
                let block: Arc<ExtensibleArrayIndexBlock> = store.shared(self.address, context)?;
                look(&block.elements)
            }
            BlockForm::Data(context) => {
                let block: Arc<ExtensibleArrayDataBlock> = store.shared(self.address, context)?;
                look(&block.elements)
            }
        })
    }

    /// Calls `change` with the bytes of the elements of an array block in a chunk index, and stores
    /// the changed block.
    fn modify<R>(&self, edit: &mut Edit<'_>, change: impl FnOnce(&mut [u8]) -> R) -> Result<R> {
        match &self.form {
            BlockForm::Page(context) => {
                edit.modify(self.address, context, |page: &mut ArrayPage| change(&mut page.elements))
            }
            BlockForm::Fixed(context) => {
                edit.modify(self.address, context, |block: &mut FixedArrayDataBlock| {
                    change(&mut block.elements)
                })
            }
            BlockForm::Index(context) => {
                edit.modify(self.address, context, |block: &mut ExtensibleArrayIndexBlock| {
                    change(&mut block.elements)
                })
            }
            BlockForm::Data(context) => {
                edit.modify(self.address, context, |block: &mut ExtensibleArrayDataBlock| {
                    change(&mut block.elements)
                })
            }
        }
    }

    fn element(&self, number: u64) -> u64 {
        number - self.numbers.start
    }
}

/// Creates the error that a chunk is beyond the range of a fixed or extensible array, because its
/// element number does not fit in 64 bits.
fn beyond(scaled: &[u64]) -> Error {
    Error::Misuse(format!("the chunk {scaled:?} is outside the range that the chunk index can hold"))
}

fn no_array() -> Error {
    Error::internal("array of chunks", "an array with a block has elements")
}

/// Returns two values for the header of a new fixed or extensible array of chunk entries: the
/// client ID (the type of the entries) and the element size in bytes.
pub(super) fn new_elements<E: Entry>(params: FileParams, rules: &E::Rules) -> Result<(ChunkIndexClient, u8)> {
    let size = ChunkElementLayout::new(params, E::form(rules)).size();
    let invariant = "an element has less than 256 bytes";
    let size = u8::try_from(size).map_err(|_| Error::internal("array of chunks", invariant))?;
    Ok((E::client(rules), size))
}

/// An editor of a fixed or extensible array of chunk entries. The editor also maps chunk
/// coordinates to element numbers.
#[derive(Debug)]
pub(super) struct ArrayEdit<A> {
    pub(super) order: ArrayOrder,
    pub(super) array: A,
}

impl<A> ArrayEdit<A> {
    /// Fills elements of a fixed or extensible array with chunk entries, or replaces the entries in
    /// these elements. The given entries ascend by their element numbers.
    fn fill<E: Entry>(&mut self, edit: &mut Edit<'_>, mut chunks: &[(u64, &E)]) -> Result<()>
    where
        A: ChunkArray<E>,
    {
        let mut last = None;
        let mut filled = Ok(());
        while let (Ok(()), Some((number, _))) = (&filled, chunks.first()) {
            filled = self.array.make(edit, *number).and_then(|block| {
                let elements = self.array.elements().ok_or_else(no_array)?;
                let count = chunks.partition_point(|(number, _)| *number < block.numbers.end);
                let (inside, after) = chunks.split_at_checked(count.max(1)).unwrap_or((chunks, &[]));
                block.modify(edit, |bytes| {
                    for (number, location) in inside {
                        elements.put(bytes, block.element(*number), Some(location))?;
                        last = last.max(Some(*number));
                    }
                    chunks = after;
                    Ok(())
                })?
            });
        }
        self.array.save(edit, last);
        filled
    }
}

impl<E: Entry, A: ChunkArray<E>> IndexEdit<E> for ArrayEdit<A> {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        let Some(number) = self.order.number(scaled) else { return Ok(None) };
        let (Lookup::ArrayBlock(block), Some(elements)) =
            (self.array.find(store, number)?, self.array.elements())
        else {
            return Ok(None);
        };
        block.read(store, |bytes| elements.location(bytes, block.element(number)))?
    }

    fn is_empty(&self) -> bool {
        !self.array.address().is_defined()
    }

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, E)]) -> Result<bool> {
        let Some(elements) = self.array.elements() else { return Ok(true) };
        // No array has an element whose number exceeds 64 bits.
        let mut numbers = chunks.iter().filter_map(|(scaled, _)| self.order.number(scaled)).peekable();
        while let Some(number) = numbers.next() {
            let block = match self.array.find(store, number)? {
                Lookup::ArrayBlock(block) => block,
                Lookup::Nothing { until } => {
                    while numbers.next_if(|next| (number..until).contains(next)).is_some() {}
                    continue;
                }
            };
            let none = block.read(store, |bytes| {
                let mut next = Some(number);
                while let Some(number) = next {
                    if elements.location(bytes, block.element(number))?.is_some() {
                        return Ok(false);
                    }
                    next = numbers.next_if(|number| block.numbers.contains(number));
                }
                Ok::<_, Error>(true)
            })??;
            if !none {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn set(&mut self, edit: &mut Edit<'_>, scaled: &[u64], location: &E) -> Result<Option<E>> {
        let number = self.order.number(scaled).ok_or_else(|| beyond(scaled))?;
        let made = self.array.make(edit, number);
        let set = made.and_then(|block| {
            let elements = self.array.elements().ok_or_else(no_array)?;
            let element = block.element(number);
            block.modify(edit, |bytes| {
                let before = elements.location(bytes, element)?;
                elements.put(bytes, element, Some(location))?;
                Ok(before)
            })?
        });
        self.array.save(edit, set.is_ok().then_some(number));
        set
    }

    fn extend(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, E)]) -> Result<()> {
        // Appends of single chunks are frequent.
        let mut numbered = SmallVec::<[(u64, &E); 1]>::with_capacity(chunks.len());
        for (scaled, location) in chunks {
            numbered.push((self.order.number(scaled).ok_or_else(|| beyond(scaled))?, location));
        }
        if !numbered.is_sorted_by_key(|(number, _)| *number) {
            // If the unlimited dimension is not the first one, the order in the array differs from
            // C order.
            numbered.sort_by_key(|(number, _)| *number);
        }
        self.fill(edit, &numbered)
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<E>> {
        let Some(number) = self.order.number(scaled) else { return Ok(None) };
        let (Lookup::ArrayBlock(block), Some(elements)) =
            (self.array.find(edit.store(), number)?, self.array.elements())
        else {
            return Ok(None);
        };
        let element = block.element(number);
        let before = block.read(edit.store(), |bytes| elements.location(bytes, element))??;
        if before.is_some() {
            block.modify(edit, |bytes| elements.put(bytes, element, None))??;
        }
        Ok(before)
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        self.array.for_each(store, &self.order, chunks, visit)
    }

    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.array.free(edit)
    }

    fn note(&self) -> Note<E> {
        Note::Index(self.array.address())
    }
}
