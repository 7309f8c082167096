//! The global heap of an open file, for conversions that need the contents of elements of variable length.

use hyperslab_datatype::convert::{ConvertError, HeapError, VariableSource};

use super::OpenFile;
use crate::data::VariableLengthValue;

impl VariableSource for OpenFile {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let failed = |error| ConvertError::Heap(HeapError::new(error));
        let (store, heap) = (&self.container.store, &self.container.heap);
        let value = VariableLengthValue::read(store, heap, descriptor).map_err(failed)?;
        with(value.items(item_size).map_err(failed)?)
    }
}
