//! The storage that a dataset occupies.

use hyperslab_engine::ops::datasets::datatype_length;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::{product, to_u64};

use super::Dataset;
use crate::{Layout, SpaceStatus};

impl Dataset {
    /// Returns the number of bytes that the dataset's raw data occupies in the file: encoded
    /// chunks, without the chunk index. External and virtual data count 0. Chunks of the chunk
    /// index that lie outside the extent count too, as in libhdf5.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").write(&[1_i32, 2, 3])?;
    /// assert_eq!(dataset.storage_size()?, 12);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the chunk index is damaged.
    pub fn storage_size(&self) -> Result<u64> {
        match self.layout() {
            Layout::Compact | Layout::Contiguous { address: Some(_) } => self.open()?.byte_count(),
            Layout::Chunked(_) => self.chunks().stored_bytes()?.ok_or_else(|| self.too_many_bytes()),
            Layout::Structured => {
                let mut sum = Some(0_u64);
                self.sparse()
                    .for_each_stored_size(&mut |size| sum = sum.and_then(|sum| sum.checked_add(size)))?;
                sum.ok_or_else(|| self.too_many_bytes())
            }
            _ => Ok(0),
        }
    }

    /// Returns the size in bytes of the Datatype message of the dataset (HDF5 File Format
    /// Specification, IV.A.2.d), without padding. The version of the message is that in the file,
    /// or a newer version if that version cannot represent arrays.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[4]).create()?;
    /// assert_eq!(dataset.datatype_description_size()?, 12);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns I/O errors, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the object
    /// header is damaged.
    pub fn datatype_description_size(&self) -> Result<u64> {
        let length = datatype_length(&self.object.file().container, &*self.object.header()?)?;
        Ok(to_u64(length))
    }

    /// Returns the share of the dataset's elements for which space is allocated in the file.
    /// External and virtual data count as allocated.
    ///
    /// ```
    /// use hyperslab::SpaceStatus;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[4]).chunks(&[2]).create()?;
    /// assert_eq!(dataset.space_status()?, SpaceStatus::NotAllocated);
    /// dataset.write(..2, &[1, 2])?;
    /// assert_eq!(dataset.space_status()?, SpaceStatus::PartAllocated);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the chunk index is damaged.
    pub fn space_status(&self) -> Result<SpaceStatus> {
        if self.size()? == 0 {
            return Ok(SpaceStatus::NotAllocated);
        }
        match self.layout() {
            Layout::Contiguous { address: None } if self.external_files().is_empty() => {
                Ok(SpaceStatus::NotAllocated)
            }
            Layout::Chunked(chunking) => {
                let mut stored = 0_u64;
                self.chunks().for_each(&mut |_| stored += 1)?;
                Ok(self.status_of(stored, &chunking.shape))
            }
            Layout::Structured => {
                let mut stored = 0_u64;
                self.sparse().for_each_stored_size(&mut |_| stored += 1)?;
                let chunking = self.sparse().chunking();
                let chunking =
                    chunking.ok_or_else(|| Error::internal("dataset", "structured chunks have a shape"))?;
                Ok(self.status_of(stored, &chunking.shape))
            }
            _ => Ok(SpaceStatus::Allocated),
        }
    }

    /// Returns the share of a dataset's elements for which space is allocated. `stored` is the
    /// number of stored chunks, and `shape` is the shape of a chunk.
    fn status_of(&self, stored: u64, shape: &[u64]) -> SpaceStatus {
        let dataspace = self.dataspace();
        let chunks = dataspace.dims().iter().zip(shape);
        let chunks = chunks.map(|(size, chunk)| size.div_ceil((*chunk).max(1)));
        // If the number of chunks exceeds 64 bits, some chunks are certainly not stored.
        let all = product("number of chunks", chunks).ok();
        match all {
            _ if stored == 0 => SpaceStatus::NotAllocated,
            Some(all) if stored >= all => SpaceStatus::Allocated,
            _ => SpaceStatus::PartAllocated,
        }
    }

    fn too_many_bytes(&self) -> Error {
        self.context(Error::corrupt("chunk index", "sizes", "a sum of at most 64 bits", "more"))
    }
}
