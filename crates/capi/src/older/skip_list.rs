//! The sorted set that HDF5's own programs of version 1.10 take from the library (`H5SL_*`). They
//! sort by addresses; the other kinds of keys are not supported.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

use parking_lot::Mutex;

use crate::call_user;
use crate::ctypes::{haddr_t, herr_t};
use crate::error::Failure;
use crate::export;
use crate::pointer::In;

/// The number of sets with addresses as keys.
const ADDRESSES: c_int = 1;

/// The items of a set, as numbers: the library never reads through them.
type Items = BTreeMap<haddr_t, (usize, usize)>;

/// All sets, by their numbers. A program gets the number in the place of a pointer.
static SETS: Mutex<BTreeMap<usize, Items>> = Mutex::new(BTreeMap::new());

/// The C type of a function of the program that frees an item (`H5SL_operator_t`).
pub type Free = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> herr_t;

/// Returns the failure for a set that does not exist.
fn no_set() -> Failure {
    Failure::bad_value("the sorted set does not exist")
}

export! {
    /// Makes a set and returns its number.
    fn H5SL_create(kind: c_int, compare: *const c_void) -> *mut c_void {
        if kind != ADDRESSES || !compare.is_null() {
            return Err(Failure::unsupported("only sets of addresses are supported"));
        }
        let mut sets = SETS.lock();
        let number = sets.last_key_value().map_or(1, |(last, _)| last.wrapping_add(1));
        sets.insert(number, Items::new());
        Ok(number as *mut c_void)
    }

    /// Adds an item with a key that is part of the item.
    fn H5SL_insert(set: *mut c_void, item: *mut c_void, key: In<haddr_t>) -> herr_t {
        let address = key.get().ok_or_else(|| Failure::bad_value("the key is null"))?;
        let mut sets = SETS.lock();
        let items = sets.get_mut(&(set as usize)).ok_or_else(no_set)?;
        if items.contains_key(&address) {
            return Err(Failure::bad_value("the set has the key already"));
        }
        items.insert(address, (item as usize, key.pointer() as usize));
        Ok(0)
    }

    /// Returns the item of a key, or null.
    fn H5SL_search(set: *mut c_void, key: In<haddr_t>) -> *mut c_void {
        let address = key.get().ok_or_else(|| Failure::bad_value("the key is null"))?;
        let sets = SETS.lock();
        let items = sets.get(&(set as usize)).ok_or_else(no_set)?;
        Ok(items.get(&address).map_or(std::ptr::null_mut(), |(item, _)| *item as *mut c_void))
    }

    /// Removes a set, after a function of the program has freed each item.
    fn H5SL_destroy(set: *mut c_void, free: Option<Free>, data: *mut c_void) -> herr_t {
        let items = SETS.lock().remove(&(set as usize)).ok_or_else(no_set)?;
        if let Some(free) = free {
            for (item, key) in items.into_values() {
                let _ = call_user!(free, item as *mut c_void, key as *mut c_void, data);
            }
        }
        Ok(0)
    }
}
