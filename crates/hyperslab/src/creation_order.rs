//! The tracking of the order in which links and attributes were created.

use hyperslab_engine::ops::groups::LinkOrder;
use hyperslab_engine::ops::objects::AttributeOrder;

/// The tracking of the order in which an object's links or attributes are created: not tracked,
/// tracked, or tracked and indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CreationOrder {
    /// The order is not stored.
    #[default]
    Untracked,
    /// Each link or attribute stores its number.
    Tracked,
    /// Each link or attribute stores its number, and dense storage has an index by number.
    Indexed,
}

impl CreationOrder {
    /// Returns `true` if the creation order of links or attributes is stored.
    pub fn is_tracked(self) -> bool {
        self != Self::Untracked
    }

    /// Returns the tracking of the creation order that the two flags `tracked` and `indexed` state.
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
