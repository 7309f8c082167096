//! The global heap of an open file, for conversions that read variable-length data.

use std::sync::Arc;

use hyperslab_datatype::convert::{AtItems, ConvertError, HeapError, VariableSource};

use super::OpenFile;
use crate::data::variable::{ForeignHeap, VariableLengthReader, VariableLengthValue};
use crate::error::Result;

impl OpenFile {
    /// Returns the value of a variable-length element. The heap `foreign` holds the values of
    /// elements from other files.
    ///
    /// # Errors
    /// Returns an error if the descriptor refers to no heap object.
    pub fn variable_length_value(
        &self,
        foreign: Option<&ForeignHeap>,
        element: &[u8],
    ) -> Result<VariableLengthValue> {
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
        with_items(self.variable_length_value(None, descriptor), item_size, with)
    }

    fn is_null(&self, descriptor: &[u8]) -> bool {
        is_null(descriptor)
    }

    fn each(
        &self,
        descriptors: &[u8],
        size: usize,
        item_size: usize,
        with: &mut AtItems<'_>,
    ) -> Result<(), ConvertError> {
        each(self, None, descriptors.chunks_exact(size.max(1)), item_size, with)
    }
}

/// A heap for the variable-length elements of virtual datasets. The data of the elements may come
/// from other files.
#[derive(Debug)]
pub struct SharedHeap {
    /// The file.
    pub file: Arc<OpenFile>,
    /// The variable-length data of other files.
    pub foreign: Arc<ForeignHeap>,
}

impl VariableSource for SharedHeap {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        with_items(self.file.variable_length_value(Some(&self.foreign), descriptor), item_size, with)
    }

    fn is_null(&self, descriptor: &[u8]) -> bool {
        is_null(descriptor)
    }

    fn each(
        &self,
        descriptors: &[u8],
        size: usize,
        item_size: usize,
        with: &mut AtItems<'_>,
    ) -> Result<(), ConvertError> {
        let descriptors = descriptors.chunks_exact(size.max(1));
        each(&self.file, Some(&self.foreign), descriptors, item_size, with)
    }
}

/// Returns whether the descriptor of a variable-length element is null, which means that its
/// address is zero. A descriptor has a length, an address and an object index.
fn is_null(descriptor: &[u8]) -> bool {
    let address = descriptor.get(4..).and_then(|rest| rest.split_last_chunk::<4>());
    address.is_some_and(|(address, _)| address.iter().all(|byte| *byte == 0))
}

fn with_items(
    value: Result<VariableLengthValue>,
    item_size: usize,
    with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
) -> Result<(), ConvertError> {
    let failed = |error| ConvertError::Heap(HeapError::new(error));
    with(value.map_err(failed)?.items(item_size).map_err(failed)?)
}

/// Calls `with` with the number and the items of each variable-length element of a file; see
/// [`VariableSource::each`]. Elements that follow each other usually have their items in the same
/// collection of the global heap, which is kept from element to element.
fn each<'d>(
    file: &OpenFile,
    foreign: Option<&ForeignHeap>,
    descriptors: impl Iterator<Item = &'d [u8]>,
    item_size: usize,
    with: &mut AtItems<'_>,
) -> Result<(), ConvertError> {
    let mut reader = VariableLengthReader::new(&file.container.store, &file.container.heap, foreign);
    for (number, descriptor) in descriptors.enumerate() {
        if is_null(descriptor) {
            with(number, None)?;
            continue;
        }
        let items = reader.items(descriptor, item_size);
        with(number, Some(items.map_err(|error| ConvertError::Heap(HeapError::new(error)))?))?;
    }
    Ok(())
}
