//! The elements of one read, on their way from the file to Rust values.

use std::borrow::Cow;
use std::sync::Arc;

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::OpenDataset;
use hyperslab_engine::ops::elements::{ForeignHeap, ReadTarget};
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};

use super::{Dataset, to_usize};
use crate::datatype::convert::{Conversion, Conversions, ConvertError};
use crate::{Dataspace, IntoSelection, Selection, Stored};

/// A planned conversion.
pub(super) type Planned = Result<Conversion, ConvertError>;

/// A selection without overlaps, and the dataset, which stays as it is meanwhile.
pub(super) struct Wanted<'a> {
    pub(super) selection: Cow<'a, Selection>,
    /// How many elements are selected.
    pub(super) count: usize,
    /// Their shape; `None` if they form one dimension.
    shape: Option<Vec<u64>>,
    pub(super) open: Arc<OpenDataset>,
    pub(super) _reading: Reading<'a>,
}

/// Selected elements, and how they are converted.
pub(super) struct Elements<'a> {
    dataset: &'a Dataset,
    wanted: Wanted<'a>,
    conversion: Conversion,
    /// The elements themselves, where they are not converted on their way.
    stored: Option<Stored>,
}

impl Wanted<'_> {
    /// Returns the shape of the elements; `None` if they form one dimension.
    pub(super) fn shape(&self) -> Option<&[u64]> {
        self.shape.as_deref()
    }

    /// Returns the shape that an array of the elements has in memory.
    pub(super) fn memory_shape(&self) -> Result<Vec<usize>> {
        match &self.shape {
            Some(shape) => shape.iter().map(|size| to_usize(*size)).collect(),
            None => Ok(vec![self.count]),
        }
    }

    /// The elements as stored.
    pub(super) fn stored(&self, dataset: &Dataset) -> Result<Stored> {
        let file = dataset.object.file();
        let stored = |bytes| Stored::new(Arc::clone(file), dataset.datatype().clone(), bytes);
        if !dataset.may_hold_foreign() {
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
        wanted: Wanted<'a>,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Self> {
        let stored = if dataset.may_hold_foreign() { Some(wanted.stored(dataset)?) } else { None };
        let conversions = match &stored {
            Some(stored) => Cow::Owned(stored.conversions((*dataset.conversions).clone())),
            None => Cow::Borrowed(&*dataset.conversions),
        };
        Ok(Self { dataset, wanted, conversion: plan(&conversions)?, stored })
    }

    /// Fills a buffer with converted elements.
    pub(super) fn put(&self, out: &mut [u8], zeroed: bool) -> Result<()> {
        if let Some(stored) = &self.stored {
            return Ok(self.conversion.convert(stored.bytes(), out, self.wanted.count)?);
        }
        let mut to = ReadTarget::converted(out, &self.conversion);
        if zeroed {
            to = to.zeroed();
        }
        if self.wanted.count == 0 {
            return Ok(());
        }
        self.wanted.open.read_to(self.dataset.object.file(), &self.wanted.selection, &mut to)
    }
}

impl Dataset {
    /// Returns whether elements may hold what lies in the heap of another file.
    fn may_hold_foreign(&self) -> bool {
        let layout = &self.first.description.layout.layout;
        self.datatype().is_variable_length()
            && matches!(layout, StoredLayout::Virtual(_) | StoredLayout::Structured(_))
    }

    /// Returns the selected elements, if so many of that size may be read, and the dataset as it stays until they are.
    pub(super) fn prepare<'a>(
        &'a self,
        selection: impl IntoSelection + 'a,
        size: usize,
    ) -> Result<Wanted<'a>> {
        let (open, reading) = self.current()?;
        let dataspace = &open.description.dataspace;
        let (selection, mut shape) = selection.into_selection(dataspace.dims())?.into_parts();
        let selection = self.without_overlaps(selection)?;
        let count = if let Dataspace::Null = dataspace {
            shape = Some(vec![0]);
            0
        } else {
            open.selected(&selection)?
        };
        let limit = self.object.file().container.store.limits().result_bytes;
        let bytes = count.saturating_mul(size as u64);
        if bytes > limit {
            return Err(Error::Limit { what: "read: bytes".into(), got: bytes, limit });
        }
        Ok(Wanted { selection, count: to_usize(count)?, shape, open, _reading: reading })
    }
}
