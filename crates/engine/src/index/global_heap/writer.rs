//! Insertion of objects during conversions, which cannot change the file. The space for objects is
//! allocated before each block of elements is converted. If the space is too small, it is enlarged
//! and the block is converted again.

use hyperslab_format::codec::FileParams;
use hyperslab_format::global_heap::GlobalHeapId;
use parking_lot::Mutex;

use super::GlobalHeap;
use super::builder::{Builder, does_not_fit};
use super::edit::{SPACE, free_rest};
use crate::error::Result;
use crate::store::Edit;

/// Size of the first allocation of a global heap writer in bytes.
const MIN_ALLOCATION_BYTES: u64 = 64 << 10;

/// Number of conversions for which a global heap writer allocates file space together. The writer
/// expects that each conversion needs as much space as the previous one.
const ALLOCATED_CONVERSIONS: u64 = 4;

/// A writer that inserts objects into the global heap without exclusive access to the file. Other
/// threads may read at the same time. No other code may change the heap before
/// [`finish`](Self::finish), which the caller must also call after a failed conversion.
#[derive(Debug)]
pub struct GlobalHeapWriter {
    params: FileParams,
    builder: Mutex<Builder>,
    /// Size in bytes of the collections that the last conversion created.
    last_bytes: Mutex<u64>,
}

impl GlobalHeapWriter {
    /// Creates a global heap writer that first adds objects to the collection with the most free
    /// space.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn new(heap: &GlobalHeap, edit: &Edit<'_>) -> Result<Self> {
        let builder = Mutex::new(heap.copying_builder(edit)?);
        Ok(Self { params: edit.params(), builder, last_bytes: Mutex::new(0) })
    }

    /// Returns the widths of addresses and lengths in the file of the global heap writer.
    pub fn params(&self) -> FileParams {
        self.params
    }

    /// Adds an object to the global heap with this writer, and returns its ID. If the allocated
    /// space is too small, returns `None`; [`fill`](Self::fill) then repeats the conversion.
    ///
    /// # Errors
    /// Returns the same errors as [`GlobalHeap::insert`].
    pub fn insert(&self, bytes: &[u8]) -> Result<Option<GlobalHeapId>> {
        self.builder.lock().insert(bytes)
    }

    /// Calls `run`, which inserts objects into the global heap. If the allocated file space was too
    /// small, discards the objects, enlarges the space and calls `run` again. If `run` fails, also
    /// discards the objects.
    ///
    /// Before the call, allocates as much space as the last `run` used, so that most conversions
    /// run once.
    ///
    /// # Errors
    /// Returns the errors of `run`, except after an insertion into too little space, and the errors
    /// of
    /// [`Edit::allocate`].
    pub fn fill<R>(
        &self,
        heap: &GlobalHeap,
        edit: &mut Edit<'_>,
        mut run: impl FnMut() -> Result<R>,
    ) -> Result<R> {
        self.prepare(edit)?;
        loop {
            let before = {
                let mut builder = self.builder.lock();
                builder.wanted = 0;
                builder.clone()
            };
            let result = run();
            let mut builder = self.builder.lock();
            let wanted = std::mem::take(&mut builder.wanted);
            if result.is_ok() && wanted == 0 {
                // Insertions only increase `written`.
                *self.last_bytes.lock() = builder.written - before.written;
                heap.put_full(edit, &mut builder)?;
                return result;
            }
            // `start` never exceeds `end`.
            let allocated = before.end - before.start;
            *builder = before;
            if wanted == 0 {
                return result;
            }
            let double = allocated.max(wanted).checked_mul(2).ok_or_else(does_not_fit)?;
            replace_space(edit, &mut builder, double.max(MIN_ALLOCATION_BYTES))?;
        }
    }

    /// Allocates file space for the global heap objects of the next conversions. Does nothing if
    /// enough space is still allocated.
    fn prepare(&self, edit: &mut Edit<'_>) -> Result<()> {
        let last = *self.last_bytes.lock();
        let mut builder = self.builder.lock();
        let likely = last.checked_add(last / 8).ok_or_else(does_not_fit)?;
        // `start` never exceeds `end`.
        if likely <= builder.end - builder.start {
            return Ok(());
        }
        let length = last.checked_mul(ALLOCATED_CONVERSIONS).ok_or_else(does_not_fit)?;
        replace_space(edit, &mut builder, length.max(MIN_ALLOCATION_BYTES))
    }

    /// Writes the remaining new global heap collections of the writer and frees the unused
    /// allocated space.
    ///
    /// # Errors
    /// Returns the errors of [`Edit::free`].
    pub fn finish(&self, heap: &GlobalHeap, edit: &mut Edit<'_>) -> Result<()> {
        let mut builder = self.builder.lock();
        free_rest(edit, &mut builder)?;
        heap.put_all(edit, &mut builder);
        Ok(())
    }
}

/// Frees the unused file space of a builder of global heap collections, and allocates `length` new
/// bytes.
fn replace_space(edit: &mut Edit<'_>, builder: &mut Builder, length: u64) -> Result<()> {
    free_rest(edit, builder)?;
    builder.set_space(edit.allocate(SPACE, length)?, length)
}
