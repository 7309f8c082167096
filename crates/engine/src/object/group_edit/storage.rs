//! Insertion and removal of links, and changes between the kinds of storage.

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::{Address, checksum};
use hyperslab_format::message::{
    FilterPipeline, LinkInfo, Message as _, MessageFlags, MessageType, SymbolTable,
};

use super::super::dense::{Dense, DenseKind};
use super::super::group::{self, GroupStorage};
use super::super::link::{Link, LinkTarget};
use super::super::stored_names::StoredNames;
use super::super::symbol_table;
use super::create::cache_of;
use super::{GroupEditor, encode, group_info};
use crate::error::{Error, Result};
use crate::store::{Bytes, Edit, at};

/// Size in bytes of the smallest link message that does not fit in an object header.
const MIN_TOO_LONG_BYTES: usize = 65_536;

const NONE: MessageFlags = MessageFlags::empty();

fn no_link_info() -> Error {
    Error::internal("group editor", "a group without a symbol table has link info")
}

impl GroupEditor<'_> {
    pub(super) fn find_link(&self, edit: &Edit<'_>, name: &[u8]) -> Result<Option<Link>> {
        if let Some(number) = self.open.deferred.find(name) {
            let deferred = &self.open.deferred;
            return self.decode(deferred.body(deferred.get(number)?)).map(Some);
        }
        match &self.open.storage {
            GroupStorage::SymbolTable(_) | GroupStorage::Dense(_)
                if !self.open.stored.may_contain(|| checksum(name)) =>
            {
                Ok(None)
            }
            GroupStorage::SymbolTable(table) => symbol_table::find(self.container, table, name),
            GroupStorage::Compact(_) => {
                for message in self.open.header.messages_of(MessageType::LINK) {
                    let link = at(group::decode(self.container, message.body), self.open.header.address())?;
                    if link.name == name {
                        return Ok(Some(link));
                    }
                }
                Ok(None)
            }
            GroupStorage::Dense(info) => {
                let found = Dense::from(info).find(self.container, edit, name)?;
                found.map(|(_, body)| self.decode(&body)).transpose()
            }
        }
    }

    fn decode(&self, body: &[u8]) -> Result<Link> {
        at(group::decode(self.container, body), self.open.header.address())
    }

    /// Inserts a link into a group with the next creation order. Returns `false` without a change
    /// if the group has a link with the same name.
    pub(super) fn insert_newest(&mut self, edit: &mut Edit<'_>, link: &Link) -> Result<bool> {
        if let GroupStorage::SymbolTable(table) = self.open.storage {
            if self.find_link(edit, &link.name)?.is_some() {
                return Ok(false);
            }
            if fits_symbol_table(link) {
                let cached = self.cached(&link.target)?;
                let body = encode(self.container, link)?;
                return self.defer(edit, link, &body, cached).map(|()| true);
            }
            self.insert_deferred(edit)?;
            self.leave_symbol_table(edit, &table)?;
        }
        let info = self.link_info().ok_or_else(no_link_info)?;
        let order = info.max_creation_index;
        if order.is_some_and(|order| order >= i64::MAX.cast_unsigned()) {
            return Err(Error::Misuse("the group has used all creation order numbers of links".into()));
        }
        let link = Link { creation_order: order, ..link.clone() };
        let body = encode(self.container, &link)?;
        if !self.insert_encoded(edit, &link, &body)? {
            return Ok(false);
        }
        if let (Some(order), Some(now)) = (order, self.link_info()) {
            self.set_info(LinkInfo { max_creation_index: Some(order + 1), ..now })?;
        }
        Ok(true)
    }

    fn insert_encoded(&mut self, edit: &mut Edit<'_>, link: &Link, body: &[u8]) -> Result<bool> {
        if let GroupStorage::Compact(info) = self.open.storage {
            if self.find_link(edit, &link.name)?.is_some() {
                return Ok(false);
            }
            if self.open.compact < usize::from(self.open.phase_change.max_compact)
                && body.len() < MIN_TOO_LONG_BYTES
            {
                self.open.header.add_message(MessageType::LINK, NONE, body);
                self.open.compact += 1;
                return Ok(true);
            }
            self.become_dense(edit, &info)?;
        }
        if !matches!(self.open.storage, GroupStorage::Dense(_)) {
            return Err(no_link_info());
        }
        if self.find_link(edit, &link.name)?.is_some() {
            return Ok(false);
        }
        self.defer(edit, link, body, None).map(|()| true)
    }

    /// Defers the insertion of a link into the storage of the group: adds the link to the deferred
    /// links in memory. No existing link may have the same name.
    fn defer(
        &mut self,
        edit: &mut Edit<'_>,
        link: &Link,
        body: &[u8],
        cached: Option<SymbolTable>,
    ) -> Result<()> {
        self.learn_names(edit)?;
        self.open.deferred.push(&link.name, body, NONE, link.creation_order.unwrap_or(0), cached);
        if self.open.deferred.is_over_limit() { self.insert_deferred(edit) } else { Ok(()) }
    }

    /// Reads the hashes of the names in the storage, if so many links are new that searches for
    /// their names would take longer.
    fn learn_names(&mut self, edit: &Edit<'_>) -> Result<()> {
        let open = &self.open;
        let count = || match &open.storage {
            GroupStorage::SymbolTable(table) => symbol_table::estimated_count(self.container, table),
            GroupStorage::Dense(info) => Dense::from(info).len(edit),
            GroupStorage::Compact(_) => Ok(0),
        };
        if !open.stored.is_worth_learning(&open.deferred, count)? {
            return Ok(());
        }
        let hashes = match &open.storage {
            GroupStorage::SymbolTable(table) => symbol_table::hashes(self.container, table)?,
            GroupStorage::Dense(info) => Dense::from(info).hashes(edit.store())?,
            GroupStorage::Compact(_) => Vec::new(),
        };
        self.open.stored.learn(&hashes);
        Ok(())
    }

    /// Inserts the deferred links of the group into its symbol table or dense storage. Deferred
    /// links are new and only in memory.
    pub(super) fn insert_deferred(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let deferred = std::mem::take(&mut self.open.deferred);
        if deferred.is_empty() {
            return Ok(());
        }
        self.open.stored.add(&deferred);
        match &self.open.storage {
            GroupStorage::SymbolTable(table) => {
                let mut links = Vec::with_capacity(deferred.messages().len());
                for message in deferred.messages() {
                    links.push((self.decode(deferred.body(message))?, message.cached));
                }
                links.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
                symbol_table::insert_all(self.container, edit, table, &links)
            }
            GroupStorage::Dense(info) => Dense::from(info).insert_all(self.container, edit, &deferred),
            // Links in compact storage are never deferred.
            GroupStorage::Compact(_) => Ok(()),
        }
    }

    /// Returns the symbol table addresses that a link to a group stores as a cache. Returns `None`
    /// if the link does not lead to a group with a symbol table.
    fn cached(&self, target: &LinkTarget) -> Result<Option<SymbolTable>> {
        match (target, &self.open.storage) {
            (LinkTarget::Hard(object), GroupStorage::SymbolTable(own))
                if *object == self.open.header.address() =>
            {
                Ok(Some(*own))
            }
            (LinkTarget::Hard(object), _) => {
                match self.headers.and_then(|headers| headers.symbol_table(*object)) {
                    Some(table) => table,
                    None => cache_of(self.container, *object),
                }
            }
            _ => Ok(None),
        }
    }

    /// Removes the link with the name `name` from the group's storage, and returns the link.
    pub(super) fn remove_named(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<Option<Link>> {
        match self.open.storage {
            GroupStorage::SymbolTable(table) => symbol_table::remove(self.container, edit, &table, name),
            GroupStorage::Compact(info) => {
                let mut found = None;
                for message in self.open.header.messages_of(MessageType::LINK) {
                    let link = self.decode(message.body)?;
                    if link.name == name {
                        found = Some((message.id, link));
                        break;
                    }
                }
                let Some((id, link)) = found else { return Ok(None) };
                let compact = self.open.compact.checked_sub(1).ok_or_else(|| {
                    Error::internal("group editor", "the number of compact links includes each link")
                })?;
                self.open.header.remove(id)?;
                self.open.compact = compact;
                if self.open.compact == 0 {
                    self.set_info(emptied(info))?;
                }
                Ok(Some(link))
            }
            GroupStorage::Dense(info) => {
                let dense = Dense::from(&info);
                let Some((_, body)) = dense.remove(self.container, edit, name)? else { return Ok(None) };
                let remaining = dense.len(edit)?;
                if remaining == 0 {
                    dense.delete(edit)?;
                    self.set_info(emptied(not_dense(info)))?;
                } else if remaining < u64::from(self.open.phase_change.min_dense) {
                    self.become_compact(edit, &info)?;
                }
                self.decode(&body).map(Some)
            }
        }
    }

    fn set_info(&mut self, info: LinkInfo) -> Result<()> {
        self.open.storage =
            if info.is_dense() { GroupStorage::Dense(info) } else { GroupStorage::Compact(info) };
        self.open.header.set(&info, NONE)
    }

    /// Returns the filter pipeline message of the group for its links in dense storage; empty for
    /// none. Messages of version 1 headers may have padding, which a heap must not have.
    fn filters(&self, edit: &Edit<'_>) -> Result<Vec<u8>> {
        let Some(message) = self.open.header.messages_of(MessageType::FILTER_PIPELINE).next() else {
            return Ok(Vec::new());
        };
        let pipeline = at(FilterPipeline::decode(message.body, edit.params()), self.open.header.address())?;
        Ok(pipeline.to_bytes(edit.params())?)
    }

    /// Changes the storage of a group's links from compact to dense.
    fn become_dense(&mut self, edit: &mut Edit<'_>, info: &LinkInfo) -> Result<()> {
        let filters = self.filters(edit)?;
        let dense = Dense::create(edit, DenseKind::Links, info.creation_order_index.is_some(), &filters)?;
        let bodies: Vec<Bytes> = self
            .open
            .header
            .messages_of(MessageType::LINK)
            .map(|message| Bytes::from(message.body))
            .collect();
        for body in bodies {
            let link = self.decode(&body)?;
            if self.open.deferred.find(&link.name).is_some() {
                let expected = "one link of each name";
                return Err(Error::corrupt("link message", "link name", expected, "two")
                    .at(self.open.header.address()));
            }
            // Encode the link again, because messages of version 1 headers may have padding.
            let body = encode(self.container, &link)?;
            self.open.deferred.push(&link.name, &body, NONE, link.creation_order.unwrap_or(0), None);
        }
        self.open.header.remove_messages(MessageType::LINK, |_| true)?;
        (self.open.compact, self.open.stored) = (0, StoredNames::None);
        self.set_info(LinkInfo {
            fractal_heap: dense.heap,
            name_index: dense.names,
            creation_order_index: dense.order,
            ..*info
        })
    }

    /// Changes the storage of a group's links from dense to compact, if each link message fits in
    /// an object header.
    fn become_compact(&mut self, edit: &mut Edit<'_>, info: &LinkInfo) -> Result<()> {
        let dense = Dense::from(info);
        let bodies = dense.all(self.container, edit)?;
        if bodies.iter().any(|(_, body)| body.len() >= MIN_TOO_LONG_BYTES) {
            return Ok(());
        }
        let mut bodies: Vec<(Option<u64>, Bytes)> = bodies
            .into_iter()
            .map(|(_, body)| Ok((self.decode(&body)?.creation_order, Bytes::from(&*body))))
            .collect::<Result<_>>()?;
        bodies.sort_by_key(|(order, _)| *order);
        for (_, body) in &bodies {
            self.open.header.add_message(MessageType::LINK, NONE, body);
        }
        self.open.compact = bodies.len();
        drop(bodies);
        dense.delete(edit)?;
        self.set_info(not_dense(*info))
    }

    /// Replaces a group's symbol table by compact or dense storage, because a symbol table cannot
    /// store all kinds of links.
    fn leave_symbol_table(&mut self, edit: &mut Edit<'_>, table: &SymbolTable) -> Result<()> {
        let mut links = Vec::new();
        symbol_table::for_each(self.container, table, &mut |link| {
            links.push(link);
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        symbol_table::delete(self.container, edit, table)?;
        self.open.header.remove_messages(MessageType::SYMBOL_TABLE, |_| true)?;
        self.set_info(LinkInfo::EMPTY)?;
        let constants = group_info(self.open.phase_change);
        self.open.header.set(&constants, MessageFlags::CONSTANT)?;
        for link in &links {
            let link = Link { creation_order: None, ..link.clone() };
            let body = encode(self.container, &link)?;
            self.insert_encoded(edit, &link, &body)?;
        }
        if edit.store().superblock().root() == self.open.header.address() {
            super::create::clear_root_cache(edit)?;
        }
        Ok(())
    }
}

/// Returns whether a group's symbol table can store the link `link`.
fn fits_symbol_table(link: &Link) -> bool {
    matches!(link.target, LinkTarget::Hard(_) | LinkTarget::Soft(_)) && link.charset == CharacterSet::Ascii
}

fn not_dense(info: LinkInfo) -> LinkInfo {
    LinkInfo {
        fractal_heap: Address::UNDEFINED,
        name_index: Address::UNDEFINED,
        creation_order_index: info.creation_order_index.map(|_| Address::UNDEFINED),
        ..info
    }
}

/// Returns the link info message of a group that has become empty. The creation order of the
/// group's next link is 0.
fn emptied(info: LinkInfo) -> LinkInfo {
    LinkInfo { max_creation_index: info.max_creation_index.map(|_| 0), ..info }
}
