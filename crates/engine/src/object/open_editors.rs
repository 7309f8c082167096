//! Open editors: the object and the group that were changed last stay open in memory, because the next change is mostly to
//! the same ones.
//!
//! A caller that changes one of them and knows that it may be open takes the right to change the file from the store, and
//! goes through [`OpenEditors::with_attributes`] and [`OpenEditors::with_links`]. All others take
//! [`OpenEditors::edit`] or [`OpenEditors::reading`], under which everything is in its blocks.

use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_dataspace::Dataspace;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{DataLayout, SymbolTable};
use parking_lot::Mutex;

use super::attribute_edit::{AttributeEditor, OpenAttributes};
use super::container::Container;
use super::group_edit::{GroupEditor, GroupOptions, OpenHeaders, OpenLinks, prepare_group};
use super::header_edit::HeaderEditor;
use super::link::Link;
use super::{dataset_edit, delete};
use crate::error::Result;
use crate::store::{Edit, Reading};

/// The reason why nothing more is written if an open editor cannot be finished.
const UNFINISHED: &str =
    "a change of attributes or links that waited in memory could not be put into the file";

/// The open editors of one file. An object is open once: as itself or as a group.
#[derive(Debug, Default)]
pub struct OpenEditors {
    /// True if an editor may be open: readers of files that no thread writes never take the lock.
    waiting: AtomicBool,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    object: Option<Box<OpenAttributes>>,
    group: Option<Box<OpenLinks>>,
}

impl OpenEditors {
    fn take_object(&self) -> Option<Box<OpenAttributes>> {
        self.open.lock().object.take()
    }

    fn take_group(&self) -> Option<Box<OpenLinks>> {
        self.open.lock().group.take()
    }

    fn keep_object(&self, object: Box<OpenAttributes>) {
        self.open.lock().object = Some(object);
        self.waiting.store(true, Ordering::Release);
    }

    fn keep_group(&self, group: Box<OpenLinks>) {
        self.open.lock().group = Some(group);
        self.waiting.store(true, Ordering::Release);
    }
}

impl OpenEditors {
    /// Returns the right to read, with no object open. One thread may hold it several times, but not together with an
    /// [`Edit`].
    ///
    /// # Errors
    /// The errors of writing the open objects.
    pub fn reading<'c>(&self, container: &'c Container) -> Result<Reading<'c>> {
        loop {
            let reading = container.store.reading();
            if !self.waiting.load(Ordering::Acquire) {
                return Ok(reading);
            }
            drop(reading);
            self.settle(container, &mut container.store.edit()?)?;
        }
    }

    /// Returns the right to change the file, with no object open.
    ///
    /// # Errors
    /// As [`Store::edit`](crate::store::Store::edit), and those of writing the open objects.
    pub fn edit<'c>(&self, container: &'c Container) -> Result<Edit<'c>> {
        let mut edit = container.store.edit()?;
        self.settle(container, &mut edit)?;
        Ok(edit)
    }

    /// Writes the open object and the open group into their blocks.
    ///
    /// # Errors
    /// The errors of allocating and of what has to be read.
    pub fn settle(&self, container: &Container, edit: &mut Edit<'_>) -> Result<()> {
        if !self.waiting.load(Ordering::Acquire) {
            return Ok(());
        }
        self.settle_object(container, edit)?;
        self.settle_group(container, edit)?;
        self.waiting.store(false, Ordering::Release);
        Ok(())
    }

    /// Writes the open object into its blocks.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn settle_object(&self, container: &Container, edit: &mut Edit<'_>) -> Result<()> {
        match self.take_object() {
            Some(object) => Self::finish_object(container, edit, object),
            None => Ok(()),
        }
    }

    /// Writes an object into its blocks. The caller of the change was told that it is done: if the write fails, the file
    /// stays as it was committed.
    fn finish_object(container: &Container, edit: &mut Edit<'_>, object: Box<OpenAttributes>) -> Result<()> {
        let finished = AttributeEditor::resume(container, object).finish(edit);
        finished.inspect_err(|_| container.store.refuse_writes(UNFINISHED))
    }

    fn finish_group(container: &Container, edit: &mut Edit<'_>, group: Box<OpenLinks>) -> Result<()> {
        let finished = GroupEditor::resume(container, group).finish(edit);
        finished.inspect_err(|_| container.store.refuse_writes(UNFINISHED))
    }

    fn settle_group(&self, container: &Container, edit: &mut Edit<'_>) -> Result<()> {
        match self.take_group() {
            Some(group) => Self::finish_group(container, edit, group),
            None => Ok(()),
        }
    }

    /// Returns whether objects may stay open: not in files with shared messages, which lead from one header to another.
    fn stays_open(container: &Container) -> bool {
        container.shared_messages.is_none()
    }

    /// Returns whether the object is open.
    pub fn is_open(&self, address: Address) -> bool {
        self.waiting.load(Ordering::Acquire) && {
            let open = self.open.lock();
            open.object.as_ref().is_some_and(|object| object.address() == address)
                || open.group.as_ref().is_some_and(|group| group.address() == address)
        }
    }

    /// Opens an object and calls `work` with its attributes and header, which are written later.
    ///
    /// # Errors
    /// The errors of reading the header, and of `work`.
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
                if self.is_open(object) {
                    self.settle_group(container, edit)?;
                }
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

    /// Opens a group and calls `work` with its links, which are written later.
    ///
    /// # Errors
    /// The errors of reading the group, and of `work`.
    pub fn with_links<T>(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        group: Address,
        work: impl FnOnce(&mut GroupEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut editor = match self.take_group() {
            Some(open) if open.address() == group => GroupEditor::resume(container, open),
            other => {
                if let Some(other) = other {
                    Self::finish_group(container, edit, other)?;
                }
                if self.is_open(group) {
                    self.settle_object(container, edit)?;
                }
                GroupEditor::open(container, group)?
            }
        };
        editor.consider(self);
        let outcome = work(&mut editor, edit);
        if Self::stays_open(container) {
            self.keep_group(editor.suspend());
            return outcome;
        }
        outcome.and_then(|outcome| editor.finish(edit).map(|()| outcome))
    }

    /// Keeps the header of a new object open.
    ///
    /// # Errors
    /// The errors of writing the one that was open, and of the header's messages.
    pub fn keep_open(&self, container: &Container, edit: &mut Edit<'_>, header: HeaderEditor) -> Result<()> {
        self.settle_object(container, edit)?;
        let editor = AttributeEditor::of(container, header)?;
        if !Self::stays_open(container) {
            return editor.finish(edit);
        }
        self.keep_object(editor.suspend());
        Ok(())
    }

    /// Calls `work` with the header of the object, if that is open as itself.
    fn with_open_header<T>(
        &self,
        address: Address,
        work: impl FnOnce(&mut HeaderEditor) -> Result<T>,
    ) -> Option<Result<T>> {
        if !self.waiting.load(Ordering::Acquire) {
            return None;
        }
        let mut open = self.open.lock();
        let object = open.object.as_mut().filter(|object| object.address() == address)?;
        Some(work(object.header_to_change()))
    }

    /// Creates a group whose header stays open, to be written later.
    ///
    /// # Errors
    /// As [`create_group`](super::group_edit::create_group).
    pub fn create_group(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        options: &GroupOptions,
    ) -> Result<Address> {
        // The object that is open may still grow: it gets its space first.
        self.settle_object(container, edit)?;
        let header = prepare_group(container, edit, options, options.header())?;
        let address = header.address();
        self.keep_open(container, edit, header)?;
        Ok(address)
    }

    /// Adds a hard link to a group, and counts it in the object. Group and object are written later.
    ///
    /// # Errors
    /// As [`insert_link`](super::group_edit::insert_link).
    pub fn add_hard_link(
        &self,
        container: &Container,
        edit: &mut Edit<'_>,
        group: Address,
        link: &Link,
        object: Address,
    ) -> Result<()> {
        // Refused before the object counts it.
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

    /// Writes another dataspace or layout message into the header of a dataset; into the open header, if it is open.
    ///
    /// # Errors
    /// If the header is damaged; as [`HeaderEditor::save`].
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
        let object = open.object.as_ref().filter(|open| open.address() == object)?;
        Some(object.header().decode())
    }
}
