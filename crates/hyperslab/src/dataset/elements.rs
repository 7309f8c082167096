//! The elements that one read selects, on their way from the file to Rust values.

use std::borrow::Cow;
use std::sync::Arc;

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::OpenDataset;
use hyperslab_engine::ops::elements::{ForeignHeap, ReadTarget};
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::{to_u64, to_usize};

use super::{Dataset, zeroed_elements};
use crate::dataspace::Dims;
use crate::datatype::convert::{Conversion, Conversions, ConvertError};
use crate::rearrangement::Rearrangement;
use crate::selection::SelectedParts;
use crate::slice::Grid;
use crate::{Dataspace, IntoSelection, Selection, Stored};

/// A planned conversion of a dataset's elements from the file to memory.
pub(super) type Planned = Result<Conversion, ConvertError>;

/// The elements of a dataset that a read selects, without overlaps. The dataset does not change
/// while this value exists.
pub(super) struct SelectedElements<'a> {
    pub(super) selection: Cow<'a, Selection>,
    /// The number of elements of the result.
    pub(super) count: usize,
    /// The order of the result, unless it is the order of the selection.
    rearrangement: Option<Box<Rearrangement>>,
    /// The coordinates of each dimension, if index lists made an irregular selection.
    grid: Option<Box<Grid>>,
    /// The shape of the selection; `None` if the elements form a single dimension.
    shape: Option<Dims>,
    pub(super) open: Arc<OpenDataset>,
    pub(super) _reading: Reading<'a>,
}

/// The elements of a dataset that a read selects, with their conversion to memory.
pub(super) struct Elements<'a> {
    dataset: &'a Dataset,
    selected: SelectedElements<'a>,
    conversion: Conversion,
    /// The stored elements in the order of the selection, if they must be read before the
    /// conversion is planned, or rearranged.
    stored: Option<Stored>,
}

impl SelectedElements<'_> {
    /// Returns the shape of a read's selection; `None` if the selected elements form a single
    /// dimension.
    pub(super) fn shape(&self) -> Option<&[u64]> {
        self.shape.as_deref()
    }

    /// Returns the shape of the array in memory into which a read stores the selected elements.
    pub(super) fn memory_shape(&self) -> Result<Vec<usize>> {
        match &self.shape {
            Some(shape) => shape.iter().map(|size| Ok(to_usize(*size)?)).collect(),
            None => Ok(vec![self.count]),
        }
    }

    /// Reads the selected elements of the dataset in the stored form, in the order of the result.
    pub(super) fn stored(&self, dataset: &Dataset) -> Result<Stored> {
        let packed = self.packed(dataset)?;
        match &self.rearrangement {
            None => Ok(packed),
            Some(order) => packed.map_bytes(|bytes, size| order.unpacked_bytes(bytes, size)),
        }
    }

    /// Reads the selected elements of the dataset in the stored form, in the order of the
    /// selection.
    fn packed(&self, dataset: &Dataset) -> Result<Stored> {
        let file = dataset.object.file();
        let stored = |bytes| Stored::new(Arc::clone(file), dataset.datatype().clone(), bytes);
        if !dataset.may_hold_foreign() {
            let size = dataset.datatype().size as usize;
            if let Some(grid) = &self.grid
                && let Some(cover) = grid.cover(size)
            {
                let mut bytes = zeroed_elements(grid.len()?, size)?;
                cover.read(&mut bytes, |selection| self.open.read(file, selection))?;
                return Ok(stored(bytes));
            }
            return self.open.read(file, &self.selection).map(stored);
        }
        let foreign = Arc::new(ForeignHeap::new(file.container.store.limits().result_bytes));
        let bytes = self.open.read_collecting(file, &self.selection, &foreign)?;
        Ok(stored(bytes).with_foreign(foreign))
    }
}

impl<'a> Elements<'a> {
    pub(super) fn new(
        dataset: &'a Dataset,
        selected: SelectedElements<'a>,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Self> {
        let size = dataset.datatype().size as usize;
        let is_covered = selected.grid.as_ref().is_some_and(|grid| grid.cover(size).is_some());
        let needs_stored = is_covered || selected.rearrangement.is_some() || dataset.may_hold_foreign();
        let stored = if needs_stored { Some(selected.packed(dataset)?) } else { None };
        let conversions = match &stored {
            Some(stored) => Cow::Owned(stored.conversions((*dataset.conversions).clone())),
            None => Cow::Borrowed(&*dataset.conversions),
        };
        Ok(Self { dataset, selected, conversion: plan(&conversions)?, stored })
    }

    /// Puts the selected elements of a read into the buffer `out`, converted to their type in
    /// memory. `zeroed` must be true only if `out` contains only zeros.
    pub(super) fn put(&self, out: &mut [u8], zeroed: bool) -> Result<()> {
        if let Some(stored) = &self.stored {
            if let Some(order) = &self.selected.rearrangement {
                return order.convert(&self.conversion, stored.bytes(), out);
            }
            return Ok(self.conversion.convert(stored.bytes(), out, self.selected.count)?);
        }
        let mut to = ReadTarget::converted(out, &self.conversion);
        if zeroed {
            to = to.zeroed();
        }
        if self.selected.count == 0 {
            return Ok(());
        }
        self.selected.open.read_to(self.dataset.object.file(), &self.selected.selection, &mut to)
    }
}

impl Dataset {
    /// Returns `true` if elements of the dataset may refer to variable-length data outside of the
    /// file's global heap: in other files or in structured chunks.
    fn may_hold_foreign(&self) -> bool {
        let layout = &self.first.description.layout.layout;
        self.datatype().is_variable_length()
            && matches!(layout, StoredLayout::Virtual(_) | StoredLayout::Structured(_))
    }

    /// Resolves a selection of the dataset and returns the selected elements for a read. The
    /// dataset cannot change while the result exists. Checks `size` bytes per element against the
    /// limit for results.
    pub(super) fn prepare<'a>(
        &'a self,
        selection: impl IntoSelection + 'a,
        size: usize,
    ) -> Result<SelectedElements<'a>> {
        let (open, reading) = self.current()?;
        let dataspace = &open.description.dataspace;
        let SelectedParts { selection, mut shape, rearrangement, grid, is_disjoint } =
            selection.into_selection(dataspace.dims())?.into_parts();
        let selection = if is_disjoint { selection } else { self.without_overlaps(selection)? };
        let stored = if let Dataspace::Null = dataspace {
            shape = Some(Dims::from_elem(0, 1));
            0
        } else {
            open.selected(&selection)?
        };
        if grid.is_some() || rearrangement.is_some() {
            self.check_result("read: bytes", stored, self.datatype().size as usize)?;
        }
        let count = rearrangement.as_ref().map_or(Ok(stored), |order| order.len().map(to_u64))?;
        let count = self.check_result("read: bytes", count, size)?;
        Ok(SelectedElements { selection, count, rearrangement, grid, shape, open, _reading: reading })
    }

    /// Checks the size of a read result, `count` values of `size` bytes, against the limit for
    /// results. Returns `count`.
    pub(crate) fn check_result(&self, subject: &str, count: u64, size: usize) -> Result<usize> {
        let limit = self.object.file().container.store.limits().result_bytes;
        // Saturates, because the product is only compared with the limit and reported.
        let bytes = count.saturating_mul(to_u64(size));
        if bytes > limit {
            return Err(Error::Limit { subject: subject.into(), got: bytes, limit });
        }
        Ok(to_usize(count)?)
    }
}
