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

/// Size of the first allocation in bytes.
const MIN_ALLOCATION_BYTES: u64 = 64 << 10;

/// A writer that inserts objects without exclusive access to the file. No other code may change the
/// heap until [`finish`](Self::finish). The caller must call `finish` also after a failed
/// conversion. Concurrent reads are allowed.
#[derive(Debug)]
pub struct GlobalHeapWriter {
    params: FileParams,
    builder: Mutex<Builder>,
}

impl GlobalHeapWriter {
    /// Returns a writer that adds to the collection with the most free space first.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn new(heap: &GlobalHeap, edit: &Edit<'_>) -> Result<Self> {
        Ok(Self { params: edit.params(), builder: Mutex::new(heap.copying_builder(edit)?) })
    }

    /// Returns the widths of addresses and lengths in the file.
    pub fn params(&self) -> FileParams {
        self.params
    }

    /// Adds an object. Returns `None` if the allocated space is too small. [`fill`](Self::fill)
    /// then runs the conversion again.
    ///
    /// # Errors
    /// Returns the same errors as [`GlobalHeap::insert`].
    pub fn insert(&self, bytes: &[u8]) -> Result<Option<GlobalHeapId>> {
        self.builder.lock().insert(bytes)
    }

    /// Calls `run`, which inserts objects. If the allocated space was too small, discards the
    /// objects, enlarges the space and calls `run` again. Discards the objects also if `run` fails.
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
                heap.put_full(edit, &mut builder)?;
                return result;
            }
            // `start` never exceeds `end`.
            let allocated = before.end - before.start;
            *builder = before;
            if wanted == 0 {
                return result;
            }
            free_rest(edit, &mut builder)?;
            let double = allocated.max(wanted).checked_mul(2).ok_or_else(does_not_fit)?;
            let length = double.max(MIN_ALLOCATION_BYTES);
            builder.set_space(edit.allocate(SPACE, length)?, length)?;
        }
    }

    /// Writes the remaining collections and frees the unused allocated space.
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
