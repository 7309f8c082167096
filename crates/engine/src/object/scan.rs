//! A search of all bytes of a file for object headers, which finds objects without links.

use hyperslab_exact::to_u64;
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

/// Number of bytes in one read of the search for object headers.
const WINDOW_BYTES: usize = 1 << 20;

/// Number of bytes in one read of the search for object headers, if the read of a longer part of
/// the file has failed.
const SECTOR_BYTES: usize = 4096;

/// Largest number of messages in a version 1 object header that the search for object headers
/// accepts.
const MAX_MESSAGES: u16 = 4096;
/// Largest reference count of a version 1 object header that the search for object headers accepts.
const MAX_LINKS: u32 = 1 << 20;

/// Largest size in bytes of the first header chunk of a version 1 object header that the search for
/// object headers accepts.
const MAX_CHUNK_BYTES: u32 = 1 << 20;

/// A function that a search for object headers calls for each found object header, with its address
/// and the kind of the object.
pub type AtHeader<'a> = dyn FnMut(Address, ObjectKind) + 'a;

/// Searches the file for object headers. Skips `raw`, the ranges of raw data in ascending order
/// (start and end). Accepts a version 2 object header if its checksum is right, and a version 1
/// object header if all its content is plausible.
///
/// # Errors
/// Returns no errors at present: bytes that cannot be read contain no header.
pub fn headers(container: &Container, raw: &[(u64, u64)], found: &mut AtHeader<'_>) -> Result<()> {
    let store = &container.store;
    // A base address after the end of the file leaves no bytes.
    let Some(end) = store.file_length().checked_sub(store.base()) else { return Ok(()) };
    for start in (0..end).step_by(WINDOW_BYTES) {
        let length = (end - start).min(to_u64(WINDOW_BYTES));
        if let Some(window) = read_window(store, start, length, end) {
            in_window(container, start, &window, raw, found);
            continue;
        }
        for sector in (start..start + length).step_by(SECTOR_BYTES) {
            if let Some(window) = read_window(store, sector, to_u64(SECTOR_BYTES), end) {
                in_window(container, sector, &window, raw, found);
            }
        }
    }
    Ok(())
}

/// Reads `length` bytes of the file for the search for object headers, and the bytes of a header
/// prefix after them, at most up to `end`. The prefix of an object header that begins at the last
/// of the `length` bytes is then complete. Returns `None` if the bytes cannot be read.
fn read_window(store: &Store, start: u64, length: u64, end: u64) -> Option<Bytes> {
    let length = (length + to_u64(PrefixV1::SIZE)).min(end - start);
    store.read(Address::new(start), length, "object header").ok()
}

fn in_window(
    container: &Container,
    start: u64,
    window: &Bytes,
    raw: &[(u64, u64)],
    found: &mut AtHeader<'_>,
) {
    // The overlap belongs to the next window.
    let own = window.len().checked_sub(PrefixV1::SIZE).filter(|own| *own > 0);
    for at in 0..own.unwrap_or(window.len()) {
        let Some(bytes) = window.get(at..) else { break };
        let seems =
            bytes.starts_with(PrefixV2::SIGNATURE) || (bytes.starts_with(&[1, 0]) && seems_version_1(bytes));
        let address = start + to_u64(at);
        if !seems || is_inside(raw, address) {
            continue;
        }
        if let Some(kind) = judge(container, Address::new(address)) {
            found(Address::new(address), kind);
        }
    }
}

fn is_inside(raw: &[(u64, u64)], address: u64) -> bool {
    let next = raw.partition_point(|(start, _)| *start <= address);
    next.checked_sub(1).and_then(|before| raw.get(before)).is_some_and(|(_, end)| address < *end)
}

/// Returns whether the bytes can be the prefix of a version 1 object header.
fn seems_version_1(bytes: &[u8]) -> bool {
    let Ok(prefix) = PrefixV1::decode(bytes) else { return false };
    let reserved = bytes.get(12..16).is_none_or(|reserved| reserved.iter().all(|byte| *byte == 0));
    reserved
        && (1..=MAX_MESSAGES).contains(&prefix.message_count)
        && (1..=MAX_LINKS).contains(&prefix.reference_count)
        && (8..=MAX_CHUNK_BYTES).contains(&prefix.chunk0_size)
        && prefix.chunk0_size.is_multiple_of(8)
}

/// Returns the kind of the object whose object header is at `address`. Returns `None` if the bytes
/// at this address are not an object header.
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
                // One of the two blocks of a group may be damaged.
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
