//! Groups with compact or dense storage of links.

use std::collections::HashSet;

use hyperslab_format::btree_v2::records::{
    BTreeV2Record as _, LinkCreationOrderRecord, LinkNameRecord, types,
};
use hyperslab_format::codec::{Address, checksum};
use hyperslab_format::message::{
    ExternalLink, LinkInfo, LinkMessage, LinkTarget, Message as _, MessageType, SymbolTable,
};

use crate::dense::{self, Entry};
use crate::file::{Checker, shown};
use crate::fractal_heap;
use crate::header::Header;
use crate::symbol_table;

const LINK: &str = "link message";
const INFO: &str = "link info message";

/// Checks the links of the object with the given object header, if the object is a group.
pub(crate) fn check(checker: &mut Checker, header: &Header) {
    if let Some(message) = header.of(MessageType::SYMBOL_TABLE).next() {
        let table = SymbolTable::decode(&message.body, checker.params);
        if let Some(table) = checker.decoded("symbol table message", header.address, table) {
            symbol_table::walk(checker, &table);
        }
    }
    let Some(message) = header.of(MessageType::LINK_INFO).next() else {
        if header.has(MessageType::LINK) {
            checker.fault(LINK, header.address, "the object has a link message, but no link info message");
        }
        return;
    };
    let info = LinkInfo::decode(&message.body, checker.params);
    let Some(info) = checker.decoded(INFO, header.address, info) else { return };
    let mut links = Links { info, owner: header.address, names: HashSet::new() };
    for message in header.of(MessageType::LINK) {
        links.link(checker, &message.body);
    }
    links.indexes(checker, header);
}

struct Links {
    info: LinkInfo,
    owner: Address,
    names: HashSet<Box<[u8]>>,
}

impl Links {
    /// Checks a link message of a group. Returns the hash of the link's name, and the creation
    /// order of the link.
    fn link(&mut self, checker: &mut Checker, body: &[u8]) -> Option<(u32, Option<u64>)> {
        let link = checker.decoded(LINK, self.owner, LinkMessage::decode(body, checker.params))?;
        if !self.names.insert(link.name.into()) {
            checker.fault(LINK, self.owner, format!("two links have the name `{}`", shown(link.name)));
        }
        match (link.creation_order, self.info.max_creation_index) {
            (Some(order), Some(next)) if order >= next => {
                let text = format!(
                    "the link `{}` has the creation order {order}, expected less than {next}",
                    shown(link.name)
                );
                checker.fault(LINK, self.owner, text);
            }
            (None, Some(_)) => {
                let text =
                    format!("the link `{}` has no creation order, but the group tracks it", shown(link.name));
                checker.fault(LINK, self.owner, text);
            }
            _ => {}
        }
        match link.target {
            LinkTarget::Hard(address) => checker.linked(address, link.name),
            LinkTarget::UserDefined { class: LinkTarget::EXTERNAL, value } => {
                checker.decoded(LINK, self.owner, ExternalLink::decode(value));
            }
            LinkTarget::Soft(_) | LinkTarget::UserDefined { .. } => {}
        }
        Some((checksum(link.name), link.creation_order))
    }

    fn indexes(&mut self, checker: &mut Checker, header: &Header) {
        let info = self.info;
        if !info.is_dense() {
            let order = info.creation_order_index.unwrap_or(Address::UNDEFINED);
            if info.name_index.is_defined() || order.is_defined() {
                checker.fault(
                    INFO,
                    self.owner,
                    "the message states B-tree indexes of links, but no fractal heap",
                );
            }
            return;
        }
        if header.has(MessageType::LINK) {
            checker.fault(
                INFO,
                self.owner,
                "the group has links both in its object header and in a fractal heap",
            );
        }
        let Some(mut heap) = fractal_heap::open(checker, info.fractal_heap) else { return };
        let names = dense::entries(checker, info.name_index, types::LINK_NAME, |bytes| {
            LinkNameRecord::decode(bytes, ()).map(|record| Entry::new(&record.heap_id, record.hash.into()))
        });
        heap.complete &= names.is_some();
        let mut found = Vec::new();
        for entry in names.iter().flatten() {
            let Some(body) = heap.object(checker, entry.id()) else { continue };
            let Some((hash, order)) = self.link(checker, &body) else { continue };
            if u64::from(hash) != entry.key {
                checker.fault(
                    "link name record",
                    info.name_index,
                    format!("the hash {:#x} is not the hash of the link's name", entry.key),
                );
            }
            found.push(Entry { key: order.unwrap_or(0), ..*entry });
        }
        if let Some(index) = info.creation_order_index {
            let orders = dense::entries(checker, index, types::LINK_CREATION_ORDER, |bytes| {
                LinkCreationOrderRecord::decode(bytes, ())
                    .map(|record| Entry::new(&record.heap_id, record.creation_order.cast_unsigned()))
            });
            if let Some(orders) = orders {
                dense::same(checker, index, found, orders);
            }
        }
        heap.finish(checker);
    }
}
