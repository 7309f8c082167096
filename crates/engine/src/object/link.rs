//! Links: names in a group and their targets.

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;

/// A link: a named entry of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The bytes of the name, as stored.
    pub name: Vec<u8>,
    /// Character set of the name.
    pub charset: CharacterSet,
    /// Creation order among the links of the group, if tracked.
    pub creation_order: Option<u64>,
    /// Target of the link.
    pub target: LinkTarget,
}

/// The target of a link: an object, a path in this file, a path in another file, or the value of a
/// user-defined link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object of this file: the address of its object header.
    Hard(Address),
    /// A path in this file, resolved at each access.
    Soft(Vec<u8>),
    /// An object in another file.
    External {
        /// Name of the file.
        file: Vec<u8>,
        /// Path in that file.
        path: Vec<u8>,
    },
    /// The target of a user-defined link (classes 65 to 255).
    UserDefined {
        /// The class.
        class: u8,
        /// Its value.
        value: Vec<u8>,
    },
}

/// A view of a link with borrowed names. A [`Link`] has the same content, but owns its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkView<'a> {
    /// The bytes of the name, as stored.
    pub name: &'a [u8],
    /// Character set of the name.
    pub charset: CharacterSet,
    /// Creation order among the links of the group, if tracked.
    pub creation_order: Option<u64>,
    /// Target of the link.
    pub target: TargetView<'a>,
}

/// A view of the target of a link with borrowed names. A [`LinkTarget`] has the same content, but
/// owns its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetView<'a> {
    /// An object of this file: the address of its object header.
    Hard(Address),
    /// A path in this file, resolved at each access.
    Soft(&'a [u8]),
    /// An object in another file.
    External {
        /// Name of the file.
        file: &'a [u8],
        /// Path in that file.
        path: &'a [u8],
    },
    /// The target of a user-defined link (classes 65 to 255), or of an external link (class 64)
    /// whose value does not name a file and a path.
    UserDefined {
        /// The class.
        class: u8,
        /// Its value.
        value: &'a [u8],
    },
}

impl Link {
    /// Returns a view of this link, with borrowed names.
    pub fn view(&self) -> LinkView<'_> {
        let target = match &self.target {
            LinkTarget::Hard(address) => TargetView::Hard(*address),
            LinkTarget::Soft(path) => TargetView::Soft(path),
            LinkTarget::External { file, path } => TargetView::External { file, path },
            LinkTarget::UserDefined { class, value } => TargetView::UserDefined { class: *class, value },
        };
        LinkView { name: &self.name, charset: self.charset, creation_order: self.creation_order, target }
    }
}

impl LinkView<'_> {
    /// Returns a link with copies of the borrowed names of this view.
    pub fn to_link(self) -> Link {
        let target = match self.target {
            TargetView::Hard(address) => LinkTarget::Hard(address),
            TargetView::Soft(path) => LinkTarget::Soft(path.to_vec()),
            TargetView::External { file, path } => {
                LinkTarget::External { file: file.to_vec(), path: path.to_vec() }
            }
            TargetView::UserDefined { class, value } => {
                LinkTarget::UserDefined { class, value: value.to_vec() }
            }
        };
        Link { name: self.name.to_vec(), charset: self.charset, creation_order: self.creation_order, target }
    }
}
