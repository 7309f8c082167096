//! The space of a file: its length, its end, and free bytes.

use hyperslab_engine::{Error, LibverBounds, Result};

use crate::datatype::convert::Conversions;
use crate::{Datatype, File};

impl File {
    /// Returns the length of the file in bytes, including changes that the next flush writes.
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

    /// Returns the number of free bytes in the file, which new blocks may take. A file that is open
    /// for reading only reports none.
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

    /// Returns a number that each change of the file increases. Returns `None` if datasets of the
    /// file have dirty data, or if another program may change the file (SWMR).
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let before = file.generation();
    /// assert_eq!(file.generation(), before);
    /// file.create_group("group")?;
    /// assert!(file.generation() > before);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn generation(&self) -> Option<u64> {
        let file = self.root().file();
        let store = &file.container.store;
        (!store.is_swmr_reader() && !file.is_dirty(None)).then(|| store.generation())
    }

    /// Converts elements of the datatype `memory` to the stored form of `datatype`, and returns
    /// them. Stores their variable-length data in this file. The source heap of `conversions`
    /// contains this data in memory.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hyperslab::datatype::convert::{Conversions, VariableArena, VariableSink};
    /// use hyperslab::{CharacterSet, Datatype, Ix1};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let (text, arena, mut value) = (Datatype::variable_string(CharacterSet::Utf8, 8), VariableArena::default(), [0; 16]);
    /// arena.store(b"none", 4, &mut value)?;
    /// let conversions = Conversions::default().with_source_heap(Arc::new(arena));
    /// let fill = file.store_elements(&text, &text, &value, &conversions)?;
    /// let names = file.new_dataset("names").datatype(text).shape(&[2]).fill_stored(&fill).create()?;
    /// assert_eq!(names.read_strings::<Ix1>(..)?.to_vec(), ["none", "none"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if there is no conversion, or if the
    /// file is open for reading only.
    pub fn store_elements(
        &self,
        memory: &Datatype,
        datatype: &Datatype,
        bytes: &[u8],
        conversions: &Conversions,
    ) -> Result<Vec<u8>> {
        let file = self.root().file();
        let mut edit = file.edit()?;
        let stored = file.store_converted(&mut edit, conversions, (memory, datatype), bytes)?;
        file.finish(edit)?;
        Ok(stored)
    }

    /// Sets the versions of the HDF5 library that must be able to read the structures that later
    /// operations write to the file.
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
