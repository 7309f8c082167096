//! Link functions (`H5L*`): creation, copies, removal, and user-defined link classes.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use hyperslab::{Group, LinkTarget};
use parking_lot::Mutex;

use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location};
use crate::file::traverse::{self, Parent, Place};
use crate::plist;
use crate::plist::settings::LinkAccess;
use crate::pointer::{Data, In, Out, Text};

/// The value that a caller passes as one location of a link function to mean the other location
/// (`H5L_SAME_LOC`).
const SAME_LOC: hid_t = 0;
/// The first number of user-defined link classes (`H5L_TYPE_UD_MIN`); 64 is the external link
/// class.
const FIRST_CLASS: c_int = 64;
/// The last number of link classes (`H5L_TYPE_MAX`).
const LAST_CLASS: c_int = 255;
/// The number of the external link class (`H5L_TYPE_EXTERNAL`).
pub const EXTERNAL: c_int = 64;

/// A user-defined link class (`H5L_class_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5L_class_t {
    /// The version of this C struct.
    pub version: c_int,
    /// The number of the link class.
    pub id: c_int,
    /// A description of the link class.
    pub comment: *const c_char,
    /// The function that the library calls when a link of the class is created.
    pub create_func:
        Option<unsafe extern "C" fn(*const c_char, hid_t, *const c_void, usize, hid_t) -> herr_t>,
    /// The function that the library calls when a link of the class is moved.
    pub move_func: Option<unsafe extern "C" fn(*const c_char, hid_t, *const c_void, usize) -> herr_t>,
    /// The function that the library calls when a link of the class is copied.
    pub copy_func: Option<unsafe extern "C" fn(*const c_char, hid_t, *const c_void, usize) -> herr_t>,
    /// The function that opens the object to which a link of the class leads.
    pub trav_func:
        Option<unsafe extern "C" fn(*const c_char, hid_t, *const c_void, usize, hid_t, hid_t) -> hid_t>,
    /// The function that the library calls when a link of the class is removed.
    pub del_func: Option<unsafe extern "C" fn(*const c_char, hid_t, *const c_void, usize) -> herr_t>,
    /// The function that returns the value of a link of the class.
    pub query_func:
        Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void, usize) -> isize>,
}

// SAFETY: the pointers lead to functions and a text that the user keeps while the class is
// registered.
#[expect(unsafe_code, reason = "tables of functions cross threads")]
unsafe impl Send for H5L_class_t {}

/// The link classes that users registered.
static CLASSES: Mutex<Vec<H5L_class_t>> = Mutex::new(Vec::new());

/// Removes all link classes of users.
pub fn remove_classes() {
    CLASSES.lock().clear();
}

/// Returns the registered link class with the given class number.
pub fn class(number: c_int) -> Option<H5L_class_t> {
    CLASSES.lock().iter().find(|class| class.id == number).copied()
}

/// Opens the object to which a user-defined link leads, with the traversal function of the link's
/// class.
///
/// # Errors
/// Fails if the class is not registered, or if the user's function fails.
pub fn traverse(
    number: u8,
    value: &[u8],
    name: &[u8],
    (group, place): (Group, &Location),
    access: &LinkAccess,
) -> Outcome<Place> {
    let class = class(number.into()).because(
        codes::LINK,
        codes::NOTREGISTERED,
        "the link class is not registered",
    )?;
    let function = class.trav_func.because(
        codes::LINK,
        codes::NOTREGISTERED,
        "the link class has no traversal function",
    )?;
    let location = place.clone();
    let group_id = crate::h5g::register(group, location);
    let text = crate::error::stack::text(name);
    let list = plist::make::register(
        crate::symbols::CLASS_LINK_ACCESS,
        plist::Settings::LinkAccess(access.clone()),
    )?;
    let found =
        call_user!(function, text.as_ptr(), group_id, value.as_ptr().cast(), value.len(), list, H5P_DEFAULT);
    crate::id::take(list);
    crate::h5i::release(group_id)?;
    if found < 0 {
        return Err(Failure::new(codes::LINK, codes::TRAVERSE, "the user's function cannot follow the link"));
    }
    let target = location::find(found)?;
    crate::h5i::release(found)?;
    Ok(target)
}

/// Returns true if all groups before the last link of a path exist. If the path leads to no object,
/// only its last link or the target of this link can be missing.
pub fn is_last_missing(loc: hid_t, path: &[u8], lapl: hid_t) -> bool {
    traverse::parent(loc, path, lapl, false).is_ok()
}

/// Returns the two locations that a link function receives. Replaces `H5L_SAME_LOC` by the other
/// location.
fn both(one: hid_t, other: hid_t) -> Outcome<(hid_t, hid_t)> {
    match (one, other) {
        (SAME_LOC, SAME_LOC) => Err(Failure::bad_value("both locations are H5L_SAME_LOC")),
        (SAME_LOC, other) => Ok((other, other)),
        (one, SAME_LOC) => Ok((one, one)),
        both => Ok(both),
    }
}

/// Creates a link to the given target at the path `name`, relative to an object.
fn insert(loc: hid_t, name: &[u8], target: LinkTarget, lcpl: hid_t, lapl: hid_t) -> Outcome<()> {
    let (charset, intermediate) = traverse::link_creation(lcpl)?;
    let Parent { group, last, .. } = traverse::parent(loc, name, lapl, intermediate)?;
    group.by_bytes().insert(last, charset, target)?;
    Ok(())
}

/// Creates a hard link at the path `name` to the object at the path `source`.
fn hard(from: hid_t, source: Text, to: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> Outcome<()> {
    let (from, to) = both(from, to)?;
    let (charset, intermediate) = traverse::link_creation(lcpl)?;
    let (object, place) = traverse::open(from, source.name("current name")?, lapl)?;
    let Parent { group, place: at, last } = traverse::parent(to, name.name("new name")?, lapl, intermediate)?;
    if !Arc::ptr_eq(&place.shared, &at.shared) {
        return Err(Failure::new(
            codes::LINK,
            codes::CANTCREATE,
            "the link is in another file than the object",
        ));
    }
    group.by_bytes().insert(last, charset, LinkTarget::Hard(object.token()))?;
    Ok(())
}

/// Updates the names of a file's open objects after a move or removal of a link.
fn renamed(shared: &Arc<crate::file::SharedFile>, old: &[u8], new: Option<&[u8]>) {
    let kinds =
        [crate::ctypes::IdKind::Group, crate::ctypes::IdKind::Dataset, crate::ctypes::IdKind::Datatype];
    for (id, _) in kinds.into_iter().flat_map(|kind| crate::id::list(kind as c_int)) {
        let Ok((_, place)) = location::find(id) else { continue };
        let Some(name) = place.name.get().filter(|_| Arc::ptr_eq(&place.shared, shared)) else { continue };
        let Some(rest) = name.strip_prefix(old) else { continue };
        if rest.is_empty() || rest.starts_with(b"/") {
            place.name.set(new.map(|new| [new, rest].concat()));
        }
    }
}

/// Copies or moves a link. For a link of a user-defined class, also calls the class's copy or move
/// function.
fn move_or_copy(from: (hid_t, Text), to: (hid_t, Text), lists: (hid_t, hid_t), moves: bool) -> Outcome<()> {
    let (source_loc, target_loc) = both(from.0, to.0)?;
    let (charset, intermediate) = traverse::link_creation(lists.0)?;
    let source = traverse::parent(source_loc, from.1.name("source name")?, lists.1, false)?;
    let target = traverse::parent(target_loc, to.1.name("destination name")?, lists.1, intermediate)?;
    let link = source.group.by_bytes().link(source.last)?;
    let link = link.because(codes::LINK, codes::NOTFOUND, "the source link does not exist")?;
    if target.group.by_bytes().link(target.last)?.is_some() {
        return Err(Failure::new(codes::LINK, codes::EXISTS, "a link with the new name exists"));
    }
    if let LinkTarget::UserDefined { class: number, value } = &link.target
        && let Some(class) = class((*number).into())
    {
        let function = if moves { class.move_func } else { class.copy_func };
        call_class(function, target.last, (&target.group, &target.place), value)?;
    }
    let same_file = Arc::ptr_eq(&source.place.shared, &target.place.shared);
    if !same_file && matches!(link.target, LinkTarget::Hard(_)) {
        return Err(Failure::new(codes::LINK, codes::CANTMOVE, "a hard link cannot move to another file"));
    }
    if moves && !same_file {
        target.group.by_bytes().insert(target.last, charset, link.target)?;
        source.group.by_bytes().remove(source.last)?;
    } else if moves {
        source.group.by_bytes().rename(source.last, &target.group, target.last, charset)?;
        let (old, new) =
            (source.place.name.join(source.last).get(), target.place.name.join(target.last).get());
        if let (Some(old), Some(new)) = (old, new) {
            renamed(&source.place.shared, &old, Some(&new));
        }
    } else {
        target.group.by_bytes().insert(target.last, charset, link.target)?;
    }
    Ok(())
}

/// The C type of the create, move, copy and delete functions of a user-defined link class.
type ClassFunction = unsafe extern "C" fn(*const c_char, hid_t, *const c_void, usize) -> herr_t;

/// Calls a function of a user-defined link class for a link. Does nothing if the class lacks this
/// function.
fn call_class(
    function: Option<ClassFunction>,
    name: &[u8],
    (group, place): (&Group, &Location),
    value: &[u8],
) -> Outcome<()> {
    let Some(function) = function else { return Ok(()) };
    let id = crate::h5g::register(group.clone(), place.clone());
    let text = crate::error::stack::text(name);
    let outcome = call_user!(function, text.as_ptr(), id, value.as_ptr().cast(), value.len());
    crate::h5i::release(id)?;
    if outcome < 0 {
        return Err(Failure::new(codes::LINK, codes::CALLBACK, "the user's function failed"));
    }
    Ok(())
}

/// Removes a link of a group and updates the names of the file's open objects.
///
/// # Errors
/// Fails if the link does not exist.
pub fn remove(parent: &Parent<'_>, name: &[u8]) -> Outcome<()> {
    let group = &parent.group;
    let link = group.by_bytes().link(name)?;
    if let Some(LinkTarget::UserDefined { class: number, value }) = link.map(|link| link.target)
        && let Some(class) = class(number.into())
    {
        call_class(class.del_func, name, (group, &parent.place), &value)?;
    }
    group.by_bytes().remove(name)?;
    if let Some(old) = parent.place.name.join(name).get() {
        renamed(&parent.place.shared, &old, None);
    }
    Ok(())
}

/// Removes the link at the path `name`, relative to an object.
fn delete(loc: hid_t, name: Text, lapl: hid_t) -> Outcome<()> {
    let parent = traverse::parent(loc, name.name("link name")?, lapl, false)?;
    remove(&parent, parent.last)
}

/// Creates a link of a user-defined class and calls the creation function of the class.
fn user_defined(loc: hid_t, name: Text, number: c_int, value: &[u8], lists: (hid_t, hid_t)) -> Outcome<()> {
    if !(FIRST_CLASS..=LAST_CLASS).contains(&number) {
        return Err(Failure::bad_value("not a user-defined link class"));
    }
    let path = name.name("link name")?;
    let byte = u8::try_from(number).map_err(|_| Failure::bad_value("not a link class"))?;
    let registered = class(number);
    if number != EXTERNAL && registered.is_none() {
        return Err(Failure::new(codes::LINK, codes::NOTREGISTERED, "the link class is not registered"));
    }
    insert(loc, path, LinkTarget::UserDefined { class: byte, value: value.to_vec() }, lists.0, lists.1)?;
    let Some(function) = registered.and_then(|class| class.create_func) else { return Ok(()) };
    let Parent { group, place, last } = traverse::parent(loc, path, lists.1, false)?;
    let id = crate::h5g::register(group.clone(), place);
    let text = crate::error::stack::text(last);
    let outcome = call_user!(function, text.as_ptr(), id, value.as_ptr().cast(), value.len(), lists.0);
    crate::h5i::release(id)?;
    if outcome < 0 {
        group.by_bytes().remove(last)?;
        return Err(Failure::new(codes::LINK, codes::CALLBACK, "the user's function failed"));
    }
    Ok(())
}

export! {
    /// Moves the link at the path `source` to the path `name`.
    fn H5Lmove(from: hid_t, source: Text, to: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t {
        move_or_copy((from, source), (to, name), (lcpl, lapl), true)
            .because(codes::LINK, codes::CANTMOVE, "unable to move link")?;
        Ok(0)
    }

    /// Copies the link at the path `source` to the path `name`.
    fn H5Lcopy(from: hid_t, source: Text, to: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t {
        move_or_copy((from, source), (to, name), (lcpl, lapl), false)
            .because(codes::LINK, codes::CANTCOPY, "unable to copy link")?;
        Ok(0)
    }

    /// Creates a hard link at the path `name` to the object at the path `source`.
    fn H5Lcreate_hard(from: hid_t, source: Text, to: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t {
        hard(from, source, to, name, lcpl, lapl)
            .because(codes::LINK, codes::CANTCREATE, "unable to synchronously create hard link")?;
        Ok(0)
    }

    /// Creates a soft link with the path `target` at the path `name`.
    fn H5Lcreate_soft(target: Text, loc: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t {
        let (target, name) = (target.name("link target")?, name.name("link name")?);
        insert(loc, name, LinkTarget::Soft(target.to_vec()), lcpl, lapl)
            .because(codes::LINK, codes::CANTCREATE, "unable to synchronously create soft link")?;
        Ok(0)
    }

    /// Creates an external link at the path `name` to the path `object` in the file `file`.
    fn H5Lcreate_external(file: Text, object: Text, loc: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t {
        let (file, object) = (file.name("file name")?, object.name("object name")?);
        let target = LinkTarget::External { file: file.to_vec(), path: object.to_vec() };
        insert(loc, name.name("link name")?, target, lcpl, lapl)
            .because(codes::LINK, codes::CANTCREATE, "unable to create external link")?;
        Ok(0)
    }

    /// Creates a link of a user-defined class at the path `name`.
    fn H5Lcreate_ud(
        loc: hid_t, name: Text, class: c_int, value: Data, size: usize, lcpl: hid_t, lapl: hid_t,
    ) -> herr_t {
        let value = value.bytes(size, "value of the link")?;
        user_defined(loc, name, class, value, (lcpl, lapl))
            .because(codes::LINK, codes::CANTCREATE, "unable to create link")?;
        Ok(0)
    }

    /// Removes the link at the path `name`.
    fn H5Ldelete(loc: hid_t, name: Text, lapl: hid_t) -> herr_t {
        delete(loc, name, lapl).because(codes::LINK, codes::CANTDELETE, "unable to delete link")?;
        Ok(0)
    }

    /// Returns whether the link at the path `name` exists.
    fn H5Lexists(loc: hid_t, name: Text, lapl: hid_t) -> htri_t {
        let name = name.name("link name")?;
        location::find(loc)?;
        if name.iter().all(|byte| *byte == b'/') {
            return Ok(1);
        }
        let parent = traverse::parent(loc, name, lapl, false)
            .because(codes::LINK, codes::CANTGET, "unable to get link info")?;
        Ok(htri_t::from(parent.group.by_bytes().link(parent.last)?.is_some()))
    }

    /// Registers a user-defined link class under the class number in the struct.
    fn H5Lregister(class: In<H5L_class_t>) -> herr_t {
        let class = class.value("link class")?;
        if !(0..=1).contains(&class.version) {
            return Err(Failure::bad_value("unknown version of the link class"));
        }
        if !(FIRST_CLASS..=LAST_CLASS).contains(&class.id) {
            return Err(Failure::bad_value("not a user-defined link class"));
        }
        if class.trav_func.is_none() {
            return Err(Failure::bad_value("the link class has no traversal function"));
        }
        let mut classes = CLASSES.lock();
        classes.retain(|other| other.id != class.id);
        classes.push(class);
        Ok(0)
    }

    /// Removes a user-defined link class.
    fn H5Lunregister(class: c_int) -> herr_t {
        if !(0..=LAST_CLASS).contains(&class) {
            return Err(Failure::bad_value("not a link class"));
        }
        let mut classes = CLASSES.lock();
        let before = classes.len();
        classes.retain(|other| other.id != class);
        if classes.len() == before {
            return Err(Failure::new(codes::LINK, codes::NOTREGISTERED, "the link class is not registered"));
        }
        Ok(0)
    }

    /// Returns whether a link class is registered.
    fn H5Lis_registered(number: c_int) -> htri_t {
        if !(0..=LAST_CLASS).contains(&number) {
            return Err(Failure::bad_value("not a link class"));
        }
        Ok(htri_t::from(number == EXTERNAL || class(number).is_some()))
    }

    /// Decodes the value of an external link. Stores the flags, the file name and the object path.
    fn H5Lunpack_elink_val(
        value: Data, size: usize, flags: Out<c_uint>, file: Out<*const c_char>, object: Out<*const c_char>,
    ) -> herr_t {
        let bytes = value.bytes(size, "value of the link")?;
        let (first, rest) = bytes.split_first().ok_or_else(|| Failure::bad_value("the value of the external link has no bytes"))?;
        if first >> 4 != 0 {
            return Err(Failure::new(codes::LINK, codes::CANTDECODE, "bad version number for external link"));
        }
        if bytes.last() != Some(&0) {
            return Err(Failure::bad_value("the value of the link has no zero byte at its end"));
        }
        let at = rest.iter().position(|byte| *byte == 0).filter(|at| at + 1 < rest.len());
        let at = at.ok_or_else(|| {
            Failure::bad_value("the value of the external link must contain a file name and a path")
        })?;
        flags.put(u32::from(first & 0x0f));
        file.put(rest.as_ptr().cast());
        object.put(rest.get(at + 1..).unwrap_or_default().as_ptr().cast());
        Ok(0)
    }
}
