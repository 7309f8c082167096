//! The operations of the library on a file: the only room that joins objects and raw data.

mod concurrent;
mod copy;
mod create;
mod dataset;
mod dataset_create;
mod dataset_writer;
mod delete;
mod editors;
mod flush;
mod followed;
mod heap;
mod members;
mod names;
mod open;
mod raw_files;
mod reference_write;
mod structured;
mod variable_write;
mod virtual_;
mod virtual_write;
mod write;
mod writers;

pub use copy::{AsStored, ChunkTally, CopyGuide, CopyOptions, NewStorage, Part, Salvage, StoredBefore};
pub use dataset::OpenDataset;
pub use dataset_create::{MAX_COMPACT, NewDataset, NewLayout};
pub use heap::SharedHeap;
pub use members::{MemberRange, Members, MultiMembers};
pub use names::{attributes, datasets, elements, groups, objects, sparse};
pub use open::{FileResolver, OpenFile};
pub use write::WriteTo;
pub use writers::Writers;

use dataset_writer::DatasetWriter;
