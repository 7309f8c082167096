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
