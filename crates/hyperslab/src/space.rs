//! The space of a file: its length, its end, and free bytes.

use hyperslab_engine::{Error, LibverBounds, Result};

use crate::File;

impl File {
    /// Returns the number of bytes that the file has, or will have after a flush.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::File::open(path)?;
    /// assert_eq!(file.stored_length()?, std::fs::metadata(path)?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn stored_length(&self) -> Result<u64> {
        Ok(self.root().file().container.store.file_length())
    }

    /// Returns the end of allocation: the offset after the last byte that a block of the file uses.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn end_of_allocation(&self) -> Result<u64> {
        if !self.is_writable() {
            return self.stored_length();
        }
        let edit = self.root().file().edit()?;
        Ok(edit.usage().end)
    }

    /// Returns the number of free bytes, which new blocks may take. A file that is open for reading
    /// only reports none.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn free_space(&self) -> Result<u64> {
        if !self.is_writable() {
            return Ok(0);
        }
        let usage = self.root().file().edit()?.usage();
        let (structure, invariant) = ("free space", "free blocks are inside the file");
        usage.free.checked_add(usage.pending).ok_or(Error::Internal { structure, invariant })
    }

    /// Sets the versions of the library that must be able to read the structures that are written
    /// from now on.
    ///
    /// ```
    /// use hyperslab::LibverBounds;
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_libver(LibverBounds::LATEST)?;
    /// assert_eq!(file.create_group("new")?.header_info()?.version, 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading
    /// only.
    pub fn set_libver(&self, bounds: LibverBounds) -> Result<()> {
        let mut edit = self.root().file().edit()?;
        edit.set_bounds(bounds)?;
        self.root().file().finish(edit)
    }
}
