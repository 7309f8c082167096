//! The table that maps identifiers to objects and counts the references to each identifier.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::RwLock;

use super::{Entry, KIND_SHIFT, kind_number, user};
use crate::call_user;
use crate::ctypes::hid_t;

/// The smallest number of an identifier that is not predefined.
const FIRST_NUMBER: i64 = 1 << 20;

/// An entry of the identifier table: the resource, and the reference count of its identifier.
#[derive(Debug)]
struct Slot {
    /// The object to which the identifier refers.
    entry: Entry,
    /// The number of references that the program holds. A predefined object has one that is never
    /// released.
    count: c_uint,
    /// True if the identifier is predefined and not created by the program.
    predefined: bool,
}

/// A hasher for identifiers. The hash value is the identifier itself, because identifiers differ in
/// their low bits.
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

/// A hash map from identifiers to the resources to which they refer.
type Table = HashMap<hid_t, Slot, BuildHasherDefault<IdHasher>>;

/// The identifier table: the resources of all identifiers of the process.
static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);
/// The number of the next identifier that the identifier table assigns.
static NEXT: AtomicI64 = AtomicI64::new(FIRST_NUMBER);

/// Adds a resource to the identifier table and returns a new identifier with one reference.
pub fn register(entry: Entry) -> hid_t {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = hid_t::from(entry.kind()) << KIND_SHIFT | number;
    TABLE.write().insert(id, Slot { entry, count: 1, predefined: false });
    id
}

/// Adds a predefined resource to the identifier table under a given identifier.
pub fn register_as(id: hid_t, entry: Entry) {
    TABLE.write().insert(id, Slot { entry, count: 1, predefined: true });
}

/// Returns the resource to which an identifier refers.
pub fn find(id: hid_t) -> Option<Entry> {
    TABLE.read().get(&id).map(|slot| slot.entry.clone())
}

/// Replaces the resource to which an identifier refers, and returns the earlier resource.
pub fn replace(id: hid_t, entry: Entry) -> Option<Entry> {
    TABLE.write().get_mut(&id).map(|slot| std::mem::replace(&mut slot.entry, entry))
}

/// Returns the number of references to an identifier in the identifier table.
pub fn references(id: hid_t) -> Option<c_uint> {
    TABLE.read().get(&id).map(|slot| slot.count)
}

/// Adds a reference to an identifier in the identifier table and returns the new number of
/// references.
pub fn increment(id: hid_t) -> Option<c_uint> {
    let mut table = TABLE.write();
    let slot = table.get_mut(&id)?;
    slot.count = slot.count.checked_add(1)?;
    Some(slot.count)
}

/// Releases a reference to an identifier. Returns the remaining number of references and, if the
/// number is 0, the resource. The caller closes the resource after the lock of the identifier table
/// is released.
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

/// Removes an identifier regardless of its references and returns the resource to which it
/// referred.
pub fn take(id: hid_t) -> Option<Entry> {
    TABLE.write().remove(&id).map(|slot| slot.entry)
}

/// Returns the number of identifiers of a kind, not counting predefined ones.
pub fn count(kind: c_int) -> usize {
    TABLE.read().iter().filter(|(id, slot)| !slot.predefined && kind_number(**id) == Some(kind)).count()
}

/// Returns the identifiers of a kind and their resources in the order of creation, without
/// predefined ones.
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

/// Removes the identifiers of a user-defined kind and frees their objects by the user's function.
/// If the function fails for an object, its identifier stays in the table, unless `force` is true.
pub fn clear_user_kind(kind: c_int, force: bool) {
    for (id, entry) in list(kind) {
        let Entry::User(object) = entry else { continue };
        if free_user(object) || force {
            take(id);
        }
    }
}

/// Frees an object of a user-defined identifier kind by calling the user's function. Returns `true`
/// if the function succeeds or does not exist.
fn free_user(object: user::UserObject) -> bool {
    let Some(free) = user::find(object.kind).and_then(|kind| kind.free) else { return true };
    let request = std::ptr::null_mut();
    call_user!(free, object.address as *mut c_void, request) >= 0
}

/// Removes all identifiers from the identifier table, and then drops their resources.
pub fn close_all() {
    let entries = std::mem::take(&mut *TABLE.write());
    let (files, others): (Vec<Slot>, Vec<Slot>) =
        entries.into_values().partition(|slot| matches!(slot.entry, Entry::File(_)));
    drop(others);
    drop(files);
}

/// Removes the identifiers of files, and of objects in files, that this process inherited at a
/// fork. The files stay open, because only the process that opened them may write them.
pub fn leave_inherited() {
    let own = std::process::id();
    let inherited = |slot: &Slot| crate::h5f::file_of(&slot.entry).is_some_and(|file| file.process != own);
    let left: Vec<Slot> = TABLE.write().extract_if(|_, slot| inherited(slot)).map(|(_, slot)| slot).collect();
    std::mem::forget(left);
}
