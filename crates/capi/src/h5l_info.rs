//! Information about links, and iteration over links (`H5Lget_*`, `H5Literate*`, `H5Lvisit*`).

use std::collections::HashSet;
use std::ffi::{c_char, c_int, c_void};

use hyperslab::{CharacterSet, Group, Link, LinkTarget, ObjectKind};

use crate::call_user;
use crate::ctypes::{H5O_token_t, Index, Order, counted, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location};
use crate::file::traverse::{self, Place};
use crate::group::links;
use crate::h5l;
use crate::pointer::{Buffer, Out, Text, TextBuffer};

/// Information about a link (`H5L_info1_t`). `value` is the address of a hard link's object, or the
/// size of another link's value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5L_info1_t {
    /// The class of the link (`H5L_type_t`).
    pub kind: c_int,
    /// True if the group tracks the creation order of links.
    pub corder_valid: bool,
    /// The creation order value of the link.
    pub corder: i64,
    /// The character set of the link's name.
    pub cset: c_int,
    /// The address of a hard link's object, or the size of another link's value in bytes.
    pub value: u64,
}

/// Information about a link (`H5L_info2_t`). `value` is the token of a hard link's object, or the
/// size of another link's value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5L_info2_t {
    /// The class of the link (`H5L_type_t`).
    pub kind: c_int,
    /// True if the group tracks the creation order of links.
    pub corder_valid: bool,
    /// The creation order value of the link.
    pub corder: i64,
    /// The character set of the link's name.
    pub cset: c_int,
    /// The token of a hard link's object, or the size of another link's value in bytes.
    pub value: TokenOrSize,
}

/// The token of a hard link's object, or the size of another link's value. The C interface declares
/// a union with the alignment of a size.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy)]
pub struct TokenOrSize(H5O_token_t);

const _: () = assert!(size_of::<H5L_info1_t>() == 32 && size_of::<H5L_info2_t>() == 40);
const _: () = assert!(std::mem::offset_of!(H5L_info2_t, value) == 24);

/// The C type of a user's function that visits a link, in the HDF5 1.8 form (`H5L_iterate1_t`).
pub type Visit1 = unsafe extern "C" fn(hid_t, *const c_char, *const H5L_info1_t, *mut c_void) -> herr_t;
/// The C type of a user's function that visits a link (`H5L_iterate2_t`).
pub type Visit2 = unsafe extern "C" fn(hid_t, *const c_char, *const H5L_info2_t, *mut c_void) -> herr_t;

/// A user's function that visits links, in the current or the HDF5 1.8 form, with its data.
#[derive(Debug, Clone, Copy)]
enum Visit {
    First(Visit1, *mut c_void),
    Second(Visit2, *mut c_void),
}

/// Returns the value of a link. For a soft link, this is the path with a zero byte; for an external
/// link, the names; for other links, the user-defined value. Returns `None` for a hard link.
fn value(link: &Link) -> Option<Vec<u8>> {
    match &link.target {
        LinkTarget::Soft(path) => Some([path.as_slice(), b"\0"].concat()),
        LinkTarget::External { file, path } => {
            Some([b"\0".as_slice(), file.as_slice(), b"\0", path.as_slice(), b"\0"].concat())
        }
        LinkTarget::UserDefined { class, value } => {
            let query = h5l::class((*class).into()).and_then(|class| class.query_func);
            let Some(query) = query else { return Some(value.clone()) };
            let name = crate::error::stack::text(&link.name);
            let null = std::ptr::null_mut();
            let size = call_user!(query, name.as_ptr(), value.as_ptr().cast(), value.len(), null, 0);
            let mut bytes = vec![0; usize::try_from(size).ok()?];
            let to = bytes.as_mut_ptr().cast();
            call_user!(query, name.as_ptr(), value.as_ptr().cast(), value.len(), to, bytes.len());
            Some(bytes)
        }
        _ => None,
    }
}

/// Returns the class number of a link (`H5L_type_t`).
fn kind(link: &Link) -> c_int {
    match &link.target {
        LinkTarget::Hard(_) => 0,
        LinkTarget::Soft(_) => 1,
        LinkTarget::External { .. } => h5l::EXTERNAL,
        LinkTarget::UserDefined { class, .. } => (*class).into(),
        _ => -1,
    }
}

/// Returns information about a link in the HDF5 1.8 form (`H5L_info1_t`).
fn first(link: &Link) -> Outcome<H5L_info1_t> {
    let value = match &link.target {
        LinkTarget::Hard(token) => token.address(),
        _ => hyperslab_exact::to_u64(value(link).unwrap_or_default().len()),
    };
    let (corder_valid, corder) = order_of(link)?;
    Ok(H5L_info1_t { kind: kind(link), corder_valid, corder, cset: cset(link), value })
}

/// Returns information about a link in the current form (`H5L_info2_t`).
fn second(link: &Link) -> Outcome<H5L_info2_t> {
    let info = first(link)?;
    let H5L_info1_t { kind, corder_valid, corder, cset, value } = info;
    Ok(H5L_info2_t { kind, corder_valid, corder, cset, value: TokenOrSize(H5O_token_t::of(value)) })
}

/// Returns two values for a link: a flag that is true if the link has a creation order number, and
/// this number or 0.
fn order_of(link: &Link) -> Outcome<(bool, i64)> {
    link.creation_order.map_or(Ok((false, 0)), |order| Ok((true, counted(order)?)))
}

/// Returns the number of the character set of a link's name (`H5T_cset_t`).
fn cset(link: &Link) -> c_int {
    i32::from(link.charset == CharacterSet::Utf8)
}

/// Returns the link at the path `name`, relative to the object of an identifier.
fn link(loc: hid_t, name: Text, lapl: hid_t) -> Outcome<Link> {
    let parent = traverse::parent(loc, name.name("link name")?, lapl, false)?;
    parent.group.by_bytes().link(parent.last)?.because(codes::SYM, codes::NOTFOUND, "the link does not exist")
}

/// Returns a link of the group at the path `name`: the link at position `number`. Also returns the
/// group and its location.
fn by_index(
    loc: hid_t,
    name: Text,
    (index, order, number): (c_int, c_int, hsize_t),
    lapl: hid_t,
) -> Outcome<(Link, Group, Location)> {
    let (object, place) = traverse::open(loc, name.name("group name")?, lapl)?;
    let group = object.into_group()?;
    let link = links::at(&group, links::index(index)?, links::order(order)?, number)?;
    Ok((link, group, place))
}

/// Copies the value of a link to the caller's buffer.
fn put_value(link: &Link, buffer: Buffer, size: usize) -> Outcome<herr_t> {
    let value = value(link).because(codes::LINK, codes::BADTYPE, "a hard link has no value")?;
    buffer.put(&value, size);
    Ok(0)
}

/// The text of the error record for a failed request for information about a link.
const NO_INFO: &str = "unable to get link info";
/// The text of the error record for a failed read of a link's value.
const NO_VALUE: &str = "unable to get link value";

impl Visit {
    /// Calls the user's function that visits links for one link, and returns the function's result.
    fn call(self, group: hid_t, name: &[u8], link: &Link) -> Outcome<herr_t> {
        let name = crate::error::stack::text(name);
        match self {
            Self::First(function, data) => {
                let info = first(link)?;
                Ok(call_user!(function, group, name.as_ptr(), &raw const info, data))
            }
            Self::Second(function, data) => {
                let info = second(link)?;
                Ok(call_user!(function, group, name.as_ptr(), &raw const info, data))
            }
        }
    }
}

/// Returns the caller's callback for a visit of links. Returns an error for a null pointer.
fn function<T>(function: Option<T>) -> Outcome<T> {
    function.ok_or_else(|| Failure::bad_value("no callback function"))
}

/// Calls a user's function for each link of a group, starting at `position`. Stops when the
/// function returns a nonzero value.
fn iterate(
    (object, place): Place,
    (index, order): (c_int, c_int),
    position: Out<hsize_t>,
    visit: Visit,
) -> Outcome<herr_t> {
    let order = (links::index(index)?, links::order(order)?);
    let group =
        object.into_group().map_err(Failure::from).because(codes::ARGS, codes::BADTYPE, "not a group")?;
    let listed = links::sorted(&group, order.0, order.1)?;
    let first = usize::try_from(position.get().unwrap_or(0))
        .map_err(|_| Failure::bad_value("the start position is too large"))?;
    if first > listed.len() || first > 0 && first == listed.len() {
        return Err(Failure::bad_value("the start position is beyond the last link"));
    }
    let id = crate::h5g::register(group, place);
    let mut outcome = 0;
    let mut at = first;
    for link in listed.iter().skip(first) {
        outcome = visit.call(id, &link.name, link)?;
        at += 1;
        if outcome != 0 {
            break;
        }
    }
    position.put(hyperslab_exact::to_u64(at));
    crate::h5i::release(id)?;
    finished(outcome, "link iteration failed")
}

/// Returns the result of a user's function that visits links. A negative result becomes a failure.
fn finished(outcome: herr_t, text: &'static str) -> Outcome<herr_t> {
    if outcome < 0 { Err(Failure::new(codes::LINK, codes::BADITER, text)) } else { Ok(outcome) }
}

/// Calls a user's function for all links of a group and its subgroups.
fn visit_all((object, place): Place, (index, order): (c_int, c_int), visit: Visit) -> Outcome<herr_t> {
    let order = (links::index(index)?, links::order(order)?);
    let group =
        object.into_group().map_err(Failure::from).because(codes::ARGS, codes::BADTYPE, "not a group")?;
    let id = crate::h5g::register(group.clone(), place);
    let mut seen = HashSet::from([group.token().address()]);
    let outcome = below(&group, b"", (id, order, visit), &mut seen);
    crate::h5i::release(id)?;
    finished(outcome?, "link visitation failed")
}

/// Calls a user's function for each link below a group. Skips subgroups that were already visited.
fn below(
    group: &Group,
    path: &[u8],
    walk: (hid_t, (Index, Order), Visit),
    seen: &mut HashSet<u64>,
) -> Outcome<herr_t> {
    // As in the C library, a group that does not track the creation order is visited in name order.
    let untracked = group.link_order()? == hyperslab::CreationOrder::Untracked;
    let index = if untracked { Index::Name } else { walk.1.0 };
    for link in links::sorted(group, index, walk.1.1)? {
        let whole = if path.is_empty() { link.name.clone() } else { [path, b"/", &link.name].concat() };
        let outcome = walk.2.call(walk.0, &whole, &link)?;
        if outcome != 0 {
            return Ok(outcome);
        }
        let LinkTarget::Hard(token) = link.target else { continue };
        if !seen.insert(token.address()) {
            continue;
        }
        let member = group.object_at(token)?;
        if member.kind() == Some(ObjectKind::Group) {
            let outcome = below(&member.into_group()?, &whole, walk, seen)?;
            if outcome != 0 {
                return Ok(outcome);
            }
        }
    }
    Ok(0)
}

export! {
    /// Stores information about the link at the path `name` in `info`.
    fn H5Lget_info2(loc: hid_t, name: Text, info: Out<H5L_info2_t>, lapl: hid_t) -> herr_t {
        info.put(second(&link(loc, name, lapl).because(codes::LINK, codes::CANTGET, NO_INFO)?)?);
        Ok(0)
    }

    /// Stores information about the link at the path `name` in `info`, in the HDF5 1.8 form.
    fn H5Lget_info1(loc: hid_t, name: Text, info: Out<H5L_info1_t>, lapl: hid_t) -> herr_t {
        info.put(first(&link(loc, name, lapl).because(codes::LINK, codes::CANTGET, NO_INFO)?)?);
        Ok(0)
    }

    /// Stores information about the link at position `number` of a group in `info`.
    fn H5Lget_info_by_idx2(
        loc: hid_t, group: Text, index: c_int, order: c_int, number: hsize_t, info: Out<H5L_info2_t>, lapl: hid_t,
    ) -> herr_t {
        let found = by_index(loc, group, (index, order, number), lapl).because(codes::LINK, codes::CANTGET, NO_INFO)?;
        info.put(second(&found.0)?);
        Ok(0)
    }

    /// Stores information about the link at position `number` of a group in `info`, in the HDF5 1.8
    /// form.
    fn H5Lget_info_by_idx1(
        loc: hid_t, group: Text, index: c_int, order: c_int, number: hsize_t, info: Out<H5L_info1_t>, lapl: hid_t,
    ) -> herr_t {
        let found = by_index(loc, group, (index, order, number), lapl).because(codes::LINK, codes::CANTGET, NO_INFO)?;
        info.put(first(&found.0)?);
        Ok(0)
    }

    /// Copies the value of the link at the path `name` to `buffer`.
    fn H5Lget_val(loc: hid_t, name: Text, buffer: Buffer, size: usize, lapl: hid_t) -> herr_t {
        let link = link(loc, name, lapl).because(codes::LINK, codes::NOTFOUND, NO_VALUE)?;
        put_value(&link, buffer, size).because(codes::LINK, codes::CANTGET, NO_VALUE)
    }

    /// Copies the value of the link at position `number` of a group to `buffer`.
    fn H5Lget_val_by_idx(
        loc: hid_t, group: Text, index: c_int, order: c_int, number: hsize_t, buffer: Buffer, size: usize, lapl: hid_t,
    ) -> herr_t {
        let found = by_index(loc, group, (index, order, number), lapl).because(codes::LINK, codes::CANTGET, NO_VALUE)?;
        put_value(&found.0, buffer, size).because(codes::LINK, codes::CANTGET, NO_VALUE)
    }

    /// Copies the name of the link at position `number` of a group to `name` and returns the name's
    /// length.
    fn H5Lget_name_by_idx(
        loc: hid_t, group: Text, index: c_int, order: c_int, number: hsize_t, name: TextBuffer, size: usize, lapl: hid_t,
    ) -> isize {
        let found = by_index(loc, group, (index, order, number), lapl)
            .because(codes::LINK, codes::CANTGET, "unable to get link name")?;
        name.put(&found.0.name, size);
        crate::text::length(&found.0.name)
    }

    /// Removes the link at position `number` of a group.
    fn H5Ldelete_by_idx(loc: hid_t, group: Text, index: c_int, order: c_int, number: hsize_t, lapl: hid_t) -> herr_t {
        let (link, group, place) = by_index(loc, group, (index, order, number), lapl)
            .because(codes::LINK, codes::CANTDELETE, "unable to delete link")?;
        let parent = traverse::Parent { group, place, last: b"" };
        h5l::remove(&parent, &link.name).because(codes::LINK, codes::CANTDELETE, "unable to delete link")?;
        Ok(0)
    }

    /// Calls the user's function `op` for each link of a group until the function returns a nonzero
    /// value, and returns this value.
    fn H5Literate2(
        loc: hid_t, index: c_int, order: c_int, position: Out<hsize_t>, op: Option<Visit2>, data: *mut c_void,
    ) -> herr_t {
        iterate(location::find(loc)?, (index, order), position, Visit::Second(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of a group until it returns a nonzero value, in
    /// the HDF5 1.8 form.
    fn H5Literate1(
        loc: hid_t, index: c_int, order: c_int, position: Out<hsize_t>, op: Option<Visit1>, data: *mut c_void,
    ) -> herr_t {
        iterate(location::find(loc)?, (index, order), position, Visit::First(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of the group at the path `name` until the
    /// function returns a nonzero value.
    fn H5Literate_by_name2(
        loc: hid_t, name: Text, index: c_int, order: c_int, position: Out<hsize_t>, op: Option<Visit2>,
        data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("group name")?, lapl)?;
        iterate(start, (index, order), position, Visit::Second(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of the group at the path `name`, in the HDF5
    /// 1.8 form.
    fn H5Literate_by_name1(
        loc: hid_t, name: Text, index: c_int, order: c_int, position: Out<hsize_t>, op: Option<Visit1>,
        data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("group name")?, lapl)?;
        iterate(start, (index, order), position, Visit::First(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of a group and its subgroups until the function
    /// returns a nonzero value.
    fn H5Lvisit2(loc: hid_t, index: c_int, order: c_int, op: Option<Visit2>, data: *mut c_void) -> herr_t {
        visit_all(location::find(loc)?, (index, order), Visit::Second(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of a group and its subgroups, in the HDF5 1.8
    /// form.
    fn H5Lvisit1(loc: hid_t, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void) -> herr_t {
        visit_all(location::find(loc)?, (index, order), Visit::First(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of the group at the path `name` and its
    /// subgroups.
    fn H5Lvisit_by_name2(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit2>, data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("group name")?, lapl)?;
        visit_all(start, (index, order), Visit::Second(function(op)?, data))
    }

    /// Calls the user's function `op` for each link of the group at the path `name` and its
    /// subgroups, in the HDF5 1.8 form.
    fn H5Lvisit_by_name1(
        loc: hid_t, name: Text, index: c_int, order: c_int, op: Option<Visit1>, data: *mut c_void, lapl: hid_t,
    ) -> herr_t {
        let start = traverse::open(loc, name.name("group name")?, lapl)?;
        visit_all(start, (index, order), Visit::First(function(op)?, data))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::ctypes::H5P_DEFAULT;
    use crate::h5f::{H5Fclose, H5Fcreate};
    use crate::h5g::{H5G_info_t, H5Gclose, H5Gcreate2, H5Gget_info};
    use crate::h5l::{H5Lcopy, H5Lcreate_soft, H5Lcreate_ud, H5Ldelete, H5Lexists};
    use crate::h5p::{H5Pclose, H5Pcreate};
    use crate::h5p_objects::H5Pset_link_creation_order;
    use crate::pointer::Data;

    /// Counts the visited links. The function is a callback for `H5Lvisit2`.
    ///
    /// # Safety
    /// The data is a counter.
    unsafe extern "C" fn count(
        _: hid_t,
        _: *const c_char,
        _: *const H5L_info2_t,
        data: *mut c_void,
    ) -> herr_t {
        // SAFETY: the test passes a counter.
        unsafe { *data.cast::<i32>() += 1 };
        0
    }

    #[test]
    fn links_are_described_visited_and_copied_to_other_files() {
        let folder = tempfile::tempdir().expect("folder");
        let name =
            |file: &str| crate::error::stack::text(folder.path().join(file).as_os_str().as_encoded_bytes());
        let (first, second) = (name("a.h5"), name("b.h5"));
        let text = |text: &std::ffi::CStr| Text::of(text.as_ptr());
        let (link, target, odd) = (c"link", c"/target", c"odd");
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let file = H5Fcreate(text(&first), 2, H5P_DEFAULT, H5P_DEFAULT);
            let other = H5Fcreate(text(&second), 2, H5P_DEFAULT, H5P_DEFAULT);
            assert_eq!(H5Fcreate(text(&first), 1, H5P_DEFAULT, H5P_DEFAULT), -1);
            assert_eq!(H5Lcreate_soft(text(target), file, text(link), H5P_DEFAULT, H5P_DEFAULT), 0);
            let mut info = std::mem::MaybeUninit::<H5L_info2_t>::zeroed();
            assert_eq!(H5Lget_info2(file, text(link), Out::of(info.as_mut_ptr()), H5P_DEFAULT), 0);
            let size = std::slice::from_raw_parts(info.as_ptr().cast::<u64>(), 5).last().copied();
            assert_eq!(size, Some(0));
            assert_eq!(*info.as_ptr().cast::<u64>().add(3), 8);
            // An external link whose value is not one can be listed.
            let value = Data::of(c"udata".as_ptr().cast());
            assert_eq!(H5Lcreate_ud(file, text(odd), 64, value, 5, H5P_DEFAULT, H5P_DEFAULT), 0);
            assert_eq!(H5Lexists(file, text(odd), H5P_DEFAULT), 1);
            // A visit in the order of creation uses the order of names in groups without it.
            let mut seen = 0;
            assert_eq!(H5Lvisit2(file, 1, 0, Some(count), (&raw mut seen).cast()), 0);
            assert_eq!(seen, 2);
            assert_eq!(H5Lcopy(file, text(link), other, text(link), H5P_DEFAULT, H5P_DEFAULT), 0);
            assert_eq!(H5Lexists(other, text(link), H5P_DEFAULT), 1);
            // The next creation order stays after the removal of the last link.
            let list = H5Pcreate(crate::symbols::CLASS_GROUP_CREATE);
            assert_eq!(H5Pset_link_creation_order(list, 1), 0);
            let group = H5Gcreate2(file, text(c"g"), H5P_DEFAULT, list, H5P_DEFAULT);
            assert_eq!(H5Gcreate2(file, text(c"h"), H5P_DEFAULT, H5P_DEFAULT, list), -1);
            for name in [c"one", c"two"] {
                assert_eq!(H5Lcreate_soft(text(target), group, text(name), H5P_DEFAULT, H5P_DEFAULT), 0);
            }
            assert_eq!(H5Ldelete(group, text(c"two"), H5P_DEFAULT), 0);
            let mut group_info = std::mem::MaybeUninit::<H5G_info_t>::zeroed();
            assert_eq!(H5Gget_info(group, Out::of(group_info.as_mut_ptr())), 0);
            assert_eq!(group_info.assume_init().max_corder, 2);
            assert_eq!((H5Gclose(group), H5Pclose(list), H5Fclose(other), H5Fclose(file)), (0, 0, 0, 0));
        }
    }
}
