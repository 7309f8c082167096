//! Lists of fields of compound datatypes: `a,b.c` names the field `a`, and the field `c` of `b`.

use std::ffi::CString;

use crate::ctypes::{class, hid_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::object;
use crate::pointer::Text;
use crate::sys;

/// Returns the paths of a list. A backslash before a comma, point or backslash makes it a part of
/// the name.
///
/// # Errors
/// Fails if a name is empty.
pub fn parse(list: &[u8]) -> Outcome<Vec<Vec<CString>>> {
    let mut paths = Vec::new();
    let (mut path, mut name) = (Vec::new(), Vec::new());
    let mut bytes = list.iter().copied();
    let ended = |name: &mut Vec<u8>| match std::mem::take(name) {
        empty if empty.is_empty() => Err(Failure::bad_value("an empty name of a field")),
        name => object::c_text(name),
    };
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => name.push(bytes.next().ok_or_else(|| Failure::bad_value("a backslash at the end"))?),
            b'.' => path.push(ended(&mut name)?),
            b',' => {
                path.push(ended(&mut name)?);
                paths.push(std::mem::take(&mut path));
            }
            byte => name.push(byte),
        }
    }
    path.push(ended(&mut name)?);
    paths.push(path);
    Ok(paths)
}

/// Returns the datatype of the field that a path names.
///
/// # Errors
/// Fails if the datatype has no such field.
pub fn member(datatype: hid_t, path: &[CString]) -> Outcome<Id> {
    let mut at = Id::own(sys::H5Tcopy(datatype))?;
    for name in path {
        if check(sys::H5Tget_class(at.get()))? != class::COMPOUND {
            return Err(Failure::bad_type(format!("no compound datatype with {name:?}")));
        }
        let index = check(sys::H5Tget_member_index(at.get(), Text::of(name)))?;
        at = Id::own(sys::H5Tget_member_type(at.get(), index.cast_unsigned()))?;
    }
    Ok(at)
}

/// Returns a compound datatype in memory with the field that a path names. The field of an inner
/// compound datatype is wrapped in compound datatypes of the same names.
///
/// # Errors
/// Fails if the datatype has no such field.
pub fn column(datatype: hid_t, path: &[CString]) -> Outcome<Id> {
    let mut field = member(datatype, path)?;
    for name in path.iter().rev() {
        let wrapped = Id::own(sys::H5Tcreate(class::COMPOUND, object::size(field.get())?))?;
        check(sys::H5Tinsert(wrapped.get(), Text::of(name), 0, field.get()))?;
        field = wrapped;
    }
    Ok(field)
}
