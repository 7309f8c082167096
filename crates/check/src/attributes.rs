//! Attributes in object headers (compact) and in fractal heaps with B-tree indexes (dense).

use std::collections::HashSet;

use hyperslab_engine::store::Bytes;
use hyperslab_format::btree_v2::records::{
    AttributeCreationOrderRecord, AttributeNameRecord, BTreeV2Record as _, types,
};
use hyperslab_format::codec::{Address, checksum};
use hyperslab_format::message::{
    AttributeInfo, AttributeMessage, DataspaceMessage, DatatypeMessage, Message as _, MessageFlags,
    MessageType,
};
use hyperslab_format::object_header::HeaderFlags;

use crate::dense::{self, Entry};
use crate::elements::{self, Plan};
use crate::file::{Checker, shown, to_usize};
use crate::fractal_heap;
use crate::header::Header;
use crate::totals::start_of;

const NAME: &str = "attribute message";
const INFO: &str = "attribute info message";

/// Checks all attributes of the object with the given object header.
pub(crate) fn check(checker: &mut Checker, header: &Header) {
    let info = header.of(MessageType::ATTRIBUTE_INFO).next();
    let info = info.and_then(|message| {
        checker.decoded(INFO, header.address, AttributeInfo::decode(&message.body, checker.params))
    });
    let mut attributes =
        Attributes { owner: header.address, info, names: HashSet::new(), orders: HashSet::new() };
    if let Some(info) = info {
        attributes.flags(checker, header, &info);
    }
    for message in header.of(MessageType::ATTRIBUTE) {
        attributes.attribute(checker, &message.body, message.seen);
        if let Some(order) = message.order {
            attributes.order(checker, order.into());
        }
    }
    if let Some(info) = info.filter(AttributeInfo::is_dense) {
        if header.has(MessageType::ATTRIBUTE) {
            checker.fault(
                INFO,
                header.address,
                "the object has attributes both in its header and in a fractal heap",
            );
        }
        attributes.indexes(checker, &info);
    }
}

struct Attributes {
    owner: Address,
    info: Option<AttributeInfo>,
    names: HashSet<Box<[u8]>>,
    orders: HashSet<u32>,
}

impl Attributes {
    /// Checks that the object header and the Attribute Info message state the same flags about
    /// creation order.
    fn flags(&self, checker: &mut Checker, header: &Header, info: &AttributeInfo) {
        let tracked = header.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
        let indexed = header.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_INDEXED);
        if tracked != info.max_creation_index.is_some() || indexed != info.creation_order_index.is_some() {
            checker.fault(
                INFO,
                self.owner,
                "the flags for the creation order of attributes differ from those of the object header",
            );
        }
        if !info.is_dense() {
            let order = info.creation_order_index.unwrap_or(Address::UNDEFINED);
            if info.name_index.is_defined() || order.is_defined() {
                checker.fault(
                    INFO,
                    self.owner,
                    "the message states B-tree indexes of attributes, but no fractal heap",
                );
            }
        }
    }

    /// Records the creation order of an attribute for later comparison. Records a fault if the
    /// order is too large or occurs twice.
    fn order(&mut self, checker: &mut Checker, order: u32) {
        let Some(next) = self.info.and_then(|info| info.max_creation_index) else { return };
        if order >= u32::from(next) {
            checker.fault(
                NAME,
                self.owner,
                format!("the attribute has the creation order {order}, expected less than {next}"),
            );
        }
        if !self.orders.insert(order) {
            checker.fault(NAME, self.owner, format!("two attributes have the creation order {order}"));
        }
    }

    /// Checks an attribute message and returns the hash of the attribute's name. `seen` is true for
    /// a shared attribute message that was checked before. In this case, its shared datatype and
    /// dataspace messages are not counted again.
    fn attribute(&mut self, checker: &mut Checker, body: &Bytes, seen: bool) -> Option<u32> {
        checker.counted_before = seen;
        let hash = self.check_message(checker, body);
        checker.counted_before = false;
        hash
    }

    fn check_message(&mut self, checker: &mut Checker, body: &Bytes) -> Option<u32> {
        let params = checker.params;
        let attribute = checker.decoded(NAME, self.owner, AttributeMessage::decode(body, params))?;
        if !self.names.insert(attribute.name.into()) {
            let text = format!("two attributes have the name `{}`", shown(attribute.name));
            checker.fault(NAME, self.owner, text);
        }
        let hash = Some(checksum(attribute.name));
        let shared = attribute.datatype_is_shared();
        let datatype = self.component(checker, MessageType::DATATYPE, attribute.datatype, shared);
        let shared = attribute.dataspace_is_shared();
        let dataspace = self.component(checker, MessageType::DATASPACE, attribute.dataspace, shared);
        let (Some(datatype), Some(dataspace)) = (datatype, dataspace) else { return hash };
        let datatype = checker.decoded(NAME, self.owner, DatatypeMessage::decode(&datatype, params));
        let dataspace = checker.decoded(NAME, self.owner, DataspaceMessage::decode(&dataspace, params));
        let (Some(datatype), Some(dataspace)) = (datatype, dataspace) else { return hash };
        let count = dataspace.dataspace.element_count().unwrap_or(u64::MAX);
        let length = start_of(count, datatype.datatype.size.into());
        // An attribute that was never written may have no data bytes at all.
        let Some(data) = attribute.data.get(..to_usize(length)) else {
            if !attribute.data.is_empty() {
                let text = format!(
                    "{} data bytes of the attribute `{}`, expected {length}",
                    attribute.data.len(),
                    shown(attribute.name)
                );
                checker.fault(NAME, self.owner, text);
            }
            return hash;
        };
        let plan = Plan::of(checker, &datatype.datatype);
        elements::scan_all(checker, &plan, to_usize(datatype.datatype.size.into()), data, self.owner);
        hash
    }

    fn component(
        &self,
        checker: &mut Checker,
        kind: MessageType,
        bytes: &[u8],
        shared: bool,
    ) -> Option<Bytes> {
        if shared { Some(checker.shared_body(kind, bytes, self.owner)?.body) } else { Some(bytes.into()) }
    }

    fn indexes(&mut self, checker: &mut Checker, info: &AttributeInfo) {
        let Some(mut heap) = fractal_heap::open(checker, info.fractal_heap) else { return };
        let names = dense::entries(checker, info.name_index, types::ATTRIBUTE_NAME, |bytes| {
            let record = AttributeNameRecord::decode(bytes, ())?;
            let entry = Entry::new(&record.heap_id, record.hash.into());
            Ok(Entry { flags: record.message_flags, order: record.creation_order, ..entry })
        });
        heap.complete &= names.is_some();
        let mut found = Vec::new();
        for entry in names.iter().flatten() {
            found.push(Entry { key: entry.order.into(), ..*entry });
            self.order(checker, entry.order);
            let body = if MessageFlags::from_bits_retain(entry.flags).contains(MessageFlags::SHARED) {
                let id = <[u8; 8]>::try_from(entry.id()).ok();
                let shared = id.and_then(|id| checker.shared_message(MessageType::ATTRIBUTE, id, self.owner));
                shared.map(|shared| (shared.body, !shared.first))
            } else {
                heap.object(checker, entry.id()).map(|body| (body, false))
            };
            let hash = body.and_then(|(body, seen)| self.attribute(checker, &body, seen));
            let Some(hash) = hash else { continue };
            if u64::from(hash) != entry.key {
                let text = format!("the hash {:#x} is not the hash of the attribute's name", entry.key);
                checker.fault("attribute name record", info.name_index, text);
            }
        }
        if let Some(index) = info.creation_order_index {
            let orders = dense::entries(checker, index, types::ATTRIBUTE_CREATION_ORDER, |bytes| {
                AttributeCreationOrderRecord::decode(bytes, ())
                    .map(|record| Entry::new(&record.heap_id, record.creation_order.into()))
            });
            if let Some(orders) = orders {
                dense::same(checker, index, found, orders);
            }
        }
        heap.finish(checker);
    }
}
