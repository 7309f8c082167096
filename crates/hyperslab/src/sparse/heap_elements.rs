//! Elements of variable length for structured chunks, which contain their variable-length data.

use std::sync::Arc;

use hyperslab_engine::ops::elements::{ForeignHeap, WriteSource};
use hyperslab_engine::{Error, Result};

use crate::dataset::zeroed_elements;
use crate::datatype::convert::{Conversions, VariableSink as _, VariableSource};
use crate::{Dataset, Datatype};

/// Elements in the dataset's datatype, and a heap in memory that holds their variable-length data.
pub(crate) struct HeapElements {
    elements: Vec<u8>,
    size: usize,
    heap: Arc<ForeignHeap>,
}

impl HeapElements {
    /// Returns the heap in memory that holds the variable-length data of the elements.
    pub(crate) fn heap(&self) -> &ForeignHeap {
        &self.heap
    }

    /// Returns the write source that supplies these elements to a write.
    pub(crate) fn write_source(&self) -> WriteSource<'_> {
        WriteSource::stored(&self.elements, self.size).with_heap(&self.heap)
    }
}

impl Dataset {
    fn heap_elements(&self, count: usize) -> Result<HeapElements> {
        let limit = self.object().file().container.store.limits().result_bytes;
        let size = self.datatype().size as usize;
        let elements = zeroed_elements(count, size).map_err(|error| self.context(error))?;
        Ok(HeapElements { elements, size, heap: Arc::new(ForeignHeap::new(limit)) })
    }

    /// Returns `texts` as elements in the datatype of a dataset of variable-length strings.
    pub(crate) fn text_elements(&self, texts: &[&[u8]]) -> Result<HeapElements> {
        let mut contents = self.heap_elements(texts.len())?;
        for (text, element) in texts.iter().zip(contents.elements.chunks_exact_mut(contents.size.max(1))) {
            contents.heap.store(text, text.len(), element).map_err(|error| self.context(error.into()))?;
        }
        Ok(contents)
    }

    /// Converts elements of the datatype `memory` to the dataset's datatype. `heap` holds the
    /// variable-length data of the elements in memory.
    pub(crate) fn converted_elements(
        &self,
        memory: &Datatype,
        bytes: &[u8],
        heap: Option<Arc<dyn VariableSource>>,
    ) -> Result<HeapElements> {
        let count = bytes.len() / (memory.size as usize).max(1);
        let mut contents = self.heap_elements(count)?;
        let mut conversions =
            Conversions::clone(self.conversions()).with_destination_heap(Arc::clone(&contents.heap) as _);
        if let Some(heap) = heap {
            conversions = conversions.with_source_heap(heap);
        }
        let plan = conversions.plan(memory, self.datatype()).map_err(|error| self.context(error.into()))?;
        plan.convert(bytes, &mut contents.elements, count)
            .map_err(|error| self.context(Error::from(error)))?;
        Ok(contents)
    }
}
