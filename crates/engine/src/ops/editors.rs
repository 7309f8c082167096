//! The right to read and to change a file, and the objects that stay open between changes.

use hyperslab_format::codec::Address;

use super::OpenFile;
use crate::error::Result;
use crate::object::attribute_edit::AttributeEditor;
use crate::object::group_edit::{GroupEditor, GroupOptions};
use crate::object::link::Link;
use crate::store::{Edit, Reading};

impl OpenFile {
    /// Returns the right to read, with no object open. One thread may hold it several times, but not together with an
    /// [`Edit`].
    ///
    /// # Errors
    /// The errors of writing the open objects.
    pub fn reading(&self) -> Result<Reading<'_>> {
        self.editors.reading(&self.container)
    }

    /// Returns the right to change the file, with no object open.
    ///
    /// # Errors
    /// As [`edit_behind`](Self::edit_behind), and those of writing the open objects.
    pub fn edit(&self) -> Result<Edit<'_>> {
        self.editors.edit(&self.container)
    }

    /// Returns the right to change the file. Objects may be open: their blocks in the file are out of date.
    ///
    /// # Errors
    /// As [`Store::edit`](crate::store::Store::edit).
    pub fn edit_behind(&self) -> Result<Edit<'_>> {
        self.container.store.edit()
    }

    /// Writes the open objects into their blocks.
    ///
    /// # Errors
    /// The errors of allocating and of reading.
    pub fn settle_objects(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.editors.flush(&self.container, edit)
    }

    /// Returns whether an object is open.
    pub(super) fn is_open(&self, object: Address) -> bool {
        self.editors.is_open(object)
    }

    /// Opens an object and calls `work` with its attributes and header, which are written later.
    ///
    /// # Errors
    /// The errors of reading the header, and of `work`.
    pub fn with_attributes<T>(
        &self,
        edit: &mut Edit<'_>,
        object: Address,
        work: impl FnOnce(&mut AttributeEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.editors.with_attributes(&self.container, edit, object, work)
    }

    /// Opens a group and calls `work` with its links, which are written later.
    ///
    /// # Errors
    /// The errors of reading the group, and of `work`.
    pub fn with_links<T>(
        &self,
        edit: &mut Edit<'_>,
        group: Address,
        work: impl FnOnce(&mut GroupEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.editors.with_links(&self.container, edit, group, work)
    }

    /// Creates a group whose header stays open, to be written later.
    ///
    /// # Errors
    /// The errors of allocating and of shared messages.
    pub fn create_group_behind(&self, edit: &mut Edit<'_>, options: &GroupOptions) -> Result<Address> {
        self.editors.create_group(&self.container, edit, options)
    }

    /// Adds a hard link to a group, and counts it in the object. Group and object are written later.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists) if the name is taken, [`Error::Misuse`](crate::Error::Misuse) if it cannot
    /// be a name or the group is none.
    pub fn add_hard_link_behind(
        &self,
        edit: &mut Edit<'_>,
        group: Address,
        link: &Link,
        object: Address,
    ) -> Result<()> {
        self.editors.add_hard_link(&self.container, edit, group, link, object)
    }
}
