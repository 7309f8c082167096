//! The global heap of an open file, for conversions that need the contents of elements of variable length.

use std::sync::Arc;

use hyperslab_datatype::convert::{ConvertError, HeapError, VariableSource};

use super::OpenFile;
use crate::data::variable::{ForeignHeap, VariableLengthValue};
use crate::error::Result;

impl OpenFile {
    /// The contents of an element of variable length, which may have come from another file.
    ///
    /// # Errors
    /// If its descriptor leads nowhere.
    pub fn contents(&self, foreign: Option<&ForeignHeap>, element: &[u8]) -> Result<VariableLengthValue> {
        VariableLengthValue::read_of(&self.container.store, &self.container.heap, foreign, element)
    }
}

impl VariableSource for OpenFile {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        with_items(self.contents(None, descriptor), item_size, with)
    }
}

/// The heap of a file with virtual datasets, whose elements may come from other files.
#[derive(Debug)]
pub struct SharedHeap {
    /// The file.
    pub file: Arc<OpenFile>,
    /// What came from others.
    pub foreign: Arc<ForeignHeap>,
}

impl VariableSource for SharedHeap {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        with_items(self.file.contents(Some(&self.foreign), descriptor), item_size, with)
    }
}

fn with_items(
    value: Result<VariableLengthValue>,
    item_size: usize,
    with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
) -> Result<(), ConvertError> {
    let failed = |error| ConvertError::Heap(HeapError::new(error));
    with(value.map_err(failed)?.items(item_size).map_err(failed)?)
}
