//! Elements of variable length on their way into structured chunks.

use std::sync::Arc;

use hyperslab_engine::ops::elements::{ForeignHeap, WriteSource};
use hyperslab_engine::{Error, Result};

use crate::datatype::convert::{Conversions, VariableArena, VariableSink as _};
use crate::{Dataset, Datatype};

/// Elements in the dataset's type, and what they hold.
pub(crate) struct Contents {
    elements: Vec<u8>,
    size: usize,
    heap: Arc<ForeignHeap>,
}

impl Contents {
    /// What they hold.
    pub(crate) fn heap(&self) -> &ForeignHeap {
        &self.heap
    }

    /// The elements, to be written.
    pub(crate) fn origin(&self) -> WriteSource<'_> {
        WriteSource::stored(&self.elements, self.size).with_heap(&self.heap)
    }
}

impl Dataset {
    fn no_contents(&self) -> Contents {
        let limit = self.object().file().container.store.limits().result_bytes;
        let size = self.datatype().size as usize;
        Contents { elements: Vec::new(), size, heap: Arc::new(ForeignHeap::new(limit)) }
    }

    /// Texts as elements, which are strings of variable length.
    pub(crate) fn foreign_texts(&self, texts: &[&[u8]]) -> Result<Contents> {
        let mut contents = self.no_contents();
        contents.elements.resize(texts.len().saturating_mul(contents.size), 0);
        for (text, element) in texts.iter().zip(contents.elements.chunks_exact_mut(contents.size.max(1))) {
            contents.heap.store(text, text.len(), element).map_err(|error| self.context(error.into()))?;
        }
        Ok(contents)
    }

    /// Elements of the type `memory` in the dataset's type.
    pub(crate) fn foreign_contents(
        &self,
        memory: &Datatype,
        bytes: &[u8],
        arena: Option<VariableArena>,
    ) -> Result<Contents> {
        let mut contents = self.no_contents();
        let mut conversions =
            Conversions::clone(self.conversions()).with_destination_heap(Arc::clone(&contents.heap) as _);
        if let Some(arena) = arena {
            conversions = conversions.with_source_heap(Arc::new(arena));
        }
        let plan = conversions.plan(memory, self.datatype()).map_err(|error| self.context(error.into()))?;
        let count = bytes.len() / (memory.size as usize).max(1);
        contents.elements.resize(count.saturating_mul(contents.size), 0);
        plan.convert(bytes, &mut contents.elements, count)
            .map_err(|error| self.context(Error::from(error)))?;
        Ok(contents)
    }
}
