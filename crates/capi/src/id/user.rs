//! User-defined kinds of identifiers, and the objects of these kinds.

use std::ffi::{c_int, c_uint, c_void};

use parking_lot::Mutex;

use crate::ctypes::{FIRST_USER_KIND, LAST_USER_KIND, herr_t};

/// The C type of a user's function that frees an object of a user-defined identifier kind
/// (`H5I_free_t`).
pub type Free = unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> herr_t;

/// An object of a user-defined identifier kind: a pointer that the library does not interpret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserObject {
    /// The number of the object's kind.
    pub kind: c_int,
    /// The address of the object as a number, because the library never dereferences it.
    pub address: usize,
}

/// A kind of identifiers that a user registered.
#[derive(Debug, Clone, Copy)]
pub struct UserKind {
    /// The number of the identifier kind.
    pub number: c_int,
    /// The user's function that frees objects of the kind.
    pub free: Option<Free>,
    /// The number of identifiers that the user asked to reserve. The library ignores this number.
    pub reserved: c_uint,
    /// The number of references to the identifier kind.
    pub count: c_int,
}

/// The kinds of identifiers that users registered.
static KINDS: Mutex<Vec<UserKind>> = Mutex::new(Vec::new());

/// Registers a user-defined identifier kind and returns its number, or `None` if all numbers are in
/// use.
pub fn register(free: Option<Free>, reserved: c_uint) -> Option<c_int> {
    let mut kinds = KINDS.lock();
    let taken = |number| kinds.iter().any(|kind| kind.number == number);
    let number = (FIRST_USER_KIND..=LAST_USER_KIND).find(|number| !taken(*number))?;
    kinds.push(UserKind { number, free, reserved, count: 1 });
    Some(number)
}

/// Returns the user-defined identifier kind with the given number.
pub fn find(number: c_int) -> Option<UserKind> {
    KINDS.lock().iter().find(|kind| kind.number == number).copied()
}

/// Removes a user-defined identifier kind. Returns `false` if the kind does not exist.
pub fn remove(number: c_int) -> bool {
    let mut kinds = KINDS.lock();
    let before = kinds.len();
    kinds.retain(|kind| kind.number != number);
    kinds.len() != before
}

/// Changes the reference count of a user-defined identifier kind by `by` and returns the new count.
fn change(number: c_int, by: c_int) -> Option<c_int> {
    let mut kinds = KINDS.lock();
    let kind = kinds.iter_mut().find(|kind| kind.number == number)?;
    kind.count = kind.count.checked_add(by)?;
    Some(kind.count)
}

/// Adds a reference to a user-defined identifier kind and returns the new number of references.
pub fn add_reference(number: c_int) -> Option<c_int> {
    change(number, 1)
}

/// Releases a reference to a user-defined identifier kind and returns the remaining number of
/// references.
pub fn drop_reference(number: c_int) -> Option<c_int> {
    change(number, -1)
}

/// Returns the number of references to a user-defined identifier kind.
pub fn references(number: c_int) -> Option<c_int> {
    change(number, 0)
}
