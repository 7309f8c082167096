//! Appends: new elements at the end of a dimension.

use hyperslab_dataspace::{Dataspace, Dims, Region, Selection};
use hyperslab_format::message::{AllocationTime, Layout};

use super::{DatasetSink, DatasetWriter, WriterContext};
use crate::data::chunked::{Appended, ChunkedSink};
use crate::data::transfer::WriteSource;
use crate::error::{Error, Result};
use crate::store::Edit;

impl DatasetWriter {
    /// Extends a dataset at the end of the dimension `axis` and writes the new elements. `added` is
    /// the shape of the new elements. If their length along `axis` is 1, `added` may omit this
    /// dimension.
    ///
    /// # Errors
    /// As [`resize`](Self::resize) and [`write`](Self::write), and if `added` differs from the
    /// dataset's shape in another dimension.
    pub(crate) fn append(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if self.append_chunk(file, edit, axis, added, from)? {
            return Ok(());
        }
        let (count, dims) = self.grown(axis, added)?;
        from.check(added_elements(&count)?)?;
        if matches!(self.description.layout.layout, Layout::Virtual(_)) {
            return Err(Error::unsupported("appending to a virtual dataset (append to its source dataset)"));
        }
        let start = self.first_new_element(axis);
        self.resize(file, edit, &dims)?;
        if count.contains(&0) {
            return Ok(());
        }
        self.write(file, edit, &Selection::region(&Region { start, count }), from)
    }

    /// Appends elements to a dataset like [`append`](Self::append). The chunks were encoded for an
    /// earlier shape of the dataset; if the shape has changed since then, encodes the chunks again.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(in crate::ops) fn append_encoded(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        (axis, added): (usize, &[u64]),
        appended: Appended,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if !self.chunked().is_some_and(|chunked| appended.fits(&chunked.writer)) {
            return self.append(file, edit, axis, added, from);
        }
        let (count, dims) = self.grown(axis, added)?;
        let selection = Selection::region(&Region { start: self.first_new_element(axis), count });
        self.resize(file, edit, &dims)?;
        if let Some(chunked) = self.chunked_mut() {
            let (writer, mut writing) = chunked.parts(edit, file.resources);
            writer.store_appended(&mut writing, appended, &selection, from)?;
        }
        self.note_layout();
        Ok(())
    }

    /// Returns the coordinates of the first element that an append adds after the end of the
    /// dimension `axis`.
    pub(in crate::ops) fn first_new_element(&self, axis: usize) -> Dims {
        let dims = self.description.dataspace.dims();
        let mut start = Dims::from_elem(0, dims.len());
        if let (Some(coordinate), Some(old)) = (start.get_mut(axis), dims.get(axis)) {
            *coordinate = *old;
        }
        start
    }

    /// Appends one whole chunk to a dataset, which is the most frequent append. If the append does
    /// not consist of one whole chunk, returns false and changes nothing.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    fn append_chunk(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        let (DatasetSink::Chunked(ChunkedSink { writer, table, .. }), Dataspace::Simple(extent)) =
            (&mut self.sink, &mut self.description.dataspace)
        else {
            return Ok(false);
        };
        let one_by_one = self.description.fill.allocation_time == AllocationTime::INCREMENTAL;
        if !one_by_one || from.is_partial() || table.keeps_all() {
            return Ok(false);
        }
        let Some(max) = extent.max_dims.as_ref().and_then(|max| max.get(axis)) else { return Ok(false) };
        let max = max.unwrap_or(u64::MAX);
        let cache = &file.resources.chunks;
        let size = writer.append_chunk(edit, &mut **table, cache, (axis, max), added, from)?;
        let (Some(size), Some(dim)) = (size, extent.dims.get_mut(axis)) else { return Ok(false) };
        *dim = size;
        self.dataspace_changed = true;
        Ok(true)
    }

    /// Returns two shapes for an append: the shape of the added elements with all dimensions, and
    /// the shape of the dataset that has grown by them.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dimension does not exist, the other dimensions differ, or
    /// the new size does not fit in 64 bits.
    pub(in crate::ops) fn grown(&self, axis: usize, added: &[u64]) -> Result<(Dims, Dims)> {
        let before = Dims::from_slice(self.description.dataspace.dims());
        let mut count = Dims::from_slice(added);
        if count.len().checked_add(1) == Some(before.len()) && axis < before.len() {
            count.insert(axis, 1);
        }
        let mut others = count.iter().zip(&before).enumerate();
        let others_fit = count.len() == before.len()
            && others.all(|(dimension, (new, old))| dimension == axis || new == old);
        let (Some(old), Some(new)) = (before.get(axis), count.get(axis)) else {
            return Err(Error::Misuse(format!(
                "the dataset of the shape {before:?} has no dimension {axis}"
            )));
        };
        if !others_fit {
            return Err(Error::Misuse(format!(
                "an array of the shape {added:?} cannot be added along dimension {axis} of {before:?}"
            )));
        }
        let size = old.checked_add(*new).ok_or_else(|| {
            Error::Misuse("the dimension to which elements are added would exceed 2^64 elements".into())
        })?;
        let mut dims = before.clone();
        if let Some(dim) = dims.get_mut(axis) {
            *dim = size;
        }
        Ok((count, dims))
    }
}

/// Returns the number of elements that an append adds to a dataset.
///
/// # Errors
/// Returns [`Error::Misuse`] if the number does not fit in 64 bits.
pub(super) fn added_elements(count: &[u64]) -> Result<u64> {
    let elements = hyperslab_exact::product("number of elements", count.iter().copied());
    elements
        .map_err(|_| Error::Misuse(format!("an array of the shape {count:?} has more than 2^64 elements")))
}
