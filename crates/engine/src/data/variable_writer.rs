//! Contents of variable length into the global heap, while elements are converted for the file.

use std::sync::Arc;

use hyperslab_datatype::convert::{ConvertError, HeapError, VariableSink};
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::global_heap::GlobalHeapId;

use crate::index::global_heap::GlobalHeapWriter;

/// The sink of one write: stores what elements hold and writes their descriptors, a length (4 bytes) and a global
/// heap ID.
#[derive(Debug, Clone)]
pub struct VariableWriter {
    heap: Arc<GlobalHeapWriter>,
    /// Whether an element without items has an object: libhdf5 gives empty strings one, which are then not what a
    /// missing string is, and empty sequences none.
    empty_objects: bool,
}

impl VariableWriter {
    /// A sink for strings, if `strings`, or for sequences.
    pub fn new(heap: Arc<GlobalHeapWriter>, strings: bool) -> Self {
        Self { heap, empty_objects: strings }
    }
}

fn failed(error: crate::Error) -> ConvertError {
    ConvertError::Heap(HeapError::new(error))
}

impl VariableSink for VariableWriter {
    fn store(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        let nothing = GlobalHeapId { collection: Address::new(0), index: 0 };
        let id = if count == 0 && !self.empty_objects {
            Some(nothing)
        } else {
            self.heap.insert(items).map_err(failed)?
        };
        let Some(id) = id else {
            return Err(ConvertError::Heap(HeapError::new("no room was set aside for the contents")));
        };
        let mut writer = Writer::new("variable-length element");
        writer.narrow_u32(count, "length");
        id.write(&mut writer, self.heap.params());
        let bytes = writer.finish().map_err(|error| failed(error.into()))?;
        match descriptor.get_mut(..bytes.len()) {
            Some(to) => to.copy_from_slice(&bytes),
            None => return Err(ConvertError::Heap(HeapError::new("elements too short for a heap ID"))),
        }
        Ok(())
    }
}
