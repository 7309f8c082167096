//! The storage of a dataset with structured chunks for writes.

use hyperslab_dataspace::Selection;
use hyperslab_format::message::Layout;

use super::{StructuredWriter, StructuredWriting};
use crate::data::transfer::{Sink, SinkContext, WriteSource};
use crate::error::Result;

impl Sink for StructuredWriter {
    fn write(
        &mut self,
        writing: &mut SinkContext<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let cache = &writing.resources.structured;
        let mut writing = StructuredWriting { edit: &mut *writing.edit, cache, heap: from.heap() };
        self.write_selection(&mut writing, selection, from)
    }

    fn resize(&mut self, writing: &mut SinkContext<'_, '_>, dims: &[u64]) -> Result<()> {
        self.change_shape(&mut without_heap(writing), dims)
    }

    fn flush(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        self.store_all(&mut without_heap(writing))
    }

    fn free(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        writing.resources.structured.clear();
        self.delete(writing.edit)
    }

    fn note_layout(&self, layout: &mut Layout) -> bool {
        let Layout::Structured(layout) = layout else { return false };
        if self.table.layout() == layout {
            return false;
        }
        *layout = self.table.layout().clone();
        true
    }

    fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }
}

fn without_heap<'w, 'e>(writing: &'w mut SinkContext<'_, 'e>) -> StructuredWriting<'w, 'e> {
    StructuredWriting { edit: &mut *writing.edit, cache: &writing.resources.structured, heap: None }
}
