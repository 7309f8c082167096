//! Creation and changes of groups: links are inserted, removed and moved in the three kinds of
//! storage.

mod create;
mod storage;
#[cfg(test)]
mod tests;

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    ExternalLink, GroupInfo, LinkInfo, LinkMessage, LinkPhaseChange, LinkTarget as MessageTarget,
    Message as _, SymbolTable,
};

use super::container::Container;
use super::deferred::Deferred;
use super::delete::{self, RawData};
use super::group::{self, GroupStorage};
use super::header::ObjectHeader;
use super::header_edit::HeaderEditor;
use super::link::{Link, LinkTarget};
use super::path::lossy;
use super::stored_names::StoredNames;
use super::symbol_table;
use crate::error::{Error, Result};
use crate::store::Edit;

pub(super) use create::prepare_group;
pub use create::{GroupOptions, LinkOrder, create_group, create_group_from, set_root};

/// An editor of a group's links. Its method [`finish`](Self::finish) writes the object header, so
/// that one write covers many changes.
#[derive(Debug)]
pub struct GroupEditor<'c> {
    container: &'c Container,
    open: Box<OpenLinks>,
    /// Headers in open editors. The blocks of these headers in the file are out of date.
    headers: Option<&'c dyn OpenHeaders>,
}

/// A trait for access to the objects that open editors keep decoded.
pub(super) trait OpenHeaders: std::fmt::Debug {
    /// Returns the symbol table of an object, or `None` for no symbol table, if an editor of the
    /// object is open.
    fn symbol_table(&self, object: Address) -> Option<Result<Option<SymbolTable>>>;
}

/// The state of a group editor that stays in memory between two edits. The state does not include
/// the access to the file.
#[derive(Debug)]
pub(super) struct OpenLinks {
    header: HeaderEditor,
    storage: GroupStorage,
    phase_change: LinkPhaseChange,
    /// Number of links in compact storage.
    compact: usize,
    /// Deferred links for the symbol table or for dense storage.
    deferred: Deferred,
    /// The names of the links in the symbol table or in dense storage.
    stored: StoredNames,
    changed: bool,
}

impl OpenLinks {
    /// Returns the address of the object header that a group editor changes.
    pub(super) fn address(&self) -> Address {
        self.header.address()
    }

    /// Returns the symbol table of the group that a group editor changes, or `None` if the group
    /// has none.
    pub(super) fn symbol_table(&self) -> Option<SymbolTable> {
        match &self.storage {
            GroupStorage::SymbolTable(table) => Some(*table),
            GroupStorage::Compact(_) | GroupStorage::Dense(_) => None,
        }
    }

    /// Returns the bytes of memory of a group editor's state.
    pub(super) fn memory(&self) -> usize {
        // All sizes are sizes of allocations, so the sum does not overflow.
        size_of::<Self>() + self.header.memory() + self.deferred.memory() + self.stored.memory()
    }
}

/// Inserts a link into a group. If the link is a hard link, the reference count of the object must
/// already include it. See [`add_hard_link`] for objects whose count does not.
///
/// # Errors
/// Returns [`Error::Exists`] if the group has a link with this name, and [`Error::Misuse`] if the
/// name is not valid or the object is not a group.
pub fn insert_link(container: &Container, edit: &mut Edit<'_>, group: Address, link: &Link) -> Result<()> {
    let mut group = GroupEditor::open(container, group)?;
    group.insert(edit, link)?;
    group.finish(edit)
}

/// Inserts a hard link to an object into a group, and increases the reference count of the object
/// by one.
///
/// # Errors
/// Returns the same errors as [`insert_link`].
pub fn add_hard_link(
    container: &Container,
    edit: &mut Edit<'_>,
    group: Address,
    name: &[u8],
    charset: CharacterSet,
    object: Address,
) -> Result<()> {
    let link = Link { name: name.to_vec(), charset, creation_order: None, target: LinkTarget::Hard(object) };
    // The object can be the group itself, so save one header before reading the other header.
    insert_link(container, edit, group, &link)?;
    delete::add_reference(edit, object)
}

/// Removes a link from a group. Deletes the object if no links to it remain, and all objects that
/// only this object refers to. `raw` frees the raw data of datasets.
///
/// # Errors
/// Returns [`Error::NotFound`] if the group has no link with this name.
pub fn remove_link(
    container: &Container,
    edit: &mut Edit<'_>,
    group: Address,
    name: &[u8],
    raw: &mut RawData<'_>,
) -> Result<()> {
    let mut editor = GroupEditor::open(container, group)?;
    let link = editor.remove(edit, name)?;
    editor.finish(edit)?;
    match link.target {
        LinkTarget::Hard(object) => delete::drop_reference(container, edit, object, raw),
        _ => Ok(()),
    }
}

/// Moves a link to another name, in the same group or in another group. The linked object stays
/// unchanged. The link becomes the newest link of its group.
///
/// # Errors
/// Returns [`Error::NotFound`] if there is no link with the old name, and [`Error::Exists`] if
/// there is a link with the new name.
pub fn move_link(
    container: &Container,
    edit: &mut Edit<'_>,
    from: (Address, &[u8]),
    to: (Address, &[u8]),
    charset: CharacterSet,
) -> Result<()> {
    check_name(to.1)?;
    if from.0 == to.0 && from.1 == to.1 {
        return Err(Error::Exists { subject: "link", name: lossy(to.1) });
    }
    let target = GroupEditor::open(container, to.0)?;
    if target.find(edit, to.1)?.is_some() {
        return Err(Error::Exists { subject: "link", name: lossy(to.1) });
    }
    let mut source = GroupEditor::open(container, from.0)?;
    let link = source.remove(edit, from.1)?;
    source.finish(edit)?;
    insert_link(container, edit, to.0, &Link { name: to.1.to_vec(), charset, creation_order: None, ..link })
}

impl<'c> GroupEditor<'c> {
    /// Opens an editor of the links of the group at the address `group`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the object is not a group, and read errors.
    pub fn open(container: &'c Container, group: Address) -> Result<Self> {
        let header = ObjectHeader::load(&container.store, group)?;
        let storage = GroupStorage::of(container, &header)?;
        let phase_change = group::phase_change(container, &header)?;
        let header = HeaderEditor::new(&container.store, &header)?;
        let compact = header.messages_of(LinkMessage::TYPE).count();
        let deferred = Deferred::default();
        let stored = match &storage {
            GroupStorage::SymbolTable(table) if symbol_table::is_empty(container, table)? => {
                StoredNames::None
            }
            _ => StoredNames::Unknown,
        };
        let open = OpenLinks { header, storage, phase_change, compact, deferred, stored, changed: false };
        Ok(Self { container, open: Box::new(open), headers: None })
    }

    pub(super) fn resume(container: &'c Container, open: Box<OpenLinks>) -> Self {
        Self { container, open, headers: None }
    }

    /// Connects a group editor to the object headers that open editors keep decoded. Later
    /// insertions of links read these object headers.
    pub(super) fn set_open_headers(&mut self, headers: &'c dyn OpenHeaders) {
        self.headers = Some(headers);
    }

    pub(super) fn suspend(self) -> Box<OpenLinks> {
        self.open
    }

    /// Returns the link with the name `name` from the group of this editor.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn find(&self, edit: &Edit<'_>, name: &[u8]) -> Result<Option<Link>> {
        self.find_link(edit, name)
    }

    /// Refuses a new link in the group of this editor: returns an error if the name `name` is not
    /// valid or already exists in the group.
    ///
    /// # Errors
    /// Returns the same errors as [`insert_link`].
    pub fn refuse(&self, edit: &Edit<'_>, name: &[u8]) -> Result<()> {
        check_name(name)?;
        match self.find_link(edit, name)? {
            Some(_) => Err(Error::Exists { subject: "link", name: lossy(name) }),
            None => Ok(()),
        }
    }

    /// Inserts a link into the group of this editor, as the newest link.
    ///
    /// # Errors
    /// Returns the same errors as [`insert_link`].
    pub fn insert(&mut self, edit: &mut Edit<'_>, link: &Link) -> Result<()> {
        check_name(&link.name)?;
        if self.insert_newest(edit, link)? {
            self.open.changed = true;
            return Ok(());
        }
        Err(Error::Exists { subject: "link", name: lossy(&link.name) })
    }

    /// Removes a link from the group of this editor and returns the link. The linked object stays
    /// unchanged.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if the group has no link with this name.
    pub fn remove(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<Link> {
        self.insert_deferred(edit)?;
        match self.remove_named(edit, name)? {
            Some(link) => {
                self.open.changed = true;
                Ok(link)
            }
            None => Err(Error::NotFound { subject: "link", name: lossy(name) }),
        }
    }

    /// Writes the object header of the group with the changed links of this group editor.
    ///
    /// # Errors
    /// Returns the errors of [`HeaderEditor::save`].
    pub fn finish(mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.open.changed {
            self.insert_deferred(edit)?;
            self.open.header.save(edit)?;
        }
        Ok(())
    }

    fn link_info(&self) -> Option<LinkInfo> {
        self.open.storage.link_info().copied()
    }
}

/// Checks the name of a link: a valid name is not empty, is not `.`, and contains neither `/` nor a
/// zero byte.
///
/// # Errors
/// Returns [`Error::Misuse`] if the name is not valid.
pub fn check_name(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "it has no bytes",
        b"." => "a dot means the group itself",
        _ if name.contains(&b'/') => "a slash separates names: create the groups of the path first",
        _ if name.contains(&0) => "a zero byte ends names in the file",
        _ => return Ok(()),
    };
    Err(Error::Misuse(format!("`{}` cannot be the name of a link: {why}", lossy(name))))
}

/// Encodes a link as a link message, and returns its bytes.
fn encode(container: &Container, link: &Link) -> Result<Vec<u8>> {
    let external;
    let target = match &link.target {
        LinkTarget::Hard(address) => MessageTarget::Hard(*address),
        LinkTarget::Soft(path) => MessageTarget::Soft(path),
        LinkTarget::UserDefined { class, value } => MessageTarget::UserDefined { class: *class, value },
        LinkTarget::External { file, path } => {
            external = ExternalLink { file, path }.encode()?;
            MessageTarget::UserDefined { class: MessageTarget::EXTERNAL, value: &external }
        }
    };
    let Link { name, charset, creation_order, .. } = link;
    let message = LinkMessage { name, charset: *charset, creation_order: *creation_order, target };
    Ok(message.to_bytes(container.params())?)
}

/// Returns the group info message of a group. The message has the properties that differ from the
/// default.
fn group_info(phase_change: LinkPhaseChange) -> GroupInfo {
    let stated = (phase_change != LinkPhaseChange::DEFAULT).then_some(phase_change);
    GroupInfo { phase_change: stated, estimated: None }
}
