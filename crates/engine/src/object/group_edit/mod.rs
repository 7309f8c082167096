//! Groups that are made and changed: links put in, taken out and moved, in each of the three ways they are stored.

mod create;
mod storage;
#[cfg(test)]
mod tests;

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    ExternalLink, GroupInfo, Link as LinkMessage, LinkInfo, LinkPhaseChange, LinkTarget as MessageTarget,
    Message as _, SymbolTable,
};

use super::container::Container;
use super::delete::{self, RawData};
use super::group::{self, GroupStorage};
use super::header::ObjectHeader;
use super::header_edit::HeaderEditor;
use super::link::{Link, LinkTarget};
use super::path::lossy;
use super::pending::Pending;
use super::symbol_table;
use crate::error::{Error, Result};
use crate::store::Edit;

pub(super) use create::prepare_group;
pub use create::{GroupOptions, LinkOrder, create_group, create_group_from, set_root};

/// A group that is being changed. What its header says of its links is written by [`finish`](Self::finish), so that
/// many links can be put in at once.
#[derive(Debug)]
pub struct GroupEditor<'c> {
    container: &'c Container,
    open: Box<OpenLinks>,
    /// The headers that are open in memory; their blocks in the file are out of date.
    headers: Option<&'c dyn OpenHeaders>,
}

/// Headers that are open in memory.
pub(super) trait OpenHeaders: std::fmt::Debug {
    /// Returns the symbol table message of an object, if the header of the object is open.
    fn symbol_table(&self, object: Address) -> Option<Result<Option<SymbolTable>>>;
}

/// What an editor knows, apart from the file.
#[derive(Debug)]
pub(super) struct OpenLinks {
    header: HeaderEditor,
    storage: GroupStorage,
    phase_change: LinkPhaseChange,
    /// Links in the header, where they are compact.
    compact: usize,
    /// Links that are to come into the symbol table, or into heap and trees.
    pending: Pending,
    /// True if these may have others.
    stored: bool,
    changed: bool,
}

impl OpenLinks {
    /// Where the group's header lies.
    pub(super) fn address(&self) -> Address {
        self.header.address()
    }
}

/// Puts a link into a group. The object that a hard link leads to must count it already: see [`add_hard_link`] for
/// objects that have other links.
///
/// # Errors
/// [`Error::Exists`] if the name is taken, [`Error::Misuse`] if it cannot be a name or the object is not a group.
pub fn insert_link(container: &Container, edit: &mut Edit<'_>, group: Address, link: &Link) -> Result<()> {
    let mut group = GroupEditor::open(container, group)?;
    group.insert(edit, link)?;
    group.finish(edit)
}

/// Puts another hard link to an object into a group, and lets the object count it.
///
/// # Errors
/// As [`insert_link`].
pub fn add_hard_link(
    container: &Container,
    edit: &mut Edit<'_>,
    group: Address,
    name: &[u8],
    charset: CharacterSet,
    object: Address,
) -> Result<()> {
    let link = Link { name: name.to_vec(), charset, creation_order: None, target: LinkTarget::Hard(object) };
    // The object may be the group itself, so that one header is saved before the other is read.
    insert_link(container, edit, group, &link)?;
    delete::add_reference(edit, object)
}

/// Takes a link out of a group. An object without links left is deleted, with all that only it leads to; `raw`
/// gives the room of datasets' raw data back.
///
/// # Errors
/// [`Error::NotFound`] if there is no link of that name.
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

/// Gives a link another name, in the same group or another one; the object notices nothing. It becomes the newest
/// link of its group.
///
/// # Errors
/// [`Error::NotFound`] if there is no link of the old name, [`Error::Exists`] if there is one of the new name.
pub fn move_link(
    container: &Container,
    edit: &mut Edit<'_>,
    from: (Address, &[u8]),
    to: (Address, &[u8]),
    charset: CharacterSet,
) -> Result<()> {
    check_name(to.1)?;
    if from.0 == to.0 && from.1 == to.1 {
        return Err(Error::Exists { what: "link", name: lossy(to.1) });
    }
    let target = GroupEditor::open(container, to.0)?;
    if target.find(edit, to.1)?.is_some() {
        return Err(Error::Exists { what: "link", name: lossy(to.1) });
    }
    let mut source = GroupEditor::open(container, from.0)?;
    let link = source.remove(edit, from.1)?;
    source.finish(edit)?;
    insert_link(container, edit, to.0, &Link { name: to.1.to_vec(), charset, creation_order: None, ..link })
}

impl<'c> GroupEditor<'c> {
    /// Opens a group to change it.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the object is not a group; those of reading its header.
    pub fn open(container: &'c Container, group: Address) -> Result<Self> {
        let header = ObjectHeader::load(&container.store, group)?;
        let storage = GroupStorage::of(container, &header)?;
        let info = group::info(container, &header)?.unwrap_or_default();
        let header = HeaderEditor::new(&container.store, &header)?;
        let compact = header.messages_of(LinkMessage::TYPE).count();
        let phase_change = info.phase_change.unwrap_or(LinkPhaseChange::DEFAULT);
        let pending = Pending::default();
        let stored = match &storage {
            GroupStorage::SymbolTable(table) => !symbol_table::is_empty(container, table)?,
            GroupStorage::Compact(_) | GroupStorage::Dense(_) => true,
        };
        let open = OpenLinks { header, storage, phase_change, compact, pending, stored, changed: false };
        Ok(Self { container, open: Box::new(open), headers: None })
    }

    pub(super) fn resume(container: &'c Container, open: Box<OpenLinks>) -> Self {
        Self { container, open, headers: None }
    }

    /// Takes open headers into account for the links to come.
    pub(super) fn consider(&mut self, headers: &'c dyn OpenHeaders) {
        self.headers = Some(headers);
    }

    pub(super) fn suspend(self) -> Box<OpenLinks> {
        self.open
    }

    /// The link of that name.
    ///
    /// # Errors
    /// If the group's structures are damaged.
    pub fn find(&self, edit: &Edit<'_>, name: &[u8]) -> Result<Option<Link>> {
        self.find_link(edit, name)
    }

    /// An error if no link can be called that, or if there is one.
    ///
    /// # Errors
    /// As [`insert_link`].
    pub fn refuse(&self, edit: &Edit<'_>, name: &[u8]) -> Result<()> {
        check_name(name)?;
        match self.find_link(edit, name)? {
            Some(_) => Err(Error::Exists { what: "link", name: lossy(name) }),
            None => Ok(()),
        }
    }

    /// Puts a link in, as the newest one.
    ///
    /// # Errors
    /// As [`insert_link`].
    pub fn insert(&mut self, edit: &mut Edit<'_>, link: &Link) -> Result<()> {
        check_name(&link.name)?;
        if self.insert_newest(edit, link)? {
            self.open.changed = true;
            return Ok(());
        }
        Err(Error::Exists { what: "link", name: lossy(&link.name) })
    }

    /// Takes a link out and gives it; the object it leads to notices nothing.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no link of that name.
    pub fn remove(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<Link> {
        self.insert_pending(edit)?;
        match self.remove_named(edit, name)? {
            Some(link) => {
                self.open.changed = true;
                Ok(link)
            }
            None => Err(Error::NotFound { what: "link", name: lossy(name) }),
        }
    }

    /// Writes what the header says of the links.
    ///
    /// # Errors
    /// As [`HeaderEditor::save`].
    pub fn finish(mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.open.changed {
            self.insert_pending(edit)?;
            self.open.header.save(edit)?;
        }
        Ok(())
    }

    fn link_info(&self) -> Option<LinkInfo> {
        self.open.storage.link_info().copied()
    }
}

/// An error unless a link may be called that.
///
/// # Errors
/// [`Error::Misuse`].
pub fn check_name(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "it has no bytes",
        b"." => "a dot means the group itself",
        _ if name.contains(&b'/') => "a slash separates names: make the groups on the way first",
        _ if name.contains(&0) => "a zero byte ends names in the file",
        _ => return Ok(()),
    };
    Err(Error::Misuse(format!("`{}` cannot be the name of a link: {why}", lossy(name))))
}

/// The message of a link.
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

/// What a group info message says of numbers that are not the usual ones.
fn group_info(phase_change: LinkPhaseChange) -> GroupInfo {
    let stated = (phase_change != LinkPhaseChange::DEFAULT).then_some(phase_change);
    GroupInfo { phase_change: stated, estimated: None }
}
