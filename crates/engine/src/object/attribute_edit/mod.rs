//! Attributes that are set, renamed and removed, in the object header or in a heap of their own.

mod message;
mod shared;
mod storage;
#[cfg(test)]
mod tests;

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    Attribute as AttributeMessage, AttributeInfo, Message as _, MessageFlags, MessageType,
};
use hyperslab_format::object_header::AttributePhaseChange;

use self::message::{LONGEST_IN_OLD, check_name, too_long_for_old_header};
use super::container::Container;
use super::header::Prefix;
use super::header_edit::{HeaderEditor, now};
use super::path::lossy;
use super::pending::Pending;
use super::sharing::Placed;
use crate::error::{Error, Result};
use crate::store::{Bytes, Edit, at};

pub use self::message::NewAttribute;

const NONE: MessageFlags = MessageFlags::empty();

/// An object whose attributes are being changed. What its header says is written by [`finish`](Self::finish), so
/// that many attributes can be set at once.
#[derive(Debug)]
pub struct AttributeEditor<'c> {
    container: &'c Container,
    open: Box<OpenAttributes>,
}

/// What an editor knows, apart from the file.
#[derive(Debug)]
pub(super) struct OpenAttributes {
    header: HeaderEditor,
    info: Option<AttributeInfo>,
    phase_change: AttributePhaseChange,
    /// Attributes in the header.
    compact: usize,
    /// Attributes that are to come into the heap.
    pending: Pending,
    /// Whether the heap, if there is one, may have others.
    stored: bool,
    changed: bool,
}

impl OpenAttributes {
    /// Where the object's header lies.
    pub(super) fn address(&self) -> Address {
        self.header.address()
    }

    pub(super) fn header(&self) -> &HeaderEditor {
        &self.header
    }

    pub(super) fn header_to_change(&mut self) -> &mut HeaderEditor {
        self.changed = true;
        &mut self.header
    }
}

/// Sets an attribute: makes it, or puts it in place of the one of that name.
///
/// # Errors
/// [`Error::Misuse`] if the name or the number of bytes is wrong, or the attribute is too long for the header of an
/// old object.
pub fn set(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    attribute: &NewAttribute<'_>,
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.set(edit, attribute)?;
    editor.finish(edit)
}

/// Makes an attribute.
///
/// # Errors
/// [`Error::Exists`] if there is one of that name; as [`set`].
pub fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    attribute: &NewAttribute<'_>,
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    if editor.contains(edit, attribute.name)? {
        return Err(Error::Exists { what: "attribute", name: lossy(attribute.name) });
    }
    editor.set(edit, attribute)?;
    editor.finish(edit)
}

/// Removes an attribute.
///
/// # Errors
/// [`Error::NotFound`] if there is none of that name.
pub fn remove(container: &Container, edit: &mut Edit<'_>, object: Address, name: &[u8]) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.remove(edit, name)?;
    editor.finish(edit)
}

/// Gives an attribute another name. It keeps its place in the order of creation.
///
/// # Errors
/// [`Error::NotFound`] if there is none of the old name, [`Error::Exists`] if there is one of the new name.
pub fn rename(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    from: &[u8],
    to: (&[u8], CharacterSet),
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.rename(edit, from, to)?;
    editor.finish(edit)
}

impl<'c> AttributeEditor<'c> {
    /// Opens an object to change its attributes.
    ///
    /// # Errors
    /// If its header cannot be read.
    pub fn open(container: &'c Container, object: Address) -> Result<Self> {
        let mut editor = Self::of(container, HeaderEditor::load(&container.store, object)?)?;
        editor.open.changed = false;
        Ok(editor)
    }

    /// Changes the attributes of an object whose header is other than in the file.
    ///
    /// # Errors
    /// If what the header says of attributes is damaged.
    pub(super) fn of(container: &'c Container, header: HeaderEditor) -> Result<Self> {
        let info = header.decode::<AttributeInfo>()?;
        let phase_change = match header.prefix() {
            Prefix::V1(_) => None,
            Prefix::V2(prefix) => prefix.phase_change,
        };
        let compact = header.messages_of(MessageType::ATTRIBUTE).count();
        let phase_change = phase_change.unwrap_or_default();
        let pending = Pending::default();
        Ok(Self {
            container,
            open: Box::new(OpenAttributes {
                header,
                info,
                phase_change,
                compact,
                pending,
                stored: true,
                changed: true,
            }),
        })
    }

    pub(super) fn resume(container: &'c Container, open: Box<OpenAttributes>) -> Self {
        Self { container, open }
    }

    pub(super) fn suspend(self) -> Box<OpenAttributes> {
        self.open
    }

    /// The object's header, to be changed.
    pub fn header(&mut self) -> &mut HeaderEditor {
        self.open.header_to_change()
    }

    /// Whether there is an attribute of that name.
    ///
    /// # Errors
    /// If the object's structures are damaged.
    pub fn contains(&self, edit: &Edit<'_>, name: &[u8]) -> Result<bool> {
        match self.dense() {
            Some(_) if self.open.pending.find(name).is_some() => Ok(true),
            Some(_) if !self.open.stored => Ok(false),
            Some(dense) => Ok(dense.find(self.container, edit, name)?.is_some()),
            None => Ok(self.find_compact(name)?.is_some()),
        }
    }

    /// Sets an attribute: makes it, or puts it in place of the one of that name, whose place in the order of creation
    /// it takes. Gives the message of the one before.
    ///
    /// # Errors
    /// As [`set`].
    pub fn set(&mut self, edit: &mut Edit<'_>, attribute: &NewAttribute<'_>) -> Result<Option<Bytes>> {
        attribute.check()?;
        let plain = attribute.encode(edit, None)?;
        if self.version() == 1 && plain.len() > LONGEST_IN_OLD {
            return Err(too_long_for_old_header(attribute.name, plain.len()));
        }
        // Counted before the one that is replaced is uncounted: it may be of the same type.
        if let Some(committed) = attribute.committed {
            self.refer(edit, committed)?;
        }
        let placed = self.place(edit, attribute, plain)?;
        if let Some(before) = self.replace(edit, attribute.name, &placed)? {
            self.open.changed = true;
            return Ok(Some(before));
        }
        let order = self.next_order()?;
        self.insert(edit, attribute.name, order, &placed)?;
        self.note_order(order)?;
        self.open.changed = true;
        Ok(None)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none of that name.
    pub fn remove(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<()> {
        let not_found = || Error::NotFound { what: "attribute", name: lossy(name) };
        self.insert_pending(edit)?;
        let stored = self.take(edit, name)?.ok_or_else(not_found)?;
        self.open.changed = true;
        self.release(edit, &stored)?;
        match self.dense() {
            Some(dense) => {
                let left = dense.len(edit)?;
                if left == 0 {
                    dense.delete(edit)?;
                    self.forget_info();
                } else if left < u64::from(self.open.phase_change.min_dense) {
                    self.become_compact(edit, &dense)?;
                }
            }
            None if self.open.compact == 0 => self.forget_info(),
            None => {}
        }
        Ok(())
    }

    /// Gives an attribute another name.
    ///
    /// # Errors
    /// As [`rename`].
    pub fn rename(&mut self, edit: &mut Edit<'_>, from: &[u8], to: (&[u8], CharacterSet)) -> Result<()> {
        check_name(to.0)?;
        self.insert_pending(edit)?;
        if self.contains(edit, to.0)? {
            return Err(Error::Exists { what: "attribute", name: lossy(to.0) });
        }
        let not_found = || Error::NotFound { what: "attribute", name: lossy(from) };
        let stored = self.take(edit, from)?.ok_or_else(not_found)?;
        let message = at(AttributeMessage::decode(&stored.body, self.container.params()), self.address())?;
        let version = if to.1 == CharacterSet::Ascii { message.version } else { 3 };
        let renamed = AttributeMessage { version, name: to.0, charset: to.1, ..message };
        let body = renamed.to_bytes(self.container.params())?;
        self.open.changed = true;
        if self.container.shared_messages.is_none() {
            return self.insert(edit, to.0, stored.order, &Placed::own(stored.flags, body));
        }
        let placed = self.place_renamed(edit, stored.flags, body)?;
        self.insert(edit, to.0, stored.order, &placed)?;
        self.release(edit, &stored)
    }

    /// Writes what the header says of the attributes.
    ///
    /// # Errors
    /// As [`HeaderEditor::save`].
    pub fn finish(mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.open.changed {
            self.insert_pending(edit)?;
            self.open.header.touch(now())?;
            self.open.header.save(edit)?;
        }
        Ok(())
    }

    fn address(&self) -> Address {
        self.open.header.address()
    }

    fn version(&self) -> u8 {
        self.open.header.version()
    }
}
