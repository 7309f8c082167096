//! The rights to read and to change a file, and the open editors of its objects.

use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;

use super::OpenFile;
use crate::error::Result;
use crate::object::attribute_edit::AttributeEditor;
use crate::object::group_edit::{GroupEditor, GroupOptions};
use crate::object::link::Link;
use crate::store::{Edit, Reading};

impl OpenFile {
    /// Writes the open editors of the file, and returns a `Reading`: the right to read the
    /// structure of the file. One thread may hold several `Reading`s, but not together with an
    /// [`Edit`].
    ///
    /// # Errors
    /// Returns the errors of writing the open objects.
    pub fn reading(&self) -> Result<Reading<'_>> {
        self.editors.reading(&self.container)
    }

    /// Writes the unsaved changes of all open editors (objects that are being changed) to the file.
    /// Returns an [`Edit`]: the exclusive right to change the file.
    ///
    /// # Errors
    /// As [`edit_deferred`](Self::edit_deferred), and the errors of writing the open objects.
    pub fn edit(&self) -> Result<Edit<'_>> {
        self.editors.edit(&self.container)
    }

    /// Returns an [`Edit`], the exclusive right to change the file, without writing the open
    /// editors. The blocks of the edited objects in the file may therefore be out of date.
    ///
    /// # Errors
    /// As [`Store::edit`](crate::store::Store::edit).
    pub fn edit_deferred(&self) -> Result<Edit<'_>> {
        self.container.store.edit()
    }

    /// Writes the changes in all open editors of the file to the blocks of the edited objects.
    ///
    /// # Errors
    /// Returns the errors of allocating and reading.
    pub fn flush_editors(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.editors.flush(&self.container, edit)
    }

    /// Returns whether an object of the file has an open editor.
    pub(super) fn is_open(&self, object: Address) -> bool {
        self.editors.is_open(object)
    }

    /// Returns whether an object has an open editor, in a file that is open for writing.
    pub fn has_open_editor(&self, object: Address) -> bool {
        self.container.store.is_writable() && self.is_open(object)
    }

    /// Opens the attribute editor of an object and calls `work` with the editor. The write of the
    /// editor's changes is deferred.
    ///
    /// # Errors
    /// Returns the errors of reading the header, and those of `work`.
    pub fn with_attributes<T>(
        &self,
        edit: &mut Edit<'_>,
        object: Address,
        work: impl FnOnce(&mut AttributeEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.editors.with_attributes(&self.container, edit, object, work)
    }

    /// Opens the link editor of a group and calls `work` with the editor. The write of the editor's
    /// changes is deferred.
    ///
    /// # Errors
    /// Returns the errors of reading the group, and those of `work`.
    pub fn with_links<T>(
        &self,
        edit: &mut Edit<'_>,
        group: Address,
        work: impl FnOnce(&mut GroupEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.editors.with_links(&self.container, edit, group, work)
    }

    /// Creates a group, returns its address, and defers the write of its object header.
    ///
    /// # Errors
    /// Returns the errors of allocating and of shared messages.
    pub fn create_group_deferred(&self, edit: &mut Edit<'_>, options: &GroupOptions) -> Result<Address> {
        self.create_filtered_group_deferred(edit, options, &Pipeline::default())
    }

    /// Creates a group with a filter pipeline for its links in dense storage, as
    /// [`create_group_deferred`](Self::create_group_deferred).
    ///
    /// # Errors
    /// Returns the errors of allocating, and [`Error::Misuse`](crate::Error::Misuse) for too many
    /// filters.
    pub fn create_filtered_group_deferred(
        &self,
        edit: &mut Edit<'_>,
        options: &GroupOptions,
        filters: &Pipeline,
    ) -> Result<Address> {
        self.editors.create_group(&self.container, edit, options, filters)
    }

    /// Adds a hard link to a group, and increases the reference count of the linked object. Defers
    /// the writes of both object headers.
    ///
    /// # Errors
    /// Returns [`Error::Exists`](crate::Error::Exists) if the name is taken, and
    /// [`Error::Misuse`](crate::Error::Misuse) if the name is invalid or `group` is not a group.
    pub fn add_hard_link_deferred(
        &self,
        edit: &mut Edit<'_>,
        group: Address,
        link: &Link,
        object: Address,
    ) -> Result<()> {
        self.editors.add_hard_link(&self.container, edit, group, link, object)
    }
}
