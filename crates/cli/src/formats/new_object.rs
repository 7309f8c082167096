//! The object that an importer creates.

use anyhow::Result;
use hyperslab::{DatasetBuilder, File, Group};

/// The object that a command creates. Until the object is complete, no link leads to it.
#[derive(Debug)]
pub(crate) struct NewObject<'f> {
    pub(crate) file: &'f File,
    /// A group without a link, which holds the object.
    holder: Group,
    name: String,
}

impl<'f> NewObject<'f> {
    /// Returns the object that will have a name in a group without a link.
    pub(crate) fn new(file: &'f File, holder: Group, name: String) -> Self {
        Self { file, holder, name }
    }

    /// Returns the builder of a dataset, which becomes the object.
    pub(crate) fn dataset(&self) -> DatasetBuilder {
        self.holder.new_dataset(&self.name)
    }

    /// Creates a group, which becomes the object.
    pub(crate) fn group(&self) -> Result<Group> {
        Ok(self.holder.create_group(&self.name)?)
    }

    /// Returns the group in which the object is created.
    pub(crate) fn holder(&self) -> &Group {
        &self.holder
    }

    /// Returns the name of the object in its group.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}
