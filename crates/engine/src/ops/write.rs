//! Writes of elements, and changes of a dataset's shape. All writes of raw data enter here.
//!
//! Functions without an [`Edit`] argument take the right to change the file themselves, and hold it
//! briefly.

use std::sync::Arc;

use super::OpenFile;
use super::dataset_access::DatasetAccess;
use crate::data::structured::{StructuredWriter, StructuredWriting};
use crate::data::transfer::WriteSource;
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::store::Edit;
use hyperslab_dataspace::Selection;
use hyperslab_format::codec::Address;
use hyperslab_format::superblock::SuperblockVersion;

/// The newest version of the superblock that HDF5 1.8 can read.
const OLD_SUPERBLOCK: u8 = 2;

/// The address of the dataset that a write changes, and whether the dataset has its own elements or
/// is virtual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTo<'a> {
    /// A dataset with elements of its own.
    Own(Address),
    /// A virtual dataset: its elements go to its source datasets. The second part is the access of
    /// the program to the dataset.
    Virtual(Address, Option<&'a Arc<DatasetAccess>>),
}

impl OpenFile {
    /// Writes the selected elements of a dataset from a write source. Locks the file exclusively
    /// only while chunks are stored.
    ///
    /// # Errors
    /// As [`write_elements_with`](Self::write_elements_with).
    pub fn write_elements(
        self: &Arc<Self>,
        to: WriteTo<'_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let WriteTo::Own(dataset) = to else {
            let mut edit = self.edit_deferred()?;
            self.write_elements_with(&mut edit, to, selection, from)?;
            return self.finish(edit);
        };
        let Some((done, bound)) = self.write_chunks_concurrently(dataset, selection, from)? else {
            return Ok(());
        };
        let mut edit = self.edit_deferred()?;
        if done == 0 {
            self.write_own(&mut edit, dataset, selection, from)?;
        } else {
            let selection = bound.as_ref().unwrap_or(selection);
            self.with_writer(&mut edit, dataset, |writer, edit| {
                writer.write_rest(self.writer_context(), edit, selection, done, from)
            })?;
        }
        self.finish(edit)
    }

    /// Writes the selected elements of a dataset from a write source, under the exclusive access
    /// `edit`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if `from` does not have the selected number
    /// of elements, or if an element of a virtual dataset has no source. Returns filter, conversion
    /// and I/O errors.
    pub fn write_elements_with(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        to: WriteTo<'_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        match to {
            WriteTo::Own(dataset) => self.write_own(edit, dataset, selection, from),
            WriteTo::Virtual(dataset, access) => self.write_virtual(edit, (dataset, access), selection, from),
        }
    }

    /// Writes elements with variable-length data to a dataset, and frees the variable-length data
    /// of the replaced elements. `store` stores the new data in the global heap, and returns the
    /// elements as stored, of `element_size` bytes each.
    ///
    /// # Errors
    /// As [`write_elements_with`](Self::write_elements_with), and the errors of `store`. A virtual
    /// dataset is checked before `store` is called.
    pub fn replace_variable_data(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        to: WriteTo<'_>,
        selection: &Selection,
        element_size: usize,
        store: impl FnOnce(&mut Edit<'_>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        self.flush_editors(edit)?;
        let dataset = match to {
            WriteTo::Own(dataset) => {
                self.flush_dataset(edit, Some(dataset))?;
                dataset
            }
            WriteTo::Virtual(dataset, access) => {
                self.flush_dataset(edit, None)?;
                self.check_virtual(edit, (dataset, access), selection)?;
                dataset
            }
        };
        let access = match to {
            WriteTo::Own(_) => None,
            WriteTo::Virtual(_, access) => access,
        };
        let before = self.heap_objects_of(dataset, selection, access)?;
        let elements = store(edit)?;
        self.write_elements_with(edit, to, selection, &WriteSource::stored(&elements, element_size))?;
        self.free_heap_objects(edit, before)
    }

    /// Extends a dataset at the end of the dimension `axis` and writes the new elements, an array
    /// of the shape `added`. Locks the file exclusively only while chunks are stored.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if the dataset cannot have the new shape, or
    /// if `added` differs from the dataset's shape in another dimension. Otherwise as
    /// [`write_elements_with`](Self::write_elements_with).
    pub fn append_elements(
        &self,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let appended = self.prepare_append(dataset, axis, added, from)?;
        let mut edit = self.edit_deferred()?;
        self.with_writer(&mut edit, dataset, |writer, edit| match appended {
            None => writer.append(self.writer_context(), edit, axis, added, from),
            Some(appended) => {
                writer.append_encoded(self.writer_context(), edit, (axis, added), appended, from)
            }
        })?;
        self.finish(edit)
    }

    /// Extends a dataset at the start of the dimension `axis` and writes the new elements there, an
    /// array of the shape `added`.
    ///
    /// # Errors
    /// As [`append_elements`](Self::append_elements), and if the file has SWMR readers.
    pub fn prepend_elements(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        edit.store().check_not_swmr_writer("elements cannot be prepended")?;
        self.with_writer(edit, dataset, |writer, edit| {
            writer.prepend(self.writer_context(), edit, axis, added, from)
        })
    }

    /// Changes the shape of a dataset to `dims` and writes the dataset's object header.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if the dataset cannot have the shape, or
    /// would shrink in a file with SWMR readers. Returns filter and I/O errors.
    pub fn resize_dataset(&self, edit: &mut Edit<'_>, dataset: Address, dims: &[u64]) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            let before = writer.description().dataspace.dims();
            if before.iter().zip(dims).any(|(before, after)| after < before) {
                edit.store().check_not_swmr_writer("a dataset cannot shrink")?;
            }
            writer.resize(self.writer_context(), edit, dims)
        })
    }

    /// Changes a dataset to the oldest form of its layout message and its chunk index.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`](crate::Error::Unsupported) if the old form does not exist,
    /// and [`Error::Misuse`](crate::Error::Misuse) in a file with SWMR readers.
    pub fn use_old_layout(&self, edit: &mut Edit<'_>, dataset: Address) -> Result<()> {
        edit.store().check_not_swmr_writer("the format of a dataset cannot change")?;
        self.flush_dataset(edit, Some(dataset))?;
        self.with_writer(edit, dataset, |writer, edit| writer.use_old_format(self.writer_context(), edit))
    }

    /// Changes the superblock of the file to version 2 if it has version 3.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`](crate::Error::Unsupported) if the file manages its space in a
    /// way that the old form does not know, and [`Error::Misuse`](crate::Error::Misuse) in a file
    /// with SWMR readers.
    pub fn use_old_superblock(&self, edit: &mut Edit<'_>) -> Result<()> {
        edit.store().check_not_swmr_writer("the version of the superblock cannot change")?;
        if edit.store().superblock().version_number() <= OLD_SUPERBLOCK {
            return Ok(());
        }
        if self.container.settings.file_space.is_some() {
            return Err(Error::unsupported("the old form of a file with settings of its file space"));
        }
        edit.change_superblock(|superblock| {
            if let SuperblockVersion::New { version, .. } = &mut superblock.version {
                *version = OLD_SUPERBLOCK;
            }
        })
    }

    /// Replaces the stored bytes of the chunk that contains the element with the coordinates
    /// `element`. The caller passes encoded bytes, which are stored unchanged.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if the dataset has no chunks or no such
    /// element, or if the length of an unfiltered chunk differs.
    pub fn write_stored_chunk(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        element: &[u64],
        bytes: &[u8],
        filter_mask: u32,
    ) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            writer.write_stored_chunk(self.writer_context(), edit, element, bytes, filter_mask)
        })
    }

    /// Calls `work` with the writer of a dataset's structured chunks. `contents` is the heap with
    /// the variable-length data to which new elements refer.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`](crate::Error::Misuse) if the dataset has no structured chunks, and
    /// the errors of `work`.
    pub fn change_structured<T>(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        contents: Option<&ForeignHeap>,
        work: impl FnOnce(&mut StructuredWriter, &mut StructuredWriting<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        self.with_writer(edit, dataset, |writer, edit| {
            writer.with_structured(self.writer_context(), edit, contents, work)
        })
    }

    /// Writes the selected elements of a dataset that is not virtual, from a write source.
    ///
    /// # Errors
    /// As [`write_elements_with`](Self::write_elements_with).
    pub(super) fn write_own(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            writer.write(self.writer_context(), edit, selection, from)?;
            // If the editor of the object is open, the header is changed at once.
            if writer.flushes_header_only() && self.is_open(dataset) {
                writer.flush(self.writer_context(), edit)
            } else {
                Ok(())
            }
        })
    }
}
