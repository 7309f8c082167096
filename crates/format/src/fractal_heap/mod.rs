//! Fractal heaps (File Format Specification, section III.G). They hold links and attributes in
//! dense storage, and shared messages.

mod direct_block;
mod doubling_table;
mod header;
mod heap_id;
mod indirect_block;

pub use direct_block::{FractalHeapDirectBlock, FractalHeapDirectContext};
pub use doubling_table::{DoublingTable, DoublingTableEntry};
pub use header::{FractalHeapFilters, FractalHeapFlags, FractalHeapHeader, FractalHeapHeaderContext};
pub use heap_id::{HeapId, HeapIdLayout};
pub use indirect_block::{FilteredBlock, FractalHeapIndirectBlock, FractalHeapIndirectContext};
