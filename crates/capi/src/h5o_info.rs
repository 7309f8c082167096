//! Information on objects, and visits of all objects below a group (`H5Oget_info*`, `H5Ovisit*`).

use std::collections::HashSet;
use std::ffi::{c_char, c_int, c_uint, c_void};

use hyperslab::{LinkTarget, Object, ObjectKind};

use crate::call_user;
use crate::ctypes::{H5O_token_t, H5P_DEFAULT, Index, Order, haddr_t, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location};
use crate::file::traverse::{self, Place};
use crate::group::links;
use crate::plist;
use crate::pointer::{Out, Text};

/// The fields that a program asks for (`H5O_INFO_*`).
const BASIC: c_uint = 0x01;
const TIMES: c_uint = 0x02;
const ATTRIBUTES: c_uint = 0x04;
const HEADER: c_uint = 0x08;
const STORAGE: c_uint = 0x10;
const ALL: c_uint = BASIC | TIMES | ATTRIBUTES | HEADER | STORAGE;

/// The sizes of an index and a heap (`H5_ih_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5_ih_info_t {
    pub index_size: hsize_t,
    pub heap_size: hsize_t,
}

/// The storage of an object header (`H5O_hdr_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5O_hdr_info_t {
    pub version: c_uint,
    pub nmesgs: c_uint,
    pub nchunks: c_uint,
    pub flags: c_uint,
    pub space_total: hsize_t,
    pub space_meta: hsize_t,
    pub space_mesg: hsize_t,
    pub space_free: hsize_t,
    pub mesg_present: u64,
    pub mesg_shared: u64,
}

/// Information on an object (`H5O_info1_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5O_info1_t {
    pub fileno: u64,
    pub addr: haddr_t,
    pub kind: c_int,
    pub rc: c_uint,
    pub atime: i64,
    pub mtime: i64,
    pub ctime: i64,
    pub btime: i64,
    pub num_attrs: hsize_t,
    pub hdr: H5O_hdr_info_t,
    pub meta_obj: H5_ih_info_t,
    pub meta_attr: H5_ih_info_t,
}

/// Information on an object (`H5O_info2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5O_info2_t {
    pub fileno: u64,
    pub token: H5O_token_t,
    pub kind: c_int,
    pub rc: c_uint,
    pub atime: i64,
    pub mtime: i64,
    pub ctime: i64,
    pub btime: i64,
    pub num_attrs: hsize_t,
}

/// Information on the storage of an object (`H5O_native_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5O_native_info_t {
    pub hdr: H5O_hdr_info_t,
    pub meta_obj: H5_ih_info_t,
    pub meta_attr: H5_ih_info_t,
}

const _: () = assert!(size_of::<H5O_info1_t>() == 160 && size_of::<H5O_info2_t>() == 72);

/// A function that visits objects (`H5O_iterate1_t`).
pub type Visit1 = unsafe extern "C" fn(hid_t, *const c_char, *const H5O_info1_t, *mut c_void) -> herr_t;
/// A function that visits objects (`H5O_iterate2_t`).
pub type Visit2 = unsafe extern "C" fn(hid_t, *const c_char, *const H5O_info2_t, *mut c_void) -> herr_t;

/// A function that visits objects.
#[derive(Debug, Clone, Copy)]
enum Visit {
    First(Visit1),
    Second(Visit2),
}

fn kind(object: &Object) -> c_int {
    match object.kind() {
        Some(ObjectKind::Group) => 0,
        Some(ObjectKind::Dataset) => 1,
        Some(ObjectKind::Datatype) => 2,
        _ => -1,
    }
}

fn header(object: &Object, fields: c_uint) -> Outcome<H5O_hdr_info_t> {
    if fields & HEADER == 0 {
        return Ok(H5O_hdr_info_t::default());
    }
    let info = object.header_info()?;
    let count = |count: usize| c_uint::try_from(count).unwrap_or(c_uint::MAX); // The C type bounds counts.
    Ok(H5O_hdr_info_t {
        version: info.version.into(),
        nmesgs: count(info.messages),
        nchunks: count(info.chunks),
        flags: info.flags.into(),
        ..H5O_hdr_info_t::default()
    })
}

/// Returns information on an object with the fields that a program asks for.
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

fn first((object, place): (&Object, &Location), fields: c_uint) -> Outcome<H5O_info1_t> {
    let info = second((object, place), fields)?;
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
        meta_obj: H5_ih_info_t::default(),
        meta_attr: H5_ih_info_t::default(),
    })
}

fn check(fields: c_uint) -> Outcome<c_uint> {
    if fields & !ALL != 0 {
        return Err(Failure::bad_value("unknown fields of object information"));
    }
    Ok(fields)
}

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

const FAILED: &str = "unable to synchronously get object info";

/// A visit of all objects below an object.
struct Walk<'a> {
    id: hid_t,
    visit: Visit,
    data: *mut c_void,
    fields: c_uint,
    order: (Index, Order),
    seen: &'a mut HashSet<u64>,
}

impl Walk<'_> {
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

    /// Visits the members of a group and their members. Returns the first result that is not zero.
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

fn function<T>(function: Option<T>) -> Outcome<T> {
    function.ok_or_else(|| Failure::bad_value("no callback function"))
}

export! {
    /// Returns information on an object.
    fn H5Oget_info3(loc: hid_t, info: Out<H5O_info2_t>, fields: c_uint) -> herr_t {
        let (object, place) = location::find(loc)?;
        info.require("info")?.put(second((&object, &place), check(fields)?).because(codes::OHDR, codes::CANTGET, FAILED)?);
        Ok(0)
    }

    /// Returns information on an object.
    fn H5Oget_info2(loc: hid_t, info: Out<H5O_info1_t>, fields: c_uint) -> herr_t {
        let (object, place) = location::find(loc)?;
        info.require("info")?.put(first((&object, &place), check(fields)?).because(codes::OHDR, codes::CANTGET, FAILED)?);
        Ok(0)
    }

    /// Returns information on an object.
    fn H5Oget_info1(loc: hid_t, info: Out<H5O_info1_t>) -> herr_t {
        let (object, place) = location::find(loc)?;
        info.require("info")?.put(first((&object, &place), ALL).because(codes::OHDR, codes::CANTGET, FAILED)?);
        Ok(0)
    }

    /// Returns information on the object at a path.
    fn H5Oget_info_by_name3(loc: hid_t, name: Text, info: Out<H5O_info2_t>, fields: c_uint, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(second((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Returns information on the object at a path.
    fn H5Oget_info_by_name2(loc: hid_t, name: Text, info: Out<H5O_info1_t>, fields: c_uint, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Returns information on the object at a path.
    fn H5Oget_info_by_name1(loc: hid_t, name: Text, info: Out<H5O_info1_t>, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), ALL)?);
        Ok(0)
    }

    /// Returns information on a member of a group.
    fn H5Oget_info_by_idx3(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_info2_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(second((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Returns information on a member of a group.
    fn H5Oget_info_by_idx2(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_info1_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), check(fields)?)?);
        Ok(0)
    }

    /// Returns information on a member of a group.
    fn H5Oget_info_by_idx1(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_info1_t>, lapl: hid_t,
    ) -> herr_t {
        let (object, place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        info.require("info")?.put(first((&object, &place), ALL)?);
        Ok(0)
    }

    /// Returns information on the storage of an object.
    fn H5Oget_native_info(loc: hid_t, info: Out<H5O_native_info_t>, fields: c_uint) -> herr_t {
        let (object, _place) = location::find(loc)?;
        let hdr = header(&object, check(fields)?)?;
        let (meta_obj, meta_attr) = (H5_ih_info_t::default(), H5_ih_info_t::default());
        info.require("info")?.put(H5O_native_info_t { hdr, meta_obj, meta_attr });
        Ok(0)
    }

    /// Returns information on the storage of the object at a path.
    fn H5Oget_native_info_by_name(
        loc: hid_t, name: Text, info: Out<H5O_native_info_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, _place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        let hdr = header(&object, check(fields)?)?;
        let (meta_obj, meta_attr) = (H5_ih_info_t::default(), H5_ih_info_t::default());
        info.require("info")?.put(H5O_native_info_t { hdr, meta_obj, meta_attr });
        Ok(0)
    }

    /// Returns information on the storage of a member of a group.
    fn H5Oget_native_info_by_idx(
        loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t,
        info: Out<H5O_native_info_t>, fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let (object, _place) = by_index(loc, name, (index, order, number), lapl)
            .because(codes::OHDR, codes::CANTGET, FAILED)?;
        let hdr = header(&object, check(fields)?)?;
        let (meta_obj, meta_attr) = (H5_ih_info_t::default(), H5_ih_info_t::default());
        info.require("info")?.put(H5O_native_info_t { hdr, meta_obj, meta_attr });
        Ok(0)
    }

    /// Visits an object and all objects below it.
    fn H5Ovisit3(
        object: hid_t, index: c_int, order: c_int, op: Option<Visit2>, data: *mut c_void, fields: c_uint,
    ) -> herr_t {
        visit(location::find(object)?, (index, order), Visit::Second(function(op)?), data, fields)
    }

    /// Visits an object and all objects below it.
    fn H5Ovisit2(
        object: hid_t, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void, fields: c_uint,
    ) -> herr_t {
        visit(location::find(object)?, (index, order), Visit::First(function(op)?), data, fields)
    }

    /// Visits an object and all objects below it.
    fn H5Ovisit1(object: hid_t, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void) -> herr_t {
        visit(location::find(object)?, (index, order), Visit::First(function(op)?), data, ALL)
    }

    /// Visits the object at a path and all objects below it.
    fn H5Ovisit_by_name3(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit2>, data: *mut c_void,
        fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::BADITER, "object visitation failed")?;
        visit(start, (index, order), Visit::Second(function(op)?), data, fields)
    }

    /// Visits the object at a path and all objects below it.
    fn H5Ovisit_by_name2(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void,
        fields: c_uint, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::BADITER, "object visitation failed")?;
        visit(start, (index, order), Visit::First(function(op)?), data, fields)
    }

    /// Visits the object at a path and all objects below it.
    fn H5Ovisit_by_name1(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::BADITER, "object visitation failed")?;
        visit(start, (index, order), Visit::First(function(op)?), data, ALL)
    }
}
