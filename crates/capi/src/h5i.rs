//! Identifier functions (`H5I*`).

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use crate::call_user;
use crate::ctypes::{FIRST_USER_KIND, H5I_INVALID_HID, IdKind, counted, herr_t, hid_t, hsize_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::{FileHandle, closing, location};
use crate::id::user::{Free, UserObject};
use crate::id::{self, Entry};
use crate::pointer::{Out, TextBuffer};

/// The C type of a user's function that tests an object of a user-defined identifier kind in a
/// search (`H5I_search_func_t`).
pub type Search = unsafe extern "C" fn(*mut c_void, hid_t, *mut c_void) -> c_int;
/// The C type of a user's function that visits an identifier (`H5I_iterate_func_t`).
pub type Visit = unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;

/// The number for the kind of an identifier that does not exist (`H5I_BADID`).
const BAD_ID: c_int = -1;

/// Returns the failure for an identifier that does not exist.
fn bad_id() -> Failure {
    Failure::new(codes::ID, codes::BADID, "cannot find the identifier")
}

/// Checks that a number is the number of an identifier kind that a user registered.
fn user_kind(kind: c_int) -> Outcome<c_int> {
    if kind < FIRST_USER_KIND {
        return Err(Failure::new(codes::ID, codes::BADGROUP, "the kind of identifiers is not user-defined"));
    }
    id::user::find(kind)
        .map(|kind| kind.number)
        .ok_or_else(|| Failure::new(codes::ID, codes::BADGROUP, "the kind of identifiers does not exist"))
}

/// Releases a reference to an identifier and returns the remaining number. The last reference
/// closes the object.
///
/// # Errors
/// Fails if the identifier does not exist, or if the object cannot be closed.
pub fn release(id: hid_t) -> Outcome<c_uint> {
    crate::h5p::before_close(id);
    let (count, entry) = id::decrement(id).ok_or_else(bad_id)?;
    match entry {
        Some(Entry::User(object)) => {
            let free = id::user::find(object.kind).and_then(|kind| kind.free);
            if let Some(free) = free {
                let request = std::ptr::null_mut();
                if call_user!(free, object.address as *mut c_void, request) < 0 {
                    return Err(Failure::new(codes::ID, codes::CANTRELEASE, "the user's function failed"));
                }
            }
        }
        Some(Entry::File(file)) => crate::h5f::close_handle(file)?,
        Some(entry) => closing(|| drop(entry))?,
        None => {}
    }
    Ok(count)
}

/// Registers an object of a user-defined identifier kind and returns the object's identifier.
fn register(kind: c_int, object: *const c_void) -> Outcome<hid_t> {
    let kind = user_kind(kind)?;
    Ok(id::register(Entry::User(UserObject { kind, address: object as usize })))
}

/// Registers a user-defined kind of identifiers and returns the number of the kind.
fn register_kind(reserved: c_uint, free: Option<Free>) -> Outcome<c_int> {
    id::user::register(free, reserved).because(codes::ID, codes::NOIDS, "all kinds of identifiers are taken")
}

/// Returns the objects of a user-defined identifier kind with their identifiers.
fn user_objects(kind: c_int) -> Vec<(hid_t, UserObject)> {
    let objects = id::list(kind).into_iter();
    objects
        .filter_map(|(id, entry)| matches!(entry, Entry::User(_)).then_some((id, entry)))
        .filter_map(|(id, entry)| if let Entry::User(object) = entry { Some((id, object)) } else { None })
        .collect()
}

export! {
    /// Returns the kind of resource to which an identifier refers (`H5I_type_t`).
    fn H5Iget_type(id: hid_t) -> c_int {
        Ok(id::find(id).map_or(BAD_ID, |entry| entry.kind()))
    }

    /// Returns an identifier of the file that contains the object `id`.
    fn H5Iget_file_id(id: hid_t) -> hid_t {
        if let Some(Entry::File(_)) = id::find(id) {
            id::increment(id);
            return Ok(id);
        }
        let (_, place) = location::find(id)?;
        let files = id::list(IdKind::File as c_int);
        let of_file = |entry: &Entry| match entry {
            Entry::File(file) => Arc::ptr_eq(&file.shared, &place.shared).then_some(file.number),
            _ => None,
        };
        let exact = files.iter().find(|(_, entry)| of_file(entry) == Some(place.handle));
        let known = exact.or_else(|| files.iter().find(|(_, entry)| of_file(entry).is_some()));
        if let Some((file, _)) = known {
            id::increment(*file);
            return Ok(*file);
        }
        let (flags, name) = (*place.shared.flags.read(), place.shared.name.clone());
        let handle = FileHandle { shared: place.shared, flags, name, number: place.handle };
        Ok(id::register(Entry::File(Arc::new(handle))))
    }

    /// Copies the name of an object to `buffer` and returns the length of the name. The name is the
    /// path by which the program opened the object. If there is none, it is another path to the
    /// object.
    fn H5Iget_name(id: hid_t, buffer: TextBuffer, size: usize) -> isize {
        let (object, place) =
            location::find(id).because(codes::ID, codes::BADTYPE, "not an object in a file")?;
        let name = match place.name.get() {
            Some(name) => name,
            // If the program opened the object by a reference or an address, the name is the first
            // path that a walk over the file finds.
            None if object.link_count()? == 0 => Vec::new(),
            None => {
                let found = crate::h5r::path_of(&place.shared, object.token().address())?;
                place.name.set(found.clone());
                found.unwrap_or_default()
            }
        };
        buffer.put(&name, size);
        crate::text::length(&name)
    }

    /// Adds a reference to an identifier and returns the new number of references.
    fn H5Iinc_ref(id: hid_t) -> c_int {
        let count = id::increment(id).ok_or_else(bad_id)?;
        counted(count)
    }

    /// Releases a reference to an identifier and returns the remaining number of references.
    fn H5Idec_ref(id: hid_t) -> c_int {
        let count = release(id).because(codes::ID, codes::CANTDEC, "cannot release the identifier")?;
        counted(count)
    }

    /// Returns the number of references to an identifier.
    fn H5Iget_ref(id: hid_t) -> c_int {
        let count = id::references(id).ok_or_else(bad_id)?;
        counted(count)
    }

    /// Returns whether an identifier exists.
    fn H5Iis_valid(id: hid_t) -> htri_t {
        Ok(htri_t::from(id != H5I_INVALID_HID && id::find(id).is_some()))
    }

    /// Stores in `count` the number of identifiers of a given kind.
    fn H5Inmembers(kind: c_int, count: Out<hsize_t>) -> herr_t {
        if kind >= FIRST_USER_KIND {
            user_kind(kind)?;
        }
        count.put(hyperslab_exact::to_u64(id::count(kind)));
        Ok(0)
    }

    /// Returns whether a user-defined kind of identifiers exists.
    fn H5Itype_exists(kind: c_int) -> htri_t {
        if kind < FIRST_USER_KIND {
            return Err(Failure::bad_value("the identifier type is a type of the library, not a type that the program registered"));
        }
        Ok(htri_t::from(id::user::find(kind).is_some()))
    }

    /// Registers a user-defined kind of identifiers and returns its number (HDF5 1.14 form with a
    /// hash table size).
    fn H5Iregister_type1(hash_size: usize, reserved: c_uint, free: Option<Free>) -> c_int {
        let _ = hash_size;
        register_kind(reserved, free)
    }

    /// Registers a user-defined kind of identifiers and returns the number of the kind.
    fn H5Iregister_type2(reserved: c_uint, free: Option<Free>) -> c_int {
        register_kind(reserved, free)
    }

    /// Registers a user-defined kind of identifiers, under the symbol name of HDF5 1.14.
    fn H5Iregister_type(hash_size: usize, reserved: c_uint, free: Option<Free>) -> c_int {
        let _ = hash_size;
        register_kind(reserved, free)
    }

    /// Registers an object of a user-defined identifier kind and returns the object's identifier.
    fn H5Iregister(kind: c_int, object: *const c_void) -> hid_t {
        register(kind, object)
    }

    /// Registers an object of a user-defined identifier kind that is still to be computed (a future
    /// object). The library treats the object as complete and ignores the callbacks.
    fn H5Iregister_future(
        kind: c_int,
        object: *const c_void,
        realize: *const c_void,
        discard: *const c_void,
    ) -> hid_t {
        let _ = (realize, discard);
        register(kind, object)
    }

    /// Returns the object of an identifier. Checks first that the identifier has the given
    /// user-defined kind.
    fn H5Iobject_verify(id: hid_t, kind: c_int) -> *mut c_void {
        let kind = user_kind(kind)?;
        match id::find(id) {
            Some(Entry::User(object)) if object.kind == kind => Ok(object.address as *mut c_void),
            _ => Err(bad_id()),
        }
    }

    /// Removes an identifier of a user-defined kind and returns the object to which it referred.
    fn H5Iremove_verify(id: hid_t, kind: c_int) -> *mut c_void {
        let kind = user_kind(kind)?;
        match id::find(id) {
            Some(Entry::User(object)) if object.kind == kind => {
                id::take(id);
                Ok(object.address as *mut c_void)
            }
            _ => Err(bad_id()),
        }
    }

    /// Removes all identifiers of a user-defined kind.
    fn H5Iclear_type(kind: c_int, force: bool) -> herr_t {
        id::clear_user_kind(user_kind(kind)?, force);
        Ok(0)
    }

    /// Removes a user-defined kind of identifiers and all its identifiers.
    fn H5Idestroy_type(kind: c_int) -> herr_t {
        let kind = user_kind(kind)?;
        id::clear_user_kind(kind, true);
        id::user::remove(kind);
        Ok(0)
    }

    /// Adds a reference to a user-defined identifier kind and returns the new number of references.
    fn H5Iinc_type_ref(kind: c_int) -> c_int {
        user_kind(kind)?;
        id::user::add_reference(kind).ok_or_else(bad_id)
    }

    /// Releases a reference to a user-defined identifier kind and returns the remaining number. The
    /// last reference removes the kind.
    fn H5Idec_type_ref(kind: c_int) -> herr_t {
        let kind = user_kind(kind)?;
        let count = id::user::drop_reference(kind).ok_or_else(bad_id)?;
        if count == 0 {
            id::clear_user_kind(kind, true);
            id::user::remove(kind);
        }
        Ok(count)
    }

    /// Returns the number of references to a user-defined identifier kind.
    fn H5Iget_type_ref(kind: c_int) -> c_int {
        user_kind(kind)?;
        id::user::references(kind).ok_or_else(bad_id)
    }

    /// Searches the objects of a user-defined identifier kind. Returns the first object for which
    /// `function` returns a positive value.
    fn H5Isearch(kind: c_int, function: Option<Search>, key: *mut c_void) -> *mut c_void {
        let kind = user_kind(kind)?;
        let function = function.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        for (id, object) in user_objects(kind) {
            let pointer = object.address as *mut c_void;
            match call_user!(function, pointer, id, key) {
                0 => {}
                found if found > 0 => return Ok(pointer),
                _ => return Err(Failure::new(codes::ID, codes::BADITER, "the user's function failed")),
            }
        }
        Ok(std::ptr::null_mut())
    }

    /// Calls the user's function `function` for each identifier of a kind until the function
    /// returns a nonzero value.
    fn H5Iiterate(kind: c_int, function: Option<Visit>, data: *mut c_void) -> herr_t {
        let function = function.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        if kind >= FIRST_USER_KIND {
            user_kind(kind)?;
        }
        for (id, _) in id::list(kind) {
            match call_user!(function, id, data) {
                0 => {}
                stop if stop > 0 => return Ok(0),
                _ => return Err(Failure::new(codes::ID, codes::BADITER, "the user's function failed")),
            }
        }
        Ok(0)
    }
}
