//! Cached values of a file. A change of the file makes them out of date, and the next use reads
//! them again.

use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::ops::OpenFile;
use parking_lot::RwLock;

/// A cache of one value from a file. The file's generation (a number that each change of the file
/// increases) shows whether the value is still current.
pub(crate) struct Known<T> {
    generation: u64,
    /// `None` before the first read.
    value: Option<Arc<T>>,
}

impl<T> Known<T> {
    /// Returns a cache with the value `value`, which was read after the last change of the file.
    pub(crate) fn new(file: &OpenFile, value: Arc<T>) -> Arc<RwLock<Self>> {
        let generation = file.container.store.generation();
        Arc::new(RwLock::new(Self { generation, value: Some(value) }))
    }

    /// Returns a cache without a value. The first use of the cache reads the value from the file.
    pub(crate) fn nothing() -> Arc<RwLock<Self>> {
        Arc::new(RwLock::new(Self { generation: 0, value: None }))
    }

    /// Removes the cached value of a file, so that the next use of the cache reads the value again.
    pub(crate) fn forget(this: &RwLock<Self>) {
        this.write().value = None;
    }

    /// Returns the cached value of a file, even if the file has changed since the value was read.
    /// Returns `None` if the cache is empty or locked.
    pub(crate) fn last(this: &RwLock<Self>) -> Option<Arc<T>> {
        this.try_read().and_then(|known| known.value.clone())
    }

    /// Returns the cached value of a file. Calls `read` for a new value if the file has changed
    /// since the last read.
    pub(crate) fn get(
        this: &RwLock<Self>,
        file: &OpenFile,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let _reading = file.reading()?;
        Self::get_held(this, file, read)
    }

    /// Returns the cached value of a file as [`get`](Self::get) does. The caller already holds
    /// shared access to the structure of the file.
    pub(crate) fn get_held(
        this: &RwLock<Self>,
        file: &OpenFile,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let generation = file.container.store.generation();
        {
            let known = this.read();
            if let Some(value) = &known.value
                && known.generation == generation
            {
                return Ok(Arc::clone(value));
            }
        }
        let value = Arc::new(read()?);
        *this.write() = Self { generation, value: Some(Arc::clone(&value)) };
        Ok(value)
    }
}
