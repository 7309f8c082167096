//! The elements of one read, on their way from the file to Rust values.

use std::borrow::Cow;
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::data::{Destination, ForeignHeap};

use super::Dataset;
use crate::datatype::convert::{Conversion, Conversions, ConvertError};
use crate::{Layout, Selection, Stored};

/// A planned conversion.
pub(super) type Planned = Result<Conversion, ConvertError>;

/// Selected elements, and how they are converted.
pub(super) struct Elements<'a> {
    dataset: &'a Dataset,
    selection: &'a Selection,
    count: usize,
    conversion: Conversion,
    /// The elements themselves, where they are not converted on their way.
    stored: Option<Stored>,
}

impl<'a> Elements<'a> {
    pub(super) fn new(
        dataset: &'a Dataset,
        selection: &'a Selection,
        count: usize,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Self> {
        let stored = if dataset.may_hold_foreign() { Some(dataset.stored(selection)?) } else { None };
        let conversions = match &stored {
            Some(stored) => Cow::Owned(stored.conversions((*dataset.conversions).clone())),
            None => Cow::Borrowed(&*dataset.conversions),
        };
        Ok(Self { dataset, selection, count, conversion: plan(&conversions)?, stored })
    }

    /// Fills a buffer with converted elements.
    pub(super) fn put(&self, out: &mut [u8], zeroed: bool) -> Result<()> {
        if let Some(stored) = &self.stored {
            return Ok(self.conversion.convert(stored.bytes(), out, self.count)?);
        }
        let mut to = Destination::converted(out, &self.conversion);
        if zeroed {
            to = to.zeroed();
        }
        if self.count == 0 {
            return Ok(());
        }
        let (open, _reading) = self.dataset.current()?;
        open.read_to(self.dataset.object.file(), self.selection, &mut to)
    }
}

impl Dataset {
    /// Whether elements may hold what lies in the heap of another file.
    fn may_hold_foreign(&self) -> bool {
        self.datatype().is_variable_length() && matches!(self.layout(), Layout::Virtual | Layout::Structured)
    }

    /// The selected elements as stored. Blocks must be disjoint.
    pub(super) fn stored(&self, selection: &Selection) -> Result<Stored> {
        let file = self.object.file();
        let stored = |bytes| Stored::new(Arc::clone(file), self.datatype().clone(), bytes);
        if !self.may_hold_foreign() {
            let (open, _reading) = self.current()?;
            return open.read(file, selection).map(stored).map_err(|error| self.context(error));
        }
        let foreign = Arc::new(ForeignHeap::new(file.container.store.limits().result_bytes));
        let (open, _reading) = self.current()?;
        let bytes = open.read_collecting(file, selection, &foreign);
        Ok(stored(bytes.map_err(|error| self.context(error))?).with_foreign(foreign))
    }
}
