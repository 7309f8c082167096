//! References: elements that point at objects, regions of datasets and attributes.

use hyperslab_engine::data::ReferenceTarget as EngineTarget;

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

impl ReferenceTarget {
    pub(crate) fn new(target: EngineTarget) -> Self {
        match target {
            EngineTarget::Null => Self::Null,
            EngineTarget::Object(address) => Self::Object(ObjectToken(address.raw())),
            EngineTarget::Region(address, selection) => Self::Region(ObjectToken(address.raw()), selection),
            EngineTarget::Attribute(address, name) => Self::Attribute(ObjectToken(address.raw()), name),
            EngineTarget::External(file) => Self::External(file),
        }
    }
}
