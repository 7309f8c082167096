//! The objects of a file that have handles, the unlinked objects among them, and the addresses of
//! deleted object headers.
//!
//! An object is deleted after its last link is removed and its last handle is dropped. An operation
//! that removes the last link under an [`Edit`](super::Edit) calls [`Store::unlink`]: if the object
//! has handles, it stays, with a link count of 0. The drop of its last handle only adds the address
//! to a list. The next change, flush or close of the file deletes the objects of the list. The lock
//! of the table is held for one access, and no other lock is taken under it.
//!
//! Handles are opened under [`Reading`](super::Reading) or an `Edit`, so that no object is deleted
//! after its link was read and before its handle is open.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use super::{AddressMap, Store};
use crate::error::{Error, Result};

/// The number that stands for a deleted object in place of a life number. (A life number tells
/// successive objects at the same address apart.) No handle has this number.
const DELETED_LIFE: u64 = u64::MAX;

/// The table of open objects of one file.
#[derive(Debug, Default)]
pub(super) struct OpenObjects {
    state: Mutex<OpenState>,
    /// True if objects must be deleted.
    abandoned: AtomicBool,
    /// The number of object headers that were deleted since the file was opened.
    deleted: AtomicU64,
}

#[derive(Debug, Default)]
struct OpenState {
    open: AddressMap<OpenObject>,
    /// Objects with a link count of 0 that are not deleted yet.
    unlinked: BTreeSet<Address>,
    /// The unlinked objects without handles. The order of addresses makes the written file
    /// deterministic.
    abandoned: BTreeSet<Address>,
    /// The addresses of deleted object headers: at most one for each object of the file.
    ended: AddressMap<DeletedObject>,
}

/// The entry of one open object in the table of open objects: the number of its handles, and its
/// life number. The life number tells successive objects at the same address apart.
#[derive(Debug, Clone, Copy)]
struct OpenObject {
    count: usize,
    life: u64,
}

/// A record in the table of open objects about the deletion of the object at an address.
#[derive(Debug, Clone, Copy)]
struct DeletedObject {
    /// The number of the deletion, counted from 1.
    at: u64,
    /// True if another object has its header at the address since then.
    is_replaced: bool,
}

impl OpenState {
    /// Returns the life number of the object at an address, which tells objects at the same address
    /// apart. It is the number of the last deletion of an object at this address, or 0 if no object
    /// was deleted there.
    fn life(&self, object: Address) -> u64 {
        self.ended.get(&object).map_or(0, |ended| ended.at)
    }

    /// Returns whether the object at an address is gone: it was deleted or will be deleted, and no
    /// new object is at the address.
    fn is_gone(&self, object: Address) -> bool {
        self.ended.get(&object).is_some_and(|ended| !ended.is_replaced)
            || (!self.abandoned.is_empty() && self.abandoned.contains(&object))
    }
}

/// A handle that keeps an object open. An object with handles is not deleted. Each clone of a
/// handle is a handle.
#[derive(Debug)]
pub struct ObjectHandle {
    address: Address,
    life: u64,
    /// `None` in a file that is open for reading only, because nothing is deleted from it.
    table: Option<Arc<OpenObjects>>,
}

impl ObjectHandle {
    /// Returns the address of the object header of the object that this handle keeps open.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the life number of the object that this handle keeps open. The number tells the
    /// object apart from earlier objects at the same address.
    pub fn life(&self) -> u64 {
        self.life
    }

    /// Checks that the object of this handle was not deleted. When a file is closed, unlinked
    /// objects are deleted even if they have handles. When the contents of a file are replaced, the
    /// old root group is deleted.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the object was deleted.
    pub fn check(&self) -> Result<()> {
        let Some(table) = &self.table else { return Ok(()) };
        if table.deleted.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        let state = table.state.lock();
        if state.life(self.address) == self.life && !state.is_gone(self.address) {
            return Ok(());
        }
        Err(Error::Misuse(format!(
            "the file is closed; its closing deleted the object at {}, to which no link led",
            self.address
        )))
    }
}

impl Clone for ObjectHandle {
    fn clone(&self) -> Self {
        if let Some(table) = &self.table
            && let Some(open) = table.state.lock().open.get_mut(&self.address)
            && open.life == self.life
        {
            open.count += 1;
        }
        Self { address: self.address, life: self.life, table: self.table.clone() }
    }
}

impl Drop for ObjectHandle {
    fn drop(&mut self) {
        let Some(table) = &self.table else { return };
        let mut state = table.state.lock();
        let Some(open) = state.open.get_mut(&self.address).filter(|open| open.life == self.life) else {
            return;
        };
        open.count -= 1;
        if open.count > 0 {
            return;
        }
        state.open.remove(&self.address);
        if !state.unlinked.is_empty() && state.unlinked.contains(&self.address) {
            state.abandoned.insert(self.address);
            table.abandoned.store(true, Ordering::Release);
        }
    }
}

/// Creates an error about a handle whose object was deleted.
fn deleted(object: Address) -> Error {
    Error::NotFound { subject: "deleted object", name: object.to_string() }
}

impl Store {
    fn table(&self) -> Option<&Arc<OpenObjects>> {
        self.write_state.is_writable.then_some(&self.sharing.open_objects)
    }

    /// Opens a handle, which keeps an object alive after its last link is removed. At this moment,
    /// the object must have a link or be new. The caller must hold a [`Reading`](super::Reading) or
    /// an [`Edit`](super::Edit) of the file.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if the object was deleted. This happens in damaged files, in
    /// which an object has more links than its link count.
    pub fn hold(&self, object: Address) -> Result<ObjectHandle> {
        self.hold_life(object, None)
    }

    /// Opens a handle of the object at the address `object`, like [`hold`](Self::hold). Returns an
    /// error if the object has another life number than `life`. (The [`life`](ObjectHandle::life)
    /// number tells successive objects at the same address apart.)
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if the object was deleted, even if another object has its
    /// address.
    pub fn hold_known(&self, object: Address, life: u64) -> Result<ObjectHandle> {
        self.hold_life(object, Some(life))
    }

    fn hold_life(&self, object: Address, known: Option<u64>) -> Result<ObjectHandle> {
        let Some(table) = self.table() else {
            return Ok(ObjectHandle { address: object, life: known.unwrap_or(0), table: None });
        };
        let mut state = table.state.lock();
        let life = state.life(object);
        if state.is_gone(object) || known.is_some_and(|known| known != life) {
            return Err(deleted(object));
        }
        let open = state.open.entry(object).or_insert(OpenObject { count: 0, life });
        open.count += 1;
        Ok(ObjectHandle { address: object, life, table: Some(Arc::clone(table)) })
    }

    /// Checks that the object at the address `object` was not deleted. `life` is the
    /// [`life`](ObjectHandle::life) number of the object, which tells successive objects at the
    /// same address apart.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if the object was deleted.
    pub fn check_life(&self, object: Address, life: u64) -> Result<()> {
        self.hold_known(object, life).map(drop)
    }

    /// Returns the number of objects of the file that were deleted since the file was opened.
    pub fn deletions(&self) -> u64 {
        self.sharing.open_objects.deleted.load(Ordering::Acquire)
    }

    /// Returns the earlier [`life`](ObjectHandle::life) number of the object at the address
    /// `object`, which tells successive objects at the same address apart. `deletions` is the
    /// number of [`deletions`](Self::deletions) at the earlier time. If the object was deleted
    /// since, returns a number that no handle has.
    pub fn life_of(&self, object: Address, deletions: u64) -> u64 {
        if self.deletions() == 0 {
            return 0;
        }
        match self.sharing.open_objects.state.lock().life(object) {
            life if life > deletions => DELETED_LIFE,
            life => life,
        }
    }

    /// Returns whether the object at an address has no links. Such an object exists only because of
    /// its handles.
    pub fn is_unlinked(&self, object: Address) -> bool {
        self.table().is_some_and(|table| table.state.lock().unlinked.contains(&object))
    }

    /// Returns the addresses of unlinked objects: objects that exist only because of their handles,
    /// and objects that must be deleted. A commit writes these objects to the file although no link
    /// leads to them. After a crash,
    /// [`OpenFile::free_unlinked`](crate::ops::OpenFile::free_unlinked) frees their space.
    pub fn unlinked_objects(&self) -> Vec<Address> {
        self.sharing.open_objects.state.lock().unlinked.iter().copied().collect()
    }

    /// Checks that an object has no handles and that it was not deleted since the file was opened.
    pub(crate) fn check_unheld(&self, object: Address) -> Result<()> {
        let state = self.sharing.open_objects.state.lock();
        if state.open.contains_key(&object) {
            return Err(Error::Misuse(format!(
                "the object at {object} cannot be deleted while a handle keeps it open"
            )));
        }
        if state.is_gone(object) {
            return Err(deleted(object));
        }
        Ok(())
    }

    /// Records that the last link to an object was removed. Returns whether handles keep the object
    /// in the file.
    pub(crate) fn unlink(&self, object: Address) -> bool {
        let mut state = self.sharing.open_objects.state.lock();
        let held = state.open.contains_key(&object);
        if held {
            state.unlinked.insert(object);
        }
        held
    }

    /// Records that an object has lost its last link, which led from the object to itself. The
    /// object is deleted later, after its last handle.
    pub(crate) fn unlink_later(&self, object: Address) {
        if !self.unlink(object) {
            let mut state = self.sharing.open_objects.state.lock();
            state.unlinked.insert(object);
            state.abandoned.insert(object);
            self.sharing.open_objects.abandoned.store(true, Ordering::Release);
        }
    }

    /// Records that a link leads to an object again that had no links.
    pub(crate) fn relink(&self, object: Address) {
        let mut state = self.sharing.open_objects.state.lock();
        if !state.unlinked.is_empty() {
            state.unlinked.remove(&object);
            state.abandoned.remove(&object);
        }
    }

    /// Takes the abandoned objects out of the table of open objects, and returns their addresses.
    /// The caller must delete them. Abandoned objects are unlinked objects without handles. If the
    /// file is closed, these are all unlinked objects.
    pub(crate) fn take_abandoned(&self, closing: bool) -> Vec<Address> {
        let table = &self.sharing.open_objects;
        if !closing && !table.abandoned.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut state = table.state.lock();
        table.abandoned.store(false, Ordering::Release);
        let taken = if closing {
            state.abandoned.clear();
            std::mem::take(&mut state.unlinked)
        } else {
            let taken = std::mem::take(&mut state.abandoned);
            state.unlinked.retain(|object| !taken.contains(object));
            taken
        };
        if !taken.is_empty() {
            // From now on, no handle of these objects can be opened, even if a deletion fails.
            taken.iter().for_each(|object| end(table, &mut state, *object));
        }
        taken.into_iter().collect()
    }

    /// Records the end of an object's life: its object header was deleted. The handles of the
    /// object become invalid.
    pub(crate) fn end_life(&self, object: Address) {
        if let Some(table) = self.table() {
            end(table, &mut table.state.lock(), object);
        }
    }

    /// Records the start of an object's life: a new object has its object header at the address
    /// `object`.
    pub(crate) fn begin_life(&self, object: Address) {
        if self.deletions() > 0
            && let Some(ended) = self.sharing.open_objects.state.lock().ended.get_mut(&object)
        {
            ended.is_replaced = true;
        }
    }
}

fn end(table: &OpenObjects, state: &mut OpenState, object: Address) {
    state.open.remove(&object);
    state.unlinked.remove(&object);
    state.abandoned.remove(&object);
    if state.ended.get(&object).is_some_and(|ended| !ended.is_replaced) {
        return;
    }
    let at = table.deleted.fetch_add(1, Ordering::AcqRel) + 1;
    state.ended.insert(object, DeletedObject { at, is_replaced: false });
}

#[cfg(test)]
mod tests {
    use super::super::image::{image, new_file};
    use super::*;
    use crate::error::ErrorKind;
    use crate::versions::LibverBounds;

    fn at(number: u64) -> Address {
        Address::new(number)
    }

    #[test]
    fn an_object_is_abandoned_with_its_last_handle() {
        let store = new_file(LibverBounds::DEFAULT);
        let (one, other) = (store.hold(at(100)).unwrap(), store.hold(at(100)).unwrap());
        let (clone, _else) = (one.clone(), store.hold(at(200)).unwrap());
        assert!(store.unlink(at(100)) && !store.unlink(at(300)));
        assert_eq!(store.unlinked_objects(), [at(100)]);
        assert!(store.is_unlinked(at(100)) && !store.is_unlinked(at(200)));
        for handle in [one, clone, other] {
            assert_eq!(store.take_abandoned(false), []);
            handle.check().unwrap();
            drop(handle);
        }
        assert_eq!(store.unlinked_objects(), [at(100)], "until it is deleted, it is in the file");
        assert_eq!(store.hold(at(100)).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(store.take_abandoned(false), [at(100)]);
        assert_eq!((store.take_abandoned(false), store.unlinked_objects()), (vec![], vec![]));
        assert_eq!(store.hold(at(100)).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn an_object_that_is_linked_again_stays() {
        let store = new_file(LibverBounds::DEFAULT);
        let handle = store.hold(at(100)).unwrap();
        assert!(store.unlink(at(100)));
        store.relink(at(100));
        drop(handle);
        assert_eq!((store.take_abandoned(true), store.unlinked_objects()), (vec![], vec![]));
        // An object that loses its own last link is deleted later, whether it has handles or not.
        store.unlink_later(at(100));
        assert_eq!(store.take_abandoned(false), [at(100)]);
    }

    #[test]
    fn objects_at_one_address_are_told_from_each_other() {
        let store = new_file(LibverBounds::DEFAULT);
        let (first, seen) = (store.hold(at(100)).unwrap(), store.deletions());
        store.end_life(at(100));
        assert_eq!(first.check().unwrap_err().kind(), ErrorKind::Misuse);
        assert_eq!(store.hold(at(100)).unwrap_err().kind(), ErrorKind::NotFound);
        store.begin_life(at(100));
        let second = store.hold(at(100)).unwrap();
        assert_ne!(first.life(), second.life());
        assert_eq!(store.life_of(at(100), store.deletions()), second.life());
        assert_eq!(store.life_of(at(100), seen), DELETED_LIFE, "what was seen then is gone");
        assert!(store.hold_known(at(100), first.life()).is_err() && first.check().is_err());
        // Handles of the first object do not keep the second object.
        assert!(store.unlink(at(100)));
        drop((first.clone(), first));
        assert_eq!(store.take_abandoned(false), []);
        drop(second);
        assert_eq!(store.take_abandoned(false), [at(100)]);
    }

    #[test]
    fn a_close_takes_what_is_open_too() {
        let store = new_file(LibverBounds::DEFAULT);
        let (kept, linked) = (store.hold(at(100)).unwrap(), store.hold(at(200)).unwrap());
        assert!(store.unlink(at(100)));
        assert_eq!(store.take_abandoned(true), [at(100)]);
        assert!(kept.check().is_err() && linked.check().is_ok());
    }

    #[test]
    fn a_file_that_is_only_read_counts_nothing() {
        let store = image(&[]);
        let handle = store.hold(at(100)).unwrap().clone();
        handle.check().unwrap();
        assert!(store.unlinked_objects().is_empty() && !store.is_unlinked(at(100)));
    }
}
