//! The record of the order in which links and attributes were created.

use hyperslab_engine::ops::groups::LinkOrder;
use hyperslab_engine::ops::objects::AttributeOrder;

/// The record that an object keeps of the order in which its links or attributes were created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CreationOrder {
    /// No record.
    #[default]
    Untracked,
    /// A number for each link or attribute.
    Tracked,
    /// A number for each link or attribute, and an index by it once they are many.
    Indexed,
}

impl CreationOrder {
    /// Returns `true` if there is a record.
    pub fn is_tracked(self) -> bool {
        self != Self::Untracked
    }

    /// Returns the order of what is tracked and indexed as the two flags say.
    pub(crate) fn of(tracked: bool, indexed: bool) -> Self {
        match (tracked, indexed) {
            (_, true) => Self::Indexed,
            (true, false) => Self::Tracked,
            (false, false) => Self::Untracked,
        }
    }

    pub(crate) fn of_links(self) -> LinkOrder {
        match self {
            Self::Untracked => LinkOrder::Untracked,
            Self::Tracked => LinkOrder::Tracked,
            Self::Indexed => LinkOrder::Indexed,
        }
    }

    pub(crate) fn of_attributes(self) -> AttributeOrder {
        match self {
            Self::Untracked => AttributeOrder::Untracked,
            Self::Tracked => AttributeOrder::Tracked,
            Self::Indexed => AttributeOrder::Indexed,
        }
    }
}
