//! Shared object header messages (File Format Specification, section III.I): the file's table of
//! indexes, the list form of an index, and the records of lists and version 2 B-trees (type 7).

mod list;
mod record;
mod table;

pub use list::{SharedMessageList, SharedMessageListContext};
pub use record::{SharedMessageLocation, SharedMessageRecord};
pub use table::{
    SharedMessageIndex, SharedMessageIndexKind, SharedMessageTable, SharedMessageTableContext,
    SharedMessageTypes,
};
