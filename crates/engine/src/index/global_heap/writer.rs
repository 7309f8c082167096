//! Objects into the heap from where the file cannot be changed: within conversions, which run on a block of elements
//! at a time. Addresses are set aside before; a block for which that was not enough is converted once more.

use hyperslab_format::global_heap::GlobalHeapId;
use parking_lot::Mutex;

use super::GlobalHeap;
use super::builder::Builder;
use super::edit::{SPACE, free_rest};
use crate::error::Result;
use crate::store::Edit;
use hyperslab_format::codec::FileParams;

/// Bytes that are set aside at first.
const FIRST: u64 = 64 << 10;

/// Takes objects without the right to change the file. Until it is [finished](Self::finish), which must be done also
/// when a conversion fails, nothing else may change the heap; it may be read.
#[derive(Debug)]
pub struct GlobalHeapWriter {
    params: FileParams,
    builder: Mutex<Builder>,
}

impl GlobalHeapWriter {
    /// A writer that goes on where the heap has room.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) and [`Error::Io`](crate::Error::Io) of a collection with room.
    pub fn new(heap: &GlobalHeap, edit: &Edit<'_>) -> Result<Self> {
        Ok(Self { params: edit.params(), builder: Mutex::new(heap.copying_builder(edit)?) })
    }

    /// Widths of addresses and lengths of the file.
    pub fn params(&self) -> FileParams {
        self.params
    }

    /// Adds an object; `None` if nothing is set aside for it, which lets [`fill`](Self::fill) try again.
    ///
    /// # Errors
    /// As [`GlobalHeap::insert`].
    pub fn insert(&self, bytes: &[u8]) -> Result<Option<GlobalHeapId>> {
        self.builder.lock().insert(bytes)
    }

    /// Runs what inserts objects, again as long as there is too little room for them; what was inserted before it
    /// failed is gone then.
    ///
    /// # Errors
    /// The errors of `run` that do not come from a lack of room; as [`Edit::allocate`].
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
            let asked = before.end.saturating_sub(before.start);
            *builder = before;
            if wanted == 0 {
                return result;
            }
            free_rest(edit, &mut builder)?;
            let length = asked.saturating_mul(2).max(wanted.saturating_mul(2)).max(FIRST);
            builder.start = edit.allocate(SPACE, length)?.raw();
            builder.end = builder.start.saturating_add(length);
        }
    }

    /// Puts the last collection into the file, and gives back what was set aside.
    ///
    /// # Errors
    /// As [`Edit::free`].
    pub fn finish(&self, heap: &GlobalHeap, edit: &mut Edit<'_>) -> Result<()> {
        let mut builder = self.builder.lock();
        free_rest(edit, &mut builder)?;
        heap.put_all(edit, &mut builder);
        Ok(())
    }
}
