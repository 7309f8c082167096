//! Changes of attributes: attributes are set, renamed and removed, in compact and dense storage.

mod message;
mod shared;
mod storage;
#[cfg(test)]
mod tests;

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::{Address, checksum};
use hyperslab_format::message::{AttributeInfo, AttributeMessage, Message as _, MessageFlags, MessageType};
use hyperslab_format::object_header::AttributePhaseChange;

use self::message::{MAX_V1_MESSAGE_BYTES, check_name, too_long_for_v1_header};
use super::container::Container;
use super::deferred::Deferred;
use super::header_edit::{HeaderEditor, now};
use super::path::lossy;
use super::sharing::Placed;
use super::stored_names::StoredNames;
use crate::error::{Error, Result};
use crate::store::{Bytes, Edit, at};

pub use self::message::NewAttribute;

const NONE: MessageFlags = MessageFlags::empty();

/// An editor of an object's attributes. Its method [`finish`](Self::finish) writes the object
/// header, so that one write covers many changes.
#[derive(Debug)]
pub struct AttributeEditor<'c> {
    container: &'c Container,
    open: Box<OpenAttributes>,
}

/// The state of an attribute editor that stays in memory between two edits. The state does not
/// include the access to the file.
#[derive(Debug)]
pub(super) struct OpenAttributes {
    header: HeaderEditor,
    info: Option<AttributeInfo>,
    phase_change: AttributePhaseChange,
    /// Number of attributes in compact storage.
    compact: usize,
    /// Deferred attributes for dense storage.
    deferred: Deferred,
    /// The names of the attributes in dense storage.
    stored: StoredNames,
    changed: bool,
}

impl OpenAttributes {
    /// Returns the address of the object header that an attribute editor changes.
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

/// Sets an attribute of an object: creates the attribute, or replaces the attribute with the same
/// name.
///
/// # Errors
/// Returns [`Error::Misuse`] if the name or the number of bytes is wrong, or if the attribute is
/// too long for a version 1 object header.
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

/// Creates an attribute of an object. No attribute of the object may have its name.
///
/// # Errors
/// Returns [`Error::Exists`] if the object has an attribute with this name, and the errors of
/// [`set`].
pub fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    attribute: &NewAttribute<'_>,
) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    if editor.contains(edit, attribute.name)? {
        return Err(Error::Exists { subject: "attribute", name: lossy(attribute.name) });
    }
    editor.set(edit, attribute)?;
    editor.finish(edit)
}

/// Removes the attribute with the name `name` from an object.
///
/// # Errors
/// Returns [`Error::NotFound`] if the object has no attribute with this name.
pub fn remove(container: &Container, edit: &mut Edit<'_>, object: Address, name: &[u8]) -> Result<()> {
    let mut editor = AttributeEditor::open(container, object)?;
    editor.remove(edit, name)?;
    editor.finish(edit)
}

/// Renames an attribute of an object. The creation order of the attribute stays the same.
///
/// # Errors
/// Returns [`Error::NotFound`] if there is no attribute with the old name, and [`Error::Exists`] if
/// there is an attribute with the new name.
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
    /// Opens an editor of the attributes of the object at the address `object`.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn open(container: &'c Container, object: Address) -> Result<Self> {
        let mut editor = Self::of(container, HeaderEditor::load(&container.store, object)?)?;
        editor.open.changed = false;
        Ok(editor)
    }

    /// Creates an editor of the attributes of an object from the editor of the object header.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the attribute info message is damaged.
    pub(super) fn of(container: &'c Container, header: HeaderEditor) -> Result<Self> {
        let info = header.decode::<AttributeInfo>()?;
        let phase_change = header.prefix().attribute_phase_change();
        let compact = header.messages_of(MessageType::ATTRIBUTE).count();
        let deferred = Deferred::default();
        Ok(Self {
            container,
            open: Box::new(OpenAttributes {
                header,
                info,
                phase_change,
                compact,
                deferred,
                stored: StoredNames::Unknown,
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

    /// Returns the editor of the object header that holds this attribute editor's attributes.
    pub fn header(&mut self) -> &mut HeaderEditor {
        self.open.header_to_change()
    }

    /// Returns whether the object of this attribute editor has an attribute with the name `name`.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn contains(&self, edit: &Edit<'_>, name: &[u8]) -> Result<bool> {
        match self.dense() {
            Some(_) if self.open.deferred.find(name).is_some() => Ok(true),
            Some(_) if !self.may_be_stored(name) => Ok(false),
            Some(dense) => Ok(dense.find(self.container, edit, name)?.is_some()),
            None => Ok(self.find_compact(name)?.is_some()),
        }
    }

    /// Returns the message of the attribute `name` of this attribute editor's object. Returns
    /// `None` if no attribute has this name.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn message(&self, edit: &Edit<'_>, name: &[u8]) -> Result<Option<Bytes>> {
        let stored = match self.dense() {
            Some(dense) => match self.open.deferred.find(name) {
                Some(number) => Some(self.deferred(number)?),
                None if !self.may_be_stored(name) => None,
                None => self.find_dense(edit, &dense, name)?,
            },
            None => self.find_compact(name)?.map(|id| self.stored(id)).transpose()?,
        };
        Ok(stored.map(|stored| stored.body))
    }

    /// Sets an attribute of the editor's object. Creates the attribute, or replaces the attribute
    /// with the same name and keeps its creation order. Returns the message of the replaced
    /// attribute.
    ///
    /// # Errors
    /// Returns the errors of [`set`].
    pub fn set(&mut self, edit: &mut Edit<'_>, attribute: &NewAttribute<'_>) -> Result<Option<Bytes>> {
        attribute.check()?;
        let plain = attribute.encode(edit, None)?;
        if self.version() == 1 && plain.len() > MAX_V1_MESSAGE_BYTES {
            return Err(too_long_for_v1_header(attribute.name, plain.len()));
        }
        // Increase this count before decreasing the count of the replaced attribute's datatype,
        // because both can be the same datatype.
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
        self.record_order(order)?;
        self.open.changed = true;
        Ok(None)
    }

    /// Removes the attribute with the name `name` from the object of this attribute editor.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if the object has no attribute with this name.
    pub fn remove(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<()> {
        let not_found = || Error::NotFound { subject: "attribute", name: lossy(name) };
        self.insert_deferred(edit)?;
        let stored = self.take(edit, name)?.ok_or_else(not_found)?;
        self.open.changed = true;
        self.release(edit, &stored)?;
        match self.dense() {
            Some(dense) => {
                let remaining = dense.len(edit)?;
                if remaining == 0 {
                    dense.delete(edit)?;
                    self.remove_info()?;
                } else if remaining < u64::from(self.open.phase_change.min_dense) {
                    self.become_compact(edit, &dense)?;
                }
            }
            None if self.open.compact == 0 => self.remove_info()?,
            None => {}
        }
        Ok(())
    }

    /// Renames the attribute `from` of this attribute editor's object to `to`. The creation order
    /// stays the same.
    ///
    /// # Errors
    /// Returns the errors of [`rename`].
    pub fn rename(&mut self, edit: &mut Edit<'_>, from: &[u8], to: (&[u8], CharacterSet)) -> Result<()> {
        check_name(to.0)?;
        self.insert_deferred(edit)?;
        if self.contains(edit, to.0)? {
            return Err(Error::Exists { subject: "attribute", name: lossy(to.0) });
        }
        let not_found = || Error::NotFound { subject: "attribute", name: lossy(from) };
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

    /// Writes the object header with the changed attributes of this attribute editor.
    ///
    /// # Errors
    /// Returns the errors of [`HeaderEditor::save`].
    pub fn finish(mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.open.changed {
            self.insert_deferred(edit)?;
            self.open.header.touch(now())?;
            self.open.header.save(edit)?;
        }
        Ok(())
    }

    /// Returns whether dense storage may contain the attribute `name`.
    fn may_be_stored(&self, name: &[u8]) -> bool {
        self.open.stored.may_contain(|| checksum(name))
    }

    fn address(&self) -> Address {
        self.open.header.address()
    }

    fn version(&self) -> u8 {
        self.open.header.version()
    }
}
