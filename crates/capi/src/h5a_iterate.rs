//! Iteration over the attributes of an object (`H5Aiterate*`).

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::attribute::list;
use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, hsize_t};
use crate::error::{Failure, Outcome, codes};
use crate::export;
use crate::file::location;
use crate::file::traverse::{self, Place};
use crate::h5a::{H5A_info_t, info_of, tracks_order};
use crate::id::{self, Entry};
use crate::pointer::{Out, Text};

/// The C type of a user's function that visits an attribute (`H5A_operator2_t`).
pub type Visit2 = unsafe extern "C" fn(hid_t, *const c_char, *const H5A_info_t, *mut c_void) -> herr_t;
/// The C type of a user's function that visits an attribute, in the HDF5 1.6 form
/// (`H5A_operator1_t`).
pub type Visit1 = unsafe extern "C" fn(hid_t, *const c_char, *mut c_void) -> herr_t;

/// Returns the failure for a negative result of a user's function that visits attributes.
fn failed() -> Failure {
    Failure::new(codes::ATTR, codes::BADITER, "error iterating over attributes")
}

/// Calls the user's function `visit` for each attribute of an object, starting at `position`. Stops
/// when the function returns a nonzero value. `loc` is an open identifier of the object, if there
/// is one.
fn iterate(
    loc: Option<hid_t>,
    place: Place,
    order: (c_int, c_int),
    position: Out<hsize_t>,
    visit: Option<Visit2>,
    data: *mut c_void,
) -> Outcome<herr_t> {
    let visit = visit.ok_or_else(|| Failure::bad_value("no callback function"))?;
    let attributes = list::sorted(&place.0, order)?;
    let first = usize::try_from(position.get().unwrap_or(0))
        .map_err(|_| Failure::bad_value("the start position is too large"))?;
    if first > 0 && first >= attributes.len() {
        return Err(Failure::bad_value("invalid index specified"));
    }
    let tracked = tracks_order(&place.0)?;
    let id = identifier(loc, place)?;
    let (mut outcome, mut at) = (0, first);
    for attribute in attributes.iter().skip(first) {
        let name = crate::error::stack::text(attribute.name_bytes());
        let info = info_of(attribute, tracked)?;
        outcome = call_user!(visit, id, name.as_ptr(), &raw const info, data);
        at += 1;
        if outcome != 0 {
            break;
        }
    }
    position.put(hyperslab_exact::to_u64(at));
    crate::h5i::release(id)?;
    if outcome < 0 { Err(failed()) } else { Ok(outcome) }
}

/// Returns a new identifier of an object, for the calls of a user's function. If `loc` is an open
/// identifier of the object, the new identifier shares its state. Otherwise the object is opened.
fn identifier(loc: Option<hid_t>, place: Place) -> Outcome<hid_t> {
    match loc.and_then(id::find) {
        Some(entry @ (Entry::Group(_) | Entry::Dataset(_) | Entry::Datatype(_))) => Ok(id::register(entry)),
        _ => crate::h5o::register(place, H5P_DEFAULT),
    }
}

export! {
    /// Calls the user's function `visit` for each attribute of the object `loc` until the function
    /// returns a nonzero value, and returns this value.
    fn H5Aiterate2(
        loc: hid_t, index: c_int, order: c_int, position: Out<hsize_t>, visit: Option<Visit2>, data: *mut c_void,
    ) -> herr_t {
        iterate(Some(loc), location::find(loc)?, (index, order), position, visit, data)
    }

    /// Calls the user's function `visit` for each attribute of the object at path `object` until
    /// the function returns a nonzero value.
    fn H5Aiterate_by_name(
        loc: hid_t, object: Text, index: c_int, order: c_int, position: Out<hsize_t>, visit: Option<Visit2>,
        data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let place = traverse::open(loc, object.name("object name")?, lapl)?;
        iterate(None, place, (index, order), position, visit, data)
    }

    /// Calls the user's function `visit` for each attribute of the object `loc` in name order until
    /// the function returns a nonzero value.
    fn H5Aiterate1(loc: hid_t, position: Out<c_uint>, visit: Option<Visit1>, data: *mut c_void) -> herr_t {
        let visit = visit.ok_or_else(|| Failure::bad_value("no callback function"))?;
        let place = location::find(loc)?;
        let attributes = list::sorted(&place.0, (0, 0))?;
        let first = position.get().unwrap_or(0);
        let mut outcome = 0;
        let mut at = first;
        for attribute in attributes.iter().skip(first as usize) {
            let name = crate::error::stack::text(attribute.name_bytes());
            outcome = call_user!(visit, loc, name.as_ptr(), data);
            at += 1;
            if outcome != 0 {
                break;
            }
        }
        position.put(at);
        if outcome < 0 { Err(failed()) } else { Ok(outcome) }
    }
}
