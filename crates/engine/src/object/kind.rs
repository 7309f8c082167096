//! Kinds of objects.

use hyperslab_format::message::MessageType;

use super::header::ObjectHeader;

/// The kind of an object: group, dataset or committed datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// A group: contains links.
    Group,
    /// A dataset: contains elements.
    Dataset,
    /// A committed datatype.
    Datatype,
}

impl ObjectKind {
    /// Returns the kind of the object with the given object header, or `None` if the messages
    /// identify no kind of object.
    pub fn of(header: &ObjectHeader) -> Option<Self> {
        let has = |kind| header.contains(kind);
        if has(MessageType::SYMBOL_TABLE) || has(MessageType::LINK_INFO) {
            Some(Self::Group)
        } else if has(MessageType::DATATYPE) && has(MessageType::DATASPACE) {
            Some(Self::Dataset)
        } else if has(MessageType::DATATYPE) {
            Some(Self::Datatype)
        } else {
            None
        }
    }

    /// Returns the name of an object kind (group, dataset or committed datatype), for error
    /// messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Dataset => "dataset",
            Self::Datatype => "datatype",
        }
    }
}
