//! The operations of the library on a file. No other module uses both `object` and `data`.

mod chunk_forms;
mod concurrent;
mod copy;
mod create;
mod dataset;
mod dataset_access;
mod dataset_create;
mod dataset_writer;
mod delete;
mod editors;
mod extension;
mod flush;
mod heap;
mod members;
mod metadata_bytes;
mod names;
mod open;
mod raw_files;
mod reference_write;
mod settings;
mod swmr;
mod variable_write;
mod virtual_write;
mod write;
mod writer_table;
mod writers;

pub use copy::{AsStored, ChunkTally, CopyGuide, CopyOptions, LostPart, NewStorage, Salvage, StoredBefore};
pub use dataset::OpenDataset;
pub use dataset_create::{MAX_COMPACT, NewDataset, NewLayout};
pub use heap::SharedHeap;
pub use members::{MemberRange, Members, MultiMembers};
pub use names::{attributes, datasets, elements, groups, objects, sparse};
pub use open::{FileResolver, OpenFile};
pub use raw_files::RawFileResolver;
pub use write::WriteTo;
pub use writer_table::Writers;

use dataset_writer::DatasetWriter;
