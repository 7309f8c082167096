//! How much room a dataset has.

use hyperslab_engine::Result;
use hyperslab_engine::ops::datasets::datatype_length;

use super::Dataset;
use crate::{Layout, SpaceStatus};

impl Dataset {
    /// Bytes that the elements take in the file, without what describes them.
    ///
    /// # Errors
    /// If the chunk index is damaged.
    pub fn storage_size(&self) -> Result<u64> {
        match self.layout() {
            Layout::Compact | Layout::Contiguous { address: Some(_) } => self.open()?.byte_count(),
            Layout::Chunked(_) => {
                let mut sum = 0_u64;
                self.chunks().for_each(&mut |chunk| sum = sum.saturating_add(chunk.size))?;
                Ok(sum)
            }
            Layout::Structured => {
                let mut sum = 0_u64;
                self.sparse().for_each_place(&mut |size| sum = sum.saturating_add(size))?;
                Ok(sum)
            }
            _ => Ok(0),
        }
    }

    /// Bytes that describe the type of the elements: those of the datatype message (section IV.A.2.d of the
    /// specification) without what fills it up, in the version that the file has, or the next that has room for arrays.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[4]).create()?;
    /// assert_eq!(dataset.datatype_description_size()?, 12);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the header cannot be read again.
    pub fn datatype_description_size(&self) -> Result<u64> {
        let length = datatype_length(&self.object.file().container, &*self.object.header()?)?;
        Ok(u64::try_from(length).unwrap_or(u64::MAX))
    }

    /// How much of the room for the elements is allocated. What other files hold counts as allocated.
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
    /// If the chunk index is damaged.
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
                self.chunks().for_each(&mut |_| stored = stored.saturating_add(1))?;
                Ok(self.status_of(stored, &chunking.shape))
            }
            Layout::Structured => {
                let mut stored = 0_u64;
                self.sparse().for_each_place(&mut |_| stored = stored.saturating_add(1))?;
                let shape = self.sparse().chunking().map(|chunking| chunking.shape).unwrap_or_default();
                Ok(self.status_of(stored, &shape))
            }
            _ => Ok(SpaceStatus::Allocated),
        }
    }

    /// With so many chunks of that shape stored.
    fn status_of(&self, stored: u64, shape: &[u64]) -> SpaceStatus {
        let dataspace = self.dataspace();
        let chunks = dataspace.dims().iter().zip(shape);
        let chunks = chunks.map(|(size, chunk)| size.div_ceil((*chunk).max(1)));
        match chunks.fold(1_u64, u64::saturating_mul) {
            _ if stored == 0 => SpaceStatus::NotAllocated,
            all if stored < all => SpaceStatus::PartAllocated,
            _ => SpaceStatus::Allocated,
        }
    }
}
