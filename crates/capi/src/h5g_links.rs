//! Link and object functions of HDF5 1.6 (`H5Glink`, `H5Gmove`, `H5Gget_objinfo`, …).

use std::ffi::{c_char, c_int, c_ulong};

use hyperslab::{LinkTarget, ObjectKind};

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::traverse;
use crate::h5l::{H5Lcreate_hard, H5Lcreate_soft, H5Ldelete, H5Lmove};
use crate::h5o::{H5Oget_comment_by_name, H5Oset_comment_by_name};
use crate::plist;
use crate::pointer::{Out, Text, TextBuffer};

/// Information about an object, in the HDF5 1.6 form (`H5G_stat_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct H5G_stat_t {
    /// The number of the file, in two parts.
    pub fileno: [c_ulong; 2],
    /// The address of the object header, in two parts.
    pub objno: [c_ulong; 2],
    /// The number of hard links to the object.
    pub nlink: u32,
    /// The kind of the object (`H5G_obj_t`).
    pub kind: c_int,
    /// The time of the last modification, in seconds since 1970.
    pub mtime: i64,
    /// The size of a soft link's path with its zero byte.
    pub linklen: usize,
    /// The size of the object header in bytes.
    pub header_size: u64,
    /// The free space in the object header in bytes.
    pub header_free: u64,
    /// The number of messages in the object header.
    pub header_nmesgs: u32,
    /// The number of chunks of the object header.
    pub header_nchunks: u32,
}

const _: () = assert!(size_of::<H5G_stat_t>() == 80);

/// Calls another exported function with arguments of this call.
macro_rules! forward {
    ($function:ident($($argument:expr),*)) => {{
        #[expect(unsafe_code, reason = "one function of the library calls another")]
        // SAFETY: the caller makes the same promises for these arguments.
        let result = unsafe { $function($($argument),*) };
        result
    }};
}

/// The number of the link type of soft links (`H5L_TYPE_SOFT`).
const SOFT: c_int = 1;

/// Creates a hard or a soft link by calling `H5Lcreate_hard` or `H5Lcreate_soft`.
fn link(from: hid_t, source: Text, kind: c_int, to: hid_t, name: Text) -> herr_t {
    if kind == SOFT {
        forward!(H5Lcreate_soft(source, to, name, H5P_DEFAULT, H5P_DEFAULT))
    } else {
        forward!(H5Lcreate_hard(from, source, to, name, H5P_DEFAULT, H5P_DEFAULT))
    }
}

/// Returns the result of another exported C function, and adds an error record if that function
/// failed.
fn outcome(result: herr_t, minor: hid_t, text: &'static str) -> Outcome<herr_t> {
    if result < 0 { Err(Failure::new(codes::SYM, minor, text)) } else { Ok(result) }
}

/// Returns information about a link. If `follow` is true, returns information about the object to
/// which the link leads.
fn information(loc: hid_t, name: &[u8], follow: bool) -> Outcome<H5G_stat_t> {
    let parent = traverse::parent(loc, name, H5P_DEFAULT, false);
    if !follow && let Ok(parent) = &parent {
        let link = parent.group.by_bytes().link(parent.last)?;
        match link.because(codes::SYM, codes::NOTFOUND, "the link does not exist")?.target {
            LinkTarget::Hard(_) => {}
            LinkTarget::Soft(path) => {
                return Ok(H5G_stat_t { kind: 3, linklen: path.len() + 1, ..H5G_stat_t::default() });
            }
            _ => return Ok(H5G_stat_t { kind: 4, ..H5G_stat_t::default() }),
        }
    }
    let (object, place) = traverse::open(loc, name, H5P_DEFAULT)?;
    let kind = match object.kind() {
        Some(ObjectKind::Group) => 0,
        Some(ObjectKind::Dataset) => 1,
        Some(ObjectKind::Datatype) => 2,
        _ => -1,
    };
    Ok(H5G_stat_t {
        fileno: [place.shared.number, 0],
        objno: [object.token().address(), 0],
        nlink: object.link_count()?,
        kind,
        mtime: object.modified()?.unwrap_or(0),
        ..H5G_stat_t::default()
    })
}

/// Returns the path that the soft link at the path `name` contains.
fn link_value(loc: hid_t, name: &[u8]) -> Outcome<Vec<u8>> {
    let parent = traverse::parent(loc, name, H5P_DEFAULT, false)?;
    let link = parent.group.by_bytes().link(parent.last)?;
    match link.because(codes::SYM, codes::NOTFOUND, "the link does not exist")?.target {
        LinkTarget::Soft(path) => Ok(path),
        _ => Err(Failure::new(codes::SYM, codes::BADTYPE, "not a soft link")),
    }
}

export! {
    /// Creates a hard link or a soft link in the group `loc` (HDF5 1.6 form).
    fn H5Glink(loc: hid_t, kind: c_int, source: Text, name: Text) -> herr_t {
        outcome(link(loc, source, kind, loc, name), codes::CANTCREATE, "couldn't create link")
    }

    /// Creates a hard link or a soft link, with separate locations for the target's path and the
    /// link's name.
    fn H5Glink2(from: hid_t, source: Text, kind: c_int, to: hid_t, name: Text) -> herr_t {
        outcome(link(from, source, kind, to, name), codes::CANTCREATE, "couldn't create link")
    }

    /// Renames the link at the path `source` to the path `name`, both relative to the group `loc`.
    fn H5Gmove(loc: hid_t, source: Text, name: Text) -> herr_t {
        outcome(forward!(H5Lmove(loc, source, loc, name, H5P_DEFAULT, H5P_DEFAULT)), codes::CANTMOVE, "couldn't move link")
    }

    /// Moves the link at the path `source` relative to `from` to the path `name` relative to `to`.
    fn H5Gmove2(from: hid_t, source: Text, to: hid_t, name: Text) -> herr_t {
        outcome(forward!(H5Lmove(from, source, to, name, H5P_DEFAULT, H5P_DEFAULT)), codes::CANTMOVE, "couldn't move link")
    }

    /// Removes the link at the path `name`.
    fn H5Gunlink(loc: hid_t, name: Text) -> herr_t {
        outcome(forward!(H5Ldelete(loc, name, H5P_DEFAULT)), codes::CANTDELETE, "couldn't delete link")
    }

    /// Copies the path that a soft link contains to `value`.
    fn H5Gget_linkval(loc: hid_t, name: Text, size: usize, value: *mut c_char) -> herr_t {
        let path = link_value(loc, name.name("link name")?)
            .because(codes::SYM, codes::CANTGET, "couldn't get link value")?;
        crate::pointer::Buffer::of(value.cast()).put(&[path.as_slice(), b"\0"].concat(), size);
        Ok(0)
    }

    /// Sets the comment of the object at the path `name`.
    fn H5Gset_comment(loc: hid_t, name: Text, comment: Text) -> herr_t {
        outcome(forward!(H5Oset_comment_by_name(loc, name, comment, H5P_DEFAULT)), codes::CANTSET, "couldn't set comment")
    }

    /// Copies the comment of an object to `buffer` and returns the comment's length with the zero
    /// byte.
    fn H5Gget_comment(loc: hid_t, name: Text, size: usize, buffer: TextBuffer) -> c_int {
        let length = forward!(H5Oget_comment_by_name(loc, name, buffer, size, H5P_DEFAULT));
        if length < 0 {
            return Err(Failure::new(codes::SYM, codes::CANTGET, "unable to get comment"));
        }
        // The C function counts the zero byte of a comment.
        c_int::try_from(if length == 0 { 0 } else { length + 1 }).map_err(|_| Failure::bad_value("the comment is too long"))
    }

    /// Stores information about the link at the path `name`. If `follow` is true, stores
    /// information about the object to which the link leads.
    fn H5Gget_objinfo(loc: hid_t, name: Text, follow: bool, information_out: Out<H5G_stat_t>) -> herr_t {
        plist::link_access(H5P_DEFAULT)?;
        let found = information(loc, name.name("object name")?, follow)
            .because(codes::SYM, codes::CANTGET, "cannot stat object")?;
        information_out.put(found);
        Ok(0)
    }
}
