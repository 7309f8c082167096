//! Groups: access to links by name, in the three kinds of storage.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hyperslab_filter::Pipeline;
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, LinkCreationOrderRecord, LinkNameRecord};
use hyperslab_format::codec::{FormatError, checksum};
use hyperslab_format::message::{
    EstimatedEntries, ExternalLink, FilterPipeline, GroupInfo, LinkInfo, LinkMessage, LinkPhaseChange,
    LinkTarget as MessageTarget, Message as _, MessageType, SymbolTable,
};

use super::by_name;
use super::container::Container;
use super::header::ObjectHeader;
use super::link::{Link, LinkView, TargetView};
use super::{ahead, message, symbol_table};
use crate::error::{Error, Result};
use crate::index::btree_v2::BTreeV2;
use crate::index::fractal_heap::{self, FractalHeap};
use crate::store::at;

/// A function that a walk over the links of a group calls for each link. The result `Break` ends
/// the walk.
pub type AtLink<'a> = dyn FnMut(Link) -> Result<ControlFlow<()>> + 'a;

/// The storage of a group's links: a symbol table, compact storage or dense storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupStorage {
    /// A symbol table: a version 1 B-tree of symbol table nodes, and a local heap of names.
    SymbolTable(SymbolTable),
    /// Compact storage: messages in the object header.
    Compact(LinkInfo),
    /// Dense storage: a fractal heap with version 2 B-trees by name and optionally by creation
    /// order.
    Dense(LinkInfo),
}

impl GroupStorage {
    /// Returns the storage of the links of the group with the given object header.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the object is not a group, and read errors.
    pub fn of(container: &Container, header: &ObjectHeader) -> Result<Self> {
        if let Some(info) = message::find::<LinkInfo>(container, header)? {
            return Ok(if info.is_dense() { Self::Dense(info) } else { Self::Compact(info) });
        }
        match message::find::<SymbolTable>(container, header)? {
            Some(table) => Ok(Self::SymbolTable(table)),
            None => Err(Error::Misuse(format!("the object at {} is not a group", header.address()))),
        }
    }

    /// Returns the link info message of a group's storage, or `None` for a symbol table.
    pub fn link_info(&self) -> Option<&LinkInfo> {
        match self {
            Self::SymbolTable(_) => None,
            Self::Compact(info) | Self::Dense(info) => Some(info),
        }
    }
}

/// Returns the group info message of a group, if the object header has one.
pub fn info(container: &Container, header: &ObjectHeader) -> Result<Option<GroupInfo>> {
    message::find(container, header)
}

/// Returns the numbers of links at which a group changes between compact and dense storage, from
/// the group's object header.
///
/// # Errors
/// Returns read errors.
pub fn phase_change(container: &Container, header: &ObjectHeader) -> Result<LinkPhaseChange> {
    Ok(info(container, header)?.and_then(|info| info.phase_change).unwrap_or(LinkPhaseChange::DEFAULT))
}

/// Returns the estimates in a group's group info message: the number of links, and the length of a
/// name.
///
/// # Errors
/// Returns read errors.
pub fn estimated(container: &Container, header: &ObjectHeader) -> Result<EstimatedEntries> {
    Ok(info(container, header)?.and_then(|info| info.estimated).unwrap_or(EstimatedEntries::DEFAULT))
}

/// Returns the filter pipeline for a group's links in dense storage.
///
/// # Errors
/// Returns read errors.
pub fn link_filters(container: &Container, header: &ObjectHeader) -> Result<Pipeline> {
    let message = message::find::<FilterPipeline>(container, header)?;
    message.as_ref().map_or_else(|| Ok(Pipeline::default()), fractal_heap::pipeline)
}

/// Calls `visit` for each link of a group in the order of the storage: by name in symbol tables, in
/// unspecified order in other groups.
pub fn for_each(container: &Container, header: &ObjectHeader, visit: &mut AtLink<'_>) -> Result<()> {
    match GroupStorage::of(container, header)? {
        GroupStorage::SymbolTable(table) => symbol_table::for_each(container, &table, visit),
        GroupStorage::Compact(_) => {
            for message in header.messages_of(MessageType::LINK) {
                let body = message::resolve(container, header, message);
                let link = body.and_then(|body| at(decode(container, &body), header.address()));
                let Some(link) = container.store.forgive(link)? else { continue };
                if visit(link)?.is_break() {
                    break;
                }
            }
            Ok(())
        }
        GroupStorage::Dense(info) if container.store.is_salvaging() => salvage_dense(container, &info, visit),
        GroupStorage::Dense(info) => {
            fetch_dense(container, &info);
            let heap = FractalHeap::open(&container.store, info.fractal_heap)?;
            let tree = BTreeV2::open(&container.store, info.name_index)?;
            let mut objects = heap.objects(&container.store);
            tree.walk(&container.store, &mut |record| {
                let record = at(LinkNameRecord::decode(record, ()), info.name_index)?;
                let found = objects.find(&record.heap_id)?;
                visit(at(decode(container, objects.bytes(found)?), heap.address())?)
            })
        }
    }
}

/// Returns all links of a group, in ascending order of the bytes of their names.
pub fn links(container: &Container, header: &ObjectHeader) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    visit_in_order(container, header, (), &mut |link| {
        links.push(link.to_link());
        ControlFlow::Continue(())
    })?;
    Ok(links)
}

/// Calls `visit` for each link of a group, in ascending order of the bytes of their names. Reads
/// all links and drops `guard`, which locks the file, before the first call.
pub fn visit_in_order<G>(
    container: &Container,
    header: &ObjectHeader,
    guard: G,
    visit: &mut dyn FnMut(&LinkView<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let info = match GroupStorage::of(container, header)? {
        GroupStorage::Dense(info) if !container.store.is_salvaging() => info,
        GroupStorage::SymbolTable(table) => {
            let names = symbol_table::names(container, &table)?;
            let mut links = symbol_table::views(container, &table, &names)?;
            drop(guard);
            by_name::sort(&mut links, |link| link.name);
            let _ = links.iter().try_for_each(visit);
            return Ok(());
        }
        _ => {
            let mut links = Vec::new();
            for_each(container, header, &mut |link| {
                links.push(link);
                Ok(ControlFlow::Continue(()))
            })?;
            drop(guard);
            by_name::sort(&mut links, |link| &link.name);
            let _ = links.iter().try_for_each(|link| visit(&link.view()));
            return Ok(());
        }
    };
    fetch_dense(container, &info);
    let heap = FractalHeap::open(&container.store, info.fractal_heap)?;
    let tree = BTreeV2::open(&container.store, info.name_index)?;
    let (mut objects, mut found) = (heap.objects(&container.store), Vec::new());
    tree.walk(&container.store, &mut |record| {
        let record = at(LinkNameRecord::decode(record, ()), info.name_index)?;
        found.push(objects.find(&record.heap_id)?);
        Ok(ControlFlow::Continue(()))
    })?;
    drop(guard);
    let decoded =
        found.into_iter().map(|found| at(decode_view(container, objects.bytes(found)?), heap.address()));
    let links = decoded.collect::<Result<Vec<LinkView<'_>>>>()?;
    let order = by_name::order(links.len(), |position| links.get(position).map_or(&[], |link| link.name));
    let _ = order.iter().filter_map(|position| links.get(*position)).try_for_each(visit);
    Ok(())
}

/// Fetches all links of a group's dense storage, if reads have to wait for bytes.
fn fetch_dense(container: &Container, info: &LinkInfo) {
    let id = |record: &[u8]| LinkNameRecord::decode(record, ()).ok().map(|record| record.heap_id);
    ahead::fetch_dense(&container.store, info.fractal_heap, info.name_index, id);
}

/// Returns the number of links in the group with the given object header.
pub fn count(container: &Container, header: &ObjectHeader) -> Result<u64> {
    let mut count = 0_u64;
    match GroupStorage::of(container, header)? {
        GroupStorage::Dense(info) if !container.store.is_salvaging() => {
            return Ok(BTreeV2::open(&container.store, info.name_index)?.header().total_records);
        }
        _ => for_each(container, header, &mut |_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?,
    }
    Ok(count)
}

/// Calls `visit` for the links of damaged dense storage. Finds each link to which at least one of
/// the B-tree indexes still refers.
fn salvage_dense(container: &Container, info: &LinkInfo, visit: &mut AtLink<'_>) -> Result<()> {
    let store = &container.store;
    let heap = FractalHeap::open(store, info.fractal_heap)?;
    let mut seen = HashSet::new();
    let indexes = [Some(info.name_index), info.creation_order_index];
    for (by_order, address) in indexes.into_iter().enumerate() {
        let Some(address) = address.filter(|address| address.is_defined()) else { continue };
        let Some(tree) = store.forgive(BTreeV2::open(store, address))? else { continue };
        let walked = tree.walk(store, &mut |record| {
            let heap_id = if by_order == 1 {
                LinkCreationOrderRecord::decode(record, ()).map(|record| record.heap_id)
            } else {
                LinkNameRecord::decode(record, ()).map(|record| record.heap_id)
            };
            let Some(heap_id) = store.forgive(at(heap_id, address))? else {
                return Ok(ControlFlow::Continue(()));
            };
            if !seen.insert(heap_id) {
                return Ok(ControlFlow::Continue(()));
            }
            let body = heap.get(store, &heap_id);
            let link = body.and_then(|body| at(decode(container, &body), heap.address()));
            match store.forgive(link)? {
                Some(link) => visit(link),
                None => Ok(ControlFlow::Continue(())),
            }
        });
        store.forgive(walked)?;
    }
    Ok(())
}

/// Returns the link with the name `name` from a group.
pub fn find(container: &Container, header: &ObjectHeader, name: &[u8]) -> Result<Option<Link>> {
    match GroupStorage::of(container, header)? {
        GroupStorage::SymbolTable(table) => symbol_table::find(container, &table, name),
        GroupStorage::Compact(_) => {
            let mut found = None;
            for_each(container, header, &mut |link| {
                if link.name != name {
                    return Ok(ControlFlow::Continue(()));
                }
                found = Some(link);
                Ok(ControlFlow::Break(()))
            })?;
            Ok(found)
        }
        GroupStorage::Dense(info) => find_dense(container, &info, name),
    }
}

/// Returns the link with the name `name` from a group's dense storage. Searches by the hash of the
/// name, and compares links of equal hashes by name.
fn find_dense(container: &Container, info: &LinkInfo, name: &[u8]) -> Result<Option<Link>> {
    let hash = checksum(name);
    ahead::fetch_dense_roots(&container.store, info.fractal_heap, info.name_index);
    let heap = FractalHeap::open(&container.store, info.fractal_heap)?;
    let tree = BTreeV2::open(&container.store, info.name_index)?;
    let mut found = None;
    tree.walk_range(
        &container.store,
        &mut |record| Ok(LinkNameRecord::hash_in(record)?.cmp(&hash)),
        &mut |record| {
            let link =
                heap_link(container, &heap, &at(LinkNameRecord::decode(record, ()), info.name_index)?)?;
            if link.name != name {
                return Ok(ControlFlow::Continue(()));
            }
            found = Some(link);
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(found)
}

fn heap_link(container: &Container, heap: &FractalHeap, record: &LinkNameRecord) -> Result<Link> {
    let body = heap.get(&container.store, &record.heap_id)?;
    at(decode(container, &body), heap.address())
}

/// Decodes a link from the body of a link message.
pub(super) fn decode(container: &Container, body: &[u8]) -> Result<Link, FormatError> {
    decode_view(container, body).map(LinkView::to_link)
}

fn decode_view<'a>(container: &Container, body: &'a [u8]) -> Result<LinkView<'a>, FormatError> {
    let LinkMessage { name, charset, creation_order, target } =
        LinkMessage::decode(body, container.params())?;
    let target = match target {
        MessageTarget::Hard(address) => TargetView::Hard(address),
        MessageTarget::Soft(path) => TargetView::Soft(path),
        MessageTarget::UserDefined { class: MessageTarget::EXTERNAL, value } => {
            // libhdf5 decodes the value only to follow the link, so a group may have a link with
            // another value: it is kept as the value of the class.
            match ExternalLink::decode(value) {
                Ok(ExternalLink { file, path }) => TargetView::External { file, path },
                Err(_) => TargetView::UserDefined { class: MessageTarget::EXTERNAL, value },
            }
        }
        MessageTarget::UserDefined { class, value } => TargetView::UserDefined { class, value },
    };
    Ok(LinkView { name, charset, creation_order, target })
}
