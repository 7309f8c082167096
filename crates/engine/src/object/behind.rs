//! Changes that wait in memory: the object and the group that were changed last stay open, because what is changed
//! next is mostly the same one.
//!
//! Whoever changes one of them and knows that it may be open asks for [`Container::edit_behind`] and goes through
//! [`Container::with_attributes`] and [`Container::with_links`]. All others take [`Container::edit`] or
//! [`Container::reading`], under which everything is in its blocks.

use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_format::codec::Address;
use hyperslab_format::message::SymbolTable;
use parking_lot::Mutex;

use super::attribute_edit::{AttributeEditor, OpenAttributes};
use super::container::Container;
use super::group_edit::{GroupEditor, OpenLinks};
use super::header_edit::HeaderEditor;
use crate::error::Result;
use crate::store::{Edit, Reading};

/// Why nothing more is written if what waited cannot be.
const UNFINISHED: &str =
    "a change of attributes or links that waited in memory could not be put into the file";

/// What is open. An object is open once: as itself or as a group.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// Whether something may be open: readers of files that nobody writes never touch the lock.
    waiting: AtomicBool,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    object: Option<Box<OpenAttributes>>,
    group: Option<Box<OpenLinks>>,
}

impl Behind {
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

impl Container {
    /// Keeps writers away, with nothing open. May be held several times by one thread, but not by one that has an
    /// [`Edit`].
    ///
    /// # Errors
    /// Those of writing what waits.
    pub fn reading(&self) -> Result<Reading<'_>> {
        loop {
            let reading = self.store.reading();
            if !self.behind.waiting.load(Ordering::Acquire) {
                return Ok(reading);
            }
            drop(reading);
            self.settle(&mut self.store.edit()?)?;
        }
    }

    /// The right to change the file, with nothing open.
    ///
    /// # Errors
    /// As [`Store::edit`](crate::store::Store::edit), and those of writing what waits.
    pub fn edit(&self) -> Result<Edit<'_>> {
        let mut edit = self.store.edit()?;
        self.settle(&mut edit)?;
        Ok(edit)
    }

    /// The right to change the file for those who know that objects may be open.
    ///
    /// # Errors
    /// As [`Store::edit`](crate::store::Store::edit).
    pub fn edit_behind(&self) -> Result<Edit<'_>> {
        self.store.edit()
    }

    /// Puts everything that waits into its blocks.
    ///
    /// # Errors
    /// Those of allocating and of what has to be read.
    pub fn settle(&self, edit: &mut Edit<'_>) -> Result<()> {
        if !self.behind.waiting.load(Ordering::Acquire) {
            return Ok(());
        }
        self.settle_object(edit)?;
        self.settle_group(edit)?;
        self.behind.waiting.store(false, Ordering::Release);
        Ok(())
    }

    /// Puts the object that is open into its blocks.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn settle_object(&self, edit: &mut Edit<'_>) -> Result<()> {
        match self.behind.take_object() {
            Some(object) => self.finish_object(edit, object),
            None => Ok(()),
        }
    }

    /// What waited was said to be done: if it cannot be, the file stays what it was committed as.
    fn finish_object(&self, edit: &mut Edit<'_>, object: Box<OpenAttributes>) -> Result<()> {
        let finished = AttributeEditor::resume(self, object).finish(edit);
        finished.inspect_err(|_| self.store.give_up(UNFINISHED))
    }

    fn finish_group(&self, edit: &mut Edit<'_>, group: Box<OpenLinks>) -> Result<()> {
        let finished = GroupEditor::resume(self, group).finish(edit);
        finished.inspect_err(|_| self.store.give_up(UNFINISHED))
    }

    fn settle_group(&self, edit: &mut Edit<'_>) -> Result<()> {
        match self.behind.take_group() {
            Some(group) => self.finish_group(edit, group),
            None => Ok(()),
        }
    }

    /// Whether objects may stay open: not where one object's messages are found in the header of another one.
    fn stays_open(&self) -> bool {
        self.shared_messages.is_none()
    }

    /// Whether the object is open.
    pub fn is_open(&self, address: Address) -> bool {
        self.behind.waiting.load(Ordering::Acquire) && {
            let open = self.behind.open.lock();
            open.object.as_ref().is_some_and(|object| object.address() == address)
                || open.group.as_ref().is_some_and(|group| group.address() == address)
        }
    }

    /// Opens an object and does something with its attributes and header; they are written later.
    ///
    /// # Errors
    /// Those of reading the header, and of `work`.
    pub fn with_attributes<T>(
        &self,
        edit: &mut Edit<'_>,
        object: Address,
        work: impl FnOnce(&mut AttributeEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut editor = match self.behind.take_object() {
            Some(open) if open.address() == object => AttributeEditor::resume(self, open),
            other => {
                if let Some(other) = other {
                    self.finish_object(edit, other)?;
                }
                if self.is_open(object) {
                    self.settle_group(edit)?;
                }
                AttributeEditor::open(self, object)?
            }
        };
        let outcome = work(&mut editor, edit);
        if self.stays_open() {
            self.behind.keep_object(editor.suspend());
            return outcome;
        }
        outcome.and_then(|outcome| editor.finish(edit).map(|()| outcome))
    }

    /// Opens a group and does something with its links; they are written later.
    ///
    /// # Errors
    /// Those of reading the group, and of `work`.
    pub fn with_links<T>(
        &self,
        edit: &mut Edit<'_>,
        group: Address,
        work: impl FnOnce(&mut GroupEditor<'_>, &mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut editor = match self.behind.take_group() {
            Some(open) if open.address() == group => GroupEditor::resume(self, open),
            other => {
                if let Some(other) = other {
                    self.finish_group(edit, other)?;
                }
                if self.is_open(group) {
                    self.settle_object(edit)?;
                }
                GroupEditor::open(self, group)?
            }
        };
        let outcome = work(&mut editor, edit);
        if self.stays_open() {
            self.behind.keep_group(editor.suspend());
            return outcome;
        }
        outcome.and_then(|outcome| editor.finish(edit).map(|()| outcome))
    }

    /// Lets the header of a new object be the one that is open.
    ///
    /// # Errors
    /// Those of writing the one that was open, and of the header's messages.
    pub fn keep_open(&self, edit: &mut Edit<'_>, header: HeaderEditor) -> Result<()> {
        self.settle_object(edit)?;
        let editor = AttributeEditor::of(self, header)?;
        if !self.stays_open() {
            return editor.finish(edit);
        }
        self.behind.keep_object(editor.suspend());
        Ok(())
    }

    /// Does something with the header of the object, if that is open as itself.
    pub fn with_open_header<T>(
        &self,
        address: Address,
        work: impl FnOnce(&mut HeaderEditor) -> Result<T>,
    ) -> Option<Result<T>> {
        if !self.behind.waiting.load(Ordering::Acquire) {
            return None;
        }
        let mut open = self.behind.open.lock();
        let object = open.object.as_mut().filter(|object| object.address() == address)?;
        Some(work(object.header_to_change()))
    }

    /// What the header of the object says of its symbol table, if that is open as itself.
    pub(super) fn open_symbol_table(&self, address: Address) -> Option<Result<Option<SymbolTable>>> {
        let open = self.behind.open.lock();
        let object = open.object.as_ref().filter(|object| object.address() == address)?;
        Some(object.header().decode())
    }
}
