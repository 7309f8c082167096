//! Shared object header messages (File Format Specification, section III.I): the file's table of their
//! indexes, an index as a list, and the record that lists and version 2 B-trees (type 7) have in common.

mod list;
mod record;
mod table;

pub use list::{SharedMessageList, SharedMessageListContext};
pub use record::{SharedMessageLocation, SharedMessageRecord};
pub use table::{
    SharedMessageIndex, SharedMessageIndexKind, SharedMessageTable, SharedMessageTableContext,
    SharedMessageTypes,
};
