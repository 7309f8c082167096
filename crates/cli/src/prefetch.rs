//! Metadata of remote files that a command will read, fetched level by level before it reads it
//! object by object.

use hyperslab::{Object, ObjectKind};

/// The parts of an object that a command reads beside its header and its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// The attributes with their values.
    Attributes,
    /// The attributes, and the indexes of chunks.
    AttributesAndStorage,
}

/// Fetches the metadata of an object, and of all objects on `levels` levels below it, if the file
/// is remote.
pub(crate) fn prefetch(object: &Object, levels: usize, parts: Parts) {
    // Errors are reported by the command, which reads everything again.
    let Ok(group) = object.clone().into_group() else { return };
    let each = |object: &Object| {
        let attributes = object.attributes();
        attributes.iter().flatten().for_each(|attribute| drop(attribute.read_dyn()));
        if object.kind() == Some(ObjectKind::Dataset) {
            let dataset = object.clone().into_dataset();
            if parts == Parts::AttributesAndStorage {
                let _ = dataset.and_then(|dataset| dataset.storage_size());
            }
        }
    };
    group.prefetch(levels, each);
}
