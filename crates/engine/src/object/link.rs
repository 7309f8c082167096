//! Links: the names in a group and what they lead to.

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;

/// A name in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name, as the bytes in the file.
    pub name: Vec<u8>,
    /// How the name is encoded.
    pub charset: CharacterSet,
    /// When it was created among the links of its group, where tracked.
    pub creation_order: Option<u64>,
    /// What it leads to.
    pub target: LinkTarget,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object of this file, by its header's address.
    Hard(Address),
    /// A path in this file, looked up when it is followed.
    Soft(Vec<u8>),
    /// An object in another file.
    External {
        /// Name of the file.
        file: Vec<u8>,
        /// Path in that file.
        path: Vec<u8>,
    },
    /// A class of link that an application defined (65 to 255).
    UserDefined {
        /// The class.
        class: u8,
        /// Its value.
        value: Vec<u8>,
    },
}

/// A [`Link`] whose names lie elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkView<'a> {
    /// The name, as the bytes in the file.
    pub name: &'a [u8],
    /// How the name is encoded.
    pub charset: CharacterSet,
    /// When it was created among the links of its group, where tracked.
    pub creation_order: Option<u64>,
    /// What it leads to.
    pub target: TargetView<'a>,
}

/// A [`LinkTarget`] whose names lie elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetView<'a> {
    /// An object of this file, by its header's address.
    Hard(Address),
    /// A path in this file, looked up when it is followed.
    Soft(&'a [u8]),
    /// An object in another file.
    External {
        /// Name of the file.
        file: &'a [u8],
        /// Path in that file.
        path: &'a [u8],
    },
    /// A class of link that an application defined (65 to 255).
    UserDefined {
        /// The class.
        class: u8,
        /// Its value.
        value: &'a [u8],
    },
}

impl Link {
    /// The link with its names where they are.
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
    /// The link with names of its own.
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
