//! The search for object headers in all bytes of a file, for when nothing leads to them.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{MessageType, SymbolTable};
use hyperslab_format::object_header::{PrefixV1, PrefixV2};

use super::container::Container;
use super::dataset::{DatasetDescription, committed_datatype};
use super::header::ObjectHeader;
use super::kind::ObjectKind;
use super::message;
use crate::error::Result;
use crate::store::{Bytes, Store};

/// Bytes that are read at once.
const WINDOW: u64 = 1 << 20;

/// Bytes of the smallest part that is tried by itself where reading fails.
const SECTOR: u64 = 4096;

/// More messages, or links to it, than a version 1 header that is found by chance is believed to have.
const MOST_MESSAGES: u16 = 4096;
const MOST_LINKS: u32 = 1 << 20;

/// More bytes than its first chunk is believed to have.
const MOST_BYTES: u32 = 1 << 20;

/// What is told of each header.
pub type AtHeader<'a> = dyn FnMut(Address, ObjectKind) + 'a;

/// Looks for the headers of objects, outside of `raw`: the first addresses and those behind the last of raw data, in order.
/// Version 2 headers are known by their checksum, version 1 headers by all that stands in them.
///
/// # Errors
/// None at present: what cannot be read holds no header.
pub fn headers(container: &Container, raw: &[(u64, u64)], found: &mut AtHeader<'_>) -> Result<()> {
    let store = &container.store;
    let end = store.file_length().saturating_sub(store.base());
    let overlap = PrefixV1::SIZE as u64;
    let mut start = 0_u64;
    while start < end {
        let length = WINDOW.saturating_add(overlap).min(end.saturating_sub(start));
        if let Ok(window) = store.read(Address::new(start), length, "object header") {
            in_window(container, start, &window, raw, found);
        } else {
            let mut sector = start;
            while sector < start.saturating_add(WINDOW).min(end) {
                let length = SECTOR.saturating_add(overlap).min(end.saturating_sub(sector));
                if let Ok(window) = store.read(Address::new(sector), length, "object header") {
                    in_window(container, sector, &window, raw, found);
                }
                sector = sector.saturating_add(SECTOR);
            }
        }
        start = start.saturating_add(WINDOW);
    }
    Ok(())
}

fn in_window(
    container: &Container,
    start: u64,
    window: &Bytes,
    raw: &[(u64, u64)],
    found: &mut AtHeader<'_>,
) {
    // The overlap belongs to the next window.
    let count = window.len().saturating_sub(PrefixV1::SIZE);
    let whole = if count == 0 { window.len() } else { count };
    for at in 0..whole {
        let Some(bytes) = window.get(at..) else { break };
        let seems =
            bytes.starts_with(PrefixV2::SIGNATURE) || (bytes.starts_with(&[1, 0]) && seems_version_1(bytes));
        let address = start.saturating_add(at as u64);
        if !seems || is_inside(raw, address) {
            continue;
        }
        if let Some(kind) = judge(container, Address::new(address)) {
            found(Address::new(address), kind);
        }
    }
}

fn is_inside(raw: &[(u64, u64)], address: u64) -> bool {
    let behind = raw.partition_point(|(start, _)| *start <= address);
    behind.checked_sub(1).and_then(|before| raw.get(before)).is_some_and(|(_, end)| address < *end)
}

/// Returns whether that may be the prefix of a version 1 header.
fn seems_version_1(bytes: &[u8]) -> bool {
    let Ok(prefix) = PrefixV1::decode(bytes) else { return false };
    let reserved = bytes.get(12..16).is_none_or(|reserved| reserved.iter().all(|byte| *byte == 0));
    reserved
        && (1..=MOST_MESSAGES).contains(&prefix.message_count)
        && (1..=MOST_LINKS).contains(&prefix.reference_count)
        && (8..=MOST_BYTES).contains(&prefix.chunk0_size)
        && prefix.chunk0_size.is_multiple_of(8)
}

/// What the header there is one of, if it is one.
fn judge(container: &Container, address: Address) -> Option<ObjectKind> {
    let store = &container.store;
    store.take_damages();
    let header = ObjectHeader::load(store, address).ok()?;
    let damaged = !store.take_damages().is_empty();
    let kind = ObjectKind::of(&header)?;
    if header.version() > 1 {
        return Some(kind);
    }
    let known = header.messages().iter().all(|message| message.kind.is_known());
    let sound = !damaged && known && is_plausible(container, store, &header, kind);
    store.take_damages();
    sound.then_some(kind)
}

fn is_plausible(container: &Container, store: &Store, header: &ObjectHeader, kind: ObjectKind) -> bool {
    match kind {
        ObjectKind::Group if header.contains(MessageType::SYMBOL_TABLE) => {
            let table = message::find::<SymbolTable>(container, header).ok().flatten();
            table.is_some_and(|table| {
                // Either may be what is damaged.
                let starts = |address: Address, signature: &[u8]| {
                    store.read(address, 4, "signature").is_ok_and(|bytes| *bytes == *signature)
                };
                starts(table.btree, b"TREE") || starts(table.heap, b"HEAP")
            })
        }
        ObjectKind::Group => true,
        ObjectKind::Dataset => DatasetDescription::read(container, header).is_ok(),
        ObjectKind::Datatype => committed_datatype(container, header).is_ok(),
    }
}
