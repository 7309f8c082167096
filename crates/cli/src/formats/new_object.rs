//! The new object that an import creates.

use anyhow::Result;
use hyperslab::{DatasetBuilder, File, Group};

/// An object that a command creates. A link to the object is created when the object is complete.
#[derive(Debug)]
pub(crate) struct NewObject<'f> {
    pub(crate) file: &'f File,
    /// A group without a link, which holds the object.
    holder: Group,
    name: String,
}

impl<'f> NewObject<'f> {
    /// Returns the description of a new object that will be the member `name` of the group
    /// `holder`.
    pub(crate) fn new(file: &'f File, holder: Group, name: String) -> Self {
        Self { file, holder, name }
    }

    /// Returns the builder of a dataset that becomes the new object.
    pub(crate) fn dataset(&self) -> DatasetBuilder {
        self.holder.new_dataset(&self.name)
    }

    /// Creates a group that becomes the new object.
    pub(crate) fn group(&self) -> Result<Group> {
        Ok(self.holder.create_group(&self.name)?)
    }

    /// Returns the group in which the command creates the new object.
    pub(crate) fn holder(&self) -> &Group {
        &self.holder
    }

    /// Returns the name of the new object in its group.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}
