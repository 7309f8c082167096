//! References: elements that point at objects, regions of datasets and attributes.

use crate::{ObjectToken, Selection};

/// What a reference points at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReferenceTarget {
    /// Nothing.
    Null,
    /// An object of this file.
    Object(ObjectToken),
    /// Elements of a dataset of this file.
    Region(ObjectToken, Selection),
    /// An attribute of an object of this file, by the bytes of its name.
    Attribute(ObjectToken, Vec<u8>),
    /// Something in another file, by the bytes of its name.
    External(Vec<u8>),
}
