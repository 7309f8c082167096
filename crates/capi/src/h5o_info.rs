//! Information about objects, and iteration over all objects below a group (`H5Oget_info*`,
//! `H5Ovisit*`).

use std::collections::HashSet;
use std::ffi::{c_char, c_int, c_uint, c_void};

use hyperslab::{LinkTarget, Object, ObjectKind};

use crate::call_user;
use crate::ctypes::{H5O_token_t, H5P_DEFAULT, Index, Order, counted, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location};
use crate::file::traverse::{self, Place};
use crate::group::links;
use crate::h5o_structs::{H5_ih_info_t, H5O_hdr_info_t, H5O_info1_t, H5O_info2_t, H5O_native_info_t};
use crate::plist;
use crate::pointer::{Out, Text};

/// The flag that requests basic information about an object (`H5O_INFO_BASIC`).
const BASIC: c_uint = 0x01;
/// The flag that requests the times of an object (`H5O_INFO_TIME`).
const TIMES: c_uint = 0x02;
/// The flag that requests the number of an object's attributes (`H5O_INFO_NUM_ATTRS`).
const ATTRIBUTES: c_uint = 0x04;
/// The flag that requests information about an object's header (`H5O_INFO_HDR`).
const HEADER: c_uint = 0x08;
/// The flag that requests the sizes of an object's indexes and heaps (`H5O_INFO_META_SIZE`).
const STORAGE: c_uint = 0x10;
/// All flags that request information about an object.
const ALL: c_uint = BASIC | TIMES | ATTRIBUTES | HEADER | STORAGE;

/// The C type of a user's function that visits an object, in the HDF5 1.8 form (`H5O_iterate1_t`).
pub type Visit1 = unsafe extern "C" fn(hid_t, *const c_char, *const H5O_info1_t, *mut c_void) -> herr_t;
/// The C type of a user's function that visits an object (`H5O_iterate2_t`).
pub type Visit2 = unsafe extern "C" fn(hid_t, *const c_char, *const H5O_info2_t, *mut c_void) -> herr_t;

/// A user's function that visits objects, in the current or the HDF5 1.8 form.
#[derive(Debug, Clone, Copy)]
enum Visit {
    First(Visit1),
    Second(Visit2),
}

/// Returns the kind number of an object (`H5O_type_t`).
fn kind(object: &Object) -> c_int {
    match object.kind() {
        Some(ObjectKind::Group) => 0,
        Some(ObjectKind::Dataset) => 1,
        Some(ObjectKind::Datatype) => 2,
        _ => -1,
    }
}

/// Returns information about the storage of an object header. Returns zeros unless `fields`
/// requests the information.
fn header(object: &Object, fields: c_uint) -> Outcome<H5O_hdr_info_t> {
    if fields & HEADER == 0 {
        return Ok(H5O_hdr_info_t::default());
    }
    let (info, sizes) = (object.header_info()?, object.header_sizes()?);
    Ok(H5O_hdr_info_t {
        version: info.version.into(),
        nmesgs: counted(info.messages)?,
        nchunks: counted(info.chunks)?,
        flags: info.flags.into(),
        space_total: sizes.total,
        space_meta: sizes.metadata,
        space_mesg: sizes.messages,
        space_free: sizes.free,
        mesg_present: sizes.present,
        mesg_shared: sizes.shared,
    })
}

/// Returns the sizes of the indexes and heaps of the object itself and of its attributes. Returns
/// zeros unless `fields` requests the information.
fn storage(object: &Object, fields: c_uint) -> Outcome<[H5_ih_info_t; 2]> {
    if fields & STORAGE == 0 {
        return Ok([H5_ih_info_t::default(); 2]);
    }
    let (own, attributes) = object.index_bytes()?;
    Ok([own, attributes].map(|it| H5_ih_info_t { index_size: it.index, heap_size: it.heap }))
}

/// Returns information about the storage of an object's metadata.
fn native(object: &Object, fields: c_uint) -> Outcome<H5O_native_info_t> {
    // These functions have flags of their own: the header, and the sizes of indexes and heaps.
    let known = HEADER | STORAGE;
    if fields & !known != 0 {
        return Err(Failure::bad_value("unknown fields of object information"));
    }
    let [meta_obj, meta_attr] = storage(object, fields)?;
    Ok(H5O_native_info_t { hdr: header(object, fields)?, meta_obj, meta_attr })
}

/// Returns the information about an object that `fields` requests, as `H5O_info2_t`.
///
/// # Errors
/// Returns the errors of reading the object.
pub fn second((object, place): (&Object, &Location), fields: c_uint) -> Outcome<H5O_info2_t> {
    let time = if fields & TIMES != 0 { object.modified()?.unwrap_or(0) } else { 0 };
    let attributes = if fields & ATTRIBUTES != 0 { object.attribute_count()? } else { 0 };
    Ok(H5O_info2_t {
        fileno: place.shared.number,
        token: H5O_token_t::of(object.token().address()),
        kind: kind(object),
        rc: if fields & BASIC != 0 { object.link_count()? } else { 0 },
        atime: 0,
        mtime: 0,
        ctime: time,
        btime: 0,
        num_attrs: attributes,
    })
}

/// Returns the information about an object that `fields` requests, as `H5O_info1_t`.
fn first((object, place): (&Object, &Location), fields: c_uint) -> Outcome<H5O_info1_t> {
    let info = second((object, place), fields)?;
    let [meta_obj, meta_attr] = storage(object, fields)?;
    Ok(H5O_info1_t {
        fileno: info.fileno,
        addr: object.token().address(),
        kind: info.kind,
        rc: info.rc,
        atime: info.atime,
        mtime: info.mtime,
        ctime: info.ctime,
        btime: info.btime,
        num_attrs: info.num_attrs,
        hdr: header(object, fields)?,
        meta_obj,
        meta_attr,
    })
}

/// Checks that `fields` contains only known flags for information about an object.
fn check(fields: c_uint) -> Outcome<c_uint> {
    if fields & !ALL != 0 {
        return Err(Failure::bad_value("unknown fields of object information"));
    }
    Ok(fields)
}

/// Opens the object to which a link leads. The link is at position `number` of the group at the
/// path `name`.
fn by_index(
    loc: hid_t,
    name: Text,
    (index, order, number): (c_int, c_int, hsize_t),
    lapl: hid_t,
) -> Outcome<Place> {
    let start = traverse::open(loc, name.name("group name")?, lapl)?;
    let group = start.0.clone().into_group()?;
    let link = links::at(&group, links::index(index)?, links::order(order)?, number)?;
    traverse::follow(start, &link.name, &plist::link_access(lapl)?)
}

/// The text of the error record for a failed request for information about an object.
const FAILED: &str = "unable to synchronously get object info";

/// A walk that calls a user's function for an object and all objects below it.
struct Walk<'a> {
    /// The identifier of the start object, which the function receives.
    id: hid_t,
    /// The user's function.
    visit: Visit,
    /// The data that the function receives.
    data: *mut c_void,
    /// The flags of the requested object information.
    fields: c_uint,
    /// The index and the order in which the walk visits links.
    order: (Index, Order),
    /// The addresses of the objects that the walk has visited.
    seen: &'a mut HashSet<u64>,
}

impl Walk<'_> {
    /// Calls the user's function that visits objects for one object, and returns the function's
    /// result.
    fn call(&self, place: (&Object, &Location), path: &[u8]) -> Outcome<herr_t> {
        let name = crate::error::stack::text(path);
        Ok(match self.visit {
            Visit::First(function) => {
                let info = first(place, self.fields)?;
                call_user!(function, self.id, name.as_ptr(), &raw const info, self.data)
            }
            Visit::Second(function) => {
                let info = second(place, self.fields)?;
                call_user!(function, self.id, name.as_ptr(), &raw const info, self.data)
            }
        })
    }

    /// Visits the objects below a group, each once. Returns the first nonzero result of the user's
    /// function.
    fn below(&mut self, (object, place): Place, path: &[u8]) -> Outcome<herr_t> {
        let group = object.into_group()?;
        let order = if self.order.0 == Index::CreationOrder
            && group.link_order()? == hyperslab::CreationOrder::Untracked
        {
            (Index::Name, self.order.1)
        } else {
            self.order
        };
        for link in links::sorted(&group, order.0, order.1)? {
            let LinkTarget::Hard(token) = link.target else { continue };
            let whole = if path.is_empty() { link.name.clone() } else { [path, b"/", &link.name].concat() };
            if !self.seen.insert(token.address()) {
                continue;
            }
            let member = group.object_at(token)?;
            let at = place.with_name(place.name.join(&link.name));
            let outcome = self.call((&member, &at), &whole)?;
            if outcome != 0 {
                return Ok(outcome);
            }
            if member.kind() == Some(ObjectKind::Group) {
                let outcome = self.below((member, at), &whole)?;
                if outcome != 0 {
                    return Ok(outcome);
                }
            }
        }
        Ok(0)
    }
}

/// Calls a user's function for an object and all objects below it. Stops when the function returns
/// a nonzero value.
fn visit(
    start: Place,
    (index, order): (c_int, c_int),
    visit: Visit,
    data: *mut c_void,
    fields: c_uint,
) -> Outcome<herr_t> {
    let order = (links::index(index)?, links::order(order)?);
    let fields = check(fields)?;
    let id = crate::h5o::register(start.clone(), H5P_DEFAULT)?;
    let mut seen = HashSet::from([start.0.token().address()]);
    let mut walk = Walk { id, visit, data, fields, order, seen: &mut seen };
    let mut outcome = walk.call((&start.0, &start.1), b".");
    if matches!(outcome, Ok(0)) && start.0.kind() == Some(ObjectKind::Group) {
        outcome = walk.below(start, b"");
    }
    crate::h5i::release(id)?;
    match outcome? {
        failed if failed < 0 => Err(Failure::new(codes::OHDR, codes::BADITER, "object visitation failed")),
        other => Ok(other),
    }
}

/// Returns the caller's callback for a visit of objects. Returns an error for a null pointer.
fn function<T>(function: Option<T>) -> Outcome<T> {
    function.ok_or_else(|| Failure::bad_value("no callback function"))
}

export! {
    /// Stores information about the object `loc` in `info`.
    fn H5Oget_info3(loc: hid_t, info: Out<H5O_info2_t>, fields: c_uint) -> herr_t {
        let (object, place) = location::find(loc)?;
        info.require("info")?.put(second((&object, &place), check(fields)?).because(codes::OHDR, codes::CANTGET, FAILED)?);
        Ok(0)
    }

    /// Stores information about the object `loc` in `info`, in the HDF5 1.8 form.
    fn H5Oget_info2(loc: hid_t, info: Out<H5O_info1_t>, fields: c_uint) -> herr_t {
        let (object, place) = location::find(loc)?;
        info.require("info")?.put(first((&object, &place), check(fields)?).because(codes::OHDR, codes::CANTGET, FAILED)?);
        Ok(0)
    }

    /// Stores all information about the object `loc` in `info`, in the HDF5 1.8 form.
    fn H5Oget_info1(loc: hid_t, info: Out<H5O_info1_t>) -> herr_t {
        let (object, place) = location::find(loc)?;
        info.require("info")?.put(first((&object, &place), ALL).because(codes::OHDR, codes::CANTGET, FAILED)?);
        Ok(0)
    }

    /// Stores information about the object at the path `name` in `info`.
    fn H5Oget_info_by_name3(loc: hid_t, name: Text, info: Out<H5O_info2_t>, fields: c_uint, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(second((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Stores information about the object at the path `name` in `info`, in the HDF5 1.8 form.
    fn H5Oget_info_by_name2(loc: hid_t, name: Text, info: Out<H5O_info1_t>, fields: c_uint, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Stores all information about the object at the path `name` in `info`, in the HDF5 1.8 form.
    fn H5Oget_info_by_name1(loc: hid_t, name: Text, info: Out<H5O_info1_t>, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), ALL)?);
        Ok(0)
    }

    /// Stores information about the object of the link at position `number` of a group in `info`.
    fn H5Oget_info_by_idx3(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_info2_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(second((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Stores information about the object of a group's link at position `number` (HDF5 1.8 form).
    fn H5Oget_info_by_idx2(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_info1_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Stores all information about the object of a group's link at position `number` (HDF5 1.8).
    fn H5Oget_info_by_idx1(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_info1_t>, lapl: hid_t,
    ) -> herr_t {
        let (object, place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), ALL)?);
        Ok(0)
    }

    /// Stores information about the storage of an object's metadata in `info`.
    fn H5Oget_native_info(loc: hid_t, info: Out<H5O_native_info_t>, fields: c_uint) -> herr_t {
        let (object, _place) = location::find(loc)?;
        info.require("info")?.put(native(&object, fields)?);
        Ok(0)
    }

    /// Stores information about the metadata storage of the object at the path `name` in `info`.
    fn H5Oget_native_info_by_name(
        loc: hid_t, name: Text, info: Out<H5O_native_info_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, _place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(native(&object, fields)?);
        Ok(0)
    }

    /// Stores information about an object's metadata storage. The link at position `number` of a
    /// group leads to the object.
    fn H5Oget_native_info_by_idx(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_native_info_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, _place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(native(&object, fields)?);
        Ok(0)
    }

    /// Calls the function `op` for an object and each object below it. Stops when the function
    /// returns a nonzero value.
    fn H5Ovisit3(
        object: hid_t, index: c_int, order: c_int, op: Option<Visit2>, data: *mut c_void, fields: c_uint,
    ) -> herr_t {
        visit(location::find(object)?, (index, order), Visit::Second(function(op)?), data, fields)
    }

    /// Calls the function `op` for an object and all objects below it, with `H5O_info1_t` (1.12).
    fn H5Ovisit2(
        object: hid_t, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void, fields: c_uint,
    ) -> herr_t {
        visit(location::find(object)?, (index, order), Visit::First(function(op)?), data, fields)
    }

    /// Calls the function `op` for an object and all objects below it, in the HDF5 1.8 form.
    fn H5Ovisit1(object: hid_t, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void) -> herr_t {
        visit(location::find(object)?, (index, order), Visit::First(function(op)?), data, ALL)
    }

    /// Calls the function `op` for the object at the path `name` and all objects below it.
    fn H5Ovisit_by_name3(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit2>, data: *mut c_void,
        fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::BADITER, "object visitation failed")?;
        visit(start, (index, order), Visit::Second(function(op)?), data, fields)
    }

    /// Calls the function `op` for the object at `name` and all objects below, with `H5O_info1_t`.
    fn H5Ovisit_by_name2(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void,
        fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::BADITER, "object visitation failed")?;
        visit(start, (index, order), Visit::First(function(op)?), data, fields)
    }

    /// Calls the function `op` for the object at `name` and all objects below it (HDF5 1.8 form).
    fn H5Ovisit_by_name1(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::BADITER, "object visitation failed")?;
        visit(start, (index, order), Visit::First(function(op)?), data, ALL)
    }
}
