//! What an object is, by the messages in its header.

use hyperslab_format::message::MessageType;

use super::header::ObjectHeader;

/// The kinds of objects that links lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// Holds links.
    Group,
    /// Holds elements.
    Dataset,
    /// A committed datatype.
    Datatype,
}

impl ObjectKind {
    /// The kind of the object with this header; `None` if its messages make no object that is known.
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

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Dataset => "dataset",
            Self::Datatype => "datatype",
        }
    }
}
