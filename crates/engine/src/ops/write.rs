//! Writes of elements, and changes of a dataset's shape: the only way in for whoever writes raw data.
//!
//! Functions without an [`Edit`] in their arguments take the right to change the file themselves, as late as they can.

use std::sync::Arc;

use super::OpenFile;
use crate::data::structured::{StructuredWriter, StructuredWriting};
use crate::data::transfer::WriteSource;
use crate::data::variable::ForeignHeap;
use crate::error::Result;
use crate::store::Edit;
use hyperslab_dataspace::Selection;
use hyperslab_format::codec::Address;

/// The dataset of a write, by the address of its object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTo {
    /// A dataset with elements of its own.
    Own(Address),
    /// A virtual dataset: its elements go to the datasets that it shows.
    Virtual(Address),
}

impl OpenFile {
    /// Writes the selected elements. Takes the right to change the file only for as long as it must.
    ///
    /// # Errors
    /// As [`write_elements_with`](Self::write_elements_with).
    pub fn write_elements(
        self: &Arc<Self>,
        to: WriteTo,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let WriteTo::Own(dataset) = to else {
            let mut edit = self.edit_behind()?;
            self.write_elements_with(&mut edit, to, selection, from)?;
            return self.finish(edit);
        };
        let Some((done, bound)) = self.write_ahead(dataset, selection, from)? else { return Ok(()) };
        let mut edit = self.edit_behind()?;
        if done == 0 {
            self.write_own(&mut edit, dataset, selection, from)?;
        } else {
            let selection = bound.as_ref().unwrap_or(selection);
            self.with_writer(&mut edit, dataset, |writer, edit| {
                writer.write_rest(self, edit, selection, done, from)
            })?;
        }
        self.finish(edit)
    }

    /// Writes the selected elements with the right to change the file.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if `from` has another number of elements than are selected, or if an
    /// element of a virtual dataset has no source; those of filters, conversions and the medium.
    pub fn write_elements_with(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        to: WriteTo,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        match to {
            WriteTo::Own(dataset) => self.write_own(edit, dataset, selection, from),
            WriteTo::Virtual(dataset) => self.write_virtual(edit, dataset, selection, from),
        }
    }

    /// Writes elements whose contents of variable length `store` puts into the global heap, and frees the contents that
    /// they replace. `store` returns the elements as stored, of `element_size` bytes each.
    ///
    /// # Errors
    /// As [`write_elements_with`](Self::write_elements_with); those of `store`. A virtual dataset is checked before
    /// `store` is called.
    pub fn replace_contents(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        to: WriteTo,
        selection: &Selection,
        element_size: usize,
        store: impl FnOnce(&mut Edit<'_>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        self.settle_objects(edit)?;
        let dataset = match to {
            WriteTo::Own(dataset) => {
                self.flush_dataset(edit, Some(dataset))?;
                dataset
            }
            WriteTo::Virtual(dataset) => {
                self.flush_dataset(edit, None)?;
                self.check_virtual(edit, dataset, selection)?;
                dataset
            }
        };
        let before = self.contents_of(dataset, selection)?;
        let elements = store(edit)?;
        self.write_elements_with(edit, to, selection, &WriteSource::stored(&elements, element_size))?;
        self.free_contents(edit, before)
    }

    /// Makes a dataset longer along a dimension and writes the new elements, an array of the shape `added`. Takes the
    /// right to change the file only for as long as it must.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if the dataset cannot grow so, or if the array is not as large as the
    /// dataset in the other dimensions; as [`write_elements_with`](Self::write_elements_with).
    pub fn append_elements(
        &self,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let appended = self.prepare_append(dataset, axis, added, from)?;
        let mut edit = self.edit_behind()?;
        self.with_writer(&mut edit, dataset, |writer, edit| match appended {
            None => writer.append(self, edit, axis, added, from),
            Some(appended) => writer.append_encoded(self, edit, (axis, added), appended, from),
        })?;
        self.finish(edit)
    }

    /// Makes a dataset longer at the front of a dimension and writes the new elements there, an array of the shape
    /// `added`.
    ///
    /// # Errors
    /// As [`append_elements`](Self::append_elements), and if the file is written while others read it.
    pub fn prepend_elements(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        edit.store().check_not_swmr_writer("nothing can be put before the elements of a dataset")?;
        self.with_writer(edit, dataset, |writer, edit| writer.prepend(self, edit, axis, added, from))
    }

    /// Changes the shape of a dataset.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if the dataset cannot have that shape, or would shrink while others read
    /// the file; those of filters and the medium.
    pub fn resize_dataset(&self, edit: &mut Edit<'_>, dataset: Address, dims: &[u64]) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            let before = writer.description().dataspace.dims();
            if before.iter().zip(dims).any(|(before, after)| after < before) {
                edit.store().check_not_swmr_writer("a dataset cannot shrink")?;
            }
            writer.resize(self, edit, dims)
        })
    }

    /// Puts the stored bytes of a chunk in place of the chunk that holds an element. The bytes are not decoded.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if the dataset has no chunks or no such element, or if a chunk without
    /// filters has another length.
    pub fn write_stored_chunk(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        element: &[u64],
        bytes: &[u8],
        filter_mask: u32,
    ) -> Result<()> {
        self.with_writer(edit, dataset, |writer, edit| {
            writer.write_stored_chunk(self, edit, element, bytes, filter_mask)
        })
    }

    /// Calls `work` with the structured chunks of a dataset. `contents` holds what elements of variable length lead to.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if the dataset has none; those of `work`.
    pub fn change_structured<T>(
        &self,
        edit: &mut Edit<'_>,
        dataset: Address,
        contents: Option<&ForeignHeap>,
        work: impl FnOnce(&mut StructuredWriter, &mut StructuredWriting<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        self.with_writer(edit, dataset, |writer, edit| writer.with_structured(self, edit, contents, work))
    }

    /// Writes the selected elements of a dataset that is not virtual.
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
            writer.write(self, edit, selection, from)?;
            // The header of an object that is open is changed at once.
            if writer.is_small() && self.is_open(dataset) { writer.flush(self, edit) } else { Ok(()) }
        })
    }
}
