//! Open editors. The object and the groups that were changed last stay decoded in memory, because
//! most changes affect the same object or groups as the previous changes.
//!
//! A caller that changes an object that may be open takes the exclusive access from the store, and
//! uses [`OpenEditors::with_attributes`] and [`OpenEditors::with_links`]. All other callers use
//! [`OpenEditors::edit`] or [`OpenEditors::reading`], which close the open editors first.

use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_dataspace::Dataspace;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{DataLayout, SymbolTable};
use parking_lot::Mutex;

use super::attribute_edit::{AttributeEditor, OpenAttributes};
use super::container::Container;
use super::group_edit::{GroupEditor, GroupOptions, OpenHeaders, OpenLinks, prepare_group};
use super::header_edit::HeaderEditor;
use super::link::Link;
use super::open_groups::OpenGroups;
use super::{dataset_edit, delete};
use crate::error::Result;
use crate::store::{Edit, Reading};

/// The reason that errors state after a failed write of an open editor's changes. All later writes
/// to the file are then refused.
const UNFINISHED: &str = "a deferred change of attributes or links could not be written to the file";

/// The open editors of the objects of one file. An object has at most one open editor: for its
/// attributes or for its links.
#[derive(Debug, Default)]
pub struct OpenEditors {
    /// True if an editor may be open. Readers of files without writing threads therefore never take
    /// the mutex.
    maybe_open: AtomicBool,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    object: Option<Box<OpenAttributes>>,
    groups: OpenGroups,
}

impl OpenEditors {
    fn take_object(&self) -> Option<Box<OpenAttributes>> {
        self.open.lock().object.take()
    }

    fn take_group(&self, group: Address) -> Option<Box<OpenLinks>> {
        self.open.lock().groups.take(group)
    }

    fn keep_object(&self, object: Box<OpenAttributes>) {
        self.open.lock().object = Some(object);
        self.maybe_open.store(true, Ordering::Release);
    }

    fn keep_group(&self, group: Box<OpenLinks>) {
        self.open.lock().groups.keep(group);
        self.maybe_open.store(true, Ordering::Release);
    }
}

impl OpenEditors {
    /// Writes and closes the open editors of a file. Returns shared access to the file. A thread
    /// may hold shared access several times, but not together with an [`Edit`].
    ///
    /// # Errors
    /// Returns the errors of writing the open editors.
    pub fn reading<'c>(&self, container: &'c Container) -> Result<Reading<'c>> {
        loop {
            let reading = container.store.reading();
            if !self.maybe_open.load(Ordering::Acquire) {
                return Ok(reading);
            }
            drop(reading);
            self.flush(container, &mut container.store.edit()?)?;
        }
    }

    /// Writes the unsaved changes of all open editors (objects that are being changed) to the file,
    /// and returns exclusive access to the file.
    ///
    /// # Errors
    /// Returns the errors of [`Store::edit`](crate::store::Store::edit) and of writing the open
    /// editors.
    pub fn edit<'c>(&self, container: &'c Container) -> Result<Edit<'c>> {
        let mut edit = container.store.edit()?;
        self.flush(container, &mut edit)?;
        Ok(edit)
    }

    /// Writes the changes of all open editors of a file and closes the editors.
    ///
    /// # Errors
    /// Returns allocation and read errors.
    pub fn flush(&self, container: &Container, edit: &mut Edit<'_>) -> Result<()> {
        if !self.maybe_open.load(Ordering::Acquire) {
            return Ok(());
        }
        self.flush_object(container, edit)?;
        self.flush_groups(container, edit, OpenGroups::take_oldest)?;
        self.maybe_open.store(false, Ordering::Release);
        Ok(())
    }

    /// Writes the changes of one object's open editor to the file and closes the editor.
    ///
    /// # Errors
    /// Returns the same errors as [`flush`](Self::flush).
    pub fn flush_object(&self, container: &Container, edit: &mut Edit<'_>) -> Result<()> {
        match self.take_object() {
            Some(object) => Self::finish_object(container, edit, object),
            None => Ok(()),
        }
    }

    /// Writes the changes of an object's open editor. The operations that made the changes have
    /// already returned success. If the write fails, later commits are therefore refused, and the
    /// file keeps its committed state.
    fn finish_object(container: &Container, edit: &mut Edit<'_>, object: Box<OpenAttributes>) -> Result<()> {
        let finished = AttributeEditor::resume(container, object).finish(edit);
        finished.inspect_err(|_| container.store.refuse_writes(UNFINISHED))
    }

    fn finish_group(container: &Container, edit: &mut Edit<'_>, group: Box<OpenLinks>) -> Result<()> {
        let finished = GroupEditor::resume(container, group).finish(edit);
        finished.inspect_err(|_| container.store.refuse_writes(UNFINISHED))
    }

    /// Writes the changes of the open groups that `take` returns, until it returns `None`, and
    /// closes their editors.
    fn flush_groups(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        take: impl Fn(&mut OpenGroups) -> Option<Box<OpenLinks>>,
    ) -> Result<()> {
        loop {
            let group = take(&mut self.open.lock().groups);
            let Some(group) = group else { return Ok(()) };
            Self::finish_group(container, edit, group)?;
        }
    }

    /// Returns whether the editors of a file's objects may stay open. In a file with shared
    /// messages, they may not, because a change of one object header can change another one.
    fn stays_open(container: &Container) -> bool {
        container.shared_messages.is_none()
    }

    /// Returns whether an editor of the object at `address` is open.
    pub fn is_open(&self, address: Address) -> bool {
        self.maybe_open.load(Ordering::Acquire) && {
            let open = self.open.lock();
            open.object.as_ref().is_some_and(|object| object.address() == address)
                || open.groups.get(address).is_some()
        }
    }

    /// Opens the attribute editor of an object and calls `work` with the editor. The changes of the
    /// object are written later.
    ///
    /// # Errors
    /// Returns read errors, and the errors of `work`.
    pub fn with_attributes<T>(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        object: Address,
        work: impl FnOnce(&mut AttributeEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut editor = match self.take_object() {
            Some(open) if open.address() == object => AttributeEditor::resume(container, open),
            other => {
                if let Some(other) = other {
                    Self::finish_object(container, edit, other)?;
                }
                self.flush_groups(container, edit, |groups| groups.take(object))?;
                AttributeEditor::open(container, object)?
            }
        };
        let outcome = work(&mut editor, edit);
        if Self::stays_open(container) {
            self.keep_object(editor.suspend());
            return outcome;
        }
        outcome.and_then(|outcome| editor.finish(edit).map(|()| outcome))
    }

    /// Opens the editor of a group's links and calls `work` with the editor. The changes of the
    /// group are written later.
    ///
    /// # Errors
    /// Returns read errors, and the errors of `work`.
    pub fn with_links<T>(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        group: Address,
        work: impl FnOnce(&mut GroupEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.flush_groups(container, edit, |groups| groups.take_excess(group))?;
        let mut editor = if let Some(open) = self.take_group(group) {
            GroupEditor::resume(container, open)
        } else {
            if self.is_open(group) {
                self.flush_object(container, edit)?;
            }
            GroupEditor::open(container, group)?
        };
        editor.set_open_headers(self);
        let outcome = work(&mut editor, edit);
        if Self::stays_open(container) {
            self.keep_group(editor.suspend());
            return outcome;
        }
        outcome.and_then(|outcome| editor.finish(edit).map(|()| outcome))
    }

    /// Keeps the object header of a new object in an open editor. The object header is written
    /// later.
    ///
    /// # Errors
    /// Returns the errors of writing the previous editor, and of decoding the header's messages.
    pub fn keep_open(&self, container: &Container, edit: &mut Edit<'_>, header: HeaderEditor) -> Result<()> {
        self.flush_object(container, edit)?;
        let editor = AttributeEditor::of(container, header)?;
        if !Self::stays_open(container) {
            return editor.finish(edit);
        }
        self.keep_object(editor.suspend());
        Ok(())
    }

    /// Calls `work` with the editor of an object header, if the object has an open editor for its
    /// attributes.
    fn with_open_header<T>(
        &self,
        address: Address,
        work: impl FnOnce(&mut HeaderEditor) -> Result<T>,
    ) -> Option<Result<T>> {
        if !self.maybe_open.load(Ordering::Acquire) {
            return None;
        }
        let mut open = self.open.lock();
        let object = open.object.as_mut().filter(|object| object.address() == address)?;
        Some(work(object.header_to_change()))
    }

    /// Creates a group whose object header stays in an open editor and is written later. `filters`
    /// is the pipeline for the links in dense storage. Returns the address of the group.
    ///
    /// # Errors
    /// Returns the same errors as [`create_group`](super::group_edit::create_group).
    pub fn create_group(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        options: &GroupOptions,
        filters: &Pipeline,
    ) -> Result<Address> {
        // The object of the open editor may still grow, so its space is allocated first.
        self.flush_object(container, edit)?;
        let header = prepare_group(container, edit, options, filters, options.header())?;
        let address = header.address();
        self.keep_open(container, edit, header)?;
        Ok(address)
    }

    /// Adds a hard link to a group, and increases the reference count of the linked object. Both
    /// changes are written later.
    ///
    /// # Errors
    /// Returns the same errors as [`insert_link`](super::group_edit::insert_link).
    pub fn add_hard_link(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        group: Address,
        link: &Link,
        object: Address,
    ) -> Result<()> {
        // Checks the name before the reference count changes.
        self.with_links(container, edit, group, |group, edit| group.refuse(edit, &link.name))?;
        self.with_attributes(container, edit, object, |object, edit| {
            delete::count_reference(edit.store(), object.header())
        })?;
        let inserted = self.with_links(container, edit, group, |group, edit| group.insert(edit, link));
        if inserted.is_err() {
            self.with_attributes(container, edit, object, |object, edit| {
                delete::uncount_reference(edit.store(), object.header())
            })?;
        }
        inserted
    }

    /// Overwrites the dataspace or the layout in the object header of a dataset, or in the open
    /// editor of the object header.
    ///
    /// # Errors
    /// Returns read errors, and the errors of [`HeaderEditor::save`].
    pub fn update_dataset(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        dataset: Address,
        dataspace: Option<&Dataspace>,
        layout: Option<&DataLayout>,
    ) -> Result<()> {
        let open = self.with_open_header(dataset, |header| {
            dataset_edit::restate(container, edit, header, dataspace, layout)
        });
        match open {
            Some(updated) => updated,
            None => dataset_edit::update(container, edit, dataset, dataspace, layout),
        }
    }
}

impl OpenHeaders for OpenEditors {
    fn symbol_table(&self, object: Address) -> Option<Result<Option<SymbolTable>>> {
        let open = self.open.lock();
        if let Some(group) = open.groups.get(object) {
            return Some(Ok(group.symbol_table()));
        }
        let object = open.object.as_ref().filter(|open| open.address() == object)?;
        Some(object.header().decode())
    }
}
