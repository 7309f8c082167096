//! The objects of a file that somebody has open, those among them that no link leads to any more, and the addresses of
//! object headers that were deleted.
//!
//! An object lives until its last link is gone and its last handle is dropped. Whoever takes the last link under an
//! [`Edit`](super::Edit) asks [`Store::unlink`] whether handles are left: with handles the object stays, with a link count
//! of 0. The last handle that is dropped only puts the address on a list; the next change, flush or close of the file
//! deletes what is on the list. The lock of the table is held for the time of one look, and no other lock is taken meanwhile.
//!
//! Handles are taken under [`Reading`](super::Reading) or an `Edit`, so that no object is deleted between the look at its
//! link and the handle.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use super::Store;
use crate::error::{Error, Result};

/// The life of an object whose header was deleted before anybody asked for it.
const DELETED_LIFE: u64 = u64::MAX;

/// The table of open objects of one file.
#[derive(Debug, Default)]
pub(super) struct OpenObjects {
    state: Mutex<OpenState>,
    /// True if objects wait to be deleted.
    abandoned: AtomicBool,
    /// The number of object headers that were deleted since the file was opened.
    deleted: AtomicU64,
}

#[derive(Debug, Default)]
struct OpenState {
    open: HashMap<Address, OpenObject>,
    /// Objects with a link count of 0 that are not deleted yet.
    unlinked: BTreeSet<Address>,
    /// Those of them without handles. In the order of addresses, so that the same calls make the same file.
    abandoned: BTreeSet<Address>,
    /// The addresses at which object headers were deleted: as many as the file had objects at the most.
    ended: HashMap<Address, DeletedObject>,
}

/// The handles of one object.
#[derive(Debug, Clone, Copy)]
struct OpenObject {
    count: usize,
    life: u64,
}

/// The end of an object at an address.
#[derive(Debug, Clone, Copy)]
struct DeletedObject {
    /// The number of the deletion, counted from 1.
    at: u64,
    /// True if another object has its header there since.
    is_replaced: bool,
}

impl OpenState {
    /// The life of the object at an address, which began with the last deletion there; 0 if there was none.
    fn life(&self, object: Address) -> u64 {
        self.ended.get(&object).map_or(0, |ended| ended.at)
    }

    /// Returns whether no object has its header there any more, or only until it is deleted.
    fn is_gone(&self, object: Address) -> bool {
        self.ended.get(&object).is_some_and(|ended| !ended.is_replaced)
            || (!self.abandoned.is_empty() && self.abandoned.contains(&object))
    }
}

/// A handle of an object: as long as one lives, the object is not deleted. Clones count.
#[derive(Debug)]
pub struct ObjectHandle {
    address: Address,
    life: u64,
    /// `None` in a file that is only read, from which nothing is deleted.
    table: Option<Arc<OpenObjects>>,
}

impl ObjectHandle {
    /// Where the object's header lies.
    pub fn address(&self) -> Address {
        self.address
    }

    /// A number that tells the object from those that had their headers at the same address before.
    pub fn life(&self) -> u64 {
        self.life
    }

    /// An error if the object was deleted nevertheless: with the close of the file, or as the root group of contents
    /// that were replaced.
    ///
    /// # Errors
    /// [`Error::Misuse`].
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
            "the file is closed, and the object at {} was deleted with that: no link led to it",
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

/// The error for an object that was deleted.
fn deleted(object: Address) -> Error {
    Error::NotFound { what: "deleted object", name: object.to_string() }
}

impl Store {
    fn table(&self) -> Option<&Arc<OpenObjects>> {
        self.write_state.is_writable.then_some(&self.sharing.open_objects)
    }

    /// Opens a handle of the object to which a link leads, or which was made just now. The caller holds
    /// [`Reading`](super::Reading) or an [`Edit`](super::Edit).
    ///
    /// # Errors
    /// [`Error::NotFound`] if the object was deleted, as in a damaged file, in which more links lead to it than it counts.
    pub fn hold(&self, object: Address) -> Result<ObjectHandle> {
        self.hold_life(object, None)
    }

    /// Opens a handle of the object of that [`life`](ObjectHandle::life), as [`hold`](Self::hold) does.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the object was deleted, whatever has its place by now.
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

    /// An error if the object of that [`life`](ObjectHandle::life) was deleted.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn check_life(&self, object: Address, life: u64) -> Result<()> {
        self.hold_known(object, life).map(drop)
    }

    /// Returns a number that grows with every deletion of an object.
    pub fn deletions(&self) -> u64 {
        self.sharing.open_objects.deleted.load(Ordering::Acquire)
    }

    /// Returns the [`life`](ObjectHandle::life) of the object that was at an address after so many
    /// [`deletions`](Self::deletions). If it was deleted since, that is one that no handle has.
    pub fn life_of(&self, object: Address, deletions: u64) -> u64 {
        if self.deletions() == 0 {
            return 0;
        }
        match self.sharing.open_objects.state.lock().life(object) {
            life if life > deletions => DELETED_LIFE,
            life => life,
        }
    }

    /// Returns whether no link leads to the object, which lives on for its handles.
    pub fn is_unlinked(&self, object: Address) -> bool {
        self.table().is_some_and(|table| table.state.lock().unlinked.contains(&object))
    }

    /// Returns the objects with a link count of 0 that live on for their handles, or wait to be deleted. A file that is
    /// committed as it is holds them though nothing leads to them: after a crash,
    /// [`OpenFile::free_unlinked`](crate::ops::OpenFile::free_unlinked) gives their space back.
    pub fn unlinked_objects(&self) -> Vec<Address> {
        self.sharing.open_objects.state.lock().unlinked.iter().copied().collect()
    }

    /// An error if the object has handles, or was deleted since the file was opened.
    pub(crate) fn check_unheld(&self, object: Address) -> Result<()> {
        let state = self.sharing.open_objects.state.lock();
        if state.open.contains_key(&object) {
            return Err(Error::Misuse(format!("the object at {object} is open")));
        }
        if state.is_gone(object) {
            return Err(deleted(object));
        }
        Ok(())
    }

    /// Takes note that the last link to an object is gone. Returns whether the object lives on for its handles.
    pub(crate) fn unlink(&self, object: Address) -> bool {
        let mut state = self.sharing.open_objects.state.lock();
        let held = state.open.contains_key(&object);
        if held {
            state.unlinked.insert(object);
        }
        held
    }

    /// Takes note that an object has lost its last link through itself: it is deleted once it has no handles.
    pub(crate) fn unlink_later(&self, object: Address) {
        if !self.unlink(object) {
            let mut state = self.sharing.open_objects.state.lock();
            state.unlinked.insert(object);
            state.abandoned.insert(object);
            self.sharing.open_objects.abandoned.store(true, Ordering::Release);
        }
    }

    /// Takes note that a link leads to an object again.
    pub(crate) fn relink(&self, object: Address) {
        let mut state = self.sharing.open_objects.state.lock();
        if !state.unlinked.is_empty() {
            state.unlinked.remove(&object);
            state.abandoned.remove(&object);
        }
    }

    /// Takes the objects that are to be deleted: those without handles, or, where the file is closed, all that no link
    /// leads to.
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
            // Nobody opens them any more, whether they can be deleted or not.
            taken.iter().for_each(|object| end(table, &mut state, *object));
        }
        taken.into_iter().collect()
    }

    /// Takes note that the header of an object was deleted. Handles that it has are those of nothing.
    pub(crate) fn end_life(&self, object: Address) {
        if let Some(table) = self.table() {
            end(table, &mut table.state.lock(), object);
        }
    }

    /// Takes note that a new object has its header there.
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
        // One that loses its last link through itself waits, whether it is open or not.
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
        // The handles of the first one say nothing about the second one.
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
