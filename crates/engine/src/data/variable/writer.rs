//! The writer of variable-length data to the global heap, during the conversion of elements for the
//! file.

use std::sync::Arc;

use hyperslab_datatype::convert::{ConvertError, HeapError, VariableSink};
use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;

use crate::index::global_heap::GlobalHeapWriter;

/// A writer of variable-length data during one write of elements. The writer stores the items of
/// each element. It returns the descriptor of the element: a length (4 bytes) and a global heap ID.
#[derive(Debug, Clone)]
pub struct VariableWriter {
    heap: Arc<GlobalHeapWriter>,
    /// True if an element without items has a heap object. In libhdf5, empty strings have one, to
    /// distinguish them from missing strings; empty sequences have none.
    empty_objects: bool,
}

impl VariableWriter {
    /// Creates a writer of variable-length data: of strings if `strings` is true, and of sequences
    /// otherwise.
    pub fn new(heap: Arc<GlobalHeapWriter>, strings: bool) -> Self {
        Self { heap, empty_objects: strings }
    }
}

fn failed(error: crate::Error) -> ConvertError {
    ConvertError::Heap(HeapError::new(error))
}

fn too_long(count: usize) -> ConvertError {
    ConvertError::Heap(HeapError::new(format!("{count} items; the format allows up to {}", u32::MAX)))
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
            return Err(ConvertError::Heap(HeapError::new(
                "no space is reserved for the variable-length data",
            )));
        };
        let length = u32::try_from(count).map_err(|_| too_long(count))?;
        let short = || ConvertError::Heap(HeapError::new("elements too short for a heap ID"));
        let (length_field, id_field) = descriptor.split_first_chunk_mut::<4>().ok_or_else(short)?;
        *length_field = length.to_le_bytes();
        let size = GlobalHeapId::size(self.heap.params());
        let id_field = id_field.get_mut(..size).ok_or_else(short)?;
        id.put(id_field, self.heap.params()).map_err(|error| failed(error.into()))
    }

    fn store_null(&self, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        descriptor.fill(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::variable::VariableLengthReader;
    use crate::index::global_heap::GlobalHeap;
    use crate::store::image::new_file_to_reopen;
    use crate::versions::LibverBounds;

    #[test]
    fn stored_variable_length_data_is_read_back() {
        let (store, reopen) = new_file_to_reopen(LibverBounds::DEFAULT);
        let (heap, mut edit) = (GlobalHeap::new(), store.edit().unwrap());
        let mut elements = Vec::new();
        // 3000 strings of up to 999 bytes: far more than the space that is reserved at first.
        let texts: Vec<Vec<u8>> = (0..3000_usize).map(|number| vec![b'a'; number * 7 % 1000]).collect();
        for strings in [true, false] {
            let writer = Arc::new(GlobalHeapWriter::new(&heap, &edit).unwrap());
            let sink = VariableWriter::new(Arc::clone(&writer), strings);
            for block in texts.chunks(500) {
                let mut stored = vec![0; block.len() * 16];
                let run = || -> crate::Result<()> {
                    for (text, to) in block.iter().zip(stored.chunks_exact_mut(16)) {
                        sink.store(text, text.len(), to)?;
                    }
                    Ok(())
                };
                writer.fill(&heap, &mut edit, run).unwrap();
                elements.extend(stored);
            }
            writer.finish(&heap, &mut edit).unwrap();
        }
        edit.commit().unwrap();
        let (store, heap) = (reopen(), GlobalHeap::new());
        let mut reader = VariableLengthReader::new(&store, &heap, None);
        for (element, text) in elements.chunks_exact(16).zip(texts.iter().chain(&texts)) {
            assert_eq!(reader.items(element, 1).unwrap(), text);
        }
        // An empty string has a heap object, an empty sequence has none.
        assert_ne!(elements[..16], [0; 16]);
        assert_eq!(elements[3000 * 16..3001 * 16], [0; 16]);
        let sink = VariableWriter::new(Arc::new(GlobalHeapWriter::new(&heap, &edit).unwrap()), true);
        assert!(sink.store(b"text", 4, &mut [0; 15]).is_err());
    }
}
