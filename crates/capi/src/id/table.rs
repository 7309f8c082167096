//! The table from identifiers to objects, with the counts of references.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::RwLock;

use super::{Entry, KIND_SHIFT, kind_number, user};
use crate::call_user;
use crate::ctypes::hid_t;

/// The first number of identifiers that are not predefined.
const FIRST_NUMBER: i64 = 1 << 20;

/// An object and the references to its identifier.
#[derive(Debug)]
struct Slot {
    entry: Entry,
    /// The references of the application. Predefined objects have one that is never released.
    count: c_uint,
    predefined: bool,
}

/// A hasher for identifiers, whose low bits differ already.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_i64(&mut self, id: i64) {
        self.0 = id.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type Table = HashMap<hid_t, Slot, BuildHasherDefault<IdHasher>>;

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);
static NEXT: AtomicI64 = AtomicI64::new(FIRST_NUMBER);

/// Adds an object, and returns its new identifier with one reference.
pub fn register(entry: Entry) -> hid_t {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = hid_t::from(entry.kind()) << KIND_SHIFT | number;
    TABLE.write().insert(id, Slot { entry, count: 1, predefined: false });
    id
}

/// Adds a predefined object.
pub fn register_as(id: hid_t, entry: Entry) {
    TABLE.write().insert(id, Slot { entry, count: 1, predefined: true });
}

/// Returns the object of an identifier.
pub fn find(id: hid_t) -> Option<Entry> {
    TABLE.read().get(&id).map(|slot| slot.entry.clone())
}

/// Replaces the object of an identifier, and returns the earlier object.
pub fn replace(id: hid_t, entry: Entry) -> Option<Entry> {
    TABLE.write().get_mut(&id).map(|slot| std::mem::replace(&mut slot.entry, entry))
}

/// Returns the number of references.
pub fn references(id: hid_t) -> Option<c_uint> {
    TABLE.read().get(&id).map(|slot| slot.count)
}

/// Adds a reference, and returns the new number.
pub fn increment(id: hid_t) -> Option<c_uint> {
    let mut table = TABLE.write();
    let slot = table.get_mut(&id)?;
    slot.count = slot.count.checked_add(1)?;
    Some(slot.count)
}

/// Releases a reference. Returns the remaining number, and the object if it has none left: the
/// caller drops or closes the object, after the lock of the table is released.
pub fn decrement(id: hid_t) -> Option<(c_uint, Option<Entry>)> {
    let mut table = TABLE.write();
    let slot = table.get_mut(&id)?;
    if slot.predefined && slot.count <= 1 {
        return Some((1, None));
    }
    slot.count = slot.count.saturating_sub(1); // The count is at least 1: see `register`.
    match slot.count {
        0 => table.remove(&id).map(|slot| (0, Some(slot.entry))),
        count => Some((count, None)),
    }
}

/// Removes an identifier whatever its references, and returns the object.
pub fn take(id: hid_t) -> Option<Entry> {
    TABLE.write().remove(&id).map(|slot| slot.entry)
}

/// Returns the number of objects of a kind, without the predefined ones.
pub fn count(kind: c_int) -> usize {
    TABLE.read().iter().filter(|(id, slot)| !slot.predefined && kind_number(**id) == Some(kind)).count()
}

/// Returns the identifiers and objects of a kind in the order of creation, without the predefined
/// ones.
pub fn list(kind: c_int) -> Vec<(hid_t, Entry)> {
    let table = TABLE.read();
    let mut found: Vec<(hid_t, Entry)> = table
        .iter()
        .filter(|(id, slot)| !slot.predefined && kind_number(**id) == Some(kind))
        .map(|(id, slot)| (*id, slot.entry.clone()))
        .collect();
    found.sort_by_key(|(id, _)| *id);
    found
}

/// Removes the identifiers of a user's kind. The user's function frees the objects; objects that it
/// cannot free stay, unless `force` is set.
pub fn clear_user_kind(kind: c_int, force: bool) {
    for (id, entry) in list(kind) {
        let Entry::User(object) = entry else { continue };
        if free_user(object) || force {
            take(id);
        }
    }
}

/// Calls the user's function that frees an object. Returns `true` if the object is freed.
fn free_user(object: user::UserObject) -> bool {
    let Some(free) = user::find(object.kind).and_then(|kind| kind.free) else { return true };
    let request = std::ptr::null_mut();
    call_user!(free, object.address as *mut c_void, request) >= 0
}

/// Removes all identifiers. Objects are dropped after the table is empty.
pub fn close_all() {
    let entries = std::mem::take(&mut *TABLE.write());
    let (files, others): (Vec<Slot>, Vec<Slot>) =
        entries.into_values().partition(|slot| matches!(slot.entry, Entry::File(_)));
    drop(others);
    drop(files);
}
